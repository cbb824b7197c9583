"""All moments of a day, tried at once: what an expression is at each of them alike.

A day has 86,400,000,000 moments, of which a row has one. Where an expression is the
same at all of them it is known; else nothing is. Proof: docs/proofs/count_distinct.md.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from privacy.schema import Scalar
from query_lang.binding.results.day_parts import part_of
from query_lang.binding.results.values_at import UnknownError
from query_lang.plans.dates import calendar
from query_lang.plans.expressions import Call, Constant, Expression, Function
from query_lang.plans.intervals import Interval


@dataclass(frozen=True, slots=True)
class Span:
    """Every moment from ``first`` to ``last``, both included."""

    first: datetime
    last: datetime


def days_within(bounds: Interval) -> int:
    """Return how many days moments lie in.

    Args:
        bounds: The first and the last, in microseconds since 1970.
    """
    return bounds[1] // calendar.DAY - bounds[0] // calendar.DAY + 1


def spans_of(bounds: Interval) -> Iterator[Span]:
    """Yield the moments of each day, of the first and the last those within bounds.

    >>> [str(span.last) for span in spans_of((0, calendar.DAY))]
    ['1970-01-01 23:59:59.999999', '1970-01-02 00:00:00']
    """
    start = bounds[0]
    while start <= bounds[1]:
        following = (start // calendar.DAY + 1) * calendar.DAY
        last = min(bounds[1], following - 1)
        yield Span(calendar.moment_of(start), calendar.moment_of(last))
        start = following


def of_span(call: Call, span: Span) -> Scalar | Span:  # noqa: PLR0911 - an arm a form
    """Return what a function of moments is at all of them.

    Raises:
        UnknownError: It is not the same, or nothing here computes it.
    """
    match call.function:
        case Function.ADD_MICROSECONDS:
            return _moved(span, call.operands[1])
        case Function.EQ | Function.NE | Function.IN:
            return _equal(call, span)
        case Function.BETWEEN:
            return _between(call, span)
        case _ if call.function in _ORDERED:
            return _compared(call, span)
        case _:
            return _of_day(call, span)


_ORDERED: Final[Mapping[Function, Callable[[datetime, datetime], bool]]] = {
    Function.LT: operator.lt,
    Function.LE: operator.le,
    Function.GT: operator.gt,
    Function.GE: operator.ge,
}


def _of_day(call: Call, span: Span) -> Scalar:
    """Return the day of moments, or a part of it, where all have the same day."""
    day = span.first.date()
    if span.last.date() != day:
        raise UnknownError
    if call.function is Function.DATE_OF:
        return day
    part = part_of(call)
    found = None if part is None else part.of(day)
    if found is None:
        raise UnknownError
    return found


def _moved(span: Span, by: Expression) -> Span:
    ends = [calendar.microseconds_of(end) for end in (span.first, span.last)]
    if not isinstance(by, Constant) or not isinstance(by.value, int):
        raise UnknownError
    first, last = (end + by.value for end in ends)
    if first < calendar.MIN_MOMENT or last > calendar.MAX_MOMENT:
        raise UnknownError
    return Span(calendar.moment_of(first), calendar.moment_of(last))


def _literals(call: Call) -> list[datetime]:
    others = call.operands[1:]
    found = [each.value for each in others if isinstance(each, Constant)]
    moments = [each for each in found if isinstance(each, datetime)]
    if len(moments) < len(others):
        raise UnknownError
    return moments


def _equal(call: Call, span: Span) -> bool:
    """Return what equality is: none of several moments is known to be a literal."""
    if any(span.first <= each <= span.last for each in _literals(call)):
        if span.first < span.last:
            raise UnknownError
        return call.function is not Function.NE
    return call.function is Function.NE


def _between(call: Call, span: Span) -> bool:
    low, high = _literals(call)
    if span.last < low or span.first > high:
        return False
    if low <= span.first and span.last <= high:
        return True
    raise UnknownError


def _compared(call: Call, span: Span) -> bool:
    """Return what an order is: it turns once, so the same at both ends is the same."""
    (literal,) = _literals(call)
    holds = _ORDERED[call.function]
    found = holds(span.first, literal)
    if holds(span.last, literal) is not found:
        raise UnknownError
    return found
