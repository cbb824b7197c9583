"""Sets of values of one operand, each with one form whatever way it was written.

Numbers, days and times are intervals of integers: whole numbers themselves, decimals in
steps of their grid, dates as days since 1970-01-01. Between two neighbouring times lie
others, so that times are counted in half steps: an odd number is what lies between two
microseconds. Texts are a list, or all but a list. A set is cut to the operand's public
values where these are declared, since no row holds another one.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

from privacy.schema import ColumnType, RangeDomain, Scalar, ValuesDomain
from query_lang.normalising.steps import take_steps_of
from query_lang.plans.expressions import Facts
from query_lang.plans.intervals import (
    MAX_DAY,
    MAX_INTEGER,
    MIN_DAY,
    MIN_INTEGER,
    grid_value,
)

Parameter = str | int | bool | None | Sequence["Parameter"]
"""What JSON can hold."""
End = int | float
"""An end of an interval, included; a float is an infinity."""
Interval = tuple[End, End]
Intervals = tuple[Interval, ...]
"""Disjoint, in order, no two of them neighbours."""

INFINITY: Final = math.inf
EVERYTHING: Final[Intervals] = ((-INFINITY, INFINITY),)
_TIME_ZERO = datetime(1970, 1, 1)  # noqa: DTZ001 - timestamps have no zone
_MICROSECONDS = 10**6


def union(intervals: Iterable[Interval]) -> Intervals:
    """Return the integers that lie in any of these.

    >>> union([(5, 9), (1, 4), (20, 21)])
    ((1, 9), (20, 21))
    """
    listed = [pair for pair in intervals if pair[0] <= pair[1]]
    take_steps_of(len(listed))
    return _united(listed)


def _united(intervals: Iterable[Interval]) -> Intervals:
    """Return the union of intervals; what remembers it counts its steps itself."""
    found: list[Interval] = []
    for low, high in sorted(intervals):
        if found and low <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return tuple(found)


def common(one: Intervals, other: Intervals) -> Intervals:
    """Return the integers that lie in both.

    >>> common(((1, 9), (20, 30)), ((5, 25),))
    ((5, 9), (20, 25))
    """
    found: list[Interval] = []
    take_steps_of(len(one) + len(other))
    first = second = 0
    while first < len(one) and second < len(other):
        low = max(one[first][0], other[second][0])
        high = min(one[first][1], other[second][1])
        found += [(low, high)] if low <= high else []
        if one[first][1] < other[second][1]:
            first += 1
        else:
            second += 1
    return union(found)


def complement(one: Intervals) -> Intervals:
    """Return the integers that lie in none.

    >>> complement(((1, 9),))
    ((-inf, 0), (10, inf))
    """
    starts: list[End] = [-INFINITY, *(high + 1 for _, high in one)]
    stops: list[End] = [*(low - 1 for low, _ in one), INFINITY]
    pairs = zip(starts, stops, strict=True)
    return union(p for p in pairs if p[0] != INFINITY and p[1] != -INFINITY)


def mapped(one: Intervals, of: Callable[[End, End], Interval]) -> Intervals:
    """Return the union of what a function makes of each interval."""
    return union(of(low, high) for low, high in one)


@dataclass(frozen=True, slots=True)
class NumberSet:
    """Integers of an operand's grid, cut to its public values."""

    intervals: Intervals
    universe: Intervals

    @classmethod
    def of(cls, intervals: Intervals, universe: Intervals) -> "NumberSet":
        """Return a set, cut to the universe."""
        return cls(common(intervals, universe), universe)

    def joined(self, other: "NumberSet") -> "NumberSet":
        """Return what lies in either."""
        return NumberSet.of(union((*self.intervals, *other.intervals)), self.universe)

    def met(self, other: "NumberSet") -> "NumberSet":
        """Return what lies in both."""
        return NumberSet.of(common(self.intervals, other.intervals), self.universe)

    def rest(self) -> "NumberSet":
        """Return what lies outside."""
        return NumberSet.of(complement(self.intervals), self.universe)

    @property
    def is_empty(self) -> bool:
        """Whether no public value lies in it."""
        return not self.intervals

    @property
    def is_all(self) -> bool:
        """Whether every public value lies in it."""
        return self.intervals == self.universe

    def parameter(self) -> Parameter:
        """Return it in JSON; an end that is open is None."""
        take_steps_of(len(self.intervals))
        return [
            [None if isinstance(end, float) else end for end in pair]
            for pair in self.intervals
        ]


@dataclass(frozen=True, slots=True)
class TextSet:
    """Texts of a list, or all but these, among an operand's public values.

    Attributes:
        values: The list; of a declared universe always what lies in the set.
        universe: The declared values, or None.
        excluded: Whether it is all but these; never so within a universe.
    """

    values: frozenset[str]
    universe: frozenset[str] | None
    excluded: bool = False

    @classmethod
    def of(cls, values: Iterable[str], universe: frozenset[str] | None) -> "TextSet":
        """Return a list of texts, cut to the universe."""
        listed = frozenset(values)
        take_steps_of(len(listed))
        return cls(listed if universe is None else listed & universe, universe)

    def joined(self, other: "TextSet") -> "TextSet":
        """Return what lies in either."""
        one, two = self.values, other.values
        take_steps_of(len(one) + len(two))
        if self.excluded and other.excluded:
            return TextSet(one & two, self.universe, excluded=True)
        if not self.excluded and not other.excluded:
            return TextSet(one | two, self.universe)
        rest = one - two if self.excluded else two - one
        return TextSet(rest, self.universe, excluded=True)

    def met(self, other: "TextSet") -> "TextSet":
        """Return what lies in both."""
        take_steps_of(len(self.values) + len(other.values))
        if not self.excluded and not other.excluded:
            return TextSet(self.values & other.values, self.universe)
        return self.rest().joined(other.rest()).rest()

    def rest(self) -> "TextSet":
        """Return what lies outside."""
        if self.universe is not None:
            take_steps_of(len(self.universe))
            return TextSet(self.universe - self.values, self.universe)
        return TextSet(self.values, None, excluded=not self.excluded)

    @property
    def is_empty(self) -> bool:
        """Whether no text lies in it."""
        return not self.values and not self.excluded

    @property
    def is_all(self) -> bool:
        """Whether every public text lies in it."""
        if self.universe is None:
            return self.excluded and not self.values
        return self.values == self.universe

    def parameter(self) -> Parameter:
        """Return it in JSON: the shorter of a list of public values and its rest."""
        take_steps_of(len(self.values))
        if self.universe is not None and 2 * len(self.values) > len(self.universe):
            return ["all but", sorted(self.universe - self.values)]
        return ["all but" if self.excluded else "among", sorted(self.values)]


ValueSet = NumberSet | TextSet


def universe_of(facts: Facts) -> Intervals:  # noqa: PLR0911 - an arm a form
    """Return the steps that the values of a number, day or time can be."""
    match facts.domain:
        case _ if facts.type is ColumnType.TIMESTAMP:
            return EVERYTHING
        case RangeDomain(low, high):
            return union([(point_of(low, facts), point_of(high, facts))])
        case ValuesDomain() as listed if listed.values:
            return _listed(listed, facts.type, facts.scale)
        case _ if facts.type is ColumnType.DATE:
            return ((MIN_DAY, MAX_DAY),)
        case _:
            return ((MIN_INTEGER, MAX_INTEGER),)


def _listed(domain: ValuesDomain, kind: ColumnType, scale: int) -> Intervals:
    take_steps_of(len(domain.values))  # whether or not it is remembered
    return _points(domain, kind, scale)


@lru_cache(256)
def _points(domain: ValuesDomain, kind: ColumnType, scale: int) -> Intervals:
    facts = Facts(kind, scale)
    points = {point_of(value, facts) for value in domain.values}
    return _united((point, point) for point in points)


@lru_cache(256)
def _texts(domain: ValuesDomain) -> frozenset[str]:
    return frozenset(v for v in domain.all_values() if isinstance(v, str))


def texts_of(facts: Facts) -> frozenset[str] | None:
    """Return the texts that a value can be, where these are declared."""
    if isinstance(facts.domain, ValuesDomain):
        return _texts(facts.domain)
    return None


def point_of(value: Scalar, facts: Facts) -> int:
    """Return a value of an operand's own grid as an integer."""
    if facts.type is ColumnType.TIMESTAMP:
        return 2 * _microseconds(value)
    return grid_value(value, facts.scale)


def _microseconds(value: Scalar) -> int:
    passed = _moment(value) - _TIME_ZERO
    seconds = passed.days * 86_400 + passed.seconds
    return seconds * _MICROSECONDS + passed.microseconds


def _moment(value: Scalar) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001 - no zone
    message = "a time or a day"
    raise TypeError(message)


def up_to(value: Scalar, facts: Facts, *, included: bool) -> Intervals:
    """Return the steps that are at most a value, or below it.

    The value may lie between two steps.
    """
    exact = _exact(value, facts)
    last = math.floor(exact)
    return ((-INFINITY, last - (not included and last == exact)),)


def equal_to(values: Iterable[Scalar], facts: Facts) -> Intervals:
    """Return the steps that are one of these values; one between two steps is none."""
    exact = [_exact(value, facts) for value in values]
    points = [int(value) for value in exact if value.denominator == 1]
    return union((point, point) for point in points)


def _exact(value: Scalar, facts: Facts) -> Fraction:
    if isinstance(value, int | Decimal):
        return Fraction(value) * int(10**facts.scale)
    return Fraction(point_of(value, facts))
