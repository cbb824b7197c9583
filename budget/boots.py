"""Which processes are alive: each renews its row, and leases name that row.

A boot is one process that serves or works. It lives as long as its row was renewed in
the last 15 seconds, by the database's own clock: hosts' clocks are never compared.
"""

import logging
import threading

from sqlalchemy import BigInteger, Connection, Select, delete, insert, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from budget.databases import Databases
from budget.tables import boot as boots
from privacy.errors import CuratorError

LIFE_MS = 15_000
RENEW_SECONDS = 5.0
_RETRY_SECONDS = 1.0  # while the database is away
_FORGET_MS = 24 * 3_600_000
_log = logging.getLogger("curator.boots")


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
    """Return the query for the ids of the boots that are alive.

    One renewed long after now is dead: the clock was set back since, and whoever lives
    renews by it.
    """
    return select(boots.c.id).where(
        boots.c.renewed_ms > now_ms() - LIFE_MS,
        boots.c.renewed_ms <= now_ms() + LIFE_MS,
    )


def alive(connection: Connection) -> frozenset[str]:
    """Return the ids of the boots that are alive."""
    return frozenset(connection.execute(alive_ids()).scalars())


def renew(connection: Connection, boot: str) -> None:
    """Say that a boot is alive; its row is made where there is none."""
    renewed = connection.execute(
        update(boots).where(boots.c.id == boot).values(renewed_ms=now_ms())
    )
    if renewed.rowcount == 0:
        forgotten = boots.c.renewed_ms < now_ms() - _FORGET_MS
        connection.execute(delete(boots).where(forgotten))
        connection.execute(insert(boots).values(id=boot, renewed_ms=now_ms()))


def end(connection: Connection, boot: str) -> None:
    """Say that a boot has ended, so that nobody waits for it."""
    connection.execute(delete(boots).where(boots.c.id == boot))


class Heartbeat:
    """Renews a boot's row from a thread of its own, until it is stopped."""

    def __init__(self, databases: Databases, boot: str) -> None:
        self._databases = databases
        self._boot = boot
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Renew at once, then every five seconds.

        Raises:
            SQLAlchemyError: The first renewal failed.
        """
        self._renew()
        self._thread = threading.Thread(
            target=self._renew_forever, name="heartbeat", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop, and end the boot where the database can be reached."""
        self._stopped.set()
        if self._thread is None:
            return
        self._thread.join()
        self._thread = None
        try:
            with self._databases.work.begin() as connection:
                end(connection, self._boot)
        except (SQLAlchemyError, CuratorError):
            _log.warning("the database is away: this process's row ends by itself")

    def _renew(self) -> None:
        with self._databases.work.begin() as connection:
            renew(connection, self._boot)

    def _renew_forever(self) -> None:
        pause = RENEW_SECONDS
        while not self._stopped.wait(pause):
            try:
                self._renew()
                pause = RENEW_SECONDS
            except (SQLAlchemyError, CuratorError) as error:
                _log.warning("a renewal failed", extra={"error": type(error).__name__})
                pause = _RETRY_SECONDS
