"""What every connection to SQLite is told, whatever SQLite was built with."""

import contextlib

from budget.storage.databases import Databases

NOTE = b"a note that a custodian deletes " * 20


def test_what_is_deleted_is_overwritten(tmp_path):
    path = tmp_path / "curator.sqlite"
    with contextlib.closing(Databases(f"sqlite:///{path}")) as databases:
        for engine in (databases.writer, databases.work):
            with engine.begin() as connection:
                told = connection.exec_driver_sql("PRAGMA secure_delete").scalar_one()
                assert told == 1
        with databases.work.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE text (body BLOB)")
            connection.exec_driver_sql("INSERT INTO text VALUES (?)", (NOTE,))
        with databases.work.begin() as connection:
            connection.exec_driver_sql("DELETE FROM text")
    assert NOTE[:32] not in path.read_bytes()
