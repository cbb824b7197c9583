"""Days and truth values that are written otherwise, beside a column of theirs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from privacy.errors import QueryError
from query_lang.rewriting.fixes.token_texts import (
    Edit,
    edited,
    ends_of,
    marks_of,
    tokens_of,
    with_text,
)
from query_lang.syntax.tokens import Token, TokenKind

_DAY: Final = re.compile(
    r"([0-9]{4})(?:([0-9]{2})([0-9]{2})|([-/])([0-9]{1,2})\4([0-9]{1,2}))"
    r"(?:[ T]((?:[01][0-9]|2[0-3])(?::[0-5][0-9]){1,2}(?:\.[0-9]{1,6})?))?"
)
_ZONE: Final = re.compile(r"(?<=[0-9])(?:Z| ?UTC|\+00(?::?00)?)\Z", re.IGNORECASE)
"""What engines leave out beside a column that has no zone; others some shift by."""
_MIDNIGHT: Final = re.compile(r"00:00(:00(\.0+)?)?")


def days_written(sql: str, tokens: Sequence[Token], place: int) -> Iterator[str]:
    """Write ``'2024/01/31'`` and ``'2024-1-31 00:00:00'`` as '2024-01-31'.

    PostgreSQL cuts the time off a text beside a column of days, and others compare
    with midnight: both are the same of midnight itself, and of any time where the day
    of the time is in.
    """
    if marks_of(tokens, place, 1) == ["DATE"] and place + 1 < len(tokens):
        place += 1
    token = tokens[place]
    if token.kind is not TokenKind.STRING:
        return
    found = _DAY.fullmatch(_ZONE.sub("", token.text))
    if found is None:
        return
    time = found[7]
    if time and not (_MIDNIGHT.fullmatch(time) or _takes_day(tokens, place)):
        return
    month, day = (int(found[n] or found[n + 3]) for n in (2, 3))
    text = f"'{found[1]}-{month:02}-{day:02}'"
    yield with_text(sql, tokens, place, place + 1, text)


def times_written(sql: str, tokens: Sequence[Token], place: int) -> Iterator[str]:
    """Write ``'2024-01-31T08:00Z'`` to seconds, without a zone: no column has one."""
    if marks_of(tokens, place, 1)[0] in _TIMES and place + 1 < len(tokens):
        place += 1
    text = tokens[place].text
    if tokens[place].kind is TokenKind.STRING and ":" in text:
        plain = _MINUTES.sub(r"\1:00", _ZONE.sub("", text))
        yield with_text(sql, tokens, place, place + 1, f"'{plain}'")


_MINUTES: Final = re.compile(r"([ T][0-9]{2}:[0-9]{2})\Z")
_TIMES: Final = frozenset(("TIMESTAMP", "DATETIME"))


def _takes_day(tokens: Sequence[Token], place: int) -> bool:
    """Whether a day is compared so that any of its times is the same limit."""
    before = marks_of(tokens, max(0, place - 3), min(place, 3))
    if before[-1:] in (["<="], [">"]):
        return True
    is_high = before[::2] == ["BETWEEN", "AND"]
    return is_high and tokens[place - 2].kind is TokenKind.STRING


_TRUTHS: Mapping[str, str] = {"1": "TRUE", "0": "FALSE"}
"""What others take for a truth value beside a column of them; some texts are one."""
_EQUAL: Final = frozenset(("=", "<>", "!="))


def truths_written(sql: str, tokens: Sequence[Token], place: int) -> Iterator[str]:
    """Write ``smoker = 1`` as smoker = TRUE.

    All of one column: a column of another type by its name refuses a truth value.
    """
    column = _compared(tokens, place)
    edits: list[Edit] = [
        (at, at + 1, _TRUTHS[tokens[at].text])
        for at in range(len(tokens))
        if tokens[at].kind is TokenKind.NUMBER
        and tokens[at].text in _TRUTHS
        and (at == place or (column and _compared(tokens, at) == column))
    ]
    if any(at == place for at, _after, _words in edits):
        yield edited(sql, tokens, edits)


def _compared(tokens: Sequence[Token], place: int) -> Sequence[str]:
    """Return the name that equals what stands at a place: of a column, or of t.x."""
    if place < 2 or tokens[place - 1].text not in _EQUAL:  # noqa: PLR2004 - a name, a sign
        return ()
    is_dotted = place > 3 and tokens[place - 3].is_sign(".")  # noqa: PLR2004 - t, ., x, =
    name = tokens[place - 4 if is_dotted else place - 2 : place - 1]
    return [token.text.lower() for token in name]


# -- days of a format --------------------------------------------------------------


def days_of_format(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``TO_DATE('31.01.1960', 'DD.MM.YYYY')`` as DATE '1960-01-31'."""
    tokens = tokens_of(sql)
    edits: list[Edit] = []
    for at, token in enumerate(tokens):
        ends = list(ends_of(tokens, at + 1)) if token.word == "TO_DATE" else []
        if ends != [at + 3, at + 5] or marks_of(tokens, at + 1, 1) != ["("]:
            continue
        is_text = all(tokens[n].kind is TokenKind.STRING for n in (at + 2, at + 4))
        day = _read(tokens[at + 2].text, tokens[at + 4].text) if is_text else None
        if day is not None:
            edits.append((at, at + 6, f"DATE '{day}'"))
    if edits:
        yield edited(sql, tokens, edits)


_FIELDS: Mapping[str, str] = {
    "YYYY": "(?P<year>[0-9]{4})",
    "MM": "(?P<month>[0-9]{2})",
    "DD": "(?P<day>[0-9]{2})",
}
_PARTS: Final = re.compile(r"YYYY|MM|DD|[-/. ]")


def _read(text: str, form: str) -> str | None:
    """Return a day that is written in a form of years, months and days; else None."""
    parts = _PARTS.findall(form.upper())
    fields = [part for part in parts if part in _FIELDS]
    if "".join(parts) != form.upper() or sorted(fields) != sorted(_FIELDS):
        return None
    pattern = "".join(_FIELDS.get(part) or re.escape(part) for part in parts)
    found = re.fullmatch(pattern, text)
    return found and f"{found['year']}-{found['month']}-{found['day']}"
