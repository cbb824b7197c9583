"""Files whose path comes from somebody: opened as regular files, read with a bound.

A path may name a pipe, on which opening waits for ever, a device, whose opening does
something, or a file of any size; and what it names may change between two looks at it.
So a file is looked at before it is opened and again once it is open, and what is read
is what was looked at.
"""

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_TRIES, _WAIT_SECONDS = 20, 0.1
_OPEN_FILES = Path("/proc/self/fd")
IRREGULAR = "it is no regular file"


class FileTooLargeError(OSError):
    """A file has more bytes than may be read of it."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__(errno.EFBIG, f"it has more than {most_bytes:,} bytes")


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """Which file a path named, and in which state: equal means nothing was changed.

    A file's own clock of changes (``ctime``) moves with every write, rename and change
    of its other times, and nobody can set it.
    """

    device: int
    inode: int
    size_bytes: int
    modified_ns: int
    changed_ns: int


def identity_of(path: Path) -> FileIdentity:
    """Return which regular file a path names now.

    Raises:
        OSError: It names none.
    """
    return _identity(path.stat())


def identity_of_open(file: BinaryIO) -> FileIdentity:
    """Return which regular file is open.

    Raises:
        OSError: It is none.
    """
    return _identity(os.fstat(file.fileno()))


@contextmanager
def opened(path: Path, *, within: Path | None = None) -> Iterator[BufferedReader]:
    """Open a regular file for reading; its descriptor stays in this process.

    Args:
        path: The file. A last part that is a link is followed without ``within``.
        within: A folder without links that the file itself must lie in, however its
            path came to lead there; ``path`` is without links then.

    Raises:
        OSError: It cannot be read, is no regular file, or lies elsewhere.
    """
    _identity(path.stat())  # opening a device may do something
    flags = _FLAGS if within is None else _FLAGS | os.O_NOFOLLOW
    with os.fdopen(_descriptor(path, flags), "rb") as file:
        identity_of_open(file)
        if within is not None:
            _require_within(file, within)
        yield file


def read_at_most(path: Path, most_bytes: int, *, within: Path | None = None) -> bytes:
    """Return the content of a regular file, which is never larger than ``most_bytes``.

    Args:
        path: As of ``opened``.
        most_bytes: The bound; one byte more is read at most.
        within: As of ``opened``.

    Raises:
        FileTooLargeError: It is larger.
        OSError: As of ``opened``.
    """
    with opened(path, within=within) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise FileTooLargeError(most_bytes)
    return content


def _descriptor(path: Path, flags: int) -> int:
    """Open a file; wait a little while a file server's lease on it is broken."""
    for _ in range(_TRIES):
        try:
            return os.open(path, flags)
        except BlockingIOError:
            time.sleep(_WAIT_SECONDS)
    return os.open(path, flags)


def _identity(found: os.stat_result) -> FileIdentity:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, IRREGULAR)
    return FileIdentity(
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )


def _require_within(file: BinaryIO, folder: Path) -> None:
    """Refuse a file to which a folder's link led after its path was looked at.

    Where the system does not tell where an open file lies, that look has to do.
    """
    told = _OPEN_FILES / str(file.fileno())
    if told.is_symlink() and not told.readlink().is_relative_to(folder):
        raise OSError(errno.EXDEV, "it lies outside the import folder")
