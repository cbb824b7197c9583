"""All strategies of cube releases, by the name that a spec calls them."""

from collections.abc import Mapping
from typing import Final

from release.contract.strategies import registered
from release.cubes.strategies.auto import Auto
from release.cubes.strategies.cells import Cells
from release.cubes.strategies.contract import CubeStrategy
from release.cubes.strategies.marginals.marginals import MarginalTables
from release.cubes.strategies.partitions.agrid import AdaptiveGrid
from release.cubes.strategies.partitions.dpcube import DPCube
from release.cubes.strategies.partitions.privtree import PrivTree
from release.cubes.strategies.sparse_cells import SparseCells
from release.cubes.strategies.trees.dawa import Dawa
from release.cubes.strategies.trees.hb import HB
from release.cubes.strategies.trees.pthb import Pthb

STRATEGIES: Final[Mapping[str, CubeStrategy]] = registered(
    (
        AdaptiveGrid(),
        Cells(),
        DPCube(),
        Dawa(),
        HB(),
        MarginalTables(),
        PrivTree(),
        Pthb(),
        SparseCells(),
    ),
    Auto,
)
"""One line each; docs/proofs has a page of each name."""
