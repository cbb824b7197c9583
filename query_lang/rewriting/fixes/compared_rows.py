"""Rows in brackets, compared or counted, and values looked up in a public table."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from privacy.errors import QueryError
from query_lang.rewriting.fixes.token_texts import (
    Edit,
    between,
    closing_of,
    edited,
    ends_of,
    marks_of,
    tokens_of,
)
from query_lang.syntax.tokens import Token

_MOST_COMPARED: Final = 4
_SIGNS: Final = frozenset(("<", "<=", ">", ">=", "=", "<>", "!="))
_BEFORE: Final = frozenset(("WHERE", "AND", "OR", "NOT", "ON", "WHEN", "HAVING", "("))


def compared_one_by_one(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``(a, b) >= (1, 2)`` as ``(a > 1 OR (a = 1 AND b >= 2))``.

    Both are unknown for the same rows: the first pair that differs decides, as in
    PostgreSQL.
    """
    tokens = tokens_of(sql)
    closing = closing_of(tokens)
    edits: list[Edit] = []
    for at in range(1, len(tokens)):
        end = closing.get(at)
        if end is None or marks_of(tokens, at - 1, 1)[0] not in _BEFORE:
            continue
        sign, other = marks_of(tokens, end + 1, 1), closing.get(end + 2)
        if not sign or sign[0] not in _SIGNS or other is None:
            continue
        pairs = list(
            zip(_items(sql, tokens, at), _items(sql, tokens, end + 2), strict=False)
        )
        many = len(_items(sql, tokens, at)), len(_items(sql, tokens, end + 2))
        if many[0] == many[1] and 1 < many[0] <= _MOST_COMPARED:
            edits.append((at, other + 1, f"({_compared(pairs, sign[0])})"))
    if edits:
        yield edited(sql, tokens, edits)


def _items(sql: str, tokens: Sequence[Token], opened: int) -> list[str]:
    first, found = opened + 1, []
    for end in ends_of(tokens, opened):
        if end > first:
            found.append(between(sql, tokens, first, end))
        first = end + 1
    return found


def _compared(pairs: Sequence[tuple[str, str]], sign: str) -> str:
    (one, other), *rest = pairs
    if not rest:
        return f"{one} {sign} {other}"
    later = _compared(rest, sign)
    if sign == "=":
        return f"{one} = {other} AND {later}"
    if sign in {"<>", "!="}:
        return f"{one} <> {other} OR {later}"
    later = later if len(rest) == 1 else f"({later})"
    return f"{one} {sign[0]} {other} OR ({one} = {other} AND {later})"


def counted_below(sql: str, offset: int, _: QueryError) -> Iterator[str]:
    """Write ``SELECT COUNT(DISTINCT (a, b)) FROM t`` as a count over distinct rows.

    A pair of which one value is missing is one of them, as in PostgreSQL.
    """
    tokens = tokens_of(sql)
    marks, closing = marks_of(tokens, 0, len(tokens)), closing_of(tokens)
    for at, token in enumerate(tokens):
        if token.start != offset or marks[at - 1 : at + 4] != _COUNTED:
            continue
        end = closing.get(at + 1)
        if end is None or closing.get(at + 3) != end - 1 or at == 0:
            return
        source = next((n for n in range(end, len(marks)) if marks[n] == "FROM"), None)
        named = marks[end + 1 : source]
        if source is None or len(named) - (named[:1] == ["AS"]) > 1:
            return
        if _has_other_clauses(marks[: at - 1], marks[source:]):
            return
        pair = between(sql, tokens, at + 4, end - 1)
        rows = between(sql, tokens, source, len(tokens))
        start = token.start
        alias = sql[tokens[end].start + 1 : tokens[source].start].rstrip()
        yield (
            f"{sql[:start]}COUNT(*){alias} FROM (SELECT DISTINCT {pair} {rows}) AS "
            "counted"
        )


def pairs_counted(sql: str, _: int, error: QueryError) -> Iterator[str]:
    """Write ``COUNT(DISTINCT CONCAT(a, '-', b))`` as ``counted_below`` has (a, b).

    CONCAT takes NULL for no text: a pair of which one value is missing is one. A sign
    between them that stands in no key tells pairs apart as two columns do.
    """
    tokens = tokens_of(sql)
    marks, closing = marks_of(tokens, 0, len(tokens)), closing_of(tokens)
    for at in range(len(marks)):
        if marks[at : at + 5] != ["COUNT", "(", "DISTINCT", "CONCAT", "("]:
            continue
        end, items = closing.get(at + 4), _items(sql, tokens, at + 4)
        is_pair = len(items) == 3 and items[1] in _BETWEEN_PAIRS  # noqa: PLR2004 - two and a sign
        if end is not None and is_pair and closing.get(at + 1) == end + 1:
            pair = (at + 3, end + 1, f"({items[0]}, {items[2]})")
            tuples = edited(sql, tokens, [pair])
            yield from counted_below(tuples, tokens[at].start, error)
    for at in range(len(marks)):
        if marks[at : at + 3] == ["COUNT", "(", "DISTINCT"] and at + 1 in closing:
            for tuples in _chained(sql, tokens, at, closing[at + 1]):
                yield from counted_below(tuples, tokens[at].start, error)


def _chained(sql: str, tokens: Sequence[Token], at: int, end: int) -> Iterator[str]:
    """Yield ``COUNT(DISTINCT a || '-' || b)`` with (a, b), where neither is missing."""
    marks = marks_of(tokens, 0, len(tokens))
    written = "".join(between(sql, tokens, n, n + 1) for n in range(at + 3, end))
    found = _CHAIN.fullmatch(written)
    if found is None or marks.count("SELECT") != 1:
        return
    pair = found.groups()
    known = " AND ".join(f"{name} IS NOT NULL" for name in pair)
    edits: list[Edit] = [(at + 3, end, f"({', '.join(pair)})")]
    last = between(sql, tokens, len(tokens) - 1, len(tokens))
    if "WHERE" in marks[:-2]:
        where = marks.index("WHERE")
        first = between(sql, tokens, where + 1, where + 2)
        edits.append((where, where + 2, f"WHERE {known} AND ({first}"))
        edits.append((len(tokens) - 1, len(tokens), f"{last})"))
    else:
        edits.append((len(tokens) - 1, len(tokens), f"{last} WHERE {known}"))
    yield edited(sql, tokens, edits)


_NAME: Final = r"([a-z_]\w*(?:\.[a-z_]\w*)?)(?:::(?:text|varchar))?"
_CHAIN: Final = re.compile(rf"{_NAME}\|\|'[-_|/: ]'\|\|{_NAME}", re.IGNORECASE)
_BETWEEN_PAIRS: Final = frozenset(
    f"'{sign}'" for sign in ("-", "_", "|", "/", ":", " ")
)
_COUNTED: Final = ["SELECT", "COUNT", "(", "DISTINCT", "("]
_OTHER_CLAUSES: Final = frozenset(
    (
        *("GROUP", "HAVING", "ORDER", "LIMIT", "FETCH", "UNION", "INTERSECT", "EXCEPT"),
        *("WINDOW", "QUALIFY", "OFFSET", "COUNTED", ";"),
    )
)


def _has_other_clauses(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether a SELECT is in brackets, or has more than FROM and WHERE."""
    if before.count("(") != before.count(")"):
        return True
    depth = 0
    for mark in after:
        depth += (mark == "(") - (mark == ")")
        if depth == 0 and mark in _OTHER_CLAUSES:
            return True
    return "COUNTED" in before


def looked_up(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``x = (SELECT code FROM t WHERE ...)`` as IN, in conditions of rows.

    Where SQL answers there is one value, or none: then the one is unknown and the other
    false, which is the same under WHERE, ON and WHEN where nothing but AND and OR reads
    it.
    """
    tokens = tokens_of(sql)
    marks, closing = marks_of(tokens, 0, len(tokens)), closing_of(tokens)
    edits: list[Edit] = [
        (at, at + 1, "IN")
        for at in range(len(marks) - 2)
        if marks[at : at + 3] == ["=", "(", "SELECT"]
        and is_condition(marks, at)
        and ends_condition(marks, closing.get(at + 1))
    ]
    if edits and "NOT" not in marks:
        yield edited(sql, tokens, edits)


_CLAUSES: Final = frozenset(("WHERE", "ON", "WHEN", "SELECT", "BY", "HAVING", "THEN"))
_JOINING: Final = frozenset(("WHERE", "ON", "WHEN", "AND", "OR", "("))
_BEHIND: Final = frozenset(
    (
        *("AND", "OR", "THEN", ")", "GROUP", "HAVING", "ORDER", "LIMIT", "FETCH", ";"),
        *("UNION", "JOIN", "LEFT", "INNER", "CROSS", "WHERE"),
    )
)


def is_condition(marks: Sequence[str], place: int) -> bool:
    """Whether what stands at a place is of WHERE, ON or WHEN, in no call's brackets."""
    depth = 0
    for at in range(place - 1, 0, -1):
        depth += (marks[at] == ")") - (marks[at] == "(")
        if depth < 0:
            if marks[at - 1] not in _JOINING:
                return False
            depth = 0
        if depth == 0 and marks[at] in _CLAUSES:
            return marks[at] in {"WHERE", "ON", "WHEN"}
    return False


def ends_condition(marks: Sequence[str], closed: int | None) -> bool:
    """Whether nothing computes with a condition that ends with a bracket."""
    if closed is None:
        return False
    while marks[closed : closed + 1] == [")"]:
        closed += 1
    return closed == len(marks) or marks[closed] in _BEHIND


def joined_texts(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``CONCAT_WS('/', a, b)`` as texts each with its separator, the first cut.

    What is NULL has no separator either.
    """
    tokens = tokens_of(sql)
    edits: list[Edit] = []
    for at, token in enumerate(tokens):
        if token.word != "CONCAT_WS" or marks_of(tokens, at + 1, 1) != ["("]:
            continue
        separator, *items = _items(sql, tokens, at + 1) or [""]
        length = len(separator) - 2
        is_plain = separator[:1] == "'" and separator.count("'") == 2  # noqa: PLR2004 - its ends
        if not is_plain or length < 1 or not items:
            return
        each = " || ".join(f"COALESCE({separator} || {item}, '')" for item in items)
        after = closing_of(tokens)[at + 1] + 1
        if edits and at < edits[-1][1]:
            return
        edits.append((at, after, f"SUBSTRING({each}, {length + 1})"))
    if edits:
        yield edited(sql, tokens, edits)
