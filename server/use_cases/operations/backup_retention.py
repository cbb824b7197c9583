"""A folder of backups that are made by one command and deleted by a rule.

Each has a note beside it, which says whose it is, when it was made and what its bytes
are. Only what has such a note of the same ledger is ever deleted, and never the newest.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from server.use_cases.operations.backup_archives import TAR, describe
from server.use_cases.operations.backup_encryption import ENDING
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.secret_files import sync_folder, write_durably

NOTE = ".note.json"
_FORMAT = 1
_UNFINISHED = (".packing", NOTE + ".part")


@dataclass(frozen=True, slots=True)
class Retention:
    """How many are kept: the newest of each of the last days, weeks and months.

    All zero: nothing is deleted. Days, ISO weeks and months are those of UTC.
    """

    daily: int = 0
    weekly: int = 0
    monthly: int = 0

    @property
    def deletes(self) -> bool:
        """Whether there is a rule."""
        return any((self.daily, self.weekly, self.monthly))


@dataclass(frozen=True, slots=True)
class Note:
    """What is written beside a backup."""

    format: int
    ledger: str  # a digest of its id
    created: str  # UTC, ISO 8601
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A backup of this ledger, and when it was made."""

    path: Path
    created: datetime


Period = Callable[[datetime], object]
_PERIODS: tuple[tuple[str, Period], ...] = (
    ("daily", lambda at: at.date()),
    ("weekly", lambda at: at.isocalendar()[:2]),
    ("monthly", lambda at: (at.year, at.month)),
)


def ledger_digest(ledger_id: str) -> str:
    """Return what names and notes of backups say of a ledger: not its id."""
    return hashlib.sha256(f"curator backups of {ledger_id}".encode()).hexdigest()[:16]


def target_in(folder: Path, ledger: str, at: datetime, *, encrypted: bool) -> Path:
    """Return the name of a backup that is made now.

    Raises:
        CommandRefusedError: There is no such folder.
    """
    if not folder.is_dir():
        message = f"there is no folder {folder}"
        raise CommandRefusedError(message)
    ending = TAR + ENDING if encrypted else TAR
    return folder / f"curator-{ledger}-{at:%Y-%m-%dT%H%M%SZ}{ending}"


def note_backup(target: Path, ledger: str, at: datetime) -> None:
    """Write the note beside a backup, so that a rule may delete it one day."""
    told = describe(target)
    note = Note(
        _FORMAT, ledger, at.isoformat(), str(told.sha256), int(str(told.size_bytes))
    )
    words = json.dumps(asdict(note), indent=1) + "\n"
    write_durably(_note_of(target), words.encode())


def _note_of(backup: Path) -> Path:
    return backup.with_name(backup.name + NOTE)


def backups_in(folder: Path, ledger: str) -> list[Kept]:
    """Return the backups of a ledger that have their note, the newest first.

    A file of another size than its note says is not one of them.
    """
    found = [
        Kept(path, datetime.fromisoformat(note.created))
        for path, note in _notes(folder)
        if note.ledger == ledger and _size(path) == note.size_bytes
    ]
    return sorted(found, key=lambda one: (one.created, one.path.name), reverse=True)


def _notes(folder: Path) -> Iterator[tuple[Path, Note]]:
    for path in sorted(folder.glob(f"curator-*{NOTE}")):
        backup = path.with_name(path.name.removesuffix(NOTE))
        try:
            note = Note(**json.loads(path.read_text("utf-8")))
            made = datetime.fromisoformat(note.created)
        except (OSError, ValueError, TypeError):
            continue
        if note.format == _FORMAT and made.tzinfo is not None:
            yield backup, note


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() and not path.is_symlink() else None


def superfluous(backups: Sequence[Kept], retention: Retention) -> list[Kept]:
    """Return which of them a rule does not keep, the oldest last.

    Args:
        backups: Of one ledger, the newest first.
        retention: The rule. The newest backup is kept by any.
    """
    if not retention.deletes:
        return []
    kept = {one.path for one in backups[:1]}
    for name, period in _PERIODS:
        newest: dict[object, Path] = {}
        for one in backups:
            newest.setdefault(period(one.created.astimezone(UTC)), one.path)
        kept |= set(list(newest.values())[: getattr(retention, name)])
    return [one for one in backups if one.path not in kept]


def delete_superfluous(folder: Path, ledger: str, retention: Retention) -> list[str]:
    """Delete what a rule does not keep, and what a killed backup began.

    The file goes before its note: what is cut off between them is no backup any more.

    Returns:
        The names of the backups that were deleted.
    """
    gone = superfluous(backups_in(folder, ledger), retention)
    for one in gone:
        one.path.unlink()
        _note_of(one.path).unlink()
    for ending in _UNFINISHED:
        for path in folder.glob(f"curator-{ledger}-*{ending}"):
            path.unlink()
    if retention.deletes:
        for path in folder.glob(f"curator-{ledger}-*{NOTE}"):
            if not path.with_name(path.name.removesuffix(NOTE)).exists():
                path.unlink()
    sync_folder(folder)
    return [one.path.name for one in gone]
