"""LATERAL and APPLY of one row: what a plain loop over rows finds."""

import json
import random
from fractions import Fraction

import pytest

from privacy.contributions import NO_BOUNDS
from privacy.errors import QueryError
from query_lang.binding.bind import bind_query
from query_lang.normalising.questions import normal_question
from query_lang.reading.parse import parse_query
from query_lang.syntax.wire import from_json, to_json
from tests.effort import rounds
from tests.semantics import engine, hospital
from tests.support.compiling import compile_query

LATER = (
    "(SELECT d.seq FROM diagnoses d WHERE d.patient_id = e.patient_id AND d.noted <= "
    "e.started ORDER BY d.noted DESC, seq LIMIT 1) x"
)
FORMS = {
    f"LEFT JOIN LATERAL {LATER} ON TRUE": True,
    f"CROSS JOIN LATERAL {LATER}": False,
    f", LATERAL {LATER}": False,
    f"JOIN LATERAL {LATER} ON TRUE": False,
    f"OUTER APPLY {LATER}": True,
    f"CROSS APPLY {LATER.replace('SELECT', 'SELECT TOP 1').replace(' LIMIT 1', '')}": (
        False
    ),
}


def met_by(stay, tables):
    """Return the diagnoses that were noted before a stay of the same unit."""
    return [
        row
        for row in tables["diagnoses"]
        if row["unit"] == stay["unit"]
        and None not in (row["noted"], stay["started"])
        and row["noted"] <= stay["started"]
    ]


def first_numbers(tables, is_outer):
    """Return the number of the diagnosis that each stay meets, None for none."""
    found = []
    for stay in tables["encounters"]:
        before = met_by(stay, tables)
        before.sort(key=lambda row: row["seq"])
        before.sort(key=lambda row: row["noted"], reverse=True)
        if before or is_outer:
            found.append(before[0]["seq"] if before else None)
    return found


@pytest.mark.parametrize("form", FORMS)
def test_each_row_is_joined_with_the_first_that_it_meets(form):
    sql = f"SELECT COUNT(*) AS n, SUM(x.seq) AS m FROM encounters e {form}"
    rng = random.Random(5)
    compiled = compile_query(sql, hospital.DATASET)
    assert [measure.sensitivity.l1 for measure in compiled.measures] == [4, 16]
    for _ in range(rounds(20, gate=8)):
        tables = hospital.random_tables(rng)
        with engine.connect() as connection:
            engine.load(connection, tables)
            vectors = engine.exact_vectors(connection, compiled.rendered)
        found = first_numbers(tables, FORMS[form])
        assert vectors == [[len(found)], [sum(number or 0 for number in found)]]


WHAT_IS_SHOWN = {
    "d.seq": lambda row: row["seq"],
    "1": lambda _: 1,
    "COALESCE(d.seq, 0)": lambda row: row["seq"],
    "CASE WHEN d.seq IS NULL THEN 1 ELSE 7 END": lambda _: 7,
    "0 - d.seq": lambda row: -row["seq"],
}


@pytest.mark.parametrize("shown", WHAT_IS_SHOWN)
@pytest.mark.parametrize(
    "order", ["d.noted, d.seq", "noted, x", "1 DESC", "v DESC, noted"]
)
def test_what_is_selected_is_null_where_there_is_no_row(shown, order):
    sql = (
        "SELECT COUNT(x.v) AS n, SUM(x.v) AS m, COUNT(DISTINCT x.v) AS k FROM "
        f"encounters e LEFT JOIN LATERAL (SELECT {shown} AS v, d.seq AS x FROM "
        "diagnoses d WHERE d.patient_id = e.patient_id AND d.noted <= e.started ORDER "
        f"BY {order} LIMIT 1) x ON 1 = 1"
    )
    compiled = compile_query(sql, hospital.DATASET)
    value = WHAT_IS_SHOWN[shown]
    by_value = order.startswith(("1", "v"))
    rng = random.Random(6)
    for _ in range(rounds(12, gate=5)):
        tables = hospital.random_tables(rng)
        found = []
        for stay in tables["encounters"]:
            before = met_by(stay, tables)
            before.sort(key=lambda row: (row["noted"], row["seq"]))
            if by_value:
                before.sort(key=value, reverse=True)
            found += [value(row) for row in before[:1]]
        with engine.connect() as connection:
            engine.load(connection, tables)
            vectors = engine.exact_vectors(connection, compiled.rendered)
        assert vectors == [[len(found)], [sum(found)], [len({*found})]]


def test_a_star_is_of_the_inner_table():
    sql = (
        "SELECT COUNT(*) FROM encounters e OUTER APPLY (SELECT TOP 1 * FROM labs l "
        "WHERE l.patient_id = e.patient_id ORDER BY l.taken) x WHERE x.{} IS NULL"
    )
    compile_query(sql.format("result"), hospital.DATASET)
    with pytest.raises(QueryError, match="no column started"):
        compile_query(sql.format("started"), hospital.DATASET)


@pytest.mark.parametrize(
    "lateral",
    [
        "(SELECT e.age AS v FROM labs m WHERE m.patient_id = l.patient_id LIMIT 1)",
        "(SELECT 1 v FROM labs WHERE patient_id = l.patient_id ORDER BY e.age LIMIT 1)",
        "(SELECT l.result AS v FROM labs m WHERE m.patient_id = l.patient_id LIMIT 1)",
    ],
)
def test_it_selects_and_orders_by_the_inner_table_alone(lateral):
    sql = (
        "SELECT COUNT(*) FROM encounters e WHERE EXISTS (SELECT 1 FROM labs l LEFT "
        f"JOIN LATERAL {lateral} x ON TRUE WHERE l.patient_id = e.patient_id AND x.v = "
        "2)"
    )
    with pytest.raises(QueryError, match="in FROM"):
        compile_query(sql, hospital.DATASET)


@pytest.mark.parametrize("form", FORMS)
def test_it_goes_all_the_way_that_a_question_goes(form):
    sql = f"SELECT COUNT(*) AS n, SUM(x.seq) AS m FROM encounters e {form}"
    tree = from_json(json.loads(json.dumps(to_json(parse_query(sql)))))
    plan = bind_query(tree, hospital.DATASET, NO_BOUNDS).plan
    weights = [Fraction(1, 2)] * len(plan.measures)
    assert normal_question(plan, weights) == normal_question(plan, weights)


LABS = "LEFT JOIN LATERAL (SELECT {} FROM labs {}{} LIMIT {}) x ON {}"
OWN = "l WHERE l.patient_id = e.patient_id"


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (("result", OWN, "", 2, "TRUE"), "first of the rows of one table"),
        (("COUNT(*) AS n", OWN, "", 1, "TRUE"), "first of the rows of one table"),
        (("DISTINCT result", OWN, "", 1, "TRUE"), "first of the rows of one table"),
        (("result", "l", "", 1, "TRUE"), "first of the rows of one table"),
        (("result", OWN, "", 1, "x.result > 1"), "first of the rows of one table"),
        (("result", "l WHERE l.result > 1", "", 1, "TRUE"), "unit key"),
        (("result", "e WHERE e.result > 1", "", 1, "TRUE"), "are called e"),
        (("result", OWN, " ORDER BY e.patient_id", 1, "TRUE"), "in FROM: l"),
        (("result", OWN, " ORDER BY patient_id", 1, "TRUE"), "unit key"),
        (("result", OWN, " ORDER BY 2", 1, "TRUE"), "not by positions"),
    ],
)
def test_what_is_not_one_first_row_is_refused(parts, said):
    sql = f"SELECT COUNT(*) FROM encounters e {LABS.format(*parts)}"
    with pytest.raises(QueryError, match=said):
        compile_query(sql, hospital.DATASET)
