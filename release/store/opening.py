"""Opening a published release: its manifest and the model that answers questions."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from privacy.errors import InvalidLossError
from privacy.losses import ZERO_LOSS, Loss
from release.contract.domain import CubeDomain
from release.contract.errors import BrokenReleaseError
from release.contract.models import CubeModel, Table
from release.contract.sequence_domain import SequenceDomain
from release.cubes.models.registry import MODELS
from release.sequences.contract import SequenceModel
from release.sequences.models.registry import MODELS as SEQUENCE_MODELS
from release.store.folders import PACKAGE, describe
from release.store.listings import CUBE, TREE, listed_cells, listed_paths
from release.store.manifest_files import (
    MANIFEST,
    Document,
    is_genuine,
    read_manifest,
)
from release.store.manifests import domain_in, sequences_in
from release.store.tables import read_table

CACHED_RELEASES: Final = 8


@dataclass(frozen=True, slots=True)
class OpenRelease:
    """A release that is read: all of it is public or noisy.

    Attributes:
        manifest: As it is signed.
        model: A cube's, or that of sequences; ``kind`` of the manifest says which.
    """

    manifest: Document
    model: CubeModel | SequenceModel

    def cube(self) -> CubeModel:
        """Return the model of a cube.

        Raises:
            BrokenReleaseError: It is none.
        """
        if isinstance(self.model.domain, CubeDomain):
            return self.model
        message = "this release is no cube"
        raise BrokenReleaseError(message)

    def sequences(self) -> SequenceModel:
        """Return the model of sequences.

        Raises:
            BrokenReleaseError: It is none.
        """
        if isinstance(self.model.domain, SequenceDomain):
            return self.model
        message = "this release holds no sequences"
        raise BrokenReleaseError(message)


@lru_cache(CACHED_RELEASES)
def open_release(folder: Path) -> OpenRelease:
    """Return a release; a folder is never changed once it has its name.

    Raises:
        OSError: A file is missing.
        BrokenReleaseError: A file is not what the manifest says.
    """
    manifest = read_manifest(folder)
    return OpenRelease(manifest, _rebuilt(manifest, folder))


def _rebuilt(manifest: Document, folder: Path) -> CubeModel | SequenceModel:
    model, files = manifest.get("model"), manifest.get("files")
    if not isinstance(model, dict) or not isinstance(files, dict):
        message = "the manifest names no model"
        raise BrokenReleaseError(message)
    kind, facts = model["kind"], model["facts"]
    listing = _LISTINGS.get(str(manifest.get("kind")))
    known: Collection[str] = MODELS if listing == CUBE else SEQUENCE_MODELS
    if listing is None or kind not in known:
        message = f"this version knows no model {kind!r}: update it"
        raise BrokenReleaseError(message)
    tables = {
        Path(name).stem: read_table(folder / name)
        for name in files
        if name.endswith(".parquet") and Path(name).stem != listing
    }
    if listing == CUBE:
        return MODELS[kind](domain_in(manifest), facts, tables)
    return SEQUENCE_MODELS[kind](sequences_in(manifest), facts, tables)


_NOT_COMPARED: Final = frozenset({"split", "symbol", "half_width_95"})
_LISTINGS: Final = {"cube": CUBE, "sequences": TREE}
"""What each kind lists for people; it is not what models are rebuilt from."""


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
        word = "rho" if any("rho" in part for part in parts) else "epsilon"
        spent = sum((Loss.parse(part[word]) for part in parts), ZERO_LOSS)
        paid = Loss.parse(loss[word])
    except (KeyError, TypeError, InvalidLossError):
        return ["the manifest's parts cannot be read"]
    return [] if spent == paid else [f"the parts sum to {spent}, not to the loss"]


def _model_problems(manifest: Document, folder: Path) -> list[str]:
    try:
        opened = OpenRelease(manifest, _rebuilt(manifest, folder))
        return _listing_problems(opened, folder)
    except (OSError, KeyError, TypeError, ValueError, BrokenReleaseError) as error:
        return [f"the model cannot be rebuilt: {error}"]


def _named(manifest: Document) -> Mapping[str, object]:
    files = manifest["files"]
    return files if isinstance(files, dict) else {}


def _listing_problems(opened: OpenRelease, folder: Path) -> list[str]:
    """Compare what is listed for people with what the model says."""
    name = _LISTINGS[str(opened.manifest["kind"])]
    if f"{name}.parquet" not in _named(opened.manifest):
        return []
    if name in opened.model.tables():
        return []
    expected, names = _listed_numbers(opened)
    found = read_table(folder / f"{name}.parquet", names)
    same = all(np.array_equal(found[one], expected[one]) for one in names)
    return [] if same else [f"{name} does not hold what the model says"]


def _listed_numbers(opened: OpenRelease) -> tuple[Table, list[str]]:
    """Return what is listed, and which of its columns are compared.

    Half-widths of paths are not: how an interval is told changes with versions, and
    the file's digest and signature say that it is the one that was published.
    """
    if isinstance(opened.model.domain, CubeDomain):
        cells = listed_cells(opened.cube())
        return cells, list(cells)[len(opened.model.domain.dimensions) :]
    model = opened.sequences()
    paths = listed_paths(model.domain, model.paths())
    return paths, [name for name in paths if name not in _NOT_COMPARED]
