"""The locks of loads: one load of a population at a time, and none beside a backup.

Loads of different populations never wait for one another: how long one waited is told
to its custodians, and would tell how long the other took (PRIVACY 2).
"""

import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from server.configuration.settings import Settings

_LOCK_WAIT_SECONDS: Final = 0.2


@contextmanager
def load_lock(
    settings: Settings,
    population: str,
    *,
    while_waiting: Callable[[], None] | None = None,
) -> Iterator[None]:
    """Hold the lock of a population's loads.

    A server that starts meanwhile deletes nothing, since the files of a load under way
    are not named by any entry yet. ``while_waiting`` is called now and then until the
    lock is had; it may raise.
    """
    named = hashlib.sha256(population.encode()).hexdigest()[:32]
    with (
        _locked(_own(settings, named), fcntl.LOCK_EX, while_waiting),
        _locked(_common(settings), fcntl.LOCK_SH, while_waiting),
    ):
        yield


@contextmanager
def lock_beside_loads(settings: Settings) -> Iterator[None]:
    """Hold off backups and sweeps, and no load.

    For who reads what loads wrote, or deletes what a backup may be copying.
    """
    with _locked(_common(settings), fcntl.LOCK_SH, None):
        yield


@contextmanager
def lock_of_all_loads(settings: Settings, *, wait: bool = True) -> Iterator[bool]:
    """Hold off the loads of all populations; yield whether that was had.

    Without ``wait`` it is not while a load is under way.
    """
    with _opened(_common(settings)) as descriptor:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True


def _common(settings: Settings) -> Path:
    return settings.data / "load.lock"


def _own(settings: Settings, named: str) -> Path:
    return settings.data / f"load-{named}.lock"


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Lend a lock's file; closing it lets go of the lock."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _locked(
    path: Path, kind: int, while_waiting: Callable[[], None] | None
) -> Iterator[None]:
    with _opened(path) as descriptor:
        _lock(descriptor, kind, while_waiting)
        yield


def _lock(descriptor: int, kind: int, while_waiting: Callable[[], None] | None) -> None:
    if while_waiting is None:
        fcntl.flock(descriptor, kind)
        return
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            return
        while_waiting()
        time.sleep(_LOCK_WAIT_SECONDS)
