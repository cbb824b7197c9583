"""What compiling a query gives: enough to price, execute, measure and explain it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from privacy.events import VectorSensitivity
from privacy.schema import ColumnType, Scalar

Cell = tuple[Scalar | None, ...]


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """One column of the answer.

    Attributes:
        name: As the answer shows it.
        kind: A group key or a measure.
        type: Of its values; counts are integers.
        unit: None for groups, ``"rows"`` for COUNT(*), the population's word for its
            privacy unit for COUNT(DISTINCT unit key).
        index: Position in a cell (group), or in ``CompiledQuery.measures`` (measure).
    """

    name: str
    kind: Literal["group", "measure"]
    type: ColumnType
    unit: str | None
    index: int


@dataclass(frozen=True, slots=True)
class Measure:
    """One distinct vector, measured and paid once however many columns show it.

    Attributes:
        column: The first output column that shows it.
        sensitivity: Under add or remove all rows of one unit.
        weight: Its relative share of the loss, positive.
    """

    column: str
    sensitivity: VectorSensitivity
    weight: Fraction


@dataclass(frozen=True, slots=True)
class RenderedPlan:
    """SQL for DuckDB and how its rows fill the public cells.

    A row holds the key columns in the stored representation, then ``vector_count``
    BIGINTs. Rows whose key is no cell are dropped; cells without a row are 0. Without
    keys there is one cell, ``()``.

    Attributes:
        sql: Identifiers from the catalogue only, every literal a ``?``.
        parameters: Values of the ``?``, in order.
        cells: Public values in declared order, first key slowest, NULL last.
        stored_cells: The same cells as the engine returns them (decimals scaled).
        vector_count: Measured vectors, in the order of ``CompiledQuery.measures``.
        tables: Tables that the SQL reads.
    """

    sql: str
    parameters: tuple[Scalar, ...]
    cells: tuple[Cell, ...]
    stored_cells: tuple[Cell, ...]
    vector_count: int
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryWarning:
    """Something the analyst may not have meant; says nothing about rows."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    """A whole query, ready to be priced and executed.

    Attributes:
        columns: The answer's columns, in order.
        measures: The distinct measured vectors.
        rendered: What the engine runs.
        canonical: JSON text that is equal for equal questions: plan, bounds, output
            names and weights; the snapshot is the caller's to add.
        derivation: Why the sensitivities are what they are, in words.
        warnings: In the order of the text.
    """

    columns: tuple[OutputColumn, ...]
    measures: tuple[Measure, ...]
    rendered: RenderedPlan
    canonical: str
    derivation: str
    warnings: tuple[QueryWarning, ...]
