"""Signatures of manifests: ed25519, with a key that follows from the master secret."""

import hashlib
import hmac
from typing import Final, Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

_LABEL: Final = b"curator release signing key\0"


class Signer(Protocol):
    """Signs for an installation."""

    @property
    def public_key(self) -> str:
        """Its public key, 64 hexadecimal digits."""
        ...

    def sign(self, content: bytes) -> str:
        """Return a signature, 128 hexadecimal digits."""
        ...


class InstallationKey:
    """The signing key of one installation; it never leaves this object.

    It is made from the master secret by a label of its own, so that whoever can bring
    back the installation can sign, and nobody else.
    """

    def __init__(self, secret: bytes) -> None:
        seed = hmac.new(secret, _LABEL, hashlib.sha256).digest()
        self._key = Ed25519PrivateKey.from_private_bytes(seed)

    @property
    def public_key(self) -> str:
        """The public key, 64 hexadecimal digits."""
        return self._key.public_key().public_bytes_raw().hex()

    def sign(self, content: bytes) -> str:
        """Return a signature, 128 hexadecimal digits; the same for the same bytes."""
        return self._key.sign(content).hex()


def is_signed(content: bytes, signature: str, public_key: str) -> bool:
    """Whether whoever holds the key's other half signed these bytes."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), content)
    except (ValueError, InvalidSignature):
        return False
    return True
