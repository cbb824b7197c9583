"""Three doors to one database: the ledger's writer, readers, and work in progress."""

import sqlite3

from sqlalchemy import Connection, Engine, create_engine, event

BUSY_SECONDS = 10.0


class Databases:
    """The writer and the reader engine of the catalogue database.

    SQLite's deferred default lets two writers read the same balance; the writer
    therefore begins IMMEDIATE, and is durable at every commit (WAL, FULL). Readers
    cannot write at all. ``work`` writes the rows that are in no chain entry (who is
    alive, jobs, rates): its last commits may be lost in a power cut.
    """

    def __init__(self, url: str) -> None:
        self.writer = _engine(url, begin="BEGIN IMMEDIATE", synchronous="FULL")
        self.work = _engine(url, begin="BEGIN IMMEDIATE", synchronous="NORMAL")
        self.reader = _engine(url, begin="BEGIN", query_only=True)

    def close(self) -> None:
        """Close every connection."""
        self.writer.dispose()
        self.work.dispose()
        self.reader.dispose()


def _engine(
    url: str, *, begin: str, synchronous: str = "FULL", query_only: bool = False
) -> Engine:
    engine = create_engine(
        url, connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False}
    )

    @event.listens_for(engine, "connect")
    def on_connect(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None  # we begin transactions ourselves
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA query_only = {'ON' if query_only else 'OFF'}")

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine
