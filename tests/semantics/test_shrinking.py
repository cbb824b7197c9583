"""What fails is made small without changing how it fails."""

import random

from tests.semantics import hospital
from tests.semantics.grammar import random_question
from tests.semantics.meaning.answers import prepare
from tests.semantics.shrinking import shrunk, without_unit


def fails(question, tables):
    """Pretend that windows are wrong wherever the answer is not empty."""
    try:
        found = prepare(question, tables).exact_vectors()
    except Exception:  # noqa: BLE001 - what cannot be answered does not fail
        return None
    broken = "OVER" in question.sql and any(any(vector) for vector in found)
    return "broken" if broken else None


def failing():
    for seed in range(1_000):
        rng = random.Random(seed)
        question, tables = random_question(rng), hospital.random_tables(rng)
        if len(question.sql) > 600 and fails(question, tables):
            return question, tables
    raise AssertionError


def test_a_failing_question_and_its_rows_are_made_small():
    question, tables = failing()
    small, rows = shrunk(question, tables, fails, seconds=20)
    assert fails(small, rows) == "broken"
    assert len(small.sql) < len(question.sql) / 2
    private = [row for own in rows.values() for row in own if "unit" in row]
    assert len(private) <= 3


def test_a_neighbour_lacks_all_rows_of_one_unit_and_nothing_else():
    tables = hospital.random_tables(random.Random(1))
    unit = tables["encounters"][0]["unit"]
    fewer = without_unit(tables, unit)
    assert fewer["wards"] == tables["wards"]
    assert all(row["unit"] != unit for row in fewer["encounters"])
    others = [row for row in tables["encounters"] if row["unit"] != unit]
    assert fewer["encounters"] == others
