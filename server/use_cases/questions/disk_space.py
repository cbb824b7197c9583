"""Whether the disk can store the next answers: looked at before any charge."""

import shutil

from budget.charging.disk_space import LEAST_BYTES
from privacy.errors import LedgerUnavailableError
from server.configuration.safety import sqlite_file
from server.configuration.settings import Settings


def require_disk_space(settings: Settings) -> None:
    """Refuse where the disk of the database's file may not take the next answers.

    One limit for every question: a limit that followed what is asked would measure,
    for nothing, how much space other work has left. PostgreSQL's disk is not seen.

    Raises:
        LedgerUnavailableError: Less than ``LEAST_BYTES`` is free.
    """
    database = sqlite_file(settings)
    if database is None:
        return
    if shutil.disk_usage(database.parent).free < LEAST_BYTES:
        message = "the ledger's disk is nearly full; nothing was charged"
        raise LedgerUnavailableError(message)
