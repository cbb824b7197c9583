"""The CSV files of a release as a Data Package (specs.frictionlessdata.io)."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from privacy.schema import ColumnType, Scalar
from release.contract.models import AnyArray, Table
from release.store.listings import Listing
from release.store.manifest_files import MANIFEST, Document
from release.store.manifests import Publication

_FRICTIONLESS: Final[Mapping[str, str]] = {
    "integer": "integer",
    "decimal": "number",
    "date": "date",
    "timestamp": "datetime",
    "text": "string",
    "boolean": "boolean",
}
_KINDS: Final = {"cube": "cells", "sequences": "sequences"}
_LISTED: Final = frozenset({"text", "integer"})
_MOST_LISTED: Final = 1_000
_NUMBERS: Final = {
    "estimate": "Count with noise; may be negative.",
    "variance": "Of the estimate's noise.",
    "half_width_95": "95 % of the noise lies within this distance of the estimate.",
}


def data_package(
    publication: Publication, tables: Mapping[str, Table], listing: Listing | None
) -> bytes:
    """Describe the CSV files: names, types and public values of their columns."""
    resources = [
        _resource(name, [_field(column, values) for column, values in table.items()])
        for name, table in tables.items()
    ]
    if listing is not None:
        resources.append(_resource(listing.name, _listed_fields(listing)))
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


def _resource(name: str, fields: Sequence[Document]) -> Document:
    return {
        "name": name.replace("_", "-"),
        "path": f"{name}.csv",
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "schema": {"fields": list(fields)},
    }


def _field(column: str, values: AnyArray) -> Document:
    is_whole = np.issubdtype(values.dtype, np.integer)
    return {"name": column, "type": "integer" if is_whole else "number"}


def _listed_fields(listing: Listing) -> list[Document]:
    return [
        _labelled(column, listing.types[column], listing.labels[column])
        if column in listing.types
        else _described(_field(column, values))
        for column, values in listing.table.items()
    ]


def _labelled(
    column: str, kind: ColumnType, values: Sequence[Scalar | None]
) -> Document:
    """Describe a column of public values; short lists of words and numbers are told."""
    field: Document = {
        "name": column,
        "type": _FRICTIONLESS.get(kind.value, "any"),
    }
    if kind.value in _LISTED and len(values) <= _MOST_LISTED:
        field["constraints"] = {
            "enum": [value for value in values if value is not None],
            "required": None not in values,
        }
    return field


def _described(field: Document) -> Document:
    """Say what a number of a listing is; dimensions of its name are told apart by _."""
    known = _NUMBERS.get(str(field["name"]).rstrip("_"))
    return field if known is None else {**field, "description": known}
