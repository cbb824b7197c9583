"""Random texts as people type them mean what plain SQL over the same rows finds."""

import random
from collections import Counter

import pytest

from tests.effort import rounds
from tests.semantics.typed.comparing import outcome
from tests.semantics.typed.grammar import Texts
from tests.semantics.typed.plain_sql import both

pytestmark = pytest.mark.thorough

TEXTS = rounds(6_000, 500)
LEAST_ANSWERED = 0.5  # of all: 0.58 of 3,000 texts of seed 10


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    with both(tmp_path_factory.mktemp("plain"), edges=True) as connection:
        yield connection


def test_random_texts_find_what_plain_sql_finds(rows):
    texts = Texts(random.Random(41))
    outcomes = Counter()
    for _ in range(TEXTS):
        sql = texts.text()
        try:
            outcomes[outcome(rows, sql)] += 1
        except Exception as error:
            error.add_note(sql)
            raise
    assert outcomes["answered"] > LEAST_ANSWERED * TEXTS, outcomes
