"""What an accuracy of averages costs, and that noise at that price keeps to it."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from mechanisms.scales.noises import GAUSSIAN, LAPLACE, noise_of_measure
from mechanisms.scales.pricing import price
from privacy.errors import InvalidLossError, InvalidOptionError
from privacy.losses import Loss
from privacy.measures import PURE, Measure
from query_lang.showing.values import ShownValues
from server.use_cases.questions.requests import Accuracy
from server.use_cases.questions.wishes.averages import DrawnNoise, averages_keep_to
from server.use_cases.questions.wishes.prices import priced_wish, vectors_of
from server.use_cases.questions.wishes.ranges import LossRange
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL
from tests.support.noise.averages import (
    gaussian_above,
    laplace_above,
    miss_of_average,
)

SURE = Fraction(95, 100)
RHO = Measure("zcdp", Loss.parse("0.000001"))
RANGES = [
    LossRange(Loss.parse("0.001"), Loss.parse("50")),
    LossRange(Loss.parse("0.000001"), Loss.parse("50"), RHO),
]
ABOVE = {LAPLACE: laplace_above, GAUSSIAN: gaussian_above}
MEAN = "SELECT AVG(age) AS years FROM encounters"
BY_SEX = "SELECT sex, AVG(age) AS years FROM encounters GROUP BY sex"
WISH = Accuracy(Fraction(1, 2), SURE, rows=4_000)


@cache
def question(sql):
    return compile_query(sql, HOSPITAL)


def priced(sql, losses=RANGES[0], wish=WISH):
    return priced_wish(question(sql), losses, wish, lambda _: None)


def scales_at(sql, loss, measure=PURE):
    event = price(*vectors_of(question(sql)), loss, measure)
    return [vector.scale for vector in event.vectors]


def worst_miss(losses, scales, wish, bounds=(0, 120)):
    """Return how often averages miss at the worst data with just so many values."""
    noise, (lower, upper) = noise_of_measure(losses.measure), bounds
    above = [ABOVE[noise](scale) for scale in scales]
    at_ends = [lower, upper, upper - float(wish.within) - 1 / wish.rows]
    return max(
        miss_of_average(
            *above,
            reach=math.ceil(60 * scales[1]),
            total=round(mean * wish.rows),
            rows=wish.rows,
            within=float(wish.within),
            bounds=bounds,
        )
        for mean in [*at_ends, (lower + upper) / 2]
    )


@pytest.mark.parametrize("losses", RANGES, ids=["epsilon", "rho"])
@pytest.mark.parametrize("rows", [4_000, 20_000])
def test_noise_at_the_price_moves_no_average_further_at_the_worst_data(losses, rows):
    wish = replace(WISH, rows=rows)
    scales = scales_at(MEAN, priced(MEAN, losses, wish).loss, losses.measure)
    miss = worst_miss(losses, scales, wish)
    assert 0.02 < miss <= 0.05
    doubled = worst_miss(losses, [2 * scale for scale in scales], wish)
    assert doubled > 0.05


@pytest.mark.parametrize("losses", RANGES, ids=["epsilon", "rho"])
def test_of_values_in_narrow_bounds_little_more_is_paid_than_has_to_be(losses):
    sql = "SELECT AVG(level) AS x FROM encounters"
    wish = Accuracy(Fraction(1, 10), SURE, rows=2_000)
    scales = scales_at(sql, priced(sql, losses, wish).loss, losses.measure)
    assert 0.03 < worst_miss(losses, scales, wish, (1, 3)) <= 0.05


@pytest.mark.parametrize("losses", RANGES, ids=["epsilon", "rho"])
def test_within_is_in_the_columns_unit_and_noise_in_steps_of_its_grid(losses):
    sql = "SELECT AVG(dose) AS x FROM encounters"  # 0.5 or 1.5, in steps of 0.1
    wish = Accuracy(Fraction(1, 10), SURE, rows=4_000)
    scales = scales_at(sql, priced(sql, losses, wish).loss, losses.measure)
    in_steps = replace(wish, within=Fraction(1))
    assert 0.03 < worst_miss(losses, scales, in_steps, (5, 15)) <= 0.05


def test_what_is_shown_is_as_near_as_is_wished_with_its_rounding():
    """Shown by the house's own code, at the ends of what the bound takes as kept."""
    compiled = question(MEAN)
    (column,) = compiled.columns
    rows, within = WISH.rows, WISH.within
    for mean in (0, 17, 119, 120):
        for off in (-900, -7, 0, 1, 33):
            for sign in (-1, 1):
                end = (mean + sign * within) * (rows + off)
                step = math.floor(end) if sign > 0 else math.ceil(end)
                values = ShownValues(compiled, [[step], [rows + off]])
                (shown,) = values.column(column.shown)
                assert abs(Fraction(shown) - mean) <= within + Fraction(1, 2 * 10**6)


def test_more_rows_a_greater_within_or_less_confidence_make_it_cheaper():
    whole = priced(MEAN).loss
    for easier in (
        replace(WISH, rows=4_001),
        replace(WISH, within=Fraction(51, 100)),
        replace(WISH, confidence=Fraction(9, 10)),
    ):
        assert priced(MEAN, wish=easier).loss < whole


def test_one_nano_less_does_not_keep_to_it():
    loss = priced(MEAN).loss
    law = LAPLACE.sums
    for nano, keeps in ((loss.nano_epsilon, True), (loss.nano_epsilon - 1, False)):
        noise = DrawnNoise.of_scales(scales_at(MEAN, Loss(nano)).__getitem__, law)
        assert averages_keep_to(question(MEAN), WISH, WISH.rows, noise) == keeps


def test_all_cells_at_once_cost_more_than_each_and_most_of_them_less():
    each = priced(BY_SEX).loss
    every = priced(BY_SEX, wish=replace(WISH, cells=Fraction(1))).loss
    most = priced(BY_SEX, wish=replace(WISH, cells=Fraction(1, 2))).loss
    assert every > each > most
    cells = len(question(BY_SEX).rendered.cells)
    miss = worst_miss(RANGES[0], scales_at(BY_SEX, every), WISH)
    assert 0.02 < 1 - (1 - miss) ** cells <= 0.05
    miss = worst_miss(RANGES[0], scales_at(BY_SEX, most), WISH)
    assert cells == 3
    assert 3 * miss**2 * (1 - miss) + miss**3 <= 0.05  # more than one of three


def test_the_average_that_needs_the_most_is_paid_for():
    both = "SELECT AVG(age) AS years, AVG(level) AS level FROM encounters"
    loss = priced(both).loss
    assert loss > priced(MEAN).loss
    scales = scales_at(both, loss)
    assert worst_miss(RANGES[0], scales[:2], WISH) <= 0.05
    assert worst_miss(RANGES[0], scales[2:], WISH, (1, 3)) <= 0.05


def test_what_is_no_average_is_held_to_nothing():
    more = "SELECT AVG(age) AS years, COUNT(age) AS n FROM encounters"
    assert priced(more).loss == priced(MEAN).loss  # the count is the average's own


def test_what_is_computed_of_averages_and_what_having_reads_is_of_them():
    for sql in (
        "SELECT ROUND(AVG(age - 60) + 60, 1) AS years FROM encounters",
        "SELECT sex, COUNT(age) AS n FROM encounters GROUP BY sex HAVING AVG(age) > 9",
    ):
        assert priced(sql, wish=replace(WISH, rows=9_000)).loss > RANGES[0].minimum


MANY = (
    f"SELECT {', '.join(f'AVG(age + {n}) AS a{n}' for n in range(17))} FROM encounters"
)


def test_it_is_priced_by_public_facts_alone():
    wish = priced(MEAN)
    assert (wish.known, wish.probe, wish.at_best) == (None, None, None)


@pytest.mark.parametrize(
    ("sql", "wish", "said"),
    [
        (MEAN, replace(WISH, rows=None), r'say for how many .*"rows": 100'),
        (MEAN, replace(WISH, rows=100), r"by more than 0\.5: ask .* rows .244 at"),
        (MEAN, replace(WISH, within=Fraction(1, 10**7)), r"shown with 6 digits"),
        ("SELECT COUNT(*) AS n FROM encounters", WISH, "has none: leave it out"),
        ("SELECT STDDEV(age) AS x FROM encounters", WISH, "STDDEV and the like"),
        ("SELECT AVG(age) / AVG(level) AS x FROM encounters", WISH, "not of ratios"),
        ("SELECT MEDIAN(age) AS x FROM encounters", WISH, "for a quantile"),
        (MANY, WISH, "at most 32 numbers .* this has 34; ask in several"),
        (
            "SELECT sex, AVG(age) AS x FROM encounters GROUP BY ROLLUP (sex)",
            WISH,
            "GROUPING SETS with epsilon",
        ),
    ],
)
def test_what_it_does_not_fit_is_refused_with_what_helps(sql, wish, said):
    with pytest.raises(InvalidOptionError, match=said):
        priced(sql, wish=wish)


def test_what_is_too_dear_is_refused_with_what_the_most_brings():
    with pytest.raises(InvalidLossError, match=r"you allow; that brings ± 1\.\d+ in"):
        priced(MEAN, wish=replace(WISH, at_most="1"))
    with pytest.raises(InvalidLossError, match=r"cells of 300 values are too small"):
        priced(MEAN, wish=replace(WISH, rows=300, at_most="0.01"))
    near = Accuracy(Fraction(199, 100), SURE, rows=4_000, at_most="1")
    assert priced(MEAN, wish=near).loss <= Loss.parse("1")


def test_the_mean_of_what_was_paid_keeps_to_a_little_less():
    losses, compiled = RANGES[1], question(MEAN)
    wish = replace(WISH, rows=40_000)
    loss = priced(MEAN, losses, wish).loss
    scales = scales_at(MEAN, Loss(loss.nano_epsilon // 2), losses.measure)

    def mean(vector):
        return [(Fraction(1, 2), scales[vector])] * 2

    noise = DrawnNoise(mean, GAUSSIAN.sums, rounded=Fraction(1, 2))
    for within, keeps in ((Fraction(52, 100), True), (Fraction(1, 2), False)):
        wished = replace(wish, within=within)
        assert averages_keep_to(compiled, wished, wish.rows, noise) == keeps
