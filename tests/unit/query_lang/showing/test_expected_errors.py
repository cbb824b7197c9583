import random
from fractions import Fraction
from itertools import accumulate

import pytest

from query_lang.plans.compiled import Bins
from query_lang.showing.expected_errors import (
    ROUND_COUNTS,
    average_error,
    expected_errors,
    share_error,
)
from query_lang.showing.quantiles import quantile
from server.use_cases.questions.noise_law import AnswerNoise
from tests.unit.query_lang.test_compile import compiled

SEEDS = range(300)


class Widths(AnswerNoise):
    """Noise whose half-width is the same of every vector."""

    def half_width(self, vector, confidence):
        return self.scales


CERTAIN = Fraction(95, 100)
ALMOST_NOTHING = Fraction(1, 10**9)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_average_is_off_by_no_more_than_was_expected(seed):
    rng = random.Random(seed)
    bounds = rng.randint(-9, 0), rng.randint(1, 20)
    widths = rng.randint(0, 60), rng.randint(0, 9)
    values = rng.choices(rng.choice([bounds, range(*bounds)]), k=rng.randint(1, 40))
    error = average_error(len(values), widths, bounds)
    told = bounds[1] - bounds[0] if error is None else error
    count = len(values) + rng.choice((-1, 1)) * widths[1]
    noisy = sum(values) + rng.choice((-1, 1)) * widths[0]
    if count >= 1:
        shown = max(bounds[0], min(bounds[1], Fraction(noisy, count)))
        assert abs(shown - Fraction(sum(values), len(values))) <= told


def test_what_is_expected_of_an_average_is_attained():
    assert average_error(10, (5, 2), (0, 20)) == Fraction(45, 8)
    assert Fraction(10 * 20 + 5, 10 - 2) - 20 == Fraction(45, 8)


@pytest.mark.parametrize("seed", SEEDS)
def test_shares_of_bins_are_off_by_no_more_than_was_expected(seed):
    rng = random.Random(seed)
    bins, width = rng.randint(2, 9), rng.randint(0, 5)
    exact = [rng.choice((0, 0, 3, 40, 900)) for _ in range(bins)]
    exact[0] += 1
    noisy = [max(0, n + rng.choice((-width, 0, width))) for n in exact]
    error = share_error(sum(exact), width, bins)
    if error is not None:
        shares = [Fraction(n, sum(exact)) for n in accumulate(exact)]
        shown = [Fraction(n, sum(noisy)) for n in accumulate(noisy)]
        assert max(abs(a - b) for a, b in zip(shares, shown, strict=True)) <= error


def values_around(exact, noisy, fraction):
    """Return the shares of exact values before the shown bin, and with it."""
    size = len(exact)
    bins = Bins(0, size - 1, size, one_per_value=True)
    found = int(quantile(noisy, bins, fraction))
    parts = sum(exact[:found]), sum(exact[: found + 1])
    return tuple(Fraction(part, sum(exact)) for part in parts)


@pytest.mark.parametrize("seed", SEEDS)
def test_exact_values_up_to_a_shown_quantile_and_before_it_are_as_many_as_expected(
    seed,
):
    rng = random.Random(seed)
    size, width = rng.randint(2, 9), rng.randint(0, 5)
    exact = [rng.choice((0, 0, 0, 40, 900)) for _ in range(size)]
    exact[rng.choice((0, -1))] += 2 * size * width + 100
    cut, sign = rng.randrange(size), rng.choice((-width, width))
    noisy = [n + (sign if i < cut else -sign) for i, n in enumerate(exact)]
    error = share_error(sum(exact), width, size)
    known = [max(0, n) for n in noisy]
    shown = Fraction(sum(known[:cut]), sum(known)) + rng.choice((0, ALMOST_NOTHING))
    fraction = min(max(shown, ALMOST_NOTHING), 1 - ALMOST_NOTHING)
    before, with_it = values_around(exact, noisy, fraction)
    assert with_it >= fraction - error
    assert before <= fraction + error


def test_the_bin_of_a_shown_quantile_may_hold_no_exact_value():
    exact, noisy = [500, 0, 500], [499, 1, 500]
    before, with_it = values_around(exact, noisy, Fraction(1, 2))
    assert before == with_it == Fraction(1, 2)


def test_nothing_is_expected_where_noise_may_decide():
    assert average_error(9, (1, 9), (0, 20)) is None
    assert average_error(10, (400, 0), (0, 20)) is None
    assert share_error(128, 1, 64) is None


def test_averages_and_quantiles_are_expected_in_their_own_units_and_counts_are_not():
    question = compiled("SELECT COUNT(*), AVG(dose), MEDIAN(age) FROM encounters")
    told = expected_errors(question, Widths(0), CERTAIN)
    assert [(each.column, each.of) for each in told] == [
        ("avg", "value"),
        ("median", "share"),
    ]
    assert all(each.half_widths == ("0.000001",) * len(ROUND_COUNTS) for each in told)
    (average, _) = expected_errors(question, Widths(200), CERTAIN)
    assert average.half_widths[0] is None
    assert float(average.half_widths[3]) < float(average.half_widths[2])


def test_of_sums_and_differences_the_half_width_is_expected_and_of_ratios_nothing():
    question = compiled(
        "SELECT COUNT(*) * 3 AS a, COUNT(*) - COUNT(age) AS b, SUM(dose) / 10 AS c, "
        "COUNT(*) / COUNT(age) AS d FROM encounters"
    )
    told = expected_errors(question, AnswerNoise((10.0,) * 3), CERTAIN)
    assert [(each.column, each.of) for each in told] == [
        ("a", "value"),
        ("b", "value"),
        ("c", "value"),
    ]
    assert [each.half_widths[0] for each in told] == ["90", "42", "0.300000"]
