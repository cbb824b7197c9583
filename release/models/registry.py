"""Which class rebuilds a published cube; each kind of model adds one line."""

from collections.abc import Callable, Mapping
from typing import Final

from release.domain import CubeDomain
from release.models.cells import CellsModel
from release.models.contract import CubeModel, Table

Rebuild = Callable[[CubeDomain, Mapping[str, object], Mapping[str, Table]], CubeModel]

MODELS: Final[Mapping[str, Rebuild]] = {
    "cells": CellsModel.rebuilt,
}
"""By kind, as it stands in the manifest: domain, facts and tables to the model."""
