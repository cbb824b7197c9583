"""Statements of every question, compiled once and run on the driver's own cursor.

SQLAlchemy takes some ten times what SQLite takes to run one of them, and a charge with
its answer has a dozen. Whatever is not on that path goes through SQLAlchemy as usual.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from sqlalchemy import Connection, Executable
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler

Parameters = Mapping[str, object]
Row = tuple[Any, ...]
_NONE: Parameters = {}
_Taken = TypeVar("_Taken")


class Prepared:
    """One statement; its rows are plain tuples, and every parameter must be given."""

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._compiled: dict[str, _Compiled] = {}

    def rows(self, connection: Connection, parameters: Parameters = _NONE) -> list[Row]:
        """Return every row.

        Raises:
            SQLAlchemyError: As SQLAlchemy would.
        """
        return self._execute(connection, parameters, lambda cursor: cursor.fetchall())

    def run(self, connection: Connection, parameters: Parameters) -> int:
        """Return how many rows were changed.

        Raises:
            SQLAlchemyError: As SQLAlchemy would.
        """
        return self._execute(connection, parameters, lambda cursor: cursor.rowcount)

    def _execute(
        self,
        connection: Connection,
        parameters: Parameters,
        take: "Callable[[_Cursor], _Taken]",
    ) -> "_Taken":
        compiled = self._compiled.get(connection.dialect.name)
        if compiled is None:
            compiled = _compile(self._statement, connection)
            self._compiled[connection.dialect.name] = compiled
        if not connection.in_transaction():
            connection.begin()
        return on_driver(connection, compiled.text, compiled.values(parameters), take)


def on_driver(
    connection: Connection,
    text: str,
    values: Any,  # noqa: ANN401 - as drivers take it
    take: "Callable[[_Cursor], _Taken]",
) -> "_Taken":
    """Run a text once on the driver's own cursor.

    Never twice: SQLite ends the transaction where a disk is full, and what is run again
    would stand outside of it. SQLAlchemy asks a lost connection once more, which can
    only fail: so the engine's watchers learn of it.

    Raises:
        SQLAlchemyError: As SQLAlchemy would.
    """
    driver = cast("_Driver", connection.connection.driver_connection)
    dialect = connection.dialect
    try:
        return take(driver.execute(text, values))
    except dialect.loaded_dbapi.Error as error:
        if dialect.is_disconnect(error, cast("Any", driver), None):
            connection.exec_driver_sql("SELECT 1")
        raise DBAPIError.instance(
            text, None, error, dialect.loaded_dbapi.Error, hide_parameters=True
        ) from error


class _Compiled(NamedTuple):
    """A statement in one dialect's words, with the values that are always the same."""

    text: str
    fixed: Parameters
    order: Sequence[str] | None  # None: parameters go by their names

    def values(self, parameters: Parameters) -> Any:  # noqa: ANN401 - as drivers take it
        if self.order is None:
            return {**self.fixed, **parameters}
        return tuple(
            [
                parameters[name] if name in parameters else self.fixed[name]
                for name in self.order
            ]
        )


def _compile(statement: Executable, connection: Connection) -> _Compiled:
    """Compile a statement; lists of values would change its words at each run."""
    compiled = cast("SQLCompiler", statement.compile(dialect=connection.dialect))  # type: ignore[attr-defined]
    if compiled.post_compile_params:
        message = f"not for a prepared statement: {compiled.string}"
        raise ValueError(message)
    given: dict[str, Any] = dict.fromkeys(
        name for name, bind in compiled.binds.items() if bind.required
    )
    params = compiled.construct_params(given)
    fixed = {name: value for name, value in params.items() if name not in given}
    return _Compiled(compiled.string, fixed, compiled.positiontup)


class _Driver(Protocol):
    """What we use of a connection of sqlite3 or psycopg."""

    def execute(self, text: str, values: Any, /) -> "_Cursor": ...  # noqa: ANN401


class _Cursor(Protocol):
    """What we use of a cursor of sqlite3 or psycopg."""

    rowcount: int

    def fetchall(self) -> list[Row]: ...
