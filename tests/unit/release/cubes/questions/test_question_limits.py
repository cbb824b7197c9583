"""What would take a release too long is refused before anything is evaluated on it."""

import time
import tracemalloc
from threading import Thread

import numpy as np
import pytest

from privacy.errors import QueryError
from privacy.schema import ColumnType
from query_lang.reading.parse import parse_query
from release.contract.domain import CubeDomain, Dimension
from release.cubes.models.sparse import SparseModel
from release.cubes.questions.answering import AskedCube
from release.cubes.questions.binding.binding import CubeBinder
from release.cubes.questions.evaluating.effort import MAX_STEPS, Effort
from release.cubes.questions.evaluating.engine import PublicEngine, PublicEngineError
from release.cubes.questions.evaluating.evaluation import PublicValues
from release.cubes.questions.evaluating.keeping import Keeper
from release.cubes.questions.evaluating.measuring import Measurer
from tests.support.installations.clocks import pass_hours
from tests.unit.release.cubes.asked_cubes import DIMENSIONS, ask, cells_cube

SUM = "CASE WHEN a + b > c THEN 1 ELSE 0 END"
SECONDS = 1.0  # of processor time, where milliseconds are enough
MEBIBYTE = 2**20


def sparse_cube(side):
    """Return a cube of ``side`` cubed cells, of which two are known."""
    dimensions = tuple(
        Dimension(name, ColumnType.INTEGER, tuple(range(side)), ordered=True)
        for name in "abc"
    )
    cube, _ = cells_cube(dimensions[:1], values=np.zeros(side, dtype=np.int64))
    domain = CubeDomain(dimensions, 1)
    cube = type(cube)(
        id="rel_1",
        name="cube",
        domain=domain,
        counts="rows",
        unit="patient",
        unit_column="patient_id",
        snapshot_date=cube.snapshot_date,
    )
    cells = np.array([1, 5])
    return cube, SparseModel(domain, cells, np.array([9, 9]), 1.0, 5, 20, 1.0)


def refusal(cube, sql):
    """Return a refusal's rule, its seconds of processor time and its most memory."""
    asked = AskedCube(*cube)
    tree = parse_query(sql)
    tracemalloc.start()
    start = time.thread_time()
    try:
        with pytest.raises(QueryError) as refused:
            asked.ask(tree)
        seconds = time.thread_time() - start
        return refused.value.rule, seconds, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        asked.close()


BOMBS = [
    (f"SELECT {SUM} AS g, COUNT(*) FROM cube GROUP BY {SUM}", 200),
    ("SELECT COUNT(CASE WHEN a + b > c THEN 1 END) FROM cube", 200),
    (f"SELECT SUM({SUM}) FROM cube", 200),
    ("SELECT COUNT(*) FROM cube WHERE a + b > c", 200),
    ("SELECT COUNT(*) FROM cube WHERE a = 1 OR a + b > c", 200),
]


@pytest.mark.parametrize(("sql", "side"), BOMBS)
def test_expressions_over_too_many_combinations_are_refused_at_once(sql, side):
    rule, seconds, memory = refusal(sparse_cube(side), sql)

    assert rule == "many_combinations"
    assert seconds < SECONDS
    assert memory < 32 * MEBIBYTE


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {SUM} AS g, COUNT(*) FROM cube GROUP BY {SUM}",
        "SELECT COUNT(CASE WHEN a + b > c THEN 1 END) FROM cube",
        f"SELECT AVG({SUM}) FROM cube",
        "SELECT COUNT(*) FROM cube WHERE a + b > c",
    ],
)
@pytest.mark.parametrize("side", [290, 10_000])
def test_masks_over_more_cells_than_are_held_are_refused_at_once(sql, side):
    rule, seconds, memory = refusal(sparse_cube(side), sql)

    assert rule == "cell_mask"
    assert seconds < SECONDS
    assert memory < 32 * MEBIBYTE


def test_many_aggregates_together_pass_over_no_more_cells_than_one_may():
    counts = [f"COUNT(CASE WHEN a + {n} > b THEN 1 END) AS n{n}" for n in range(30)]
    dimensions = [
        Dimension(name, ColumnType.INTEGER, tuple(range(size)))
        for name, size in (("a", 400), ("b", 400), ("c", 100))
    ]
    cube = cells_cube(dimensions, values=np.zeros(16_000_000, dtype=np.int64))

    rule, *_ = refusal(cube, f"SELECT {', '.join(counts)} FROM cube")

    assert rule == "much_work"


def test_all_sums_of_a_question_add_up_no_more_numbers_than_one_may():
    dimensions = [
        Dimension(name, ColumnType.INTEGER, tuple(range(800))) for name in ("a", "b")
    ]
    cube = cells_cube(dimensions, values=np.zeros(640_000, dtype=np.int64))

    asked = ask(cube, "SELECT a, SUM(b) FROM cube GROUP BY a")
    rule, *_ = refusal(cube, "SELECT a, SUM(b), SUM(b + 1) FROM cube GROUP BY a")

    assert len(asked.rows) == 800
    assert rule == "many_values"


ASKED = [
    "SELECT COUNT(*) FROM cube",
    "SELECT COUNT(*) FROM cube WHERE a = 3 OR b > 7",
    "SELECT COUNT(*) FROM cube WHERE a + b > 9",
    "SELECT a, COUNT(*), SUM(b) FROM cube WHERE b IN (1, 3) GROUP BY a",
    "SELECT AVG(b) FROM cube WHERE a + 1 > 3",
    "SELECT COUNT(CASE WHEN a > b THEN 1 END) AS n FROM cube",
]


def square():
    """Return a cube of two dimensions."""
    dimensions = [
        Dimension(name, ColumnType.INTEGER, tuple(range(20))) for name in ("a", "b")
    ]
    return cells_cube(dimensions, values=np.zeros(400, dtype=np.int64))


def laid(sql, steps=MAX_STEPS, values=None):
    """Return a question laid over the square, checked, and what it was counted for."""
    cube, _ = square()
    question = CubeBinder(cube).bind(parse_query(sql))
    effort = Effort(question.position, steps)
    measurer = Measurer(question, cube, values or PublicValues(cube), effort)
    measurer.check()
    return effort, measurer


@pytest.mark.parametrize("sql", ASKED)
def test_steps_are_the_same_whatever_was_evaluated_before(sql):
    values = PublicValues(square()[0])

    first, again = (laid(sql, values=values) for _ in range(2))
    new = laid(sql)

    counted = [(e.spent, m.further_steps()) for e, m in (first, again, new)]
    assert counted == [counted[0]] * 3


@pytest.mark.parametrize("sql", ASKED[1:])
def test_a_question_is_answered_at_its_steps_and_refused_one_below(sql):
    spent = laid(sql)[0].spent

    laid(sql, spent)
    with pytest.raises(QueryError) as refused:
        laid(sql, spent - 1)

    assert spent > 0
    assert refused.value.rule == "too_long"


@pytest.mark.parametrize("sql", ASKED)
def test_what_is_checked_needs_no_further_steps_to_be_answered(sql, monkeypatch):
    effort, measurer = laid(sql)
    total = effort.spent + measurer.further_steps()

    monkeypatch.setattr("release.cubes.questions.evaluating.effort.MAX_STEPS", total)
    assert ask(square(), sql).rows
    monkeypatch.setattr(
        "release.cubes.questions.evaluating.effort.MAX_STEPS", total - 1
    )
    with pytest.raises(QueryError) as refused:
        ask(square(), sql)

    assert refused.value.rule == "too_long"


@pytest.mark.parametrize("sql", ASKED)
def test_no_clock_decides_whether_there_is_an_answer(sql, monkeypatch):
    expected = ask(square(), sql)

    monkeypatch.setattr(
        "release.cubes.questions.evaluating.engine.SAFETY_SECONDS", float("inf")
    )
    pass_hours(monkeypatch)

    assert ask(square(), sql) == expected


LONG = " + ".join(f"(a * {n} + b) / NULLIF(b - {n}, 0)" for n in range(12))


def test_a_long_expression_is_refused_before_it_is_evaluated():
    dimensions = [
        Dimension(name, ColumnType.INTEGER, tuple(range(499))) for name in ("a", "b")
    ]
    cube = cells_cube(dimensions, values=np.zeros(499**2, dtype=np.int64))

    rule, seconds, memory = refusal(
        cube, f"SELECT COUNT(*) FROM cube WHERE {LONG} + {LONG} > 3"
    )

    assert rule == "too_long"
    assert seconds < SECONDS
    assert memory < 32 * MEBIBYTE


def test_waiting_for_others_refuses_nobody(monkeypatch):
    values = PublicValues(square()[0])
    monkeypatch.setattr(
        "release.cubes.questions.evaluating.engine.SAFETY_SECONDS", float("inf")
    )
    pass_hours(monkeypatch)
    answered = []
    other = Thread(target=lambda: answered.append(laid(ASKED[1], values=values)))

    with values.lock:
        other.start()
        other.join(0.2)
        assert answered == []
    other.join(30)

    assert len(answered) == 1


def test_an_engine_that_fails_is_an_incident_and_no_refusal():
    engine = PublicEngine()
    cursor = engine.cursor()

    with pytest.raises(PublicEngineError), engine.watched(cursor):
        cursor.execute("SELECT error('broken')").fetchall()

    assert engine.incidents.failed == 1


def test_cubes_share_one_engine_and_see_nothing_of_each_other():
    engine = PublicEngine()
    small = Dimension("a", ColumnType.INTEGER, (1, 2))
    large = Dimension("a", ColumnType.INTEGER, (5, 6))
    asked = []
    for dimension in (small, large):
        cube, model = cells_cube((dimension,), values=np.array([3, 4]))
        asked.append(AskedCube(cube, model, PublicValues(cube, engine)))
    tree = parse_query("SELECT COUNT(*) AS n FROM cube WHERE a + 1 > 2")

    assert [one.ask(tree).rows for one in asked] == [((4,),), ((7,),)]
    assert engine.kept.held_bytes > 0


def test_what_is_kept_is_bounded_in_bytes_and_the_oldest_goes_first():
    keeper = Keeper(100, 60)
    for name in "abc":
        keeper.put(name, name, 40)
    keeper.put("large", "large", 61)
    keeper.put("c", "new", 40)

    assert [keeper.get(name) for name in "abc"] == [None, "b", "new"]
    assert keeper.get("large") is None
    assert keeper.held_bytes == 80


CONDITIONS = [
    "sex = 'F' OR age > 30",
    "NOT (sex = 'F' OR age > 30)",
    "NOT (sex = 'F' AND NOT (block = 'E10-E14' OR age < 25))",
    "(sex = 'M' AND block IS NULL) OR (age < 25 AND NOT died)",
    "sex = 'F' OR block = 'E10-E14' OR sex = 'M' OR age = 33",
    "(block = 'E10-E14') = (sex = 'F')",
    "age > 30 OR (block = 'E10-E14') = (sex = 'F') OR (sex = 'M') = died",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_taken_apart_mean_what_the_engine_says_of_them_whole(condition):
    cube = cells_cube(DIMENSIONS[:3] + DIMENSIONS[4:])

    (apart,) = ask(cube, f"SELECT COUNT(*) FROM cube WHERE {condition}").rows
    whole = ask(
        cube,
        f"SELECT CASE WHEN {condition} THEN 1 ELSE 0 END AS g, COUNT(*) FROM cube "
        f"GROUP BY CASE WHEN {condition} THEN 1 ELSE 0 END",
    ).rows

    assert apart[0] == dict(whole)[1]
