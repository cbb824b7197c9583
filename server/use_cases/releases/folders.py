"""Where releases lie: a folder each, named by its id and its manifest's digest.

A folder gets its name only when it is whole and on disk, and counts only once the
ledger names its digest. What no entry names is deleted, unless its job is at work.
"""

import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from release.store.manifest_files import MANIFEST
from server.use_cases.services.secret_files import sync_folder

_DIGITS = 16
_PART = ".part-"
_GIVEN_UP = ".unwritten"


class ReleaseFolders:
    """The folders of one installation."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, release_id: str, manifest_sha256: str) -> Path:
        """Return where a published release lies."""
        return self._root / f"{release_id}.{manifest_sha256[:_DIGITS]}"

    def stage(self, release_id: str, attempt: int) -> Path:
        """Return a new folder to write a release into.

        What earlier attempts at the same release left unfinished is removed; what a
        later one writes is not, though this one may have stood still meanwhile. A whole
        folder stays, whoever made it: the ledger may name it.
        """
        self._root.mkdir(mode=0o700, exist_ok=True)
        _delete(self._parts(release_id, attempt))
        part = self._root / f"{release_id}{_PART}{attempt}-{secrets.token_hex(8)}"
        part.mkdir(mode=0o700)
        return part

    def _parts(self, release_id: str, attempt: int) -> list[Path]:
        """Return what attempts up to one began, by their names."""
        found = sorted(self._root.glob(f"{release_id}{_PART}*"))
        return [part for part in found if _attempt_of(part) <= attempt]

    def give_up(self, release_id: str, attempt: int) -> None:
        """Remove what could not be written whole, and remember that it was drawn.

        A folder that is there takes no room: what is left of it is its name.
        """
        for part in self._parts(release_id, attempt):
            for path in part.iterdir():
                path.unlink(missing_ok=True)
            with suppress(OSError):  # another attempt's became that
                part.rename(self._given_up(release_id))
        sync_folder(self._root)

    def was_given_up(self, release_id: str) -> bool:
        """Whether a release was drawn, and could not be written."""
        return self._given_up(release_id).is_dir()

    def whole(self, release_id: str) -> bytes | None:
        """Return the manifest of what an earlier attempt wrote whole; None: nothing.

        Of several, as versions before made, one by its name: no draw is chosen.
        """
        for path in sorted(self._root.glob(f"{release_id}.*")):
            if (path / MANIFEST).is_file():
                content = (path / MANIFEST).read_bytes()
                if path == self.path(release_id, hashlib.sha256(content).hexdigest()):
                    return content
        return None

    def _given_up(self, release_id: str) -> Path:
        return self._root / f"{release_id}{_GIVEN_UP}"

    def settle(
        self, part: Path, release_id: str, manifest_sha256: str, charged: str
    ) -> Path:
        """Give a whole folder its name, durably.

        Args:
            part: As ``stage`` returned it; its files are synced.
            release_id: Whose it is.
            manifest_sha256: Of its manifest.
            charged: The time of the charge, ISO 8601, which its files take: by when
                they were written a copy would tell how long raw data was worked on.
        """
        moment = datetime.fromisoformat(charged).timestamp()
        for path in (*part.iterdir(), part):
            os.utime(path, (moment, moment))
        sync_folder(part)
        path = self.path(release_id, manifest_sha256)
        part.rename(path)
        sync_folder(self._root)
        return path

    def keep_only(self, release_id: str, manifest_sha256: str) -> None:
        """Delete what other attempts made of a release that the ledger names now."""
        named = self.path(release_id, manifest_sha256)
        others = self._root.glob(f"{release_id}.*")
        _delete(path for path in others if path != named)

    def present(self) -> list[Path]:
        """Return every folder, also of releases in the making."""
        return sorted(self._root.iterdir()) if self._root.is_dir() else []

    def delete_unnamed(
        self,
        found: Iterable[Path],
        named: Collection[tuple[str, str]],
        is_kept: Callable[[str], bool],
    ) -> None:
        """Delete folders that no entry names and no job works on.

        Args:
            found: As ``present`` returned them, before the ledger was read: what was
                begun since is not among them.
            named: Id and digest of what was published.
            is_kept: Whether a release of that id may be in the making.
        """
        kept = {self.path(*one).name for one in named}
        _delete(
            path
            for path in found
            if path.name not in kept and not is_kept(path.name.partition(".")[0])
        )


def _attempt_of(part: Path) -> int:
    """Return which attempt began a folder; 0: one of an earlier version."""
    number, dash, _ = part.name.partition(_PART)[2].partition("-")
    return int(number) if dash else 0


def _delete(folders: Iterable[Path]) -> None:
    for path in folders:
        shutil.rmtree(path, ignore_errors=True)
