"""Coarser questions than a given one: fewer keys, longer periods, people for rows.

They ask for something else, and each says what. What they are worth is found by
compiling and pricing them; one that is refused is none.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from privacy.errors import QueryError
from query_lang.advising.clauses import (
    Outermost,
    Part,
    is_of,
    outermost,
    with_list,
    without,
)
from query_lang.advising.grouped_values import grouped_values
from query_lang.syntax.tokens import Token, TokenKind

LONGEST: Final = 4_000
"""Characters of a text that is looked at; a longer one has no others."""

MOST_TEXTS: Final = 6

_COARSER: Final = {"day": "month", "week": "month", "month": "quarter"} | {
    "quarter": "year"
}
_TRUNCATED = re.compile(
    r"\b(DATE_TRUNC|TIMESTAMP_TRUNC|DATETIME_TRUNC|DATETRUNC)\s*\(", re.IGNORECASE
)
_ROWS_COUNTED = re.compile(r"\bCOUNT\s*\(\s*(?:\*|1)\s*\)", re.IGNORECASE)

Coarser = Literal["values", "units", "period", "key", "rows", "groups"]
"""Groups for columns; people for rows; a longer period; a key less; fewer rows or
groups of each unit."""


@dataclass(frozen=True, slots=True)
class OtherText:
    """A text that asks for less.

    Attributes:
        kind: What is coarser about it.
        sql: The text.
        detail: What it counts instead, in a sentence without a full stop.
    """

    kind: Coarser
    sql: str
    detail: str


def other_texts(sql: str, unit: str, unit_column: str) -> list[OtherText]:
    """Return coarser questions, at most ``MOST_TEXTS``, none of them compiled.

    Args:
        sql: A text that compiles.
        unit: What one unit is called, such as ``patient``.
        unit_column: That names the unit in the text's tables.
    """
    text = _read(sql) if len(sql) <= LONGEST else None
    if text is None:
        return []
    found: list[OtherText] = []
    for other in (
        *_values(text),
        *_units(text, unit, unit_column),
        *_periods(text),
        *_keys(text),
    ):
        if other.sql != sql and len(found) < MOST_TEXTS:
            found.append(other)
    return found


def _read(sql: str) -> Outermost | None:
    try:
        return outermost(sql)
    except QueryError:
        return None


def _values(text: Outermost) -> Iterator[OtherText]:
    """Count groups where columns each count one value."""
    found = grouped_values(text)
    if found is not None:
        sql, column = found
        detail = (
            f"counts each value of {column} in a row of its own: they share no loss"
        )
        yield OtherText("values", sql, detail)


def _units(text: Outermost, unit: str, unit_column: str) -> Iterator[OtherText]:
    """Count people where rows are counted."""
    counted = f"COUNT(DISTINCT {_qualifier(text)}{unit_column})"
    sql = _outside_strings(text.sql, lambda part: _ROWS_COUNTED.sub(counted, part))
    yield OtherText("units", sql, f"counts each {unit} once where you count rows")


def _qualifier(text: Outermost) -> str:
    """Return the name of the first table, with a dot, where there are several."""
    tokens = text.clauses["FROM"].tokens
    if not any(token.word == "JOIN" or token.is_sign(",") for token in tokens):
        return ""
    names = [token.text for token in tokens[1:4] if token.kind is TokenKind.WORD]
    named = names[:3] if len(names) > 1 and names[1].upper() == "AS" else names[:2]
    last = named[-1]
    joins = last.upper() in {"JOIN", "LEFT", "INNER", "RIGHT", "FULL", "CROSS"}
    return f"{named[0] if joins else last}."


def _periods(text: Outermost) -> Iterator[OtherText]:
    """Write the next longer period for each that a date is cut to."""
    units = {unit for place in _calls(text.sql) for unit in _units_of(text.sql, place)}
    for unit in sorted(units & _COARSER.keys()):
        longer = _COARSER[unit]
        sql = _replaced_units(text.sql, unit, longer)
        yield OtherText("period", sql, f"groups by {longer} where you group by {unit}")


def _calls(sql: str) -> list[tuple[int, int]]:
    """Return where the arguments of calls that cut dates begin and end."""
    found = []
    for call in _TRUNCATED.finditer(sql):
        depth, at = 1, call.end()
        while at < len(sql) and depth:
            depth += {"(": 1, ")": -1}.get(sql[at], 0)
            at += 1
        found.append((call.end(), at))
    return found


_UNIT = re.compile(r"'([A-Za-z]+)'|\b(DAY|WEEK|MONTH|QUARTER|YEAR)\b", re.IGNORECASE)


def _units_of(sql: str, place: tuple[int, int]) -> Iterator[str]:
    for found in _UNIT.finditer(sql, *place):
        yield (found[1] or found[2]).lower()


def _replaced_units(sql: str, unit: str, longer: str) -> str:
    def renamed(found: re.Match[str]) -> str:
        if (found[1] or found[2]).lower() != unit:
            return found[0]
        return f"'{longer}'" if found[1] else longer.upper()

    for start, end in reversed(_calls(sql)):
        sql = sql[:start] + _UNIT.sub(renamed, sql[start:end]) + sql[end:]
    return sql


def _keys(text: Outermost) -> Iterator[OtherText]:
    """Leave out each key by itself, in SELECT, GROUP BY and ORDER BY."""
    if any(_is_number(key.tokens) for key in text.keys):
        return  # positions would mean other columns
    for key in text.keys:
        item = next((one for one in text.items if is_of(one, key)), None)
        if item is None or len(text.items) == 1:
            continue
        named = text.sql[key.start : key.end]
        yield OtherText(
            "key", _without_key(text, key, item), f"leaves out the key {named}"
        )


def _without_key(text: Outermost, key: Part, item: Part) -> str:
    """Return the text without a key; its order is lost where no LIMIT needs it."""
    sql = text.sql
    dropped = [] if "LIMIT" in text.clauses else [text.clauses.get("ORDER")]
    if len(text.keys) == 1:
        dropped.append(text.clauses["GROUP"])
    else:
        sql = with_list(sql, text.keys, [one for one in text.keys if one is not key])
        dropped = [None if p is None else _moved(p, sql, text) for p in dropped]
    shorter = Outermost(sql, text.items, text.keys, text.clauses)
    sql = without(shorter, [part for part in dropped if part is not None])
    return with_list(sql, text.items, [one for one in text.items if one is not item])


def _moved(part: Part, sql: str, text: Outermost) -> Part:
    """Return where a part stands that follows a list which became shorter."""
    by = len(sql) - len(text.sql)
    return Part(part.start + by, part.end + by, part.tokens)


def _is_number(tokens: Sequence[Token]) -> bool:
    return len(tokens) == 1 and tokens[0].kind is TokenKind.NUMBER


def _outside_strings(sql: str, change: Callable[[str], str]) -> str:
    """Change what stands in no quotes of a text."""
    pieces = re.split(r"('(?:[^']|'')*'|\"[^\"]*\")", sql)
    return "".join(
        piece if place % 2 else change(piece) for place, piece in enumerate(pieces)
    )
