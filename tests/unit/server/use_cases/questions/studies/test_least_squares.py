"""Whole cells that agree best with a table and coarser ones."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.samplers.queries import QuerySampler
from mechanisms.scales.noises import GAUSSIAN, LAPLACE
from server.use_cases.questions.studies.least_squares import MOST_LAWS, Fit, Layout

SEXES, WARDS = 2, 4
CELLS = SEXES * WARDS
BASE = np.eye(CELLS)
BY_SEX = np.kron(np.eye(SEXES), np.ones(WARDS))
BY_WARD = np.kron(np.ones(SEXES), np.eye(WARDS))
TOTAL = np.ones((1, CELLS))
MISS = Fraction(5, 100)


def layout(*coarse):
    rows = np.concatenate([np.zeros((0, CELLS)), *coarse])
    tables = tuple(n for n, each in enumerate(coarse) for _ in each)
    return Layout(rows, tables, (BASE, BY_SEX, BY_WARD, TOTAL))


def fit(*coarse, noise=LAPLACE, scales=(5.0, 7.0, 3.0)):
    return Fit(layout(*coarse), noise, tuple(scales[: 1 + len(coarse)]))


def exact(cells, *coarse):
    return [cells, *([int(n) for n in rows @ np.array(cells)] for rows in coarse)]


@given(
    st.lists(st.integers(-(10**12), 10**12), min_size=CELLS, max_size=CELLS),
    st.floats(0.5, 1e6),
    st.floats(0.5, 1e6),
)
def test_exact_tables_give_their_own_cells_whatever_the_scales(cells, one, other):
    found = fit(BY_SEX, TOTAL, scales=(10.0, one, other))
    assert found.cells(exact(cells, BY_SEX, TOTAL)) == cells


@given(st.data())
def test_all_numbers_add_up_exactly(data):
    numbers = st.integers(-(10**6), 10**6)
    vectors = [
        data.draw(st.lists(numbers, min_size=n, max_size=n)) for n in (CELLS, SEXES, 1)
    ]
    found = fit(BY_SEX, TOTAL)
    cells = found.cells(vectors)
    assert found.numbers(0, cells) == cells
    (total,) = found.numbers(3, cells)
    assert total == sum(found.numbers(1, cells)) == sum(found.numbers(2, cells))


def test_rounding_moves_a_running_sum_by_half_a_step_at_most():
    found = fit(BY_SEX, TOTAL)
    vectors = [[0] * CELLS, [1, 0], [0]]
    gains = found._gains @ np.array([1.0, 0.0, 0.0]) / 2**20
    running = np.cumsum(found.cells(vectors)) - np.cumsum(gains)
    assert np.abs(running).max() <= 0.5


@given(st.data())
def test_half_widths_count_what_rounding_can_do(data):
    found = fit(BY_SEX, TOTAL)
    vectors = [
        data.draw(st.lists(st.integers(-50, 50), min_size=n, max_size=n))
        for n in (CELLS, SEXES, 1)
    ]
    coarse = np.concatenate([BY_SEX, TOTAL])
    surprises = np.concatenate(vectors[1:]) - coarse @ vectors[0]
    fitted = vectors[0] + found._gains @ surprises / 2**20
    cells = found.cells(vectors)
    for question, rows in enumerate(found.layout.wanted):
        moved = np.abs(found.numbers(question, cells) - rows @ fitted)
        most = [float(found._turn(row)) for row in rows]
        assert (moved <= np.array(most) + 1e-9).all()
    assert [float(found._turn(row)) for row in BY_SEX] == [0.5, 1]
    assert [float(found._turn(row)) for row in BY_WARD] == [1.5, 2, 2, 2]


def test_a_base_table_alone_is_shown_as_it_was_drawn():
    cells = list(range(-3, 5))
    found = fit()
    assert found.cells([cells]) == cells
    assert found.widths(0, MISS) == [LAPLACE.half_width(5.0, 1 - MISS)] * CELLS


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
def test_a_coarser_table_makes_its_own_numbers_narrower(noise):
    alone, beside = fit(noise=noise), fit(BY_SEX, noise=noise)
    assert max(beside.widths(1, MISS)) < min(alone.widths(1, MISS))
    assert max(beside.widths(0, MISS)) <= min(alone.widths(0, MISS)) + 1


def test_the_same_weights_bring_the_least_variance_there_is():
    found = fit(BY_SEX, TOTAL, noise=GAUSSIAN)
    tables = np.concatenate([BASE, BY_SEX, TOTAL])
    precision = np.diag([1 / 25] * CELLS + [1 / 49] * SEXES + [1 / 9])
    least = np.linalg.inv(tables.T @ precision @ tables)
    gains = found._gains / 2**20
    taken = np.concatenate([BASE - gains @ np.concatenate([BY_SEX, TOTAL]), gains], 1)
    variance = taken @ np.linalg.inv(precision) @ taken.T
    assert np.allclose(np.diag(variance), np.diag(least), rtol=1e-4)


@pytest.mark.statistical
@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
def test_intervals_after_least_squares_hold_as_often_as_they_say(noise):
    draws, sampler = 3_000, QuerySampler()
    found = fit(BY_SEX, TOTAL, noise=noise, scales=(50.0, 70.0, 30.0))
    draw = sampler.discrete_laplace if noise is LAPLACE else sampler.discrete_gaussian
    sizes = (CELLS, SEXES, 1)
    drawn = [
        np.array(draw([0] * (size * draws), scale)).reshape(draws, size)
        for size, scale in zip(sizes, found.scales, strict=True)
    ]
    widths = [np.array(found.widths(n, MISS)) for n in range(4)]
    missed = [np.zeros(len(each)) for each in widths]
    for n in range(draws):
        cells = found.cells([table[n].tolist() for table in drawn])
        for question, width in enumerate(widths):
            numbers = np.abs(found.numbers(question, cells))
            missed[question] += numbers > width
    # 5 % of 3,000 and five standard deviations; far fewer tell of intervals too wide
    for each in missed:
        assert each.max() <= 150 + 5 * 12
    assert min(each.min() for each in missed) >= 66 - 5 * 8


def test_more_kinds_of_sums_than_are_looked_at_have_no_widths():
    cells = MOST_LAWS + 1
    rows = np.tril(np.ones((cells, cells)))
    many = Layout(np.zeros((0, cells)), (), (rows,))
    assert Fit(many, LAPLACE, (5.0,)).widths(0, MISS) is None
