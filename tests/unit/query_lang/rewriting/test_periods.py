"""OVERLAPS, held against the arms of PostgreSQL's own function."""

import random
from itertools import product

import pytest

from privacy.errors import QueryError
from tests.effort import rounds
from tests.golden.reference_pages import hospital as demo_hospital
from tests.semantics import engine, hospital
from tests.support.compiling import compile_query

DAYS = (None, 1, 2, 3)
STEP = 18 // rounds(2, gate=1)
"""Of all orders of four days, one in so many is looked at."""


def overlaps(one, end, other, other_end):  # noqa: PLR0911 - an arm each
    """PostgreSQL 16, overlaps_timestamp, of days; None is unknown."""
    if one is None or (end is not None and one > end):
        one, end = end, one
    if other is None or (other_end is not None and other > other_end):
        other, other_end = other_end, other
    if one is None or other is None:
        return None
    if one == other:
        return None if None in (end, other_end) else True
    earlier, later = sorted(((one, end), (other, other_end)), key=lambda p: p[0])
    if earlier[1] is None:
        return None
    if later[0] < earlier[1]:
        return True
    return None if later[1] is None else False


def written(day):
    return "CASE WHEN days < 0 THEN started END" if day is None else f"started + {day}"


def counts_of_one_row(conditions):
    tables = hospital.random_tables(random.Random(1))
    tables["encounters"] = tables["encounters"][:1]
    found = []
    with engine.connect() as connection:
        engine.load(connection, tables)
        for start in range(0, len(conditions), 8):
            some = conditions[start : start + 8]
            counted = [f"COUNT(*) FILTER (WHERE {each})" for each in some]
            sql = f"SELECT {', '.join(counted)} FROM encounters"
            compiled = compile_query(sql, hospital.DATASET)
            vectors = engine.exact_vectors(connection, compiled.rendered)
            found += [count for (count,) in vectors]
    return found


@pytest.mark.parametrize("negated", [False, True])
def test_it_is_what_postgresql_says_of_every_order_and_null(negated):
    wanted, conditions = [], []
    for days in list(product(DAYS, repeat=4))[negated::STEP]:
        truth = overlaps(*days)
        wanted.append(int(truth is not None and truth != negated))
        one, end, other, other_end = map(written, days)
        condition = f"({one}, {end}) OVERLAPS ({other}, {other_end})"
        conditions.append(f"NOT ({condition})" if negated else condition)
    assert len({*wanted}) > 1
    assert counts_of_one_row(conditions) == wanted


def test_an_end_may_be_a_length():
    conditions = [
        "(started, INTERVAL '2 days') OVERLAPS (started + 1, started + 9)",
        "(started, INTERVAL '1 day') OVERLAPS (started + 1, started + 9)",
        "(started, started + 9) OVERLAPS (started + 10, INTERVAL '-2 days')",
        "(DATE '2024-01-01', DATE '2024-02-01') OVERLAPS (DATE '2024-01-31', started)",
    ]
    assert counts_of_one_row(conditions)[:3] == [1, 0, 1]


YEAR = "(DATE '2024-01-01', '2024-12-31')"
PERIODS = (
    f"(admitted, admitted + {{i}}) OVERLAPS {YEAR}",
    f"(admitted, INTERVAL '{{i}} months') OVERLAPS {YEAR}",
    "(LEAST(admitted, admitted + age), admitted + {i}) OVERLAPS (admitted, admitted)",
    "(COALESCE(admitted + 3, admitted), admitted + {i}) OVERLAPS (admitted, admitted)",
    f"(CASE WHEN age > {{i}} THEN admitted END, admitted + age) OVERLAPS {YEAR}",
)


@pytest.mark.parametrize("period", PERIODS)
def test_a_query_holds_twelve_of_ordinary_ends_and_no_more(period):
    some = " AND ".join(period.replace("{i}", str(i + 1)) for i in range(12))
    sql = f"SELECT COUNT(*) FROM encounters WHERE {some}"
    compile_query(sql, demo_hospital())
    with pytest.raises(QueryError, match="at most 12 OVERLAPS"):
        compile_query(f"{sql} AND {period.replace('{i}', '13')}", demo_hospital())


def test_days_of_literals_are_put_in_order_however_they_are_written():
    whole = "(started, started + 1) OVERLAPS "
    written = (
        "(DATE '2000-01-01', DATE '2100-01-01')",
        "('2100-01-01', '2000-01-01')",
        "('2000-01-01', INTERVAL '100 years')",
        "(DATE '2000-01-01', started + 1)",
        "(started + 1, DATE '2000-01-01')",
    )
    conditions = [whole + each for each in written]
    assert counts_of_one_row(conditions) == [1] * 3  # some are one question
