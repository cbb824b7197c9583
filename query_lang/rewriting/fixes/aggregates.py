"""Aggregates that the language has in other words: arrays, averages of averages."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from privacy.errors import CuratorError, QueryError
from query_lang.rewriting.fixes.token_texts import (
    Edit,
    between,
    closing_of,
    edited,
    ends_item,
    marks_of,
    tokens_of,
    with_text,
)
from query_lang.syntax.tokens import Token, TokenKind, cut

_MOST_SHARES: Final = 20
_QUANTILES: Final = frozenset(("PERCENTILE_CONT", "PERCENTILE_DISC"))


@dataclass(frozen=True, slots=True)
class _Quantiles:
    """Quantiles of an array: ``PERCENTILE_CONT(ARRAY[...]) WITHIN GROUP (...) AS p``.

    Attributes:
        shares: As written.
        order: WITHIN GROUP and its brackets.
        alias: None where it has none.
        after: The place of the token behind all of it.
    """

    shares: Sequence[str]
    order: str
    alias: str | None
    after: int


def one_by_one(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write quantiles of an array one by one: a column each, of the same paid bins."""
    try:
        tokens = cut(sql)
    except CuratorError:
        return
    place, closing = 0, closing_of(tokens)
    edits: list[Edit] = []
    while place < len(tokens):
        several = _quantiles(sql, tokens, place, closing)
        if several is None or len(several.shares) > _MOST_SHARES:
            place += 1
            continue
        alias = several.alias or (f"p{len(edits) + 1}" if edits else "p")
        name = tokens[place].text
        columns = ", ".join(
            f"{name}({share}) {several.order} AS {alias}_{_percent(share)}"
            for share in several.shares
        )
        edits.append((place, several.after, columns))
        place = several.after
    yield edited(sql, tokens, edits)


def _percent(share: str) -> str:
    """Return a share's digits behind the point, two at least; of 1 they are 100."""
    whole, _, digits = share.partition(".")
    return "100" if whole == "1" else f"{digits:0<2}"


def _quantiles(
    sql: str, tokens: Sequence[Token], place: int, closing: Mapping[int, int]
) -> _Quantiles | None:
    """Return the quantiles of an array from a place on, if they are a whole item."""
    if tokens[place].word not in _QUANTILES:
        return None
    shares, after = _numbers(tokens, place + 4)
    marks = [*marks_of(tokens, place + 1, 3), *marks_of(tokens, after, 5)]
    closed = closing.get(after + 4)
    if closed is None or marks != _AROUND_SHARES:
        return None
    order = between(sql, tokens, after + 2, closed + 1)
    alias, behind = _alias(tokens, closed + 1)
    is_whole = behind == len(tokens) or ends_item(tokens[behind])
    return _Quantiles(shares, order, alias, behind) if is_whole else None


_AROUND_SHARES: Final = ["(", "ARRAY", "[", "]", ")", "WITHIN", "GROUP", "("]


def _numbers(tokens: Sequence[Token], place: int) -> tuple[Sequence[str], int]:
    """Return the numbers of a list, with commas between them, and where it ends."""
    found: list[str] = []
    while place < len(tokens) and tokens[place].kind is TokenKind.NUMBER:
        found.append(tokens[place].text)
        place += 1
        if place < len(tokens) and tokens[place].is_sign(","):
            place += 1
    return found, place


def _alias(tokens: Sequence[Token], place: int) -> tuple[str | None, int]:
    """Return what an item is called, with or without AS, and what stands behind it."""
    at = place + (place < len(tokens) and tokens[place].word == "AS")
    is_named = at < len(tokens) and tokens[at].word not in {"", "FROM"}
    return (tokens[at].text, at + 1) if is_named else (None, place)


_QUOTIENT: Final = "to six places: "
_COUNTED: Final = re.compile(r"COUNT\(([a-z0-9_.]+)\)")


def as_quotient(sql: str, offset: int, error: QueryError) -> Iterator[str]:
    """Write the one average below the top that is computed with as the hint has it."""
    _, _, quotient = error.hint.partition(_QUOTIENT)
    counted = _COUNTED.search(quotient)
    if counted is None:
        return
    tokens = tokens_of(sql)
    found = [
        (at, end, value)
        for at, end in _averages(tokens)
        if not tokens[at].start < offset < tokens[end].start
        and (value := between(sql, tokens, at + 2, end))
        and counted[1] in {"x", value.lower()}
    ]
    here = [each for each in found if tokens[each[0]].start == offset]
    if len(here or found) == 1:
        at, end, value = (here or found)[0]
        written = quotient.replace(counted[0], f"COUNT({value})")
        written = written.replace(f"SUM({counted[1]})", f"SUM({value})")
        yield with_text(sql, tokens, at, end + 1, written)


def _averages(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield where each average of a group begins and ends."""
    closing = closing_of(tokens)
    for at, token in enumerate(tokens[:-2]):
        end = closing.get(at + 1)
        if token.word != "AVG" or end is None or end == at + 2:
            continue
        behind = tokens[end + 1].word if end + 1 < len(tokens) else ""
        if tokens[at + 2].word != "DISTINCT" and behind not in _BEHIND:
            yield at, end


_BEHIND: Final = frozenset(("OVER", "FILTER", "WITHIN"))
