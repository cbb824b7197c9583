"""What a backup looks like on disk: a folder, a tar, or a tar that is encrypted."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, TypedDict

from server.use_cases.operations.backup_encryption import (
    ENDING,
    Identity,
    Recipient,
    decrypting,
    encrypting,
    is_encrypted,
)
from server.use_cases.services.errors import CommandRefusedError

TAR = ".tar"
MANIFEST = "manifest.json"
FORMAT = 1
_NAME = re.compile(
    r"curator\.sqlite|ledger\.dump|secret\.key|overlap/[a-z0-9_][a-z0-9_.]*"
    r"|snapshots/s_[0-9a-f]+\.duckdb"
    r"|linkages/job_[0-9a-f]+\.register"
    r"|releases/rel_[0-9a-f]+\.[0-9a-f]{16}/[a-z0-9_]+\.(?:json|csv|parquet)"
)
_BLOCK_BYTES = 1 << 20


class Manifest(TypedDict):
    """What lies in a backup: ``files`` by name, each with its digest and size."""

    format: int
    created: str
    ledger: dict[str, object]
    snapshots: bool
    files: dict[str, dict[str, object]]


@dataclass(frozen=True, slots=True)
class Told:
    """What a manifest says of one file."""

    sha256: object
    size_bytes: object


def describe(path: Path) -> Told:
    """Return what a manifest says of a file."""
    with path.open("rb") as file:
        return _described(file)


def _described(file: IO[bytes]) -> Told:
    digest, size = hashlib.sha256(), 0
    while block := file.read(_BLOCK_BYTES):
        digest.update(block)
        size += len(block)
    return Told(digest.hexdigest(), size)


def pack(folder: Path, target: Path, recipients: Sequence[Recipient]) -> None:
    """Write a folder to a tar, encrypted where there are recipients, whole or not."""
    packed = target.with_name(target.name + ".packing")
    descriptor = os.open(packed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if recipients:
                with encrypting(file, recipients) as plain:
                    _write_tar(folder, plain)
            else:
                _write_tar(folder, file)
            file.flush()
            os.fsync(file.fileno())
        packed.rename(target)
    finally:
        packed.unlink(missing_ok=True)


def _write_tar(folder: Path, file: BinaryIO) -> None:
    with tarfile.open(fileobj=file, mode="w|") as tar:
        for name in [MANIFEST, *sorted(_files_of(folder) - {MANIFEST})]:
            tar.add(folder / name, arcname=name, filter=_anonymous)


def _files_of(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mode, member.uid, member.gid = 0o600, 0, 0
    member.uname, member.gname = "", ""
    return member


@contextmanager
def unpacked(
    source: Path, part: Path, identities: Sequence[Identity]
) -> Iterator[Path]:
    """Yield the folder of a backup, unpacked into ``part`` where it is a file.

    Raises:
        CommandRefusedError: It cannot be read.
    """
    if source.is_dir():
        yield source
        return
    with _tar(source, identities) as tar:
        _write_out(tar, part)
    yield part


def _write_out(tar: tarfile.TarFile, folder: Path) -> None:
    """Write a backup's files below a folder, and nothing that is no file of one.

    Debian 12's Python (3.11.2) has no filters with which ``extractall`` could do it.

    Raises:
        CommandRefusedError: Something else lies in the tar.
    """
    for member in tar:
        file = tar.extractfile(member) if member.isreg() else None
        if file is None or not _is_known(member.name):
            raise _not_whole(member.name)
        target = folder / member.name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as written:
            shutil.copyfileobj(file, written, _BLOCK_BYTES)


def _is_known(name: str) -> bool:
    return name == MANIFEST or _NAME.fullmatch(name) is not None


@contextmanager
def _tar(source: Path, identities: Sequence[Identity]) -> Iterator[tarfile.TarFile]:
    """Open a backup's tar to be read once, from its start."""
    try:
        with contextlib.ExitStack() as held:
            if is_encrypted(source):
                _require(identities, source)
                file = held.enter_context(decrypting(source, identities))
            else:
                file = held.enter_context(source.open("rb"))
            yield held.enter_context(tarfile.open(fileobj=file, mode="r|"))
    except (OSError, ValueError, RecursionError, tarfile.TarError) as error:
        message = f"{source} cannot be read as a backup ({type(error).__name__})"
        raise CommandRefusedError(message) from None


def _require(identities: Sequence[Identity], source: Path) -> None:
    if not identities:
        message = (
            f"{source} is encrypted: give --identity FILE, with a secret key to it"
        )
        raise CommandRefusedError(message)


def verified(source: Path, identities: Sequence[Identity]) -> Manifest:
    """Return the manifest of a backup that is whole; nothing is written anywhere.

    Raises:
        CommandRefusedError: It cannot be read, or is not whole.
    """
    if source.is_dir():
        return checked(source)
    with _tar(source, identities) as tar:
        first, found = b"", dict[str, Told]()
        for member in tar:
            file = tar.extractfile(member)
            if member.name == MANIFEST and not found and file is not None:
                first = file.read()
            else:
                found[member.name] = Told("", 0) if file is None else _described(file)
        manifest, told = _read_manifest(first, source)
        _require_whole(found, told)
    return manifest


def checked(folder: Path) -> Manifest:
    """Return the manifest of a backup that is whole.

    Raises:
        CommandRefusedError: A file is missing, was changed, or does not belong there.
    """
    try:
        words = (folder / MANIFEST).read_bytes()
    except OSError:
        words = b""
    manifest, told = _read_manifest(words, folder)
    names = _files_of(folder) - {MANIFEST}
    _require_whole({name: describe(folder / name) for name in names}, told)
    return manifest


def _read_manifest(words: bytes, where: Path) -> tuple[Manifest, dict[str, Told]]:
    try:
        manifest: Manifest = json.loads(words)
        told = {
            name: Told(facts["sha256"], facts["size_bytes"])
            for name, facts in manifest["files"].items()
        }
        is_known = manifest["format"] == FORMAT
    except (ValueError, KeyError, TypeError, AttributeError):
        message = f"{where} has no manifest that can be read: this is no backup"
        raise CommandRefusedError(message) from None
    if not is_known:
        message = "this backup was made by a version that writes another format"
        raise CommandRefusedError(message)
    return manifest, told


def _require_whole(found: dict[str, Told], told: dict[str, Told]) -> None:
    strange = {name for name in told if _NAME.fullmatch(name) is None}
    strange |= {
        name for name in found.keys() | told.keys() if found.get(name) != told.get(name)
    }
    if strange:
        raise _not_whole(min(strange))


def _not_whole(name: str) -> CommandRefusedError:
    message = f"the backup is not whole: {name} is not what it names"
    return CommandRefusedError(message)


def has_encrypted_name(target: Path) -> bool:
    """Whether a target is named as encrypted backups are."""
    return target.name.endswith(TAR + ENDING)
