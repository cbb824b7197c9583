"""Texts of SAS's PROC SQL, whose refusals hold them in the words of SQL."""
# ruff: noqa: E501 - a text is one string, to be read

from datetime import date, timedelta

import duckdb
import pytest

from privacy.errors import QueryError
from query_lang.rewriting.fixes.sas import as_sql
from query_lang.rewriting.mending import mended
from tests.golden.reference_pages import hospital
from tests.support.compiling import calls_of, compile_query

WHERE = "SELECT COUNT(*) FROM encounters WHERE "
CONDITIONS = (
    ("admitted ge '01JAN2020'd", "admitted >= DATE '2020-01-01'"),
    ("admitted lt '1feb2020'D", "admitted < DATE '2020-02-01'"),
    ("age ne . and age > 60", "age IS NOT NULL and age > 60"),
    ("(age = .) or age gt .", "(age IS NULL) or age IS NOT NULL"),
    ("discharged_to is missing", "discharged_to is NULL"),
    ("discharged_to is not missing", "discharged_to is not NULL"),
    (
        "not missing(age) and age * 2 le 40",
        "not (age IS NULL) and age * 2 <= 40",
    ),
    ("department contains 'surg'", "department LIKE '%surg%'"),
    ("department not contains 'surg'", "department not LIKE '%surg%'"),
    ("department =: 'surg'", "department LIKE 'surg%'"),
    (
        "department = : 'surg' and diagnosis_group=:'c' and age eq 3",
        "department LIKE 'surg%' and diagnosis_group LIKE 'c%' and age = 3",
    ),
    (
        "intck('DAY', admitted, '31DEC2024'd) gt 30",
        "DATEDIFF(day, admitted, DATE '2024-12-31') > 30",
    ),
    (
        "floor(yrdif(admitted, '31DEC2024'd, 'AGE')) ge 2",
        "admitted + INTERVAL '2 years' <= DATE '2024-12-31'",
    ),
    (
        "yrdif(admitted, '31DEC2024'd, 'AGE') > 2",
        "admitted + INTERVAL '2 years' < DATE '2024-12-31'",
    ),
    (
        "int(yrdif(admitted, '31DEC2024'd, 'AGE')) le 2",
        "admitted + INTERVAL '3 years' > DATE '2024-12-31'",
    ),
    (
        "case when age lt 60 then 1 else 0 end eq 1 and length_of_stay ne -1",
        "case when age < 60 then 1 else 0 end = 1 and length_of_stay <> -1",
    ),
)
TEXTS = (
    (
        "select department, count(*) as n, std(age) as sd, nmiss(age) as m, calculated m / calculated n as p format=percent8.1 label='Share' from encounters where admitted ge '01JAN2020'd group by department",
        "select department, count(*) as n, STDDEV(age) as sd, COUNT(*) FILTER (WHERE age IS NULL) as m, (COUNT(*) FILTER (WHERE age IS NULL)) / count(*) as p from encounters where admitted >= DATE '2020-01-01' group by department",
    ),
    (
        'select count(*) as "stays" format=8. , n(age) format=comma12. from encounters',
        'select count(*) as "stays" , COUNT(age) from encounters',
    ),
    (
        "select sex, sum(birth_year lt 1950) + 1 as f, calculated f * 2 as q, calculated q + 1 as r from patients group by sex order by calculated q",
        "select sex, sum(birth_year < 1950) + 1 as f, (sum(birth_year < 1950) + 1) * 2 as q, ((sum(birth_year < 1950) + 1) * 2) + 1 as r from patients group by sex order by ((sum(birth_year < 1950) + 1) * 2)",
    ),
    (
        "select count(*) from labs where abnormal eq 1 and taken ge '2020/01/01'",
        "select count(*) from labs where abnormal = TRUE and taken >= '2020-01-01'",
    ),
)
NOT_WRITTEN = (
    f"{WHERE}department contains 'a_b'",
    f"{WHERE}department =: 'a%'",
    f"{WHERE}admitted ge '01XYZ2020'd",
    f"{WHERE}admitted ge '31FEB2020'd",
    f"{WHERE}intck('week', admitted, '31DEC2024'd) gt 3",
    f"{WHERE}yrdif(admitted, '31DEC2024'd, 'ACT/ACT') gt 3",
    f"{WHERE}yrdif(admitted, '31DEC2024'd, 'AGE') gt 2.5",
    f"{WHERE}1 + yrdif(admitted, '31DEC2024'd, 'AGE') gt 2",
    f"{WHERE}yrdif(admitted, '31DEC2024'd, 'AGE') gt 2 * 3",
    "select count(*) as n, calculated m from encounters",
    "select std(age) as sd from encounters",  # MySQL's is of a population
)


def compiles(sql):
    return compile_query(sql, hospital())


def rewritten(sql):
    with pytest.raises(QueryError) as refused:
        compiles(sql)
    return mended(sql, refused.value, compiles)


@pytest.mark.parametrize(("condition", "meant"), CONDITIONS)
def test_a_condition_of_sas_is_written_with_the_signs_of_sql(condition, meant):
    assert rewritten(WHERE + condition) == WHERE + meant


@pytest.mark.parametrize(("sql", "fixed"), TEXTS)
def test_a_text_that_holds_several_words_of_sas_is_rewritten_at_once(sql, fixed):
    assert rewritten(sql) == fixed


@pytest.mark.parametrize("sql", NOT_WRITTEN)
def test_what_sql_has_no_word_for_keeps_its_hint_alone(sql):
    assert rewritten(sql) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM encounters AS ne WHERE ne.age > 60",
        "SELECT COUNT(*) AS le FROM labs lt JOIN patients ge ON ge.patient_id = lt.x",
        "SELECT format FROM t WHERE format = 'eq' AND label = 1 -- missing",
        "SELECT contains(a, 'b'), n.x, t.missing FROM n",
        "SELECT 'a'd, ''",
    ],
)
def test_names_that_sas_has_other_meanings_for_are_left_alone(sql):
    assert list(as_sql(sql)) == []


def test_a_long_text_of_many_words_takes_bounded_work():
    many = " AND ".join(["missing(missing(age)) and age ne ."] * 100)
    assert calls_of(lambda: list(as_sql(WHERE + many))) < 400_000


def age(born, day):
    """Return completed years as SAS has them: born on 29 February, of age on the 28th."""
    short = (born.month, born.day) == (2, 29) and not _is_leap(day.year)
    birthday = (2, 28) if short else (born.month, born.day)
    return day.year - born.year - ((day.month, day.day) < birthday)


def _is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


@pytest.mark.parametrize("sign", [">=", "<", ">", "<="])
def test_ages_of_yrdif_are_compared_alike_on_every_day_around_a_birthday(sign):
    condition = f"floor(yrdif(born, day, 'AGE')) {sign} 18"
    (sql,) = as_sql(f"SELECT {_WHEN.format(condition)}")
    holds = {">=": int.__ge__, "<": int.__lt__, ">": int.__gt__, "<=": int.__le__}[sign]
    borns = [date(2004, 2, 28), date(2004, 2, 29), date(2004, 3, 1), date(2003, 12, 31)]
    with duckdb.connect(":memory:") as connection:
        for born in borns:
            for days in range(-400, 400):
                day = date(born.year + 18, 2, 28) + timedelta(days)
                rows = f"(SELECT DATE '{born}' AS born, DATE '{day}' AS day)"
                found = connection.execute(f"{sql} FROM {rows}").fetchone()
                assert found == (int(holds(age(born, day), 18)),), (born, day)


_WHEN = "CASE WHEN {} THEN 1 ELSE 0 END"
