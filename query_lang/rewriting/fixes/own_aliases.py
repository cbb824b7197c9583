"""Aliases that are used in the SELECT list that gives them, as some dialects allow."""

from collections.abc import Iterator, Sequence
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

_BEFORE_ITEMS: Final = frozenset(("SELECT", "DISTINCT", "ALL"))


def select_of(tokens: Sequence[Token], at: int) -> int | None:
    """Return where the SELECT stands whose clauses hold a place."""
    depth = 0
    for place in range(at - 1, -1, -1):
        if tokens[place].is_sign(")"):
            depth += 1
        elif tokens[place].is_sign("("):
            depth = max(depth - 1, 0)  # a bracket around the place is left
        elif depth == 0 and tokens[place].word == "SELECT":
            return place
    return None


def items_of(tokens: Sequence[Token], select: int) -> Iterator[tuple[int, int]]:
    """Yield where each item of a SELECT list begins and ends."""
    first = select + 1
    while first < len(tokens) and tokens[first].word in _BEFORE_ITEMS:
        first += 1
    depth = 0
    for at in range(first, len(tokens)):
        depth += tokens[at].is_sign("(") - tokens[at].is_sign(")")
        ends = depth == 0 and (tokens[at].is_sign(",") or tokens[at].word == "FROM")
        if (ends or depth < 0) and at > first:
            yield first, at
            first = at + 1
        if depth < 0 or (ends and tokens[at].word == "FROM"):
            return


def _aliased(tokens: Sequence[Token], item: tuple[int, int], name: str) -> int | None:
    """Return where the expression of an item ends that is called by a name."""
    first, after = item
    last = tokens[after - 1]
    is_named = last.kind is not TokenKind.SIGN and last.text.lower() == name.lower()
    if after - first < 2 or not is_named:  # noqa: PLR2004 - a value and its name
        return None
    if tokens[after - 2].word == "AS":
        return after - 2
    is_value = tokens[after - 2].is_sign(")") or tokens[after - 2].word == "END"
    return after - 1 if is_value else None


def expression_of(sql: str, tokens: Sequence[Token], at: int, name: str) -> str | None:
    """Return what the SELECT list around a place calls by a name; None if nothing.

    In brackets, unless it is one name or one call.
    """
    select = select_of(tokens, at)
    items = () if select is None else items_of(tokens, select)
    found = [
        (item[0], end)
        for item in items
        if (end := _aliased(tokens, item, name)) is not None
    ]
    if len(found) != 1:
        return None
    first, end = found[0]
    text = between(sql, tokens, first, end)
    is_call = tokens[first].word and closing_of(tokens).get(first + 1) == end - 1
    return text if end == first + 1 or is_call else f"({text})"


def written_out(sql: str, offset: int, _: QueryError) -> Iterator[str]:
    """Write ``COUNT(*) AS n, lbw / n AS p`` with the expression in the alias's place.

    The name is refused, so that no column has it: it means the alias alone.
    """
    tokens = tokens_of(sql)
    at = next((n for n, t in enumerate(tokens) if t.start == offset), None)
    select = None if at is None else select_of(tokens, at)
    if at is None or select is None:
        return
    items = list(items_of(tokens, select))
    name = tokens[at].text
    used = next((item for item in items if item[0] <= at < item[1]), None)
    found = expression_of(sql, tokens, at, name)
    if used is None or found is None:
        return
    edits: list[Edit] = [
        (place, place + 1, found)
        for first, after in items
        for place in range(first, _end(tokens, (first, after)))
        if _is_name(tokens, place, name) and select_of(tokens, place) == select
    ]
    own = [item for item in items if _aliased(tokens, item, name) is not None]
    if edits and own[0] < used:
        yield edited(sql, tokens, edits)


def _end(tokens: Sequence[Token], item: tuple[int, int]) -> int:
    """Return where the expression of an item ends."""
    end = _aliased(tokens, item, tokens[item[1] - 1].text)
    return item[1] if end is None else end


def _is_name(tokens: Sequence[Token], at: int, name: str) -> bool:
    """Whether a name alone stands at a place: no table's column, no call."""
    token = tokens[at]
    if token.word != name.upper() or marks_of(tokens, at + 1, 1) in (["("], ["."]):
        return False
    return not (at and (tokens[at - 1].is_sign(".") or tokens[at - 1].word == "AS"))
