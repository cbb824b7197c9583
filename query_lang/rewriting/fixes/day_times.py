"""Times of a day, which are no type here, as the seconds or parts of a timestamp."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from privacy.errors import QueryError
from query_lang.rewriting.fixes.token_texts import (
    Edit,
    between,
    closing_of,
    edited,
    marks_of,
    tokens_of,
)
from query_lang.syntax.tokens import Token, TokenKind

_TIME: Final = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
_SIGNS: Final = frozenset(("=", "<>", "!=", "<", "<=", ">", ">="))


def seconds_of_day(sql: str, tokens: Sequence[Token]) -> Iterator[str]:
    """Write ``x::time >= '08:00'`` as the seconds since midnight, to microseconds."""
    edits: list[Edit] = []
    for at in range(2, len(tokens)):
        if tokens[at].word != "TIME" or (edits and at < edits[-1][1]):
            continue
        if not (tokens[at - 1].is_sign("::") or tokens[at - 1].word == "AS"):
            continue
        after = at + 1 + (tokens[at - 1].word == "AS")  # the bracket of CAST
        first = _column(tokens, at - 1)
        limits = _limits(tokens, after)
        if first is None or not limits:
            return
        x = between(sql, tokens, first, at - 1)
        place = first if tokens[at - 1].is_sign("::") else first - 2
        seconds = f"EXTRACT(EPOCH FROM {x} - {x}::date)"
        edits += [(place, after, seconds), *limits]
    if edits:
        yield edited(sql, tokens, edits)


def _column(tokens: Sequence[Token], end: int) -> int | None:
    """Return where a column's name begins that ends at a place; None of others."""
    first = end - 1
    if first > 1 and tokens[first - 1].is_sign("."):
        first -= 2
    is_call = tokens[end].word == "AS"
    is_cast = marks_of(tokens, max(0, first - 2), 2) == ["CAST", "("]
    names = tokens[first:end:2]
    return first if all(t.word for t in names) and is_cast is is_call else None


def _limits(tokens: Sequence[Token], place: int) -> Sequence[Edit]:
    """Return the times that stand behind a comparison or BETWEEN, as seconds."""
    place += marks_of(tokens, place, 1) == ["NOT"]
    if marks_of(tokens, place, 1) == ["BETWEEN"]:
        low = _seconds(tokens, place + 1)
        if low is None or marks_of(tokens, low[1], 1) != ["AND"]:
            return ()
        high = _seconds(tokens, low[1] + 1)
        return () if high is None else (low, high)
    is_compared = not _SIGNS.isdisjoint(marks_of(tokens, place, 1))
    other = _seconds(tokens, place + 1) if is_compared else None
    return () if other is None else (other,)


def _seconds(tokens: Sequence[Token], place: int) -> Edit | None:
    """Return a time from a place on as seconds: ``'08:00'``, ``TIME '08:00'``."""
    first = place
    place += marks_of(tokens, place, 1) == ["TIME"]
    if place >= len(tokens) or tokens[place].kind is not TokenKind.STRING:
        return None
    found = _TIME.fullmatch(tokens[place].text)
    if found is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    place += 3 if marks_of(tokens, place + 1, 2) == ["::", "TIME"] else 1
    return first, place, str(hours * 3600 + minutes * 60 + seconds)


_FIELDS: Final[Mapping[str, str]] = {
    "D": "CAST(EXTRACT(DOW FROM {0}) + 1 AS TEXT)",
    "ID": "CAST(EXTRACT(ISODOW FROM {0}) AS TEXT)",
    "HH24": "LPAD(CAST(EXTRACT(HOUR FROM {0}) AS TEXT), 2, '0')",
    "HH24:MI": (
        "(LPAD(CAST(EXTRACT(HOUR FROM {0}) AS TEXT), 2, '0') || ':' || "
        "LPAD(CAST(EXTRACT(MINUTE FROM {0}) AS TEXT), 2, '0'))"
    ),
}
"""Numbers of a format, in letters of one case: D counts from Sunday, which is 1."""


def fields_written(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``TO_CHAR(x, 'HH24')`` as its hour in two digits, 'ID' as its weekday."""
    tokens = tokens_of(sql)
    closing = closing_of(tokens)
    edits: list[Edit] = []
    for at in range(len(tokens) - 4):
        end = closing.get(at + 1)
        if tokens[at].word != "TO_CHAR" or end is None or end < at + 5:
            continue
        is_text = tokens[end - 1].kind is TokenKind.STRING
        written = tokens[end - 1].text if is_text else ""
        is_one_case = written in {written.upper(), written.lower()}
        field = _FIELDS.get(written.upper()) if is_one_case else None
        inside = edits and at < edits[-1][1]
        if field is None or inside or not tokens[end - 2].is_sign(","):
            continue
        x = between(sql, tokens, at + 2, end - 2)
        edits.append((at, end + 1, field.format(x)))
    if edits:
        yield edited(sql, tokens, edits)
