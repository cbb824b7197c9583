"""Casts of literals are literals: ``'2024-01-31'::date`` is ``DATE '2024-01-31'``.

So is a day in quotes where nothing but a day can stand: ``'2024-01-31' - admitted``.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Final

from privacy.schema import ColumnType
from query_lang.rewriting.trees import mapped
from query_lang.syntax import rules
from query_lang.syntax.idioms import Overlaps
from query_lang.syntax.nodes import (
    Arithmetic,
    BooleanLiteral,
    Cast,
    Expression,
    FunctionCall,
    LiteralType,
    NullLiteral,
    NumberLiteral,
    Position,
    Query,
    StringLiteral,
    TypedLiteral,
)
from query_lang.syntax.refusals import refuse
from query_lang.syntax.text_values import read_day, read_text, write_value
from query_lang.syntax.type_names import MAX_SCALE, CastTarget, cast_target

_Literal = NumberLiteral | StringLiteral | TypedLiteral | BooleanLiteral | NullLiteral
_LITERALS = (NumberLiteral, StringLiteral, TypedLiteral, BooleanLiteral, NullLiteral)
_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL})
_DATE_LENGTH = len("2024-01-31")
_OF_DAYS: Final = frozenset(
    {
        *("age", "age_years", "date_diff", "datediff", "datetime_diff"),
        *("timestampdiff", "timestamp_diff"),
        *("date_add", "date_sub", "dateadd", "adddate", "subdate", "add_months"),
        *("datetime_add", "datetime_sub", "timestamp_add", "timestamp_sub", "last_day"),
    }
)
"""Functions of days or moments alone; a unit in quotes is no day."""


def with_plain_literals(tree: Query) -> Query:
    """Return a tree in which every cast of a literal is the literal that it makes.

    Raises:
        SqlNotAllowedError: Rule ``literal_type``: the literal has no such value.
    """
    return mapped(tree, plain_literal)


def plain_literal(node: object) -> object:  # noqa: PLR0911 - an arm a kind
    """Return the literal that a cast or call of literals makes; else the node."""
    match node:
        case Cast(value) if isinstance(value, _LITERALS):
            target = cast_target(node.type, node.position)
            return _converted(value, target, node.position)
        case FunctionCall(name, arguments) if name in _OF_DAYS:
            return replace(node, arguments=tuple(map(_day, arguments)))
        case FunctionCall():
            return _moment(node)
        case Overlaps():
            one, other = (tuple(map(_day, side)) for side in (node.one, node.other))
            return replace(node, one=one, other=other)
        case Arithmetic("+" | "-", left, right):
            return replace(node, left=_day(left), right=_day(right))
        case _:
            return node


def _day(operand: Expression) -> Expression:
    """Return a text that is written as a day or moment as that literal."""
    if not isinstance(operand, StringLiteral):
        return operand
    if read_text(operand.text, ColumnType.TIMESTAMP) is None:
        return operand
    is_date = len(operand.text) == _DATE_LENGTH
    kind: LiteralType = "date" if is_date else "timestamp"
    return TypedLiteral(kind, operand.text, operand.position)


def _moment(call: FunctionCall) -> FunctionCall | TypedLiteral:
    """Return a call that makes a date or moment of literals as that literal."""
    position = call.position
    match call.name, call.arguments:
        case "date" | "to_date", (StringLiteral() | TypedLiteral() as text,):
            target = CastTarget(ColumnType.DATE)
        case "to_date", (StringLiteral() as text, StringLiteral("YYYY-MM-DD")):
            target = CastTarget(ColumnType.DATE)
        case "timestamp" | "datetime", (StringLiteral() | TypedLiteral() as text,):
            target = CastTarget(ColumnType.TIMESTAMP)
        case "date" | "make_date" | "datefromparts", (
            NumberLiteral(year),
            NumberLiteral(month),
            NumberLiteral(day),
        ):
            written = f"{year:0>4}-{month:0>2}-{day:0>2}"
            text, target = StringLiteral(written, position), CastTarget(ColumnType.DATE)
        case _:
            return call
    made = _converted(text, target, position)
    return made if isinstance(made, TypedLiteral) else call


def _converted(literal: _Literal, target: CastTarget, position: Position) -> _Literal:
    if isinstance(literal, NullLiteral):
        return literal
    made = _made(literal, target, position)
    if made is None:
        detail = f"this literal has no value as {target.type.value}"
        raise refuse(rules.LITERAL_TYPE, position, detail=detail)
    return made


def _made(  # noqa: PLR0911 - an arm a type
    literal: _Literal, target: CastTarget, position: Position
) -> _Literal | None:
    kind = target.type
    text = _text_of(literal)
    if kind is ColumnType.TEXT:
        return StringLiteral(text[: target.length], position)
    if kind is ColumnType.BOOLEAN:
        return _truth(literal, text, position)
    if kind in _NUMBERS:
        return _number(literal, target, position)
    if isinstance(literal, NumberLiteral | BooleanLiteral):
        return None
    if kind is ColumnType.DATE:
        alone = read_day(text)
        if alone is not None:
            return TypedLiteral("date", str(alone), position)
        whole = read_text(text, ColumnType.TIMESTAMP)
        day = text[:_DATE_LENGTH]
        return None if whole is None else TypedLiteral("date", day, position)
    return TypedLiteral("timestamp", text, position)


def _text_of(literal: _Literal) -> str:
    if isinstance(literal, BooleanLiteral):
        return write_value(literal.value)
    return "" if isinstance(literal, NullLiteral) else literal.text


def _truth(literal: _Literal, text: str, position: Position) -> BooleanLiteral | None:
    if isinstance(literal, NumberLiteral):
        return BooleanLiteral(Fraction(literal.text) != 0, position)
    found = read_text(text, ColumnType.BOOLEAN)
    return BooleanLiteral(found, position) if isinstance(found, bool) else None


def _number(
    literal: _Literal, target: CastTarget, position: Position
) -> NumberLiteral | None:
    scale = 0 if target.type is ColumnType.INTEGER else target.scale
    match literal:
        case NumberLiteral(text):
            exact = Fraction(text)
        case BooleanLiteral(value):
            exact = Fraction(value)
        case StringLiteral(text):
            read = read_text(text, target.type, MAX_SCALE)
            if read is None:
                return None
            exact = Fraction(text)
        case _:
            return None
    if scale is None:
        return NumberLiteral(_written(exact), position)
    steps = abs(exact) * 10**scale + Fraction(1, 2)  # half away from zero
    rounded = Fraction(steps.numerator // steps.denominator, 10**scale)
    return NumberLiteral(_written(-rounded if exact < 0 else rounded), position)


def _written(exact: Fraction) -> str:
    """Write a decimal fraction in full, without idle places."""
    places = 0
    while (exact * 10**places).denominator != 1:
        places += 1
    steps = int(exact * 10**places)
    sign, digits = "-" if steps < 0 else "", str(abs(steps)).rjust(places + 1, "0")
    if not places:
        return sign + digits
    return f"{sign}{digits[:-places]}.{digits[-places:]}"
