"""All strategies of cube releases, by the name that a spec calls them."""

from collections.abc import Callable, Mapping
from math import prod, sqrt
from typing import Final

from mechanisms.scales.conversions.pure import pure_loss_floor
from mechanisms.scales.noises import GAUSSIAN
from privacy.losses import Loss
from release.contract.domain import CubeDomain
from release.contract.rho.priced_strategies import PricedInRho
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


def gain(
    name: str, known: Mapping[str, CubeStrategy]
) -> Callable[[CubeDomain, Loss], float]:
    """Return what a strategy's Gaussian noise gains: a ratio of expected errors.

    The geometric mean of a cell's and of the whole's: questions lie in between.

    Args:
        name: Of a strategy whose error follows from public facts.
        known: Those that draw Gaussian noise, by name.
    """

    def ratio(domain: CubeDomain, rho: Loss) -> float:
        epsilon = pure_loss_floor(rho)
        pure = STRATEGIES[name].expectation(domain, epsilon, {})
        gaussian = known[name].expectation(domain, rho, {})
        ratios = [
            before / now
            for before, now in (
                (pure.cell_rmse, gaussian.cell_rmse),
                (pure.total_rmse, gaussian.total_rmse),
            )
            if before is not None and now is not None
        ]
        return sqrt(prod(ratios)) if len(ratios) > 1 else 1.0

    return ratio


RHO_STRATEGIES: Final[Mapping[str, CubeStrategy]] = registered(
    (
        PricedInRho(AdaptiveGrid()),
        Cells(GAUSSIAN),
        PricedInRho(DPCube()),
        PricedInRho(Dawa()),
        HB(GAUSSIAN),
        MarginalTables(GAUSSIAN),
        PricedInRho(PrivTree()),
        PricedInRho(Pthb()),
        PricedInRho(SparseCells()),
    ),
    lambda known: Auto(known, {name: gain(name, known) for name in ("cells", "hb")}),
)
"""The same of releases that are paid in rho: each says which noise it draws."""
