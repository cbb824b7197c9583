"""Intervals: ``INTERVAL '1 year 2 months'``, ``INTERVAL 90 DAY``, times a number."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from privacy.schema import ColumnType
from query_lang.binding.environment import Binder
from query_lang.plans.dates import calendar
from query_lang.plans.expressions import Constant, Expression
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    Arithmetic,
    Interval,
    Negative,
    NumberLiteral,
    Position,
    StringLiteral,
)
from query_lang.syntax.nodes import (
    Expression as Tree,
)
from query_lang.syntax.refusals import refuse

MOSTUNITS = 10**9
"""The greatest number in an interval: more than the calendar has of days."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A length of time: months by the calendar, then days, then microseconds.

    Attributes:
        times: An integer of the row by which all three are multiplied, or None.
    """

    months: int = 0
    days: int = 0
    microseconds: int = 0
    times: Expression | None = None

    def multiplied(self, number: int) -> "Amount":
        """Return this amount so many times."""
        return replace(
            self,
            months=self.months * number,
            days=self.days * number,
            microseconds=self.microseconds * number,
        )

    def is_too_long(self) -> bool:
        """Whether it leads out of the calendar from everywhere in it."""
        return (
            abs(self.months) > calendar.FAR_MONTHS
            or abs(self.days) > MOSTUNITS
            or abs(self.microseconds) > calendar.FAR
        )


UNITS: Mapping[str, Amount] = {
    **dict.fromkeys(("year", "years", "yr", "yrs", "y"), Amount(months=12)),
    **dict.fromkeys(("quarter", "quarters"), Amount(months=3)),
    **dict.fromkeys(("month", "months", "mon", "mons"), Amount(months=1)),
    **dict.fromkeys(("week", "weeks", "w"), Amount(days=7)),
    **dict.fromkeys(("day", "days", "d"), Amount(days=1)),
    **dict.fromkeys(
        ("hour", "hours", "hr", "hrs", "h"), Amount(microseconds=calendar.HOUR)
    ),
    **dict.fromkeys(
        ("minute", "minutes", "min", "mins"), Amount(microseconds=calendar.MINUTE)
    ),
    **dict.fromkeys(
        ("second", "seconds", "sec", "secs", "s"),
        Amount(microseconds=calendar.SECOND),
    ),
}
_TERM = re.compile(r"\s*(?:([+-])\s*)?([0-9]{1,9})\s*([a-z]+)", re.ASCII)


def is_interval(tree: Tree) -> bool:  # noqa: PLR0911 - an arm a form
    """Whether an expression is a length of time."""
    match tree:
        case Interval():
            return True
        case Negative(value):
            return is_interval(value)
        case Arithmetic("*", left, right):
            return is_interval(left) or is_interval(right)
        case Arithmetic("+" | "-", left, right):
            return is_interval(left) and is_interval(right)
        case _:
            return False


def amount_of(tree: Tree, binder: Binder) -> Amount:
    """Return the length of time that an interval is.

    Raises:
        SqlNotAllowedError: Rule ``interval``: it is not written so, or too long.
    """
    found = _amount(tree, binder)
    if found.is_too_long():
        raise refuse(
            rules.INTERVAL, tree.position, detail="no two dates lie so far apart"
        )
    return found


def _amount(tree: Tree, binder: Binder) -> Amount:
    match tree:
        case Negative(value):
            return _amount(value, binder).multiplied(-1)
        case Arithmetic("*", left, right):
            return _product(left, right, binder)
        case Arithmetic(operator, left, right):
            return _sum(operator, _amount(left, binder), _amount(right, binder), tree)
        case Interval():
            return _written(tree, binder)
        case _:
            raise refuse(rules.INTERVAL, tree.position)


def _product(left: Tree, right: Tree, binder: Binder) -> Amount:
    one, other = (left, right) if is_interval(left) else (right, left)
    if is_interval(other):
        raise refuse(rules.INTERVAL, other.position)
    return times(_amount(one, binder), binder.value(other), other.position)


def times(amount: Amount, number: Expression, position: Position) -> Amount:
    """Return an amount as often as an integer of the row says.

    Raises:
        SqlNotAllowedError: Rule ``interval``: it is no integer.
    """
    if number.facts.type is not ColumnType.INTEGER or amount.times is not None:
        raise refuse(
            rules.INTERVAL, position, detail="an interval is multiplied by an integer"
        )
    if isinstance(number, Constant) and isinstance(number.value, int):
        return amount.multiplied(number.value)
    return replace(amount, times=number)


def _sum(operator: str, one: Amount, other: Amount, tree: Tree) -> Amount:
    if one.times is not None or other.times is not None:
        raise refuse(
            rules.INTERVAL,
            tree.position,
            hint="add one after the other: admitted + n * INTERVAL '1 day' + "
            "INTERVAL '1 month'",
        )
    other = other if operator == "+" else other.multiplied(-1)
    return Amount(
        one.months + other.months,
        one.days + other.days,
        one.microseconds + other.microseconds,
    )


def _written(tree: Interval, binder: Binder) -> Amount:
    value, unit = tree.value, tree.unit
    if unit is None:
        text = value.text if isinstance(value, StringLiteral) else ""
        return _of_text(text, tree.position)
    each = UNITS.get(unit)
    if each is None:
        raise refuse(rules.INTERVAL, tree.position)
    if isinstance(value, StringLiteral):
        return _of_text(f"{value.text} {unit}", tree.position)
    if isinstance(value, NumberLiteral):
        return _of_text(f"{value.text} {unit}", tree.position)
    return times(each, binder.value(value), value.position)


def _of_text(text: str, position: Position) -> Amount:
    """Read ``1 year -2 months``: whole numbers, each with its unit."""
    total, at, folded = Amount(), 0, text.lower()
    while folded[at:].strip():
        found = _TERM.match(folded, at)
        each = UNITS.get(found[3]) if found else None
        if found is None or each is None:
            raise refuse(rules.INTERVAL, position)
        number = int(found[2]) * (-1 if found[1] == "-" else 1)
        total = _sum("+", total, each.multiplied(number), StringLiteral("", position))
        at = found.end()
    if not at:
        raise refuse(rules.INTERVAL, position)
    return total
