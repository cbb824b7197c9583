"""What is drawn of a measure: each row's number, and the ends of its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import Any, Protocol

_DAY_SECONDS = 86_400


class Answer(Protocol):
    """What is drawn: an answer's rows, and how far each measure may be off."""

    @property
    def columns(self) -> list[dict[str, Any]]:
        """The columns: name, kind (group or measure), type, unit."""

    @property
    def rows(self) -> list[list[Any]]:
        """The rows, in column order."""

    @property
    def groups(self) -> list[str]:
        """The names of the group columns."""

    @property
    def measures(self) -> list[str]:
        """The names of the measured columns."""

    @property
    def half_widths(self) -> dict[str, float]:
        """The 95 % half-width of each count and sum."""

    @property
    def confidence(self) -> str:
        """That of half-widths and intervals."""

    @property
    def hide_below(self) -> int | None:
        """Counts below it are not shown to others."""

    def interval(self, column: str) -> list[tuple[str | None, str | None] | None]:
        """Return the interval of each row of a measure."""

    def is_small(self, value: object) -> bool:
        """Whether a count lies under the custodian's display rule."""


@dataclass(frozen=True)
class Point:
    """A noisy number on its axis, of days as of numbers.

    Attributes:
        value: The number.
        low: The lower end of its interval; where that is open, the least that is drawn.
        high: Likewise; None, both, where there is no interval.
        is_small: It lies under the custodian's display rule.
    """

    value: float
    low: float | None
    high: float | None
    is_small: bool


@dataclass(frozen=True)
class Measured:
    """A measure, as it is drawn.

    Attributes:
        title: Its name, and its unit where it has one.
        points: One a row; None where the number itself is NULL.
        is_filled: It counts or adds up from 0: bars. Averages and quantiles do not.
        is_dated: It is a day or a time.
    """

    title: str
    points: Sequence[Point | None]
    is_filled: bool
    is_dated: bool


def measured(answer: Answer, measure: str) -> Measured:
    """Return what is drawn of a measure.

    Raises:
        KeyError: It is no measured column.
    """
    ends = answer.interval(measure)
    place = [str(column["name"]) for column in answer.columns].index(measure)
    column = answer.columns[place]
    values = [row[place] for row in answer.rows]
    every = [*values, *(end for pair in ends if pair is not None for end in pair)]
    known = [position(value) for value in every if value is not None]
    points = [
        None if value is None else _point(value, pair, known, answer)
        for value, pair in zip(values, ends, strict=True)
    ]
    unit = column["unit"]
    return Measured(
        title=f"{measure} ({unit})" if unit else measure,
        points=points,
        is_filled=bool(unit) or measure in answer.half_widths,
        is_dated=column["type"] in {"date", "timestamp"},
    )


def _point(
    value: Any,
    ends: tuple[str | None, str | None] | None,
    known: Sequence[float],
    answer: Answer,
) -> Point:
    is_small = answer.is_small(value)
    if ends is None:
        return Point(position(value), None, None, is_small)
    low, high = ends
    least = min(known) if low is None else position(low)
    most = max(known) if high is None else position(high)
    return Point(position(value), least, most, is_small)


def position(value: Any) -> float:
    """Return where a value lies on its axis; a day or a time in days since 1970.

    >>> position("2.5"), position("1970-01-02"), position("1970-01-02T12:00:00")
    (2.5, 1.0, 1.5)
    """
    try:
        return float(value)
    except ValueError:
        pass
    text = str(value)
    try:
        return float((date.fromisoformat(text) - date(1970, 1, 1)).days)
    except ValueError:
        time = datetime.fromisoformat(text).replace(tzinfo=timezone.utc)
        return time.timestamp() / _DAY_SECONDS
