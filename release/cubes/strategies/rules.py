"""Which strategy ``auto`` picks: a fixed public table, tuned on public data alone.

The load is the noisy total of counts times epsilon over D: how many noise scales lie in
the whole cube. The rules read the load per cell. They were chosen on ADULT, HEPTH,
INCOME, STROKE and DIAB-2D (docs/releases-accuracy.md).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import Final

from privacy.losses import Loss
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

RHO_RULES: Final[Mapping[int, tuple[Rule, ...]]] = {
    1: (Rule(inf, Pick("hb")),),
    2: (Rule(2.5, Pick("agrid")), Rule(inf, Pick("hb"))),
    3: (Rule(10.0, Pick("agrid")), Rule(inf, Pick("cells"))),
}
"""The same where losses are rho, before ``weighed``; the table of ``python -m
benchmarks.releases.rho`` shows why."""

Gains = Mapping[str, Callable[[CubeDomain, Loss], float]]
"""By strategy: the error at a rho's epsilon, of Laplace noise, over that at the rho."""

_FEW_CELLS: Final = (Rule(10.0, Pick("agrid")), Rule(inf, Pick("cells")))


def rules_of(domain: CubeDomain, *, is_rho: bool = False) -> tuple[Rule, ...]:
    """Return the rules of which the noisy total picks one; the last has no end."""
    axes = [side for side in domain.shape if side > 1]
    if domain.size > MAX_DENSE_CELLS:
        return (Rule(inf, Pick("sparse_cells")),)
    if domain.size <= SMALL or not axes or len(domain.shape) > MAX_DIMENSIONS:
        return (Rule(inf, Pick("cells")),)
    if len(domain.shape) > 1 and domain.size <= FEW:
        return _FEW_CELLS
    rules = RHO_RULES if is_rho else RULES
    return rules[min(len(domain.shape), max(rules))]


def weighed(
    rules: tuple[Rule, ...], gains: Gains, domain: CubeDomain, rest: Loss
) -> tuple[Rule, ...]:
    """Return rules as Gaussian noise moves them, by errors that public facts predict.

    Where what follows errs less than at the epsilon that the rho pays for, by a factor
    g, the rule before it ends at a load of 1/g**2: the error of a partition falls with
    about the root of the load, that of noise alone with the load itself.

    Args:
        rules: As they are where both draw Laplace noise.
        gains: By name of a strategy.
        domain: Public.
        rest: The rho that the picked strategy is going to spend.
    """
    found = []
    for rule, after in pairwise(rules):
        ratio = gains.get(after.pick.strategy)
        gain = 1.0 if ratio is None else ratio(domain, rest)
        found.append(Rule(rule.load_per_cell / gain**2, rule.pick))
    ends = [min(one.load_per_cell for one in found[n:]) for n in range(len(found))]
    kept = [Rule(end, rule.pick) for end, rule in zip(ends, found, strict=True)]
    return (*kept, rules[-1])


def pick(
    domain: CubeDomain, load: float, rules: tuple[Rule, ...] | None = None
) -> Pick:
    """Return what suits a domain at a load.

    Args:
        domain: Public.
        load: Noisy total times epsilon over D; a noisy value.
        rules: Of ``weighed``, where losses are rho.
    """
    per_cell = load / domain.size
    rules = rules_of(domain) if rules is None else rules
    return next(rule.pick for rule in rules if per_cell <= rule.load_per_cell)
