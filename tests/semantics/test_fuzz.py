"""Random questions, 500 in the gate: cells and exact vectors equal the evaluator's."""

import random
from collections import Counter

import pytest

from tests.effort import gate_first
from tests.semantics import engine, hospital
from tests.semantics.grammar import constructs, random_question
from tests.semantics.shrinking import shrunk

pytestmark = pytest.mark.thorough

QUESTIONS = 1_500
CHUNKS = 15
LATERAL_CHUNKS = 8
QUESTIONS_PER_DATABASE = 10
MOST_REFUSED = 0.2


def report(question, tables):
    """Return the smallest failing question with its rows, as text."""
    small, rows = shrunk(question, tables, engine.failure)
    kept = {name: own for name, own in rows.items() if own}
    return f"{small.sql}\n{small.bounds}\n{kept}\nfrom: {question.sql}"


def compared(connection, question, tables):
    """Compare one question; a failure names its shrunk form."""
    try:
        return engine.compare(connection, question, tables)
    except Exception as error:
        error.add_note(report(question, tables))
        raise


def run(rng, questions, counts, laterals=0.0):
    """Ask questions of fresh databases; count outcomes and constructs."""
    with engine.connect() as connection:
        for number in range(questions):
            if number % QUESTIONS_PER_DATABASE == 0:
                tables = hospital.random_tables(rng)
                engine.load(connection, tables)
            question = random_question(rng, laterals)
            outcome = compared(connection, question, tables)
            counts[outcome] += 1
            if outcome == "equal":
                counts.update(constructs(question.tree))


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize("chunk", gate_first(5, range(CHUNKS)))
def test_cells_and_exact_vectors_equal_those_of_the_evaluator(chunk):
    counts = Counter()
    questions = QUESTIONS // CHUNKS
    run(random.Random(chunk), questions, counts)
    assert counts["refused"] + counts["unanswerable"] <= MOST_REFUSED * questions


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize("chunk", gate_first(2, range(LATERAL_CHUNKS)))
def test_so_do_those_of_the_first_row_that_each_row_meets(chunk):
    counts = Counter()
    questions = QUESTIONS // CHUNKS
    run(random.Random(900 + chunk), questions, counts, laterals=0.4)
    assert counts["refused"] + counts["unanswerable"] <= MOST_REFUSED * questions
