"""Other dialects' words over real HTTP: answered, free for a repeat, mended."""

import pytest

from curator_client import Curator, SqlRefusedError

SHARE = (
    "SELECT department, COUNT(*) FILTER (WHERE age >= 65) AS old, COUNT(*) AS stays"
    " FROM encounters GROUP BY ALL"
)
SAME_SHARE = (
    "SELECT department, COUNT(CASE WHEN age >= 65 THEN 1 END) AS old,"
    " COUNT(1) AS stays FROM encounters GROUP BY 1"
)
PATIENTS = (
    "SELECT COUNT(DISTINCT CASE WHEN code LIKE 'E11%' THEN patient_id END) AS diabetes"
    " FROM diagnoses"
)
SAME_PATIENTS = (
    "SELECT COUNT(DISTINCT patient_id) FILTER (WHERE code LIKE 'E11%') AS diabetes"
    " FROM diagnoses"
)


@pytest.fixture
def researcher(hospital):
    with Curator(*hospital) as connection:
        yield connection


@pytest.mark.parametrize(
    ("sql", "again"), [(SHARE, SAME_SHARE), (PATIENTS, SAME_PATIENTS)]
)
def test_an_idiom_is_answered_and_a_repeat_in_other_words_is_free(
    researcher, sql, again
):
    first = researcher.query(sql, epsilon="0.1")
    second = researcher.query(again, epsilon="0.1")
    assert second.charge["reused"] is True
    assert second.rows == first.rows


def test_a_mechanical_fix_comes_with_the_refusal_and_can_be_asked(researcher):
    with pytest.raises(SqlRefusedError) as refused:
        researcher.plan("SELECT COUNT(*) FROM encounters WHERE agee > 60", epsilon="1")
    fixed = "SELECT COUNT(*) FROM encounters WHERE age > 60"
    assert refused.value.problem["rewritten"] == fixed
    assert f"this would be answered: {fixed}" in str(refused.value)
    assert researcher.plan(fixed, epsilon="1").epsilon == "1"


def test_a_refusal_without_a_sure_fix_holds_none(researcher):
    with pytest.raises(SqlRefusedError) as refused:
        researcher.plan("SELECT MAX(age) FROM encounters", epsilon="1")
    assert "rewritten" not in refused.value.problem
