"""Anonymized copies at rest: a folder each, with its manifest, none of a release's.

What a copy is stands in its manifest alone; who got it, in the ledger's entries. A
folder is there whole or not at all: it is renamed once all of it is durable.
"""

import hashlib
import io
import json
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import numpy as np

from server.use_cases.anonymization.intersection import Members
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.secret_files import sync_folder, write_durably

MANIFEST: Final = "manifest.json"
_ID: Final = re.compile(r"anon_[0-9a-f]{24}")
_PART: Final = ".part"
_MEMBERS: Final = ".members"
_GONE: Final = ".gone"


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy.

    Attributes:
        id: Its id.
        name: Its name in the population; several may have the same.
        population: Whose.
        kind: ``texts``, ``tables`` or ``codes``.
        created: When, as it is shown.
        created_by: Who had it made.
        sha256: Of its manifest, which has those of its files.
        manifest: What it is.
    """

    id: str
    name: str
    population: str
    kind: str
    created: str
    created_by: str
    sha256: str
    manifest: Document


def copy_id(job: str) -> str:
    """Return the id of the copy that a job makes.

    >>> copy_id("job_4c1d0a9b8e7f6a5b3c2d1e0f")
    'anon_4c1d0a9b8e7f6a5b3c2d1e0f'
    """
    return f"anon_{job.removeprefix('job_')}"


def job_of(copy: str) -> str:
    """Return the job that made a copy.

    >>> job_of("anon_4c1d0a9b8e7f6a5b3c2d1e0f")
    'job_4c1d0a9b8e7f6a5b3c2d1e0f'
    """
    return f"job_{copy.removeprefix('anon_')}"


class CopyFolders:
    """The folder of all copies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def stage(self, job: str) -> Path:
        """Return an empty folder for a job to write into; what was there is deleted."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self.discard(job)
        part = self._part(job)
        part.mkdir(mode=0o700)
        return part

    def settle(self, job: str, manifest: Document, members: Members | None) -> str:
        """Let what a job wrote be a copy; return the SHA-256 of its manifest.

        The digests and sizes of its files are added. All is durable on return.

        Args:
            job: Which job.
            manifest: What the copy is.
            members: Who is in which of its classes, kept beside it and never handed
                out; None: it does not tell patients apart.
        """
        if members is not None:
            write_durably(self._members_path(copy_id(job)), _packed(members))
        part = self._part(job)
        files = [_described(path) for path in sorted(part.iterdir())]
        content = json.dumps(manifest | {"files": files}, indent=2, ensure_ascii=False)
        write_durably(part / MANIFEST, content.encode())
        part.replace(self.path(copy_id(job)))
        sync_folder(self.folder)
        return hashlib.sha256(content.encode()).hexdigest()

    def discard(self, job: str) -> None:
        """Delete what a job wrote, whole or in part."""
        path = self.path(copy_id(job))
        for folder in (self._part(job), path, path.with_name(f"{path.name}{_GONE}")):
            shutil.rmtree(folder, ignore_errors=True)
        self._members_path(copy_id(job)).unlink(missing_ok=True)

    def delete(self, copy: str, *, keeping_members: bool) -> None:
        """Delete a copy, and who is in it, if that is not kept; half is never seen."""
        path = self.path(copy)
        if path.is_dir():
            gone = path.with_name(f"{path.name}{_GONE}")
            path.replace(gone)
            sync_folder(self.folder)
            shutil.rmtree(gone, ignore_errors=True)
        if not keeping_members:
            self._members_path(copy).unlink(missing_ok=True)

    def members(self, copy: str) -> Members | None:
        """Return who is in which class of a copy; None where nobody knows."""
        content = _read(self._members_path(copy))
        if content is None:
            return None
        with np.load(io.BytesIO(content), allow_pickle=False) as held:
            return Members(held["patients"], held["classes"], held.get("keys"))

    def jobs(self) -> list[str]:
        """Return the jobs that wrote something, and were cut off or done."""
        if not self.folder.is_dir():
            return []
        names = {path.name.split(".", 1)[0] for path in self.folder.iterdir()}
        return sorted(job_of(one) for one in names if _ID.fullmatch(one))

    def path(self, copy: str) -> Path:
        """Return a copy's folder."""
        return self.folder / copy

    def all(self) -> list[Copy]:
        """Return all copies, the newest first."""
        found = self._found()
        return sorted(found, key=lambda one: (one.created, one.id), reverse=True)

    def files(self, copy: Copy) -> Iterator[Path]:
        """Yield a copy's files, its manifest last.

        Raises:
            CommandRefusedError: One is missing, or another than was made.
        """
        folder = self.path(copy.id)
        for told in cast("list[dict[str, str]]", copy.manifest["files"]):
            path = folder / told["name"]
            if not path.is_file() or _described(path)["sha256"] != told["sha256"]:
                message = f"{path} is missing or was changed: make the copy again"
                raise CommandRefusedError(message)
            yield path
        yield folder / MANIFEST

    def _found(self) -> Iterable[Copy]:
        if not self.folder.is_dir():
            return
        for path in self.folder.iterdir():
            content = _read(path / MANIFEST) if _ID.fullmatch(path.name) else None
            if content is not None:
                told: Document = json.loads(content)
                yield Copy(
                    id=path.name,
                    name=str(told["name"]),
                    population=str(told["population"]),
                    kind=str(told["kind"]),
                    created=str(told["created"]),
                    created_by=str(told["created_by"]),
                    sha256=hashlib.sha256(content).hexdigest(),
                    manifest=told,
                )

    def _members_path(self, copy: str) -> Path:
        return self.folder / f"{copy}{_MEMBERS}"

    def _part(self, job: str) -> Path:
        return self.folder / f"{copy_id(job)}{_PART}"


def _packed(members: Members) -> bytes:
    packed = io.BytesIO()
    told = {"patients": members.patients, "classes": members.classes}
    if members.keys is not None:
        told["keys"] = members.keys
    np.savez_compressed(packed, allow_pickle=False, **told)
    return packed.getvalue()


def _described(path: Path) -> Document:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": digest}


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None  # it is being deleted
