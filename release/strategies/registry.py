"""All strategies of cube releases, by the name that a spec calls them."""

from collections.abc import Mapping
from typing import Final

from release.strategies.agrid import AdaptiveGrid
from release.strategies.auto import Auto
from release.strategies.cells import Cells
from release.strategies.contract import Strategy
from release.strategies.dawa import Dawa
from release.strategies.dpcube import DPCube
from release.strategies.hb import HB
from release.strategies.marginals import MarginalTables
from release.strategies.privtree import PrivTree
from release.strategies.pthb import Pthb
from release.strategies.sparse_cells import SparseCells

_PLAIN: Final[Mapping[str, Strategy]] = {
    strategy.name: strategy
    for strategy in (
        AdaptiveGrid(),
        Cells(),
        DPCube(),
        Dawa(),
        HB(),
        MarginalTables(),
        PrivTree(),
        Pthb(),
        SparseCells(),
    )
}

STRATEGIES: Final[Mapping[str, Strategy]] = {**_PLAIN, Auto.name: Auto(_PLAIN)}
"""One line each; docs/proofs has a page of each name."""
