"""Refusals that hold the text with its fix."""
# ruff: noqa: E501 - a text is one string, to be read

import pytest

from privacy.errors import QueryError
from query_lang.rewriting.mending import LONGEST, MOST_TRIED, mended
from tests.golden.reference_pages import hospital
from tests.support.compiling import compile_query

MENDED = (
    (
        "SELECT COUNT(*) FROM my-project.hospital.encounters WHERE age > 60",
        "SELECT COUNT(*) FROM hospital.encounters WHERE age > 60",
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE agee > 60",
        "SELECT COUNT(*) FROM encounters WHERE age > 60",
    ),
    (
        "SELECT COUNT(*) FROM encounters AS e WHERE e.agee > 60",
        "SELECT COUNT(*) FROM encounters AS e WHERE e.age > 60",
    ),
    (
        'SELECT COUNT(*) FROM encounters WHERE department = "surgery"',
        "SELECT COUNT(*) FROM encounters WHERE department = 'surgery'",
    ),
    (
        'SELECT COUNT(*) FROM encounters WHERE department = "Surgery"',
        "SELECT COUNT(*) FROM encounters WHERE department = 'Surgery'",
    ),
    (
        "SELECT COUNT(*) FROM encounter",
        "SELECT COUNT(*) FROM encounters",
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE age > '60'",
        "SELECT COUNT(*) FROM encounters WHERE age > 60",
    ),
    (
        "SELECT COUNT(*) FROM diagnoses WHERE code = 250",
        "SELECT COUNT(*) FROM diagnoses WHERE code = '250'",
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE discharged_to = NULL",
        "SELECT COUNT(*) FROM encounters WHERE discharged_to IS NULL",
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE discharged_to <> NULL",
        "SELECT COUNT(*) FROM encounters WHERE discharged_to IS NOT NULL",
    ),
    (
        "SELECT COUNT(*) FROM warehouse.encounters",
        "SELECT COUNT(*) FROM encounters",
    ),
    (
        "SELECT COUNT(*) FROM clinic.dbo.encounters",
        "SELECT COUNT(*) FROM dbo.encounters",
    ),
    (
        "SELECT department, COUNT(*) AS n FROM encounters ORDER BY n DESC",
        "SELECT department, COUNT(*) AS n FROM encounters GROUP BY department ORDER BY n DESC",
    ),
    (
        "SELECT department, COUNT(*) FROM encounters;",
        "SELECT department, COUNT(*) FROM encounters GROUP BY department ;",
    ),
    (
        "SELECT COUNT(*) FROM encounters GROUP BY department",
        "SELECT department, COUNT(*) FROM encounters GROUP BY department",
    ),
    (
        "SELECT COUNT(*) FROM `clinic.stays.encounters` WHERE `age` > 60",
        "SELECT COUNT(*) FROM `encounters` WHERE `age` > 60",
    ),
    (
        "SELECT COUNT(*) FROM encounters WHERE department = \u2018surgery\u2019",
        "SELECT COUNT(*) FROM encounters WHERE department = 'surgery'",
    ),
    (
        "SELECT COUNT(*) FROM encounters AS e JOIN diagnoses AS d USING (patient_id) WHERE encounter_id = 1",
        "SELECT COUNT(*) FROM encounters AS e JOIN diagnoses AS d USING (patient_id) WHERE e.encounter_id = 1",
    ),
)
NOT_MENDED = (
    "SELECT MAX(age) FROM encounters",
    "SELECT COUNT(*) FROM encounters WHERE zzz > 60",
    "SELECT COUNT(*) FROM encounters TABLESAMPLE (10 PERCENT)",
    "SELECT COUNT(*) FROM encounters WHERE agee > 60 AND zzz = 1",
)


def compiles(sql):
    return compile_query(sql, hospital())


def refusal(sql):
    with pytest.raises(QueryError) as refused:
        compiles(sql)
    return refused.value


@pytest.mark.parametrize(("sql", "fixed"), MENDED)
def test_a_mechanical_fix_is_written_into_the_text(sql, fixed):
    assert mended(sql, refusal(sql), compiles) == fixed
    compiles(fixed)


@pytest.mark.parametrize("sql", NOT_MENDED)
def test_what_would_mean_something_else_or_is_refused_again_is_not_offered(sql):
    assert mended(sql, refusal(sql), compiles) is None


def test_a_long_text_keeps_its_hint_alone():
    sql = "SELECT COUNT(*) FROM encounters WHERE agee > 60" + " " * LONGEST
    assert mended(sql, refusal(sql), compiles) is None


@pytest.mark.parametrize(
    "sql", ["SELECT COUNT(*) FROM `visits`", *(one for one, _ in MENDED)]
)
def test_a_fix_is_looked_for_among_few_texts(sql):
    """A refusal's slot counts them; which they are follows from the text alone."""
    tried = []

    def compiles(text):
        tried.append(text)
        raise error

    with pytest.raises(QueryError) as refused:
        compile_query(sql, hospital())
    error = refused.value
    assert mended(sql, error, compiles) is None
    assert 0 < len(tried) <= MOST_TRIED
