"""The members of ``generate_series`` and of BigQuery's arrays of numbers and days."""

from datetime import date
from typing import Final

from query_lang.rewriting.constants.folding import (
    amount_of,
    day_of,
    folded,
    shifted,
)
from query_lang.syntax import rules
from query_lang.syntax.idioms import Series
from query_lang.syntax.nodes import (
    Expression,
    Interval,
    NumberLiteral,
    Position,
    StringLiteral,
    TypedLiteral,
)
from query_lang.syntax.refusals import refuse

MOST_ROWS: Final = 256
"""Of a table of literals: as many as a list has items."""

_MOST_DIGITS = 9
_IN_ALL_MONTHS = 28  # a later day of the month may be cut, and dialects go on otherwise
_NO_SERIES = "a series has a first and a last literal, and perhaps a step"


def members(series: Series) -> list[Expression]:
    """Return the literals of a series.

    Raises:
        SqlNotAllowedError: It is of no literals, has no end or too many members.
    """
    found = _members(series)
    if not found:
        detail = "a series has a member: its last is not before its first"
        raise refuse(rules.CONSTANT_ROWS, series.position, detail=detail)
    return found


def _members(series: Series) -> list[Expression]:
    first, last, step = _ends(series)
    start, stop = day_of(first), day_of(last)
    if start is None or stop is None:
        return _numbers(series, (first, last, step))
    if isinstance(step, StringLiteral):  # '1 month'
        step = Interval(step, None, step.position)
    amount = (0, 1) if step is None else amount_of(step)
    if amount is None:
        raise _refused(series)
    return [
        TypedLiteral("date", day.isoformat(), series.position)
        for day in _days((start, stop), amount, series.position)
        if series.name != "RANGE" or day != stop
    ]


def _ends(series: Series) -> tuple[Expression, Expression, Expression | None]:
    match tuple(map(folded, series.arguments)):
        case first, last:
            return first, last, None
        case first, last, step:
            return first, last, step
        case _:
            raise _refused(series)


def _refused(series: Series) -> Exception:
    return refuse(rules.CONSTANT_ROWS, series.position, detail=_NO_SERIES)


def _days(
    ends: tuple[date, date], amount: tuple[int, int], position: Position
) -> list[date]:
    day, last = ends
    months, days = amount
    is_unsure = months != 0 and day.day > _IN_ALL_MONTHS
    if min(amount) < 0 or amount == (0, 0) or is_unsure:
        detail = (
            "a series of days goes on by whole days or months, from the 1st to 28th"
        )
        raise refuse(rules.CONSTANT_ROWS, position, detail=detail)
    found: list[date] = []
    while day <= last:
        if len(found) == MOST_ROWS:
            raise refuse(rules.CONSTANT_ROWS, position)
        found.append(day)
        later = shifted(day, months, days)
        if later is None:
            break
        day = later
    return found


def _numbers(
    series: Series, written: tuple[Expression, Expression, Expression | None]
) -> list[Expression]:
    given = [_integer(each) for each in written if each is not None]
    found = [each for each in given if each is not None]
    if len(found) < len(given) or found[2:] == [0]:
        raise _refused(series)
    step = found[2] if found[2:] else 1
    beyond = 0 if series.name == "RANGE" else (1 if step > 0 else -1)
    numbers = range(found[0], found[1] + beyond, step)
    if len(numbers) > MOST_ROWS:
        raise refuse(rules.CONSTANT_ROWS, series.position)
    return [NumberLiteral(str(number), series.position) for number in numbers]


def _integer(tree: Expression) -> int | None:
    if not isinstance(tree, NumberLiteral) or len(tree.text) > _MOST_DIGITS:
        return None
    return int(tree.text) if tree.text.removeprefix("-").isdecimal() else None
