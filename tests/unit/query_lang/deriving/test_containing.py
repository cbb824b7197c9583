"""What holds all that is in a cell, by texts alone."""

import pytest

from query_lang.deriving.containing import Containing
from query_lang.deriving.derivations import Vector
from tests.unit.query_lang.deriving.test_derivations import ROWS, TABLE, UNITS, grid_of

ALL = f"SELECT COUNT(*) AS n {ROWS}"
SEVERE = f"{ALL} WHERE severity > 1"
PATIENTS = f"SELECT COUNT(DISTINCT p.patient_id) AS n {ROWS}"


def held(sql, *paid):
    vectors = [Vector(grid_of(each), 1.0) for each in paid]
    return Containing(grid_of(sql), vectors).all_cells()


@pytest.mark.parametrize(
    ("sql", "paid", "cells"),
    [
        (f"{SEVERE} AND sex = 'f'", ALL, 1),
        (f"{SEVERE} AND sex = 'f'", SEVERE, 1),
        (f"{ALL} WHERE severity > 2 AND sex = 'f' AND days > 3", SEVERE, 1),
        (f"{ALL} WHERE sex = 'f' AND days > 3", TABLE, 1 * 4 * 3),
        (f"{ALL} WHERE ward = 'er' AND age > 50", TABLE, 3 * 1 * 3),
        (f"{PATIENTS} WHERE ward = 'er' AND age > 50", UNITS, 3 * 1),
        (f"{PATIENTS} WHERE ward = 'er'", PATIENTS, 1),
    ],
)
def test_what_asks_for_more_is_held_by_what_asked_for_less(sql, paid, cells):
    ((one,),) = held(sql, paid)
    assert one.size == cells


@pytest.mark.parametrize(
    ("sql", "paid"),
    [
        (ALL, SEVERE),
        (f"{ALL} WHERE severity > 1 AND sex = 'f'", f"{ALL} WHERE severity > 2"),
        (f"{ALL} WHERE sex = 'f'", f"{ALL} WHERE days > 3"),
        (SEVERE, PATIENTS),
        (SEVERE, "SELECT COUNT(*) AS n FROM encounters"),
        (f"SELECT SUM(days) AS n {ROWS} WHERE sex = 'f'", f"SELECT SUM(days) {ROWS}"),
    ],
)
def test_what_may_hold_less_or_is_no_count_of_the_same_rows_holds_nothing(sql, paid):
    assert held(sql, paid) is None


def test_each_cell_of_a_table_is_held_by_what_holds_it():
    cells = held(f"{TABLE[:-17]} WHERE days > 3 GROUP BY 1, 2, 3", TABLE, ALL)
    assert {len(cell) for cell in cells} == {2}
    assert {one.size for cell in cells for one in cell} == {1}


def test_what_has_the_fewest_cells_is_read_first():
    paid = [TABLE, f"SELECT sex, COUNT(*) AS n {ROWS} GROUP BY 1", ALL]
    ((*several,),) = held(f"{ALL} WHERE sex = 'f' AND days > 3", *paid)
    assert [one.size for one in several] == [1, 1, 12]
