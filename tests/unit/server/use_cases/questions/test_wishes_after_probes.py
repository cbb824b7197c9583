"""A wish whose price follows from the noise that its own noise goes on from.

The number is x. A probe of scale t showed x + N; the wish's scale s follows from it,
and the finer noise M is drawn given N. Exact sums over N and M, in whole steps.
"""

from math import exp, floor, log

import numpy as np
import pytest

MISS = 0.05
OF_KNOWN = 1 / 20
PROBE = 6.0  # scale
REACH = 120


def laplace(ratio, n):
    return (1 - ratio) / (1 + ratio) * ratio ** np.abs(n)


def half_width(scale, miss):
    """Return the least whole w that noise passes with a chance of at most ``miss``."""
    a = exp(-1 / scale)
    return max(0, floor(scale * log(2 / ((1 + a) * miss))))


def scale_for(tolerance):
    """Return the greatest scale on a fine grid whose half-width is a tolerance."""
    least, most = 1e-3, 10 * PROBE
    for _ in range(60):
        middle = (least + most) / 2
        fits = half_width(middle, MISS * (1 - OF_KNOWN)) <= tolerance
        least, most = (middle, most) if fits else (least, middle)
    return least


def missed_given(noise, scale, allowed):
    """Return the chance that finer noise passes what is allowed, given coarser."""
    a, b = exp(-1 / PROBE), exp(-1 / scale)
    nothing = b * (1 - a) ** 2 / (a * (1 - b) ** 2)
    finer = np.arange(-3 * REACH, 3 * REACH + 1)
    law = laplace(b, finer) * (
        nothing * (finer == noise) + (1 - nothing) * laplace(a, noise - finer)
    )
    return law[np.abs(finer) > allowed].sum() / laplace(a, noise)


@pytest.mark.parametrize("relative", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("at_least", [2, 8])
@pytest.mark.parametrize("size", [0, 30, 60, 100, 200, 400])
def test_a_wish_is_kept_where_its_price_follows_from_the_noise_that_it_goes_on_from(
    relative, at_least, size
):
    a = exp(-1 / PROBE)
    known = half_width(PROBE, MISS * OF_KNOWN)
    allowed = max(at_least, floor(relative * size))
    missed = 0.0
    for noise in range(-REACH, REACH + 1):
        least = max(0, abs(size + noise) - known)
        scale = scale_for(max(at_least, floor(relative * least)))
        if scale * 1.1 >= PROBE:  # what was shown is as good already, or nearly
            missed += laplace(a, noise) * (abs(noise) > allowed)
        else:
            missed += laplace(a, noise) * missed_given(noise, scale, allowed)
    assert missed <= MISS
