"""The same limits where several processes serve one ledger: kept in the database.

Instants are the database's, so that the processes' clocks need not agree. A process
that died takes its places with it: only those of living boots count.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Table,
    func,
    literal_column,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from privacy.errors import LedgerUnavailableError
from server.persistence.tables import in_flight, rate
from server.use_cases.limits import Allowance, too_many, too_often

_NOW = {  # microseconds; SQLite knows milliseconds
    "postgresql": "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)",
    "sqlite": "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)",
}
_LATER = {"postgresql": "greatest", "sqlite": "max"}


@dataclass(slots=True)
class SharedLimiter:
    """Limits of all the processes that serve one database.

    Its writes need not be durable: what a crash of the database forgets is who asked
    in the last minute.
    """

    allowance: Allowance
    database: Engine
    boot: str  # names this process
    alive: Callable[[Connection], Collection[str]]  # the boots that live
    now: ColumnElement[int] | None = None  # microseconds; None: the database's clock
    _held: dict[str, int] = field(default_factory=dict)  # what this process knows
    _unwritten: set[str] = field(default_factory=set)  # whose row is out of date
    _lock: Lock = field(default_factory=Lock)

    @property
    def blocks(self) -> bool:
        """It waits for the database."""
        return True

    def count(self, principal: str) -> None:
        """Let one request in, or refuse it."""
        if self.allowance.requests_per_minute == 0:
            return
        with self._transaction() as connection:
            early = self._advance(connection, principal)
        if early is not None:
            raise too_often(early)

    def enter(self, principal: str) -> None:
        """Take a place, or refuse: one principal's requests take turns."""
        if self.allowance.requests_in_flight == 0:
            return
        taken = False
        try:
            with self._transaction() as connection:
                _take_turn(connection, principal)
                self._require_place(connection, principal)
                self._add(principal, 1)
                taken = True
                self._write(connection, principal)
        except LedgerUnavailableError:
            if taken:
                self.leave(principal)
            raise
        self._write_rest()

    def leave(self, principal: str) -> None:
        """Give a place back; if the database is away, its row is mended later."""
        if self.allowance.requests_in_flight == 0:
            return
        self._add(principal, -1)
        self._unwritten.add(principal)
        self._write_rest()

    def _advance(self, connection: Connection, principal: str) -> int | None:
        """Take one request out of the bucket; else say how early it came."""
        dialect = connection.dialect.name
        now = self._now(connection)
        interval = self.allowance.interval
        full_at = getattr(func, _LATER[dialect])(rate.c.full_at_us, now) + interval
        early = full_at - now - self.allowance.bucket
        moved = connection.execute(
            _insert(connection, rate)
            .values(principal=principal, full_at_us=now + interval)
            .on_conflict_do_update(
                index_elements=[rate.c.principal],
                set_={"full_at_us": full_at},
                where=early <= 0,
            )
            .returning(rate.c.full_at_us)
        ).one_or_none()
        if moved is not None:
            return None
        waits = select(early).where(rate.c.principal == principal)
        return int(connection.execute(waits).scalar_one())

    def _now(self, connection: Connection) -> ColumnElement[int]:
        if self.now is not None:
            return self.now
        return literal_column(_NOW[connection.dialect.name])

    def _require_place(self, connection: Connection, principal: str) -> None:
        places = self.allowance.requests_in_flight
        held = self._held.get(principal, 0)
        if self._held_elsewhere(connection, principal) + held >= places:
            raise too_many(places)

    def _held_elsewhere(self, connection: Connection, principal: str) -> int:
        rows = connection.execute(
            select(in_flight.c.boot, in_flight.c.requests).where(
                in_flight.c.principal == principal, in_flight.c.boot != self.boot
            )
        ).all()
        alive = set(self.alive(connection)) if rows else set()
        return sum(row.requests for row in rows if row.boot in alive)

    def _add(self, principal: str, places: int) -> None:
        with self._lock:
            self._held[principal] = self._held.get(principal, 0) + places

    def _write(self, connection: Connection, principal: str) -> None:
        """Write how many places this process holds: a whole number, never a step."""
        requests = self._held.get(principal, 0)
        connection.execute(
            _insert(connection, in_flight)
            .values(boot=self.boot, principal=principal, requests=requests)
            .on_conflict_do_update(
                index_elements=[in_flight.c.boot, in_flight.c.principal],
                set_={"requests": requests},
            )
        )

    def _write_rest(self) -> None:
        """Write the rows that are out of date, as far as the database lets us."""
        for principal in tuple(self._unwritten):
            self._unwritten.discard(principal)
            try:
                with self._transaction() as connection:
                    _take_turn(connection, principal)
                    self._write(connection, principal)
            except LedgerUnavailableError:
                self._unwritten.add(principal)
                return

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        try:
            with self.database.begin() as connection:
                if connection.dialect.name == "postgresql":
                    connection.exec_driver_sql("SET LOCAL synchronous_commit TO OFF")
                yield connection
        except SQLAlchemyError:
            message = "the limits cannot be read now: nothing was asked or spent"
            raise LedgerUnavailableError(message) from None


def _take_turn(connection: Connection, principal: str) -> None:
    """Wait for the principal's other requests; SQLite's writers wait at BEGIN."""
    if connection.dialect.name == "postgresql":
        name = func.hashtextextended(f"curator in flight {principal}", 0)
        connection.execute(select(func.pg_advisory_xact_lock(name)))


def _insert(connection: Connection, table: Table) -> postgresql.Insert:
    """Return an INSERT that may say ON CONFLICT, which both databases know."""
    if connection.dialect.name == "sqlite":
        return cast("postgresql.Insert", sqlite.insert(table))
    return postgresql.insert(table)
