"""Random texts: without the units of all other blocks, the exact answer is the same.

What a text is charged to is read off its plan. Here the units of every other block are
removed, and the exact vectors compared, by the engine and by the independent evaluator.
"""

import random
from collections import Counter
from dataclasses import replace

import pytest

from privacy.schema import Blocks
from tests.effort import gate_first
from tests.semantics import engine, hospital
from tests.semantics.grammar import OPERATORS, TRIES, Author
from tests.semantics.meaning.answers import prepare
from tests.semantics.meaning.evaluator import NotAnswerableError
from tests.semantics.meaning.tree import (
    And,
    Between,
    Col,
    Compare,
    InList,
    IsNull,
    Like,
    Lit,
    Not,
    Or,
)
from tests.support.compiling import compile_query

pytestmark = pytest.mark.thorough

QUESTIONS = 200
CHUNKS = 6
PER_DATABASE = 10
DIVISIONS = (
    Blocks("ward", ("encounters", "labs"), ("icu", "er", "other")),
    Blocks("sex", ("patients",), ("f", "m", "other")),
    Blocks("severity", ("encounters",), (1, 2, 3)),
)


class Divider(Author):
    """Writes questions whose conditions, wherever they stand, often name blocks."""

    def __init__(self, rng, blocks):
        super().__init__(rng, laterals=0.1)
        self.blocks = blocks

    def condition(self, scope, depth, *, subqueries=True):
        own = [e for e in scope.entries if e.name == self.blocks.column]
        own = [e for e in own if not e.hidden]
        if not own or self.chance(0.4):
            return super().condition(scope, depth, subqueries=subqueries)
        entry = self.pick(own)
        found = self._of_block(Col(entry.name, entry.table))
        if depth == 0 or self.chance(0.5):
            return found
        other = self.condition(scope, depth - 1, subqueries=subqueries)
        return (And if self.chance(0.6) else Or)((found, other))

    def _of_block(self, column):
        values = list(map(Lit, self.blocks.values))
        one, other, third = (self.pick(values) for _ in range(3))
        negated = self.chance(0.3)
        tests = [
            Compare(self.pick(OPERATORS), column, one),
            Compare("=", column, one),
            InList(column, (one, other), negated),
            Between(column, other, third, negated),
            IsNull(column, negated),
            Not(Compare("=", column, one)),
        ]
        if isinstance(one.value, str):
            tests.append(Like(column, one.value[:1] + "%", negated))
        return self.pick(tests)


def asked(rng, blocks):
    """Return a random question about a population that is divided so."""
    for _ in range(TRIES):
        try:
            return Divider(rng, blocks).question()
        except NotAnswerableError:
            continue
    message = "the grammar finds no question that can be answered"
    raise AssertionError(message)


def divided(rng, blocks):
    """Return random tables in which each unit is in one block, and which it is in."""
    tables = hospital.random_tables(rng)
    units = {row["unit"] for rows in tables.values() for row in rows if "unit" in row}
    block_of = {unit: rng.choice(blocks.values) for unit in units}
    for name in blocks.tables:
        for row in tables[name]:
            row[blocks.column] = block_of[row["unit"]]
    return tables, block_of


def kept(tables, units):
    """Return tables with the rows of some units alone, and all that is public."""
    return {
        name: [row for row in rows if row.get("unit") in {*units, None}]
        for name, rows in tables.items()
    }


def touched(question, blocks):
    dataset = replace(hospital.DATASET, blocks=blocks)
    return compile_query(question.sql, dataset, question.bounds)


def check(question, compiled, tables, block_of, connections):
    """Compare the exact vectors with those of a database without the other units."""
    own = {unit for unit, block in block_of.items() if str(block) in compiled.blocks}
    fewer = kept(tables, own)
    whole, others = connections
    engine.load(others, fewer)
    before = engine.exact_vectors(whole, compiled.rendered)
    after = engine.exact_vectors(others, compiled.rendered)
    assert before == after, f"{compiled.blocks}: {question.sql}"
    try:
        expected = engine.expected_vectors(compiled, prepare(question, tables))
        without = engine.expected_vectors(compiled, prepare(question, fewer))
    except NotAnswerableError:
        return
    assert expected == without, f"{compiled.blocks}: {question.sql}"


def run(rng, questions, counts):
    with engine.connect() as whole, engine.connect() as others:
        for number in range(questions):
            if number % PER_DATABASE == 0:
                blocks = DIVISIONS[number // PER_DATABASE % len(DIVISIONS)]
                tables, block_of = divided(rng, blocks)
                engine.load(whole, tables)
            question = asked(rng, blocks)
            if engine.compiled_of(question) is None:
                counts["refused"] += 1
                continue
            compiled = touched(question, blocks)
            if len(compiled.blocks) == len(blocks.values):
                counts["all"] += 1
                continue
            check(question, compiled, tables, block_of, (whole, others))
            counts["confined"] += 1


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize("chunk", gate_first(2, range(CHUNKS)))
def test_units_of_blocks_that_a_text_does_not_touch_change_nothing(chunk):
    counts = Counter()
    run(random.Random(6_100 + chunk), QUESTIONS, counts)
    assert counts["confined"] > QUESTIONS // 40  # of those that the evaluator answers
    assert counts["all"] > QUESTIONS // 20


def test_the_check_finds_a_block_that_is_left_out():
    """A reading that confines too much is seen: the check is no empty one."""
    rng = random.Random(5)
    blocks = DIVISIONS[0]
    found = Counter()
    with engine.connect() as whole, engine.connect() as others:
        for _ in range(40):
            tables, block_of = divided(rng, blocks)
            engine.load(whole, tables)
            question = asked(rng, blocks)
            if engine.compiled_of(question) is None:
                continue
            wrong = replace(touched(question, blocks), blocks=("icu",))
            try:
                check(question, wrong, tables, block_of, (whole, others))
            except AssertionError:
                found["seen"] += 1
    assert found["seen"] > 0
