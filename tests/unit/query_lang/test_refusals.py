"""What is refused: under which rule, where, and with a hint."""

import pathlib
import re

import pytest

from privacy.errors import QueryError
from query_lang.compile import compile_query
from query_lang.rules import RULES
from tests.hospital import HOSPITAL

W = "SELECT COUNT(*) FROM encounters WHERE "  # 38 characters
G = "SELECT ward, COUNT(*) FROM encounters "  # 38 characters
C = "SELECT COUNT(*) FROM encounters "  # 32 characters

REFUSED = [
    # text
    ("", "sql_syntax", "empty_text", 1, 1),
    ("  -- nothing\n/* here */ ;", "sql_syntax", "empty_text", 1, 1),
    (C + "-" * 16_400, "sql_not_allowed", "text_size", 1, 1),
    (W + "urgent AND " * 1_000 + "urgent", "sql_not_allowed", "token_count", 1, 10_995),
    (W + "(" * 31 + "urgent" + ")" * 31, "sql_not_allowed", "depth", 1, 69),
    (W + "NOT " * 31 + "urgent", "sql_not_allowed", "depth", 1, 159),
    (W + "age = " + "- " * 31 + "1", "sql_not_allowed", "depth", 1, 105),
    (W + f"age IN ({'1,' * 256}1)", "sql_not_allowed", "in_list_size", 1, 558),
    (C + "\x00", "sql_not_allowed", "control_character", 1, 33),
    (W + "code = '\x1b[2J'", "sql_not_allowed", "control_character", 1, 47),
    (W + "code = '\ud800'", "sql_not_allowed", "control_character", 1, 47),
    ("SELECT COUNT(*)\u00a0FROM encounters", "sql_not_allowed", "non_ascii", 1, 16),
    (W + "\u0441ode = 'E11'", "sql_not_allowed", "non_ascii", 1, 39),
    (W + "code = \u2018E11\u2019", "sql_not_allowed", "non_ascii", 1, 46),
    (W + "code ~ 'E'", "sql_not_allowed", "symbol", 1, 44),
    (W + "age % 2 = 0", "sql_not_allowed", "symbol", 1, 43),
    (W + "code || 'x' = 'E'", "sql_not_allowed", "symbol", 1, 44),
    (W + "[1, 2] = [1]", "sql_not_allowed", "symbol", 1, 39),
    ("SELECT COUNT(*) FROM `encounters`", "sql_not_allowed", "symbol", 1, 22),
    (W + "age = ?", "sql_not_allowed", "parameter", 1, 45),
    (W + "age = $1", "sql_not_allowed", "parameter", 1, 45),
    (W + "code = $$E11$$", "sql_not_allowed", "parameter", 1, 46),
    (W + "age = :age", "sql_not_allowed", "parameter", 1, 45),
    (W + "age = {{ age }}", "sql_not_allowed", "parameter", 1, 45),
    ("SELECT n: COUNT(*) FROM encounters", "sql_not_allowed", "parameter", 1, 9),
    (W + "admitted = '2024-01-30'::DATE", "sql_not_allowed", "cast", 1, 62),
    (W + "age = CAST('1' AS INT)", "sql_not_allowed", "cast", 1, 45),
    (W + "age = CAST(level AS INT)", "sql_not_allowed", "cast", 1, 45),
    (W + "age = TRY_CAST('1' AS INT)", "sql_not_allowed", "cast", 1, 45),
    (
        W + "admitted = CAST('2024-01-30' AS DATE)",
        "sql_not_allowed",
        "cast",
        1,
        50,
    ),
    (
        "SELECT /*+ NO_INDEX(e) */ COUNT(*) FROM encounters",
        "sql_not_allowed",
        "optimizer_hint",
        1,
        8,
    ),
    (W + "age = 1e5", "sql_not_allowed", "number_form", 1, 45),
    (W + "age = 1_000", "sql_not_allowed", "number_form", 1, 45),
    (W + "age = 0x1F", "sql_not_allowed", "number_form", 1, 45),
    (W + "age = 1.2.3", "sql_not_allowed", "number_form", 1, 45),
    (W + "code = E'\\x41'", "sql_not_allowed", "string_form", 1, 46),
    (W + "code = X'41'", "sql_not_allowed", "string_form", 1, 46),
    (W + "code = 'a' 'b'", "sql_not_allowed", "string_concatenation", 1, 50),
    (W + "code = 'a'\n 'b'", "sql_not_allowed", "string_concatenation", 2, 2),
    (C + "; SELECT 1", "sql_not_allowed", "one_statement", 1, 35),
    (C + "; DROP TABLE encounters --", "sql_not_allowed", "one_statement", 1, 35),
    (W + "code = 'open", "sql_syntax", "open_quote", 1, 46),
    ('SELECT COUNT(*) AS "n FROM encounters', "sql_syntax", "open_quote", 1, 20),
    (C + "/* open /* */", "sql_syntax", "open_comment", 1, 33),
    # statements and clauses
    ("FROM encounters", "sql_not_allowed", "only_select", 1, 1),
    ("DROP TABLE encounters", "sql_not_allowed", "only_select", 1, 1),
    ("\n INSERT INTO encounters VALUES (1)", "sql_not_allowed", "only_select", 2, 2),
    ("COPY encounters TO 'x.csv'", "sql_not_allowed", "only_select", 1, 1),
    ("EXPLAIN ANALYZE SELECT 1", "sql_not_allowed", "only_select", 1, 1),
    ("SUMMARIZE encounters", "sql_not_allowed", "only_select", 1, 1),
    ("PRAGMA database_list", "sql_not_allowed", "only_select", 1, 1),
    ("VALUES (1)", "sql_not_allowed", "only_select", 1, 1),
    ("(VALUES (1))", "sql_not_allowed", "only_select", 1, 1),
    (
        "WITH e AS (SELECT 1) SELECT COUNT(*) FROM e",
        "sql_not_allowed",
        "common_table_expression",
        1,
        1,
    ),
    (
        "WITH e AS (SELECT 1) DELETE FROM encounters",
        "sql_not_allowed",
        "only_select",
        1,
        1,
    ),
    (C + "\nUNION ALL SELECT 1", "sql_not_allowed", "set_operation", 2, 1),
    ("SELECT COUNT(*) FROM (SELECT 1) e", "sql_not_allowed", "subquery", 1, 30),
    (W + "age IN (SELECT 1)", "sql_not_allowed", "subquery", 1, 39),
    (W + "EXISTS (SELECT 1)", "sql_not_allowed", "subquery", 1, 39),
    (W + "age = (SELECT 1)", "sql_not_allowed", "subquery", 1, 53),
    (C + "e JOIN patients p ON true", "sql_not_allowed", "join", 1, 35),
    ("SELECT COUNT(*) FROM encounters, patients", "sql_not_allowed", "join", 1, 34),
    ("SELECT DISTINCT ward FROM encounters", "sql_not_allowed", "distinct", 1, 8),
    (G + "GROUP BY ward HAVING COUNT(*) > 5", "sql_not_allowed", "having", 1, 53),
    (G + "GROUP BY ward ORDER BY 2 LIMIT 1", "sql_not_allowed", "order_by", 1, 53),
    (C + "LIMIT 1", "sql_not_allowed", "limit", 1, 33),
    (C + "OFFSET 1", "sql_not_allowed", "limit", 1, 33),
    (C + "TABLESAMPLE (10 PERCENT)", "sql_not_allowed", "sample", 1, 33),
    (C + "USING SAMPLE 5", "sql_not_allowed", "sample", 1, 39),
    ("SELECT COUNT(*) OVER () FROM encounters", "sql_not_allowed", "window", 1, 17),
    (C + "QUALIFY 1 = 1", "sql_not_allowed", "qualify", 1, 33),
    (G + "GROUP BY ALL", "sql_not_allowed", "grouping_sets", 1, 39),
    (G + "GROUP BY ROLLUP (ward)", "sql_not_allowed", "grouping_sets", 1, 48),
    (G + "GROUP BY CUBE (ward)", "sql_not_allowed", "grouping_sets", 1, 48),
    (G + "GROUP BY ward WITH ROLLUP", "sql_not_allowed", "grouping_sets", 1, 58),
    (G + "GROUP BY", "sql_not_allowed", "grouping_sets", 1, 39),
    (G + "GROUP BY ()", "sql_not_allowed", "tuple", 1, 49),
    ("SELECT COUNT(*) INTO t FROM encounters", "sql_not_allowed", "clause", 1, 17),
    (C + "FOR UPDATE", "sql_not_allowed", "clause", 1, 33),
    (C + "AS e(a)", "sql_not_allowed", "clause", 1, 36),
    ("SELECT COUNT(*)", "sql_not_allowed", "clause", 1, 1),
    ("SELECT FROM encounters", "sql_not_allowed", "clause", 1, 1),
    ("SELECT COUNT(*) FROM read_csv('x')", "sql_not_allowed", "from_clause", 1, 22),
    ("SELECT COUNT(*) FROM range(5)", "sql_not_allowed", "from_clause", 1, 22),
    ("SELECT COUNT(*) FROM 'a.csv'", "sql_not_allowed", "identifier", 1, 22),
    ('SELECT COUNT(*) FROM ""', "sql_not_allowed", "identifier", 1, 22),
    (
        "SELECT COUNT(*) FROM main.encounters",
        "sql_not_allowed",
        "qualified_table",
        1,
        22,
    ),
    (W + "main.e.age = 1", "sql_not_allowed", "qualified_table", 1, 39),
    # expressions
    ("SELECT * FROM encounters", "sql_not_allowed", "star", 1, 8),
    ("SELECT e.*, COUNT(*) FROM encounters e", "sql_not_allowed", "star", 1, 8),
    ("SELECT * EXCLUDE (age) FROM encounters", "sql_not_allowed", "star", 1, 8),
    ("SELECT COUNT(age) FROM encounters", "sql_not_allowed", "count_column", 1, 8),
    (
        "SELECT COUNT(patient_id) FROM encounters",
        "sql_not_allowed",
        "count_column",
        1,
        8,
    ),
    (
        "SELECT COUNT(DISTINCT age) FROM encounters",
        "sql_not_allowed",
        "count_distinct_column",
        1,
        23,
    ),
    (
        "SELECT COUNT(DISTINCT 1) FROM encounters",
        "sql_not_allowed",
        "count_distinct_column",
        1,
        23,
    ),
    ("SELECT COUNT() FROM encounters", "sql_not_allowed", "count_arguments", 1, 8),
    ("SELECT COUNT(1) FROM encounters", "sql_not_allowed", "count_arguments", 1, 8),
    (
        "SELECT COUNT(DISTINCT age, sex) FROM encounters",
        "sql_not_allowed",
        "count_arguments",
        1,
        8,
    ),
    ("SELECT SUM(age) FROM encounters", "sql_not_allowed", "aggregate", 1, 8),
    ("SELECT MEDIAN(age) FROM encounters", "sql_not_allowed", "aggregate", 1, 8),
    ("SELECT MAX(age) FROM encounters", "sql_not_allowed", "min_max", 1, 8),
    (
        "SELECT COUNT(*) FILTER (WHERE smoker) FROM encounters",
        "sql_not_allowed",
        "aggregate_filter",
        1,
        17,
    ),
    (W + "COUNT(*) > 1", "sql_not_allowed", "aggregate_place", 1, 39),
    (W + "age > COUNT(*)", "sql_not_allowed", "aggregate_place", 1, 45),
    ("SELECT COUNT(*) + 1 FROM encounters", "sql_not_allowed", "arithmetic", 1, 8),
    (W + "age + 1 > 60", "sql_not_allowed", "arithmetic", 1, 39),
    (W + "- age > 60", "sql_not_allowed", "arithmetic", 1, 41),
    (W + "age > - - 5", "sql_not_allowed", "arithmetic", 1, 49),
    (W + "admitted > 2024-01-30", "sql_not_allowed", "arithmetic", 1, 50),
    (W + "age > +5", "sql_not_allowed", "unread_text", 1, 45),
    ("SELECT ALL COUNT(*) FROM encounters", "sql_not_allowed", "unread_text", 1, 8),
    ("SELECT COUNT(*), FROM encounters", "sql_not_allowed", "unread_text", 1, 16),
    (W + "age ISNULL", "sql_not_allowed", "unread_text", 1, 43),
    (W + "admitted = DATETIME '2024-01-30'", "sql_not_allowed", "cast", 1, 59),
    (W + "lower(code) = 'e11'", "sql_not_allowed", "function", 1, 39),
    (W + "pg_sleep(5)", "sql_not_allowed", "function", 1, 39),
    (W + "admitted = current_date", "sql_not_allowed", "function", 1, 50),
    (W + "CASE WHEN smoker THEN TRUE END", "sql_not_allowed", "case", 1, 39),
    (W + "code LIKE 'E%'", "sql_not_allowed", "like", 1, 44),
    (W + "code NOT ILIKE 'E%'", "sql_not_allowed", "like", 1, 48),
    (W + "age IS DISTINCT FROM 5", "sql_not_allowed", "is_distinct_from", 1, 39),
    (W + "smoker IS NOT TRUE", "sql_not_allowed", "is_true", 1, 39),
    (W + "age = ANY (1)", "sql_not_allowed", "any_all", 1, 45),
    (W + "age IN ()", "sql_not_allowed", "empty_list", 1, 39),
    (W + "(age, sex) IN ((1, 'f'))", "sql_not_allowed", "tuple", 1, 40),
    (W + "age BETWEEN SYMMETRIC 1 AND 2", "sql_not_allowed", "construct", 1, 39),
    (W + "1 = 1", "sql_not_allowed", "operand", 1, 39),
    (W + "smoker = (age = 1)", "sql_not_allowed", "operand", 1, 49),
    (W + "1 IN (1, 2)", "sql_not_allowed", "operand", 1, 39),
    (W + "age IN (age)", "sql_not_allowed", "operand", 1, 47),
    (W + "1 IS NULL", "sql_not_allowed", "is_null_operand", 1, 39),
    (W + "TRUE", "sql_not_allowed", "condition", 1, 39),
    (W + "'yes'", "sql_not_allowed", "condition", 1, 39),
    (C + "WHERE", "sql_syntax", "syntax", 1, 33),
    (W + "age = = 5", "sql_syntax", "syntax", 1, 45),
    (W + "age = 5 5", "sql_syntax", "syntax", 1, 47),
    (W + "age >", "sql_syntax", "syntax", 1, 43),
    ("SELECT COUNT(*) FROM encounters)", "sql_syntax", "syntax", 1, 32),
    # meaning
    ("SELECT COUNT(*) FROM encounter", "sql_not_allowed", "unknown_table", 1, 22),
    ("SELECT COUNT(*) FROM wards", "sql_not_allowed", "private_table_needed", 1, 22),
    (W + "patient_id = 5", "sql_not_allowed", "unit_key_opaque", 1, 39),
    (W + "5 = patient_id", "sql_not_allowed", "unit_key_opaque", 1, 43),
    (W + "patient_id IS NULL", "sql_not_allowed", "unit_key_opaque", 1, 39),
    (W + "patient_id IN (1, 2)", "sql_not_allowed", "unit_key_opaque", 1, 39),
    (W + "patient_id BETWEEN 1 AND 2", "sql_not_allowed", "unit_key_opaque", 1, 39),
    (W + "age = patient_id", "sql_not_allowed", "unit_key_opaque", 1, 45),
    (
        "SELECT patient_id, COUNT(*) FROM encounters GROUP BY 1",
        "sql_not_allowed",
        "unit_key_opaque",
        1,
        8,
    ),
    (C + "GROUP BY patient_id", "sql_not_allowed", "unit_key_opaque", 1, 42),
    (W + "age = NULL", "sql_not_allowed", "null_literal", 1, 45),
    (W + "NULL <> age", "sql_not_allowed", "null_literal", 1, 39),
    (W + "age IN (1, NULL)", "sql_not_allowed", "null_literal", 1, 50),
    (W + "age BETWEEN 1 AND NULL", "sql_not_allowed", "null_literal", 1, 57),
    (W + "age = '60'", "sql_not_allowed", "literal_type", 1, 45),
    (W + "code = 11", "sql_not_allowed", "literal_type", 1, 46),
    (W + "smoker = 1", "sql_not_allowed", "literal_type", 1, 48),
    (W + "code = TRUE", "sql_not_allowed", "literal_type", 1, 46),
    (W + "admitted = '2024-02-30'", "sql_not_allowed", "literal_type", 1, 50),
    (W + "admitted = '30.01.2024'", "sql_not_allowed", "literal_type", 1, 50),
    (W + "admitted = '0000-01-01'", "sql_not_allowed", "literal_type", 1, 50),
    (
        W + "admitted = TIMESTAMP '2024-01-30 00:00:00'",
        "sql_not_allowed",
        "literal_type",
        1,
        50,
    ),
    (W + "seen = DATE '2024-01-30'", "sql_not_allowed", "literal_type", 1, 46),
    (W + "seen = '2024-01-30 25:00:00'", "sql_not_allowed", "literal_type", 1, 46),
    (W + "seen = '2024-01-30 08:00:00Z'", "sql_not_allowed", "literal_type", 1, 46),
    (W + "age < 9223372036854775808", "sql_not_allowed", "literal_range", 1, 45),
    (W + "age > -9223372036854775809", "sql_not_allowed", "literal_range", 1, 45),
    (W + f"cost < 0.{'0' * 400}1", "sql_not_allowed", "literal_range", 1, 46),
    (W + "age = code", "sql_not_allowed", "column_types", 1, 45),
    (W + "admitted = seen", "sql_not_allowed", "column_types", 1, 50),
    (W + "age", "sql_not_allowed", "boolean_needed", 1, 39),
    ("SELECT ward FROM encounters", "sql_not_allowed", "aggregate_needed", 1, 1),
    (
        "SELECT ward FROM encounters GROUP BY ward",
        "sql_not_allowed",
        "aggregate_needed",
        1,
        1,
    ),
    ("SELECT 5, COUNT(*) FROM encounters", "sql_not_allowed", "literal_selected", 1, 8),
    (
        "SELECT age = 5, COUNT(*) FROM encounters",
        "sql_not_allowed",
        "select_item",
        1,
        8,
    ),
    (G, "sql_not_allowed", "not_grouped", 1, 8),
    (G + "GROUP BY sex", "sql_not_allowed", "not_grouped", 1, 8),
    (C + "GROUP BY ward", "sql_not_allowed", "key_not_selected", 1, 42),
    (G + "GROUP BY 2", "sql_not_allowed", "group_by_form", 1, 48),
    (G + "GROUP BY 3", "sql_not_allowed", "group_by_form", 1, 48),
    (G + "GROUP BY 0", "sql_not_allowed", "group_by_form", 1, 48),
    (G + "GROUP BY -1", "sql_not_allowed", "group_by_form", 1, 48),
    (G + f"GROUP BY {'9' * 5000}", "sql_not_allowed", "group_by_form", 1, 48),
    (G + "GROUP BY ward = 'north'", "sql_not_allowed", "group_by_form", 1, 48),
    (
        "SELECT COUNT(*) AS n FROM encounters GROUP BY n",
        "sql_not_allowed",
        "group_by_form",
        1,
        47,
    ),
    (
        "SELECT COUNT(*) AS n, COUNT(*) AS n FROM encounters",
        "sql_not_allowed",
        "duplicate_name",
        1,
        23,
    ),
    (
        "SELECT COUNT(DISTINCT patient_id) AS count, COUNT(*) FROM encounters",
        "sql_not_allowed",
        "duplicate_name",
        1,
        45,
    ),
    (
        'SELECT COUNT(*) AS "N" FROM encounters',
        "sql_not_allowed",
        "identifier",
        1,
        20,
    ),
    (W + '"Age" = 5', "sql_not_allowed", "identifier", 1, 39),
    (W + "_age = 5", "sql_not_allowed", "identifier", 1, 39),
    (W + "agee >= 60", "unknown_column", "unknown_column", 1, 39),
    (W + "x.age >= 60", "unknown_column", "unknown_column", 1, 39),
    (
        "SELECT COUNT(*) FROM encounters e WHERE encounters.age = 1",
        "unknown_column",
        "unknown_column",
        1,
        41,
    ),
    ("SELECT wart FROM encounters", "unknown_column", "unknown_column", 1, 8),
    (
        "SELECT COUNT(DISTINCT person_id) FROM encounters",
        "unknown_column",
        "unknown_column",
        1,
        23,
    ),
    (G + "GROUP BY ward, region", "unknown_column", "unknown_column", 1, 54),
    (W + "unit_key = 5", "unknown_column", "unknown_column", 1, 39),
    (W + "row_rank = 5", "unknown_column", "unknown_column", 1, 39),
    (
        "SELECT code, COUNT(*) FROM encounters GROUP BY 1",
        "no_public_domain",
        "no_public_domain",
        1,
        48,
    ),
    (
        "SELECT stay, COUNT(*) FROM encounters GROUP BY stay",
        "no_public_domain",
        "no_public_domain",
        1,
        48,
    ),
    (
        "SELECT age, ward, sex, level, smoker, admitted, COUNT(*)\n"  # noqa: ISC004
        "FROM encounters GROUP BY 1, 2, 3, 4, 5, 6",
        "too_many_groups",
        "too_many_groups",
        2,
        26,
    ),
]


@pytest.mark.parametrize(
    ("sql", "code", "rule", "line", "column"),
    REFUSED,
    ids=[f"{rule}-{index}" for index, (_, _, rule, _, _) in enumerate(REFUSED)],
)
def test_a_query_is_refused_by_its_rule_at_its_place(sql, code, rule, line, column):
    with pytest.raises(QueryError) as refused:
        compile_query(sql, HOSPITAL)
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
        (W + "agee >= 60", "did you mean age?"),
        ("SELECT COUNT(*) FROM encounter", "did you mean encounters?"),
        ("SELECT COUNT(age) FROM encounters", "COUNT(*) with WHERE age IS NOT NULL"),
        (W + "patient_id = 5", "COUNT(DISTINCT patient_id)"),
        (G, "add GROUP BY ward"),
        (G + "GROUP BY sex", "add GROUP BY sex, ward"),
        (C + "GROUP BY ward", "add ward to the SELECT list"),
        ("SELECT ward FROM encounters", "add COUNT(*) or COUNT(DISTINCT patient_id)"),
        (W + "admitted = 20240130", "'2024-01-31'"),
        ("SELECT SUM(age) FROM encounters", "COUNT(*)"),
    ],
)
def test_a_refusal_hints_at_the_nearest_allowed_form(sql, words):
    with pytest.raises(QueryError) as refused:
        compile_query(sql, HOSPITAL)
    assert words in refused.value.hint


def test_refusals_echo_plain_names_only():
    for sql, *_ in REFUSED:
        with pytest.raises(QueryError) as refused:
            compile_query(sql, HOSPITAL)
        shown = refused.value.detail + refused.value.hint
        assert shown.isascii()
        assert shown.isprintable()
        assert len(shown) < 400


def test_every_rule_is_tried_here_or_needs_another_schema():
    tried = {rule for _, _, rule, _, _ in REFUSED}
    assert set(RULES) - tried == {"no_cells", "row_bound_needed"}


def test_every_rule_has_a_line_in_the_reference():
    root = pathlib.Path(__file__).parents[3]
    text = (root / "docs/query-language.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert documented == set(RULES)
