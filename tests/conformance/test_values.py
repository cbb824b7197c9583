"""Values at the ends of their types, worked out by hand, on every engine.

Each case stands in a row of its own, found by its ``text``; the question counts the
rows for which the expression has the value. So a wrong value, and NULL, count 0.
"""

from datetime import date, datetime
from decimal import Decimal

import pytest

from tests.conformance.hostile import declared
from tests.conformance.schema import DATASET, FIRST, GREATEST, LAST, LEAST
from tests.support.compiling import compile_query

D = date
CASES = (  # what stands in the row, the expression, and the condition that holds
    ({"a": GREATEST}, "a + 1", "= 9223372036854775807"),
    ({"a": LEAST}, "a - 1", "= -9223372036854775808"),
    ({"a": LEAST}, "-a", "= 9223372036854775807"),
    ({"a": LEAST}, "a * -1", "= 9223372036854775807"),
    ({"a": LEAST, "b": LEAST}, "a * b", "= 9223372036854775807"),
    ({"a": GREATEST, "b": LEAST}, "a * b", "= -9223372036854775808"),
    ({"a": GREATEST, "b": LEAST}, "a + b", "= -1"),
    ({"a": GREATEST}, "(a + 1) - 1", "= 9223372036854775806"),
    ({"a": LEAST}, "a / NULLIF(-1, 0)", "= 9223372036854775807"),
    ({"a": -7}, "a / NULLIF(2, 0)", "= -3"),
    ({"a": 7}, "a / NULLIF(-2, 0)", "= -3"),
    ({"a": 7, "b": 0}, "a / NULLIF(b, 0)", "IS NULL"),
    ({"a": LEAST, "b": -1}, "a / b", "= 9223372036854775807"),
    ({"a": LEAST, "b": -1}, "a % b", "= 0"),
    ({"a": 7, "b": 0}, "a / b", "IS NULL"),
    ({"a": 7, "b": 0}, "a % b", "IS NULL"),
    ({"a": -7}, "a / 2", "= -3"),
    ({"a": -7}, "a % 3", "= -1"),
    ({"a": 7}, "MOD(a, -3)", "= 1"),
    ({"a": -7}, "a / 2.0", "= -3.5"),
    ({"a": 2}, "a / 3.0", "= 0.666667"),
    ({"a": -2}, "a / 3.0", "= -0.666667"),
    ({"a": GREATEST}, "a / 0.5", "= 9223372036854.775807"),
    ({"raw": Decimal("-7.5000")}, "raw % 2", "= -1.5"),
    ({"a": GREATEST}, "a + 0.5", "= 922337203685477580.7"),
    ({"raw": Decimal("0.0001"), "cost": Decimal("0.01")}, "raw * cost", "= 0.000001"),
    ({"raw": Decimal("0.0001"), "cost": Decimal("0.01")}, "raw - cost", "= -0.0099"),
    ({"cost": Decimal("-92233720368547758.08")}, "-cost", "= 92233720368547758.07"),
    ({"a": LEAST}, "ABS(a)", "= 9223372036854775807"),
    ({"raw": Decimal("-0.0001")}, "ABS(raw)", "= 0.0001"),
    ({"raw": Decimal("-0.0001")}, "SIGN(raw)", "= -1"),
    ({"cost": Decimal("-1.50")}, "FLOOR(cost)", "= -2"),
    ({"cost": Decimal("-1.50")}, "CEIL(cost)", "= -1"),
    ({"cost": Decimal("-1.50")}, "TRUNC(cost)", "= -1"),
    ({"cost": Decimal("-1.50")}, "ROUND(cost)", "= -2"),
    ({"cost": Decimal("2.50")}, "ROUND(cost)", "= 3"),
    ({"cost": Decimal("92233720368547758.07")}, "CEIL(cost)", "= 92233720368547759"),
    ({"raw": Decimal("0.0450")}, "ROUND(raw, 2)", "= 0.05"),
    ({"raw": Decimal("-0.0450")}, "TRUNC(raw, 2)", "= -0.04"),
    ({"a": 15}, "ROUND(a, -1)", "= 20"),
    ({"a": -14}, "ROUND(a, -1)", "= -10"),
    ({"a": GREATEST}, "ROUND(a, -1)", "= 9223372036854775807"),
    ({"a": GREATEST}, "TRUNC(a, -18)", "= 9000000000000000000"),
    ({"a": LEAST}, "POWER(a, 3)", "= -9223372036854775808"),
    ({"a": None, "b": 60}, "LEAST(a, b)", "= 60"),
    ({"a": None, "b": None}, "LEAST(a, b)", "IS NULL"),
    ({"a": 1, "raw": Decimal("0.9999")}, "GREATEST(a, raw)", "= 1"),
    ({"day": None, "until": LAST}, "LEAST(day, until)", "= DATE '9999-12-31'"),
    ({"a": 9}, "WIDTH_BUCKET(a, 0, 10, 5)", "= 5"),
    ({"a": 10}, "WIDTH_BUCKET(a, 0, 10, 5)", "= 6"),
    ({"a": -1}, "WIDTH_BUCKET(a, 0, 10, 5)", "= 0"),
    ({"a": LEAST}, "WIDTH_BUCKET(a, 0, 10, 5)", "= 0"),
    ({"raw": Decimal("0.2500")}, "WIDTH_BUCKET(raw, 0, 1, 4)", "= 2"),
    ({"raw": Decimal("0.2499")}, "WIDTH_BUCKET(raw, 0, 1, 4)", "= 1"),
    ({"a": None}, "a + 1", "IS NULL"),
    ({"a": 2**53 + 1}, "a", "> 9007199254740992"),
    ({"a": 900719925474099, "raw": Decimal("900719925474098.9999")}, "a", "> raw"),
    ({"raw": Decimal("-922337203685477.5808")}, "raw", "< -922337203685477.58079"),
    ({"raw": Decimal("0.0001")}, "raw", "> 0.00009"),
    ({"cost": Decimal("1.01"), "raw": Decimal("1.0100")}, "cost", "= raw"),
    ({"day": LAST}, "day + 1", "IS NULL"),
    ({"day": FIRST}, "day - 1", "IS NULL"),
    ({"day": LAST, "a": LEAST}, "day + a", "IS NULL"),
    ({"day": FIRST, "a": LEAST}, "day - a", "IS NULL"),
    ({"day": FIRST, "a": 3_652_058}, "day + a", "= DATE '9999-12-31'"),
    ({"day": FIRST, "until": LAST}, "until - day", "= 3652058"),
    ({"day": LAST, "until": FIRST}, "DATE_DIFF('month', day, until)", "= -119987"),
    ({"day": LAST, "until": FIRST}, "DATE_DIFF('year', day, until)", "= -9998"),
    (
        {"day": D(2019, 12, 31), "until": D(2020, 1, 1)},
        "DATE_DIFF('year', day, until)",
        "= 1",
    ),
    (
        {"day": D(2020, 1, 31), "until": D(2020, 2, 1)},
        "DATE_DIFF('month', day, until)",
        "= 1",
    ),
    (
        {"day": D(1900, 2, 28), "until": D(1900, 3, 1)},
        "DATE_DIFF('day', day, until)",
        "= 1",
    ),
    (
        {"day": D(2000, 2, 28), "until": D(2000, 3, 1)},
        "DATE_DIFF('day', day, until)",
        "= 2",
    ),
    ({"day": D(2020, 2, 29), "until": D(2021, 2, 28)}, "age_years(day, until)", "= 0"),
    ({"day": D(2020, 2, 29), "until": D(2021, 3, 1)}, "age_years(day, until)", "= 1"),
    ({"day": D(2020, 2, 29), "until": D(2024, 2, 29)}, "age_years(day, until)", "= 4"),
    (
        {"day": D(2020, 3, 1), "until": D(2020, 2, 29)},
        "age_years(day, until)",
        "IS NULL",
    ),
    ({"day": FIRST, "until": LAST}, "age_years(day, until)", "= 9998"),
    ({"day": FIRST}, "EXTRACT(ISODOW FROM day)", "= 1"),
    ({"day": LAST}, "EXTRACT(ISODOW FROM day)", "= 5"),
    ({"day": D(2020, 2, 29)}, "EXTRACT(QUARTER FROM day)", "= 1"),
    (
        {"stamp": datetime(9999, 12, 31, 23, 59, 59, 999999)},  # noqa: DTZ001 - no zone
        "CAST(stamp AS DATE)",
        "= DATE '9999-12-31'",
    ),
    (
        {"stamp": datetime(1969, 12, 31, 23, 59, 59, 999999)},  # noqa: DTZ001 - no zone
        "EXTRACT(HOUR FROM stamp)",
        "= 23",
    ),
    (
        {"stamp": datetime(1969, 12, 31, 23, 59, 59, 999999)},  # noqa: DTZ001 - no zone
        "CAST(stamp AS DATE)",
        "= DATE '1969-12-31'",
    ),
    ({"flag": None}, "flag::int", "IS NULL"),
    ({"flag": True}, "flag::int", "= 1"),
    ({"flag": False}, "flag::text", "= 'false'"),
    ({"a": LEAST}, "a::bool", "= TRUE"),
    ({"a": 0}, "CAST(a AS BOOLEAN)", "= FALSE"),
    ({"raw": Decimal("0.5000")}, "raw::int", "= 1"),
    ({"raw": Decimal("-0.5000")}, "raw::int", "= -1"),
    ({"raw": Decimal("1.4999")}, "raw::int", "= 1"),
    ({"raw": Decimal("-2.5000")}, "raw::numeric(9, 0)", "= -3"),
    ({"raw": Decimal("0.0450")}, "raw::numeric(9, 2)", "= 0.05"),
    ({"raw": Decimal("922337203685477.5807")}, "raw::int", "= 922337203685478"),
    ({"cost": Decimal("-92233720368547758.08")}, "cost::int", "= -92233720368547758"),
    ({"cost": Decimal("92233720368547758.07")}, "cost::numeric(38, 3)", "IS NULL"),
    ({"a": GREATEST}, "a::numeric(38, 1)", "IS NULL"),
    ({"a": GREATEST}, "a::numeric", "= 9223372036854775807"),
    ({"a": LEAST}, "a::text", "= '-9223372036854775808'"),
    (
        {"cost": Decimal("-92233720368547758.08")},
        "cost::text",
        "= '-92233720368547758.08'",
    ),
    ({"cost": Decimal("-0.05")}, "cost::text", "= '-0.05'"),
    ({"day": FIRST}, "day::text", "= '0001-01-01'"),
    ({"day": LAST}, "day::timestamp", "= TIMESTAMP '9999-12-31 00:00:00'"),
    (
        {"stamp": datetime(1, 1, 1, 0, 0, 0, 500000)},  # noqa: DTZ001 - no zone
        "stamp::text",
        "= '0001-01-01 00:00:00.5'",
    ),
    ({"stamp": datetime(2020, 1, 1, 10)}, "stamp::text", "= '2020-01-01 10:00:00'"),  # noqa: DTZ001 - no zone
    ({"local": "007"}, "local::int", "= 7"),
    ({"local": "+9223372036854775807"}, "local::int", "= 9223372036854775807"),
    ({"local": "9223372036854775808"}, "local::int", "IS NULL"),
    ({"local": " 7"}, "local::int", "IS NULL"),
    ({"local": "7\n"}, "local::int", "IS NULL"),
    ({"local": "7.0"}, "local::int", "IS NULL"),
    ({"local": "\u0667"}, "local::int", "IS NULL"),
    ({"local": "1e3"}, "local::int", "IS NULL"),
    ({"local": "2023-02-29"}, "local::date", "IS NULL"),
    ({"local": "0000-12-31"}, "local::date", "IS NULL"),
    ({"local": "0001-01-01"}, "local::date", "= DATE '0001-01-01'"),
    ({"local": "2024-02-29 24:00:00"}, "local::timestamp", "IS NULL"),
    (
        {"local": "2024-02-29T23:59:59.25"},
        "local::timestamp",
        "= TIMESTAMP '2024-02-29 23:59:59.250000'",
    ),
    ({"local": "2024-02-29"}, "local::timestamp", "= TIMESTAMP '2024-02-29 00:00:00'"),
    ({"local": "Yes"}, "local::bool", "= TRUE"),
    ({"local": "yEs"}, "local::bool", "IS NULL"),
    ({"local": "0"}, "local::bool", "= FALSE"),
    ({"local": "ü.1"}, "local", "> 'z'"),
    ({"local": "e\u0301"}, "local", "<> 'é'"),
    ({"local": "e\u0301"}, "local", "LIKE 'e%'"),
    ({"local": "Z"}, "local", "< 'a'"),
    ({"local": "\U0001f600"}, "local", "> '\uffff'"),
    ({"local": "\U0001f600"}, "local", "LIKE '%\U0001f600'"),
    ({"local": ""}, "local", "= ''"),
    ({"local": "a%b"}, "local", "LIKE '%b'"),
    ({"local": " x"}, "local", "<> 'x'"),
    ({"local": "NaN"}, "local", "<> 'nan'"),
    ({"local": "x.1"}, "level(local, 'kind')", "= 'drug'"),
    ({"local": "Ü1"}, "level(local, 'kind')", "= 'test'"),
    ({"local": "z"}, "level(local, 'kind')", "IS NULL"),
    ({"code": "e11.9"}, "icd_category(code)", "= 'E11'"),
    ({"code": "U07.1"}, "icd_chapter(code)", "= 'XXII'"),
    ({"code": "E1"}, "icd_block(code)", "IS NULL"),
    ({"age": 120}, "age_band(age, 50)", "= '100-149'"),
    ({"age": 0}, "age_band(age, 7)", "= '0-6'"),
    ({"flag": None}, "(flag AND FALSE = sure)", "IS NULL"),
    ({"flag": None, "sure": True}, "(flag OR sure)", "= TRUE"),
    ({"a": None}, "(a IN (1, 2))", "IS NULL"),
    ({"a": None, "b": 3}, "COALESCE(a, b, 0)", "= 3"),
    ({"flag": None}, "CASE WHEN flag THEN 1 ELSE 2 END", "= 2"),
    ({"a": None}, "CASE a WHEN 1 THEN 'one' ELSE 'none' END", "= 'none'"),
)
PLAIN = {"seq": 1, "sure": False}


@pytest.fixture(scope="module")
def stored(engine):
    """Store one row a case, each of a person of its own."""
    columns = [column.name for column in declared(DATASET.tables["marks"])]
    tables = {name: [] for name in DATASET.tables}
    for number, (values, _, _) in enumerate(CASES):
        row = dict.fromkeys(columns) | PLAIN | {"text": f"case {number}"} | values
        own = {"unit": number, "row_hash": 0, "row_rank": 1}
        tables["marks"].append(own | row)
    engine.store("cases", DATASET, tables)
    return engine


@pytest.mark.parametrize("number", range(len(CASES)))
def test_an_expression_has_the_value_that_the_reference_gives(stored, number):
    _, expression, condition = CASES[number]
    where = f"text = 'case {number}' AND {expression} {condition}"
    compiled = compile_query(f"SELECT COUNT(*) FROM marks WHERE {where}", DATASET)
    assert stored.vectors("cases", compiled.rendered) == [[1]], where
