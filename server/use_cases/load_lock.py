"""The one lock of loads."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from server.settings import Settings


@contextmanager
def load_lock(settings: Settings, *, wait: bool = True) -> Iterator[bool]:
    """Hold the one lock of loads; yield whether it was had.

    A server that starts meanwhile deletes nothing, since the files of a load under way
    are not named by any entry yet.
    """
    path = settings.data / "load.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(descriptor)
        yield False
        return
    try:
        yield True
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)
