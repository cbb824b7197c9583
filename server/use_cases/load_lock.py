"""The one lock of loads."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from server.settings import Settings

_LOCK_WAIT_SECONDS = 0.2


@contextmanager
def load_lock(
    settings: Settings,
    *,
    wait: bool = True,
    while_waiting: Callable[[], None] | None = None,
) -> Iterator[bool]:
    """Hold the one lock of loads; yield whether it was had.

    A server that starts meanwhile deletes nothing, since the files of a load under way
    are not named by any entry yet. ``while_waiting`` is called now and then until the
    lock is had; it may raise.
    """
    path = settings.data / "load.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _lock(descriptor, while_waiting, wait=wait)
    except BlockingIOError:
        os.close(descriptor)
        yield False
        return
    except BaseException:
        os.close(descriptor)
        raise
    try:
        yield True
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _lock(
    descriptor: int, while_waiting: Callable[[], None] | None, *, wait: bool
) -> None:
    """Lock a file.

    Raises:
        BlockingIOError: Somebody else has it, and ``wait`` is false.
    """
    if not wait or while_waiting is None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        while_waiting()
        time.sleep(_LOCK_WAIT_SECONDS)
