"""What is computed of literals alone, as the literal that it is."""

from calendar import monthrange
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Final, TypeVar

from privacy.schema import ColumnType
from query_lang.rewriting.literal_casts import plain_literal
from query_lang.rewriting.trees import mapped
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    Arithmetic,
    Cast,
    Expression,
    Interval,
    Negative,
    NumberLiteral,
    Position,
    StringLiteral,
    TypedLiteral,
)
from query_lang.syntax.refusals import refuse
from query_lang.syntax.text_values import read_text

_Tree = TypeVar("_Tree")

_MONTHS: Final[Mapping[str, int]] = {"month": 1, "quarter": 3, "year": 12}
_DAYS: Final[Mapping[str, int]] = {"day": 1, "week": 7}
_MOST_DIGITS = 9
_BEYOND: Final = 10**9  # days or months: no day is so far from another

MOST_CHARACTERS: Final = 1_000
"""Of a text that is put together of literals: each || may double what was doubled."""


def folded(tree: _Tree) -> _Tree:
    """Return an expression in which sums of days and texts of literals are literals.

    Raises:
        SqlNotAllowedError: A text becomes too long, a day lies beyond the years.
    """
    return mapped(tree, _folded)


def day_of(tree: Expression) -> date | None:
    """Return the day that a literal is, also one in quotes."""
    if not isinstance(tree, StringLiteral | TypedLiteral):
        return None
    found = read_text(tree.text, ColumnType.DATE)
    return found if isinstance(found, date) else None


def amount_of(tree: Expression) -> tuple[int, int] | None:  # noqa: PLR0911 - an arm a form
    """Return the months and days of an interval of whole ones."""
    if not isinstance(tree, Interval):
        return None
    if not isinstance(tree.value, StringLiteral | NumberLiteral):
        return None
    words = [*tree.value.text.split(), *([] if tree.unit is None else [tree.unit])]
    if len(words) != 2 or not words[0].removeprefix("-").isdecimal():  # noqa: PLR2004 - a number and its unit
        return None
    unit = words[1].lower().removesuffix("s")
    number = _number(words[0])
    if unit in _MONTHS:
        return number * _MONTHS[unit], 0
    return (0, number * _DAYS[unit]) if unit in _DAYS else None


def _number(digits: str) -> int:
    """Return a whole number; one that is beyond all days as such."""
    if len(digits) <= _MOST_DIGITS:
        return int(digits)
    return -_BEYOND if digits.startswith("-") else _BEYOND


def shifted(day: date, months: int, days: int) -> date | None:
    """Return a day so much later; None outside the years 1 to 9999."""
    place = day.year * 12 + day.month - 1 + months
    year, month = place // 12, place % 12 + 1
    if not date.min.year <= year <= date.max.year:
        return None
    last = monthrange(year, month)[1]
    try:
        return date(year, month, min(day.day, last)) + timedelta(days)
    except OverflowError:
        return None


def _folded(node: object) -> object:  # noqa: PLR0911 - an arm a form
    match node:
        case Cast(StringLiteral() | TypedLiteral() | NumberLiteral()):
            return plain_literal(node)
        case Negative(NumberLiteral(text), position) if not text.startswith("-"):
            return NumberLiteral(f"-{text}", position)
        case Arithmetic("||", StringLiteral(left), StringLiteral(right), position):
            return _joined(left, right, position)
        case Arithmetic("+" | "-" as sign, TypedLiteral("date") as left, right):
            return _later(node, left, right, -1 if sign == "-" else 1)
        case _:
            return node


def _joined(left: str, right: str, position: Position) -> StringLiteral:
    if len(left) + len(right) > MOST_CHARACTERS:
        detail = (
            f"a text that is put together of literals has {MOST_CHARACTERS:,} "
            "characters at most"
        )
        raise refuse(rules.TOO_COMPLEX, position, detail=detail, hint=_AS_ONE)
    return StringLiteral(left + right, position)


def _later(
    node: Arithmetic, left: TypedLiteral, right: Expression, sign: int
) -> Expression:
    day, amount = day_of(left), amount_of(right)
    if isinstance(right, NumberLiteral) and right.text.isdecimal():
        amount = (0, _number(right.text))
    if day is None or amount is None:
        return node
    found = shifted(day, sign * amount[0], sign * amount[1])
    if found is None:
        detail = "a day that is computed of a literal lies in the years 1 to 9999"
        raise refuse(rules.CONSTANT_ROWS, node.position, detail=detail, hint=_NO_END)
    return TypedLiteral("date", found.isoformat(), node.position)


_AS_ONE = "write the text as it shall be, in one pair of quotes"
_NO_END = "where no end is meant, compare with a day that none is after: d <= v.last"
