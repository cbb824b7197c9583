"""When an answer is useful, and how its half-widths are read."""

from math import inf, log

import duckdb
import pytest

from benchmarks.economy.asking import Cell, cells_of
from benchmarks.economy.questions import (
    PATIENTS,
    Kind,
    Meaning,
    Measure,
    Question,
)
from benchmarks.economy.runs import Fate
from benchmarks.economy.smartnoise import priced
from benchmarks.economy.usefulness import (
    is_useful,
    outside,
    seems_useful,
    tolerance,
    truths,
)

LARGE = Question(0, "heart", Kind.COUNT, Meaning("patients", PATIENTS), "SELECT 4000")
SMALL = Question(1, "heart", Kind.COUNT, Meaning("patients", PATIENTS), "SELECT 19")
DAYS = Question(
    2,
    "heart",
    Kind.AVERAGE,
    Meaning("patients", Measure("average", "days"), keys=("a1c",)),
    "SELECT a1c, AVG(days) FROM patients GROUP BY a1c",
)


@pytest.fixture(scope="module")
def known():
    with duckdb.connect() as rows:
        rows.execute(
            "CREATE TABLE patients AS SELECT 5 AS days,"
            " CASE WHEN i < 19 THEN 'over 8' ELSE 'none' END AS a1c"
            " FROM range(500) AS made(i)"
        )
        return truths(rows, [LARGE, SMALL, DAYS])


def answer(rows, **more):
    columns = [{"name": f"c{place}"} for place in range(len(rows[0]))]
    return {"columns": columns, "rows": rows, **more}


@pytest.mark.parametrize(
    ("number", "is_count", "expected"),
    [(4_000, True, 400), (150, True, 20), (0, True, 20), (5, False, 0.5)],
)
def test_a_tenth_is_near_enough_and_of_small_counts_twenty(number, is_count, expected):
    assert tolerance(number, is_count=is_count) == expected


def test_a_count_is_useful_if_its_half_width_is_a_tenth_of_the_truth(known):
    assert is_useful([Cell((), 4_300.0, 400.0)], known[0])
    assert not is_useful([Cell((), 4_300.0, 401.0)], known[0])
    assert seems_useful([Cell((), 4_500.0, 401.0)], is_count=True)
    assert not seems_useful([Cell((), 4_300.0, 401.0)], is_count=True)
    assert outside([Cell((), 4_300.0, 200.0)], known[0]) == 1


def test_below_twenty_nobody_could(known):
    assert [known[number].is_too_small for number in range(3)] == [False, True, False]


def test_a_mean_over_few_rows_does_not_count(known):
    cells = [Cell(("none",), 5.0, 0.4), Cell(("over 8",), None, inf)]
    assert is_useful(cells, known[2])
    assert not is_useful([Cell(("none",), 5.0, 0.6)], known[2])


def test_half_widths_are_those_of_the_row_the_interval_or_the_column():
    own = [{"column": "c1", "rows": ["7", "9"]}]
    pairs = [{"column": "c1", "rows": [["1", "5"], ["2", None]]}]
    noise = [{"column": "c1", "half_width_95": "30"}]
    rows = [["F", 3], ["M", 4]]
    for more, widths in (
        ({"half_widths": own, "intervals": pairs}, [7, 9]),
        ({"intervals": pairs, "noise": noise}, [2, inf]),
        ({"noise": noise}, [30, 30]),
    ):
        assert [cell.half_width for cell in cells_of(answer(rows, **more))] == widths


def test_smartnoises_price_of_a_count_is_its_rows_by_epsilon(known):
    enough = 2 * log(20) / 400  # for two questions
    for cap, fate in ((enough * 1.01, Fate.USEFUL), (enough * 0.99, Fate.NOISY)):
        found = priced(cap, [LARGE, SMALL], known)
        assert found.number() == found.number(fate) == 1
