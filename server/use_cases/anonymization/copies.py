"""Anonymized copies at rest: a folder each, with its manifest, none of a release's.

What a copy is stands in its manifest alone; who got it, in the ledger's entries. A
folder is there whole or not at all: it is renamed once all of it is durable.
"""

import hashlib
import io
import json
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, cast

import numpy as np

from server.use_cases.anonymization.intersection import Intersection, Members
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.secret_files import sync_folder, write_durably

MANIFEST: Final = "manifest.json"
_ID: Final = re.compile(r"anon_[0-9a-f]{24}")
_PART: Final = ".part"
_MEMBERS: Final = ".members"
_COMPARED: Final = ".compared"
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
        """Return an empty folder for one attempt of a job to write into."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        part = self.folder / f"{copy_id(job)}.{secrets.token_hex(8)}{_PART}"
        part.mkdir(mode=0o700)
        return part

    def finish(self, part: Path, manifest: Document, members: Members | None) -> str:
        """Write what is missing of a copy; return the SHA-256 of its manifest.

        The digests and sizes of its files are added. All is durable on return, and
        nobody sees it before ``settle``.

        Args:
            part: What an attempt wrote.
            manifest: What the copy is.
            members: Who is in which of its classes, kept beside it and never handed
                out; None: it does not tell patients apart.
        """
        if members is not None:
            write_durably(_members_of(part), _packed(members))
        files = [_described(path) for path in sorted(part.iterdir())]
        content = json.dumps(manifest | {"files": files}, indent=2, ensure_ascii=False)
        write_durably(part / MANIFEST, content.encode())
        return hashlib.sha256(content.encode()).hexdigest()

    def settle(self, part: Path, job: str) -> None:
        """Let what an attempt finished be the copy; call it while the job is held.

        What earlier attempts wrote is deleted, a copy too whose end was never written.
        """
        path = self.path(copy_id(job))
        if path.is_dir():
            path.replace(part.with_suffix(_GONE))
        self._beside(copy_id(job), _MEMBERS).unlink(missing_ok=True)
        if _members_of(part).exists():
            _members_of(part).replace(self._beside(copy_id(job), _MEMBERS))
        part.replace(path)
        sync_folder(self.folder)
        self._delete_parts(copy_id(job))

    @staticmethod
    def drop(part: Path) -> None:
        """Delete what one attempt wrote, as far as it is there."""
        _remove(part)
        _remove(_members_of(part))

    def discard(self, job: str) -> None:
        """Delete all that a job wrote, whole or in part, whoever wrote it."""
        for path in self.folder.glob(f"{copy_id(job)}*"):
            _remove(path)

    def tidy(self, job: str, *, is_deleted: bool, is_granted: bool) -> None:
        """Delete what killed attempts and deletions left of a job that is done.

        Args:
            job: The job.
            is_deleted: Whether its copy was deleted, as the ledger says.
            is_granted: Whether somebody got it: then who is in it stays.
        """
        path = self.path(copy_id(job))
        if is_deleted:
            self.delete(path.name, keeping_members=is_granted)
        self._delete_parts(path.name)

    def delete(self, copy: str, *, keeping_members: bool) -> None:
        """Delete a copy, and who is in it, if that is not kept; half is never seen."""
        path = self.path(copy)
        if path.is_dir():
            gone = path.with_name(f"{path.name}.{secrets.token_hex(8)}{_GONE}")
            path.replace(gone)
            sync_folder(self.folder)
            _remove(gone)
        if not keeping_members:
            self._beside(copy, _MEMBERS).unlink(missing_ok=True)
            self._beside(copy, _COMPARED).unlink(missing_ok=True)

    def has_members(self, copy: str) -> bool:
        """Whether it is known who is in which class of a copy."""
        return self._beside(copy, _MEMBERS).exists()

    def compared(self, copy: str, others: Sequence[str]) -> Intersection | None:
        """Return what copies tell together, if that was found out before."""
        asked = [(copy, others), *((one, [copy]) for one in others if len(others) == 1)]
        for one, with_ in asked:
            content = _read(self._beside(one, _COMPARED))
            told = {} if content is None else json.loads(content)
            if _all_of(with_) in told:
                return Intersection(**told[_all_of(with_)])
        return None

    def keep_compared(
        self, copy: str, others: Sequence[str], found: Intersection
    ) -> None:
        """Write down what copies tell together."""
        path = self._beside(copy, _COMPARED)
        content = _read(path)
        told: Document = {} if content is None else json.loads(content)
        told[_all_of(others)] = asdict(found)
        write_durably(path, json.dumps(told).encode())

    def members(self, copy: str) -> Members | None:
        """Return who is in which class of a copy; None where nobody knows."""
        content = _read(self._beside(copy, _MEMBERS))
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

    def files(self, copy: Copy, folder: Path | None = None) -> Iterator[Path]:
        """Yield a copy's files, its manifest last, each read and compared.

        Args:
            copy: The copy.
            folder: Where they lie; None: where they were made.

        Raises:
            CommandRefusedError: One is missing, or another than was made.
        """
        folder = folder or self.path(copy.id)
        told = cast("list[dict[str, str]]", copy.manifest["files"])
        digests = {one["name"]: one["sha256"] for one in told}
        for name, sha256 in {**digests, MANIFEST: copy.sha256}.items():
            path = folder / name
            if not path.is_file() or _described(path)["sha256"] != sha256:
                message = f"{path} is missing or was changed: make the copy again"
                raise CommandRefusedError(message)
            yield path

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

    def _delete_parts(self, copy: str) -> None:
        for left in self.folder.glob(f"{copy}.*"):
            if left.suffix in (_PART, _GONE) or left.name.endswith(_PART + _MEMBERS):
                _remove(left)

    def _beside(self, copy: str, suffix: str) -> Path:
        return self.folder / f"{copy}{suffix}"


def _all_of(copies: Sequence[str]) -> str:
    return "+".join(sorted(copies))


def _members_of(part: Path) -> Path:
    return part.with_name(f"{part.name}{_MEMBERS}")


def _remove(path: Path) -> None:
    """Delete a file or a folder; what cannot be is left to whoever tidies next."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


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
