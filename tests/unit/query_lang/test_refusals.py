"""What is refused: under which rule, where, and with a hint."""

import pathlib
import re

import pytest

from privacy.errors import QueryError
from query_lang.parse import parse_query
from query_lang.rules import RULES
from tests.golden.refusals import REFUSED, C, W

BINDING = {  # refused by what names mean, not by how the text is written
    "aggregate_needed",
    "aggregate_place",
    "arithmetic",
    "boolean_needed",
    "column_types",
    "condition",
    "count_distinct_column",
    "duplicate_name",
    "group_by_form",
    "is_null_operand",
    "key_not_selected",
    "like",
    "literal_range",
    "literal_selected",
    "literal_type",
    "min_max",
    "no_cells",
    "no_public_domain",
    "not_grouped",
    "null_literal",
    "operand",
    "private_table_needed",
    "row_bound_needed",
    "select_item",
    "too_many_groups",
    "unit_key_opaque",
    "unknown_column",
    "unknown_table",
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
    ("sql", "words"),
    [
        (W + "IFNULL(age, 0) = 0", "COALESCE(a, b)"),
        (W + "DATEDIFF('day', admitted, seen) = 1", "DATE_DIFF('day'"),
        (W + "YEAR(admitted) = 2024", "EXTRACT(YEAR FROM"),
        (W + "CAST('2024-01-01' AS DATE) = admitted", "DATE '2024-01-31'"),
        (W + "IF(smoker, 1, 0) = 1", "CASE WHEN"),
        (W + "LOWER(code) = 'e11'", "LIKE 'E11%'"),
        (
            W + "date_diff('day', admitted) = 1",
            "DATE_DIFF('day', admitted, discharged)",
        ),
        ("SELECT ANY_VALUE(code) FROM encounters", "FIRST(code ORDER BY"),
        ("SELECT QUANTILE_CONT(age, 0.5) FROM encounters", "QUANTILE(age, 0.9)"),
        ("SELECT FIRST(code) FROM encounters", "FIRST_VALUE"),
        ("SELECT RANK() OVER (ORDER BY age) FROM encounters", "ROW_NUMBER()"),
        (W + "age > (SELECT 1 FROM encounters)", "EXISTS"),
        (C + "RIGHT JOIN patients USING (patient_id)", "LEFT JOIN"),
        (C + "CROSS JOIN patients", "ON p.patient_id"),
    ],
)
def test_a_refusal_hints_at_the_nearest_allowed_form(sql, words):
    with pytest.raises(QueryError) as refused:
        parse_query(sql)
    assert words in refused.value.hint


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


def test_every_rule_of_parsing_is_tried():
    tried = {rule for _, _, rule, _, _ in REFUSED}
    assert set(RULES) - tried <= BINDING


def test_every_rule_has_a_line_in_the_reference():
    root = pathlib.Path(__file__).parents[3]
    text = (root / "docs/query-language.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert documented == set(RULES)
