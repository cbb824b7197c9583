"""What is audited of releases: units of which each is a sample, and what they lose.

Arms are two cubes: one holds units that the other lacks, each D rows in one cell of its
own. Both are measured again and again by the real meter and the real sampler. A sample
is one unit in one release: its event is that every published sum which counts it is at
least its exact value with the unit there. Noise is drawn afresh for every sum, so units
whose sums are apart are independent samples; of units that share a sum only the first
is looked at. The others are known to the auditor, who takes them off, so that one unit
alone is in question.
"""

import functools
import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from mechanisms.measuring.meter import Meter
from mechanisms.samplers.vectors import OsVectorSampler
from privacy.charges import Charge
from privacy.losses import Loss
from release.cubes.strategies.registry import STRATEGIES
from tests.audit.instruments.bounds import (
    NOISE_ALPHA,
    REPORT_ALPHA,
    VERDICT_ALPHA,
    Event,
    Hits,
    noise_p_value,
    threshold_event,
)
from tests.audit.instruments.measurements import measured_by
from tests.support.noise.meters import cube_of
from tests.support.noise.samplers import ScaledVectorSampler

KNOWN = 500  # rows beside each unit: enough that partitions cut around it
LEAST_NOISE = 1_000  # draws that a shape is looked for in
DEVIATIONS = 6.5


def measure(strategy, cube, epsilon, parameters=None, sampler=None):
    """Publish a cube as the job does, and return the model."""
    loss, parameters = Loss.parse(epsilon), parameters or {}
    own = STRATEGIES[strategy]
    parts = own.parts(cube.domain, loss, parameters)
    meter = Meter(Charge("audit", loss), parts, sampler or OsVectorSampler())
    return own.measure(cube, meter, parameters)


@dataclass(frozen=True)
class ReleaseSuite:
    """One audit of a strategy.

    Attributes:
        shape: Of the cube.
        units: How many cells hold a unit in question, evenly far apart.
        known: Rows of others in each such cell.
        watched: Levels that are looked at; None: all that count a cell.
        share: Of the charge, what those levels cost together: the claim.
        bound: D: the rows of each unit, all in one cell.
        samples: An arm, at the least.
        faulty: An arm, where noise is halved.
    """

    name: str
    strategy: str
    shape: tuple[int, ...]
    units: int
    share: float
    bound: int = 2
    samples: int = 3_000
    faulty: int = 1_500
    epsilon: str = "3"
    known: int = KNOWN
    parameters: dict = field(default_factory=dict)
    watched: frozenset | None = None

    @property
    def claim(self):
        return self.share * float(self.epsilon)

    @functools.cached_property
    def cells(self):
        """Where the units are: on a diagonal of a plane, along a line."""
        if len(self.shape) == 1:
            step = self.shape[0] // self.units
            return step * np.arange(self.units) + step // 2
        places = [n // self.units * np.arange(self.units) for n in self.shape]
        return np.ravel_multi_index(tuple(places), self.shape)

    def image(self, *, present):
        image = np.zeros(math.prod(self.shape), dtype=np.int64)
        image[self.cells] = self.known + (self.bound if present else 0)
        return image.reshape(self.shape)

    def run(self, samples, factor=None):
        """Measure both arms until there are so many samples; return what was seen."""
        seen = {arm: self._arm(arm, samples, factor) for arm in (True, False)}
        return Seen(self, seen[True], seen[False])

    def _arm(self, present, samples, factor):
        image = self.image(present=present)
        cube, arm = cube_of(image, self.bound), Arm()
        sampler = ScaledVectorSampler(factor) if factor else OsVectorSampler()
        shift = 0 if present else self.bound
        while len(arm.hits) < samples:
            model = measure(self.strategy, cube, self.epsilon, self.parameters, sampler)
            levels = [
                level
                for level in measured_by(model)
                if self.watched is None or level.name in self.watched
            ]
            arm.see(levels, image, self.cells, shift)
        return arm


@dataclass
class Arm:
    """What one arm showed.

    Attributes:
        hits: Whether each sample's event was seen.
        scales: Of each sample's sums, as published.
        noise: Of all sums, over their scale's name: {(level, scale): arrays}.
        releases: How many were measured.
    """

    hits: list = field(default_factory=list)
    scales: list = field(default_factory=list)
    noise: dict = field(default_factory=dict)
    releases: int = 0

    def see(self, levels, image, cells, shift):
        self.releases += 1
        own = [level.noise(image) for level in levels]
        for level, noise in zip(levels, own, strict=True):
            self.noise.setdefault((level.name, level.scale), []).append(noise)
        entries = np.stack([level.owners[cells] for level in levels])
        for unit in _apart(entries):
            pairs = zip(own, entries[:, unit], strict=True)
            self.hits.append(all(noise[entry] >= shift for noise, entry in pairs))
            self.scales.append(tuple(level.scale for level in levels))


def _apart(entries):
    """Return units of which no two share a sum on any level."""
    taken, apart = [set() for _ in entries], []
    for unit, own in enumerate(entries.T.tolist()):
        if not any(entry in used for entry, used in zip(own, taken, strict=True)):
            apart.append(unit)
            for entry, used in zip(own, taken, strict=True):
                used.add(entry)
    return apart


@dataclass(frozen=True)
class Seen:
    """Both arms of an audit."""

    suite: ReleaseSuite
    present: Arm
    absent: Arm

    @property
    def hits(self):
        samples = min(len(self.present.hits), len(self.absent.hits))
        present, absent = (
            sum(arm.hits[:samples]) for arm in (self.present, self.absent)
        )
        return Hits(present, absent, samples)

    def bound(self, alpha=VERDICT_ALPHA):
        return self.hits.lower_bound(alpha)

    def event(self, factor=1.0):
        """Return how likely the event is by the published scales, times a factor.

        Where scales follow from noisy values, the mean over the releases seen.
        """
        counts = Counter(self.present.scales)
        found = [_event(scales, factor, self.suite.bound) for scales in counts]
        return Event(
            np.average([event.present for event in found], weights=[*counts.values()]),
            np.average([event.absent for event in found], weights=[*counts.values()]),
        )

    def noise_problems(self):
        """Return levels whose noise is not that of the published scale, or is off.

        Discrete Laplace noise has mean 0; its variance at scale s is
        2 a / (1 - a)^2, a = exp(-1/s).
        """
        problems = []
        for (level, scale), drawn in self._noise().items():
            noise = np.concatenate(drawn)
            if len(noise) < LEAST_NOISE:
                continue
            a = math.exp(-1 / scale)
            error = math.sqrt(len(noise) * 2 * a) / (1 - a)
            if abs(noise.sum()) > DEVIATIONS * error:
                problems.append(f"{level}: signed sum {noise.sum()} of {len(noise)}")
            p_value = noise_p_value(noise, scale)
            if p_value < NOISE_ALPHA:
                problems.append(f"{level} at {scale}: p {p_value:.3g}")
        return problems

    def _noise(self):
        if self.suite.strategy == "sparse_cells":
            return {}  # what is kept is chosen by its noise
        both = {key: list(drawn) for key, drawn in self.present.noise.items()}
        for key, drawn in self.absent.noise.items():
            both.setdefault(key, []).extend(drawn)
        return both

    def __str__(self):
        return (
            f"{self.suite.name}: charge {self.suite.epsilon}, claim "
            f"{self.suite.claim:.3g}, {self.hits.samples} units an arm in "
            f"{self.present.releases} releases, LB99.9 {self.bound(REPORT_ALPHA):.3f}, "
            f"LB at 1 - 1e-6 {self.bound():.3f}"
        )


def _event(scales, factor, bound):
    events = [threshold_event(bound, scale * factor) for scale in scales]
    return Event(
        math.prod(event.present for event in events),
        math.prod(event.absent for event in events),
    )


PARTITIONED = (
    ReleaseSuite(
        "dpcube",
        "dpcube",
        (128,),
        16,
        0.96,
        bound=1,
        samples=6_000,
        faulty=2_000,
        watched=frozenset({"blocks", "cells", "partitions"}),
    ),
    ReleaseSuite(
        "agrid",
        "agrid",
        (512,),
        12,
        0.92,
        bound=1,
        samples=6_500,
        faulty=2_000,
        watched=frozenset({"coarse", "middle", "fine"}),
    ),
    ReleaseSuite("privtree", "privtree", (64,), 16, 0.7, bound=1, samples=4_500),
    ReleaseSuite("pthb", "pthb", (64,), 16, 0.9, bound=1, samples=1_500),
    ReleaseSuite("dawa", "dawa", (16, 16), 16, 0.7, samples=4_000),
    ReleaseSuite("auto", "auto", (64,), 16, 0.98, bound=1, samples=1_500),
)
PLAIN = (
    ReleaseSuite("cells", "cells", (256,), 256, 1.0),
    ReleaseSuite(
        "sparse_cells, there or not",
        "sparse_cells",
        (2_048,),
        256,
        0.95,
        known=0,
        parameters={"false_cells": 100_000},
    ),
    ReleaseSuite(
        "sparse_cells, at the threshold", "sparse_cells", (2_048,), 256, 0.95, known=2
    ),
    ReleaseSuite(
        "hb", "hb", (256,), 16, 1.0, samples=5_000, parameters={"branching": 16}
    ),
    ReleaseSuite(
        "marginals",
        "marginals",
        (16, 16),
        16,
        0.9,
        bound=1,
        samples=7_000,
        faulty=2_500,
        parameters={"one_way_share": "0.3"},
    ),
)
SUITES = (*PLAIN, *PARTITIONED)
