"""What follows from an answer's counts: ratios, odds ratios, survival, with intervals.

Nothing is asked and nothing is paid: what is computed of noisy counts knows no more
than they do. Each count gets an interval of its own from the public scale of its noise;
they share the chance of a miss (union bound), so that what is computed of them holds
with 95 % whatever the counts have to do with each other. A ratio that is asked in SQL
has a narrower interval, since the server knows which noise stands in both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

MISS = 0.05
"""The chance that an interval does not hold."""

_HALVINGS = 60


class Answer(Protocol):
    """What is read of an answer."""

    @property
    def columns(self) -> list[dict[str, Any]]:
        """The columns: name, kind, unit."""

    @property
    def rows(self) -> list[list[Any]]:
        """The rows, in column order."""

    @property
    def noise(self) -> list[dict[str, Any]]:
        """Scale and half-width of each measured column."""

    @property
    def groups(self) -> list[str]:
        """The names of the group columns."""

    @property
    def is_clamped(self) -> bool:
        """Whether negative counts were made 0."""


@dataclass(frozen=True)
class Estimate:
    """A number that follows from noisy counts.

    Attributes:
        value: Of the noisy counts; None where there is none, such as of a ratio to a
            count that is not positive.
        low: Of the 95 % interval.
        high: Likewise; infinite where the noise sets no limit.
    """

    value: float | None
    low: float
    high: float

    def __str__(self) -> str:
        """Return the value and its interval.

        >>> print(Estimate(0.5, 0.25, math.inf))
        0.5 (0.25 or more)
        """
        shown = "none" if self.value is None else f"{self.value:.4g}"
        if math.isinf(self.high):
            return f"{shown} ({self.low:.4g} or more)"
        return f"{shown} ({self.low:.4g} to {self.high:.4g})"


def half_width(scale: float, miss: float) -> int:
    """Return how far a count's noise goes but for a chance.

    Of discrete Laplace noise, P(|X| >= n) = 2 u^n / (1 + u) with u = exp(-1 / scale).

    Args:
        scale: Of the noise, in counts.
        miss: The chance that it goes further.

    >>> half_width(10, 0.05), half_width(0.2, 0.05)
    (30, 0)
    """
    if scale <= 0:
        return 0
    u = math.exp(-1 / scale)
    least = scale * math.log(2 / ((1 + u) * miss))  # P(|X| >= least) <= miss
    return max(0, math.ceil(least - 1e-9) - 1)


def sum_half_width(scale: float, number: int, miss: float) -> float:
    """Return how far the sum of so many counts' noise goes but for a chance.

    By Chernoff's bound, with the moment generating function of discrete Laplace noise,
    (1 - u)^2 / ((1 - u e^l) (1 - u e^-l)) for l < 1 / scale.

    >>> half_width(10, 0.05) < sum_half_width(10, 4, 0.05) < 4 * half_width(10, 0.05)
    True
    """
    if scale <= 0 or not number:
        return 0.0
    if number == 1:
        return float(half_width(scale, miss))
    u = math.exp(-1 / scale)

    def bound(rate: float) -> float:
        moment = 2 * math.log(1 - u)
        moment -= math.log(1 - u * math.exp(rate)) + math.log(1 - u * math.exp(-rate))
        return (number * moment + math.log(2 / miss)) / rate

    low, high = 1e-9 / scale, (1 - 1e-9) / scale
    for _ in range(_HALVINGS):  # it falls, and then rises
        first, second = low + (high - low) / 3, high - (high - low) / 3
        if bound(first) < bound(second):
            high = second
        else:
            low = first
    return min(bound(low), number * half_width(scale, miss / number))


def ratios(answer: Answer, over: str, under: str, per: float) -> list[Estimate]:
    """Return ``per * over / under`` of each row, of two counts."""
    first, second = _counts(answer, over), _counts(answer, under)
    each = _miss(answer, (over, under)) / 2
    return [
        _quotient(one.around(each), other.around(each), per)
        for one, other in zip(first, second, strict=True)
    ]


def odds_ratios(answer: Answer, table: Sequence[str]) -> list[Estimate]:
    """Return ``a d / (b c)`` of each row, of four counts."""
    found = []
    columns = [_counts(answer, name) for name in table]
    miss = _miss(answer, table) / 4
    for row in zip(*columns, strict=True):
        a, b, c, d = (each.around(miss) for each in row)
        found.append(_quotient(_product(a, d), _product(b, c), 1))
    return found


def survival(answer: Answer, events: str, left: str) -> list[Estimate]:
    """Return the Kaplan-Meier estimate after each row's time.

    At risk at a time are all whose event or end of observation comes then or later. All
    numbers of events and at risk hold at once, so this is a band.

    Args:
        answer: One row a time, in order.
        events: The count of events at each.
        left: The count of those who were last observed then, without an event.

    Raises:
        ValueError: The rows have not one group column, a time.
    """
    if len(answer.groups) != 1:
        message = "survival needs one group column, the time: one row a time, in order"
        raise ValueError(message)
    died, lost = _counts(answer, events), _counts(answer, left)
    miss = _miss(answer, (events, left)) / max(1, 2 * len(died))
    found, value, low, high = [], 1.0, 1.0, 1.0
    for place, one in enumerate(died):
        at_risk = _Count.total([*died[place:], *lost[place:]])
        deaths, staying = one.around(miss), at_risk.around(miss)
        share = deaths.value / staying.value if staying.value > 0 else 0.0
        value *= 1 - min(1.0, max(0.0, share))
        high *= 1 - min(1.0, deaths.low / staying.high if staying.high > 0 else 0.0)
        most = deaths.high / staying.low if staying.low > 0 else 1.0
        low *= 1 - min(1.0, most)
        found.append(Estimate(value, low, high))
    return found


@dataclass(frozen=True)
class _Bounds:
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class _Count:
    """A noisy count, or the sum of so many of one scale."""

    value: float
    scales: tuple[float, ...]

    @classmethod
    def total(cls, counts: Iterable[_Count]) -> _Count:
        listed = list(counts)
        scales = tuple(scale for one in listed for scale in one.scales)
        return cls(sum(one.value for one in listed), scales)

    def around(self, miss: float) -> _Bounds:
        """Return between which counts the exact one lies: none of them negative."""
        kinds = {scale: self.scales.count(scale) for scale in self.scales}
        width = sum(
            sum_half_width(scale, number, miss / len(kinds))
            for scale, number in kinds.items()
        )
        return _Bounds(
            self.value, max(0.0, self.value - width), max(0.0, self.value) + width
        )


def _counts(answer: Answer, column: str) -> list[_Count]:
    """Return a column's counts with the scales of their noise.

    Raises:
        KeyError: There is no such count.
        ValueError: It is no count that was drawn for this answer.
    """
    titles = [str(one["name"]) for one in answer.columns]
    if column not in titles:
        message = f"{column!r} is no column; there are: {', '.join(titles)}"
        raise KeyError(message)
    place = titles.index(column)
    drawn: list[dict[str, Any]] = [
        noise
        for noise in answer.noise
        if noise["column"] == column and "part" not in noise and "per" not in noise
    ]
    if not answer.columns[place].get("unit") or not drawn or answer.is_clamped:
        message = (
            f"{column} is no count that was drawn for this answer: of sums, averages "
            "and what releases answer, ask for the ratio in SQL; of clamped answers, "
            "take the answer itself"
        )
        raise ValueError(message)
    scale = float(drawn[0]["scale"])
    return [_Count(float(row[place]), (scale,)) for row in answer.rows]


def _miss(answer: Answer, columns: Iterable[str]) -> float:
    """Return the chance of a miss of all numbers of a row together.

    Where noise chose the rows that are shown, the server states wider half-widths,
    which any row of all may miss: so it is the chance that one number passes them.
    """
    least = MISS
    for noise in answer.noise:
        scale, told = float(noise["scale"]), int(float(noise["half_width_95"]))
        if noise["column"] in columns and told > half_width(scale, MISS) > 0:
            u = math.exp(-1 / scale)
            least = min(least, 2 * u ** (told + 1) / (1 + u))
    return least


def _product(one: _Bounds, other: _Bounds) -> _Bounds:
    return _Bounds(one.value * other.value, one.low * other.low, one.high * other.high)


def _quotient(over: _Bounds, under: _Bounds, per: float) -> Estimate:
    low = per * over.low / under.high if under.high > 0 else 0.0
    high = per * over.high / under.low if under.low > 0 else math.inf
    value = per * over.value / under.value if under.value > 0 else None
    return Estimate(value, low, high)
