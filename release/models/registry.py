"""Which class rebuilds a published cube; each kind of model adds one line."""

from collections.abc import Callable, Mapping
from typing import Final

from release.domain import CubeDomain
from release.models.cells import CellsModel
from release.models.contract import CubeModel, Table
from release.models.marginals import MarginalsModel
from release.models.partition import PartitionModel
from release.models.picked import PickedModel
from release.models.sparse import SparseModel
from release.models.tree import TreeModel

Rebuild = Callable[[CubeDomain, Mapping[str, object], Mapping[str, Table]], CubeModel]

_PLAIN: Final[Mapping[str, Rebuild]] = {
    "cells": CellsModel.rebuilt,
    "marginals": MarginalsModel.rebuilt,
    "partition": PartitionModel.rebuilt,
    "sparse": SparseModel.rebuilt,
    "tree": TreeModel.rebuilt,
}


def _picked(
    domain: CubeDomain, facts: Mapping[str, object], tables: Mapping[str, Table]
) -> CubeModel:
    return PickedModel.rebuilt(_PLAIN, domain, facts, tables)


MODELS: Final[Mapping[str, Rebuild]] = {**_PLAIN, "picked": _picked}
"""By kind, as it stands in the manifest: domain, facts and tables to the model."""
