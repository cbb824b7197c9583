"""What is audited of n-gram releases: units of which each is a sample.

A unit in question repeats one symbol more often than the cut, so that all its counted
places but the start walk down one path to its end; no other unit in question has that
symbol. Its event is that every noisy count of that path is at least its exact value
with the unit there. What others have is known, and keeps the path above all thresholds.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from mechanisms.measuring.meter import Meter
from mechanisms.samplers.vectors import OsVectorSampler
from privacy.charges import Charge
from privacy.losses import Loss
from privacy.sealed import Exact
from privacy.sequences import PHASES, SequenceCounts
from release.sequences.sealed.sampling import sampled_places
from release.sequences.sealed.sealed import SealedSequences
from release.sequences.strategies.ngram import Ngram
from tests.audit.instruments.bounds import Event, Hits, threshold_event
from tests.support.data.sealed_logs import sealed_sequences, sequence_domain
from tests.support.noise.samplers import ScaledVectorSampler

SYMBOLS = 100
LENGTH = 12
CUT = 9
PLACES = CUT - 1
LONGEST_GRAM = 3
KNOWN = 400
EPSILON = "3"
GRAMS_SHARE = 0.96


@dataclass(frozen=True)
class PathAudit:
    """One audit: how long grams are, and which lengths are watched.

    Attributes:
        order: n.
        watched: Lengths of the grams that the event looks at.
        samples: An arm, at the least.
        faulty: An arm, where noise is halved.
    """

    order: int
    watched: tuple[int, ...]
    samples: int = 7_000
    faulty: int = 3_000

    @property
    def claim(self):
        """What the watched levels were charged for the unit's places but the start."""
        share = len(self.watched) / self.order * PLACES / CUT
        return float(EPSILON) * GRAMS_SHARE * share

    def run(self, samples, factor=None):
        """Return hits of both arms, and the scales that the releases published."""
        sampler = ScaledVectorSampler(factor) if factor else OsVectorSampler()
        hits, scales = [], ()
        for present in (True, False):
            found = []
            while len(found) < samples:
                model = publish(repeated(present=present), self.order, sampler)
                own, scales = self._seen(model)
                found += own
            hits.append(sum(found[:samples]))
        return Hits(*hits, samples), scales

    def event(self, scales, factor=1.0):
        events = [threshold_event(PLACES, scale * factor) for scale in scales]
        return Event(
            math.prod(event.present for event in events),
            math.prod(event.absent for event in events),
        )

    def _seen(self, model):
        """Return each symbol's event, and the scales of the watched levels."""
        exact = PLACES * (KNOWN + 1)
        hits, scales = np.ones(SYMBOLS, dtype=bool), []
        scale, owners = model.scale, np.full(len(model.levels[0].symbols), -1)
        for length, level in enumerate(model.levels, start=1):
            single = level.symbols if length == 1 else owners[level.parents]
            owners = np.where(level.symbols == single, single, -1)
            own = (owners >= 0) & (owners < SYMBOLS)
            assert sorted(owners[own]) == list(range(SYMBOLS))  # none is left out
            if length in self.watched:
                hits[owners[own]] &= level.counts[own] >= exact
                scales.append(scale)
            scale = level.scales[own][0]
        return hits.tolist(), tuple(scales)


def repeated(*, present):
    """Sequences that repeat one symbol each, KNOWN of each symbol, or one more."""
    raw = SequenceCounts(
        symbols=np.repeat(np.arange(SYMBOLS), LENGTH),
        starts=np.arange(SYMBOLS + 1) * LENGTH,
        groups=np.zeros(SYMBOLS, dtype=np.int64),
        counts=np.full(SYMBOLS, KNOWN + int(present)),
        phases=np.full(SYMBOLS, early_phase()),
    )
    return SealedSequences(sequence_domain(SYMBOLS, LENGTH + 1), Exact(raw))


@cache
def early_phase():
    """A phase whose sample leaves out the last places: no walk comes to the end."""
    phases = np.arange(PHASES * LENGTH)
    lengths = np.full(len(phases), LENGTH)
    owners, places = sampled_places(lengths, phases, PLACES)
    late = np.bincount(owners, places > LENGTH - LONGEST_GRAM, len(phases))
    return int(np.flatnonzero(late == 0)[0])


def publish(sealed, order, sampler=None):
    """Publish as the job does."""
    strategy, loss = Ngram(), Loss.parse(EPSILON)
    parameters = {"order": order, "cut": CUT}
    parts = strategy.parts(sealed.domain, loss, parameters)
    meter = Meter(Charge("audit", loss), parts, sampler or OsVectorSampler())
    return strategy.measure(sealed, meter, parameters)


OTHERS = [*([[0, 1, 0, 1, 0], [1, 1, 2], [0], [2, 0]] * 5), [3, 3], [3, 3]]


def shapes(samples, *, present, factor=None):
    """Return how often each fact about a release's shape held: a unit of one symbol.

    Whether its symbol is there, alone and twice, whether any gram is so long, whether
    there are more grams than 0, 1, 2, ..., and more digits in all than 0, 2, 4, ...
    """
    unit = [[3] * LENGTH] if present else []
    sealed = sealed_sequences([*OTHERS, *unit], 4, LENGTH + 1)
    sampler = ScaledVectorSampler(factor) if factor else OsVectorSampler()
    return sum(_facts(publish(sealed, 3, sampler)) for _ in range(samples))


def _facts(model):
    single = bool((model.levels[0].symbols == 3).any())
    deep = [sum(len(level.counts) > 0 for level in model.levels) > n for n in range(3)]
    size = sum(len(level.counts) for level in model.levels)
    ended = any((level.symbols == 3).sum() > 1 for level in model.levels[1:])
    digits = sum(len(str(v)) for level in model.levels for v in level.counts.tolist())
    many = [*(size > n for n in range(12)), *(digits > n for n in range(0, 24, 2))]
    found = [single, ended, *deep, *many]
    return np.array(found, dtype=np.int64)
