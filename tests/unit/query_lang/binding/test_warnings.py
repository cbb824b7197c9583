"""Texts that mean another thing elsewhere are answered, and say so."""

import pytest

from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

C = "SELECT COUNT(*) AS n FROM encounters WHERE "
PER_UNIT = "SELECT COUNT(*) AS n FROM (SELECT patient_id, {} AS x FROM encounters) AS e"
BY = "OVER (PARTITION BY patient_id ORDER BY admitted{})"

SWAPPED = (
    "SELECT ward AS sex, sex AS s, COUNT(*) FROM encounters GROUP BY 1, 2 ORDER BY sex"
)


@pytest.mark.parametrize(
    ("sql", "codes"),
    [
        (C + "age / 7 > 1", ["integer_division"]),
        (C + "age / 7.0 > 1", []),
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
        ("SELECT ward, COUNT(*) FROM encounters GROUP BY ward ORDER BY ward", []),
        (SWAPPED, ["column_before_alias"]),
        ("SELECT sex, COUNT(*) FROM encounters GROUP BY sex ORDER BY 1 DESC", []),
    ],
)
def test_a_text_that_means_another_thing_elsewhere_says_so(sql, codes):
    warned = [warning.code for warning in compile_query(sql, HOSPITAL).warnings]
    assert warned == codes


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
