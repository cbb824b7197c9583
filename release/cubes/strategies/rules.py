"""Which strategy ``auto`` picks: a fixed public table, tuned on public data alone.

The load is the noisy total of counts times epsilon over D: how many noise scales lie in
the whole cube. The rules read the load per cell. They were chosen on ADULT, HEPTH,
INCOME, STROKE and DIAB-2D (docs/releases-accuracy.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Final

from release.contract.domain import CubeDomain
from release.contract.sealed_cube import MAX_DENSE_CELLS
from release.cubes.strategies.partitions.grid import MAX_DIMENSIONS

SMALL: Final = 12
"""Cells up to which nothing beats counting each."""

FEW: Final = 2_048
"""Cells up to which, well filled, a grid's own noise is no smaller than theirs."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A strategy and its parameters.

    Attributes:
        strategy: A name of the registry.
        parameters: JSON values.
    """

    strategy: str
    parameters: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """What is picked up to a load per cell.

    Attributes:
        load_per_cell: The most for which the rule holds.
        pick: What it picks.
    """

    load_per_cell: float
    pick: Pick


RULES: Final[Mapping[int, tuple[Rule, ...]]] = {
    1: (
        Rule(0.25, Pick("pthb", {"partition_share": "0.2", "fanout": 3})),
        Rule(25.0, Pick("pthb", {"partition_share": "0.12", "fanout": 4})),
        Rule(inf, Pick("hb")),
    ),
    2: (Rule(inf, Pick("agrid")),),
    3: (Rule(inf, Pick("agrid")),),
}
"""By number of dimensions; three stands for more, too."""

_FEW_CELLS: Final = (Rule(10.0, Pick("agrid")), Rule(inf, Pick("cells")))


def rules_of(domain: CubeDomain) -> tuple[Rule, ...]:
    """Return the rules of which the noisy total picks one; the last has no end."""
    axes = [side for side in domain.shape if side > 1]
    if domain.size > MAX_DENSE_CELLS:
        return (Rule(inf, Pick("sparse_cells")),)
    if domain.size <= SMALL or not axes or len(domain.shape) > MAX_DIMENSIONS:
        return (Rule(inf, Pick("cells")),)
    if len(domain.shape) > 1 and domain.size <= FEW:
        return _FEW_CELLS
    return RULES[min(len(domain.shape), max(RULES))]


def pick(domain: CubeDomain, load: float) -> Pick:
    """Return what suits a domain at a load.

    Args:
        domain: Public.
        load: Noisy total times epsilon over D; a noisy value.
    """
    per_cell = load / domain.size
    rules = rules_of(domain)
    return next(rule.pick for rule in rules if per_cell <= rule.load_per_cell)
