"""What killed commands and jobs leave beside registers, and its deletion.

A register is shown out of a folder that is deleted behind the command. Whoever shows
one holds a lock meanwhile, which the system lets go of when the process dies: so what
lies there while nobody holds it is of the dead.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from server.use_cases.linkage.store import LinkageStore
from server.use_cases.services.services import Services

_SHOWN: Final = "shown_"
_LOCK: Final = "shown.lock"


@contextmanager
def shown_folder(linkages: Path) -> Iterator[Path]:
    """Lend a folder in which a register is opened to be shown; it is deleted behind.

    Args:
        linkages: Where the registers lie.
    """
    _delete_shown(linkages)
    with (
        _locked(linkages, fcntl.LOCK_SH),
        TemporaryDirectory(dir=linkages, prefix=_SHOWN) as folder,
    ):
        yield Path(folder)


def delete_leftovers(services: Services) -> None:
    """Delete registers that dead commands showed, and sheets of deleted linkages."""
    linkages = services.settings.data / "linkages"
    _delete_shown(linkages)
    sheets = list(linkages.glob("lnk_*.csv"))
    if not sheets:
        return
    with services.databases.reader.connect() as connection:
        known = {one.id for one in LinkageStore().all(connection)}
    for sheet in sheets:
        if sheet.stem not in known:
            sheet.unlink(missing_ok=True)


def _delete_shown(linkages: Path) -> None:
    """Delete what dead commands left; where one is shown now, a later look does it."""
    if not any(linkages.glob(f"{_SHOWN}*")):
        return
    try:
        with _locked(linkages, fcntl.LOCK_EX | fcntl.LOCK_NB):
            for folder in linkages.glob(f"{_SHOWN}*"):
                shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        return


@contextmanager
def _locked(linkages: Path, kind: int) -> Iterator[None]:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    descriptor = os.open(linkages / _LOCK, flags, 0o600)
    try:
        fcntl.flock(descriptor, kind)
        yield
    finally:
        os.close(descriptor)
