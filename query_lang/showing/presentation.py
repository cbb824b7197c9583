"""From noisy vectors to the rows of an answer: HAVING, ORDER BY, LIMIT.

All of it reads noisy values and public facts alone, so it costs nothing
(docs/proofs/presentation.md).
"""

from collections.abc import Sequence
from decimal import Decimal

from privacy.schema import ColumnType, Scalar
from query_lang.plans.compiled import (
    CompiledQuery,
    OutputColumn,
    Presentation,
)
from query_lang.showing.cells import CellValues, ShownValue
from query_lang.showing.noisy_conditions import truths
from query_lang.showing.values import ShownValues
from query_lang.showing.windows import sort_keys

Value = Scalar | None
"""A value of a row: whole numbers int, decimals as text, days date, NULL None."""


def present(
    compiled: CompiledQuery, noisy_vectors: Sequence[Sequence[int]]
) -> list[list[Value]]:
    """Return the rows of an answer.

    Args:
        compiled: The query.
        noisy_vectors: One a measure, on its grid; a histogram's holds its bins cell by
            cell.

    Returns:
        Cells for which HAVING and QUALIFY are TRUE, in the order of ORDER BY, ties in
        declared order, at most LIMIT of them; each a list of values in column order.

    Raises:
        ValueError: The vectors do not fit the cells.

    Source: CONTRACT 3; that it costs nothing, docs/proofs/presentation.md.
    """
    values = ShownValues(compiled, noisy_vectors)
    cells = chosen(compiled.presentation, values)
    columns = [_written(column, values, cells) for column in compiled.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def chosen_cells(
    compiled: CompiledQuery, noisy_vectors: Sequence[Sequence[int]]
) -> list[int]:
    """Return the positions of the cells that ``present`` shows, row by row.

    Raises:
        ValueError: The vectors do not fit the cells.
    """
    return chosen(compiled.presentation, ShownValues(compiled, noisy_vectors))


def chosen(presentation: Presentation, values: CellValues) -> list[int]:
    """Return the positions of the cells that are shown, in the order of the rows.

    Args:
        presentation: HAVING, QUALIFY, ORDER BY and LIMIT.
        values: What all cells show; noisy or public.
    """
    cells = list(range(len(values.cells)))
    for condition in (presentation.having, presentation.kept):
        if condition is not None:
            holds = truths(condition, values)
            cells = [cell for cell in cells if holds[cell] is True]
    for term in reversed(presentation.order):  # sorting is stable, reversed too
        keys = sort_keys(term, values)
        cells.sort(key=keys.__getitem__, reverse=term.descending)
    return cells[: presentation.limit]


def _written(
    column: OutputColumn, values: CellValues, cells: Sequence[int]
) -> list[Value]:
    """Return a column of the answer, decimals as text."""
    found = values.column(column.shown)
    return [written_value(column, found[cell]) for cell in cells]


def written_value(column: OutputColumn, value: ShownValue) -> Value:
    """Return a value as an answer's row holds it, decimals as text."""
    if value is None or column.type is not ColumnType.DECIMAL:
        return value
    if column.kind == "group":
        return str(value)  # as the dataset's page shows its domain
    return f"{value:f}" if isinstance(value, Decimal) else str(value)
