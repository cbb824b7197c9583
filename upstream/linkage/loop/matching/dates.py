"""Known days in a text, in whatever form they are written."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from upstream.extraction.normalising.dates import Order, normal_date
from upstream.linkage.loop.matching.vocabulary import MONTHS
from upstream.linkage.loop.matching.words import Words

Day = tuple[int, int, int]
"""Year, month, day."""
Found = tuple[int, int, float]
"""The first token, the one behind the last, and the score."""
WHOLE, COMPACT, YEARLESS = 0.97, 0.9, 0.6
"""Scores of a day, of one in digits without signs, and of one without its year."""
_CENTURIES = (1999, 2099)
_ORDERS: tuple[Order, ...] = ("day_first", "month_first")
_FILLERS = frozenset(["of", "the", "de", "del", "st", "nd", "rd", "th", "o"])
_SIGNS = frozenset("-/.,'\u2019º°")
_MOST_TOKENS, _MOST_BLANKS, _PARTS = 12, 4, 3
_YEAR, _LONG, _SHORT = 4, 8, 6  # digits


@dataclass(frozen=True, slots=True)
class _Part:
    """A number of some digits, or a month's name, which has none."""

    value: int
    digits: int


def days_of(value: str, order: Order | None) -> set[Day]:
    """Return the days that a value can mean: several if its form leaves it open."""
    found = set()
    for each in (order,) if order else _ORDERS:
        for until in _CENTURIES:
            said = normal_date(value, order=each, years_until=until).value
            if said is not None:
                day = date.fromisoformat(said)
                found.add((day.year, day.month, day.day))
    return found


def dates_in(words: Words, known: Iterable[Day]) -> Iterator[Found]:
    """Yield where known days stand, from left to right; none over another."""
    days = frozenset(known)
    at = 0
    while days and at < len(words):
        found = _found(words, at, days) if _may_begin(words, at) else None
        if found is not None:
            yield at, *found
        at = found[0] if found is not None else at + 1


def _may_begin(words: Words, at: int) -> bool:
    if words.folded[at] in MONTHS:
        return True
    is_number = words.raw[at].isdecimal()
    return is_number and not (at > 1 and _goes_on(words, at - 1))


def _goes_on(words: Words, at: int) -> bool:
    """Whether a sign stands between two numbers, without white space."""
    is_inside = 0 < at < len(words) - 1 and words.raw[at] in "-/."
    if not is_inside or words.gap(at) or words.gap(at + 1):
        return False
    return words.raw[at - 1].isdecimal() and words.raw[at + 1].isdecimal()


def _found(words: Words, at: int, days: frozenset[Day]) -> tuple[int, float] | None:
    raw = words.raw[at]
    if len(raw) in {_LONG, _SHORT} and raw.isdecimal():
        return (at + 1, COMPACT) if _readings(raw) & days else None
    parts, behind = _parts(words, at)
    if len(parts) == _PARTS and not _goes_on(words, behind):
        is_known = any(_is_day(parts, day) for day in days)
        return (behind, WHOLE) if is_known else None
    is_short = len(parts) == _PARTS - 1
    if is_short and any(_is_yearless(parts, day) for day in days):
        return behind, YEARLESS
    return None


def _parts(words: Words, at: int) -> tuple[list[_Part], int]:
    """Return up to three parts of a date, and the token behind the last."""
    parts: list[_Part] = []
    behind = at
    for place in range(at, min(at + _MOST_TOKENS, len(words))):
        if place > at and words.gap(place) > _MOST_BLANKS:
            break
        part = _part(words, place)
        if part is None:
            is_between = words.folded[place] in _FILLERS or words.raw[place] in _SIGNS
            if not is_between:
                break
            continue
        parts.append(part)
        behind = place + 1
        if len(parts) == _PARTS:
            break
    return parts, behind


def _part(words: Words, at: int) -> _Part | None:
    raw, said = words.raw[at], words.folded[at]
    if said in MONTHS:
        return _Part(MONTHS[said], 0)
    if raw.isdecimal() and len(raw) <= _YEAR:
        return _Part(int(raw), len(raw))
    return None


def _is_day(parts: list[_Part], day: Day) -> bool:
    year, month, of_month = day
    names = [part for part in parts if not part.digits]
    numbers = [part for part in parts if part.digits]
    if len(names) == 1 and names[0].value == month:
        first, last = numbers
        return (_is(first, of_month) and _is_year(last, year)) or (
            _is_year(first, year) and first.digits == _YEAR and _is(last, of_month)
        )
    if names:
        return False
    first, middle, last = numbers
    if _is_year(last, year) and {(first.value, middle.value)} & _both(day):
        return _is_short(first, middle)
    return _is_year(first, year) and _is(middle, month) and _is(last, of_month)


def _both(day: Day) -> set[tuple[int, int]]:
    return {(day[1], day[2]), (day[2], day[1])}


def _is(part: _Part, value: int) -> bool:
    return part.value == value and _is_short(part)


def _is_short(*parts: _Part) -> bool:
    return all(part.digits < _YEAR - 1 for part in parts)


def _is_year(part: _Part, year: int) -> bool:
    if part.digits == _YEAR:
        return part.value == year
    return part.digits == _YEAR // 2 and part.value == year % 100


def _is_yearless(parts: list[_Part], day: Day) -> bool:
    """Whether a month's name and a number are a day's."""
    one, other = sorted(parts, key=lambda part: part.digits)
    is_named = not one.digits and bool(other.digits)
    return is_named and one.value == day[1] and _is(other, day[2])


def _readings(digits: str) -> set[Day]:
    """Return what six or eight digits can mean."""
    if len(digits) == _LONG:
        heads = {(digits[:4], digits[4:6], digits[6:])}
        tail = digits[4:]
    else:
        heads = {(digits[:2], digits[2:4], digits[4:])}
        tail = digits[4:]
    heads |= {(tail, digits[:2], digits[2:4]), (tail, digits[2:4], digits[:2])}
    return {
        (int(year) + century, int(month), int(day))
        for year, month, day in heads
        for century in ((0,) if len(year) == _YEAR else (1900, 2000))
    }
