"""Whether the disk can store an answer: tried before a question is executed again.

An execution counts against the three that a charge has. On a full disk each would be
spent on an answer that cannot be stored, and a question that was paid for would fail.
"""

import os
from typing import Final

from sqlalchemy import Connection, delete, insert

from budget.storage.tables import trial

LARGEST_ANSWER_BYTES: Final = 12 << 20
"""Above the largest stored answer, by the caps that hold before its charge.

8,000,000 bytes of keys and numbers as shown, 100,000 numbers as measured, of at most
22, and a mebibyte of words.
"""

LEAST_BYTES: Final = 4 * LARGEST_ANSWER_BYTES
"""What a command that reads no files may write, and a server's next answers."""


def try_disk_space(connection: Connection) -> None:
    """Write what the largest answer would be, into the database that stores it.

    SQLite writes it at the commit: it stays until ``forget_trial``. PostgreSQL extends
    its files at once: nothing stays. The bytes are random, since equal ones would be
    compressed.

    Raises:
        SQLAlchemyError: The disk is full, or fails.
    """
    content = os.urandom(LARGEST_ANSWER_BYTES)
    if connection.dialect.name == "sqlite":
        forget_trial(connection)
        connection.execute(insert(trial).values(id=1, body=content))
        return
    with connection.begin_nested() as savepoint:
        connection.execute(insert(trial).values(id=1, body=content))
        savepoint.rollback()


def forget_trial(connection: Connection) -> None:
    """Give the space back, for the answers that follow."""
    connection.execute(delete(trial))
