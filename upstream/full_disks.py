"""Whether something failed for want of space, whoever met it."""

import errno
import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_TEXTS = tuple(os.strerror(number) for number in _ERRNOS)  # as DuckDB has them
_SQLITE_FULL = sqlite3.SQLITE_FULL
_SQLITE_MAY_BE = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
_PRIMARY = 0xFF  # of an extended code of SQLite
_POSTGRESQL_FULL = "53100"
_TRIAL_BYTES = 1 << 20


def is_for_want_of_space(error: BaseException, folder: Path) -> bool:
    """Return whether an error, or what it came of, says that a disk is full.

    SQLite has errors that say so and others that may mean anything: these count where a
    megabyte cannot be written.

    Args:
        error: What was raised.
        folder: Where the megabyte is tried.
    """
    causes = [*_causes(error)]
    if any(map(_says_so, causes)):
        return True
    return any(map(_may_say_so, causes)) and not _has_room(folder)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _says_so(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in _ERRNOS
    if _is_of_duckdb(error):
        return any(text in str(error) for text in _TEXTS)
    if getattr(error, "sqlstate", None) == _POSTGRESQL_FULL:
        return True
    return _sqlite_code(error) == _SQLITE_FULL


def _is_of_duckdb(error: BaseException) -> bool:
    """Whether DuckDB raised it; who never imported DuckDB has no error of it."""
    duckdb = sys.modules.get("duckdb")
    return duckdb is not None and isinstance(error, duckdb.Error)


def _may_say_so(error: BaseException) -> bool:
    return _sqlite_code(error) in _SQLITE_MAY_BE


def _sqlite_code(error: BaseException) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return code & _PRIMARY if isinstance(code, int) else None


def _has_room(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, _TRIAL_BYTES)
    except OSError as error:
        return error.errno not in _ERRNOS
    return True


def in_megabytes(size_bytes: int) -> str:
    """Return a size in words, rounded up.

    >>> in_megabytes(1), in_megabytes(2_500_000)
    ('1 MB', '3 MB')
    """
    return f"{-(-size_bytes // 10**6)} MB"
