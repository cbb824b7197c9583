"""Questions of one normal form have one exact answer; rules of logic keep the form.

The evaluator judges, which shares nothing with the compiler: see
docs/proofs/normal_form.md.
"""

import json
import random
from collections import Counter
from fractions import Fraction

import pytest

from privacy.errors import QueryError
from query_lang.binding.bind import bind_query
from query_lang.normalising.questions import normal_question
from query_lang.plans.compiled import DependentShown
from query_lang.reading.parse import parse_query
from tests.effort import gate_first
from tests.semantics import hospital
from tests.semantics.grammar import random_question
from tests.semantics.meaning.answers import prepare
from tests.semantics.meaning.evaluator import NotAnswerableError
from tests.semantics.rewriting import changed, reworded

pytestmark = pytest.mark.thorough

CHUNKS = 24
QUESTIONS = 40
DATABASES = 3


def normal_of(question):
    """Return a question's normal form, None where it is refused.

    And where a key follows from another one: the evaluator has cells for both.
    """
    try:
        plan = bind_query(
            parse_query(question.sql), hospital.DATASET, question.bounds
        ).plan
    except QueryError:
        return None
    if any(isinstance(column.shown, DependentShown) for column in plan.columns):
        return None
    return normal_question(plan, [Fraction(1)] * len(plan.measures))


def answer(question, normal, tables):
    """Return the evaluator's exact vectors, in the order of the normal form."""
    return normal.normal_vectors(prepare(question, tables).exact_vectors())


def check_alike(rng, one, other, forms):
    """Check that two questions of one form have one answer on random databases."""
    for _ in range(DATABASES):
        tables = hospital.random_tables(rng)
        mine, theirs = (
            answer(question, form, tables)
            for question, form in zip((one, other), forms, strict=True)
        )
        assert mine == theirs, f"{one.sql}\n--\n{other.sql}\n{one.bounds}"


def bounds_of(form):
    """Return how much one unit changes each measure, which both questions say."""
    return sorted(str(one[2:]) for one in json.loads(form.text)["measures"])


@pytest.mark.parametrize("seed", gate_first(2, range(CHUNKS)))
def test_rules_of_logic_keep_the_form_and_the_answer(seed):
    rng = random.Random(seed)
    counts = Counter()
    for _ in range(QUESTIONS):
        question = random_question(rng)
        other = reworded(rng, question)
        forms = normal_of(question), normal_of(other)
        if None in forms:
            continue
        if bounds_of(forms[0]) != bounds_of(forms[1]):
            counts["other bounds"] += 1  # one text may hide what bounds it
            continue
        counts["written alike" if other == question else "reworded"] += 1
        assert forms[0].text == forms[1].text, f"{question.sql}\n--\n{other.sql}"
        try:
            check_alike(rng, question, other, forms)
        except NotAnswerableError:  # it looks for keys in ON as they were written
            continue
    assert counts["reworded"] > QUESTIONS // 4
    assert counts["other bounds"] <= QUESTIONS // 5


@pytest.mark.parametrize("seed", gate_first(2, range(CHUNKS)))
def test_questions_of_one_form_have_one_answer_however_they_were_changed(seed):
    rng = random.Random(1_000 + seed)
    counts = Counter()
    for _ in range(2 * QUESTIONS):
        question = random_question(rng)
        other = question
        for _ in range(rng.choice((1, 1, 2))):
            other = changed(rng, other)
        forms = normal_of(question), normal_of(other)
        if None in forms:
            continue
        if forms[0].text != forms[1].text:
            counts["told apart"] += 1
            continue
        counts["alike"] += 1
        try:
            check_alike(rng, question, other, forms)
        except NotAnswerableError:
            continue
    assert counts["told apart"] > QUESTIONS // 2
