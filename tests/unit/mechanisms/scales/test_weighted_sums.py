from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from mechanisms.scales.half_widths import half_width
from mechanisms.scales.sum_tails import laplace_tails
from mechanisms.scales.weighted_sums import (
    Draws,
    NoisyFraction,
    fraction_ends,
    sum_half_width,
    sum_half_widths,
)

MISS = Fraction(5, 100)


def law(scale, reach):
    """Return the probabilities of -reach..reach of a discrete Laplace draw."""
    a = np.exp(-1 / scale)
    return (1 - a) / (1 + a) * a ** np.abs(np.arange(-reach, reach + 1))


def exact_half_width(weights, scales, miss, reach=400):
    """Return the least w that holds, from the exact law of a sum of whole weights."""
    whole = np.array([1.0])
    for weight, scale in zip(weights, scales, strict=True):
        one = np.zeros(2 * reach * weight + 1)
        one[::weight] = law(scale, reach)
        whole = np.convolve(whole, one)
    middle = len(whole) // 2
    folded = whole[middle:] + whole[middle::-1]
    folded[0] /= 2
    held = np.cumsum(folded)
    return int(np.argmax(held >= 1 - float(miss)))


@pytest.mark.parametrize("scale", [0.3, 1.0, 9.5, 700.0])
def test_one_draw_has_its_exact_half_width(scale):
    told = sum_half_width([(Fraction(-5, 2), scale, 1)], MISS)
    assert told == Fraction(5, 2) * half_width(scale, 1 - MISS)


@pytest.mark.parametrize("scales", [(5, 5), (5, 9), (20, 1), (0.4, 0.4), (0.3, 6)])
@pytest.mark.parametrize("weights", [(1, 1), (1, 3)])
def test_two_draws_have_their_exact_half_width_or_a_step_more(weights, scales):
    draws = [(Fraction(w), float(s), 1) for w, s in zip(weights, scales, strict=True)]
    least = exact_half_width(weights, scales, MISS)
    assert least <= sum_half_width(draws, MISS) <= least + sum(weights)


def test_many_sums_at_once_have_the_half_widths_that_each_has_alone():
    one, half = Fraction(1), Fraction(1, 2)
    sums = [
        [],
        [(one, 6.0, 1)],
        *([(one, 6.0, n), (half, 2.5, n % 3)] for n in range(2, 40)),
    ]
    assert sum_half_widths(sums, MISS) == [sum_half_width(each, MISS) for each in sums]


@pytest.mark.parametrize("count", [3, 8, 29])
@pytest.mark.parametrize("miss", [MISS, Fraction(1, 10_000)])
def test_many_draws_reach_little_further_than_their_exact_half_width(count, miss):
    told = sum_half_width([(Fraction(1), 6.0, count)], miss)
    least = exact_half_width([1] * count, [6.0] * count, miss, reach=120)
    assert least <= told <= least + Fraction(count, 2) + 2


def test_a_hundred_draws_are_bounded_too():
    told = sum_half_width([(Fraction(1), 6.0, 100)], MISS)
    least = exact_half_width([1] * 100, [6.0] * 100, MISS, reach=80)
    assert least <= told <= least * Fraction(5, 4)


@pytest.mark.parametrize("scales", [(3, 2, 1), (9, 9, 9), (10, 1, 0.5, 0.2)])
def test_a_tail_is_never_less_than_what_draws_show(scales):
    rng = np.random.default_rng(3)
    size = 400_000
    drawn = np.abs(sum(rng.laplace(0, scale, size) for scale in scales))
    column = np.array(scales, dtype=float)[:, None]
    for part in (0.5, 0.9, 0.99):
        distance = np.quantile(drawn, part)
        (told,) = laplace_tails(
            column, np.ones_like(column), np.array([distance]), 0.05
        )
        shown = (drawn >= distance).mean()
        spread = 5 * np.sqrt(shown * (1 - shown) / size)
        assert shown - spread <= told <= shown + spread + 2e-4


def fraction(over, under, draws, low=0, high=None):
    return NoisyFraction(
        Fraction(over, under),
        Fraction(under),
        tuple(Draws(Fraction(a), Fraction(b), s) for a, b, s in draws),
        None if low is None else Fraction(low),
        None if high is None else Fraction(high),
    )


def test_a_denominator_that_may_be_zero_leaves_an_end_open():
    few, many, free = fraction_ends(
        [
            fraction(50, 5, [(1, 0, 4.0), (0, 1, 4.0)]),
            fraction(50, 500, [(1, 0, 4.0), (0, 1, 4.0)]),
            fraction(50, 5, [(1, 0, 4.0), (0, 1, 4.0)], low=None),
        ],
        MISS,
    )
    assert few[1] is None
    assert 0 < few[0] < 10
    assert 0.07 < many[0] < Fraction(1, 10) < many[1] < 0.13
    assert free == (None, None)


def test_ends_stop_at_public_limits():
    draws = [(1, 1, 4.0), (0, 1, 4.0)]
    ((low, high),) = fraction_ends([fraction(30, 29, draws, 0, 1)], MISS)
    assert 0 < low < high == 1


def test_a_wider_interval_misses_less():
    draws = [(1, 0, 4.0), (0, 1, 6.0)]
    noisy = fraction(90, 400, draws)
    ((low, high),) = fraction_ends([noisy], MISS)
    ((lower, higher),) = fraction_ends([noisy], Fraction(1, 1_000))
    assert lower < low < high < higher


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("count", "scale"),
    list(product([0, 1, 7, 40], [0.3, 2.0, 12.0])),
)
def test_a_ratio_is_kept_exactly_where_its_noise_is_likely(count, scale):
    """Of all noise that may have been drawn, that which is missed is rare enough."""
    exact_over, exact_under = count, 2 * count + 5
    reach = min(60, int(9 * scale) + 8)
    weights = law(scale, reach)
    noise = np.arange(-reach, reach + 1)
    pairs = [
        (a, b, weights[a + reach] * weights[b + reach])
        for a, b in product(noise[:: 1 if reach < 20 else 4], repeat=2)
        if exact_under + b != 0
    ]
    asked = [
        fraction(
            int(exact_over + a),
            int(exact_under + b),
            [(1, 0, scale), (0, 1, scale)],
        )
        for a, b, _ in pairs
    ]
    truth = Fraction(exact_over, exact_under)
    ends = fraction_ends(asked, MISS)
    missed = sum(
        w
        for (_, _, w), (low, high) in zip(pairs, ends, strict=True)
        if not ((low is None or low <= truth) and (high is None or truth <= high))
    )
    share = missed / sum(w for *_, w in pairs)
    assert share <= 0.05 if reach < 20 else share <= 0.06
