"""Days and truth values in other texts, and aliases within their SELECT list."""
# ruff: noqa: E501 - a text is one string, to be read

import pytest

from privacy.errors import QueryError
from query_lang.rewriting.mending import mended
from tests.golden.reference_pages import hospital
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

STAYS = "SELECT COUNT(*) FROM encounters WHERE "
DAYS = (
    (
        "admitted BETWEEN '2020-1-5' AND '2021/02/03'",
        "admitted BETWEEN '2020-1-5' AND '2021-02-03'",
    ),
    ("admitted >= '2020-01-01 00:00:00.000'", "admitted >= '2020-01-01'"),
    (
        "admitted BETWEEN '2020-01-01 00:00' AND '2020-12-31 23:59:59.999'",
        "admitted BETWEEN '2020-01-01' AND '2020-12-31'",
    ),
    ("admitted <= '2020-12-31T23:59:59'", "admitted <= '2020-12-31'"),
    (
        "COALESCE(admitted, '2024/12/31') > '2020-01-01'",
        "COALESCE(admitted, '2024-12-31') > '2020-01-01'",
    ),
    (
        "admitted < TO_DATE('31.01.2021', 'DD.MM.YYYY') AND admitted > TO_DATE('2020/01/31', 'yyyy/mm/dd')",
        "admitted < DATE '2021-01-31' AND admitted > DATE '2020-01-31'",
    ),
)
OTHER_DAYS = (
    "admitted >= '01/02/2020'",  # of two months
    "admitted >= '2020-13-01'",
    "admitted >= '2020-1-5/6'",
    "admitted < '2020-12-31 23:59:59'",  # PostgreSQL cuts it to the day, others do not
    "admitted >= '2020-12-31 08:00:00'",
    "admitted BETWEEN '2020-12-31 08:00:00' AND '2021-01-01'",
    "admitted < TO_DATE('31.13.2021', 'DD.MM.YYYY')",
    "admitted < TO_DATE('31.12.21', 'DD.MM.YY')",
    "admitted < TO_DATE('1.2.2021', 'DD.MM.YYYY')",
    "admitted < TO_DATE('2021-2021-01', 'YYYY-YYYY-MM')",
)
LABS = "SELECT COUNT(*) FROM labs WHERE "
TRUTHS = (("abnormal = 1 OR abnormal != 0", "abnormal = TRUE OR abnormal != FALSE"),)
TAKEN = (
    (
        STAYS,
        "COALESCE(admitted, '20241231') > CAST('20200101' AS DATE)",
        "COALESCE(admitted, '2024-12-31') > DATE '2020-01-01'",
    ),
    (
        LABS,
        "abnormal = 'yes' AND abnormal <> 'F'",
        "abnormal = TRUE AND abnormal <> FALSE",
    ),
    (LABS, "abnormal IN ('true', 'N')", "abnormal IN (TRUE, FALSE)"),
    (
        STAYS,
        "admitted >= '20200101' AND admitted < date '20210101'",
        "admitted >= '2020-01-01' AND admitted < date '2021-01-01'",
    ),
    (
        STAYS,
        "admitted BETWEEN '2020-1-5' AND '2020-12-31'",
        "admitted BETWEEN '2020-01-05' AND '2020-12-31'",
    ),
)
OTHER_TRUTHS = ("abnormal = 'ja'", "abnormal = 2", "abnormal = '1.0'")
ALIASES = (
    (
        "SELECT COUNT(*) AS n, COUNT_IF(age < 18) AS young, young / n AS p FROM encounters",
        "SELECT COUNT(*) AS n, COUNT_IF(age < 18) AS young, COUNT_IF(age < 18) / n AS p FROM encounters",
    ),
    (
        "SELECT SUM(age) + 1 AS s, COUNT(age) AS k, s / k AS a, s AS t FROM encounters WHERE age > 3",
        "SELECT SUM(age) + 1 AS s, COUNT(age) AS k, (SUM(age) + 1) / k AS a, (SUM(age) + 1) AS t FROM encounters WHERE age > 3",
    ),
    (
        "SELECT age / 10 AS decade, decade * 10 AS start, COUNT(*) FROM encounters GROUP BY 1, 2",
        "SELECT age / 10 AS decade, (age / 10) * 10 AS start, COUNT(*) FROM encounters GROUP BY 1, 2",
    ),
)
OTHER_ALIASES = (
    "SELECT 100 * k AS m, COUNT(DISTINCT patient_id) AS k FROM encounters",
    "SELECT COUNT(*) AS n, zzz / n AS p FROM encounters",
)


def compiles(sql):
    return compile_query(sql, hospital())


def rewritten(sql):
    with pytest.raises(QueryError) as refused:
        compiles(sql)
    return mended(sql, refused.value, compiles)


@pytest.mark.parametrize(("condition", "meant"), DAYS)
def test_a_day_is_written_with_dashes(condition, meant):
    assert rewritten(STAYS + condition) == STAYS + meant


@pytest.mark.parametrize("condition", OTHER_DAYS)
def test_what_may_be_another_day_keeps_its_hint_alone(condition):
    assert rewritten(STAYS + condition) is None


@pytest.mark.parametrize(("condition", "meant"), TRUTHS)
def test_a_truth_value_is_written_out_beside_its_column(condition, meant):
    assert rewritten(LABS + condition) == LABS + meant


@pytest.mark.parametrize(("start", "condition", "meant"), TAKEN)
def test_texts_that_every_system_takes_are_read_as_they_stand(start, condition, meant):
    assert compiles(start + condition).canonical == compiles(start + meant).canonical


@pytest.mark.parametrize("condition", OTHER_TRUTHS)
def test_other_texts_are_no_truth_values(condition):
    assert rewritten(LABS + condition) is None


@pytest.mark.parametrize(("sql", "fixed"), ALIASES)
def test_an_alias_in_its_own_select_list_is_its_expression(sql, fixed):
    assert rewritten(sql) == fixed


@pytest.mark.parametrize("sql", OTHER_ALIASES)
def test_an_alias_that_comes_later_is_none(sql):
    assert rewritten(sql) is None


@pytest.mark.parametrize(
    "condition",
    [
        "seen BETWEEN '2024-01-01' AND '2024-01-31 23:59'",
        "seen <= '2024/01/31 08:00'",
        "seen > '2024-1-31T08:00'",
    ],
)
def test_beside_a_moment_no_time_is_cut_off(condition):
    sql = f"SELECT COUNT(*) FROM encounters WHERE {condition}"

    def at(text):
        return compile_query(text, HOSPITAL)

    with pytest.raises(QueryError) as refused:
        at(sql)
    found = mended(sql, refused.value, at)
    assert found is None or "08:00" in found or "23:59" in found
