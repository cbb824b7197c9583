"""Conditions on literals alone, wherever one may stand, in three-valued logic."""

import random
from functools import partial

import pytest

from query_lang.showing.presentation import present
from tests.semantics import engine, hospital
from tests.semantics.grammar import Question
from tests.semantics.meaning.tree import (
    Agg,
    And,
    Between,
    Case,
    Col,
    Compare,
    Exists,
    InList,
    IsNull,
    Item,
    Join,
    Lit,
    Not,
    Or,
    Query,
    Select,
    Star,
    TableRef,
)
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

HOLDS = {
    "true": Lit(True), "one": Compare("=", Lit(1), Lit(1)),
    "text": Compare("<", Lit("a"), Lit("é")), "in": InList(Lit(2), (Lit(1), Lit(2))),
    "between": Between(Lit(2), Lit(1), Lit(3)),
    "or": Or((Compare("=", Lit(1), Lit(0)), Lit(True))),
}  # fmt: skip
FAILS = {
    "false": Lit(False), "zero": Compare("=", Lit(1), Lit(0)),
    "text": Compare("=", Lit("a"), Lit("A")), "not": Not(Lit(True)),
    "not in": InList(Lit(2), (Lit(1), Lit(2)), negated=True),
    "and": And((Lit(True), Compare(">", Lit(0), Lit(1)))),
}  # fmt: skip
BOTH = {**{f"holds {k}": v for k, v in HOLDS.items()},
        **{f"fails {k}": v for k, v in FAILS.items()}}  # fmt: skip
UNKNOWN = Compare(">", Col("days"), Lit(2))  # NULL where days is
COUNT = Item(Agg("count"))
E, P = TableRef("encounters", "e"), TableRef("patients", "p")
TIE = Compare("=", Col("patient_id", "e"), Col("patient_id", "p"))


def where(condition):
    return Select((COUNT,), E, (), condition)


def joined(kind, condition):
    join = Join(kind, P, And((TIE, condition)))
    birth = Item(Agg("count", Col("smoker", "p")), "known")
    return Select((COUNT, birth), E, (join,), None)


def chosen(condition):
    mark = Case(None, ((condition, Lit(1)), (UNKNOWN, Lit(2))), Lit(3))
    return Select((COUNT,), E, (), Compare("=", mark, Lit(1)))


def tied(condition):
    inner = Select((Item(Star()),), P, (), And((TIE, condition)))
    return Select((COUNT,), E, (), Exists(inner))


PLACES = {
    "where": where,
    "beside an unknown": lambda c: where(And((UNKNOWN, c))),
    "or an unknown": lambda c: where(Or((UNKNOWN, c))),
    "not beside an unknown": lambda c: where(Not(And((UNKNOWN, c)))),
    "not or an unknown": lambda c: where(Not(Or((UNKNOWN, c)))),
    "is it null": lambda c: where(
        IsNull(Case(None, ((c, Col("days")),), None), negated=True)
    ),
    "inner join": partial(joined, "inner"),
    "left join": partial(joined, "left"),
    "case": chosen,
    "exists": tied,
}


@pytest.fixture(scope="module")
def loaded():
    with engine.connect() as connection:
        tables = hospital.random_tables(random.Random("literals"))
        engine.load(connection, tables)
        yield connection, tables


@pytest.mark.parametrize("condition", BOTH.values(), ids=BOTH)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_condition_on_literals_alone_means_what_it_says(loaded, place, condition):
    connection, tables = loaded
    question = Question(Query(place(condition)))
    assert engine.compare(connection, question, tables) == "equal", question.sql


def canonical(where):
    text = "SELECT COUNT(*) FROM encounters e JOIN patients p ON "
    tie = "e.patient_id = p.patient_id"
    return compile_query(text + where.replace("TIE", tie), HOSPITAL).canonical


@pytest.mark.parametrize(
    "text",
    ["TIE AND TRUE WHERE age > 3", "TIE WHERE age > 3 AND 1 = 1",
     "1 = 1 AND TIE WHERE age > 3 OR 1 = 0", "TIE WHERE (age > 3 AND 'a' = 'a')"],
)  # fmt: skip
def test_what_changes_nothing_is_no_part_of_the_question(text):
    assert canonical(text) == canonical("TIE WHERE age > 3")


@pytest.mark.parametrize(
    ("having", "shown"),
    [("TRUE", True), ("1 = 1", True), ("1 = 0", False), ("'a' = 'a'", True),
     ("COUNT(*) < 0 OR 2 IN (1, 2)", True), ("COUNT(*) >= 0 AND FALSE", False),
     ("NOT 3 BETWEEN 1 AND 2", True)],
)  # fmt: skip
def test_having_on_literals_alone_keeps_every_cell_or_none(having, shown):
    sql = f"SELECT COUNT(*) AS n FROM encounters HAVING {having}"
    assert present(compile_query(sql, HOSPITAL), [[5]]) == ([[5]] if shown else [])
