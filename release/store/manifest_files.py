"""Manifests of releases as signed files: one way of writing each."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from engines.regular_files import opened
from release.contract.errors import BrokenReleaseError
from release.store.signing import Signer, is_signed

MANIFEST: Final = "manifest.json"
FORMAT: Final = 1

Document = dict[str, object]


def signed_bytes(manifest: Document, signer: Signer) -> bytes:
    """Return the bytes of a signed manifest: equal for equal manifests."""
    named = {**manifest, "public_key": signer.public_key}
    signature = signer.sign(_canonical(named))
    signed = {**named, "signature": signature}
    return _written(signed)


def _written(signed: Mapping[str, object]) -> bytes:
    """Return the one form in which a signed manifest is stored and read."""
    text = json.dumps(signed, sort_keys=True, ensure_ascii=False, indent=1)
    return text.encode() + b"\n"


def _canonical(manifest: Document) -> bytes:
    return json.dumps(
        manifest, sort_keys=True, ensure_ascii=True, separators=(",", ":")
    ).encode()


def is_genuine(manifest: Document, public_key: str | None = None) -> bool:
    """Whether a manifest's signature is right.

    Args:
        manifest: The manifest as its file holds it.
        public_key: Of the installation, where it is known; else the manifest's own
            says only that nothing was changed since.
    """
    content = dict(manifest)
    signature, named = content.pop("signature", None), content.get("public_key")
    if not isinstance(signature, str) or not isinstance(named, str):
        return False
    if public_key is not None and named != public_key:
        return False
    return is_signed(_canonical(content), signature, named)


def read_manifest(folder: Path) -> Document:
    """Return the manifest of a release's folder; its signature is not looked at.

    Its bytes are the only ones that say what it says: a key told twice would be read
    by people in one way and by programs in another.

    Raises:
        OSError: There is none.
        BrokenReleaseError: It is none of ours.
    """
    with opened(folder / MANIFEST) as file:
        content = file.read()
    try:
        manifest: object = json.loads(content)
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        message = f"{MANIFEST} has a format that this version does not read"
        raise BrokenReleaseError(message)
    if not _is_written(manifest, content):
        message = f"{MANIFEST} is not written as it was signed"
        raise BrokenReleaseError(message)
    return manifest


def _is_written(manifest: Document, content: bytes) -> bool:
    try:
        return _written(manifest) == content
    except ValueError:  # half of a character that needs two
        return False
