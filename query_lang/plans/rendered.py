"""What rendering a plan gives: all that an executor needs, and nothing of the language.

Executors are processes that import this and no tree of a query: they start sooner.
"""

from dataclasses import dataclass
from typing import Final

from privacy.schema import Scalar

Cell = tuple[Scalar | None, ...]

HASH_KEY: Final = "hash_key"
"""The variable of a session that keyed hashes read: 64 bits that nobody knows."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL text for DuckDB and how its rows fill vectors.

    A row holds the stored key (the cell's values, then the bin's number where the
    vectors are a histogram), then one integer (or NULL, for 0) a vector. Rows whose
    stored key is not in ``places`` are dropped; places without a row are 0. In those of
    ``empty`` no row can lie, or the noise would be too little: rows there are dropped.

    Attributes:
        sql: Identifiers from the catalogue only, every literal of the query a ``?``.
        parameters: Values of the ``?``, in order.
        places: The stored keys in the order of the vectors' values.
        vectors: Which vectors the row's last columns fill.
        empty: Which of ``places`` stay 0.
    """

    sql: str
    parameters: tuple[Scalar, ...]
    places: tuple[Cell, ...]
    vectors: tuple[int, ...]
    empty: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RenderedPlan:
    """Everything that the engine runs for one query, on one snapshot.

    Attributes:
        statements: Together they fill each vector once.
        cells: Public values in declared order, first key slowest, NULL last; ``((),)``
            without keys.
        vector_count: Measured vectors, in the order of ``CompiledQuery.measures``.
        tables: Tables that the SQL reads.
        scans: How often all statements together read a table: the class of the plan.
    """

    statements: tuple[Statement, ...]
    cells: tuple[Cell, ...]
    vector_count: int
    tables: tuple[str, ...]
    scans: int = 1
