"""What is refused: under which rule, where, and with a hint."""

import pathlib
import re
from dataclasses import replace

import pytest

from privacy.errors import QueryError
from privacy.schema import Column, ColumnType, Table
from query_lang.reading.parse import parse_query
from query_lang.syntax.rules import RULES
from tests.golden.binding_refusals import REFUSED_AT_BINDING
from tests.golden.refusals import REFUSED, C, W
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

UNTRIED = {  # tried elsewhere
    "level",
    "no_cells",
    "row_bound_needed",
    "too_costly",
}


@pytest.mark.parametrize(
    ("sql", "code", "rule", "line", "column"),
    REFUSED,
    ids=[f"{rule}-{index}" for index, (_, _, rule, _, _) in enumerate(REFUSED)],
)
def test_a_text_is_refused_by_its_rule_at_its_place(sql, code, rule, line, column):
    with pytest.raises(QueryError) as refused:
        parse_query(sql)
    error = refused.value
    assert (error.code, error.rule, error.line, error.column) == (
        code,
        rule,
        line,
        column,
    )
    assert error.detail
    assert error.hint


@pytest.mark.parametrize(
    ("sql", "code", "rule", "line", "column"),
    REFUSED_AT_BINDING,
    ids=[f"{row[2]}-{index}" for index, row in enumerate(REFUSED_AT_BINDING)],
)
def test_a_meaning_is_refused_by_its_rule_at_its_place(sql, code, rule, line, column):
    parse_query(sql)
    with pytest.raises(QueryError) as refused:
        compile_query(sql, HOSPITAL)
    error = refused.value
    assert (error.code, error.rule) == (code, rule)
    assert (error.line, error.column) == (line, column)
    assert error.detail
    assert error.hint


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (W + "agee >= 60", "did you mean age?"),
        ("SELECT COUNT(*) FROM encounter", "did you mean encounters?"),
        (W + "stay = 'x'", "a number: 1.5"),
        ("SELECT sex, COUNT(*) FROM encounters", "GROUP BY sex"),
        ("SELECT SUM(patient_id) FROM encounters", "COUNT(DISTINCT patient_id)"),
        (
            C + "JOIN patients p ON p.sex = encounters.sex",
            "ON p.patient_id = encounters.patient_id AND p.sex = encounters.sex",
        ),
        (C + "JOIN patients p USING (sex)", "USING (patient_id, sex)"),
        (C + "WHERE code + '/' = '/'", "joined by ||"),
        (
            "SELECT age + 1 AS sex, COUNT(*) FROM encounters GROUP BY sex",
            "name the alias anew",
        ),
        (
            C + "WHERE code IN (SELECT code FROM encounters)",
            "(patient_id, code) IN (SELECT patient_id, code FROM ...)",
        ),
        (C + "WHERE age / 0 = 1", "NULL where it is 0"),
        ("SELECT MAX(age) FROM encounters", "QUANTILE(age, 0.99)"),
        (
            "SELECT sex, COUNT(*) AS n FROM encounters GROUP BY sex ORDER BY 3",
            "ORDER BY n, or ORDER BY 2",
        ),
        (
            "SELECT sex, COUNT(*) AS n FROM encounters WHERE n > 5 GROUP BY sex",
            "HAVING n > 5",
        ),
        (
            "SELECT DATEDIFF(discharged, admitted) FROM encounters",
            "AVG(discharged - admitted)",
        ),
        (
            "SELECT CONCAT(ward, '', smoker) AS k, COUNT(*) FROM encounters GROUP BY 1",
            "CASE WHEN died THEN 'yes' ELSE 'no' END",
        ),
        (
            "SELECT ward || admitted AS k, COUNT(*) FROM encounters GROUP BY k",
            "TO_CHAR(admitted, 'YYYY-MM')",
        ),
        (C + "WHERE ward = 'north' || smoker", "OR joins conditions"),
    ],
)
def test_a_refused_meaning_hints_at_the_nearest_allowed_form(sql, words):
    with pytest.raises(QueryError) as refused:
        compile_query(sql, HOSPITAL)
    assert words in refused.value.hint


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (W + "DATEDIFF('day') = 1", "DATEDIFF(day, admitted, discharged)"),
        (W + "DATENAME(year, admitted) = '2024'", "EXTRACT(YEAR FROM admitted)"),
        (W + "YEARWEEK(admitted) = 202401", "TO_CHAR(admitted, 'IYYY-IW')"),
        (W + "seen::timestamptz = seen", "x::timestamp"),
        (W + "REGEXP_EXTRACT(code, 'e') = 'e'", "LEFT(code, 3)"),
        (
            W + "date_diff('day', admitted) = 1",
            "DATE_DIFF('day', admitted, discharged)",
        ),
        ("SELECT PERCENTILE_CONT(0.5) FROM encounters", "QUANTILE(age, 0.9)"),
        ("SELECT AVERAGEIF(age, smoker) FROM encounters", "FILTER (WHERE"),
        ("SELECT MODE(code) FROM encounters", "ORDER BY n DESC LIMIT 1"),
        ("SELECT FIRST(code) FROM encounters", "FIRST_VALUE"),
        ("SELECT NTILE(4) OVER (ORDER BY age) FROM encounters", "QUANTILE(age"),
        (W + "age > (SELECT 1 FROM encounters)", "EXISTS"),
        (
            C + "JOIN labs USING (u) RIGHT JOIN patients USING (u)",
            "LEFT JOIN",
        ),
        (C + "CROSS JOIN patients", "ON p.patient_id"),
        ("SELECT CNT(*) FROM encounters", "did you mean COUNT(*)"),
        ("SELECT RANDOM() FROM encounters", "nothing is drawn at random"),
        ("SELECT INITCAP(ward) FROM encounters", "UPPER(ward)"),
        (W + "ZZTOP(age) = 1", "list of functions"),
        (W + "WIDTH_BUCKET(cost, ARRAY[1, 5]) = 1", "WIDTH_BUCKET(cost, 0, 1000, 10)"),
        (W + "ward == 'north' && smoker", "ward = 'icu' AND died"),
    ],
)
def test_a_refusal_hints_at_the_nearest_allowed_form(sql, words):
    with pytest.raises(QueryError) as refused:
        parse_query(sql)
    assert words in refused.value.hint


def test_a_key_of_a_public_table_without_a_list_names_what_is_to_be_declared():
    kind = Column("kind", ColumnType.TEXT)
    ward = Column("ward", ColumnType.TEXT, nullable=False)
    wards = Table("wards", (ward, kind), key=("ward",))
    dataset = replace(HOSPITAL, tables={**HOSPITAL.tables, "wards": wards})
    joined = "encounters AS e JOIN wards AS w ON w.ward = e.ward GROUP BY w.kind"
    with pytest.raises(QueryError) as refused:
        compile_query(f"SELECT w.kind, COUNT(*) FROM {joined}", dataset)
    assert "declares a domain for wards.kind" in refused.value.hint
    assert "w.kind IN ('a', 'b')" in refused.value.hint
    assert "icd" not in refused.value.hint


def test_order_by_below_the_top_is_refused_in_these_words():
    with pytest.raises(QueryError) as refused:
        parse_query("SELECT COUNT(*) FROM (SELECT a FROM t ORDER BY a) AS d")
    assert "below the top" in refused.value.detail


def test_refusals_echo_nothing_of_the_text():
    for sql, *_ in REFUSED:
        with pytest.raises(QueryError) as refused:
            parse_query(sql)
        shown = refused.value.detail + refused.value.hint
        assert shown.isascii()
        assert shown.isprintable()
        assert len(shown) < 400


def test_there_are_many_texts_and_no_text_twice():
    texts = [sql for sql, *_ in REFUSED]
    assert len(texts) == len(set(texts)) >= 120


def test_every_rule_is_tried():
    tried = {row[2] for row in (*REFUSED, *REFUSED_AT_BINDING)}
    assert set(RULES) - tried == UNTRIED


def test_every_rule_has_a_heading_on_the_page_of_refusals():
    root = pathlib.Path(__file__).parents[4]
    text = (root / "docs/refusals.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^### `(\w+)`$", text, re.MULTILINE))
    assert documented == set(RULES)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("CONTAINS('a')", "HAS_RUN('ICU', 'ward')"),
        ("PREFIX('a')", "STARTS_WITH("),
        ("RIGHT('a')", "ENDS_WITH("),
        ("LEN()", "LENGTH()"),
        ("HASRUN('a')", "did you mean HAS_RUN("),
        ("REGEXP_EXTRACT('a')", "SYMBOL_AT("),
    ],
)
def test_a_refused_function_of_sequences_hints_at_theirs(call, words):
    text = f"SELECT COUNT(*) FROM stays WHERE {call}"
    with pytest.raises(QueryError) as refused:
        parse_query(text, sequences=True)
    assert words in refused.value.hint
    with pytest.raises(QueryError) as refused:
        parse_query(text)
    assert "RUN" not in str(refused.value.hint)


def test_functions_of_texts_are_none_of_sequences():
    for call in ("LOWER('a')", "UCASE('a')", "CONCAT('a', 'b')", "'a' = TRIM('a')"):
        with pytest.raises(QueryError) as refused:
            parse_query(f"SELECT COUNT(*) FROM stays WHERE {call}", sequences=True)
        assert refused.value.rule == "function"


@pytest.mark.parametrize(
    ("shown", "keys", "words"),
    [
        ("age + 1 AS next", "", "add GROUP BY next"),
        ("sex", "", "add GROUP BY sex"),
        ("sex, ward", " GROUP BY sex", "add GROUP BY sex, ward"),
        ("ward", " GROUP BY age + 1 > 9", "add ward to GROUP BY"),
        (
            "patient_id IN (SELECT patient_id FROM patients) AS known",
            " GROUP BY patient_id IN (SELECT patient_id FROM encounters)",
            "add known to GROUP BY",
        ),
    ],
)
def test_what_is_no_key_is_said_without_naming_what_has_no_name(shown, keys, words):
    with pytest.raises(QueryError) as refused:
        compile_query(f"SELECT {shown}, COUNT(*) FROM encounters{keys}", HOSPITAL)
    assert words in refused.value.hint
    assert "this expression" not in refused.value.hint
