"""Bodies of rows, encrypted where a key is configured: AES-256-GCM, a nonce each.

A body is one byte that says how it is written, and then its content: plain, or the
key's name (8 bytes), a random nonce (12) and what AES-GCM made, bound to the row that
it stands in. So a row that is moved to another place is not decrypted.
"""

import hashlib
import os
import stat
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.secret_files import read_secret

_PLAIN, _ENCRYPTED = b"\0", b"\1"
_NAME_BYTES, _NONCE_BYTES = 8, 12
_SETTING = "CURATOR_TEXT_KEY"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class TextKeyError(CommandRefusedError):
    """The texts' key is missing, or another than the one that a row was written with.

    No row was changed.
    """


class TextCipher:
    """Encrypts the bodies of rows, and decrypts them again."""

    def __init__(self, key: bytes | None) -> None:
        """Take the key of 32 bytes; None: new rows are written plain."""
        self._cipher = None if key is None else AESGCM(key)
        self._name = b"" if key is None else _name_of(key)

    def encrypt(self, content: bytes, *place: object) -> bytes:
        """Return a body.

        Args:
            content: What is in it.
            place: The table and the row's key, without which it is not decrypted.
        """
        if self._cipher is None:
            return _PLAIN + content
        nonce = os.urandom(_NONCE_BYTES)
        made = self._cipher.encrypt(nonce, content, _bound(place))
        return _ENCRYPTED + self._name + nonce + made

    def decrypt(self, body: bytes, *place: object) -> bytes:
        """Return what is in a body.

        Raises:
            TextKeyError: It was encrypted with another key, there is none, or the row
                was changed.
        """
        how, rest = body[:1], body[1:]
        if how == _PLAIN:
            return rest
        if self._cipher is None:
            message = f"the texts are encrypted: set {_SETTING} to their key's file"
            raise TextKeyError(message)
        name, encrypted = rest[:_NAME_BYTES], rest[_NAME_BYTES:]
        if name != self._name:
            message = (
                f"the file that {_SETTING} names holds another key than the one that "
                "these texts were encrypted with: bring that file back"
            )
            raise TextKeyError(message)
        nonce, made = encrypted[:_NONCE_BYTES], encrypted[_NONCE_BYTES:]
        try:
            return self._cipher.decrypt(nonce, made, _bound(place))
        except InvalidTag:
            message = "an encrypted text or model was changed: restore a backup"
            raise TextKeyError(message) from None


def read_text_key(path: Path | None) -> TextCipher:
    """Return the cipher of a key's file: 64 hexadecimal digits.

    Raises:
        TextKeyError: The file is missing, holds no key, or others may read it.
    """
    if path is None:
        return TextCipher(None)
    try:
        if path.stat().st_mode & _OTHERS:  # serve refuses it, too; commands come here
            message = (
                f"{_SETTING}: others may read or change {path}: type 'chmod 600 {path}'"
            )
            raise TextKeyError(message)
        return TextCipher(read_secret(path))
    except (OSError, ValueError):
        message = (
            f"{_SETTING} ({path}) cannot be read as a key: it must hold 64 hexadecimal "
            "digits; 'openssl rand -hex 32' prints new ones"
        )
        raise TextKeyError(message) from None


def _name_of(key: bytes) -> bytes:
    return hashlib.sha256(b"curator text key\0" + key).digest()[:_NAME_BYTES]


def _bound(place: tuple[object, ...]) -> bytes:
    """Return the place in bytes; no two places have the same."""
    parts = [str(part).encode("utf-8", "surrogatepass") for part in place]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)
