"""The arithmetic of audits: bounds on a loss, curves, games, and their errors.

Neighbouring relation throughout: add or remove all rows of one patient.
"""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from scipy import stats

VERDICT_ALPHA = 1e-6  # verdicts: wrong less than once in a million runs
REPORT_ALPHA = 1e-3  # what is reported: LB99.9


@dataclass(frozen=True)
class Hits:
    """How often an event, fixed beforehand, was seen with and without a patient."""

    present: int
    absent: int
    samples: int  # an arm

    def lower_bound(self, alpha):
        """Return a lower bound on the loss in epsilon, wrong with probability alpha.

        Both directions and the complement are looked at: all four follow from two
        Clopper-Pearson intervals, of error alpha / 2 each, that hold together.
        """
        return float(lower_bounds(self.present, self.absent, self.samples, alpha))


def intervals(hits, samples, alpha):
    """Return Clopper-Pearson bounds of a proportion, each side wrong by alpha / 2."""
    hits = np.asarray(hits, dtype=float)
    misses = samples - hits
    # where a bound has no formula the shape is clamped and the bound set by hand
    low = stats.beta.ppf(alpha / 2, np.maximum(hits, 1), misses + 1)
    high = stats.beta.ppf(1 - alpha / 2, hits + 1, np.maximum(misses, 1))
    return np.where(hits == 0, 0.0, low), np.where(misses == 0, 1.0, high)


def lower_bounds(present, absent, samples, alpha):
    """Return the bound of ``Hits.lower_bound``, over arrays of hits."""
    low_1, high_1 = intervals(present, samples, alpha / 2)
    low_0, high_0 = intervals(absent, samples, alpha / 2)
    ratios = [
        low_1 / high_0,
        low_0 / high_1,
        (1 - high_1) / (1 - low_0),
        (1 - high_0) / (1 - low_1),
    ]
    return np.log(np.maximum(np.maximum.reduce(ratios), 1.0))


@dataclass(frozen=True)
class Event:
    """How likely an event is with and without a patient."""

    present: float
    absent: float


def threshold_event(shift, scale, cells=1):
    """Return how likely it is that every cell is at least its count plus shift.

    Each of ``cells`` cells holds ``shift`` more where the patient is present. Discrete
    Laplace: P(noise >= 0) = 1 / (1 + a), P(noise >= z) = a^z / (1 + a), a = e^(-1/s).
    """
    a = math.exp(-1 / scale)
    return Event((1 / (1 + a)) ** cells, (a**shift / (1 + a)) ** cells)


def chance_of_bound_above(event, samples, level, alpha=VERDICT_ALPHA):
    """Return the probability that the lower bound comes out above a level.

    Exact but for the tails beyond ten standard deviations, which are counted as above.
    """
    present, absent = (
        _window(probability, samples) for probability in (event.present, event.absent)
    )
    bounds = lower_bounds(present[:, None], absent[None, :], samples, alpha)
    joint = np.outer(
        stats.binom.pmf(present, samples, event.present),
        stats.binom.pmf(absent, samples, event.absent),
    )
    return float(min(1.0, joint[bounds > level].sum() + max(0.0, 1 - joint.sum())))


def _window(probability, samples):
    middle = samples * probability
    spread = 10 * math.sqrt(samples * probability * (1 - probability)) + 20
    return np.arange(
        max(0, math.floor(middle - spread)),
        min(samples, math.ceil(middle + spread)) + 1,
    )


def area_under_curve(one, other):
    """Return how often a value of ``one`` exceeds one of ``other``; ties count half."""
    ranks = stats.rankdata([*one, *other])
    wins = ranks[: len(one)].sum() - len(one) * (len(one) + 1) / 2
    return float(wins / (len(one) * len(other)))


def game_bound(budget):
    """Return the best chance of guessing a coin after a total loss: e^B / (1 + e^B)."""
    return math.exp(budget) / (1 + math.exp(budget))


def game_p_value(correct, rounds, budget):
    """Return how likely so many right guesses are under the best permitted attack."""
    return float(stats.binom.sf(correct - 1, rounds, game_bound(budget)))


def noise_p_value(noise, scale, least=40):
    """Return the chi-squared p-value of integers against discrete Laplace noise.

    Bins are single integers around zero and two tails, each expecting ``least``.
    """
    a = math.exp(-1 / scale)
    reach = 0
    while len(noise) * a ** (reach + 1) / (1 + a) >= 2 * least:
        reach += 1
    inside = np.arange(-reach + 1, reach)
    masses = (1 - a) / (1 + a) * a ** np.abs(inside)
    keep = _merged(masses * len(noise), least)
    tail = a**reach / (1 + a)
    expected = [tail * len(noise), *_sums(masses * len(noise), keep), tail * len(noise)]
    counts = Counter(noise)
    middle = np.array([counts[int(z)] for z in inside], dtype=float)
    below = sum(count for z, count in counts.items() if z <= -reach)
    above = sum(count for z, count in counts.items() if z >= reach)
    observed = [below, *_sums(middle, keep), above]
    scale_up = sum(observed) / sum(expected)  # rounding of the masses alone
    return float(stats.chisquare(observed, np.array(expected) * scale_up).pvalue)


def _merged(expected, least):
    """Return where bins start so that each expects at least ``least``."""
    starts, held = [0], 0.0
    for position, mass in enumerate(expected):
        if held >= least and expected[position:].sum() >= least:
            starts.append(position)
            held = 0.0
        held += mass
    return starts


def _sums(values, starts):
    return list(np.add.reduceat(values, starts))
