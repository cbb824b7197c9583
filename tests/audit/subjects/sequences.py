"""What is audited of sequence releases: one unit's path, in one of many groups.

Both arms publish a log that is split into groups, a tree each; one arm has one unit
more in every group. Groups are independent samples: noise is drawn afresh for each, and
nothing joins them but a public number. A unit walks 0, 0, ..., 0.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from mechanisms.measuring.meter import Meter
from mechanisms.samplers.vectors import OsVectorSampler
from privacy.charges import Charge
from privacy.losses import Loss
from release.sequences.models.picked import PickedSequences
from release.sequences.strategies.registry import STRATEGIES
from tests.audit.instruments.bounds import (
    VERDICT_ALPHA,
    Event,
    Hits,
    lower_bounds,
    threshold_event,
)
from tests.support.data.sequences import log_domain, sealed_log
from tests.support.noise.samplers import ScaledVectorSampler

GROUPS = 250
BESIDE = {"lengths_share": "0.00001", "symbols_share": "0.00001"}
"""What is no level has next to nothing here, so that levels show the whole charge."""

ALPHABET = 2


@dataclass(frozen=True)
class TreeSuite:
    """One audit of a prefix tree.

    Attributes:
        height: Levels, and symbols of the unit.
        known: Other units with the same path, in each group.
        samples: An arm: groups of all releases together.
        epsilon: Of each release.
        parameters: Of the strategy.
        strategy: Which publishes a tree here.
        share: Of the loss, what its levels have.
        others: Units of each group that walk elsewhere and end early.
    """

    height: int
    known: int
    samples: int
    epsilon: str = "3"
    parameters: dict = field(default_factory=dict)
    strategy: str = "prefix_tree"
    share: float = 1
    others: int = 0

    @property
    def claim(self):
        """What all levels together were charged."""
        return self.share * float(self.epsilon)

    def run(self, factor=None):
        """Publish both arms; with noise scaled by ``factor``."""
        arms = [self._arm(factor, present) for present in (True, False)]
        scales = [scale for _, scale in arms]
        return Trees(arms[0][0], arms[1][0], np.concatenate(scales))

    def _arm(self, factor, present):
        domain = log_domain(ALPHABET, self.height, GROUPS)
        walked = [(0,) * self.height] * (self.known + present) + [(1,)] * self.others
        groups = [group for group in range(GROUPS) for _ in walked]
        sealed = sealed_log(walked * GROUPS, domain, groups)
        sampler = ScaledVectorSampler(factor) if factor else OsVectorSampler()
        releases = -(-self.samples // GROUPS)
        made = [self._publish(sealed, sampler) for _ in range(releases)]
        seen = np.concatenate([_by_group(drawn, self.height) for drawn in made])
        return seen[: self.samples], np.array([self._scales(drawn) for drawn in made])

    def _publish(self, sealed, sampler):
        strategy, loss = STRATEGIES[self.strategy], Loss.parse(self.epsilon)
        own = BESIDE if self.strategy == "prefix_tree" else {}
        parameters = {**own, **self.parameters}
        parts = strategy.parts(sealed.domain, loss, parameters)
        meter = Meter(Charge("audit", loss), parts, sampler)
        model = strategy.measure(sealed, meter, parameters)
        return (model.inner if isinstance(model, PickedSequences) else model).drawn

    def _scales(self, drawn):
        """Return each level's scale; of one that was not counted, no loss at all."""
        found = [level.scale for level in drawn.levels]
        return found + [math.inf] * (self.height - len(found))


def _by_group(drawn, height):
    """Each group's (values on the path..., depth, nodes, bytes); 0 where not kept."""
    found = np.zeros((GROUPS, height + 3), dtype=np.int64)
    owners, on_path = np.arange(GROUPS), np.ones(GROUPS, dtype=np.bool_)
    for depth, level in enumerate(drawn.levels):
        own = owners[level.parents]
        walked = on_path[level.parents] & (level.symbols == 0)
        found[own[walked], depth] = level.values[walked]
        found[own, height] = depth + 1
        np.add.at(found[:, height + 1], own, 1)
        np.add.at(found[:, height + 2], own, [len(str(v)) for v in level.values])
        owners, on_path = own, walked
    return found


@dataclass(frozen=True)
class Trees:
    """What both arms showed: (samples, height + 3); scales: (releases, height)."""

    present: np.ndarray
    absent: np.ndarray
    scales: np.ndarray

    def path_bound(self, levels, least):
        """Bound by the event that the unit's nodes are all at least their counts."""
        return self.hits(levels, least).lower_bound(VERDICT_ALPHA)

    def hits(self, levels, least):
        """How often the unit's nodes on some levels were all at least their counts."""
        hits = [
            int((arm[:, levels] >= least).all(axis=1).sum())
            for arm in (self.present, self.absent)
        ]
        return Hits(*hits, len(self.present))

    def level_claim(self, level):
        """Return the most that one level of any of the releases may show."""
        return float((1 / self.scales[:, level]).max())

    def event(self, levels):
        """Return how likely that event is, where scales are much the same."""
        events = [threshold_event(1, s) for s in self.scales.mean(axis=0)[levels]]
        return Event(
            math.prod(event.present for event in events),
            math.prod(event.absent for event in events),
        )

    def structure_bound(self, height):
        """Bound by existence of each node, depth, number of nodes, and bytes."""
        arms = [_shapes(arm, height) for arm in (self.present, self.absent)]
        events = len(arms[0])
        return lower_bounds(*arms, len(self.present), VERDICT_ALPHA / events).max()


def _shapes(arm, height):
    exists = arm[:, :height] > 0
    tables = [exists, exists.all(axis=1, keepdims=True)]
    limits = (np.arange(1, height), np.arange(1, 12), np.arange(1, 14))
    for column, bars in enumerate(limits):
        tables.append(arm[:, height + column, None] > bars)
    return np.concatenate(tables, axis=1).sum(axis=0)
