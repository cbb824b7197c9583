"""What ingestion did, for the custodian alone (PRIVACY 2): not served, not logged."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """Values of one column that were changed; in rows that have a unit.

    Attributes:
        name: The column.
        clamped: Values moved to the nearest end of the domain.
        to_other: Values that became ``other``.
        to_null: Values that became NULL.
        too_long: Of these, texts longer than ``max_length``.
        values: All values that the files had, the changed ones among them.
        rounded: Values with more decimals than the column's scale; none of the above.
        not_computed: Of a derived column, rows where all that its expression reads has
            a value, and it has none.
        alike_beyond: Of the clamped, those beyond an end of the domain beyond which
            all values are one, and more than a handful: it may stand for nothing.
        but_for_blanks: Texts that became NULL or ``other`` and are declared but for
            blanks at their ends.
        but_for_case: Further ones that are declared but for capitals.
    """

    name: str
    clamped: int
    to_other: int
    to_null: int
    too_long: int
    values: int
    rounded: int = 0
    not_computed: int = 0
    alike_beyond: int = 0
    but_for_blanks: int = 0
    but_for_case: int = 0


@dataclass(frozen=True, slots=True)
class TableReport:
    """Rows of one table, from the files to the snapshot.

    Attributes:
        name: The table.
        rows_read: Rows in the files.
        rows_kept: Rows in the snapshot.
        units: Units in the snapshot; 0 in a public table.
        dropped_null_unit: Rows without a unit.
        deduplicated: Rows dropped because another of their unit has their key.
        dropped_over_bound: Rows dropped by ``max_rows_per_unit``.
        constants_replaced: Values replaced by that of the unit's row of rank 1.
        columns: One report a stored column.
        equal_rows: Rows that equal another of their unit in all declared columns.
    """

    name: str
    rows_read: int
    rows_kept: int
    units: int
    dropped_null_unit: int
    deduplicated: int
    dropped_over_bound: int
    constants_replaced: int
    columns: tuple[ColumnReport, ...]
    equal_rows: int = 0


@dataclass(frozen=True, slots=True)
class IngestionReport:
    """What was done, and what the custodian should look at.

    Attributes:
        tables: One report a table, in manifest order.
        warnings: What looks like a slip in the manifest, a sentence each.
        alike_units: Units whose id differs from another's in spelling alone: by case,
            by padding (``trim``), by leading ``zeros``, and by ``any`` of these.
    """

    tables: tuple[TableReport, ...]
    warnings: tuple[str, ...] = ()
    alike_units: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Return the report as JSON members."""
        return {
            "tables": [asdict(table) for table in self.tables],
            "alike_units": dict(self.alike_units),
            "warnings": list(self.warnings),
        }
