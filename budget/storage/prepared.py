"""Statements of every question, compiled once and run on the driver's own cursor.

SQLAlchemy takes some ten times what SQLite takes to run one of them, and a charge with
its answer has a dozen. Each would wait for a round trip to PostgreSQL: those that need
nothing of each other go there ``together``, and a lone one without a BEGIN. Whatever is
not on that path goes through SQLAlchemy as usual.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from sqlalchemy import Connection, Engine, Executable
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

    def alone(
        self, engine: Engine, parameters: Parameters = _NONE
    ) -> "StatementResult":
        """Run in a transaction of this statement alone: one round trip, not three.

        Raises:
            SQLAlchemyError: As SQLAlchemy would.
        """
        with engine.connect() as connection:
            text, values = self._words(connection, parameters)
            with _each_by_itself(connection):
                return on_driver(connection, text, values, _result)

    def _execute(
        self,
        connection: Connection,
        parameters: Parameters,
        take: "Callable[[_Cursor], _Taken]",
    ) -> "_Taken":
        if not connection.in_transaction():
            connection.begin()
        return on_driver(connection, *self._words(connection, parameters), take)

    def _words(
        self, connection: Connection, parameters: Parameters
    ) -> tuple[str, Any]:  # values are as drivers take them
        compiled = self._compiled.get(connection.dialect.name)
        if compiled is None:
            compiled = _compile(self._statement, connection)
            self._compiled[connection.dialect.name] = compiled
        return compiled.text, compiled.values(parameters)


class Statement(NamedTuple):
    """A statement with its parameters, to be run with others."""

    statement: Prepared
    parameters: Parameters = _NONE


class StatementResult(NamedTuple):
    """What a statement brought: its rows, if it has any, and how many it changed."""

    rows: list[Row]
    changed: int


def together(
    connection: Connection, steps: Sequence[Statement]
) -> list[StatementResult]:
    """Run statements in order, in one round trip, inside the open transaction.

    Each sees what those before it did; after one that fails, none is run.

    Raises:
        SQLAlchemyError: As SQLAlchemy would, of the first that failed.
    """
    if not connection.in_transaction():
        connection.begin()
    words = [step.statement._words(connection, step.parameters) for step in steps]  # noqa: SLF001 - of this module
    return _on_driver(
        connection,
        "; ".join(text for text, _ in words),
        lambda driver: _all(connection, driver, words),
    )


def _all(
    connection: Connection, driver: "_Driver", words: Sequence[tuple[str, Any]]
) -> list[StatementResult]:
    if not _pipelines(connection):
        return [_result(driver.execute(*one)) for one in words]
    with driver.pipeline():
        cursors = [driver.execute(*one) for one in words]
    return [_result(cursor) for cursor in cursors]


def begin_with(connection: Connection, text: str) -> None:
    """Send PostgreSQL's BEGIN together with the statement that must come first.

    Raises:
        SQLAlchemyError: As SQLAlchemy would.
    """
    _on_driver(connection, text, lambda driver: _all(connection, driver, [(text, ())]))


def read_first(connection: Connection, step: Statement) -> list[Row]:
    """Return the rows of the statement that a transaction opens with.

    PostgreSQL's BEGIN goes with it.

    Raises:
        SQLAlchemyError: As SQLAlchemy would.
    """
    words = step.statement._words(connection, step.parameters)  # noqa: SLF001 - of this module
    (result,) = _on_driver(
        connection, words[0], lambda driver: _all(connection, driver, [words])
    )
    return result.rows


def _pipelines(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def _result(cursor: "_Cursor") -> StatementResult:
    rows = [] if cursor.description is None else cursor.fetchall()
    return StatementResult(rows, cursor.rowcount)


@contextmanager
def _each_by_itself(connection: Connection) -> Iterator[None]:
    """Let PostgreSQL's driver send no BEGIN; SQLite's does not send any by itself."""
    if not _pipelines(connection):
        yield
        return
    driver = cast("_Driver", connection.connection.driver_connection)
    driver.autocommit = True
    try:
        yield
    finally:
        if not driver.closed:
            driver.autocommit = False


def on_driver(
    connection: Connection,
    text: str,
    values: Any,  # noqa: ANN401 - as drivers take it
    take: "Callable[[_Cursor], _Taken]",
) -> "_Taken":
    """Run a text once on the driver's own cursor.

    Raises:
        SQLAlchemyError: As SQLAlchemy would.
    """
    return _on_driver(
        connection, text, lambda driver: take(driver.execute(text, values))
    )


def _on_driver(
    connection: Connection, text: str, work: "Callable[[_Driver], _Taken]"
) -> "_Taken":
    """Work once on the driver's own connection.

    Never twice: SQLite ends the transaction where a disk is full, and what is run again
    would stand outside of it. SQLAlchemy asks a lost connection once more, which can
    only fail: so the engine's watchers learn of it.
    """
    driver = cast("_Driver", connection.connection.driver_connection)
    dialect = connection.dialect
    try:
        return work(driver)
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
    """What we use of a connection of sqlite3 or psycopg; the rest is psycopg's."""

    autocommit: bool
    closed: bool

    def pipeline(self) -> AbstractContextManager[object]: ...
    def execute(self, text: str, values: Any, /) -> "_Cursor": ...  # noqa: ANN401


class _Cursor(Protocol):
    """What we use of a cursor of sqlite3 or psycopg."""

    rowcount: int
    description: object

    def fetchall(self) -> list[Row]: ...
