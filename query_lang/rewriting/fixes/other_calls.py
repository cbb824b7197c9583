"""Calls, lists and signs of other dialects, each as what the language has for it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from privacy.errors import QueryError
from query_lang.rewriting.fixes.own_aliases import expression_of
from query_lang.rewriting.fixes.token_texts import (
    Edit,
    arguments_of,
    between,
    closing_of,
    edited,
    ends_of,
    marks_of,
    tokens_of,
)
from query_lang.syntax.tokens import Token, TokenKind

# -- calls -------------------------------------------------------------------------

_Change = Callable[[str, Sequence[Token], int], str | None]


def called(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write CHOOSE, DIV0 of counts and INT as CASE, SAFE_DIVIDE and TRUNC."""
    tokens = tokens_of(sql)
    closing = closing_of(tokens)
    edits: list[Edit] = []
    for at, token in enumerate(tokens):
        change, end = _CALLS.get(token.word), closing.get(at + 1)
        if change is None or end is None or (edits and at < edits[-1][1]):
            continue
        written = change(sql, tokens, at)
        if written is not None:
            edits.append((at, end + 1, written))
    if edits:
        yield edited(sql, tokens, edits)


def _chosen(sql: str, tokens: Sequence[Token], at: int) -> str | None:
    """Choose by a whole number: SQL Server cuts what stands behind its point."""
    index, *values = arguments_of(sql, tokens, at) or [""]
    if not values:
        return None
    whens = " ".join(f"WHEN {n} THEN {v}" for n, v in enumerate(values, start=1))
    return f"CASE TRUNC({index}) {whens} END"


def _cut(sql: str, tokens: Sequence[Token], at: int) -> str | None:
    arguments = arguments_of(sql, tokens, at)
    return f"TRUNC({arguments[0]})" if len(arguments) == 1 else None


def _divided(sql: str, tokens: Sequence[Token], at: int) -> str | None:
    """Divide counts, which are never NULL: of those COALESCE makes 0 of no quotient."""
    arguments = [
        expression_of(sql, tokens, at, each) or each if each.isidentifier() else each
        for each in arguments_of(sql, tokens, at)
    ]
    if len(arguments) != 2 or not all(map(_is_count, arguments)):  # noqa: PLR2004 - over and under
        return None
    return f"COALESCE(SAFE_DIVIDE({', '.join(arguments)}), 0)"


def _is_count(text: str) -> bool:
    """Whether a text is counts, added up or multiplied, and nothing else."""
    tokens = tokens_of(text)
    closing = closing_of(tokens)
    at = 0
    while at < len(tokens):
        if tokens[at].word in _COUNTS and at + 1 in closing:
            at = closing[at + 1]
        elif not (tokens[at].kind is TokenKind.NUMBER or tokens[at].text in "+-*()"):
            return False
        at += 1
    return bool(tokens)


_COUNTS: Final = frozenset(("COUNT", "COUNT_IF", "COUNTIF"))
_CALLS: Mapping[str, _Change] = {"CHOOSE": _chosen, "INT": _cut, "DIV0": _divided}

# -- texts -------------------------------------------------------------------------


def texts_joined(sql: str, offset: int, _: QueryError) -> Iterator[str]:
    """Write SQL Server's ``sex + '/' + ward`` as texts joined by ``||``.

    NULL is NULL in both.
    """
    tokens = tokens_of(sql)
    edits: list[Edit] = []
    at = 0
    while at < len(tokens):
        signs, is_text = _chain(tokens, at)
        if signs and (is_text or tokens[at].start == offset):
            edits += [(sign, sign + 1, "||") for sign in signs]
        at = signs[-1] + 1 if signs else at + 1
    if edits:
        yield edited(sql, tokens, edits)


def _chain(tokens: Sequence[Token], at: int) -> tuple[Sequence[int], bool]:
    """Return where + joins operands from a place on, and whether one is a text."""
    signs: list[int] = []
    is_text = False
    while (end := _operand(tokens, at)) is not None:
        is_text |= tokens[at].kind is TokenKind.STRING and not _has_unit(tokens[at])
        if marks_of(tokens, end, 1) != ["+"]:
            break
        signs.append(end)
        at = end + 1
    return signs, is_text


def _has_unit(token: Token) -> bool:
    """Whether a text is a length of time, which dates are moved by."""
    return token.text.strip()[:1].isdigit() and token.text.strip()[-1:].isalpha()


def _operand(tokens: Sequence[Token], at: int) -> int | None:
    """Return where a literal, a name or a call ends that begins at a place."""
    if at < len(tokens) and tokens[at].kind is TokenKind.STRING:
        return at + 1
    if at >= len(tokens) or not tokens[at].word:
        return None
    if marks_of(tokens, at + 1, 1) == ["."]:
        return at + 3
    ends = list(ends_of(tokens, at + 1)) if marks_of(tokens, at + 1, 1) == ["("] else []
    return ends[-1] + 1 if ends else at + 1


def from_first(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``SUBSTRING(code, 0, 4)`` as its first three: place 0 is before them."""
    tokens = tokens_of(sql)
    edits: list[Edit] = []
    for at, token in enumerate(tokens):
        ends = list(ends_of(tokens, at + 1)) if token.word == "SUBSTRING" else []
        if len(ends) != 3 or marks_of(tokens, ends[0] + 1, 2) != ["0", ","]:  # noqa: PLR2004 - a text, a place, a length
            continue
        length = marks_of(tokens, ends[1] + 1, 2)
        if length[1:] == [")"] and length[0].isdecimal() and int(length[0]) > 1:
            edits.append((ends[0] + 1, ends[2], f"1, {int(length[0]) - 1}"))
    if edits:
        yield edited(sql, tokens, edits)


# -- lists and rows ----------------------------------------------------------------


def values_listed(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``code IN (VALUES ('E10'), ('E11'))`` as a list."""
    tokens = tokens_of(sql)
    closing = closing_of(tokens)
    edits: list[Edit] = []
    for at in range(len(tokens) - 3):
        end = closing.get(at + 1)
        if marks_of(tokens, at, 3) != ["IN", "(", "VALUES"] or end is None:
            continue
        items, place = [], at + 3
        while (closed := closing.get(place)) is not None:
            if len(list(ends_of(tokens, place))) != 1 or closed == place + 1:
                return
            items.append(between(sql, tokens, place + 1, closed))
            place = closed + 2  # behind the comma
        if place == end + 1 and items:
            edits.append((at, end + 1, f"IN ({', '.join(items)})"))
    if edits:
        yield edited(sql, tokens, edits)


def rows_counted(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``COUNT(e.*)`` of what LEFT JOIN adds as a count of a column of its ON.

    Where a row of e matches, what ON equates of it is not NULL.
    """
    tokens = tokens_of(sql)
    edits: list[Edit] = []
    for at, token in enumerate(tokens):
        marks = marks_of(tokens, at + 1, 5)
        if token.word != "COUNT" or marks[:1] != ["("] or marks[2:] != [".", "*", ")"]:
            continue
        column = _equated(tokens, tokens[at + 2].text)
        if column is None:
            return
        edits.append((at + 2, at + 5, f"{tokens[at + 2].text}.{column}"))
    if edits:
        yield edited(sql, tokens, edits)


def _equated(tokens: Sequence[Token], table: str) -> str | None:
    """Return a column of the one table of a name that is joined by its equality."""
    joins = [
        at
        for at, token in enumerate(tokens)
        if token.text.lower() == table.lower()
        and marks_of(tokens, at + 1, 1) in (["ON"], ["USING"])
    ]
    if len(joins) != 1 or [t.word for t in tokens].count("SELECT") > 1:
        return None
    at = joins[0] + 1
    if tokens[at].word == "USING":
        first = marks_of(tokens, at + 1, 3)
        is_told = first[:1] == ["("] and first[2:] in ([")"], [","])
        return tokens[at + 2].text if is_told else None
    found = (_side(tokens, place, table) for place in _parts_of_on(tokens, at))
    return next((column for column in found if column is not None), None)


def _parts_of_on(tokens: Sequence[Token], on: int) -> Sequence[int]:
    """Return behind which words the conditions of an ON begin, joined by AND alone."""
    found = [on]
    depth = 0
    for at in range(on + 1, len(tokens)):
        depth += tokens[at].is_sign("(") - tokens[at].is_sign(")")
        if depth == 0 and tokens[at].word == "OR":
            return ()
        if depth == 0 and tokens[at].word in _AFTER_ON:
            break
        if depth == 0 and tokens[at].word == "AND":
            found.append(at)
    return found


def _side(tokens: Sequence[Token], place: int, table: str) -> str | None:
    """Return the column of a table in ``e.a = p.b`` behind a place, if that is all."""
    texts = [token.text for token in tokens[place + 1 : place + 8]]
    if len(texts) != _LENGTH or texts[1::2] != [".", "=", "."]:
        return None
    behind = marks_of(tokens, place + 8, 1)
    if behind and behind[0] not in _AFTER_ON | {"AND"}:
        return None
    sides = {texts[0].lower(): texts[2], texts[4].lower(): texts[6]}
    return sides.get(table.lower()) if len(sides) > 1 else None


_LENGTH: Final = 7  # tokens of e.a = p.b
_AFTER_ON: Final = frozenset(
    ("JOIN", "LEFT", "INNER", "CROSS", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT")
)

# -- ranges ------------------------------------------------------------------------


def overlapping(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``daterange(a, b, '[]') && daterange(c, d, '[]')`` as comparisons.

    A range without an end has none: what may be NULL is no limit.
    """
    text = _OVERLAP.sub(_overlap, sql)
    if text != sql:
        yield text


def _overlap(found: re.Match[str]) -> str:
    a, b, c, d = (end.strip() for end in found.groups())
    return f"({_at_most(a, d)} AND {_at_most(c, b)})"


def _at_most(low: str, high: str) -> str:
    ends = [end for end in (low, high) if not _DAY.fullmatch(end)]
    unknown = "".join(f" OR {end} IS NULL" for end in ends)
    return f"({low} <= {high}{unknown})" if ends else f"{low} <= {high}"


_DAY: Final = re.compile(
    r"(DATE\s*)?'[0-9]{4}-[0-9]{2}-[0-9]{2}'(::date)?", re.IGNORECASE
)
_END: Final = r"((?:[^(),;]|\([^()]*\))+)"
_RANGE: Final = rf"\bdaterange\s*\({_END},{_END},\s*'\[\]'\s*\)"
_OVERLAP: Final = re.compile(rf"{_RANGE}\s*&&\s*{_RANGE}", re.IGNORECASE)
