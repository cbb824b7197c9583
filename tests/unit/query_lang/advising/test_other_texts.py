"""Coarser texts: what each leaves out, and what it does not touch."""

import duckdb
import pytest

from query_lang.advising.other_texts import LONGEST, MOST_TEXTS, other_texts


def written(sql, kind):
    return [
        other.sql
        for other in other_texts(sql, "patient", "patient_id")
        if other.kind == kind
    ]


def test_people_are_counted_where_rows_were():
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    assert written(sql, "units") == [
        "SELECT ward, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY ward"
    ]


def test_the_unit_column_is_of_the_first_table_of_a_join():
    joined = "SELECT COUNT(*) FROM visits AS v JOIN labs l USING (patient_id)"
    assert "COUNT(DISTINCT v.patient_id)" in written(joined, "units")[0]
    plain = "SELECT COUNT(*) FROM visits JOIN labs USING (patient_id)"
    assert "COUNT(DISTINCT visits.patient_id)" in written(plain, "units")[0]


def test_what_stands_in_quotes_is_a_value():
    sql = "SELECT COUNT(*) FROM visits WHERE ward = 'COUNT(*)'"
    assert written(sql, "units")[0].endswith("WHERE ward = 'COUNT(*)'")


@pytest.mark.parametrize(
    ("sql", "without"),
    [
        (
            "SELECT sex, ward, COUNT(*) FROM visits GROUP BY sex, ward ORDER BY sex",
            "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        ),
        (
            "SELECT v.sex s, ward, COUNT(*) FROM visits v GROUP BY s, ward LIMIT 3;",
            "SELECT ward, COUNT(*) FROM visits v GROUP BY ward LIMIT 3;",
        ),
        (
            "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex HAVING COUNT(*) > 9",
            "SELECT COUNT(*) AS n FROM visits HAVING COUNT(*) > 9",
        ),
        (
            "WITH a AS (SELECT sex FROM t) SELECT sex, COUNT(*) FROM a GROUP BY sex",
            "WITH a AS (SELECT sex FROM t) SELECT COUNT(*) FROM a",
        ),
    ],
)
def test_each_key_is_left_out_in_all_its_clauses(sql, without):
    assert written(sql, "key")[0] == without


def test_keys_by_position_are_left_alone():
    assert written("SELECT sex, COUNT(*) FROM visits GROUP BY 1", "key") == []


@pytest.mark.parametrize(
    ("cut", "longer"),
    [
        ("DATE_TRUNC('month', admitted)", "DATE_TRUNC('quarter', admitted)"),
        ("date_trunc('day', admitted)", "date_trunc('month', admitted)"),
        ("DATE_TRUNC(admitted, QUARTER)", "DATE_TRUNC(admitted, YEAR)"),
    ],
)
def test_dates_are_cut_to_the_next_longer_period(cut, longer):
    sql = f"SELECT {cut} AS p, COUNT(*) FROM visits WHERE ward = 'month' GROUP BY {cut}"
    where = "COUNT(*) FROM visits WHERE ward = 'month'"
    found = f"SELECT {longer} AS p, {where} GROUP BY {longer}"
    assert written(sql, "period") == [found]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(DISTINCT patient_id) FROM visits",
        "SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM labs",
        "SELECT \x00",
        f"SELECT COUNT(*) FROM visits -- {'x' * LONGEST}",
    ],
)
def test_some_texts_have_no_others(sql):
    assert other_texts(sql, "patient", "patient_id") == []


def test_there_are_never_more_than_so_many():
    keys = ", ".join(f"k{n}" for n in range(12))
    sql = f"SELECT {keys}, COUNT(*) FROM visits GROUP BY {keys}"
    assert len(other_texts(sql, "patient", "patient_id")) == MOST_TEXTS


FORMS = (
    "COUNT(*) FILTER (WHERE e.sex = {}) AS {}",
    "SUM(CASE WHEN e.sex = {} THEN 1 ELSE 0 END) AS {}",
    "count(case when E.SEX = {} then 1 end) {}",
    "COUNTIF(e.sex = {}) AS {}",
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("where", ["", "WHERE level = 1 OR age > 40 "])
@pytest.mark.parametrize("key", ["", "ward"])
def test_columns_of_one_value_each_are_groups_that_count_the_same(form, where, key):
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE encounters AS SELECT ['f', 'm', 'x'][1 + i % 3] AS sex, i % 7 AS "
        "level, i % 90 AS age, ['a', 'b', NULL][1 + i % 5 % 3] AS ward "
        "FROM range(1000) AS r(i)"
    )
    columns = ", ".join(form.format(f"'{sex}'", sex) for sex in ("f", "m"))
    keys, grouped = (f"{key}, ", f"GROUP BY {key} ORDER BY f") if key else ("", "")
    sql = f"SELECT {keys}{columns} FROM encounters e {where}{grouped}"
    (other,) = written(sql, "values")
    asked = connection.execute(sql.replace("COUNTIF", "COUNT_IF")).fetchall()
    said = {tuple(row[:-1]): row[-1] for row in connection.execute(other).fetchall()}
    for row in asked:
        for sex, number in zip(("f", "m"), row[-2:], strict=True):
            assert said.get((*row[:-2], sex), 0) == number
    assert sum(said.values()) > 0


@pytest.mark.parametrize(
    "columns",
    [
        "COUNT(*) FILTER (WHERE sex = 'f')",
        "COUNT(*) FILTER (WHERE sex = 'f'), COUNT(*) FILTER (WHERE ward = 'a')",
        "COUNT(*) FILTER (WHERE sex = 'f'), COUNT(*) FILTER (WHERE sex = 'f')",
        "COUNT(*) FILTER (WHERE sex = 'f'), COUNT(*) FILTER (WHERE sex <> 'f')",
        "COUNT(*) FILTER (WHERE sex = 'f'), COUNT(*)",
        "COUNT(*) FILTER (WHERE sex = 'f' OR urgent), COUNTIF(sex = 'm')",
        "TOP 1 COUNTIF(sex = 'f') AS f, COUNTIF(sex = 'm') AS m",
        "COUNTIF(sex = 'f') AS f, COUNTIF(sex = 'm') AS m -- both\n",
    ],
)
def test_other_columns_are_no_groups(columns):
    assert written(f"SELECT {columns} FROM visits", "values") == []
