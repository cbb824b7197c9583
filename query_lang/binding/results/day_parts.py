"""Parts of a day that are computed here: its month, its weekday, its week's start."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from query_lang.binding.results.values_at import Value
from query_lang.plans.dates.calendar import FIELDS, period_start, written_day
from query_lang.plans.dates.day_names import NAMES
from query_lang.plans.expressions import Call, Expression, Function


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a day.

    Attributes:
        day: What it is of: a day, or a moment of it.
        of: How it is computed.
        cycle: What it comes again with, a year or a week; None: with neither.
    """

    day: Expression
    of: Callable[[date], Value]
    cycle: Literal["year", "week"] | None = None


_NUMBERS: Final[Mapping[str, Callable[[date], Value]]] = {
    "year": lambda day: day.year,
    "quarter": lambda day: (day.month + 2) // 3,
    "month": lambda day: day.month,
    "day": lambda day: day.day,
    "isodow": lambda day: day.isoweekday(),
    "dow": lambda day: day.isoweekday() % 7,
    "dayofweek": lambda day: day.isoweekday() % 7 + 1,
}
_OF_YEARS: Final = frozenset({"quarter", "month", "day", "MM", "Q", "DD"}) | {
    field for field, name in NAMES.items() if name.unit == "month"
}
_OF_WEEKS: Final = frozenset({"isodow", "dow", "dayofweek"}) | {
    field for field, name in NAMES.items() if name.unit == "weekday"
}


def part_of(tree: Expression) -> Part | None:  # noqa: PLR0911 - an arm a form
    """Return what part of which day a value is."""
    if not isinstance(tree, Call) or not tree.operands:
        return None
    operand, words = _moment(tree.operands[0]), tuple(map(str, tree.parameters))
    if tree.function is Function.PERIOD:
        return Part(operand, lambda day: period_start(day, words[0]))
    if tree.function is Function.WRITTEN_DAY:
        fields = FIELDS.intersection(words)
        return Part(operand, lambda day: written_day(day, words), _cycle(fields))
    if tree.function is Function.EXTRACT and words[0] in _NUMBERS:
        return Part(operand, _NUMBERS[words[0]], _cycle({words[0]}))
    return None


def _moment(day: Expression) -> Expression:
    """Return the moment that a value is the day of, else the value."""
    is_of_moment = isinstance(day, Call) and day.function is Function.DATE_OF
    return day.operands[0] if is_of_moment and isinstance(day, Call) else day


def _cycle(fields: AbstractSet[str]) -> Literal["year", "week"] | None:
    if fields <= _OF_YEARS:
        return "year"
    return "week" if fields <= _OF_WEEKS else None
