"""Casts that cut a text, as PostgreSQL and SQL Server do, written as its start."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from privacy.errors import QueryError
from query_lang.rewriting.fixes.token_texts import (
    between,
    closing_of,
    ends_of,
    marks_of,
    tokens_of,
    with_text,
)
from query_lang.syntax.tokens import Token, TokenKind

_CUT: Final = re.compile(r"write LEFT\(x(::text)?, ([1-9][0-9]*)\)")
_CASTS: Final = frozenset(("CAST", "TRY_CAST", "SAFE_CAST"))


def texts_cut(sql: str, offset: int, error: QueryError) -> Iterator[str]:
    """Write ``code::varchar(3)`` as LEFT(code, 3), where the hint says that it is."""
    cut = _CUT.fullmatch(error.hint)
    tokens = tokens_of(sql)
    starts = [token.start for token in tokens]
    ends_blank = any(t.kind is TokenKind.STRING and t.text[-1:] == " " for t in tokens)
    if cut is None or offset not in starts or ends_blank:
        return  # char compares without the blanks at an end, LEFT with them
    at, closing = starts.index(offset), closing_of(tokens)
    places = (at, at - 1) if marks_of(tokens, at - 1, 1) == ["("] else (at,)
    postfix = (_postfix(tokens, place, closing, cut[2]) for place in places)
    found = _called(tokens, at, closing) or next(filter(None, postfix), None)
    if found is None:
        return
    first, value, end, after = found
    text = between(sql, tokens, value, end)
    if cut[1]:
        text = f"CAST({text} AS TEXT)"
    yield with_text(sql, tokens, first, after, f"LEFT({text}, {cut[2]})")


_Place = tuple[int, int, int, int]
"""Where a cast begins, its value begins and ends, and what stands behind it."""


def _called(
    tokens: Sequence[Token], at: int, closing: Mapping[int, int]
) -> _Place | None:
    """Return the places of ``CAST(x AS VARCHAR(3))``."""
    end = closing.get(at + 1)
    if tokens[at].word not in _CASTS or end is None:
        return None
    depth = 0
    for place in range(at + 2, end):
        depth += tokens[place].is_sign("(") - tokens[place].is_sign(")")
        if depth == 0 and tokens[place].word == "AS":
            return at, at + 2, place, end + 1
    return None


def _postfix(
    tokens: Sequence[Token], at: int, closing: Mapping[int, int], size: str
) -> _Place | None:
    """Return the places of ``x::varchar(3)``, whose value begins at a place."""
    end = closing.get(at, at) + 1
    while marks_of(tokens, end, 1) == ["."]:
        end += 2
    end = closing.get(end, end - 1) + 1  # of a call
    while marks_of(tokens, end, 1) == ["::"]:
        sized = end + 2 + (marks_of(tokens, end + 2, 1) == ["VARYING"])
        is_sized = bool(marks_of(tokens, sized, 1) == ["("])
        if is_sized and marks_of(tokens, sized + 1, 2) == [size, ")"]:
            return at, at, end, sized + 3
        end = max(ends_of(tokens, sized)) + 1 if is_sized else sized
    return None
