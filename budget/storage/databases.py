"""The engines of one database: the ledger's writer, readers, and work in progress."""

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, make_url

from budget.storage.postgresql import CONNECTION_PROFILES, open_engine
from budget.storage.prepared import on_driver

BUSY_SECONDS = 10.0
ReadCheck = Callable[[Connection], None]
FileIdentity = tuple[int, int]
"""The device and the inode of a file."""

_unchecked: ContextVar[bool] = ContextVar("unchecked", default=False)


class Databases:
    """The engines of the catalogue database, on SQLite or PostgreSQL.

    Both databases' defaults let two writers read the same balance. The writer
    therefore takes one lock as its transaction begins (SQLite: IMMEDIATE; PostgreSQL:
    an advisory lock), and is durable at every commit. Readers cannot write at all, and
    see one state for the length of a transaction; the ledger has readers of its own,
    so that whoever asks it while reading waits for nobody who does the same; what each
    transaction of theirs sees is checked as it begins (``check_reading``). ``work``
    writes what is in no chain
    entry (who is alive, jobs, rates, replies that left): its last commits may be lost
    in a power cut.

    Raises:
        DatabaseUnreachableError: PostgreSQL's driver is not installed.
    """

    def __init__(self, url: str) -> None:
        self.is_shared = make_url(url).get_backend_name() == "postgresql"
        self._path = None if self.is_shared else make_url(url).database
        self._opened_file: FileIdentity | None = None
        self.silent_seconds: float | None = None
        self._connections = 0
        self._lock = threading.Lock()
        self._check_reading: ReadCheck = lambda _: None
        if self.is_shared:
            self.writer, self.reader, self.ledger_reader, self.work = (
                open_engine(url, profile, self) for profile in CONNECTION_PROFILES
            )
        else:
            self.writer = _sqlite(url, begin="BEGIN IMMEDIATE")
            self.reader = _sqlite(url, begin="BEGIN", query_only=True)
            self.ledger_reader = _sqlite(url, begin="BEGIN", query_only=True)
            self.work = _sqlite(url, begin="BEGIN IMMEDIATE", synchronous="NORMAL")
            for engine in self._engines:
                event.listen(engine, "connect", self._opened)
        for engine in (self.reader, self.ledger_reader):
            event.listen(engine, "begin", self._begin_reading)

    def check_reading(self, check: ReadCheck) -> None:
        """Let every transaction that reads begin with a check of what it sees."""
        self._check_reading = check

    def _begin_reading(self, connection: Connection) -> None:
        if not _unchecked.get():
            self._check_reading(connection)

    @contextmanager
    def unchecked(self) -> Iterator[None]:
        """Let this context read what no check lets through: to say what is wrong."""
        token = _unchecked.set(True)
        try:
            yield
        finally:
            _unchecked.reset(token)

    @property
    def connections(self) -> int:
        """How often PostgreSQL was connected to: it grows when it was lost and found.

        What is behind a new connection may be another state than before, so the
        ledger is compared with its anchor again.
        """
        return self._connections

    def bound_silence(self, seconds: float) -> None:
        """Give up connections whose statements bring nothing for so long.

        For who serves: a command's migration or verification takes as long as it takes.
        """
        self.silent_seconds = seconds

    def _opened(self, *_: object) -> None:
        """Remember which file the first connection to SQLite opened."""
        with self._lock:
            if self._opened_file is None:
                self._opened_file = _identity(self._path)

    @property
    def is_replaced(self) -> bool:
        """Whether SQLite's file was removed, or another lies in its place.

        Connections go on in the old one: what they write is lost with it. A checkpoint
        and VACUUM write into the same file.

        Raises:
            OSError: It cannot be seen.
        """
        opened = self._opened_file
        return opened is not None and _identity(self._path) != opened

    def connected(self) -> None:
        """Count a new connection."""
        with self._lock:
            self._connections += 1

    def lost(self, engine: Engine) -> None:
        """Drop the idle connections of the other engines: the server went away."""
        for other in self._engines:
            if other is not engine:
                other.dispose()

    def close(self) -> None:
        """Close every connection."""
        for engine in self._engines:
            engine.dispose()
        self._opened_file = None

    @property
    def _engines(self) -> tuple[Engine, ...]:
        return self.writer, self.reader, self.ledger_reader, self.work


def _sqlite(
    url: str, *, begin: str, synchronous: str = "FULL", query_only: bool = False
) -> Engine:
    engine = create_engine(
        url, connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False}
    )

    @event.listens_for(engine, "do_connect")
    def before_connect(
        _: object, __: object, arguments: list[str], ___: object
    ) -> None:
        _make_private(arguments[0])

    @event.listens_for(engine, "connect")
    def on_connect(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None  # we begin transactions ourselves
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA secure_delete = ON")  # deleted texts are overwritten
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA query_only = {'ON' if query_only else 'OFF'}")

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        on_driver(connection, begin, (), lambda _: None)

    return engine


def _identity(path: str | None) -> FileIdentity | None:
    """Return which file lies at a path; None where none does."""
    if path is None:
        return None
    try:
        found = Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _make_private(path: str) -> None:
    """Make a new database readable by its owner alone; its log files follow it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with contextlib.suppress(OSError):  # it is there; or SQLite says what is wrong
        os.close(os.open(path, flags, 0o600))
