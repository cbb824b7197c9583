"""Is a release's manifest what its installation signed?"""

from __future__ import annotations

import json
from typing import Any

from curator_client.tables.exports import optional


def is_signed(manifest: dict[str, Any] | bytes, public_key: str) -> bool:
    """Whether the holder of a key signed exactly this manifest (ed25519).

    Args:
        manifest: As the server sent it, with ``public_key`` and ``signature``; or the
            bytes of ``manifest.json``, which must be in the form that is signed.
        public_key: That you trust, 64 hexadecimal digits.

    Raises:
        ImportError: The library ``cryptography`` is not installed.
    """
    keys = optional(
        "cryptography.hazmat.primitives.asymmetric.ed25519", "verifying a signature"
    )
    invalid = optional("cryptography.exceptions", "verifying a signature")
    if isinstance(manifest, bytes):
        read = _read(manifest)
        if read is None:
            return False
        manifest = read
    content = {name: value for name, value in manifest.items() if name != "signature"}
    written = json.dumps(
        content, sort_keys=True, ensure_ascii=True, separators=(",", ":")
    )
    if manifest.get("public_key") != public_key:
        return False
    try:
        key = keys.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(str(manifest.get("signature"))), written.encode())
    except (ValueError, invalid.InvalidSignature):
        return False
    return True


def _read(written: bytes) -> dict[str, Any] | None:
    """Return what a file says; None where others could read it in another way."""
    try:
        manifest = json.loads(written)
        text = json.dumps(manifest, sort_keys=True, ensure_ascii=False, indent=1)
        is_plain = text.encode() + b"\n" == written
    except (ValueError, RecursionError):
        return None
    return manifest if is_plain and isinstance(manifest, dict) else None
