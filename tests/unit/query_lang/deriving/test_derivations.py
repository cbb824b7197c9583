"""What follows from paid tables, by which weights, and how far its noise reaches."""

import random
from fractions import Fraction

import pytest

from mechanisms.scales.weighted_sums import sum_half_width
from privacy.contributions import NO_BOUNDS, ContributionBounds
from query_lang.binding.bind import bind_query
from query_lang.deriving.derivations import (
    MOST_SOURCES,
    Deriver,
    Effort,
    Taken,
    Vector,
    draws_of,
    least_squares,
    value_of,
)
from query_lang.deriving.grids import grids_of
from query_lang.reading.parse import parse_query
from tests.semantics import hospital

ROWS = "FROM patients AS p JOIN encounters AS e ON e.patient_id = p.patient_id"
TABLE = f"SELECT sex, ward, severity, COUNT(*) AS n {ROWS} GROUP BY 1, 2, 3"
UNITS = f"SELECT sex, ward, COUNT(DISTINCT p.patient_id) AS n {ROWS} GROUP BY 1, 2"


def grid_of(sql, bounds=NO_BOUNDS):
    (grid,) = grids_of(bind_query(parse_query(sql), hospital.DATASET, bounds).plan)
    return grid


def derived(sql, *paid, variances=None):
    sources = [grid_of(each) for each in paid]
    vectors = map(Vector, sources, variances or [1.0] * len(paid))
    return Deriver(grid_of(sql), list(vectors)).all_cells()


FOLLOWS = (
    (TABLE, f"SELECT COUNT(*) AS n {ROWS}"),
    (TABLE, f"SELECT ward, COUNT(*) AS n {ROWS} WHERE sex <> 'f' GROUP BY ward"),
    (TABLE, f"SELECT COUNT(*) AS n {ROWS} WHERE severity > 1 AND ward IS NULL"),
    (TABLE, f"SELECT COUNT(1) AS n {ROWS} WHERE NOT severity BETWEEN 2 AND 3"),
    (TABLE, f"SELECT COUNT(ward) AS n {ROWS}"),
    (TABLE, f"SELECT COUNT(*) AS n {ROWS} WHERE ward = 'er' OR ward IS NULL"),
    (UNITS, f"SELECT ward, COUNT(DISTINCT p.patient_id) AS n {ROWS} GROUP BY ward"),
    (
        UNITS,
        f"SELECT COUNT(DISTINCT e.patient_id) {ROWS} WHERE sex = 'm' AND ward = 'er'",
    ),
)
NEVER = (
    (TABLE, f"SELECT COUNT(*) AS n {ROWS} WHERE days > 3"),
    (TABLE, "SELECT COUNT(*) AS n FROM encounters"),
    (TABLE, f"SELECT COUNT(days) AS n {ROWS}"),
    (TABLE, f"SELECT SUM(severity) AS n {ROWS}"),
    (UNITS, f"SELECT COUNT(DISTINCT p.patient_id) AS n {ROWS}"),
    (UNITS, f"SELECT sex, COUNT(*) AS n {ROWS} GROUP BY sex"),
    (
        f"SELECT ward, COUNT(*) AS n {ROWS} WHERE severity > 1 GROUP BY ward",
        f"SELECT ward, COUNT(*) AS n {ROWS} GROUP BY ward",
    ),
    (
        f"SELECT ward, COUNT(*) AS n {ROWS} WHERE ward IS NOT NULL GROUP BY ward",
        f"SELECT COUNT(*) AS n {ROWS}",
    ),
)


@pytest.mark.parametrize(("paid", "sql"), FOLLOWS)
def test_sums_and_slices_of_a_paid_table_follow(paid, sql):
    assert derived(sql, paid) is not None


@pytest.mark.parametrize(("paid", "sql"), NEVER)
def test_what_is_no_sum_of_whole_cells_does_not_follow(paid, sql):
    assert derived(sql, paid) is None


NUMBERED = (
    "SELECT patient_id, ROW_NUMBER() OVER "
    "(PARTITION BY patient_id ORDER BY days) AS rn FROM encounters"
)


def numbered(rows, where=""):
    joined = f"encounters AS e JOIN ({rows}) AS x ON x.patient_id = e.patient_id"
    return f"SELECT COUNT(DISTINCT e.patient_id) AS n FROM {joined} {where}"


def test_what_a_condition_alone_makes_constant_is_not_of_the_rows_without_it():
    """The first row's number is 1 for everybody, and 1 to 5 before the condition."""
    first = f"SELECT patient_id, rn FROM ({NUMBERED}) AS w WHERE rn = 1"
    paid = numbered(NUMBERED), numbered(NUMBERED, "WHERE x.rn >= 2")
    assert derived(numbered(first, "WHERE x.rn = 1"), *paid) is None
    assert derived(numbered(NUMBERED), paid[0]) is not None


def test_other_bounds_are_other_rows():
    bounds = ContributionBounds(max_rows_per_unit=1)
    vectors = [Vector(grid_of(TABLE, bounds), 1.0)]
    wanted = f"SELECT COUNT(*) AS n {ROWS}"
    assert Deriver(grid_of(wanted), vectors).all_cells() is None


def test_the_rest_of_a_total_follows_from_both():
    total = f"SELECT COUNT(*) AS n {ROWS}"
    women = f"SELECT COUNT(*) AS n {ROWS} WHERE sex = 'f'"
    (cell,) = derived(f"SELECT COUNT(*) AS n {ROWS} WHERE sex <> 'f'", total, women)
    assert sorted((one.vector, one.weight) for one in cell) == [(0, 1), (1, -1)]


def test_a_cell_that_holds_no_row_is_0_and_has_no_noise():
    sql = f"SELECT ward, COUNT(*) AS n {ROWS} WHERE ward = 'er' GROUP BY ward"
    cells = derived(sql, TABLE)
    assert min(map(len, cells)) <= 1
    assert all(cells) == (len(cells) == 1)  # the binder may leave them out


def test_several_ways_are_weighed_by_their_variances():
    total = f"SELECT COUNT(*) AS n {ROWS}"
    (cell,) = derived(total, total, total, variances=[1.0, 3.0])
    assert {one.vector: one.weight for one in cell} == {
        0: Fraction(3, 4),
        1: Fraction(1, 4),
    }


def test_weights_add_up_to_1_whatever_rounding_does():
    rng = random.Random(1)
    for _ in range(50):
        rows = [[rng.uniform(-1, 1) for _ in range(5)] for _ in range(4)]
        table = [[sum(map(float.__mul__, a, b)) for b in rows] for a in rows]
        assert sum(least_squares(table)) == 1
    assert least_squares([[1.0, 1.0], [1.0, 1.0]]) == [1, 0]  # the same estimate twice


def test_draws_that_several_parts_use_are_counted_once():
    cell = (
        Taken(0, Fraction(1), (0b0111, 0b11)),
        Taken(0, Fraction(-1), (0b0100, 0b01)),
        Taken(1, Fraction(2), (0b1,)),
    )
    assert sorted(draws_of(cell)) == [
        (0, 0, 1),
        (0, 1, 5),
        (1, 2, 1),
    ]


def test_intervals_of_derived_numbers_hold_as_often_as_they_say():
    """Draws are made here: a difference of geometric ones is discrete Laplace."""
    rng = random.Random(7)
    paid = TABLE, f"SELECT sex, COUNT(*) AS n {ROWS} GROUP BY sex"
    scales, grids = (6.0, 9.0), [grid_of(each) for each in paid]
    sql = f"SELECT COUNT(*) AS n {ROWS} WHERE sex <> 'f'"
    (cell,) = derived(sql, *paid, variances=[2 * scale**2 for scale in scales])
    assert {one.vector for one in cell} == {0, 1}
    draws = [(weight, scales[v], n) for v, weight, n in draws_of(cell)]
    width = sum_half_width(draws, Fraction(1, 20))

    def noise(scale):
        return int(rng.expovariate(1 / scale)) - int(rng.expovariate(1 / scale))

    held = 0
    for _ in range(2_000):
        noisy = {n: [noise(scales[n]) for _ in range(grids[n].size)] for n in (0, 1)}
        held += abs(value_of(cell, noisy, grids)) <= width
    assert 1_845 <= held < 1_990  # 1,900 or a few more; below 5.6 deviations never


def test_all_measures_of_a_question_share_one_effort():
    """Sixty-four measures over wide tables took half a minute, each with its own."""
    rng = random.Random(1)
    keys = ("sex", "ward", "severity", "e.age", "urgent", "days")
    paid = [
        grid_of(
            f"SELECT {', '.join(rng.sample(keys, 3))}, COUNT(*) AS n {ROWS}"
            f" WHERE days > {n % 9} GROUP BY 1, 2, 3"
        )
        for n in range(32)
    ]
    vectors = [Vector(grid, 1.0 + n) for n, grid in enumerate(paid)]
    wanted = grid_of(
        f"SELECT e.age, sex, COUNT(*) AS n {ROWS} WHERE days > 4 GROUP BY 1, 2"
    )
    effort = Effort()
    found = [Deriver(wanted, vectors, effort).all_cells() for _ in range(64)]
    assert found[0] is not None
    assert found[-1] is None
    assert effort.is_spent


def test_cells_that_many_parts_share_count_as_work():
    effort = Effort(steps=10_000)
    vectors = [Vector(grid_of(TABLE), 1.0)]
    wanted = grid_of(f"SELECT sex, COUNT(*) AS n {ROWS} WHERE ward = 'er' GROUP BY sex")
    assert Deriver(wanted, vectors, effort).all_cells() is not None
    assert effort.steps < 10_000 - 30 * wanted.size


def by_ward(where):
    return f"SELECT ward, COUNT(*) AS n {ROWS} WHERE {where} GROUP BY ward"


def test_the_question_itself_is_found_among_many_that_are_less_noisy():
    others, asked = [by_ward("severity = 3")] * MOST_SOURCES, by_ward("severity < 2")
    found = derived(asked, *others, asked, variances=[1.0] * len(others) + [1e6])
    assert found is not None
    assert all(cell and cell[0].vector == len(others) for cell in found)


def test_tables_of_what_is_not_asked_about_take_no_place():
    others = [f"SELECT COUNT(*) AS n {ROWS} WHERE days > 3"] * MOST_SOURCES
    found = derived(
        by_ward("sex = 'f'"), *others, TABLE, variances=[1.0] * len(others) + [1e6]
    )
    assert found is not None
    assert {one.vector for cell in found for one in cell} == {len(others)}
