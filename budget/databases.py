"""Two doors to one database: a writer that takes its lock at BEGIN, and readers."""

import sqlite3

from sqlalchemy import Connection, Engine, create_engine, event

BUSY_SECONDS = 10.0


class Databases:
    """The writer and the reader engine of the catalogue database.

    SQLite's deferred default lets two writers read the same balance; the writer
    therefore begins IMMEDIATE, and is durable at every commit (WAL, FULL). Readers
    cannot write at all.
    """

    def __init__(self, url: str) -> None:
        self.writer = _engine(url, begin="BEGIN IMMEDIATE", query_only=False)
        self.reader = _engine(url, begin="BEGIN", query_only=True)

    def close(self) -> None:
        """Close every connection."""
        self.writer.dispose()
        self.reader.dispose()


def _engine(url: str, *, begin: str, query_only: bool) -> Engine:
    engine = create_engine(
        url, connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False}
    )

    @event.listens_for(engine, "connect")
    def on_connect(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None  # we begin transactions ourselves
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA query_only = {'ON' if query_only else 'OFF'}")

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine
