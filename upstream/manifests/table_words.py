"""How a table writes values, said once and meant of all columns that do not say it."""

from typing import TypeVar

from privacy.schema import ColumnType
from upstream.manifests.declarations import ColumnSpec, Declarations, TableSpec

_D = TypeVar("_D", bound=Declarations)
_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL})


def with_table_words(manifest: _D) -> _D:
    """Return a manifest whose columns say what their tables say for them.

    The table's own words are left out of its canonical form, so a column reads the
    same whichever of the two said it.
    """
    tables = tuple(_with_words(table) for table in manifest.tables)
    return manifest.model_copy(update={"tables": tables})


def _with_words(table: TableSpec) -> TableSpec:
    columns = tuple(_column(table, column) for column in table.columns)
    return table.model_copy(update={"columns": columns})


def _column(table: TableSpec, column: ColumnSpec) -> ColumnSpec:
    said: dict[str, object] = {}
    if table.null_values is not None and "null_values" not in column.model_fields_set:
        said["null_values"] = table.null_values
    if column.type in _NUMBERS and column.name != table.unit_column:
        said |= _number_words(table, column)
    is_text = column.type is ColumnType.TEXT and column.name != table.unit_column
    if is_text and table.trim is not None and column.trim is None:
        said["trim"] = table.trim
    if column.type is ColumnType.BOOLEAN:
        words = {
            **dict.fromkeys(table.true_values or (), True),
            **dict.fromkeys(table.false_values or (), False),
        }
        if words:
            said["map"] = {**words, **column.map}
    return column.model_copy(update=said) if said else column


def _number_words(table: TableSpec, column: ColumnSpec) -> dict[str, object]:
    told = {"decimal": table.decimal, "thousands": table.thousands}
    if column.type is ColumnType.INTEGER:
        del told["decimal"]
    unsaid = {k: v for k, v in told.items() if getattr(column, k) is None}
    return {k: v for k, v in unsaid.items() if v is not None}
