"""Intervals of computed columns hold as often as they say, whatever is true.

Fails by chance less than once in a million runs: of n intervals that hold with
probability 0.95, five standard deviations fewer than 0.95 n may hold.
"""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from mechanisms.scales.noises import GAUSSIAN, LAPLACE
from query_lang.showing.confidence import intervals_of
from server.use_cases.questions.noise_law import AnswerNoise
from tests.effort import gate_first
from tests.statistical.computed.coverage import CASES, DRAWN, _holds, measure
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

pytestmark = pytest.mark.thorough

DRAWS = 2_000


@pytest.mark.parametrize("place", gate_first(4, range(len(CASES))))
@pytest.mark.parametrize("kind", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
def test_intervals_of_computed_columns_hold(place, kind):
    found = measure(CASES[place], DRAWS, place, kind=kind)
    assert found.held >= 0.95 * found.asked - 5 * sqrt(0.05 * 0.95 * found.asked)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("selected", "truth"),
    [
        ("SUM(COUNT(*) / COUNT(*)) OVER () + COUNT(*)", [5, 52, 2]),  # one is NULL
        ("SUM(COUNT(*)) OVER (ORDER BY level)", [3, 3 + 50, 3 + 50 + 0]),
        ("COUNT(*) / SUM(COUNT(*)) OVER ()", [Fraction(n, 53) for n in (3, 50, 0)]),
        ("COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY level)", [None, 47, -50]),
        ("RANK() OVER (ORDER BY COUNT(*) DESC)", [2, 1, 3]),
        ("MAX(COUNT(*)) OVER ()", [50, 50, 50]),
        ("MIN(COUNT(*)) OVER (ORDER BY level)", [3, 3, 0]),
        (
            "COUNT(*) / FIRST_VALUE(COUNT(*)) OVER (ORDER BY level)",
            [1, Fraction(50, 3), 0],
        ),
        ("100 * COUNT(*) / MAX(COUNT(*)) OVER ()", [6, 100, 0]),
    ],
)
@pytest.mark.parametrize("kind", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
def test_windows_over_the_answer_hold(selected, truth, kind):
    query = compile_query(
        f"SELECT level, {selected} AS x FROM encounters GROUP BY level", HOSPITAL
    )
    rng, asked, held = np.random.default_rng(5), 0, [0, 0, 0]
    noise = AnswerNoise((6.0,), kind)
    for _ in range(600):
        noisy = (np.array([3, 50, 0]) + DRAWN[kind](rng, 6.0, 3)).tolist()
        (column,) = intervals_of(query, [noisy], noise, Fraction(95, 100))
        asked += 1
        for place, (row, exact) in enumerate(zip(column.rows, truth, strict=True)):
            held[place] += row is None or exact is None or _holds(*row, exact)
    assert min(held) >= 0.95 * asked - 5 * sqrt(0.05 * 0.95 * asked)


@pytest.mark.parametrize("kind", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
def test_half_of_the_noise_would_be_noticed(kind):
    """The test can fail: noise of twice the scale that intervals know of."""
    case = next(case for case in CASES if case.name == "share")
    found = measure(case, DRAWS, 7, drawn=2.0, kind=kind)
    assert found.held < 0.95 * found.asked - 5 * sqrt(0.05 * 0.95 * found.asked)
