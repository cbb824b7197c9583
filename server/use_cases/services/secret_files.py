"""Files that lie beside the ledger: the master secret and the overlap files.

An overlap file holds, per population, a keyed 128-bit hash of every canonical unit id
that was ever loaded, sorted. It is written under a name that holds its digest before
the entry that names it commits; files that no entry names are deleted at start.
"""

import hashlib
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from engines.regular_files import opened

SECRET_BYTES = 32
_MOST_BYTES = 1_000  # that are read of the secret's file; more are no secret
DIGEST_BYTES = 16


def write_durably(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, readable by its owner alone, and sync it."""
    part = path.with_name(path.name + ".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_secret(path: Path) -> bytes:
    """Return the secret that is already there, else make and keep a new one."""
    if not path.exists():
        write_durably(path, secrets.token_bytes(SECRET_BYTES).hex().encode() + b"\n")
    return read_secret(path)


def read_secret(path: Path) -> bytes:
    """Return the master secret.

    Raises:
        OSError: There is no such file.
        ValueError: It does not hold 64 hexadecimal digits.
    """
    with opened(path) as file:
        text = file.read(_MOST_BYTES).decode("ascii")
    secret = bytes.fromhex(text.strip())
    if len(secret) != SECRET_BYTES:
        message = f"{path.name} must hold {SECRET_BYTES * 2} hexadecimal digits"
        raise ValueError(message)
    return secret


def secret_digest(secret: bytes) -> str:
    """Return what the ledger remembers of the secret."""
    return hashlib.sha256(b"curator secret digest\0" + secret).hexdigest()


@dataclass(frozen=True, slots=True)
class OverlapFile:
    """What an overlap file holds, and the sha256 of it."""

    content: bytes = field(repr=False)
    digest: str

    @classmethod
    def of(cls, hashes: frozenset[bytes]) -> "OverlapFile":
        """Return the file of these hashes."""
        content = b"".join(sorted(hashes))
        return cls(content, hashlib.sha256(content).hexdigest())


def split_hashes(content: bytes) -> frozenset[bytes]:
    """Return the hashes that lie in one piece."""
    return frozenset(
        content[start : start + DIGEST_BYTES]
        for start in range(0, len(content), DIGEST_BYTES)
    )


class OverlapFiles:
    """The overlap files of one installation."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, population: str, digest: str) -> Path:
        """Return where a population's file of that digest lies."""
        return self._folder / f"{population}.{digest}"

    def read(self, population: str, digest: str) -> frozenset[bytes]:
        """Return a population's hashes.

        Raises:
            OSError: The file is missing.
            ValueError: The file is not the one that the ledger names.
        """
        return split_hashes(self.content(population, digest))

    def content(self, population: str, digest: str) -> bytes:
        """Return a population's hashes in one piece, sorted.

        Raises:
            OSError: As ``read``.
            ValueError: As ``read``.
        """
        with opened(self.path(population, digest)) as file:
            content = file.read()
        if hashlib.sha256(content).hexdigest() != digest:
            message = f"the overlap file of population {population!r} was changed"
            raise ValueError(message)
        return content

    def write(self, population: str, hashes: frozenset[bytes]) -> str:
        """Write a population's hashes and return their digest."""
        file = OverlapFile.of(hashes)
        self.keep(population, file)
        return file.digest

    def keep(self, population: str, file: OverlapFile) -> None:
        """Write a population's file under the name that holds its digest."""
        write_durably(self.path(population, file.digest), file.content)

    def delete_unnamed(self, named: set[tuple[str, str]]) -> None:
        """Delete files that no ledger entry names: a crash left them."""
        kept = {self.path(*name).name for name in named}
        for path in self._folder.iterdir():
            if path.name not in kept:
                path.unlink()
