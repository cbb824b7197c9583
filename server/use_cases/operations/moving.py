"""Moving an installation's ledger from SQLite to PostgreSQL, row by row."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import zip_longest
from typing import Any

from sqlalchemy import Connection, Row, Table, func, insert, inspect, select
from sqlalchemy.exc import DBAPIError

from budget.chain.entries import Head, ledger_id_of
from budget.charging.server_processes import now_ms
from budget.checking.moving import Steps
from budget.storage.postgresql import masked_url
from budget.storage.process_lock import ProcessLock, ProcessLockError
from budget.storage.tables import chain
from server.configuration.settings import Settings
from server.persistence.moved_mark import close_ledger
from server.persistence.schema import (
    HEAD,
    RECORDED_TABLES,
    all_metadata,
    current_revision,
    upgrade,
)
from server.persistence.tables import job
from server.use_cases.loading.lock import lock_of_all_loads
from server.use_cases.services.errors import CommandRefusedError

_FETCHED = 20  # rows at a time: an answer may have 8 MB
_SENT_ROWS = 500
_SENT_BYTES = 16 << 20

TableRow = Row[tuple[Any, ...]]


class MovedLedgerError(CommandRefusedError):
    """The ledger was moved from this SQLite file to PostgreSQL."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"this ledger was moved to {where}: set CURATOR_DATABASE_URL to that "
            "database, with its password where it needs one; the file here holds an "
            "older state and serves no more"
        )


def steps_to(target: Settings) -> Steps:
    """Return what a move does with the tables of an installation."""

    def close_source(old: Connection, head: Head) -> None:
        close_ledger(old, masked_url(str(target.database_url)), head.seq)

    return Steps(_fill, _compare, close_source, RECORDED_TABLES)


@contextmanager
def nobody_else(settings: Settings, target: Settings) -> Iterator[None]:
    """Hold off servers of both databases, and loads.

    Raises:
        CommandRefusedError: One runs.
    """
    with ExitStack() as held:
        try:
            held.enter_context(ProcessLock(settings.lock_file))
            held.enter_context(ProcessLock(target.lock_file))
        except ProcessLockError:
            message = "a server runs: stop it, and 'curator worker', then type it again"
            raise CommandRefusedError(message) from None
        if not held.enter_context(lock_of_all_loads(settings, wait=False)):
            message = "a load or a backup is under way: wait for its end"
            raise CommandRefusedError(message)
        yield


def _tables() -> list[Table]:
    """Return every table; those that others refer to come first."""
    return [table for metadata in all_metadata() for table in metadata.sorted_tables]


def _fill(old: Connection, new: Connection) -> None:
    """Copy every table into an empty database; leave what an earlier move copied.

    Raises:
        CommandRefusedError: The target holds something else, a worker runs a job, or a
            row has no place in PostgreSQL.
    """
    _refuse_running_jobs(old)
    found = inspect(new)
    if names := [*found.get_table_names(), *found.get_view_names()]:
        is_ours = "alembic_version" in names and current_revision(new) == HEAD
        if is_ours and ledger_id_of(new) == ledger_id_of(old):
            return
        message = (
            "the target is not empty: give a database without any table, such as "
            "'createdb --encoding UTF8 --template template0 NAME' makes; nothing was "
            "changed"
        )
        raise CommandRefusedError(message)
    upgrade(new)
    for table in _tables():
        _copy(old, new, table)
    _go_on_counting(new)


def _refuse_running_jobs(old: Connection) -> None:
    running = select(job.c.id).where(
        job.c.state == "running", job.c.lease_until_ms >= now_ms()
    )
    if (found := old.execute(running).scalar()) is not None:
        message = f"a worker runs {found}: stop it, or wait for its end"
        raise CommandRefusedError(message)


def _copy(old: Connection, new: Connection, table: Table) -> None:
    names = [column.name for column in table.c]
    for rows in _portions(_rows(old, table)):
        values = [dict(zip(names, row, strict=True)) for row in rows]
        try:
            new.execute(insert(table), values)
        except DBAPIError as error:
            if error.connection_invalidated:
                raise
            message = (
                f"a row of {table.name} has no place in PostgreSQL "
                f"({type(error.orig).__name__}): nothing was changed"
            )
            raise CommandRefusedError(message) from None


def _rows(
    connection: Connection, table: Table, last: int | None = None
) -> Iterator[TableRow]:
    """Yield the rows of a table by its key; of the chain up to a sequence."""
    wanted = select(table).order_by(*table.primary_key)
    if last is not None and table is chain:
        wanted = wanted.where(chain.c.seq <= last)
    options = {"yield_per": _FETCHED}
    yield from connection.execute(wanted, execution_options=options)


def _portions(rows: Iterator[TableRow]) -> Iterator[Sequence[TableRow]]:
    """Yield rows in portions whose texts and bytes fit into memory."""
    portion: list[TableRow] = []
    size = 0
    for row in rows:
        portion.append(row)
        size += sum(len(value) for value in row if isinstance(value, str | bytes))
        if len(portion) == _SENT_ROWS or size >= _SENT_BYTES:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _go_on_counting(new: Connection) -> None:
    """Let columns that PostgreSQL numbers go on after the rows that were copied."""
    for table in _tables():
        for column in table.primary_key:
            name = func.pg_get_serial_sequence(f'"{table.name}"', column.name)
            counted = new.execute(select(name)).scalar()
            last = new.execute(select(func.max(column))).scalar()
            if counted is not None and last is not None:
                new.execute(select(func.setval(counted, last)))


def _compare(old: Connection, new: Connection, last: int) -> None:
    """Refuse unless both databases hold the same rows.

    Raises:
        CommandRefusedError: They do not.
    """
    for table in _tables():
        both = zip_longest(_rows(old, table, last), _rows(new, table, last))
        if any(one is None or other is None or one != other for one, other in both):
            message = (
                f"the target's {table.name} is not what was copied: nothing was "
                "changed; make another empty database and move into it"
            )
            raise CommandRefusedError(message)
