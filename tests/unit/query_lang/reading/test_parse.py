import re

import pytest
from sqlglot.errors import ParseError, SqlglotError

from privacy.errors import SqlNotAllowedError, SqlSyntaxError
from query_lang.reading.parse import parse_query
from query_lang.syntax.nodes import (
    AggregateCall,
    And,
    Arithmetic,
    Between,
    BooleanLiteral,
    Comparison,
    CountRows,
    Frame,
    FrameBound,
    FunctionCall,
    InList,
    IsNull,
    Name,
    Negative,
    Not,
    NullLiteral,
    NumberLiteral,
    Or,
    Position,
    SelectItem,
    StringLiteral,
    TableName,
    TypedLiteral,
    UnionAll,
    WindowCall,
)
from tests.golden.constructs import TEXTS


def at(column, line=1):
    return Position(line, column)


def where(condition):
    return parse_query(f"SELECT COUNT(*) FROM t WHERE\n{condition}").select.where


def test_a_query_is_read_with_the_place_of_each_part():
    tree = parse_query(
        "select Sex, count(*) as N,\n  COUNT(DISTINCT e.patient_id)\n"
        'from "encounters" AS e\r\ngroup by 1, sex;;'
    ).select
    assert tree.items == (
        SelectItem(Name("sex", None, at(8)), None, at(8)),
        SelectItem(CountRows(at(13)), "n", at(13)),
        SelectItem(
            AggregateCall(
                "count", True, (Name("patient_id", "e", at(18, 2)),), (), at(3, 2)
            ),
            None,
            at(3, 2),
        ),
    )
    assert tree.source == TableName("encounters", "e", at(6, 3))
    assert tree.group_by == (
        NumberLiteral("1", at(10, 4)),
        Name("sex", None, at(13, 4)),
    )
    assert tree.where is None


def test_conditions_keep_their_order_and_places():
    tree = where("a = -1 AND (TRUE <> b OR\n NOT c) AND d IS NOT NULL")
    assert isinstance(tree, And)
    first, second, third = tree.items
    assert first == Comparison(
        "=", Name("a", None, at(1, 2)), NumberLiteral("-1", at(5, 2)), at(1, 2)
    )
    assert isinstance(second, Or)
    assert second.items == (
        Comparison(
            "<>",
            BooleanLiteral(value=True, position=at(13, 2)),
            Name("b", None, at(21, 2)),
            at(13, 2),
        ),
        Not(Name("c", None, at(6, 3)), at(6, 3)),
    )
    assert third == IsNull(Name("d", None, at(13, 3)), negated=True, position=at(13, 3))


def test_between_and_in_are_read_with_their_negation():
    tree = where("a NOT BETWEEN .5 AND 2. AND NOT b IN ('x', NULL) AND c IN (1)")
    assert isinstance(tree, And)
    between, outside, inside = tree.items
    assert between == Between(
        Name("a", None, at(1, 2)),
        NumberLiteral(".5", at(15, 2)),
        NumberLiteral("2.", at(22, 2)),
        negated=True,
        position=at(1, 2),
    )
    within = InList(
        Name("b", None, at(33, 2)),
        (StringLiteral("x", at(39, 2)), NullLiteral(at(44, 2))),
        negated=False,
        position=at(33, 2),
    )
    assert outside == Not(within, at(33, 2))
    assert isinstance(inside, InList)
    assert inside.negated is False


def test_not_twice_is_two_nots():
    tree = where("NOT NOT (a IS NULL)")
    assert isinstance(tree, Not)
    assert isinstance(tree.item, Not)
    assert isinstance(tree.item.item, IsNull)


def test_and_binds_tighter_than_or():
    tree = where("a OR b AND c OR d")
    assert isinstance(tree, Or)
    assert [type(item) for item in tree.items] == [Name, And, Name]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("DATE '2024-01-31'", "date", "2024-01-31"),
        ("date'2024-01-31'", "date", "2024-01-31"),
        ("TIMESTAMP '2024-01-31 08:00:00'", "timestamp", "2024-01-31 08:00:00"),
    ],
)
def test_typed_literals_are_read(text, kind, value):
    tree = where(f"a = {text}")
    assert isinstance(tree, Comparison)
    assert tree.right == TypedLiteral(kind, value, at(5, 2))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("''", ""),
        ("'O''Neil'", "O'Neil"),
        ("'a\\'", "a\\"),
        ("'-- no comment /* */'", "-- no comment /* */"),
        ("'line\nbreak'", "line\nbreak"),
        ("'é 🩺'", "é 🩺"),
        ("'; DROP TABLE t'", "; DROP TABLE t"),
    ],
)
def test_strings_are_read_to_the_letter(text, value):
    tree = where(f"a = {text}")
    assert isinstance(tree, Comparison)
    assert tree.right == StringLiteral(value, at(5, 2))


def test_comments_are_dropped_and_move_no_place():
    tree = parse_query(
        "SELECT /* é /* nested\n */ */ COUNT(*) -- n\nFROM t -- end"
    ).select
    assert tree.items[0].position == at(8, 2)
    assert tree.source.position == at(6, 3)


@pytest.mark.parametrize("operator", ["==", "!="])
def test_other_spellings_of_operators_are_the_same(operator):
    tree = where(f"a {operator} 1")
    assert isinstance(tree, Comparison)
    assert tree.operator == {"==": "=", "!=": "<>"}[operator]


def test_brackets_around_a_query_and_a_key_are_transparent():
    tree = parse_query("((SELECT (sex), COUNT(*) FROM t GROUP BY (sex)))").select
    assert tree.group_by == (Name("sex", None, at(43)),)


def test_a_thousand_conditions_are_one_chain():
    tree = where(" AND ".join(["b"] * 990))
    assert isinstance(tree, And)
    assert len(tree.items) == 990


@pytest.mark.parametrize(
    "error",
    [
        RecursionError(),
        SqlglotError("quotes the text"),
        ParseError("quotes it", [{}]),
        AttributeError("quotes it"),
        KeyError("quotes it"),
    ],
)
def test_whatever_sqlglot_raises_is_a_syntax_error_in_our_words(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("query_lang.reading.sqlglot_tree._Parser.parse", fail)
    with pytest.raises(SqlSyntaxError) as refused:
        parse_query("\nSELECT COUNT(*) FROM t")
    assert (refused.value.line, refused.value.column) == (2, 1)
    assert "quotes" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_tree_too_deep_to_read_is_refused(monkeypatch):
    def fail(*_, **__):
        raise RecursionError

    monkeypatch.setattr("query_lang.reading.parse.QueryReader.whole", fail)
    with pytest.raises(SqlNotAllowedError) as refused:
        parse_query("SELECT COUNT(*) FROM t")
    assert refused.value.rule == "depth"


@pytest.mark.parametrize("sql", TEXTS)
def test_every_construct_is_read_in_any_case_and_spacing(sql):
    tree = parse_query(sql)
    spaced = re.sub(r"(?<![<>!=])([(),=])(?![=])", r" \1\n", sql)
    assert shape(parse_query(spaced)) == shape(tree)
    if '"' not in sql:
        lowered = re.sub(r"('[^']*')|([^']+)", lambda m: m[1] or m[2].lower(), sql)
        assert parse_query(lowered) == tree


def shape(tree):
    return re.sub(r"Position\(line=\d+, column=\d+\)", "", repr(tree))


def read(item):
    return parse_query(f"SELECT {item} FROM t").select.items[0].expression


def test_a_call_keeps_its_arguments_in_the_order_of_the_text():
    call = read("DATE_DIFF('day', a, b)")
    assert call == FunctionCall(
        "date_diff",
        (
            StringLiteral("day", at(18)),
            Name("a", None, at(25)),
            Name("b", None, at(28)),
        ),
        at(8),
    )


def test_an_ordered_aggregate_keeps_what_is_written_of_its_order():
    call = read("FIRST(x ORDER BY a DESC, b NULLS LAST, c ASC NULLS FIRST)")
    assert isinstance(call, AggregateCall)
    assert [(i.descending, i.nulls_first) for i in call.order_by] == [
        (True, None),
        (False, False),
        (False, True),
    ]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("ROWS 2 PRECEDING", ("preceding", 2, False), ("current", None, False)),
        (
            "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
            ("unbounded", None, False),
            ("unbounded", None, True),
        ),
        (
            "ROWS BETWEEN CURRENT ROW AND 3 FOLLOWING",
            ("current", None, False),
            ("following", 3, True),
        ),
    ],
)
def test_a_frame_has_two_ends(text, start, end):
    call = read(f"SUM(x) OVER (ORDER BY d {text})")
    assert isinstance(call, WindowCall)
    assert call.frame == Frame(FrameBound(*start), FrameBound(*end))


def test_minus_binds_to_a_number_and_before_multiplication():
    assert read("-5") == NumberLiteral("-5", at(8))
    assert read("- (5)") == Negative(NumberLiteral("5", at(11)), at(8))
    product = read("-a * b")
    assert isinstance(product, Arithmetic)
    assert product.left == Negative(Name("a", None, at(9)), at(8))


def test_a_chain_of_minuses_is_read_from_the_left():
    whole = read("a - b - c")
    assert isinstance(whole, Arithmetic)
    assert isinstance(whole.left, Arithmetic)
    assert whole.right == Name("c", None, at(16))


def test_joins_keep_their_kind_condition_and_place():
    select = parse_query(
        "SELECT 1 FROM a\nLEFT OUTER JOIN b AS x ON x.u = a.u\nJOIN c USING (u, v)"
    ).select
    left, inner = select.joins
    assert (left.kind, left.using, left.position) == ("left", (), at(1, 2))
    assert left.source == TableName("b", "x", at(17, 2))
    assert isinstance(left.condition, Comparison)
    assert (inner.kind, inner.using, inner.condition) == ("inner", ("u", "v"), None)


def test_unions_are_flat_and_common_tables_keep_their_names():
    query = parse_query(
        "WITH b AS (SELECT u FROM x UNION ALL (SELECT u FROM y UNION ALL "
        "SELECT u FROM z)) SELECT COUNT(*) FROM b"
    )
    (table,) = query.common_tables
    assert (table.name, table.position) == ("b", at(6))
    assert isinstance(table.query, UnionAll)
    assert [part.source.name for part in table.query.parts] == ["x", "y", "z"]
