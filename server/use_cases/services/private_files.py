"""New files that their owner alone may read."""

import os
import shutil
from io import BufferedRandom
from pathlib import Path

from server.use_cases.services.errors import CommandRefusedError

_BLOCK_BYTES = 1 << 20


def private_file(path: Path) -> BufferedRandom:
    """Open a new file, to be written and read, that its owner alone may read.

    Raises:
        OSError: It is there already, be it a link, or cannot be made.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(descriptor, "w+b")


def copy_private(source: Path, target: Path) -> None:
    """Copy a file into a new one, durably.

    Raises:
        OSError: It is there already, or cannot be written: then nothing of it stays.
    """
    with source.open("rb") as read, private_file(target) as written:
        try:
            shutil.copyfileobj(read, written, _BLOCK_BYTES)
            written.flush()
            os.fsync(written.fileno())
        except BaseException:
            target.unlink(missing_ok=True)
            raise


def write_page(path: Path, page: str) -> None:
    """Write a page of HTML, as a new file.

    Raises:
        CommandRefusedError: It is there already, or cannot be written.
    """
    try:
        with private_file(path) as written:
            written.write(page.encode())
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}"
        raise CommandRefusedError(message) from None
