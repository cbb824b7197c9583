"""LATERAL and APPLY of one row: what a plain loop over rows finds."""

import random

import pytest

from privacy.errors import QueryError
from tests.semantics import engine, hospital
from tests.support.compiling import compile_query

LATER = (
    "(SELECT d.seq FROM diagnoses d WHERE d.patient_id = e.patient_id AND d.noted <= "
    "e.started ORDER BY d.noted DESC, seq LIMIT 1) x"
)
FORMS = {
    f"LEFT JOIN LATERAL {LATER} ON TRUE": True,
    f"CROSS JOIN LATERAL {LATER}": False,
    f", LATERAL {LATER}": False,
    f"JOIN LATERAL {LATER} ON TRUE": False,
    f"OUTER APPLY {LATER}": True,
    f"CROSS APPLY {LATER.replace('SELECT', 'SELECT TOP 1').replace(' LIMIT 1', '')}": (
        False
    ),
}


def first_numbers(tables, is_outer):
    """Return the number of the diagnosis that each stay meets, None for none."""
    found = []
    for stay in tables["encounters"]:
        before = [
            row
            for row in tables["diagnoses"]
            if row["unit"] == stay["unit"]
            and None not in (row["noted"], stay["started"])
            and row["noted"] <= stay["started"]
        ]
        before.sort(key=lambda row: row["seq"])
        before.sort(key=lambda row: row["noted"], reverse=True)
        if before or is_outer:
            found.append(before[0]["seq"] if before else None)
    return found


@pytest.mark.parametrize("form", FORMS)
def test_each_row_is_joined_with_the_first_that_it_meets(form):
    sql = f"SELECT COUNT(*) AS n, SUM(x.seq) AS m FROM encounters e {form}"
    rng = random.Random(5)
    compiled = compile_query(sql, hospital.DATASET)
    assert [measure.sensitivity.l1 for measure in compiled.measures] == [4, 16]
    for _ in range(20):
        tables = hospital.random_tables(rng)
        with engine.connect() as connection:
            engine.load(connection, tables)
            vectors = engine.exact_vectors(connection, compiled.rendered)
        found = first_numbers(tables, FORMS[form])
        assert vectors == [[len(found)], [sum(number or 0 for number in found)]]


LABS = "LEFT JOIN LATERAL (SELECT {} FROM labs {}{} LIMIT {}) x ON {}"
OWN = "l WHERE l.patient_id = e.patient_id"


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (("result", OWN, "", 2, "TRUE"), "first row of one table"),
        (("COUNT(*) AS n", OWN, "", 1, "TRUE"), "first row of one table"),
        (("DISTINCT result", OWN, "", 1, "TRUE"), "first row of one table"),
        (("result", "l", "", 1, "TRUE"), "first row of one table"),
        (("result", OWN, "", 1, "x.result > 1"), "first row of one table"),
        (("result", "l WHERE l.result > 1", "", 1, "TRUE"), "unit key"),
        (("result", "e WHERE e.result > 1", "", 1, "TRUE"), "are called e"),
        (("result", OWN, " ORDER BY e.patient_id", 1, "TRUE"), "unit key"),
    ],
)
def test_what_is_not_one_first_row_is_refused(parts, said):
    sql = f"SELECT COUNT(*) FROM encounters e {LABS.format(*parts)}"
    with pytest.raises(QueryError, match=said):
        compile_query(sql, hospital.DATASET)
