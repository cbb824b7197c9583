import pytest
from sqlglot.errors import ParseError, SqlglotError

from privacy.errors import SqlSyntaxError
from query_lang.parse import parse_query
from query_lang.syntax import (
    And,
    Between,
    BooleanLiteral,
    Comparison,
    CountDistinct,
    CountRows,
    InList,
    IsNull,
    Name,
    Not,
    NullLiteral,
    NumberLiteral,
    Or,
    Position,
    SelectItem,
    StringLiteral,
    TableName,
    TypedLiteral,
)


def at(column, line=1):
    return Position(line, column)


def where(condition):
    return parse_query(f"SELECT COUNT(*) FROM t WHERE\n{condition}").where


def test_a_query_is_read_with_the_place_of_each_part():
    tree = parse_query(
        "select Sex, count(*) as N,\n  COUNT(DISTINCT e.patient_id)\n"
        'from "encounters" AS e\r\ngroup by 1, sex;;'
    )
    assert tree.items == (
        SelectItem(Name("sex", None, at(8)), None, at(8)),
        SelectItem(CountRows(at(13)), "n", at(13)),
        SelectItem(
            CountDistinct(Name("patient_id", "e", at(18, 2)), at(3, 2)), None, at(3, 2)
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
    assert outside == InList(
        Name("b", None, at(33, 2)),
        (StringLiteral("x", at(39, 2)), NullLiteral(at(44, 2))),
        negated=True,
        position=at(33, 2),
    )
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
    tree = parse_query("SELECT /* é /* nested\n */ */ COUNT(*) -- n\nFROM t -- end")
    assert tree.items[0].position == at(8, 2)
    assert tree.source.position == at(6, 3)


@pytest.mark.parametrize("operator", ["==", "!="])
def test_other_spellings_of_operators_are_the_same(operator):
    tree = where(f"a {operator} 1")
    assert isinstance(tree, Comparison)
    assert tree.operator == {"==": "=", "!=": "<>"}[operator]


def test_brackets_around_a_query_and_a_key_are_transparent():
    tree = parse_query("((SELECT (sex), COUNT(*) FROM t GROUP BY (sex)))")
    assert tree.group_by == (Name("sex", None, at(43)),)


def test_a_thousand_conditions_are_one_chain():
    tree = where(" AND ".join(["b"] * 990))
    assert isinstance(tree, And)
    assert len(tree.items) == 990


@pytest.mark.parametrize(
    "error",
    [RecursionError(), SqlglotError("quotes the text"), ParseError("quotes it", [{}])],
)
def test_whatever_the_parser_raises_is_a_syntax_error_in_our_words(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("query_lang.parse.sqlglot.parse_one", fail)
    with pytest.raises(SqlSyntaxError) as refused:
        parse_query("\nSELECT COUNT(*) FROM t")
    assert (refused.value.line, refused.value.column) == (2, 1)
    assert "quotes" not in str(refused.value)
    assert refused.value.__cause__ is None
