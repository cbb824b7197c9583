"""Changes of rows that other packages own, written down so that they replay."""

from collections.abc import Mapping

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, insert, update

from budget.chain.writing import Write, ensure_counter
from budget.storage.records import Scope
from budget.storage.tables import limit
from privacy.losses import Loss

Values = Mapping[str, str | int | bool | None]


class RecordedTransaction:
    """Row changes and limits of one admin entry.

    Rows hold text, integers, booleans and NULL alone, so that an entry can hold them.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._changes: list[dict[str, object]] = []
        self._limits: dict[str, int] = {}
        self._facts: dict[str, object] = {}

    @property
    def connection(self) -> Connection:
        """The open transaction, for reading."""
        return self._write.connection

    def insert(self, table: Table, row: Values) -> None:
        """Insert one row."""
        self.connection.execute(insert(table).values(**row))
        self._changes.append({"table": table.name, "insert": dict(row)})

    def update(self, table: Table, key: Values, values: Values) -> None:
        """Change one row, named by its primary key.

        Raises:
            LookupError: There is no such row.
        """
        done = self.connection.execute(
            update(table).where(_matches(table, key)).values(**values)
        )
        _require_one(done.rowcount, table)
        self._changes.append(
            {"table": table.name, "key": dict(key), "update": dict(values)}
        )

    def delete(self, table: Table, key: Values) -> None:
        """Take one row away, named by its primary key; its entries stay.

        Raises:
            LookupError: There is no such row.
        """
        done = self.connection.execute(delete(table).where(_matches(table, key)))
        _require_one(done.rowcount, table)
        self._changes.append({"table": table.name, "delete": dict(key)})

    def note(self, name: str, fact: object) -> None:
        """Add a fact to the entry, beside those that it began with."""
        self._facts[name] = fact

    def set_limit(self, scope: Scope, amount: Loss) -> None:
        """Set a limit; what is spent is never forgotten."""
        put_limit(self.connection, str(scope), amount.nano_epsilon)
        ensure_counter(self.connection, scope)
        self._limits[str(scope)] = amount.nano_epsilon

    def body(self, facts: Mapping[str, object]) -> dict[str, object]:
        """Return what the entry says of the changes, ``facts`` among it."""
        return {
            "facts": {**facts, **self._facts},
            "changes": self._changes,
            "limits": self._limits,
        }


def _matches(table: Table, key: Values) -> ColumnElement[bool]:
    return and_(*(table.c[name] == value for name, value in key.items()))


def _require_one(rowcount: int, table: Table) -> None:
    if rowcount != 1:
        message = f"no such row in {table.name}"
        raise LookupError(message)


def put_limit(connection: Connection, scope: str, nano: int) -> None:
    """Insert or change a limit."""
    changed = connection.execute(
        update(limit).where(limit.c.scope == scope).values(nano_epsilon=nano)
    )
    if changed.rowcount == 0:
        connection.execute(insert(limit).values(scope=scope, nano_epsilon=nano))
