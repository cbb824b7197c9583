"""Variances and correlations, written out as counts and sums of centred values."""

import random
import statistics
from fractions import Fraction

import pytest

from privacy.errors import QueryError
from query_lang.showing.confidence import intervals_of
from query_lang.showing.presentation import present
from query_lang.syntax.refusals import SqlNotAllowedError
from server.use_cases.questions.noise_law import AnswerNoise
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

AGE, LEVEL = (60, 60), (2, 1)
"""Middle and reach of each column's bounds."""


def compiled(selected, rest=""):
    return compile_query(f"SELECT {selected} AS v FROM encounters {rest}", HOSPITAL)


def shown(selected, *vectors):
    ((value,),) = present(compiled(selected), [[vector] for vector in vectors])
    return None if value is None else float(value)


def squares(values, middle, reach):
    return sum((value - middle) ** 2 - reach**2 // 2 for value in values)


def centred(values, middle, _reach):
    return sum(value - middle for value in values)


@pytest.mark.parametrize("seed", range(5))
def test_moments_are_what_plain_sums_say(seed):
    rng = random.Random(seed)
    ages = [rng.randint(0, 120) for _ in range(50)]
    levels = [min(3, 1 + age // 50 + (rng.random() < 0.3)) for age in ages]
    of_ages = squares(ages, *AGE), len(ages), centred(ages, *AGE)
    products = sum((a - 60) * (b - 2) for a, b in zip(ages, levels, strict=True))
    pair = (products, len(ages), centred(ages, *AGE), centred(levels, *LEVEL))
    of_levels = squares(levels, *LEVEL)
    near = pytest.approx
    assert shown("VAR_POP(age)", *of_ages) == near(statistics.pvariance(ages))
    assert shown("VARIANCE(age)", *of_ages) == near(statistics.variance(ages))
    assert shown("STDDEV_POP(age)", *of_ages) == near(statistics.pstdev(ages))
    assert shown("STDDEV(age)", *of_ages) == near(statistics.stdev(ages))
    covariance = statistics.covariance(ages, levels)
    assert shown("COVAR_SAMP(age, level)", *pair) == near(covariance)
    correlation = statistics.correlation(ages, levels)
    assert shown("CORR(age, level)", *pair, of_ages[0], of_levels) == near(
        correlation, abs=1e-6
    )
    slope = statistics.linear_regression(levels, ages).slope
    assert shown("REGR_SLOPE(age, level)", *pair, of_levels) == near(slope)


@pytest.mark.parametrize(
    ("selected", "vectors", "value"),
    [
        ("VAR_POP(age)", (0, 0, 0), None),  # noise left no row
        ("VAR_SAMP(age)", (0, 1, 0), None),
        ("VAR_POP(age)", (-90_000, 10, 0), 0),  # noise left no variance
        ("VAR_POP(age)", (90_000, 10, 0), 3_600),
        ("STDDEV_POP(age)", (90_000, 10, 0), 60),
        ("CORR(age, level)", (5, 10, 0, 0, -90_000, 5), None),
        ("CORR(age, level)", (5_000, 10, 0, 0, 0, 5), 1),
        ("CORR(age, level)", (-5_000, 10, 0, 0, 0, 5), -1),
    ],
)
def test_what_noise_moves_out_of_bounds_is_set_within(selected, vectors, value):
    assert shown(selected, *vectors) == value


def test_one_unit_moves_sums_of_centred_values_least():
    """In L1, of four rows a unit: half the square of the reach, rows, the reach."""
    moved = [m.sensitivity.l1 for m in compiled("VAR_POP(age)").measures]
    assert moved == [Fraction(4 * 1_800), 4, 4 * 60]
    moved = [m.sensitivity.l1 for m in compiled("CORR(age, level)").measures]
    assert moved == [4 * 60, 4, 4 * 60, 4, 4 * 1_800, 4]


def test_an_interval_of_a_root_never_reaches_below_0():
    query = compiled("STDDEV(age) / 2")
    noise = AnswerNoise((18_000.0, 10.0, 600.0))
    (column,) = intervals_of(query, [[-180_000], [100], [0]], noise, Fraction(19, 20))
    (((low, high),),) = (column.rows,)
    assert float(low) == 0
    assert 0 < float(high) <= 60


def test_vectors_are_measured_once_whatever_is_asked_of_them():
    of_one = compiled("STDDEV(age)", "HAVING VAR_POP(age) > 3 ORDER BY COUNT(age)")
    assert len(of_one.measures) == 3
    of_two = compiled("CORR(level, age)", "HAVING REGR_SLOPE(age, level) > 0")
    assert len(of_two.measures) == 6


@pytest.mark.parametrize(
    ("selected", "rule"),
    [
        ("VARIANCE(DISTINCT age)", "aggregate_distinct"),
        ("STDDEV(visits)", "no_bounds"),
        ("CORR(age, sex)", "aggregate_argument"),
        ("STDDEV(GREATEST(LEAST(visits, 5000000000), 0))", "no_bounds"),
    ],
)
def test_what_has_no_bounds_is_refused(selected, rule):
    with pytest.raises(QueryError) as caught:
        compiled(selected)
    assert caught.value.rule == rule


def test_variances_stand_at_the_top_only():
    rolled = (
        "SELECT COUNT(*) AS n FROM (SELECT patient_id, STDDEV(age) AS s "
        "FROM encounters GROUP BY patient_id) AS p WHERE s > 3"
    )
    with pytest.raises(SqlNotAllowedError) as caught:
        compile_query(rolled, HOSPITAL)
    assert caught.value.rule == "aggregate_place"
