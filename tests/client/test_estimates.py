"""Ratios, odds ratios and survival of an answer's counts, in the client alone."""

import math
from fractions import Fraction

import numpy as np
import pytest

from curator_client.answers.answer import Answer
from curator_client.answers.estimates import Estimate, half_width, sum_half_width
from server.use_cases.questions.noise_law import AnswerNoise

DRAWS = 3_000
LEAST = 0.95 * DRAWS - 5 * math.sqrt(0.05 * 0.95 * DRAWS)  # by chance 3e-7


def answer(columns, rows, *, scale=10.0, half_width_95=None, key=None, unit="rows"):
    told = half_width(scale, 0.05) if half_width_95 is None else half_width_95
    keys = [] if key is None else [{"name": key, "kind": "group", "unit": None}]
    return Answer(
        {
            "columns": [
                *keys,
                *({"name": n, "kind": "measure", "unit": unit} for n in columns),
            ],
            "rows": rows,
            "noise": [
                {"column": n, "scale": str(scale), "half_width_95": str(told)}
                for n in columns
            ],
        }
    )


def noisy(rng, scale, exact):
    u = math.exp(-1 / scale)
    draws = rng.geometric(1 - u, len(exact)) - rng.geometric(1 - u, len(exact))
    return [int(n) for n in np.array(exact) + draws]


@pytest.mark.parametrize("scale", [0.2, 1.0, 2.0, 10.0, 333.3, 2_000.0])
@pytest.mark.parametrize("miss", [0.05, 0.0125, 0.001])
def test_a_half_width_is_the_servers(scale, miss):
    theirs = AnswerNoise((scale,)).half_width(0, 1 - Fraction(str(miss)))
    assert half_width(scale, miss) == theirs


def test_a_sum_of_one_is_a_number_and_of_many_less_than_all_widths():
    assert sum_half_width(10, 1, 0.01) == half_width(10, 0.01)
    assert sum_half_width(10, 100, 0.01) < 0.5 * 100 * half_width(10, 0.01 / 100)
    assert sum_half_width(10, 0, 0.01) == sum_half_width(0, 5, 0.01) == 0


def test_a_ratio_of_each_row_and_what_has_none():
    told = answer(["a", "b"], [[300, 1_000], [5, 12], [5, -3]])
    ratio, few, none = told.ratio("a", "b")
    assert ratio.value == pytest.approx(0.3)
    assert 0.2 < ratio.low < 0.3 < ratio.high < 0.4
    assert (few.low, few.high) == (0, math.inf)
    assert none.value is None
    (rate, *_) = told.rate("a", "b")
    assert rate.low == pytest.approx(1_000 * ratio.low)
    assert str(Estimate(0.5, 0.25, 0.75)) == "0.5 (0.25 to 0.75)"


def test_rows_that_noise_chose_have_wider_intervals():
    plain = answer(["a", "b"], [[300, 1_000]])
    chosen = answer(["a", "b"], [[300, 1_000]], half_width_95=half_width(10, 0.001))
    assert chosen.ratio("a", "b")[0].high > plain.ratio("a", "b")[0].high


def test_what_is_no_count_of_this_answer_is_told():
    told = answer(["a", "b"], [[300, 1_000]])
    with pytest.raises(KeyError, match="there are: a, b"):
        told.ratio("a", "c")
    with pytest.raises(ValueError, match="in SQL"):
        answer(["a", "b"], [["1.5", "2.5"]], unit=None).ratio("a", "b")
    with pytest.raises(ValueError, match="one group column"):
        told.kaplan_meier("a", "b")


def test_ratios_and_odds_ratios_hold():
    rng, exact, held = np.random.default_rng(3), (60, 240, 30, 270), [0, 0]
    for _ in range(DRAWS):
        told = answer(list("abcd"), [noisy(rng, 5.0, exact)], scale=5.0)
        (ratio,), (odds,) = told.ratio("a", "b"), told.odds_ratio(*"abcd")
        held[0] += ratio.low <= 0.25 <= ratio.high
        held[1] += odds.low <= 60 * 270 / (240 * 30) <= odds.high
    assert min(held) >= LEAST


def test_a_survival_band_holds_and_is_of_use():
    times, scale, rng = 12, 2.0, np.random.default_rng(4)
    died, lost = [40 - 2 * n for n in range(times)], [25] * times
    at_risk = [sum(died[n:]) + sum(lost[n:]) for n in range(times)]
    shares = [1 - d / n for d, n in zip(died, at_risk, strict=True)]
    exact, held = np.cumprod(shares), 0
    for _ in range(300):
        counts = noisy(rng, scale, [*died, *lost])
        rows = [[n, counts[n], counts[times + n]] for n in range(times)]
        told = answer(["died", "lost"], rows, scale=scale, key="month")
        band = told.kaplan_meier("died", "lost")
        held += all(
            one.low <= e <= one.high for one, e in zip(band, exact, strict=True)
        )
    assert held == 300  # a union bound of 24 numbers: far more than 95 %
    assert band[0].high - band[0].low < 0.1
    assert all(one.low <= one.value <= one.high for one in band)


def test_nobody_at_risk_leaves_the_band_open():
    told = answer(["died", "lost"], [[1, 3, 0], [2, -4, 1]], key="month")
    first, last = told.kaplan_meier("died", "lost")
    assert (first.low, last.low) == (0, 0)
    assert last.high <= first.high <= 1
