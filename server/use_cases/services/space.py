"""What a command says where no space is left."""

import os
import shutil
from typing import Final

from budget.charging.disk_space import LEAST_BYTES
from privacy.errors import CuratorError, LedgerUnavailableError
from server.configuration.safety import sqlite_file
from server.configuration.settings import Settings, SettingsError, read_settings
from server.use_cases.services.errors import CommandRefusedError
from upstream.errors import IngestionError
from upstream.full_disks import in_megabytes, is_for_want_of_space

FULL_BYTES: Final = 1 << 20
"""Less space than this takes no charge, with its answer, for sure."""


def want_of_space(error: Exception) -> str | None:
    """Return what to say where an error comes of a full disk; None: it does not."""
    try:
        settings = read_settings()
    except SettingsError:
        return None
    told = isinstance(error, IngestionError | NoSpaceError)  # by itself
    if told or not is_for_want_of_space(error, settings.data):
        return None
    return f"{_recorded(error)}: {no_space(settings)}"


def _recorded(error: Exception) -> str:
    if isinstance(error, CuratorError):
        return str(error)
    return (
        "the command was not finished, and nothing of it is half recorded ('curator "
        "ledger verify' and the command's own list tell what is)"
    )


def require_writable(settings: Settings) -> None:
    """Refuse where no charge can be written, whatever is asked.

    Raises:
        LedgerUnavailableError: The anchor or the database's file cannot be written, or
            the disk of that file is full.
    """
    if not os.access(settings.anchor, os.W_OK):
        message = "the ledger's anchor cannot be written now"
        raise LedgerUnavailableError(message)
    database = sqlite_file(settings)
    if database is None:
        return
    free = shutil.disk_usage(database.parent).free
    if free < FULL_BYTES or not os.access(database, os.W_OK):
        message = "the ledger's database cannot be written now"
        raise LedgerUnavailableError(message)


def no_space(settings: Settings) -> str:
    """Say that no space is left, and what to do."""
    free = "none"
    if settings.data.is_dir():
        free = f"{shutil.disk_usage(settings.data).free:,} bytes"
    return (
        f"no space is left on the device that holds CURATOR_DATA ({settings.data}, "
        f"free: {free}), or on another that the command writes to. Free "
        f"{in_megabytes(LEAST_BYTES)} or more there, and type the command again"
    )


class NoSpaceError(CommandRefusedError):
    """Nothing was done, and nothing recorded: no space is left."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(f"nothing was recorded: {no_space(settings)}")
