"""Row numbers that WHERE and ON speak of are held before joins: nothing else changes.

``x.rn + 0`` is the same number to SQL, and none that the compiler holds to anything.
"""

import random

import pytest

from tests.effort import rounds
from tests.semantics import engine, hospital
from tests.support.compiling import compile_query

NUMBERED = (
    "(SELECT patient_id, days, ward, ROW_NUMBER() OVER (PARTITION BY patient_id "
    "ORDER BY started) AS rn FROM encounters)"
)
JOINS = (
    f"patients p LEFT JOIN {NUMBERED} x ON x.patient_id = p.patient_id AND x.rn = 1",
    f"patients p LEFT JOIN {NUMBERED} x ON x.patient_id = p.patient_id",
    f"{NUMBERED} x RIGHT JOIN labs p ON x.patient_id = p.patient_id AND x.rn IN (1, 2)",
    f"patients p JOIN {NUMBERED} x ON x.patient_id = p.patient_id AND x.rn <= 2",
    f"{NUMBERED} x LEFT JOIN labs p ON p.patient_id = x.patient_id AND x.rn = 1",
)
JOINS += (f"{JOINS[0]} JOIN labs l ON l.patient_id = p.patient_id AND x.rn IS NULL",)
CONDITIONS = (
    "x.rn = 1",
    "x.rn IS NULL",
    "x.rn IS NOT NULL",
    "x.rn IS NULL OR x.rn = 2",
    "NOT (x.rn = 2)",
    "NOT (x.rn IS NOT NULL AND x.rn < 3)",
    "COALESCE(x.rn, 0) = 0",
    "x.rn IS DISTINCT FROM 1",
    "(x.rn = 1) IS NOT TRUE",
    "CASE WHEN x.rn = 1 THEN FALSE ELSE TRUE END",
    "x.rn BETWEEN 1 AND 2 AND x.rn NOT IN (2, 3)",
    "TRUE",
)


@pytest.mark.parametrize("join", JOINS)
def test_what_is_said_of_a_row_number_means_what_it_says(join):
    rng = random.Random(11)
    for condition in CONDITIONS:
        sql = f"SELECT COUNT(*) AS n, SUM(x.days) AS d FROM {join} WHERE {condition}"
        held, free = (
            compile_query(text, hospital.DATASET)
            for text in (sql, sql.replace("x.rn", "(x.rn + 0)"))
        )
        for one, other in zip(held.measures, free.measures, strict=True):
            assert one.sensitivity.l1 <= other.sensitivity.l1
        for _ in range(rounds(4, gate=2)):
            with engine.connect() as connection:
                engine.load(connection, hospital.random_tables(rng))
                found = engine.exact_vectors(connection, held.rendered)
                assert found == engine.exact_vectors(connection, free.rendered), sql


def test_what_is_said_of_no_null_is_held_before_a_left_join():
    sql = f"SELECT COUNT(*) AS n FROM {JOINS[1]} WHERE x.rn = 1"
    (measure,) = compile_query(sql, hospital.DATASET).measures
    assert measure.sensitivity.l1 == 1
