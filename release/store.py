"""Opening a published release: its manifest and the model that answers questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from privacy.errors import InvalidLossError
from privacy.losses import ZERO_LOSS, Loss
from release.errors import BrokenReleaseError
from release.folders import CUBE, PACKAGE, describe, listed_cells
from release.manifests import (
    MANIFEST,
    Document,
    domain_in,
    is_genuine,
    read_manifest,
)
from release.models.contract import CubeModel
from release.models.registry import MODELS
from release.tables import read_table

CACHED_RELEASES: Final = 8


@dataclass(frozen=True, slots=True)
class OpenRelease:
    """A release that is read: all of it is public or noisy."""

    manifest: Document
    model: CubeModel


@lru_cache(CACHED_RELEASES)
def open_release(folder: Path) -> OpenRelease:
    """Return a release; a folder is never changed once it has its name.

    Raises:
        OSError: A file is missing.
        BrokenReleaseError: A file is not what the manifest says.
    """
    manifest = read_manifest(folder)
    return OpenRelease(manifest, _rebuilt(manifest, folder))


def _rebuilt(manifest: Document, folder: Path) -> CubeModel:
    model, files = manifest.get("model"), manifest.get("files")
    if not isinstance(model, dict) or not isinstance(files, dict):
        message = "the manifest names no model"
        raise BrokenReleaseError(message)
    if model["kind"] not in MODELS:
        message = f"this version knows no model {model['kind']!r}: update it"
        raise BrokenReleaseError(message)
    tables = {
        Path(name).stem: read_table(folder / name)
        for name in files
        if name.endswith(".parquet") and Path(name).stem != CUBE
    }
    facts: Mapping[str, object] = model["facts"]
    return MODELS[model["kind"]](domain_in(manifest), facts, tables)


def problems_in(folder: Path, public_key: str | None = None) -> list[str]:
    """Return what is wrong with a release: completeness, sums, signature.

    Raw counts are looked at nowhere (PRIVACY 7).

    Args:
        folder: Of the release.
        public_key: The installation's, where it is known.
    """
    problems = file_problems_in(folder, public_key)
    return problems or _model_problems(read_manifest(folder), folder)


def file_problems_in(folder: Path, public_key: str | None = None) -> list[str]:
    """Return what is wrong with signature, digests and parts; the quick half."""
    try:
        manifest = read_manifest(folder)
    except (OSError, BrokenReleaseError) as error:
        return [f"{MANIFEST} cannot be read: {type(error).__name__}"]
    problems = []
    if not is_genuine(manifest, public_key):
        problems.append("the signature is not this installation's, or not of this file")
    return [*problems, *_file_problems(manifest, folder), *_loss_problems(manifest)]


def _file_problems(manifest: Document, folder: Path) -> list[str]:
    told = manifest.get("files")
    if not isinstance(told, dict) or PACKAGE not in told:
        return ["the manifest does not name its files"]
    present = {path.name for path in folder.iterdir()} - {MANIFEST}
    problems = [f"{name} is missing" for name in sorted(told.keys() - present)]
    problems += [
        f"{name} does not belong here" for name in sorted(present - told.keys())
    ]
    problems += [
        f"{name} was changed"
        for name in sorted(told.keys() & present)
        if describe(folder / name) != told[name]
    ]
    return problems


def _loss_problems(manifest: Document) -> list[str]:
    """Say where the parts do not sum to the loss."""
    loss, parts = manifest.get("loss"), manifest.get("parts")
    if not isinstance(loss, dict) or not isinstance(parts, list):
        return ["the manifest's parts cannot be read"]
    try:
        spent = sum((Loss.parse(part["epsilon"]) for part in parts), ZERO_LOSS)
        paid = Loss.parse(loss["epsilon"])
    except (KeyError, TypeError, InvalidLossError):
        return ["the manifest's parts cannot be read"]
    return [] if spent == paid else [f"the parts sum to {spent}, not to the loss"]


def _model_problems(manifest: Document, folder: Path) -> list[str]:
    try:
        model = _rebuilt(manifest, folder)
        if f"{CUBE}.parquet" not in _named(manifest):
            return []
        return _cube_problems(model, folder)
    except (OSError, KeyError, TypeError, ValueError, BrokenReleaseError) as error:
        return [f"the model cannot be rebuilt: {error}"]


def _named(manifest: Document) -> Mapping[str, object]:
    files = manifest["files"]
    return files if isinstance(files, dict) else {}


def _cube_problems(model: CubeModel, folder: Path) -> list[str]:
    """Compare the listed cells with what the model says of them."""
    if CUBE in model.tables():
        return []
    expected = listed_cells(model)
    names = list(expected)[len(model.domain.dimensions) :]
    found = read_table(folder / f"{CUBE}.parquet", names)
    same = all(np.array_equal(found[name], expected[name]) for name in names)
    return [] if same else [f"{CUBE} does not hold what the model says"]
