"""Tables of a release for people: every cell, or every path, one by one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from privacy.schema import ColumnType, Scalar
from release.contract.models import (
    AnyArray,
    CubeModel,
    IntArray,
    Roll,
    Table,
)
from release.contract.sequence_domain import SequenceDomain
from release.sequences.contract import SequenceModel
from release.sequences.estimation.paths import PathTree
from release.sequences.questions.browsing import half_widths
from release.sequences.questions.levels import LevelledTree
from release.store.tables import codes_of

CUBE: Final = "cube"
TREE: Final = "tree"
MAX_LISTED_CELLS: Final = 1_000_000
"""The most cells or paths that are listed one by one; the model's tables hold all."""

ENDED, NOT_KNOWN, ROOT = "(end)", "(not known)", "(all)"
"""How a path's last step is shown where it is no symbol."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One table for people.

    Attributes:
        name: Of its files.
        table: Columns of one length.
        labels: Columns whose integers stand for values.
        types: Of those columns.
    """

    name: str
    table: Table
    labels: Mapping[str, Sequence[Scalar | None]]
    types: Mapping[str, ColumnType]


def cube_listing(model: CubeModel) -> Listing | None:
    """Return the cells of a cube; None where they are among its tables, or too many."""
    if CUBE in model.tables() or model.domain.size > MAX_LISTED_CELLS:
        return None
    dimensions = model.domain.dimensions
    labels = {dimension.name: dimension.values for dimension in dimensions}
    types = {dimension.name: dimension.type for dimension in dimensions}
    return Listing(CUBE, listed_cells(model), labels, types)


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
    for name, values in (
        ("estimate", estimates.values),
        ("variance", estimates.variances),
        ("half_width_95", estimates.half_widths),
    ):
        columns[_free(name, columns)] = values
    return columns


def _free(name: str, taken: Collection[str]) -> str:
    """Return a name that no dimension has: underscores are put at its end."""
    while name in taken:
        name += "_"
    return name


# -- paths ------------------------------------------------------------------------


def tree_listing(model: SequenceModel) -> Listing | None:
    """Return the paths of a release of sequences; None where they are too many."""
    tree = model.paths()
    if len(tree.counts) > MAX_LISTED_CELLS or TREE in model.tables():
        return None
    domain = model.domain
    alphabet = [_shown(value) for value in domain.alphabet.values]
    labels: dict[str, Sequence[Scalar | None]] = {
        "symbol": [ROOT, *alphabet, ENDED, NOT_KNOWN]
    }
    types = {"symbol": ColumnType.TEXT}
    if domain.split is not None:
        labels["split"] = domain.split.values
        types["split"] = domain.split.type
    return Listing(TREE, listed_paths(domain, tree), labels, types)


def listed_paths(domain: SequenceDomain, tree: PathTree) -> Table:
    """Return a row a path: its place, its parent's, its last symbol, and its count."""
    columns: dict[str, AnyArray] = {
        "path": np.arange(len(tree.counts), dtype=np.int64),
        "parent": tree.parents,
    }
    if domain.split is not None:
        columns["split"] = tree.groups
    columns |= {
        "length": tree.depths,
        "symbol": _last_symbols(tree),
        "estimate": tree.counts,
        "variance": tree.variances,
        "half_width_95": half_widths(LevelledTree(domain, tree)),
    }
    return columns


def _last_symbols(tree: PathTree) -> IntArray:
    """Return codes that begin with the root's."""
    return tree.symbols + 1


def _shown(value: Scalar | None) -> str:
    return "none" if value is None else str(value)
