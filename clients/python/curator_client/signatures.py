"""Is a release's manifest what its installation signed?"""

from __future__ import annotations

import json
from typing import Any

from curator_client.exports import optional


def is_signed(manifest: dict[str, Any], public_key: str) -> bool:
    """Whether the holder of a key signed exactly this manifest (ed25519).

    Args:
        manifest: As the server sent it, with ``public_key`` and ``signature``.
        public_key: That you trust, 64 hexadecimal digits.

    Raises:
        ImportError: The library ``cryptography`` is not installed.
    """
    keys = optional(
        "cryptography.hazmat.primitives.asymmetric.ed25519", "verifying a signature"
    )
    invalid = optional("cryptography.exceptions", "verifying a signature")
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
