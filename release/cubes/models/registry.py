"""Which class rebuilds a published cube; each kind of model adds one line."""

from typing import Final

from release.contract.domain import CubeDomain
from release.contract.models import CubeModel
from release.contract.rebuilding import Rebuilds, rebuilds
from release.cubes.models.cells import CellsModel
from release.cubes.models.marginals.marginals import MarginalsModel
from release.cubes.models.partition import PartitionModel
from release.cubes.models.picked import PickedModel
from release.cubes.models.sparse import SparseModel
from release.cubes.models.trees.tree import TreeModel

MODELS: Final[Rebuilds[CubeDomain, CubeModel]] = rebuilds(
    {
        "cells": CellsModel.rebuilt,
        "marginals": MarginalsModel.rebuilt,
        "partition": PartitionModel.rebuilt,
        "sparse_cells": SparseModel.rebuilt,
        "tree": TreeModel.rebuilt,
    },
    PickedModel.rebuilt,
)
