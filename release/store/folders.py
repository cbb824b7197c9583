"""A release as a folder: written whole or not at all, and checked."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.regular_files import opened
from privacy.charges import Charge
from release.contract.models import Table
from release.store.listings import Listing
from release.store.manifest_files import (
    MANIFEST,
    Document,
    signed_bytes,
)
from release.store.manifests import (
    ModelEntry,
    Publication,
    manifest_of,
)
from release.store.packages import data_package
from release.store.signing import Signer
from release.store.tables import write_table

PACKAGE: Final = "datapackage.json"
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Content:
    """A model as it is written.

    Attributes:
        model: What the manifest says of it.
        tables: That it is rebuilt from.
        listing: For people; None where it would be too long, or is among the tables.
    """

    model: ModelEntry
    tables: Mapping[str, Table]
    listing: Listing | None


def write_release(
    folder: Path,
    publication: Publication,
    charge: Charge,
    content: Content,
    signer: Signer,
) -> bytes:
    """Write every file of a release into an empty folder, and sync them.

    The bytes follow from the arguments alone.

    Returns:
        The manifest's bytes, which name every other file by its digest.
    """
    for name, table in content.tables.items():
        write_table(folder, name, table)
    listing = content.listing
    if listing is not None:
        write_table(folder, listing.name, listing.table, listing.labels)
    _write(folder / PACKAGE, data_package(publication, content.tables, listing))
    files = {path.name: describe(path) for path in sorted(folder.iterdir())}
    manifest = manifest_of(publication, charge, content.model, files)
    signed = signed_bytes(manifest, signer)
    _write(folder / MANIFEST, signed)
    return signed


def describe(path: Path) -> Document:
    """Return digest and size of a file."""
    with opened(path) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"sha256": digest, "size_bytes": path.stat().st_size}


def _write(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
