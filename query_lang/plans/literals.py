"""Literals in the type of what they stand beside; nothing is coerced."""

import operator as operators
import re
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from privacy.schema import ColumnType, RangeDomain, Scalar, ValuesDomain
from query_lang.plans.expressions import Constant, Facts
from query_lang.plans.intervals import MAX_INTEGER, MIN_INTEGER, grid_value
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    BooleanLiteral,
    LiteralType,
    NullLiteral,
    NumberLiteral,
    Position,
    StringLiteral,
    TypedLiteral,
)
from query_lang.syntax.refusals import refuse
from query_lang.syntax.text_values import read_day, read_text

Literal = NumberLiteral | StringLiteral | TypedLiteral | BooleanLiteral | NullLiteral
LITERALS = (NumberLiteral, StringLiteral, TypedLiteral, BooleanLiteral, NullLiteral)
NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL})
MAX_NUMBER_LENGTH = 400

_Ordered = tuple[Fraction, str]
_COMPARED: Mapping[str, Callable[[_Ordered, _Ordered], bool]] = {
    "=": operators.eq,
    "<>": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}
FORMS: Mapping[ColumnType, str] = {
    ColumnType.INTEGER: "a number: 60",
    ColumnType.DECIMAL: "a number: 1.5",
    ColumnType.DATE: "a day: '2024-01-31' or DATE '2024-01-31'",
    ColumnType.TIMESTAMP: "a time: '2024-01-31 08:00:00'",
    ColumnType.TEXT: "a string: 'E11'",
    ColumnType.BOOLEAN: "TRUE or FALSE",
}
"""How a value of a type is written, for people."""

_UNCAST = "leave the cast to text out: age = ANY (ARRAY[60, 61])"


def typed_value(literal: Literal, facts: Facts, shown: str) -> Scalar:
    """Return the value of a literal beside an expression of a type.

    Args:
        literal: As written.
        facts: Of the expression beside it.
        shown: What to call the expression in a refusal.

    Raises:
        SqlNotAllowedError: NULL, another type, or a number beyond 64 bits.
    """
    if isinstance(literal, NullLiteral):
        raise refuse(rules.NULL_LITERAL, literal.position)
    value = _READERS[facts.type](literal)
    if value is None:
        is_cast = isinstance(literal, TypedLiteral) and literal.type == "text"
        raise refuse(
            rules.LITERAL_TYPE,
            literal.position,
            detail=f"this literal does not fit {shown}, which is of type "
            f"{facts.type.value}",
            hint=_UNCAST if is_cast else _instead(literal, facts),
        )
    return value


def _instead(literal: Literal, facts: Facts) -> str:
    """Say how a literal is written: a number beside a list of texts as one of them.

    ``301`` as '0301'; if no text is that number, a text of it equals nothing.
    """
    listed = facts.domain
    if not isinstance(literal, NumberLiteral) or not isinstance(listed, ValuesDomain):
        return _of_its_type(literal, facts.type)
    if facts.type is not ColumnType.TEXT or len(listed.values) > _MOST_LISTED:
        return _of_its_type(literal, facts.type)
    texts = [str(text) for text in listed.values]
    alike = [text for text in texts if _is_number(text, literal.text)]
    if len(alike) == 1 or literal.text in alike:
        return f"write '{literal.text if literal.text in alike else alike[0]}'"
    named = ", ".join(f"'{text}'" for text in (alike or texts)[:_MOST_NAMED])
    return f"declared are {named}{', ...' * (len(alike or texts) > _MOST_NAMED)}"


def _of_its_type(literal: Literal, kind: ColumnType) -> str:
    text = literal.text if isinstance(literal, StringLiteral | TypedLiteral) else ""
    zoned = _ZONED.fullmatch(text) if kind is ColumnType.TIMESTAMP else None
    return _NO_ZONE.format(zoned[1]) if zoned else f"write {FORMS[kind]}"


_ZONED = re.compile(
    r"([0-9-]{8,10}[ T][0-9:]{4,8}(?:\.[0-9]{1,9})?)"
    r"(?: ?(?:Z|UTC|GMT)|[+-][0-9]{1,2}(?::?[0-9]{2})?)",
    re.ASCII | re.IGNORECASE,
)
_NO_ZONE = "columns have no zone: write '{0}', the time as the column has it"
_MOST_LISTED = 256
_MOST_NAMED = 6
_DIGITS = re.compile(r"[0-9]{1,20}", re.ASCII)


def _is_number(text: str, number: str) -> bool:
    digits = _DIGITS.fullmatch(text) and _DIGITS.fullmatch(number)
    return bool(digits) and int(text) == int(number)


def lone_constant(literal: Literal) -> Constant:
    """Return a literal that stands by itself, in the type that it shows.

    NULL has the type text until what is around it says otherwise.

    Raises:
        SqlNotAllowedError: A number beyond 64 bits, or no such date.
    """
    if isinstance(literal, NullLiteral):
        return Constant(None, Facts(ColumnType.TEXT, constant=True))
    kind = _lone_type(literal)
    value = typed_value(literal, Facts(kind), "a value of its form")
    scale = 0
    if isinstance(value, Decimal):
        kind, scale = ColumnType.DECIMAL, _decimals(value)
        check_on_grid(value, scale, literal.position)
    return Constant(value, constant_facts(value, kind, scale))


def literal_truth(operator: str, left: Literal, right: Literal) -> bool:
    """Return whether a comparison of two literals holds; numbers compare exactly.

    Raises:
        SqlNotAllowedError: NULL, or two literals whose types do not compare.

    >>> from query_lang.syntax.nodes import Position
    >>> place = Position(1, 1)
    >>> literal_truth("<", NumberLiteral("1", place), NumberLiteral("1.5", place))
    True
    """
    typed, other = (right, left) if isinstance(left, StringLiteral) else (left, right)
    if isinstance(typed, NullLiteral):
        raise refuse(rules.NULL_LITERAL, typed.position)
    kind = Facts(_lone_type(typed))
    values = (
        typed_value(typed, kind, "a value of its form"),
        typed_value(other, kind, "the literal beside it"),
    )
    first, second = reversed(values) if typed is right else values
    return _COMPARED[operator](_ordered(first), _ordered(second))


def small_number(tree: object, most: int) -> int | None:
    """Return a plain whole number written as a literal, at most ``most``, or None.

    >>> from query_lang.syntax.nodes import Position
    >>> small_number(NumberLiteral("007", Position(1, 1)), 10)
    7
    """
    if not isinstance(tree, NumberLiteral) or not tree.text.isdigit():
        return None
    digits = tree.text.lstrip("0") or "0"
    value = int(digits) if len(digits) <= len(str(most)) else most + 1
    return value if value <= most else None


def check_on_grid(value: Scalar, scale: int, position: Position) -> None:
    """Refuse a number that 64 bits cannot hold in steps of 10**-scale.

    Raises:
        SqlNotAllowedError: Rule ``literal_range``.
    """
    if not MIN_INTEGER <= grid_value(value, scale) <= MAX_INTEGER:
        raise refuse(rules.LITERAL_RANGE, position)


def constant_facts(value: Scalar, kind: ColumnType, scale: int = 0) -> Facts:
    """Return what is known of a literal: one public value."""
    domain = None if kind is ColumnType.BOOLEAN else ValuesDomain((value,))
    longest = None
    if isinstance(value, str):
        longest = len(value.encode("utf-8", "surrogatepass"))
    return Facts(kind, scale, False, True, domain, longest)  # noqa: FBT003 - fields in their order


def _lone_type(literal: Literal) -> ColumnType:
    match literal:
        case NumberLiteral():
            return ColumnType.INTEGER
        case TypedLiteral(kind):
            return ColumnType(kind)
        case BooleanLiteral():
            return ColumnType.BOOLEAN
        case _:
            return ColumnType.TEXT


def _decimals(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def is_outside_domain(value: Scalar, facts: Facts) -> bool:
    """Whether the declared domain, if any, does not hold a value."""
    match facts.domain:
        case RangeDomain() as domain:
            return not _within(value, domain)
        case ValuesDomain() as listed:
            return value not in _members(listed)
        case _:
            return False


@lru_cache(64)
def _members(domain: ValuesDomain) -> frozenset[Scalar]:
    return frozenset(domain.all_values())


def ends_domain(value: Scalar, facts: Facts) -> bool:
    """Whether a value is the first beyond a range: of a time, the next day's start.

    >>> from privacy.schema import ColumnType
    >>> day = RangeDomain(date(2024, 1, 1), date(2024, 12, 31))
    >>> ends_domain(date(2025, 1, 1), Facts(ColumnType.DATE, domain=day))
    True
    """
    most = facts.domain.maximum if isinstance(facts.domain, RangeDomain) else None
    if isinstance(value, date) and isinstance(most, date):
        starts = value.isoformat() in {_day_after(most), f"{_day_after(most)}T00:00:00"}
        return starts and (most.year, most.month, most.day) < (9999, 12, 31)
    return isinstance(value, int) and isinstance(most, int) and value == most + 1


def _day_after(moment: date) -> str:
    day = moment.toordinal()  # of a time, its day's
    return date.fromordinal(min(day + 1, date.max.toordinal())).isoformat()


def _within(value: Scalar, domain: RangeDomain) -> bool:
    low, high = _ordered(domain.minimum), _ordered(domain.maximum)
    return low <= _ordered(value) <= high


def _ordered(value: Scalar) -> tuple[Fraction, str]:
    """Return a sort key; the values of one column agree in kind."""
    if isinstance(value, int | Decimal):
        return Fraction(value), ""
    if isinstance(value, date):  # a datetime is a date; ISO order is time's order
        return Fraction(0), value.isoformat()
    return Fraction(0), value


def _number(literal: Literal) -> Scalar | None:
    if not isinstance(literal, NumberLiteral):
        return None
    if len(literal.text) > MAX_NUMBER_LENGTH:
        raise refuse(rules.LITERAL_RANGE, literal.position)
    exact = Fraction(literal.text)
    if not MIN_INTEGER <= exact <= MAX_INTEGER:
        raise refuse(rules.LITERAL_RANGE, literal.position)
    if exact.denominator == 1:
        return int(exact)
    return Decimal(literal.text.rstrip("0"))


def _date(literal: Literal) -> Scalar | None:
    text = _text_of(literal, "date")
    return None if text is None else read_day(text)


def _timestamp(literal: Literal) -> Scalar | None:
    text = _text_of(literal, "timestamp", "date")  # a day alone is its midnight
    return None if text is None else read_text(text, ColumnType.TIMESTAMP)


def _text_of(literal: Literal, *kinds: LiteralType) -> str | None:
    if isinstance(literal, StringLiteral):
        return literal.text
    if isinstance(literal, TypedLiteral) and literal.type in kinds:
        return literal.text
    return None


def _text(literal: Literal) -> Scalar | None:
    return _text_of(literal, "text")


def _boolean(literal: Literal) -> Scalar | None:
    """Return a truth value; a text is one as a cast takes it: smoker = 'yes'."""
    if isinstance(literal, StringLiteral):
        return read_text(literal.text, ColumnType.BOOLEAN)
    return literal.value if isinstance(literal, BooleanLiteral) else None


_READERS: Mapping[ColumnType, Callable[[Literal], Scalar | None]] = {
    ColumnType.INTEGER: _number,
    ColumnType.DECIMAL: _number,
    ColumnType.DATE: _date,
    ColumnType.TIMESTAMP: _timestamp,
    ColumnType.TEXT: _text,
    ColumnType.BOOLEAN: _boolean,
}
