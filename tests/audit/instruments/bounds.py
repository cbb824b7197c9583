"""The arithmetic of audits: bounds on a loss, curves, games, and their errors.

Neighbouring relation throughout: add or remove all rows of one patient.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

VERDICT_ALPHA = 1e-6  # verdicts: wrong less than once in a million runs
REPORT_ALPHA = 1e-3  # what is reported: LB99.9
NOISE_ALPHA = 1e-7  # of chi-squared tests: their law is near, not exact


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


def probability_of_bound_above(event, samples, level, alpha=VERDICT_ALPHA):
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
    """Return the best probability to guess a coin after a loss B: e^B / (1 + e^B)."""
    return math.exp(budget) / (1 + math.exp(budget))


def game_p_value(correct, rounds, budget):
    """Return how likely so many right guesses are under the best permitted attack."""
    return float(stats.binom.sf(correct - 1, rounds, game_bound(budget)))


def noise_p_value(noise, scale):
    """Return the chi-squared p-value of integers against discrete Laplace noise.

    Raises:
        ValueError: Too few integers for bins between two tails.
    """
    bins = NoiseBins.of(len(noise), scale)
    expected = np.array(bins.probabilities(scale)) * len(noise)
    return float(stats.chisquare(bins.count(noise), expected).pvalue)


def probability_that_noise_passes(samples, scale, factor, alpha):
    """Return the probability that noise of ``factor`` times the scale is not found.

    By the noncentral chi-squared law, an approximation.
    """
    bins = NoiseBins.of(samples, scale)
    right, wrong = (np.array(bins.probabilities(s)) for s in (scale, scale * factor))
    noncentrality = samples * ((wrong - right) ** 2 / right).sum()
    degrees = len(right) - 1
    return float(stats.ncx2.cdf(stats.chi2.isf(alpha, degrees), degrees, noncentrality))


@dataclass(frozen=True)
class NoiseBins:
    """Bins of integers: bin i ends before ``edges[i]``, the last has no end."""

    edges: tuple[int, ...]

    @classmethod
    def of(cls, samples, scale, least=40):
        """Return as many bins as expect at least so many samples each.

        Raises:
            ValueError: There would be fewer than three.
        """
        edges, done, step = [], 0.0, least / samples
        while (edge := quantile(done + step, scale)) is not None:
            done = below(edge, scale)
            if 1 - done < step:
                break
            edges.append(edge)
        if len(edges) < 2:
            message = "too few samples for three bins"
            raise ValueError(message)
        return cls(tuple(edges))

    def probabilities(self, scale):
        """Return the probability of each bin."""
        marks = [0.0, *(below(edge, scale) for edge in self.edges), 1.0]
        return np.diff(marks)

    def count(self, noise):
        """Return how many integers each bin holds."""
        places = np.searchsorted(self.edges, noise, side="right")
        return np.bincount(places, minlength=len(self.edges) + 1)


def below(edge, scale):
    """Return P(noise < edge) of discrete Laplace noise."""
    a = math.exp(-1 / scale)
    if edge <= 0:
        return a ** (1 - edge) / (1 + a)
    return 1 - a**edge / (1 + a)


def quantile(probability, scale):
    """Return the least edge with P(noise < edge) at least so much; None for none."""
    if probability >= 1:
        return None
    a = math.exp(-1 / scale)
    if probability <= a / (1 + a):
        guess = 1 - math.log(probability * (1 + a)) / math.log(a)
    else:
        guess = math.log((1 - probability) * (1 + a)) / math.log(a)
    near = range(math.floor(guess) - 2, math.ceil(guess) + 3)
    return next(edge for edge in near if below(edge, scale) >= probability)
