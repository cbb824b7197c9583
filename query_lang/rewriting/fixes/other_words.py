"""Words of other dialects written as the language has them, with the same meaning.

Each fix yields texts that may be allowed; ``query_lang.rewriting.mending`` offers the
first that compiles.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from privacy.errors import CuratorError, QueryError
from query_lang.syntax.tokens import Token, TokenKind, cut, lex

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
    text, end, place, found, closing = "", 0, 0, 0, _closing(tokens)
    while place < len(tokens):
        several = _quantiles(sql, tokens, place, closing)
        if several is None or len(several.shares) > _MOST_SHARES:
            place += 1
            continue
        found += 1
        alias = several.alias or (f"p{found}" if found > 1 else "p")
        name = tokens[place].text
        columns = ", ".join(
            f"{name}({share}) {several.order} AS {alias}_{_percent(share)}"
            for share in several.shares
        )
        text += sql[end : tokens[place].start] + columns
        end = tokens[place].start
        end += len(_between(sql, tokens, place, several.after))
        place = several.after
    yield text + sql[end:]


def _percent(share: str) -> str:
    """Return a share's digits behind the point, two at least; of 1 they are 100."""
    whole, _, digits = share.partition(".")
    return "100" if whole == "1" else f"{digits:0<2}"


def _closing(tokens: Sequence[Token]) -> Mapping[int, int]:
    """Return where each bracket that is opened is closed, of those that are."""
    opened: list[int] = []
    found: dict[int, int] = {}
    for at, token in enumerate(tokens):
        if token.is_sign("("):
            opened.append(at)
        elif token.is_sign(")") and opened:
            found[opened.pop()] = at
    return found


def _quantiles(
    sql: str, tokens: Sequence[Token], place: int, closing: Mapping[int, int]
) -> _Quantiles | None:
    """Return the quantiles of an array from a place on, if they are a whole item."""
    if tokens[place].word not in _QUANTILES:
        return None
    shares, after = _numbers(tokens, place + 4)
    marks = [*_marks(tokens, place + 1, 3), *_marks(tokens, after, 5)]
    closed = closing.get(after + 4)
    if closed is None or marks != _AROUND_SHARES:
        return None
    order = _between(sql, tokens, after + 2, closed + 1)
    alias, behind = _alias(tokens, closed + 1)
    is_whole = behind == len(tokens) or _ends_item(tokens[behind])
    return _Quantiles(shares, order, alias, behind) if is_whole else None


_AROUND_SHARES: Final = ["(", "ARRAY", "[", "]", ")", "WITHIN", "GROUP", "("]


def _marks(tokens: Sequence[Token], place: int, many: int) -> Sequence[str]:
    return [token.word or token.text for token in tokens[place : place + many]]


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


_QUOTIENT: Final = "to six places: "
_COUNTED: Final = re.compile(r"COUNT\(([a-z0-9_.]+)\)")


def as_quotient(sql: str, offset: int, error: QueryError) -> Iterator[str]:
    """Write the one average below the top that is computed with as the hint has it."""
    _, _, quotient = error.hint.partition(_QUOTIENT)
    counted = _COUNTED.search(quotient)
    if counted is None:
        return
    tokens = _tokens(sql)
    found = [
        (at, end, value)
        for at, end in _averages(tokens)
        if not tokens[at].start < offset < tokens[end].start
        and (value := _between(sql, tokens, at + 2, end))
        and counted[1] in {"x", value.lower()}
    ]
    here = [each for each in found if tokens[each[0]].start == offset]
    if len(here or found) == 1:
        at, end, value = (here or found)[0]
        written = quotient.replace(counted[0], f"COUNT({value})")
        written = written.replace(f"SUM({counted[1]})", f"SUM({value})")
        yield _with(sql, tokens, at, end + 1, written)


def _averages(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield where each average of a group begins and ends."""
    closing = _closing(tokens)
    for at, token in enumerate(tokens[:-2]):
        end = closing.get(at + 1)
        if token.word != "AVG" or end is None or end == at + 2:
            continue
        behind = tokens[end + 1].word if end + 1 < len(tokens) else ""
        if tokens[at + 2].word != "DISTINCT" and behind not in _BEHIND:
            yield at, end


def as_limit(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``OFFSET 0 ROWS FETCH NEXT 5 ROWS ONLY`` and ``FETCH FIRST ROW ONLY``."""
    tokens = _tokens(sql)
    marks = _marks(tokens, 0, len(tokens))
    for at, mark in enumerate(marks):
        if mark != "FETCH":
            continue
        place = at + 2  # behind FIRST or NEXT
        is_told = place < len(tokens) and tokens[place].kind is TokenKind.NUMBER
        rows = marks[place] if is_told else "1"
        end = place + is_told + 2
        is_idle = at > 2 and marks[at - 3 : at - 1] == ["OFFSET", "0"]  # noqa: PLR2004 - OFFSET 0 ROWS
        if marks[end - 2 : end] in _ONLY:
            yield _with(sql, tokens, at - 3 * is_idle, end, f"LIMIT {rows}")


_ONLY: Final = (["ROW", "ONLY"], ["ROWS", "ONLY"])
_BEHIND: Final = frozenset(("OVER", "FILTER", "WITHIN"))


OTHER_FIXES: Mapping[str, _Fix] = {
    "average_opaque": as_quotient,
    "cast": as_cast,
    "construct": without_table_hint,
    "limit": as_limit,
    "name_needed": named_behind,
    "offset": as_limit,
    "only_select": misspelt,
    "symbol": one_by_one,
    "syntax": readable,
    "unread_text": without_comma,
}
"""The fixes of this module by the rule that refuses what they mend."""
