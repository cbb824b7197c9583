"""Words of other dialects written as the language has them, with the same meaning.

Each fix yields texts that may be allowed; ``query_lang.rewriting.mending`` offers the
first that compiles.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from privacy.errors import CuratorError, QueryError
from query_lang.syntax.tokens import Token, TokenKind, lex

_Fix = Callable[[str, int, QueryError], Iterator[str]]
_CLAUSES: Final = (
    *("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "BETWEEN"),
    *("DISTINCT", "JOIN"),
)
_NEAR: Final = 0.75  # how like a word of a clause is one that was meant
_BINDS_MORE = frozenset("*/%.()")  # signs beside an operand that belong to it
_AGGREGATES = frozenset(("COUNT", "SUM", "AVG", "MEDIAN", "STDDEV", "QUANTILE"))
_MOST_WORDS: Final = 2_000
_QUOTES: Final = frozenset("'\"`[")


def _tokens(sql: str) -> Sequence[Token]:
    try:
        return lex(sql)
    except CuratorError:
        return ()


def _between(sql: str, tokens: Sequence[Token], first: int, after: int) -> str:
    """Return the text of the tokens from one to another, that one left out.

    Comments behind the last one are no part of it: they would take in more text.
    """
    last = tokens[after - 1]
    opened = sql[last.start]
    if opened in _QUOTES:
        length = len(last.text) + last.text.count(opened) + 2
    elif last.kind is TokenKind.STRING:  # with a letter before its quotes
        end = tokens[after].start if after < len(tokens) else len(sql)
        length = len(sql[last.start : end].rstrip().rstrip(";"))
    else:
        length = len(last.text)
    return sql[tokens[first].start : last.start + length]


def _with(sql: str, tokens: Sequence[Token], first: int, after: int, text: str) -> str:
    """Return a text with other words for the tokens from one to another."""
    start = tokens[first].start
    return sql[:start] + text + sql[start + len(_between(sql, tokens, first, after)) :]


def without_comma(sql: str, offset: int, _: QueryError) -> Iterator[str]:
    """Leave out the comma behind the last item, or ALL behind SELECT."""
    tokens = _tokens(sql)
    for at, token in enumerate(tokens):
        if token.start == offset and (token.is_sign(",") or token.word == "ALL"):
            yield _with(sql, tokens, at, at + 1, "").replace("  ", " ")


def without_table_hint(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Leave out SQL Server's WITH (NOLOCK)."""
    tokens = _tokens(sql)
    for at in range(len(tokens) - 3):
        marks = [token.word or token.text for token in tokens[at : at + 4]]
        if marks == ["WITH", "(", "NOLOCK", ")"]:
            text = sql[: tokens[at].start].rstrip()
            yield text + sql[tokens[at + 3].start + 1 :]


def as_cast(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``CONVERT(date, x)`` as a cast, ``'30 days'::interval`` as an interval."""
    tokens = _tokens(sql)
    yield from _intervals(sql, tokens)
    yield _converted(sql, tokens, 0, len(tokens))


def _intervals(sql: str, tokens: Sequence[Token]) -> Iterator[str]:
    for at in range(1, len(tokens) - 1):
        if tokens[at].is_sign("::") and tokens[at + 1].word == "INTERVAL":
            text = f"INTERVAL {_between(sql, tokens, at - 1, at)}"
            yield _with(sql, tokens, at - 1, at + 2, text)


def _converted(sql: str, tokens: Sequence[Token], first: int, after: int) -> str:
    """Return some tokens' text with each CONVERT as a cast; one with a style stays."""
    if first >= after:
        return ""
    at, text, place = tokens[first].start, "", first
    end = at + len(_between(sql, tokens, first, after))
    while place < after:
        ends = _arguments(tokens, place)
        if ends is None or ends[1] >= after:
            place += 1
            continue
        kind = _between(sql, tokens, place + 2, ends[0])
        value = _converted(sql, tokens, ends[0] + 1, ends[1])
        name = "CAST" if tokens[place].word == "CONVERT" else "TRY_CAST"
        text += f"{sql[at : tokens[place].start]}{name}({value} AS {kind})"
        at, place = tokens[ends[1]].start + 1, ends[1] + 1
    return text + sql[at:end]


def _arguments(tokens: Sequence[Token], place: int) -> tuple[int, int] | None:
    """Return where the type and the value of a CONVERT end; None of anything else."""
    if tokens[place].word not in {"CONVERT", "TRY_CONVERT"}:
        return None
    ends = list(_ends(tokens, place + 1))
    return (ends[0], ends[1]) if len(ends) == 2 else None  # noqa: PLR2004 - no style


def _ends(tokens: Sequence[Token], opened: int) -> Iterator[int]:
    """Return where the arguments end of a call whose bracket opens at a place."""
    depth = 0
    for at in range(opened, len(tokens)):
        depth += tokens[at].is_sign("(") - tokens[at].is_sign(")")
        if depth == 0 or (depth == 1 and tokens[at].is_sign(",")):
            yield at
        if depth == 0:
            return


_SEVERAL: Final = re.compile(
    r"(?P<name>percentile_(?:cont|disc))\s*\(\s*array\s*\[(?P<shares>[0-9.,\s]+)\]\s*\)"
    r"(?P<order>\s*within\s+group\s*\([^()]*\))"
    r"(?:\s+as\s+(?P<alias>[a-z][a-z0-9_]*))?",
    re.IGNORECASE,
)
_MOST_SHARES: Final = 10


def one_by_one(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write quantiles of an array one by one: a column each, of the same paid bins."""

    def written(found: re.Match[str]) -> str:
        shares = [each.strip() for each in found["shares"].split(",") if each.strip()]
        alias = found["alias"] or "p"
        return ", ".join(
            f"{found['name']}({share}){found['order']} "
            f"AS {alias}_{share.partition('.')[2]:0<2}"
            for share in shares[:_MOST_SHARES]
        )

    yield _SEVERAL.sub(written, sql)


def readable(sql: str, offset: int, _: QueryError) -> Iterator[str]:
    """Write DIV between operands as a call, a clause's word as it is spelt, a comma."""
    tokens = _tokens(sql)
    yield from _infix(sql, tokens)
    yield from _spelt(sql, tokens)
    for at, token in enumerate(tokens):
        if token.start == offset and at and token.word:
            yield f"{sql[: token.start].rstrip()}, {sql[token.start :]}"


def _infix(sql: str, tokens: Sequence[Token]) -> Iterator[str]:
    for at in range(1, len(tokens) - 1):
        before, after = tokens[at - 1], tokens[at + 1]
        if tokens[at].word not in {"DIV", "MOD"} or not before.word:
            continue
        outside = [*tokens[max(0, at - 2) : at - 1], *tokens[at + 2 : at + 3]]
        if any(token.text in _BINDS_MORE for token in outside):
            continue
        if after.word or after.kind is TokenKind.NUMBER:
            call = f"{tokens[at].word}({before.text}, {after.text})"
            yield _with(sql, tokens, at - 1, at + 2, call)


def misspelt(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write the word of a clause as it is spelt."""
    yield from _spelt(sql, _tokens(sql))


def _spelt(sql: str, tokens: Sequence[Token]) -> Iterator[str]:
    for at, token in enumerate(tokens[:_MOST_WORDS]):
        if not token.word or token.word in _CLAUSES:
            continue
        near = get_close_matches(token.word, _CLAUSES, n=1, cutoff=_NEAR)
        if near:
            yield _with(sql, tokens, at, at + 1, near[0])


def named_behind(sql: str, offset: int, _: QueryError) -> Iterator[str]:
    """Write SQL Server's ``n = COUNT(*)`` with its name behind."""
    tokens = _tokens(sql)
    starts = [token.start for token in tokens]
    at = starts.index(offset) if offset in starts else len(tokens)
    is_call = at + 3 < len(tokens) and tokens[at + 3].is_sign("(")
    if not is_call or not tokens[at + 1].is_sign("="):
        return
    once = [token.word for token in tokens].count(tokens[at].word) == 1
    if not once or tokens[at + 2].word not in _AGGREGATES:  # a column is compared
        return
    end = max(_ends(tokens, at + 3), default=len(tokens))
    if end + 1 < len(tokens) and not _ends_item(tokens[end + 1]):
        return
    value = _between(sql, tokens, at + 2, end + 1)
    yield _with(sql, tokens, at, end + 1, f"{value} AS {tokens[at].text}")


def _ends_item(token: Token) -> bool:
    return token.is_sign(",") or token.word == "FROM"


OTHER_FIXES: Mapping[str, _Fix] = {
    "cast": as_cast,
    "construct": without_table_hint,
    "name_needed": named_behind,
    "only_select": misspelt,
    "symbol": one_by_one,
    "syntax": readable,
    "unread_text": without_comma,
}
"""The fixes of this module by the rule that refuses what they mend."""
