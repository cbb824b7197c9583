"""Joins that begin with a public table, begun with the private one."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from privacy.errors import QueryError
from query_lang.rewriting.fixes.token_texts import (
    between,
    marks_of,
    tokens_of,
    with_text,
)
from query_lang.syntax.functions import AGGREGATES, OTHER_FORMS
from query_lang.syntax.tokens import Token


class _Table(NamedTuple):
    """A table of FROM: its place, its name in the query, and where it ends."""

    first: int
    name: str
    after: int


def private_first(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``regions r LEFT JOIN patients p`` as ``patients p JOIN regions r``.

    Both mean the same where aggregates are of private columns and keys of the public
    table: what LEFT JOIN adds is a 0 or NULL of a group that comes back anyway.
    """
    tokens = tokens_of(sql)
    marks = marks_of(tokens, 0, len(tokens))
    if marks.count("SELECT") != 1 or not _TELL_NULLS.isdisjoint(marks):
        return
    source = _table(tokens, marks, _outside(marks, "FROM") + 1)
    at = source.after + (marks[source.after : source.after + 2] == ["LEFT", "OUTER"])
    if not source.name or marks[at : at + 1] not in _LEFT:
        return
    if marks[at + 1 : at + 2] != ["JOIN"]:
        return
    joined = _table(tokens, marks, at + 2)
    is_tied = marks[joined.after : joined.after + 1] in _TIES
    private = _tied_to(tokens, marks, joined, source.name)
    if not is_tied or not _is_same(marks, source.name, private):
        return
    one = between(sql, tokens, source.first, source.after)
    other = between(sql, tokens, joined.first, joined.after)
    yield with_text(sql, tokens, source.first, joined.after, f"{other} JOIN {one}")


_TELL_NULLS: Final = frozenset(
    (
        *("CASE", "COALESCE", "IFNULL", "NVL", "ISNULL", "NOTNULL", "IS", "FILTER"),
        *("OVER", "WITHIN", "GROUPING", "ROLLUP", "CUBE", "CONCAT", "CONCAT_WS", "IF"),
        *("IIF", "DECODE", "NVL2", "EXISTS", "LEAST", "GREATEST", "QUALIFY", "UNION"),
    )
)
"""Words that may tell a row without a match from one with it."""

_LEFT: Final = (["LEFT"], ["OUTER"])
_TIES: Final = (["ON"], ["USING"])
_AFTER_TIE: Final = (["AND"], ["LEFT"], ["JOIN"], ["INNER"], ["WHERE"], ["GROUP"])
_BEHIND: Final = frozenset(("LEFT", "ON", "USING", "JOIN", "INNER"))


def _outside(marks: Sequence[str], word: str) -> int:
    """Return where a word stands in no brackets; the end if it does not."""
    depth = 0
    for at, mark in enumerate(marks):
        depth += (mark == "(") - (mark == ")")
        if depth == 0 and mark == word:
            return at
    return len(marks)


def _table(tokens: Sequence[Token], marks: Sequence[str], first: int) -> _Table:
    """Return the table that stands at a place, with its alias if it has one."""
    if not (first < len(tokens) and tokens[first].word):
        return _Table(first, "", first)
    after = first + 1 + (marks[first + 1 : first + 2] == ["AS"])
    has_alias = after < len(tokens) and tokens[after].word not in {"", *_BEHIND}
    if after > first + 1 and not has_alias:
        return _Table(first, "", first)
    name = marks[after] if has_alias else marks[first]
    return _Table(first, name, after + has_alias)


def _tied_to(
    tokens: Sequence[Token], marks: Sequence[str], joined: _Table, public: str
) -> frozenset[str]:
    """Return the private table, and those that LEFT JOIN ties to it by equality alone.

    Where it has no row they have none: what is NULL equals nothing.
    """
    found = {joined.name}
    for at in range(joined.after, len(marks) - 8):
        if marks[at : at + 2] != ["LEFT", "JOIN"]:
            continue
        table = _table(tokens, marks, at + 2)
        on = [*marks[table.after : table.after + 9]]
        is_equal = on[:1] == ["ON"] and on[2:3] + on[4:5] + on[6:7] == [".", "=", "."]
        sides = {*on[1:2], *on[5:6]}
        is_tied = is_equal and on[8:] in _AFTER_TIE and "OR" not in marks
        if is_tied and table.name in sides and sides - {table.name} <= found:
            found.add(table.name)
    return frozenset(found - {public})


def _is_same(marks: Sequence[str], public: str, private: frozenset[str]) -> bool:
    """Whether aggregates are of private tables, and keys of the public one."""
    for at, mark in enumerate(marks):
        if marks[at + 1 : at + 2] != ["("] or mark not in {*AGGREGATES, *OTHER_FORMS}:
            continue
        if mark in OTHER_FORMS:  # COUNT_IF(...), ANY_VALUE(...)
            return False
        begin = at + 2 + (marks[at + 2 : at + 3] == ["DISTINCT"])
        inside = marks[begin : begin + 4]
        if inside[1:2] != ["."] or inside[3:] != [")"] or inside[0] not in private:
            return False
    begin = _outside(marks, "GROUP") + 2
    end = min(_outside(marks, word) for word in ("HAVING", "ORDER", "LIMIT", "FETCH"))
    keys = marks[begin:end]
    places = range(0, len(keys), 4)
    return all(keys[at : at + 2] == [public, "."] for at in places) and all(
        mark == "," for mark in keys[3::4]
    )
