"""A normal form takes so many steps and no more, whatever chain of tables it reads."""

import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest

from privacy.contributions import NO_BOUNDS
from privacy.errors import QueryError
from privacy.schema import ValuesDomain
from query_lang.binding.bind import bind_query
from query_lang.deriving.grids import grids_of
from query_lang.normalising import value_sets
from query_lang.normalising.questions import normal_question
from query_lang.normalising.steps import (
    MOST_STEPS,
    TooManyStepsError,
    counted_steps,
    take_steps,
)
from query_lang.reading.parse import parse_query
from tests.effort import gate_first, rounds
from tests.support.compiling import calls_of
from tests.support.data.hospital import ENCOUNTERS, HOSPITAL

MOST_CALLS = 600_000
"""About a fifth of a second; each of these took seconds or hours in 20 to 30 steps."""

MOST_LINES = 1_500_000
"""Of our own code that run for a form: loops that call nothing take lines alone."""

DEEP = 30
TRUTHS = (
    "(y OR age = {i}) AND (NOT y OR level = {j})",
    "(y OR age = {i}) IS NOT TRUE",
    "(y AND age = {i}) IS NOT FALSE",
    "y IS DISTINCT FROM (age > {i})",
    "y = (level = {j})",
    "(y AND age > {i}) OR (NOT y AND level < {j})",
    "CASE WHEN y THEN age > {i} ELSE level = {j} OR y END",
    "COALESCE(y, age = {i}) OR (y IS NULL AND level = {j})",
    "CASE WHEN y IS NULL THEN age = {i} WHEN NOT y THEN level = {j} END",
    "(y OR smoker) AND (NOT y OR NOT smoker) IS NOT TRUE",
)
NUMBERS = (
    "CASE WHEN y > {i} THEN y + age ELSE age - y END",
    "COALESCE(NULLIF(y, {i}), age) + level",
    "GREATEST(y, age) - LEAST(y, level)",
    "NULLIF(y + y, {i}) * {j}",
)


def plan_of(sql):
    return bind_query(parse_query(sql), HOSPITAL, NO_BOUNDS).plan


def chain(step, start, end, depth=DEEP):
    """Return a question in which each table uses the one before it several times."""
    shown = "patient_id, age, level, smoker"
    tables = [f"c0 AS (SELECT {shown}, {start} AS y FROM encounters)"]
    for i in range(1, depth):
        made = step.format(i=i % 7, j=i % 4)
        tables.append(f"c{i} AS (SELECT {shown}, {made} AS y FROM c{i - 1})")
    return f"WITH {', '.join(tables)} SELECT COUNT(*) FROM c{depth - 1} WHERE {end}"


def forms_of(plan):
    normal = normal_question(plan, [Fraction(1)] * len(plan.measures))
    return normal, grids_of(plan)


def traced(plan):
    """Return a plan's forms, and how many calls and lines were run for them."""
    seen = Counter()

    def count(_frame, event, _argument):
        seen[event] += 1
        return count

    sys.settrace(count)
    try:
        forms = forms_of(plan)
    finally:
        sys.settrace(None)
    return forms, seen["call"], seen["line"]


@pytest.mark.parametrize(
    ("step", "start", "end"),
    [
        *((step, "age > 60", "y") for step in TRUTHS),
        *((step, "age", "y > 3") for step in NUMBERS),
        *gate_first(2, ((step, "smoker", "NOT y") for step in TRUTHS)),
    ],
)
def test_no_chain_of_tables_takes_long(step, start, end):
    read = 0
    for depth in (8, 16, DEEP):
        try:
            plan = plan_of(chain(step, start, end, depth))
        except QueryError:  # it is too large, or no condition
            continue
        assert calls_of(partial(forms_of, plan)) < MOST_CALLS
        read += 1
    assert read


WIDE = replace(
    ENCOUNTERS,
    columns=tuple(
        replace(column, domain=ValuesDomain(tuple(range(3, 12_003, 3))))
        if column.name == "level"
        else column
        for column in ENCOUNTERS.columns
    ),
)
LISTED = replace(HOSPITAL, tables={**HOSPITAL.tables, WIDE.name: WIDE})
WIDE_STEPS = (
    "(y OR level = {i} OR age = {j}) AND (NOT y OR level < {i})",
    "y AND NOT (level BETWEEN {i} AND 900{j}) OR level IN (3, 6{i}, 9{j})",
    "CASE WHEN level > {i} THEN y WHEN level <> {j} THEN NOT y END",
)


@pytest.mark.parametrize("step", WIDE_STEPS)
def test_nor_over_long_lists_of_numbers(step):
    """What a set holds counts, not the sets alone: such texts took 18 seconds."""
    text = chain(step, "age > 60", "y", 28)
    plan = bind_query(parse_query(text), LISTED, NO_BOUNDS).plan
    _, calls, lines = traced(plan)
    assert calls < MOST_CALLS
    assert lines < MOST_LINES


@pytest.mark.parametrize(
    "condition", ["NOT (level BETWEEN {i} AND 90{i})", "level > {i} OR age = {i}"]
)
def test_nor_many_conditions_on_one(condition):
    many = " AND ".join(
        f"({condition.format(i=i)} OR ward = 'w{i}')" for i in range(100)
    )
    sql = f"SELECT COUNT(*) FROM encounters WHERE {many}"
    plan = bind_query(parse_query(sql), LISTED, NO_BOUNDS).plan
    (normal, _), _, lines = traced(plan)
    assert lines < MOST_LINES
    assert normal.steps == MOST_STEPS


def test_a_form_is_the_same_whatever_is_remembered():
    """Or one question would be two: charged again after a restart."""
    for many in (1, 4, 7, 8, 20)[: rounds(5, gate=4)]:
        parts = " AND ".join(f"(level <> {3 * i} OR age = {i})" for i in range(many))
        sql = f"SELECT COUNT(*) FROM encounters WHERE {parts}"
        plan = bind_query(parse_query(sql), LISTED, NO_BOUNDS).plan
        value_sets._points.cache_clear()
        first, again = forms_of(plan)[0], forms_of(plan)[0]
        assert (first.text, first.steps) == (again.text, again.steps)


def test_ordinary_conditions_on_a_long_list_have_a_form():
    texts = ("level > 30 AND level <> 33", "NOT (level <= 30 OR level = 33)")
    one, other = (
        forms_of(
            bind_query(
                parse_query(f"SELECT COUNT(*) FROM encounters WHERE {text}"),
                LISTED,
                NO_BOUNDS,
            ).plan
        )[0]
        for text in texts
    )
    assert one.text == other.text
    assert one.steps < MOST_STEPS


def test_what_takes_too_many_steps_has_a_form_of_its_own():
    texts = [chain(TRUTHS[0], "age > 60", end) for end in ("y", "y", "NOT y")]
    one, same, other = (forms_of(plan_of(text))[0] for text in texts)
    assert one.steps == MOST_STEPS
    assert one.text == same.text != other.text
    assert grids_of(plan_of(texts[0])) == [None]
    assert one.own_vectors(one.normal_vectors([[7]])) == [[7]]


def test_ordinary_questions_take_few_steps():
    sql = (
        "SELECT ward, COUNT(*), AVG(age) FROM encounters WHERE (age > 60 OR smoker) "
        "AND NOT (level = 2 OR ward IS NULL) GROUP BY ward"
    )
    plan = plan_of(sql)
    normal, grids = forms_of(plan)
    assert normal.steps < MOST_STEPS // 50
    assert len(grids) == len(plan.measures)


def test_steps_are_counted_within_alone():
    take_steps(MOST_STEPS + 1)  # by nobody
    with counted_steps(5) as left:
        take_steps(3)
        with counted_steps(1):
            take_steps()
        assert left == [2]
        with pytest.raises(TooManyStepsError):
            take_steps(3)
