"""Rows that WITH RECURSIVE counts up, as the series that they are."""

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Final, TypeVar

from privacy.errors import QueryError
from query_lang.rewriting.fixes.token_texts import tokens_of, with_text
from query_lang.syntax.tokens import Token, TokenKind

_MOST_ROWS: Final = 1_000
_DAY: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_FIRST_DAY: Final = rf"(?:DATE )?'(?P<first>{_DAY})'(?: :: DATE)?"
_LAST_DAY: Final = rf"(?:DATE )?'(?P<end>{_DAY})'(?: :: DATE)?"
_FROM: Final = r"WITH RECURSIVE (?P<name>\w+) (?:\( (?P<before>\w+) \) )?AS \( SELECT "
_NAMED: Final = r"(?: (?:AS )?(?P<alias>\w+))? UNION ALL SELECT "
_UNTIL: Final = r" FROM (?P<table>\w+) WHERE (?P<compared>\w+) (?P<sign><=?) "
_NUMBERS: Final = re.compile(
    rf"{_FROM}(?P<first>[0-9]{{1,6}}){_NAMED}(?P<moved>\w+) \+ (?P<step>[0-9]{{1,6}})"
    rf"{_UNTIL}(?P<end>[0-9]{{1,6}}) \)"
)
_DAYS: Final = re.compile(
    rf"{_FROM}{_FIRST_DAY}{_NAMED}(?:\( )?(?P<moved>\w+) \+ INTERVAL "
    r"'(?P<step>[0-9]{1,4})_(?P<unit>DAY|WEEK|MONTH|YEAR)S?'(?: \))?(?: :: DATE)?"
    rf"{_UNTIL}{_LAST_DAY} \)"
)
_MONTHS: Final = {"MONTH": 1, "YEAR": 12}
_EVERY_MONTH: Final = 28  # days that every month has


def series(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write the numbers or days that a recursion counts up by GENERATE_SERIES."""
    tokens = tokens_of(sql)
    text = " ".join(map(_mark, tokens))
    for pattern, written in ((_NUMBERS, _numbers), (_DAYS, _days)):
        found = pattern.match(text)
        rows = None if found is None or not _is_one(found) else written(found)
        if found is not None and rows is not None:
            name, column = found["name"].lower(), found["moved"].lower()
            after = len(found[0].split(" "))
            table = f"generate_series({rows}) AS {name}_rows({column})"
            query = f"WITH {name} AS (SELECT {column} FROM {table})"  # noqa: S608 - a text that is offered
            yield with_text(sql, tokens, 0, after, query)


def _mark(token: Token) -> str:
    """Return a token without blanks: a word in capitals, a text in quotes."""
    text = re.sub(r"\s", "_", token.text.strip().upper())
    return f"'{text}'" if token.kind is TokenKind.STRING else token.word or text


def _is_one(found: re.Match[str]) -> bool:
    """Whether all names are those of one table and of its one column."""
    column = found["before"] or found["alias"]
    is_table = found["table"] == found["name"]
    return is_table and found["moved"] == found["compared"] == column


_Row = TypeVar("_Row", int, date)


def _last(
    first: _Row, end: _Row, following: Callable[[_Row], _Row], *, with_end: bool
) -> _Row | None:
    """Return the last row: the first that WHERE does not let another follow."""
    for _row in range(_MOST_ROWS):
        if not (first < end or (with_end and first == end)):
            return first
        first = following(first)
    return None


def _numbers(found: re.Match[str]) -> str | None:
    first, step, end = int(found["first"]), int(found["step"]), int(found["end"])
    last = _last(first, end, lambda n: n + step, with_end=found["sign"] == "<=")
    if last is None or not step:
        return None
    return f"{first}, {last}" if step == 1 else f"{first}, {last}, {step}"


def _days(found: re.Match[str]) -> str | None:
    number, unit = int(found["step"]), found["unit"]
    try:
        first, end = (date.fromisoformat(found[name]) for name in ("first", "end"))
        months = number * _MONTHS.get(unit, 0)
        days = timedelta(number * (7 if unit == "WEEK" else 1))

        def following(day: date) -> date:
            if not months:
                return day + days
            years, month = divmod(day.month - 1 + months, 12)
            return day.replace(year=day.year + years, month=month + 1)

        last = _last(first, end, following, with_end=found["sign"] == "<=")
    except (OverflowError, ValueError):
        return None
    if last is None or not number or (months and first.day > _EVERY_MONTH):
        return None
    step = f"INTERVAL '{number} {unit.lower()}'"
    return f"DATE '{first}', DATE '{last}', {step}"
