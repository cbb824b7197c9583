"""Which processes are alive: each renews its row, and leases name that row.

A process that serves or works lives as long as its row was renewed in the last 15
seconds, by the database's own clock: hosts' clocks are never compared.
"""

import contextlib
import hashlib
import logging
import socket
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import (
    BigInteger,
    Connection,
    Select,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from budget.storage.databases import Databases
from budget.storage.tables import server_process
from privacy.errors import CuratorError

LIFE_MS = 15_000
RENEW_SECONDS = 5.0
_RETRY_SECONDS = 1.0  # while the database is away
_FORGET_MS = 24 * 3_600_000
_REGISTER_LOCK = 0x_C04A_704D  # PostgreSQL's, of whoever begins to serve
_MACHINE = Path("/proc/sys/kernel/random/boot_id")
_log = logging.getLogger("curator.server_processes")


@dataclass(frozen=True, slots=True)
class HostIdentity:
    """Where a process runs, and which anchor it holds.

    Attributes:
        host: The machine's name, for people.
        digest: Equal for all processes of one machine, since its start, that share one
            anchor file: whatever paths and containers they see it by.
    """

    host: str
    digest: str

    @classmethod
    def of(cls, anchor: Path) -> "HostIdentity":
        """Return where this process runs, with the anchor at a path, there or not."""
        try:
            return cls.of_file(anchor)
        except OSError:
            return cls._of(str(anchor))

    @classmethod
    def of_file(cls, anchor: Path) -> "HostIdentity":
        """Return where this process runs, with the anchor's file as it is now.

        Raises:
            OSError: There is none, or it may not be looked at.
        """
        found = anchor.stat()
        return cls._of(f"{found.st_dev}:{found.st_ino}")

    @classmethod
    def _of(cls, file: str) -> "HostIdentity":
        host = socket.gethostname()
        try:
            machine = _MACHINE.read_text("ascii").strip()
        except OSError:
            machine = host
        digest = hashlib.sha256(f"{machine} {file}".encode()).hexdigest()
        return cls(host, digest)


@dataclass(frozen=True, slots=True)
class Serving:
    """A process that serves the ledger now.

    Attributes:
        host: Its machine's name; None of an earlier version.
        since: UTC; None of an earlier version.
        seen_seconds: How long ago it renewed its row.
        place: The digest of its ``HostIdentity``.
    """

    host: str | None
    since: datetime | None
    seen_seconds: float
    place: str | None

    def __str__(self) -> str:
        """Say where and since when."""
        when = "an unknown time" if self.since is None else f"{self.since:%F %T} UTC"
        return (
            f"{self.host or 'an unknown host'} since {when}, last seen "
            f"{self.seen_seconds:.0f} s ago"
        )


class ServedElsewhereError(CuratorError):
    """Another host serves this ledger, or did seconds ago."""

    code = "served_elsewhere"

    def __init__(self, other: Serving) -> None:
        super().__init__(
            f"this ledger is served by {other}: from another machine, from before this "
            "one was started, or with another file as CURATOR_ANCHOR. A ledger has one "
            "host and one anchor: end that server; 15 seconds after it has ended, type "
            "'curator serve' again"
        )


class now_ms(FunctionElement[int]):  # noqa: N801 - it reads as SQL
    """The database's clock, in milliseconds since 1970 (UTC)."""

    type = BigInteger()
    inherit_cache = True


@compiles(now_ms, "sqlite")
def _sqlite_now(element: now_ms, compiler: SQLCompiler, **_: object) -> str:
    del element, compiler
    return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"


@compiles(now_ms, "postgresql")
def _postgresql_now(element: now_ms, compiler: SQLCompiler, **_: object) -> str:
    del element, compiler
    return "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"


def alive_ids() -> Select[str]:
    """Return the query for the ids of the server processes that are alive.

    One renewed long after now is dead: the clock was set back since, and whoever lives
    renews by it.
    """
    return select(server_process.c.id).where(
        server_process.c.renewed_ms > now_ms() - LIFE_MS,
        server_process.c.renewed_ms <= now_ms() + LIFE_MS,
    )


def alive(connection: Connection) -> frozenset[str]:
    """Return the ids of the server processes that are alive."""
    return frozenset(connection.execute(alive_ids()).scalars())


def serving(connection: Connection) -> list[Serving]:
    """Return the processes that serve the ledger now, the longest first."""
    rows = connection.execute(
        select(server_process, (now_ms() - server_process.c.renewed_ms).label("age_ms"))
        .where(server_process.c.id.in_(alive_ids()))
        .order_by(server_process.c.since_ms, server_process.c.id)
    )
    return [
        Serving(
            row.host,
            None if row.since_ms is None else _moment(row.since_ms),
            max(0, row.age_ms) / 1000,
            row.place,
        )
        for row in rows
    ]


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def require_one_host(connection: Connection, identity: HostIdentity) -> None:
    """Refuse a ledger that is served from elsewhere, or was seconds ago.

    Raises:
        ServedElsewhereError: Where, since when, and what to do.
    """
    for other in serving(connection):
        if other.place is not None and other.place != identity.digest:
            raise ServedElsewhereError(other)


def register(connection: Connection, worker_id: str, identity: HostIdentity) -> None:
    """Say that a process is alive, if no other host serves: one asks at a time.

    Raises:
        ServedElsewhereError: Another one does.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_REGISTER_LOCK)))
        require_one_host(connection, identity)
    renew(connection, worker_id, identity)


def renew(
    connection: Connection, worker_id: str, identity: HostIdentity | None = None
) -> None:
    """Say that a server process is alive; its row is made where there is none.

    And where it runs, with which anchor: that file may have come back as another one.
    """
    where = {} if identity is None else _place_of(identity)
    renewed = connection.execute(
        update(server_process)
        .where(server_process.c.id == worker_id)
        .values(renewed_ms=now_ms(), **where)
    )
    if renewed.rowcount == 0:
        forgotten = server_process.c.renewed_ms < now_ms() - _FORGET_MS
        connection.execute(delete(server_process).where(forgotten))
        connection.execute(
            insert(server_process).values(
                id=worker_id,
                renewed_ms=now_ms(),
                since_ms=now_ms(),
                **where,
            )
        )


def _place_of(identity: HostIdentity) -> dict[str, str]:
    return {"host": identity.host, "place": identity.digest}


def end(connection: Connection, worker_id: str) -> None:
    """Say that a server process has ended, so that nobody waits for it."""
    connection.execute(delete(server_process).where(server_process.c.id == worker_id))


class Heartbeat:
    """Renews a server process's row from a thread of its own, until it is stopped.

    Args:
        databases: Of the ledger.
        worker_id: The process's id.
        anchor: Where its anchor lies: all who serve the ledger have the same.
    """

    def __init__(self, databases: Databases, worker_id: str, anchor: Path) -> None:
        self._databases = databases
        self._worker_id = worker_id
        self._anchor = anchor
        self._identity: HostIdentity | None = None
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Renew at once, then every five seconds.

        Raises:
            ServedElsewhereError: Another host serves the ledger.
            SQLAlchemyError: The first renewal failed.
        """
        self._identity = HostIdentity.of(self._anchor)
        with self._databases.work.begin() as connection:
            register(connection, self._worker_id, self._identity)
        self._thread = threading.Thread(
            target=self._renew_forever, name="heartbeat", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop, and end the row where the database can be reached."""
        self._stopped.set()
        if self._thread is None:
            return
        self._thread.join()
        self._thread = None
        try:
            with self._databases.work.begin() as connection:
                end(connection, self._worker_id)
        except (SQLAlchemyError, CuratorError):
            _log.warning("the database is away: this process's row ends by itself")

    def _renew(self) -> None:
        with contextlib.suppress(OSError):  # while it is away it is the one it was
            self._identity = HostIdentity.of_file(self._anchor)
        with self._databases.work.begin() as connection:
            renew(connection, self._worker_id, self._identity)

    def _renew_forever(self) -> None:
        pause = RENEW_SECONDS
        while not self._stopped.wait(pause):
            try:
                self._renew()
                pause = RENEW_SECONDS
            except (SQLAlchemyError, CuratorError) as error:
                _log.warning("a renewal failed", extra={"error": type(error).__name__})
                pause = _RETRY_SECONDS
