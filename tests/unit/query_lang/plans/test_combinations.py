"""No unit has more rows, groups or values than a plan's rules allow.

The rules are worked out by the evaluator, to whose cells and domains the compiler
is held elsewhere; here they are held against rows.
"""

import random
from collections import Counter, defaultdict
from itertools import combinations

import pytest

from tests.effort import gate_first, rounds
from tests.semantics import hospital
from tests.semantics.grammar import random_question
from tests.semantics.meaning import queries, tree
from tests.semantics.meaning.scopes import NotAnswerableError

CHUNKS = 12
QUESTIONS = rounds(150, gate=75)
MOST_COLUMNS = 3  # that are looked at together
LEAST_BOUNDED = (
    20  # sets of columns with fewer values than rows, and as many as allowed
)


def relations_in(question, tables):
    """Yield the relations of derived tables that read no common table."""
    world = queries.World(
        tables, hospital.DATASET, question.bounds, hospital.HIERARCHIES
    )
    for node in tree.walk(question.tree):
        if isinstance(node, tree.Derived):
            try:
                found = world.bind(node.query, None)
                rows = found.run(())
            except (NotAnswerableError, KeyError):
                continue
            if found.rows_per_unit is not None:
                yield found, rows


@pytest.mark.sampled(1)
@pytest.mark.slow
@pytest.mark.parametrize("chunk", gate_first(3, range(CHUNKS)))
def test_no_unit_has_more_values_or_groups_than_the_plan_says(chunk):
    rng = random.Random(7_000 + chunk)
    seen = Counter()
    for number in range(QUESTIONS):
        if number % 5 == 0:
            tables = hospital.random_tables(rng)
        for relation, rows in relations_in(random_question(rng), tables):
            of_units = defaultdict(list)
            for row in rows:
                of_units[row.owner].append(row.values)
            most = max(map(len, of_units.values()), default=0)
            assert most <= relation.rows_per_unit
            for places in sets_of(rng, len(relation.names)):
                bound = relation.combined(frozenset(places))
                for own in of_units.values():
                    values = {tuple(map(repr, pick(row, places))) for row in own}
                    assert len(values) <= bound
                    is_bound = bound < relation.rows_per_unit
                    seen["reached"] += is_bound and len(values) == bound
                    seen["more rows"] += is_bound and len(own) > bound
    assert seen["reached"] >= LEAST_BOUNDED
    assert seen["more rows"] >= LEAST_BOUNDED


def pick(row, places):
    return [row[place] for place in places]


def sets_of(rng, columns):
    found = [
        places
        for size in range(1, MOST_COLUMNS + 1)
        for places in combinations(range(columns), size)
    ]
    return rng.sample(found, min(12, len(found)))
