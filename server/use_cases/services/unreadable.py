"""Snapshots that cannot be read: no question of theirs is charged till they can.

A question is charged before rows are touched, so one of a missing or damaged file would
be paid for and fail. What was asked of it before waits, though its dataset may have
been loaded again meanwhile, and what is stored is shown.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, select

from budget.storage.databases import Databases
from budget.storage.tables import charge
from privacy.errors import CuratorError
from server.persistence import tables
from server.use_cases.services.errors import DatasetUnavailableError

_log = logging.getLogger("curator")
_Stamp = tuple[int, int, int]
"""A file's inode, size and time of change: another one is looked at again."""


class NoDatasetReadableError(CuratorError):
    """Not one active snapshot can be read: nothing could be answered."""

    code = DatasetUnavailableError.code

    def __init__(self, dataset: str) -> None:
        super().__init__(
            f"the active snapshot of dataset {dataset!r} is missing or damaged, and no "
            "other can be read: load the dataset again, or bring the file back from "
            "its backup ('curator doctor' names it)"
        )


class UnreadableSnapshots:
    """Remembers which snapshots that are asked can be opened; safe for many threads.

    These are the active ones, and those of charged questions without an end.

    Args:
        databases: Of the catalogue.
        folder: Of the snapshots.
        can_open: Tells whether a snapshot can be.
    """

    def __init__(
        self, databases: Databases, folder: Path, can_open: Callable[[str], bool]
    ) -> None:
        self._databases = databases
        self._folder = folder
        self._can_open = can_open
        self._lock = Lock()
        self._readable: dict[str, _Stamp] = {}
        self._unreadable: frozenset[str] = frozenset()
        self._unreadable_datasets = 0

    def look(self) -> None:
        """Open each snapshot that could not be opened, is new, or whose file changed.

        Raises:
            NoDatasetReadableError: None can be, and there are some.
        """
        with self._lock, self._databases.reader.connect() as connection:
            active = _active(connection)
            asked = active.keys() | charged_snapshots(connection)
            stamps = {one: self._stamp_of_readable(one) for one in asked}
            readable = {one: stamp for one, stamp in stamps.items() if stamp}
            self._readable = readable
            self._unreadable_datasets = len(active.keys() - readable.keys())
            self._tell(frozenset(asked - readable.keys()))
        if active and not active.keys() & readable.keys():
            raise NoDatasetReadableError(next(iter(active.values())))

    def all(self) -> frozenset[str]:
        """Return the snapshots that could not be opened, active or not."""
        return self._unreadable

    def datasets(self) -> int:
        """Return of how many datasets the active snapshot could not be opened."""
        return self._unreadable_datasets

    def require(self, snapshot: str) -> None:
        """Refuse what would read rows of a snapshot that cannot be read.

        Raises:
            DatasetUnavailableError: It could not be opened.
        """
        if snapshot in self._unreadable:
            raise DatasetUnavailableError

    def _stamp_of_readable(self, snapshot: str) -> _Stamp | None:
        """Return its file's stamp; None where it is missing or cannot be opened."""
        try:
            found = (self._folder / f"{snapshot}.duckdb").stat()
        except OSError:
            return None
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
        if self._readable.get(snapshot) == stamp or self._can_open(snapshot):
            return stamp
        return None

    def _tell(self, found: frozenset[str]) -> None:
        if found != self._unreadable:
            facts = {"count": len(found)}
            _log.error("snapshots that cannot be read", extra=facts)
        self._unreadable = found


def _active(connection: Connection) -> dict[str, str]:
    """Return the dataset of each active snapshot, in order of datasets."""
    wanted = select(tables.dataset.c.name, tables.dataset.c.active_snapshot)
    rows = connection.execute(wanted.order_by(tables.dataset.c.name)).all()
    return {str(row.active_snapshot): str(row.name) for row in rows}


def charged_snapshots(connection: Connection) -> set[str]:
    """Return the snapshots of charged questions without an end, but removed ones.

    What was asked of one that was removed for good can only fail, and is let do so.
    """
    kept = (charge.c.snapshot == tables.snapshot.c.id) & tables.snapshot.c.removed.is_(
        None
    )
    wanted = select(charge.c.snapshot).join(tables.snapshot, kept)
    running = wanted.where(charge.c.state == "running").distinct()
    return {str(one) for one in connection.execute(running).scalars()}
