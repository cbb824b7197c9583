"""The engines that the suite runs on; a new one is one class and one entry here."""

import duckdb

from engines.duckdb.engine import DuckDbEngine
from engines.duckdb.snapshots import SnapshotLimits
from privacy.schema import ColumnType
from tests.semantics.meaning.values import to_grid

_STORED = {
    ColumnType.INTEGER: "BIGINT",
    ColumnType.DECIMAL: "BIGINT",
    ColumnType.DATE: "DATE",
    ColumnType.TIMESTAMP: "TIMESTAMP",
    ColumnType.TEXT: "VARCHAR",
    ColumnType.BOOLEAN: "BOOLEAN",
}
MOST_OPEN = 16
_PRIVATE = '"unit_key" BIGINT, "row_hash" BIGINT, "row_rank" INTEGER'
_PUBLIC = '"_row" BIGINT'


class DuckDb:
    """The embedded engine, on snapshot files with stored rows of any value."""

    def __init__(self, folder):
        self._folder = folder
        limits = SnapshotLimits(max_open=MOST_OPEN)  # none is opened twice
        self._engine = DuckDbEngine(folder, limits=limits)

    def store(self, name, dataset, tables):
        """Write a snapshot file in the layout that ingestion leaves."""
        with duckdb.connect(self._folder / f"{name}.duckdb") as connection:
            for table in dataset.tables.values():
                self._store_table(connection, table, tables[table.name])

    def _store_table(self, connection, table, rows):
        columns = [c for c in table.columns if c.name != table.unit_column]
        head = _PUBLIC if table.is_public else _PRIVATE
        kinds = ", ".join([head, *(f'"{c.name}" {_STORED[c.type]}' for c in columns)])
        connection.execute(f'CREATE TABLE "{table.name}" ({kinds})')
        for number, row in enumerate(rows, start=1):
            first = [number]
            if not table.is_public:
                first = [row["unit"], row["row_hash"], row["row_rank"]]
            values = [*first, *(_stored(c, row[c.name]) for c in columns)]
            marks = ", ".join("?" for _ in values)
            connection.execute(f'INSERT INTO "{table.name}" VALUES ({marks})', values)

    def vectors(self, name, plan):
        """Return the exact vectors of a rendered plan; raises if execution does."""
        return [list(v.unseal()) for v in self._engine.execute(name, plan)]

    def close(self):
        self._engine.close()


def _stored(column, value):
    if value is None or column.type is not ColumnType.DECIMAL:
        return value
    return to_grid(value, column.scale)


ENGINES = {"duckdb": DuckDb}
