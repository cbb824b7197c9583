"""Posteriors of counts whose noisy values are known, against plain integration."""

from itertools import pairwise
from math import exp

import numpy as np
import pytest
from scipy.integrate import quad

from release.sequences.estimation.posterior import (
    MIXTURE,
    SURPRISE,
    SURPRISING_PART,
    seen,
)

SCALES = np.array([1e-9, 1e-3, 0.1, 2.0, 50.0])
LEAST = 1e-6
"""The least mean of a prior law, in scales."""

WITHIN = 1e-3
"""In scales: rates that nearly cancel are moved apart by as much."""


def integrated(value, expected, whole):
    """Return the posterior's mean and variance, all in scales of the noise."""
    laws = [(weight * (1 - SURPRISE), expected * part) for weight, part in MIXTURE]
    laws.append((SURPRISE, whole * SURPRISING_PART))
    moments = np.zeros(3)
    for weight, prior_mean in laws:
        own = _moments_of(value, max(prior_mean, LEAST))
        moments += weight * own
    moved = moments[1] / moments[0]
    return value + moved, moments[2] / moments[0] - moved**2


def _moments_of(value, mean):
    """Return moments about the value; below 0, without the factor exp(value)."""
    top = max(value, 0.0)
    apart = np.array([0.01, 0.1, 1, 5, 25, 100])
    cuts = [top - apart, top + apart, apart * mean / (mean + 1), apart * mean]
    within = [cut for cut in np.concatenate(cuts) if 0 < cut < top + 100]
    places = sorted({0.0, top, *within})

    def density(count):
        return exp(-count / mean - abs(count - value) - min(value, 0.0)) / mean

    def moment(power):
        def inside(count):
            return (count - value) ** power * density(count)

        pairs = pairwise(places)
        return sum(quad(inside, low, high, epsabs=0)[0] for low, high in pairs)

    return np.array([moment(power) for power in range(3)])


@pytest.mark.parametrize(
    ("value", "expected"),
    [(-40, 1), (-1, 0), (0, 40), (0.01, 0), (1, 2.00002), (9, 0.3), (300, 400)],
)
def test_posteriors_are_what_integration_says_at_any_scale(value, expected):
    mean, variance = integrated(value, expected, 500)
    told = seen(
        value * SCALES, expected * SCALES, SCALES, np.full(len(SCALES), 500) * SCALES
    )
    assert told.means / SCALES == pytest.approx(mean, abs=WITHIN)
    assert told.variances / SCALES**2 == pytest.approx(min(variance, 2), abs=WITHIN)
