"""The same limits where several processes serve one ledger: kept in the database.

Instants are the database's, so that the processes' clocks need not agree. A process
that died takes its permits with it: only those of living processes count. Each
step waits for one round trip, or for two where it must hold a lock.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Engine,
    Integer,
    Select,
    Table,
    Text,
    bindparam,
    func,
    literal_column,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.sql.dml import ReturningInsert

from budget.charging.server_processes import alive_ids
from budget.storage.prepared import Prepared, Statement, together
from privacy.errors import LedgerUnavailableError
from server.persistence.tables import in_flight, rate
from server.use_cases.identity.limits import Allowance, too_many, too_often

_NOW = {  # microseconds; SQLite knows milliseconds
    "postgresql": "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)",
    "sqlite": "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)",
}
_LATER = {"postgresql": "greatest", "sqlite": "max"}
_PRINCIPAL = bindparam("principal", type_=Text())


@dataclass(slots=True)
class SharedLimiter:
    """Limits of all the processes that serve one database.

    Its writes need not be durable: what a crash of the database forgets is who asked
    in the last minute.
    """

    allowance: Allowance
    database: Engine
    worker_id: str  # names this process
    clock: Callable[[], int] | None = None  # microseconds; None: the database's
    _held: dict[str, int] = field(default_factory=dict)  # what this process knows
    _unwritten: set[str] = field(default_factory=set)  # whose row is out of date
    _turns: defaultdict[str, Lock] = field(default_factory=lambda: defaultdict(Lock))
    _lock: Lock = field(default_factory=Lock)
    _rates: "_Rates" = field(init=False)
    _permits: "_PermitStatements" = field(init=False)

    def __post_init__(self) -> None:
        dialect = self.database.dialect.name
        self._rates = _Rates.of(dialect, self.allowance, clocked=self.clock is not None)
        self._permits = _PermitStatements.of(dialect)

    @property
    def blocks(self) -> bool:
        """It waits for the database."""
        return True

    def count(self, principal: str) -> None:
        """Let one request in, or refuse it."""
        if self.allowance.requests_per_minute == 0:
            return
        who: dict[str, object] = {"principal": principal}
        if self.clock is not None:
            who["now"] = self.clock()
        with _reaching_database():
            if self._rates.advance.alone(self.database, who).rows:
                return
            ((early,),) = self._rates.early.alone(self.database, who).rows
        raise too_often(int(early))

    def enter(self, principal: str) -> None:
        """Take a permit, or refuse: one principal's requests take turns."""
        if self.allowance.requests_in_flight == 0:
            return
        try:
            with self._turn(principal):
                entered = self._take(principal, self._add(principal, 1))
        except LedgerUnavailableError:
            self.leave(principal)
            raise
        if not entered:
            raise too_many(self.allowance.requests_in_flight)
        self._write_rest()

    def leave(self, principal: str) -> None:
        """Give a permit back; if the database is away, its row is mended later."""
        if self.allowance.requests_in_flight == 0:
            return
        self._add(principal, -1)
        self._unwritten.add(principal)
        self._write_rest()

    def _take(self, principal: str, held: int) -> bool:
        """Write that this process holds so many permits, if all hold no more than may.

        The other processes wait meanwhile; a row that says too much only refuses.
        """
        who = {"boot": self.worker_id, "principal": principal}
        taken = {**who, "held": held, "permits": self.allowance.requests_in_flight}
        with _reaching_database(), self.database.begin() as connection:
            *_, result = together(
                connection,
                [
                    *(Statement(lock, who) for lock in self._permits.locks),
                    Statement(self._permits.take, taken),
                ],
            )
        if not result.rows:
            self._add(principal, -1)
        return bool(result.rows)

    def _write_rest(self) -> None:
        """Write the rows that are out of date, as far as the database lets us."""
        for principal in tuple(self._unwritten):
            self._unwritten.discard(principal)
            try:
                with self._turn(principal), _reaching_database():
                    row = {"principal": principal, "held": self._held.get(principal, 0)}
                    self._permits.write.alone(
                        self.database, {"boot": self.worker_id, **row}
                    )
            except LedgerUnavailableError:
                self._unwritten.add(principal)
                return

    def _add(self, principal: str, permits: int) -> int:
        with self._lock:
            held = self._held[principal] = self._held.get(principal, 0) + permits
            return held

    def _turn(self, principal: str) -> Lock:
        """Return the lock of who writes a principal's row of this process."""
        with self._lock:
            return self._turns[principal]


@dataclass(frozen=True, slots=True)
class _Rates:
    """Statements on the bucket of a principal."""

    advance: Prepared  # takes one request out; brings a row, if one was there
    early: Prepared  # microseconds by which a request comes too early

    @classmethod
    def of(cls, dialect: str, allowance: Allowance, *, clocked: bool) -> "_Rates":
        if allowance.requests_per_minute == 0:
            interval = bucket = 0
        else:
            interval, bucket = allowance.interval, allowance.bucket
        now: ColumnElement[int] = literal_column(_NOW[dialect], BigInteger())
        if clocked:
            now = bindparam("now", type_=BigInteger())
        later = getattr(func, _LATER[dialect])(rate.c.full_at_us, now)
        full_at = later + interval
        early = full_at - now - bucket
        advance = (
            _insert(dialect, rate)
            .values(principal=_PRINCIPAL, full_at_us=now + interval)
            .on_conflict_do_update(
                index_elements=[rate.c.principal],
                set_={"full_at_us": full_at},
                where=early <= 0,
            )
            .returning(rate.c.full_at_us)
        )
        waits = select(early).where(rate.c.principal == _PRINCIPAL)
        return cls(Prepared(advance), Prepared(waits))


@dataclass(frozen=True, slots=True)
class _PermitStatements:
    """Statements on the permits that a process holds for a principal."""

    locks: tuple[Prepared, ...]  # PostgreSQL's; SQLite's writers wait at BEGIN
    take: Prepared  # brings a row, if there was room
    write: Prepared

    @classmethod
    def of(cls, dialect: str) -> "_PermitStatements":
        name = func.hashtextextended(func.concat("curator in flight ", _PRINCIPAL), 0)
        lock = Prepared(select(func.pg_advisory_xact_lock(name)))
        permits = bindparam("permits", type_=Integer())
        held_now = bindparam("held", type_=Integer())
        worker_id = bindparam("boot", type_=Text())
        row = select(worker_id, _PRINCIPAL, held_now)
        others = (
            select(func.coalesce(func.sum(in_flight.c.requests), 0))
            .where(
                in_flight.c.principal == _PRINCIPAL,
                in_flight.c.boot != worker_id,
                in_flight.c.boot.in_(alive_ids()),
            )
            .scalar_subquery()
        )
        return cls(
            (lock,) if dialect == "postgresql" else (),
            Prepared(_held_row(dialect, row.where(others + held_now <= permits))),
            Prepared(_held_row(dialect, row.where(literal_column("1 = 1")))),
        )


def _held_row(dialect: str, row: Select[str, str, int]) -> ReturningInsert[int]:
    """Write a whole number, never a step: what was lost is mended by the next."""
    insert = _insert(dialect, in_flight).from_select(
        ["boot", "principal", "requests"], row
    )
    return insert.on_conflict_do_update(
        index_elements=[in_flight.c.boot, in_flight.c.principal],
        set_={"requests": insert.excluded.requests},
    ).returning(in_flight.c.requests)


@contextmanager
def _reaching_database() -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError:
        message = "the limits cannot be read now: nothing was asked or spent"
        raise LedgerUnavailableError(message) from None


def _insert(dialect: str, table: Table) -> postgresql.Insert:
    """Return an INSERT that may say ON CONFLICT, which both databases know."""
    if dialect == "sqlite":
        return sqlite.insert(table)  # type: ignore[return-value]
    return postgresql.insert(table)
