"""Texts that mean another thing elsewhere are answered, and say so."""

import re

import duckdb
import pytest

from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

C = "SELECT COUNT(*) AS n FROM encounters WHERE "
PER_UNIT = "SELECT COUNT(*) AS n FROM (SELECT patient_id, {} AS x FROM encounters) AS e"
OVER = "SELECT level, {} OVER (ORDER BY level {}) FROM encounters GROUP BY level"
BY = "OVER (PARTITION BY patient_id ORDER BY admitted{})"

SWAPPED = (
    "SELECT ward AS sex, sex AS s, COUNT(*) FROM encounters GROUP BY 1, 2 ORDER BY sex"
)


@pytest.mark.parametrize(
    ("sql", "codes"),
    [
        (C + "age / 7 > 1", ["integer_division"]),
        (C + "age / 7.0 > 1", []),
        (C + "CEIL(age / 7.0) / 2 > 1", []),
        (C + "CASE WHEN smoker THEN 1.0 ELSE 0 END / 2 > 0.4", []),
        (OVER.format("AVG(COUNT(*))", "ROWS 2 PRECEDING"), ["empty_cells"]),
        (OVER.format("SUM(COUNT(*))", "ROWS 2 PRECEDING"), ["empty_cells"]),
        (OVER.format("LAG(COUNT(*))", ""), ["empty_cells"]),
        (OVER.format("SUM(COUNT(*))", ""), []),
        (C + "age + 7 > 1", []),
        (C + "code LIKE 'C[0-9]%'", ["like_class"]),
        (C + "code LIKE 'C0%' OR code ~ '^C[0-9]'", []),
        (C + "seen - admitted > 7", ["seconds"]),
        (C + "seen - admitted > INTERVAL '7 days'", []),
        (C + "discharged - admitted > 7", []),
        (PER_UNIT.format(f"SUM(age) {BY.format('')}"), ["window_rows"]),
        (PER_UNIT.format(f"COUNT(*) {BY.format(' ROWS 2 PRECEDING')}"), []),
        (PER_UNIT.format(f"COUNT(*) {BY.format('')}"), ["window_rows"]),
        (PER_UNIT.format(f"LAST_VALUE(age) {BY.format('')}"), ["window_rows"]),
        (PER_UNIT.format(f"FIRST_VALUE(age) {BY.format('')}"), []),
        (PER_UNIT.format(f"ROW_NUMBER() {BY.format('')}"), []),
        (PER_UNIT.format(f"ROW_NUMBER() {BY.format(' DESC')}"), ["nulls_last"]),
        (PER_UNIT.format(f"ROW_NUMBER() {BY.format(' DESC NULLS LAST')}"), []),
        ("SELECT ward, COUNT(*) FROM encounters GROUP BY ward ORDER BY ward", []),
        (SWAPPED, ["column_before_alias"]),
        ("SELECT sex, COUNT(*) FROM encounters GROUP BY sex ORDER BY 1 DESC", []),
        (C + "WEEK(admitted) = 3", ["week_start"]),
        (C + "EXTRACT(WEEK FROM admitted) = 3", ["week_start"]),
        (C + "DATEPART(ww, admitted) = 3", ["week_start"]),
        (C + "DATEDIFF(week, admitted, discharged) = 3", ["week_start"]),
        (C + "DATETRUNC(week, admitted) = '2024-01-29'", ["week_start"]),
        (C + "DATEPART(iso_week, admitted) = EXTRACT(ISOWEEK FROM discharged)", []),
        (C + "DATE_PART('week', admitted) = WEEKOFYEAR(discharged)", []),
        (C + "DATETRUNC(iso_week, admitted) = '2024-01-29'", []),
        (C + "DATE_TRUNC('week', admitted) = '2024-01-29'", []),
        (C + "DATE_DIFF(discharged, admitted, WEEK(SUNDAY)) = 3", []),
        (C + "DATE_DIFF(discharged, admitted, WEEK(MONDAY)) = 3", []),
        (C + "DAYOFWEEK(admitted) = 1", ["day_numbers"]),
        (C + "EXTRACT(DAYOFWEEK FROM admitted) = 1", ["day_numbers"]),
        (C + "DATE_PART('dayofweek', admitted) = 1", ["day_numbers"]),
        (C + "EXTRACT(DOW FROM admitted) = ISODOW(discharged)", []),
        (C + "ROUND((age / 40.0)::float) = 1", ["half_to_even"]),
        (C + "(stay::double precision)::int = 1", ["half_to_even"]),
        (C + "CAST(-2 * CAST(cost AS REAL) AS BIGINT) = 1", ["half_to_even"]),
        (C + "ROUND(stay::numeric) = 1 AND stay::int = 1", []),
        (C + "ROUND(cost::float / 2, 1) = 1", []),
        (C + "ROUND(age::float) = 1 AND FLOOR(stay::float) = 1", []),
    ],
)
def test_a_text_that_means_another_thing_elsewhere_says_so(sql, codes):
    warned = [warning.code for warning in compile_query(sql, HOSPITAL).warnings]
    assert warned == codes


@pytest.mark.parametrize(
    ("divided", "in_postgresql"),
    [
        ("EXTRACT(YEAR FROM admitted) / 10", "202.4"),
        ("DATE_PART('year', admitted) / 10", "202.4"),
        ("-(2 + EXTRACT(YEAR FROM admitted)) / 10", "202.4"),
        ("2000 / EXTRACT(MONTH FROM AGE(admitted, DATE '2000-01-01'))", "202.4"),
        ("CAST(EXTRACT(YEAR FROM admitted) AS INTEGER) / 10", "integers"),
        ("YEAR(admitted) / 10", "integers"),
    ],
)
def test_a_cut_division_says_whether_postgresql_cuts_it(divided, in_postgresql):
    (warning,) = compile_query(f"{C}{divided} > 1", HOSPITAL).warnings
    assert warning.code == "integer_division"
    assert in_postgresql in warning.detail


ROLLED = "COUNT(*) AS n FROM encounters {} GROUP BY ROLLUP (ward)"


@pytest.mark.parametrize(
    ("items", "where", "is_told"),
    [
        ("ward", "", True),
        ("ward, GROUPING(ward) AS g", "", False),
        ("CASE WHEN GROUPING(ward) = 1 THEN 'all' ELSE ward END AS s", "", False),
        ("ward", "WHERE ward IS NOT NULL", False),
    ],
)
def test_null_of_a_key_and_of_its_total_are_told_apart_or_it_is_said(
    items, where, is_told
):
    sql = f"SELECT {items}, {ROLLED.format(where)}"
    warned = [warning.code for warning in compile_query(sql, HOSPITAL).warnings]
    assert ("null_and_total" in warned) is is_told


def sunday_week(day):
    """Return the number of a day's week from Sunday on, the first from the year's."""
    return int(day.strftime("%U"))


def sql_server_week(day):
    """Return the number of a day's week from Sunday on, the first from 1 January."""
    starts = day.replace(month=1, day=1).isoweekday() % 7
    return (day.timetuple().tm_yday - 1 + starts) // 7 + 1


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("WEEK(admitted)", sunday_week), ("DATEPART(week, admitted)", sql_server_week)],
)
def test_a_warning_writes_the_weeks_of_others(asked, meant):
    (warning,) = compile_query(f"{C}{asked} = 3", HOSPITAL).warnings
    written = re.search(r"DIV\((.*), 7\)", warning.detail)[1].replace(" d)", " day)")
    days = "generate_series(DATE '2018-01-01', DATE '2029-12-31', INTERVAL '1 day')"
    rows = duckdb.connect().execute(
        f"SELECT day::DATE, ({written}) // 7 FROM {days} AS t(day)"
    )
    assert all(number == meant(day) for day, number in rows.fetchall())
    assert compile_query(
        f"{C}DIV({written}, 7) = 3".replace("day", "admitted"), HOSPITAL
    )


@pytest.mark.parametrize(
    "rows",
    [
        "SELECT patient_id FROM encounters GROUP BY patient_id, sex",
        (
            "SELECT patient_id FROM encounters GROUP BY patient_id HAVING "
            "COUNT(DISTINCT sex) > 1"
        ),
        "SELECT DISTINCT patient_id, sex FROM encounters",
        (
            "SELECT DISTINCT ON (patient_id, sex) patient_id, age FROM encounters "
            "ORDER BY patient_id, sex, admitted"
        ),
        (
            "SELECT a.patient_id FROM encounters AS a JOIN encounters AS b "
            "ON a.patient_id = b.patient_id AND a.sex <> b.sex"
        ),
        (
            "SELECT patient_id FROM (SELECT patient_id, sex, LAG(sex) OVER (PARTITION "
            "BY patient_id ORDER BY admitted) AS was FROM encounters) AS e "
            "WHERE was <> sex"
        ),
        (
            "SELECT patient_id FROM encounters AS a WHERE NOT EXISTS (SELECT 1 FROM "
            "encounters AS b WHERE b.patient_id = a.patient_id AND b.sex = a.sex)"
        ),
        (
            "SELECT patient_id, sex FROM encounters UNION SELECT patient_id, sex FROM "
            "encounters"
        ),
    ],
)
def test_values_that_were_folded_into_one_are_told_wherever_they_are_compared(rows):
    sql = f"SELECT COUNT(*) FROM ({rows}) AS r"
    codes = [warning.code for warning in compile_query(sql, HOSPITAL).warnings]
    assert codes == ["other_values"]


def test_a_literal_that_is_not_declared_was_stored_as_other():
    (warning,) = compile_query(C + "sex = 'x'", HOSPITAL).warnings
    assert "was stored as 'other'" in warning.detail


@pytest.mark.parametrize(
    ("young", "counted", "order", "said"),
    [
        ("'young'", "COUNT(*)", "ORDER BY who", "young, adult"),
        ("9", "COUNT(*)", "ORDER BY who", "9, 1"),
        ("'young'", "SUM(COUNT(*)) OVER (ORDER BY who)", "", "young, adult"),
    ],
)
def test_the_declared_order_is_named(young, counted, order, said):
    adult = "'adult'" if young == "'young'" else "1"
    sql = (
        f"SELECT CASE WHEN age < 18 THEN {young} ELSE {adult} END AS who, {counted} AS"
        f" n FROM encounters GROUP BY who {order}"
    )
    (warning,) = compile_query(sql, HOSPITAL).warnings
    assert warning.code == "declared_order"
    assert warning.detail.endswith(said)


@pytest.mark.parametrize(
    ("shown", "sets", "said"),
    [
        ("COALESCE(sex, 'all')", "ROLLUP(sex)", "f, m, other, all"),
        ("COALESCE(sex, 'all')", "GROUPING SETS ((), (sex))", None),
        (
            "CASE WHEN GROUPING(sex) = 1 THEN 'both' ELSE sex END",
            "ROLLUP(sex)",
            "f, m, other, both",
        ),
        ("CASE WHEN GROUPING(sex) = 1 THEN 'z' ELSE sex END", "ROLLUP(sex)", None),
    ],
)
def test_the_order_of_keys_with_a_word_for_totals_is_named(shown, sets, said):
    sql = f"SELECT {shown} AS s, COUNT(*) AS n FROM encounters GROUP BY {sets}"
    warnings = compile_query(f"{sql} ORDER BY 1 LIMIT 2", HOSPITAL).warnings
    told = [w.detail for w in warnings if w.code == "declared_order"]
    assert told == (
        [] if said is None else [f"ORDER BY s follows the declared list: {said}"]
    )
