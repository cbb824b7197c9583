import random
from fractions import Fraction

import pytest

from query_lang.plans.compiled import AverageShown, Bins
from query_lang.showing.confidence import average_interval, quantile_interval
from query_lang.showing.quantiles import quantile

SEEDS = range(300)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_exact_average_lies_in_the_interval_of_its_noisy_parts(seed):
    rng = random.Random(seed)
    values = [rng.randint(-5, 20) for _ in range(rng.randint(1, 30))]
    widths = rng.randint(0, 40), rng.randint(0, 8)
    total = sum(values) + rng.randint(-widths[0], widths[0])
    count = len(values) + rng.randint(-widths[1], widths[1])
    low, high = average_interval((total, widths[0]), (count, widths[1]), (-5, 20))
    assert low <= Fraction(sum(values), len(values)) <= high
    assert -5 <= low <= high <= 20


@pytest.mark.parametrize("one_per_value", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_an_exact_quantile_lies_in_the_interval_of_its_noisy_bins(seed, one_per_value):
    rng = random.Random(seed)
    size = rng.randint(2, 8)
    bins = Bins(-10, -10 + size - 1 if one_per_value else 50, size, one_per_value)
    exact = [rng.choice((0, 0, 1, 5, 30)) for _ in range(size)]
    exact[rng.randrange(size)] += 1
    width = rng.randint(0, 6)
    noisy = [count + rng.randint(-width, width) for count in exact]
    fraction = Fraction(rng.randint(1, 9), 10)
    low, high = quantile_interval(noisy, width, bins, fraction)
    assert low <= quantile(exact, bins, fraction) <= high
    assert bins.lower <= low <= high <= bins.upper


def test_without_noise_an_interval_is_its_bin():
    bins = Bins(0, 40, 4, one_per_value=False)
    assert quantile_interval([0, 5, 0, 0], 0, bins, Fraction(1, 2)) == (10, 20)


def test_a_count_that_may_be_zero_leaves_the_declared_bounds():
    assert average_interval((5, 1), (2, 2), (0, 9)) == (0, 9)


def test_an_average_without_bounds_cannot_be_made():
    """Its interval would be [0, 0]; binding refuses what has no bounds."""
    with pytest.raises(TypeError, match="'lower' and 'upper'"):
        AverageShown(0, 1)
