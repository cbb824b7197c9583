"""Bounds on a loss in rho, and in (epsilon, delta), from samples of two neighbours.

Neighbouring relation throughout: add or remove all rows of one patient.
"""

import math
from dataclasses import dataclass

import numpy as np

from tests.audit.instruments.bounds import intervals

CLIPPED = 3.0
"""Log-likelihood ratios beyond this, on either side, are taken as this."""


@dataclass(frozen=True)
class Statistic:
    """The log-likelihood ratio of noisy cells, with the patient against without.

    Attributes:
        moves: How far the patient moves each cell, in grid steps.
        scale: Of the Gaussian noise, as it is stated.
    """

    moves: tuple[int, ...]
    scale: float

    @property
    def rho(self):
        """The loss that the stated noise has: half the squared distance in scales."""
        return sum(move**2 for move in self.moves) / (2 * self.scale**2)

    def of(self, noisy):
        """Return the ratio of each row of noisy cells whose exact values were 0."""
        projected = np.asarray(noisy) @ (np.array(self.moves) / self.scale**2)
        return projected - self.rho


def rho_lower_bound(present, absent, alpha):
    """Return a lower bound on rho, wrong with probability alpha.

    By Donsker and Varadhan's formula, whatever f is: the divergence, which is at most
    rho, is at least the mean of f with the patient, less the logarithm of that of
    exp(f) without. f is the clipped statistic; means are bounded by Maurer and
    Pontil's empirical Bernstein inequality.
    """
    first = np.clip(present, -CLIPPED, CLIPPED)
    second = np.exp(np.clip(absent, -CLIPPED, CLIPPED))
    ends = math.exp(-CLIPPED), math.exp(CLIPPED)
    low = first.mean() - deviation(first, 2 * CLIPPED, alpha / 2)
    high = second.mean() + deviation(second, ends[1] - ends[0], alpha / 2)
    return float(low - math.log(high))


def least_bound(rho, samples, alpha):
    """Return what a bound on Gaussian noise of this rho falls below once in 1/alpha.

    Bounds fall twice their own errors below the divergence with the same alpha.
    """
    normal = np.random.default_rng(1).normal(size=1_000_000)  # of the statistic's law
    spread = np.sqrt(2 * rho)
    first = np.clip(rho + spread * normal, -CLIPPED, CLIPPED)
    second = np.exp(np.clip(-rho + spread * normal, -CLIPPED, CLIPPED))
    errors = [
        deviation(values[:samples], width, alpha / 2)
        for values, width in ((first, 2 * CLIPPED), (second, np.exp(CLIPPED)))
    ]
    return first.mean() - 2 * errors[0] - np.log(second.mean() + 2 * errors[1])


def deviation(values, width, alpha):
    """Return what a mean errs by, to one side, but with probability alpha."""
    log, size = math.log(2 / alpha), len(values)
    return math.sqrt(2 * values.var(ddof=1) * log / size) + 7 * width * log / (
        3 * (size - 1)
    )


def epsilon_lower_bound(present, absent, threshold, delta, alpha):
    """Return a lower bound on the epsilon that goes with delta, wrong by alpha.

    Of the event that the statistic reaches a threshold, fixed beforehand.
    """
    low, _ = intervals(int((present >= threshold).sum()), len(present), alpha)
    _, high = intervals(int((absent >= threshold).sum()), len(absent), alpha)
    return float(np.log(max(low - delta, 1e-300) / high))
