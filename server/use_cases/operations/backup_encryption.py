"""Backups encrypted to people's public keys, in the format of age (version 1).

What is encrypted never lies plain beside it: it goes through a pipe. Each piece of 64
KiB is authenticated, and so is the end: a file that was cut or changed is refused.
"""

import os
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, Protocol, Self

from server.use_cases.services.errors import CommandRefusedError

ENDING = ".age"
_MAGIC = b"age-encryption.org/v1"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_BLOCK_BYTES = 1 << 20
_MOST_BYTES = 1 << 20  # of a file of keys
_SECRETS = ("AGE-SECRET-KEY-", "-----BEGIN")


class Recipient(Protocol):
    """A public key of age, or of SSH."""


class Identity(Protocol):
    """The secret key to one of them."""


def _age() -> ModuleType:
    """Return the library, which is optional.

    Raises:
        CommandRefusedError: It is not installed.
    """
    try:
        return import_module("pyrage")
    except ImportError:
        message = (
            "encrypted backups need a library: in the folder of Curator's source, type "
            "'pip install --require-hashes -r requirements/backups.txt'"
        )
        raise CommandRefusedError(message) from None


def read_recipients(given: Sequence[str], file: Path | None) -> list[Recipient]:
    """Return the public keys of a command line, and those of a file, one a line.

    Raises:
        CommandRefusedError: One is none, the file cannot be read, or holds none.
    """
    texts = [(text.strip(), f"recipient {at}") for at, text in enumerate(given, 1)]
    if file is not None:
        lines = _text_of(file).splitlines()
        texts += [
            (line.strip(), f"line {at} of {file}") for at, line in enumerate(lines, 1)
        ]
    texts = [one for one in texts if one[0] and not one[0].startswith("#")]
    if file is not None and not texts:
        message = f"{file} names no recipient: nothing was written"
        raise CommandRefusedError(message)
    return [_recipient(text, where) for text, where in texts]


def _recipient(text: str, where: str) -> Recipient:
    if text.startswith(_SECRETS):
        message = (
            f"{where} is a secret key: give the public one (age-keygen -y FILE), and "
            "keep the secret one off this machine"
        )
        raise CommandRefusedError(message)
    age = _age()
    kind = age.ssh if text.startswith("ssh-") else age.x25519
    try:
        recipient: Recipient = kind.Recipient.from_str(text)
    except age.RecipientError:
        message = f"{where} is no public key: write age1... or ssh-ed25519 ..."
        raise CommandRefusedError(message) from None
    return recipient


def read_identities(file: Path) -> list[Identity]:
    """Return the secret keys of a file: of age, one a line, or one of OpenSSH.

    Raises:
        CommandRefusedError: Others may read it, or it holds none.
    """
    text = _text_of(file)
    if file.stat().st_mode & _OTHERS:
        message = f"others may read {file}: type 'chmod 600 {file}'"
        raise CommandRefusedError(message)
    age = _age()
    lines = [line.strip() for line in text.splitlines()]
    keys = [line for line in lines if line and not line.startswith("#")]
    try:
        if keys and keys[0].startswith("-----BEGIN"):
            return [age.ssh.Identity.from_buffer(text.encode())]
        found = [age.x25519.Identity.from_str(key) for key in keys]
    except age.IdentityError:
        found = []
    if not found:
        message = f"{file} holds no secret key of age, nor one of OpenSSH"
        raise CommandRefusedError(message)
    return found


def _text_of(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{file} cannot be read ({type(error).__name__})"
        raise CommandRefusedError(message) from None


def is_encrypted(path: Path) -> bool:
    """Whether a file begins as those of age do."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


class _Beside:
    """A thread that works on one end of a pipe, and what it failed of."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self.error: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    def _run(self) -> None:
        try:
            self._work()
        except Exception as error:  # noqa: BLE001 - raised where its work is waited for
            self.error = error


class _Target:
    """A file to write to that remembers its own error, which the library rewords."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.error: OSError | None = None

    def write(self, block: bytes) -> int:
        try:
            return self._file.write(block)
        except OSError as error:
            self.error = error
            raise

    def flush(self) -> None:
        self._file.flush()


@contextmanager
def encrypting(target: BinaryIO, recipients: Sequence[Recipient]) -> Iterator[BinaryIO]:
    """Lend what takes plain bytes, and writes them to ``target`` encrypted.

    Raises:
        OSError: The target did not take all: what it holds is no backup.
    """
    age, written = _age(), _Target(target)
    read, write = os.pipe()

    def encrypt() -> None:
        with os.fdopen(read, "rb") as plain:
            age.encrypt_io(plain, written, list(recipients))

    beside = _Beside(encrypt)
    broken = None
    try:
        with beside, os.fdopen(write, "wb") as plain:
            yield plain
    except BrokenPipeError as error:  # the other end failed first
        broken = error
    if written.error is not None:
        raise written.error
    if beside.error is not None or broken is not None:
        message = "the encrypted file could not be written whole"
        raise OSError(message) from beside.error or broken


@contextmanager
def decrypting(path: Path, identities: Sequence[Identity]) -> Iterator[BinaryIO]:
    """Lend the plain bytes of an encrypted file.

    Raises:
        CommandRefusedError: None of the keys opens it, or it was cut or changed; known
            for sure only at the end, so what was read until then may be cut.
    """
    age: Any = _age()
    read, write = os.pipe()

    def decrypt() -> None:
        with os.fdopen(write, "wb") as plain, path.open("rb") as source:
            age.decrypt_io(source, plain, list(identities))

    beside = _Beside(decrypt)
    try:
        with beside, os.fdopen(read, "rb") as plain:
            yield from _drained(plain)
    except Exception:
        if beside.error is None:
            raise
    if beside.error is not None:
        message = (
            f"{path} cannot be decrypted: it is for other keys than those of the "
            "identity file, or it was cut or changed"
        )
        raise CommandRefusedError(message) from None


def _drained(plain: BinaryIO) -> Iterator[BinaryIO]:
    """Lend a file, then read it to its end, so that its writer says what is wrong."""
    try:
        yield plain
    except Exception:
        _drain(plain)
        raise
    _drain(plain)


def _drain(plain: BinaryIO) -> None:
    while plain.read(_BLOCK_BYTES):
        pass
