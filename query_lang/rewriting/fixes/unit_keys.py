"""The unit key added where rows are told apart by an id that no table declares.

It means the same where no two units share an id, which the hint says.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from privacy.errors import QueryError
from query_lang.rewriting.fixes.compared_rows import ends_condition, is_condition
from query_lang.rewriting.fixes.token_texts import (
    between,
    closing_of,
    marks_of,
    tokens_of,
    with_text,
)
from query_lang.syntax.tokens import Token

_ADDED: Final = re.compile(
    r"if no two [^:]+ share one ([a-z0-9_]+)[^:]*: (?:GROUP BY |SELECT DISTINCT |"
    r"PARTITION BY |ON |WHERE |USING \(|\()(.+)"
)
_EXISTS: Final = re.compile(
    r"if no two .+: ((?:NOT )?EXISTS \(SELECT \* FROM \(SELECT [a-z0-9_]+, ).+ FROM "
    r"\.\.\.(\) AS listed WHERE .+\))"
)
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)?")
_TIE: Final = re.compile(rf"{_NAME.pattern} = {_NAME.pattern}")


def unit_added(sql: str, offset: int, error: QueryError) -> Iterator[str]:
    """Write the unit key that the hint names beside the id."""
    found = _ADDED.match(error.hint)
    tokens = tokens_of(sql)
    starts = [token.start for token in tokens]
    write = _WAYS.get(error.rule)
    exists = _EXISTS.fullmatch(error.hint)
    if exists is not None and offset in starts:
        yield from _as_exists(sql, tokens, starts.index(offset), exists)
        return
    if found is None or write is None or offset not in starts:
        return
    added = _TIE.match(found[2]) or _NAME.match(found[2])
    if added is not None:
        place = starts.index(offset)
        for edits in write(tokens, place, added[0], found[1]):
            yield _edited(sql, tokens, edits)


_Edits = Iterator[Sequence[tuple[int, str]]]
"""Words to put in front of tokens, in their order; a comma and a bracket stand behind
the one before."""


def _edited(sql: str, tokens: Sequence[Token], edits: Sequence[tuple[int, str]]) -> str:
    text, end = "", 0
    for place, words in edits:
        start = tokens[place].start
        if words[0] in ",)":
            start = tokens[0].start + len(between(sql, tokens, 0, place))
        text, end = text + sql[end:start] + words, start
    return text + sql[end:]


def _grouped(tokens: Sequence[Token], place: int, unit: str, _: str) -> _Edits:
    """Add a key of GROUP BY; and a column, where the rows around want it."""
    group, listed = _next(tokens, place, "GROUP"), _next(tokens, place, "FROM")
    if group is not None and listed is not None:
        key = group + 2, f"{unit}, "
        yield [key]
        yield [(listed, f", {unit}"), key]


def _distinct(tokens: Sequence[Token], place: int, unit: str, _: str) -> _Edits:
    if marks_of(tokens, place, 2) == ["SELECT", "DISTINCT"]:
        yield [(place + 2, f"{unit}, ")]


def _partitioned(tokens: Sequence[Token], _: int, unit: str, name: str) -> _Edits:
    """Add it to all windows that begin with the id: WINDOW may name them elsewhere."""
    places = [
        at + 2
        for at in range(len(tokens) - 2)
        if marks_of(tokens, at, 2) == ["PARTITION", "BY"]
    ]
    named = [(at, marks_of(tokens, at, 3)) for at in places]
    found = [at for at, m in named if name.upper() in {m[0], (*m, "")[2]}]
    if found:
        yield [(at, f"{unit}, ") for at in found]


def _joined(tokens: Sequence[Token], place: int, tie: str, _: str) -> _Edits:
    """Add an equality to ON, or to WHERE of LATERAL."""
    opened = _next_sign(tokens, place)
    words = {token.word for token in tokens[place:opened]}
    if words & {"LATERAL", "APPLY"}:
        place = opened + 1
    if words & {"LATERAL", "APPLY"} or tokens[place].word == "SELECT":
        yield from _tied(tokens, place, tie, "")
        return
    on = _next(tokens, place, "ON")
    if on is not None:
        yield [(on + 1, f"{tie} AND ")]


def _using(tokens: Sequence[Token], place: int, unit: str, _: str) -> _Edits:
    word = _next(tokens, place, "USING")
    if word is not None:
        yield [(word + 2, f"{unit}, ")]


def _tied(tokens: Sequence[Token], place: int, tie: str, _: str) -> _Edits:
    word = _next(tokens, place, "WHERE")
    if word is not None:
        yield [(word + 1, f"{tie} AND ")]


def _looked_up(tokens: Sequence[Token], place: int, unit: str, _: str) -> _Edits:
    """Write ``x IN (SELECT y`` as ``(unit, x) IN (SELECT unit, y``."""
    at = place + (3 if marks_of(tokens, place + 1, 1) == ["."] else 1)
    if marks_of(tokens, at, 3) != ["IN", "(", "SELECT"]:
        return
    first = at + 3 + (marks_of(tokens, at + 3, 1) == ["DISTINCT"])
    inner = unit.rpartition(".")[2]
    yield [(place, f"({unit}, "), (at, ")"), (first, f"{inner}, ")]


def _as_exists(
    sql: str, tokens: Sequence[Token], place: int, said: re.Match[str]
) -> Iterator[str]:
    """Write ``x NOT IN (SELECT y ...)`` as NOT EXISTS of a row of what it lists.

    Where unknown counts as false: EXISTS is never unknown.
    """
    opened = _next_sign(tokens, place)
    end = closing_of(tokens).get(opened)
    marks = marks_of(tokens, 0, len(tokens))
    denied = (after for word, after in pairwise(marks) if word == "NOT")
    told = is_condition(marks, place) and ends_condition(marks, end)
    if not told or not _OF_ONE.issuperset(denied):
        return
    first = opened + 1 + (marks_of(tokens, opened + 2, 1) == ["DISTINCT"])
    if end is None or marks_of(tokens, opened + 1, 1) != ["SELECT"]:
        return
    listed = between(sql, tokens, first + 1, end)
    yield with_text(sql, tokens, place, end + 1, f"{said[1]}{listed}{said[2]}")


_OF_ONE: Final = frozenset(("IN", "NULL", "LIKE", "BETWEEN", "EXISTS"))
"""What NOT denies without turning a condition round that it stands in front of."""


def _next_sign(tokens: Sequence[Token], place: int) -> int:
    """Return where a bracket is opened next."""
    signs = (at for at in range(place, len(tokens)) if tokens[at].is_sign("("))
    return next(signs, len(tokens))


def _next(tokens: Sequence[Token], place: int, word: str) -> int | None:
    """Return where a word stands next, in the same brackets, before a token more."""
    depth = 0
    for at in range(place, len(tokens) - 2):
        depth += tokens[at].is_sign("(") - tokens[at].is_sign(")")
        if depth < 0:
            return None
        if depth == 0 and tokens[at].word == word:
            return at
    return None


_Way = Callable[[Sequence[Token], int, str, str], _Edits]
_WAYS: Mapping[str, _Way] = {
    "distinct_below": _distinct,
    "group_by_unit": _grouped,
    "in_query_unit": _looked_up,
    "join_needs_unit_key": _joined,
    "scalar_subquery": _tied,
    "subquery_tie": _tied,
    "using": _using,
    "window_partition": _partitioned,
}
UNIT_FIXES = dict.fromkeys(_WAYS, unit_added)
"""The fix of this module by the rule that refuses what it mends."""
