"""What is derived of paid vectors is what the question's own exact answer would be.

The evaluator judges, which knows nothing of regions: see docs/proofs/derived.md.
"""

import random
from collections import Counter

import pytest

from query_lang.binding.bind import bind_query
from query_lang.deriving.containing import Containing
from query_lang.deriving.derivations import Deriver, Vector, value_of
from query_lang.deriving.grids import grids_of
from query_lang.reading.parse import parse_query
from tests.effort import gate_first
from tests.semantics import hospital
from tests.semantics.grammar import Question
from tests.semantics.meaning.answers import prepare
from tests.semantics.meaning.tree import (
    Agg,
    And,
    Between,
    Case,
    Col,
    Compare,
    Extract,
    InList,
    IsNull,
    Item,
    Join,
    Lit,
    Not,
    Query,
    Select,
    TableRef,
)

pytestmark = pytest.mark.thorough

CHUNKS = 16
HISTORIES = 8
DATABASES = 2
UNIT = Col("patient_id", "p")
SEX, REGION, SMOKER = Col("sex", "p"), Col("region", "p"), Col("smoker", "p")
WARD, SEVERITY, URGENT = Col("ward", "e"), Col("severity", "e"), Col("urgent", "e")
AGE, DAYS = Col("age", "e"), Col("days", "e")
YOUNG = Case(
    None,
    ((Compare("<", AGE, Lit(40)), Lit("young")),),
    Lit("old"),
)
KEYS = (SEX, REGION, SMOKER, WARD, SEVERITY, URGENT, DAYS, YOUNG)
MEASURES = (
    Agg("count"),
    Agg("count", AGE),
    Agg("count", UNIT, distinct=True),
    Agg("sum", DAYS),
    Agg("sum", Case(None, ((Compare(">", AGE, Lit(50)), DAYS),), Lit(0))),
)
CONDITIONS = (
    Compare("=", SEX, Lit("f")),
    Not(Compare("=", SEX, Lit("f"))),
    InList(SEX, (Lit("m"), Lit("other"))),
    Compare("=", REGION, Lit("nord")),
    IsNull(REGION, negated=True),
    InList(WARD, (Lit("icu"), Lit("er"))),
    IsNull(WARD),
    Compare(">", SEVERITY, Lit(1)),
    Compare("<=", SEVERITY, Lit(1)),
    URGENT,
    Not(URGENT),
    SMOKER,
    IsNull(SMOKER),
    Between(DAYS, Lit(0), Lit(7)),
    Compare(">", AGE, Lit(50)),
    Compare("<=", AGE, Lit(50)),
    IsNull(AGE),
    Compare("<", AGE, DAYS),
    Compare("=", Extract("year", Col("started", "e")), Lit(2020)),
)


def random_select(rng, most_keys, most_conditions):
    """Return a question to patients and encounters, of a small stock of parts."""
    keys = rng.sample(KEYS, rng.choice(range(most_keys + 1)))
    conditions = rng.sample(CONDITIONS, rng.choice(range(most_conditions + 1)))
    measures = rng.sample(MEASURES, rng.choice((1, 2)))
    shown = [Item(each, f"c{n}") for n, each in enumerate((*keys, *measures))]
    tie = Compare("=", Col("patient_id", "p"), Col("patient_id", "e"))
    select = Select(
        tuple(shown),
        TableRef("patients", "p"),
        (Join("inner", TableRef("encounters", "e"), tie),),
        And(tuple(conditions)) if conditions else None,
        tuple(range(1, len(keys) + 1)),
    )
    return Question(Query(select))


def grids(question):
    """Return what each measure of a question counts."""
    tree = parse_query(question.sql)
    return grids_of(bind_query(tree, hospital.DATASET, question.bounds).plan)


def derived(rng, history, wanted):
    """Return what each measure of a question is of the vectors of a history."""
    counted = [
        (question, place, grid)
        for question in history
        for place, grid in enumerate(grids(question))
        if grid is not None
    ]
    vectors = [Vector(grid, rng.choice((1.0, 2.0, 50.0))) for _, _, grid in counted]
    own = grids(wanted)
    found = [grid and Deriver(grid, vectors).all_cells() for grid in own]
    return counted, found


@pytest.mark.parametrize("seed", gate_first(1, range(CHUNKS)))
def test_what_is_derived_is_the_exact_answer_of_the_question(seed):
    rng = random.Random(seed)
    counts = Counter()
    for _ in range(HISTORIES):
        history = [random_select(rng, 3, 1) for _ in range(6)]
        databases = [hospital.random_tables(rng) for _ in range(DATABASES)]
        exact = {
            (question, n): prepare(question, tables).exact_vectors()
            for question in history
            for n, tables in enumerate(databases)
        }
        for _ in range(4):
            wanted = random_select(rng, 1, 2)
            counted, found = derived(rng, history, wanted)
            for place, cells in enumerate(found):
                counts["asked"] += 1
                if cells is None:
                    continue
                counts["derived"] += 1
                for n, tables in enumerate(databases):
                    numbers = {
                        v: exact[question, n][at]
                        for v, (question, at, _) in enumerate(counted)
                    }
                    all_grids = [grid for _, _, grid in counted]
                    mine = [value_of(cell, numbers, all_grids) for cell in cells]
                    theirs = prepare(wanted, tables).exact_vectors()[place]
                    assert mine == theirs, f"{wanted.sql}\n-- of\n" + "\n".join(
                        q.sql for q in history
                    )
    assert counts["derived"] > 0


@pytest.mark.parametrize("seed", gate_first(1, range(CHUNKS)))
def test_no_count_is_larger_than_what_holds_it(seed):
    rng = random.Random(100 + seed)
    counts = Counter()
    for _ in range(HISTORIES):
        history = [random_select(rng, 2, 1) for _ in range(6)]
        databases = [hospital.random_tables(rng) for _ in range(DATABASES)]
        exact = [
            {
                question: prepare(question, tables).exact_vectors()
                for question in history
            }
            for tables in databases
        ]
        for _ in range(4):
            wanted = random_select(rng, 1, 3)
            theirs = [prepare(wanted, tables).exact_vectors() for tables in databases]
            counted = [
                (question, at, grid)
                for question in history
                for at, grid in enumerate(grids(question))
                if grid is not None
            ]
            vectors = [Vector(grid, 1.0) for _, _, grid in counted]
            all_grids = [grid for _, _, grid in counted]
            for place, grid in enumerate(grids(wanted)):
                held = grid and Containing(grid, vectors).all_cells()
                counts["asked"] += 1
                for n, known in enumerate(exact if held else ()):
                    numbers = {v: known[q][at] for v, (q, at, _) in enumerate(counted)}
                    for cell, several in enumerate(held):
                        for one in several:
                            counts["held"] += 1
                            most = value_of((one,), numbers, all_grids)
                            assert theirs[n][place][cell] <= most, wanted.sql
    assert counts["held"] > counts["asked"] > 0
