from fractions import Fraction

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from privacy.contributions import ContributionBounds
from tests.property.evaluator import Question, evaluate, to_sql
from tests.property.questions import hospitals, questions
from tests.support.compiling import compile_query
from tests.support.data.hospital import ENCOUNTERS, HOSPITAL, connect, create_table, run

pytestmark = pytest.mark.thorough

EXAMPLES = settings(max_examples=250, deadline=None)


@pytest.fixture(scope="module")
def database():
    with connect() as connection:
        yield connection


def compiled(question):
    tables = question.table_rows and (("encounters", question.table_rows),)
    bounds = ContributionBounds(tables or (), question.max_rows, question.max_groups)
    return compile_query(to_sql(question), HOSPITAL, bounds)


def vectors(database, query, rows):
    create_table(database, ENCOUNTERS, rows)
    return run(database, query.rendered)


def moved(before, after):
    """Return L1, L2 squared and L-infinity between two vectors."""
    steps = [abs(a - b) for a, b in zip(before, after, strict=True)]
    return sum(steps), sum(step * step for step in steps), max(steps)


@EXAMPLES
@given(rows=hospitals(), question=questions())
def test_exact_answers_equal_those_of_an_independent_evaluator(
    database, rows, question
):
    query = compiled(question)
    found = vectors(database, query, rows)
    expected = evaluate(question, rows)
    event(f"cells with rows: {min(len(expected), 3)}")
    cells = query.rendered.cells
    assert set(expected) <= set(cells)
    measures = {
        column.name: column.shown.vector
        for column in query.columns[len(question.keys) :]
    }
    for position, name in enumerate(measures):
        counted = dict(zip(cells, found[measures[name]], strict=True))
        for cell in cells:
            expected_count = expected.get(cell, (0, 0))[position]
            assert counted[cell] == expected_count


@EXAMPLES
@given(rows=hospitals(), question=questions(), data=st.data())
def test_removing_any_unit_moves_no_vector_further_than_its_sensitivity(
    database, rows, question, data
):
    assume(rows)
    query = compiled(question)
    unit = data.draw(st.sampled_from(sorted({row["unit"] for row in rows})))
    others = [row for row in rows if row["unit"] != unit]
    before, after = vectors(database, query, rows), vectors(database, query, others)
    for measure, with_unit, without in zip(query.measures, before, after, strict=True):
        l1, l2_squared, linf = moved(with_unit, without)
        event(f"attained: {Fraction(l1) == measure.sensitivity.l1}")
        assert l1 <= measure.sensitivity.l1
        assert l2_squared <= measure.sensitivity.l2_squared
        assert linf <= measure.sensitivity.linf


def one_patient(**columns):
    """Return four rows of one unit, each column a list of four or one value."""
    base = {
        "sex": "f",
        "ward": "north",
        "level": 1,
        "dose": None,
        "admitted": None,
        "urgent": False,
    }
    rows = []
    for index in range(4):
        row = {"unit": 1, "row_hash": index, "row_rank": index + 1, **base}
        for name, values in columns.items():
            row[name] = values[index]
        rows.append(row)
    return rows


WARDS = ["north", "south", None, "north"]
ATTAINED = [
    (Question(("rows",)), {}, (4, 16, 4)),
    (Question(("rows",), ("sex",)), {}, (4, 16, 4)),
    (Question(("rows",), ("ward",), max_rows=3), {}, (3, 9, 3)),
    (Question(("rows",), table_rows=2), {}, (2, 4, 2)),
    (Question(("units",)), {}, (1, 1, 1)),
    (Question(("units",), ("sex",)), {}, (1, 1, 1)),
    (Question(("units",), ("ward",)), {"ward": WARDS}, (3, 3, 1)),
    (Question(("units",), ("ward", "sex")), {"ward": WARDS}, (3, 3, 1)),
    (Question(("units",), ("ward",), max_groups=2), {"ward": WARDS}, (2, 2, 1)),
    (
        Question(("units",), ("ward", "level")),
        {"ward": WARDS, "level": [1, 2, 3, 2]},
        (4, 4, 1),
    ),
]


@pytest.mark.parametrize(("question", "columns", "norms"), ATTAINED)
def test_one_patient_can_move_each_vector_by_exactly_its_sensitivity(
    database, question, columns, norms
):
    query = compiled(question)
    rows = one_patient(**columns)
    before, after = vectors(database, query, rows), vectors(database, query, [])
    stated = query.measures[0].sensitivity
    assert moved(before[0], after[0]) == norms
    assert (stated.l1, stated.l2_squared, stated.linf) == norms
