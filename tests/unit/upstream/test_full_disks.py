"""What comes of a full disk is told from what does not."""

import errno
import resource
import signal
import sqlite3
from contextlib import contextmanager

import pytest
from sqlalchemy import create_engine
from sqlalchemy.exc import SQLAlchemyError

from privacy.errors import LedgerUnavailableError
from upstream.errors import IngestionError
from upstream.full_disks import is_for_want_of_space


def raised(make):
    with pytest.raises(Exception) as found:  # noqa: PT011 - whatever it is
        make()
    return found.value


def fill_sqlite(path):
    engine = create_engine(f"sqlite:///{path}")
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 2")
            connection.exec_driver_sql("CREATE TABLE t (a)")
            connection.exec_driver_sql("INSERT INTO t VALUES (randomblob(100000))")
    except SQLAlchemyError as error:
        message = "the ledger cannot be written now"
        raise LedgerUnavailableError(message) from error
    finally:
        engine.dispose()


def test_a_full_database_is_told_through_whatever_was_made_of_it(tmp_path):
    error = raised(lambda: fill_sqlite(tmp_path / "d"))
    assert isinstance(error, LedgerUnavailableError)
    assert is_for_want_of_space(error, tmp_path)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_what_the_system_says_is_believed(tmp_path, number):
    assert is_for_want_of_space(OSError(number, "x"), tmp_path)
    assert not is_for_want_of_space(OSError(errno.EACCES, "x"), tmp_path)


def test_other_errors_are_not_for_want_of_space(tmp_path):
    def open_nothing():
        sqlite3.connect(tmp_path / "none" / "d").execute("SELECT 1")

    def open_text():
        (tmp_path / "text").write_text("no database" * 100)
        sqlite3.connect(tmp_path / "text").execute("SELECT * FROM t")

    for make in (open_nothing, open_text, lambda: int("x")):
        assert not is_for_want_of_space(raised(make), tmp_path)


@contextmanager
def files_of_at_most(size_bytes):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_load_that_no_disk_takes_is_refused_and_leaves_nothing(hospital):
    hospital.load()
    hospital.target = "again.duckdb"
    before = sorted(path.name for path in hospital.folder.iterdir())
    with (
        files_of_at_most(10_000),
        pytest.raises(IngestionError, match="nothing was recorded"),
    ):
        hospital.load()
    assert sorted(path.name for path in hospital.folder.iterdir()) == before
