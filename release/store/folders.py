"""A release as a folder: written whole or not at all, and checked."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from engines.regular_files import opened
from privacy.charges import Charge
from privacy.schema import ColumnType
from release.contract.models import AnyArray, Table
from release.store.listings import Listing
from release.store.manifests import (
    MANIFEST,
    Document,
    ModelEntry,
    Publication,
    manifest_of,
    signed_bytes,
)
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
    _write(folder / PACKAGE, _data_package(publication, content))
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


def _data_package(publication: Publication, content: Content) -> bytes:
    """Describe the CSV files as a Data Package (specs.frictionlessdata.io)."""
    listing = content.listing
    shown: dict[str, tuple[Table, Mapping[str, ColumnType]]] = {
        name: (table, {}) for name, table in content.tables.items()
    }
    if listing is not None:
        shown[listing.name] = (listing.table, listing.types)
    resources = []
    for name, (table, types) in shown.items():
        fields = [
            {"name": column, "type": _type_of(types.get(column), values)}
            for column, values in table.items()
        ]
        resources.append(
            {
                "name": name.replace("_", "-"),
                "path": f"{name}.csv",
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "schema": {"fields": fields},
            }
        )
    package = {
        "name": publication.spec.name.replace("_", "-"),
        "id": publication.release_id,
        "created": publication.charged,
        "description": (
            f"Differentially private {_KINDS[publication.spec.kind]} of "
            f"{publication.dataset.name}; see {MANIFEST} for loss, bounds and errors. "
            "Counts are as drawn: they may be negative."
        ),
        "resources": resources,
    }
    text = json.dumps(package, ensure_ascii=False, indent=1)
    return text.encode() + b"\n"


_FRICTIONLESS: Final[Mapping[str, str]] = {
    "integer": "integer",
    "decimal": "number",
    "date": "date",
    "timestamp": "datetime",
    "text": "string",
    "boolean": "boolean",
}


_KINDS: Final = {"cube": "cells", "sequences": "sequences"}


def _type_of(declared: ColumnType | None, values: AnyArray) -> str:
    if declared is not None:
        return _FRICTIONLESS.get(declared.value, "any")
    return "integer" if np.issubdtype(values.dtype, np.integer) else "number"


def _write(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
