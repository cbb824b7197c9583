"""PostgreSQL under the ledger: how each engine connects, what a server must promise."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import ArgumentError

from budget.storage.prepared import begin_with
from privacy.errors import LedgerUnavailableError

WRITER_LOCK = 0x_C04A_704C
"""The advisory lock of whoever writes to the ledger; one for each database."""

MASK = "***"
SECRET_OPTIONS = frozenset({"password", "sslpassword", "oauth_client_secret"})
"""Options of libpq, in a URL's query, that nobody else may read."""

_CONNECT_SECONDS = 5
_LOST = "the database cannot be reached now"


class DatabaseUnreachableError(LedgerUnavailableError):
    """PostgreSQL cannot be reached, or will not serve.

    ``remedy`` says why and what to do, to operators alone: it names hosts and users,
    never a password.
    """

    def __init__(self, remedy: str) -> None:
        self.remedy = remedy
        super().__init__(_LOST)


class DatabaseLostError(LedgerUnavailableError):
    """The connection broke: whether a commit under way came through is unknown."""

    def __init__(self) -> None:
        super().__init__(_LOST)


@dataclass(frozen=True, slots=True)
class ConnectionProfile:
    """How one of the engines connects."""

    settings: str  # SQL, once a connection
    read_only: bool = False
    serial: bool = False  # every transaction holds the writer's lock
    connections: int = 2  # of one process at most


_LIMITS = "SET lock_timeout = '10s'; SET client_encoding = 'UTF8'; "
_READER = ConnectionProfile(
    _LIMITS + "SET default_transaction_isolation = 'repeatable read'",
    read_only=True,
    connections=5,
)
CONNECTION_PROFILES = (
    ConnectionProfile(
        _LIMITS + "SET default_transaction_isolation = 'read committed'",
        serial=True,
    ),
    _READER,
    _READER,
    ConnectionProfile(
        _LIMITS + "SET default_transaction_isolation = 'read committed'; "
        "SET synchronous_commit = off",
        connections=3,
    ),
)
"""Writer, reader, the ledger's reader, work.

READ COMMITTED suffices behind a lock: each statement sees what was committed before the
lock was had.
"""

_BEGIN_WRITING = f"""\
SELECT pg_advisory_xact_lock({WRITER_LOCK}), set_config('synchronous_commit',
  CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
  ELSE current_setting('synchronous_commit') END, true)"""
"""Takes the lock, and pins what was required of the server at connecting: a reload of
its settings would let a live connection lose commits. Stronger settings stay."""

_REQUIRED = (
    ("fsync", "on", "fsync = on in postgresql.conf, then restart PostgreSQL"),
    ("server_encoding", "UTF8", "a database with ENCODING 'UTF8'"),
    ("transaction_read_only", "off", "the primary server, not a standby"),
)


class _DriverConnection(Protocol):
    """What we use of a psycopg connection."""

    autocommit: bool
    read_only: bool | None

    def execute(self, query: str) -> "_Rows": ...


class _Rows(Protocol):
    def fetchone(self) -> tuple[str, ...] | None: ...


class Watcher(Protocol):
    """Learns of connections made and lost, and says how long one may be silent.

    Attributes:
        silent_seconds: For how long a statement may bring nothing; None: for ever.
    """

    silent_seconds: float | None

    def connected(self) -> None:
        """Learn that one was made."""
        ...

    def lost(self, engine: Engine) -> None:
        """Learn that one of an engine's broke."""
        ...


def open_engine(url: str, profile: ConnectionProfile, watcher: Watcher) -> Engine:
    """Return an engine whose connections follow a profile.

    Raises:
        DatabaseUnreachableError: The driver is not installed.
    """
    try:
        engine = create_engine(
            url,
            pool_size=profile.connections,
            max_overflow=0,
            pool_use_lifo=True,
            connect_args={
                "connect_timeout": _CONNECT_SECONDS,
                "application_name": "curator",
                "keepalives_idle": 10,
                "tcp_user_timeout": 10_000,
            },
        )
    except ImportError:
        message = (
            "PostgreSQL needs a driver: in the folder of Curator's source, type "
            "'pip install --require-hashes -r requirements/postgres.txt'"
        )
        raise DatabaseUnreachableError(message) from None

    _bound_silence(engine, watcher)

    @event.listens_for(engine, "connect")
    def on_connect(connection: _DriverConnection, _: object) -> None:
        connection.autocommit = True
        connection.execute(profile.settings)
        _require_durable(connection, commits=profile.serial)
        if profile.read_only:  # a lone statement too, which has no BEGIN READ ONLY
            connection.execute("SET default_transaction_read_only = on")
        connection.autocommit = False
        connection.read_only = profile.read_only
        watcher.connected()

    @event.listens_for(engine, "handle_error", retval=True)
    def on_error(context: ExceptionContext) -> BaseException | None:
        if context.connection is not None and context.is_disconnect:
            watcher.lost(engine)
            return DatabaseLostError()
        return _explain(context, url)

    if profile.serial:

        @event.listens_for(engine, "begin")
        def on_begin(connection: Connection) -> None:
            begin_with(connection, _BEGIN_WRITING)

    return engine


def _bound_silence(engine: Engine, watcher: Watcher) -> None:
    """Let an engine's connections give up a server that says nothing."""

    @event.listens_for(engine, "do_connect")
    def on_do_connect(
        _: object, __: object, arguments: Sequence[Any], options: Mapping[str, Any]
    ) -> object:
        from budget.storage.silences import connect_bounded  # noqa: PLC0415 - needs the driver

        return connect_bounded(arguments, options, lambda: watcher.silent_seconds)


def _require_durable(connection: _DriverConnection, *, commits: bool) -> None:
    """Refuse a server that may lose what it said was committed.

    Raises:
        DatabaseUnreachableError: What is wrong, and what to set.
    """
    for name, wanted, remedy in _REQUIRED:
        if _setting(connection, name) != wanted:
            message = f"PostgreSQL has {name} other than {wanted!r}: use {remedy}"
            raise DatabaseUnreachableError(message)
    if commits and _setting(connection, "synchronous_commit") == "off":
        message = (
            "PostgreSQL has synchronous_commit = off, so that a crash could forget "
            "charges: set it to on, in postgresql.conf or by ALTER ROLE ... SET"
        )
        raise DatabaseUnreachableError(message)


def _setting(connection: _DriverConnection, name: str) -> str:
    row = connection.execute(f"SELECT current_setting('{name}')").fetchone()
    return "" if row is None else row[0]


def _explain(context: ExceptionContext, url: str) -> BaseException | None:
    """Say of a connection that could not be had what can be said; else leave it."""
    if context.connection is not None:
        return None
    if isinstance(context.original_exception, DatabaseUnreachableError):
        return None
    return DatabaseUnreachableError(unreachable(url, context.original_exception))


def unreachable(url: str, error: BaseException) -> str:
    """Say why a connection could not be had, in the driver's words, without secrets."""
    shown = masked_url(url)
    words = "" if shown == MASK else f" ({_without_secrets(url, error)})"
    return (
        f"the database {shown} cannot be reached: start it, or correct "
        f"CURATOR_DATABASE_URL{words}"
    )


def _without_secrets(url: str, error: BaseException) -> str:
    words = " ".join(str(error).split())
    for secret in secrets_in(url).values():
        words = words.replace(secret, MASK)
    return words


def secrets_in(url: str) -> dict[str, str]:
    """Return what nobody else may read in a URL, by libpq's names."""
    parsed = make_url(url)
    found = {} if parsed.password is None else {"password": str(parsed.password)}
    for name in SECRET_OPTIONS & parsed.query.keys():
        found[name] = parsed.normalized_query[name][-1]
    return {name: secret for name, secret in found.items() if secret}


def masked_url(text: str) -> str:
    """Return a URL without its password; its query may hold one too."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        return MASK
    if re.fullmatch(r"[A-Za-z0-9.:_-]*", url.host or "") is None:
        return MASK  # a password with an @ in it may have become part of the host
    url = url.set(query=dict.fromkeys(url.query, MASK))
    return url.render_as_string(hide_password=True)
