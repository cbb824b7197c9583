"""A release as a folder: written whole or not at all, and checked."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from privacy.charges import Charge
from release.domain import CubeDomain
from release.manifests import (
    MANIFEST,
    Document,
    Publication,
    manifest_of,
    signed_bytes,
)
from release.models.contract import AnyArray, CubeModel, Roll, Table
from release.signing import Signer
from release.tables import codes_of, write_table

PACKAGE: Final = "datapackage.json"
CUBE: Final = "cube"
MAX_LISTED_CELLS: Final = 1_000_000
"""The most cells that ``cube.csv`` lists one by one; the model's tables hold all."""

_BLOCK_BYTES = 1 << 20


def write_release(
    folder: Path,
    publication: Publication,
    charge: Charge,
    model: CubeModel,
    signer: Signer,
) -> bytes:
    """Write every file of a release into an empty folder, and sync them.

    The bytes follow from the arguments alone.

    Returns:
        The manifest's bytes, which name every other file by its digest.
    """
    tables = dict(model.tables())
    for name, table in tables.items():
        write_table(folder, name, table)
    labels = {d.name: d.values for d in model.domain.dimensions}
    if CUBE not in tables and model.domain.size <= MAX_LISTED_CELLS:
        tables[CUBE] = listed_cells(model)
        write_table(folder, CUBE, tables[CUBE], labels)
    package = _data_package(publication, model.domain, tables)
    _write(folder / PACKAGE, package)
    files = {path.name: describe(path) for path in sorted(folder.iterdir())}
    manifest = manifest_of(publication, charge, model, files)
    content = signed_bytes(manifest, signer)
    _write(folder / MANIFEST, content)
    return content


def listed_cells(model: CubeModel) -> Table:
    """Return a row a cell: the codes of its values, estimate and variance."""
    domain = model.domain
    codes = codes_of(domain.shape)
    roll = Roll(
        codes=tuple(np.arange(size, dtype=np.int64) for size in domain.shape),
        groups=domain.shape,
    )
    estimates = model.roll(roll)
    columns: dict[str, AnyArray] = {
        dimension.name: code
        for dimension, code in zip(domain.dimensions, codes, strict=True)
    }
    taken = set(columns)
    for name, values in (
        ("estimate", estimates.values),
        ("variance", estimates.variances),
        ("half_width_95", estimates.half_widths),
    ):
        columns[name if name not in taken else f"{name}_"] = values
    return columns


def describe(path: Path) -> Document:
    """Return digest and size of a file."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"sha256": digest, "size_bytes": path.stat().st_size}


def _data_package(
    publication: Publication, domain: CubeDomain, tables: Mapping[str, Table]
) -> bytes:
    """Describe the CSV files as a Data Package (specs.frictionlessdata.io)."""
    types = {d.name: _FRICTIONLESS.get(d.type.value, "any") for d in domain.dimensions}
    resources = []
    for name, table in tables.items():
        dimensions = types if name == CUBE else {}
        fields = [
            {"name": column, "type": dimensions.get(column) or _kind_of(values)}
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
            f"A differentially private cube of {publication.dataset.name}; see "
            f"{MANIFEST} for loss, bounds and errors. Counts are as drawn: they may "
            "be negative."
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


def _kind_of(values: AnyArray) -> str:
    return "integer" if np.issubdtype(values.dtype, np.integer) else "number"


def _write(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
