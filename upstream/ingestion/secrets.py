"""Keys derived from the installation's one secret, one for each purpose."""

import hashlib
import hmac
from dataclasses import dataclass, field

SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class IngestionKeys:
    """The three keys of PRIVACY 2; 32 bytes each, never shown."""

    row: bytes = field(repr=False)
    unit: bytes = field(repr=False)
    population: bytes = field(repr=False)


def derive_keys(secret: bytes) -> IngestionKeys:
    """Return the keys that the 32-byte master secret yields under fixed labels.

    Raises:
        ValueError: The secret is not 32 bytes long.

    Source: HMAC as a key derivation function, RFC 5869 section 2.3 (one block).
    """
    if len(secret) != SECRET_BYTES:
        message = f"the master secret must be {SECRET_BYTES} bytes, not {len(secret)}"
        raise ValueError(message)
    return IngestionKeys(
        row=_derive(secret, b"curator/row/v1"),
        unit=_derive(secret, b"curator/unit/v1"),
        population=_derive(secret, b"curator/population/v1"),
    )


def _derive(secret: bytes, label: bytes) -> bytes:
    return hmac.new(secret, label, hashlib.sha256).digest()
