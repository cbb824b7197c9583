"""Subqueries in the keys of windows: an engine runs them, as SQL means them."""

import random

import pytest

from tests.effort import rounds
from tests.semantics import engine, hospital
from tests.support.compiling import compile_query

NUMBERED = (
    "(SELECT patient_id, seq, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY seq)"
    " AS rn FROM diagnoses)"
)
LATERAL = (
    "(SELECT p.patient_id, x.days FROM patients p CROSS JOIN LATERAL (SELECT e.days"
    " FROM encounters e WHERE e.patient_id = p.patient_id ORDER BY e.days LIMIT 1) x)"
)
SAME = "d.days = e.days"
INSIDE = (
    f"EXISTS (SELECT 1 FROM {NUMBERED} d WHERE d.patient_id = e.patient_id AND rn = 2)",
    f"EXISTS (SELECT 1 FROM {LATERAL} d WHERE d.patient_id = e.patient_id AND {SAME})",
    f"e.patient_id IN (SELECT patient_id FROM {NUMBERED} d WHERE rn = 2)",
)
WINDOWS = (
    "ROW_NUMBER() OVER (PARTITION BY patient_id, {} ORDER BY started)",
    "ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY {}, started)",
    "MAX(days) OVER (PARTITION BY patient_id, {})",
)


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("window", WINDOWS)
def test_a_subquery_in_a_key_is_computed_before_the_window(window, inside):
    told = f"CASE WHEN {inside} THEN 1 ELSE 2 END"
    within = f"(SELECT patient_id, {window.format(told)} AS n FROM encounters e) w"
    before = (
        f"(SELECT patient_id, {window.format('told')} AS n FROM (SELECT patient_id,"
        f" started, days, {told} AS told FROM encounters e) v) w"
    )
    texts = (f"SELECT COUNT(*) AS n FROM {x} WHERE n = 1" for x in (within, before))
    one, other = (compile_query(text, hospital.DATASET) for text in texts)
    assert one.measures == other.measures
    rng = random.Random(3)
    for _ in range(rounds(6, gate=3)):
        with engine.connect() as connection:
            engine.load(connection, hospital.random_tables(rng))
            found = engine.exact_vectors(connection, one.rendered)
            assert found == engine.exact_vectors(connection, other.rendered)
