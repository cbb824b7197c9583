"""Conditions that are looked up are what the engine says that they are."""

from datetime import date
from random import Random

import numpy as np
import pytest

from privacy.errors import SqlNotAllowedError
from privacy.schema import ColumnType
from query_lang.plans.expressions import (
    TRUTH,
    Call,
    Constant,
    Facts,
    FieldRef,
    Function,
)
from query_lang.reading.parse import parse_query
from release.contract.domain import Dimension
from release.cubes.questions.binding.binding import CubeBinder
from release.cubes.questions.evaluating import lookups
from release.cubes.questions.evaluating.effort import Effort
from release.cubes.questions.evaluating.evaluation import PublicValues
from tests.effort import rounds
from tests.unit.release.cubes.asked_cubes import cells_cube

DIMENSIONS = (
    Dimension("sex", ColumnType.TEXT, ("F", "M", None)),
    Dimension("code", ColumnType.TEXT, ("a", "B", "ä", "Z", "10", "9", "", "a ")),
    Dimension("age", ColumnType.INTEGER, (*range(-3, 18), None), ordered=True),
    Dimension("day", ColumnType.DATE, tuple(date(2024, 2, n) for n in range(1, 30))),
    Dimension("died", ColumnType.BOOLEAN, (False, True, None)),
)
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


def literal(dice, dimension):
    """Return a literal of a dimension, of a value that it has or has not."""
    value = dice.choice([value for value in dimension.values if value is not None])
    match value:
        case bool():
            return str(value).upper()
        case int():
            return dice.choice([str(value), str(value + 30), f"{value}.5"])
        case date():
            return f"DATE '{value}'"
        case _:
            return f"'{dice.choice([value, 'other'])}'"


def condition(dice, dimension, depth=2):
    """Return a random condition on one dimension."""
    name, one = dimension.name, lambda: literal(dice, dimension)
    if depth and dice.random() < 0.6:
        left, right = (condition(dice, dimension, depth - 1) for _ in range(2))
        joins = [f"({left} AND {right})", f"({left} OR {right})", f"(NOT {left})"]
        return dice.choice(joins)
    if dimension.type is ColumnType.BOOLEAN:
        return dice.choice([name, f"{name} = {one()}", f"{name} IS NULL"])
    forms = [f"{name} {operator} {one()}" for operator in COMPARISONS]
    forms += [f"{name} IN ({one()}, {one()})", f"{name} NOT IN ({one()})"]
    forms += [f"{name} BETWEEN {one()} AND {one()}", f"{name} IS NOT NULL"]
    return dice.choice(forms)


def texts(dice, count):
    """Return random texts with conditions and a CASE on one dimension each."""
    for _ in range(count):
        dimension = dice.choice(DIMENSIONS)
        first, second, third = (condition(dice, dimension) for _ in range(3))
        case = f"CASE WHEN {first} THEN 7 WHEN {second} THEN -2 ELSE 0 END"
        yield f"SELECT SUM({case}) AS s FROM cube WHERE {third}"


def evaluated(cube, values, text):
    """Return a text's condition and its CASE, for each value of the dimension."""
    question = CubeBinder(cube).bind(parse_query(text))
    effort = Effort(question.position)
    (measure,) = question.measures
    case = question.expression(measure.slot)
    found = [values.truths(one, question, effort) for one in question.conditions]
    return np.array(found).tolist(), list(values.values(case, question, effort))


def is_bound(cube, text):
    try:
        CubeBinder(cube).bind(parse_query(text))
    except SqlNotAllowedError:
        return False
    return True


def test_what_is_looked_up_is_what_the_engine_evaluates(monkeypatch):
    cube, _ = cells_cube(DIMENSIONS)
    asked = [text for text in texts(Random(11), rounds(400)) if is_bound(cube, text)]
    # the others equate a dimension with what it does not have
    assert len(asked) > rounds(150)
    looked_up = PublicValues(cube)
    found = [evaluated(cube, looked_up, text) for text in asked]
    looked_up.close()

    monkeypatch.setattr(lookups, "MOST_VALUES", 0)  # the engine evaluates all
    engine = PublicValues(cube)
    wanted = [evaluated(cube, engine, text) for text in asked]
    engine.close()

    assert found == wanted


def looked_up(text):
    """Return whether a text's condition on the cube is looked up."""
    cube, _ = cells_cube(DIMENSIONS)
    question = CubeBinder(cube).bind(parse_query(text))
    own = lookups.Lookups(
        question, lambda _, slot: np.eye(len(slot.values), dtype="i1")
    )
    return own.truths(question.conditions[0]) is not None


@pytest.mark.parametrize(
    ("condition", "known"),
    [
        ("age BETWEEN 2 AND 9", True),
        ("NOT (sex IN ('F', 'M') OR sex = 'F')", True),
        ("age > 99", False),
        ("age > 2.5", False),
        ("sex LIKE 'F%'", False),
        ("age + 1 > 3", False),
        ("sex = 'F' OR sex IS NULL", False),
    ],
)
def test_what_is_no_comparison_with_a_value_is_left_to_the_engine(condition, known):
    assert looked_up(f"SELECT COUNT(*) FROM cube WHERE {condition}") is known


def test_decimals_are_left_to_the_engine_which_knows_their_grid():
    facts = Facts(ColumnType.DECIMAL, 2)
    own = Dimension("w", ColumnType.DECIMAL, (1, 2, 3), scale=2)
    cube, _ = cells_cube((own,))
    question = CubeBinder(cube).bind(parse_query("SELECT COUNT(*) FROM cube"))
    (slot,) = (n for n, slot in question.slots.items() if slot.name == "w")
    compared = Call(Function.EQ, (FieldRef(slot, facts), Constant(2, facts)), TRUTH)

    def fail(*_):
        raise AssertionError

    assert lookups.Lookups(question, fail).truths(compared) is None
