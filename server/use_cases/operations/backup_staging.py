"""Where an encrypted backup is put together: within DATA, by one command at a time."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from server.configuration.settings import Settings
from server.use_cases.services.errors import CommandRefusedError

STAGING = "backup.part"
"""The folder in DATA from which an encrypted backup is packed: never beside it."""


@contextmanager
def the_one_backup(settings: Settings) -> Iterator[Path]:
    """Hold off other backups; yield the staging folder's path, where nothing is.

    Raises:
        CommandRefusedError: Another backup is being made.
    """
    descriptor = _locked(settings)
    if descriptor is None:
        message = "another backup is being made: wait for its end"
        raise CommandRefusedError(message)
    try:
        shutil.rmtree(settings.data / STAGING, ignore_errors=True)
        yield settings.data / STAGING
    finally:
        os.close(descriptor)


def _locked(settings: Settings) -> int | None:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    descriptor = os.open(settings.data / "backup.lock", flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def delete_cut_off_backup(settings: Settings) -> None:
    """Delete what a killed backup had copied within DATA; one under way goes on."""
    if not (settings.data / STAGING).exists():
        return
    with suppress(CommandRefusedError), the_one_backup(settings):
        pass
