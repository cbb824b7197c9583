"""Which class rebuilds a published cube; each kind of model adds one line."""

from collections.abc import Callable, Mapping
from typing import Final

from release.contract.domain import CubeDomain
from release.contract.models import CubeModel, Table
from release.cubes.models.cells import CellsModel
from release.cubes.models.marginals.marginals import MarginalsModel
from release.cubes.models.partition import PartitionModel
from release.cubes.models.picked import PickedModel
from release.cubes.models.sparse import SparseModel
from release.cubes.models.trees.tree import TreeModel

Rebuild = Callable[[CubeDomain, Mapping[str, object], Mapping[str, Table]], CubeModel]

_PLAIN: Final[Mapping[str, Rebuild]] = {
    "cells": CellsModel.rebuilt,
    "marginals": MarginalsModel.rebuilt,
    "partition": PartitionModel.rebuilt,
    "sparse_cells": SparseModel.rebuilt,
    "tree": TreeModel.rebuilt,
}


def _picked(
    domain: CubeDomain, facts: Mapping[str, object], tables: Mapping[str, Table]
) -> CubeModel:
    return PickedModel.rebuilt(_PLAIN, domain, facts, tables)


MODELS: Final[Mapping[str, Rebuild]] = {**_PLAIN, "picked": _picked}
"""By kind, as it stands in the manifest: domain, facts and tables to the model."""
