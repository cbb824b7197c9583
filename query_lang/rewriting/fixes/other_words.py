"""Words of other dialects written as the language has them, with the same meaning.

Each fix yields texts that may be allowed; ``query_lang.rewriting.mending`` offers the
first that compiles.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from privacy.errors import QueryError
from query_lang.rewriting.fixes.aggregates import as_quotient, one_by_one
from query_lang.rewriting.fixes.compared_rows import (
    compared_one_by_one,
    counted_below,
    joined_texts,
    pairs_counted,
)
from query_lang.rewriting.fixes.day_times import fields_written, seconds_of_day
from query_lang.rewriting.fixes.days import days_of_format
from query_lang.rewriting.fixes.numbered_rows import first_of_rank, with_default
from query_lang.rewriting.fixes.other_calls import (
    called,
    from_first,
    overlapping,
    rows_counted,
    texts_joined,
    values_listed,
)
from query_lang.rewriting.fixes.other_forms import (
    lists,
    logarithms,
    null_tests,
    operators,
    plain_numbers,
    ranges,
    seconds_between,
    short_ages,
    whole_lengths,
)
from query_lang.rewriting.fixes.public_tables import private_first
from query_lang.rewriting.fixes.series import series
from query_lang.rewriting.fixes.text_casts import texts_cut
from query_lang.rewriting.fixes.token_texts import (
    between,
    closing_of,
    edited,
    ends_item,
    ends_of,
    marks_of,
    tokens_of,
    with_text,
)
from query_lang.syntax.hints.words import (
    NAMES_OF_STATEMENTS,
    bare_words,
    named_words,
)
from query_lang.syntax.tokens import Token, TokenKind

_Fix = Callable[[str, int, QueryError], Iterator[str]]
_CLAUSES: Final = (
    *("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "BETWEEN"),
    *("DISTINCT", "JOIN"),
)
_NEAR: Final = 0.75  # how like a word of a clause is one that was meant
_BINDS_MORE = frozenset("*/%.()")  # signs beside an operand that belong to it
_AGGREGATES = frozenset(("COUNT", "SUM", "AVG", "MEDIAN", "STDDEV", "QUANTILE"))
_MOST_WORDS: Final = 2_000


def without_comma(sql: str, offset: int, _: QueryError) -> Iterator[str]:
    """Leave out the comma behind the last item, or ALL behind SELECT."""
    tokens = tokens_of(sql)
    for at, token in enumerate(tokens):
        if token.start == offset and (token.is_sign(",") or token.word == "ALL"):
            yield with_text(sql, tokens, at, at + 1, "").replace("  ", " ")


def without_table_hint(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Leave out SQL Server's WITH (NOLOCK)."""
    tokens = tokens_of(sql)
    for at in range(len(tokens) - 3):
        if marks_of(tokens, at, 4) == ["WITH", "(", "NOLOCK", ")"]:
            text = sql[: tokens[at].start].rstrip()
            yield text + sql[tokens[at + 3].start + 1 :]


def as_cast(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``CONVERT(date, x)`` as a cast, ``'30 days'::interval`` as an interval.

    And ``x::time`` beside times as the seconds of its day.
    """
    tokens = tokens_of(sql)
    yield from seconds_of_day(sql, tokens)
    yield from _intervals(sql, tokens)
    yield _converted(sql, tokens, (0, len(tokens)), closing_of(tokens))


def _intervals(sql: str, tokens: Sequence[Token]) -> Iterator[str]:
    for at in range(1, len(tokens) - 1):
        if tokens[at].is_sign("::") and tokens[at + 1].word == "INTERVAL":
            text = f"INTERVAL {between(sql, tokens, at - 1, at)}"
            yield with_text(sql, tokens, at - 1, at + 2, text)


def _converted(
    sql: str,
    tokens: Sequence[Token],
    within: tuple[int, int],
    closing: Mapping[int, int],
) -> str:
    """Return some tokens' text with each CONVERT as a cast; one with a style stays."""
    first, after = within
    if first >= after:
        return ""
    at, text, place = tokens[first].start, "", first
    end = at + len(between(sql, tokens, first, after))
    while place < after:
        ends = _arguments(tokens, place) if place + 1 in closing else None
        if ends is None or ends[1] >= after:
            place += 1
            continue
        kind = between(sql, tokens, place + 2, ends[0])
        value = _converted(sql, tokens, (ends[0] + 1, ends[1]), closing)
        name = "CAST" if tokens[place].word == "CONVERT" else "TRY_CAST"
        text += f"{sql[at : tokens[place].start]}{name}({value} AS {kind})"
        at, place = tokens[ends[1]].start + 1, ends[1] + 1
    return text + sql[at:end]


def _arguments(tokens: Sequence[Token], place: int) -> tuple[int, int] | None:
    """Return where the type and the value of a CONVERT end; None of anything else."""
    if tokens[place].word not in {"CONVERT", "TRY_CONVERT"}:
        return None
    ends = list(ends_of(tokens, place + 1))
    return (ends[0], ends[1]) if len(ends) == 2 else None  # noqa: PLR2004 - no style


def readable(sql: str, offset: int, _: QueryError) -> Iterator[str]:
    """Write DIV between operands as a call, a clause's word as it is spelt, a comma."""
    tokens = tokens_of(sql)
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
            yield with_text(sql, tokens, at - 1, at + 2, call)


def names_quoted(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``drop >= 15`` behind ``AS drop`` with the name in double quotes."""
    tokens = tokens_of(sql)
    named = named_words(tokens, NAMES_OF_STATEMENTS)
    edits = [
        (at, at + 1, f'"{token.word.lower()}"')
        for at, token in bare_words(tokens)
        if token.word in named
    ]
    if edits:
        yield edited(sql, tokens, edits)


def misspelt(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write the word of a clause as it is spelt."""
    yield from _spelt(sql, tokens_of(sql))


def _spelt(sql: str, tokens: Sequence[Token]) -> Iterator[str]:
    for at, token in enumerate(tokens[:_MOST_WORDS]):
        if not token.word or token.word in _CLAUSES:
            continue
        near = get_close_matches(token.word, _CLAUSES, n=1, cutoff=_NEAR)
        if near:
            yield with_text(sql, tokens, at, at + 1, near[0])


def named_behind(sql: str, offset: int, _: QueryError) -> Iterator[str]:
    """Write SQL Server's ``n = COUNT(*)`` with its name behind."""
    tokens = tokens_of(sql)
    starts = [token.start for token in tokens]
    at = starts.index(offset) if offset in starts else len(tokens)
    is_call = at + 3 < len(tokens) and tokens[at + 3].is_sign("(")
    if not is_call or not tokens[at + 1].is_sign("="):
        return
    once = [token.word for token in tokens].count(tokens[at].word) == 1
    if not once or tokens[at + 2].word not in _AGGREGATES:  # a column is compared
        return
    end = max(ends_of(tokens, at + 3), default=len(tokens))
    if end + 1 < len(tokens) and not ends_item(tokens[end + 1]):
        return
    value = between(sql, tokens, at + 2, end + 1)
    yield with_text(sql, tokens, at, end + 1, f"{value} AS {tokens[at].text}")


def as_limit(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``OFFSET 0 ROWS FETCH NEXT 5 ROWS ONLY`` and ``FETCH FIRST ROW ONLY``."""
    tokens = tokens_of(sql)
    marks = marks_of(tokens, 0, len(tokens))
    for at, mark in enumerate(marks):
        if mark != "FETCH":
            continue
        place = at + 2  # behind FIRST or NEXT
        is_told = place < len(tokens) and tokens[place].kind is TokenKind.NUMBER
        rows = marks[place] if is_told else "1"
        end = place + is_told + 2
        is_idle = at > 2 and marks[at - 3 : at - 1] == ["OFFSET", "0"]  # noqa: PLR2004 - OFFSET 0 ROWS
        if marks[end - 2 : end] in _ONLY:
            yield with_text(sql, tokens, at - 3 * is_idle, end, f"LIMIT {rows}")


def _either(one: _Fix, other: _Fix) -> _Fix:
    """Return a fix that yields what two of them do, in their order."""

    def both(sql: str, offset: int, error: QueryError) -> Iterator[str]:
        yield from one(sql, offset, error)
        yield from other(sql, offset, error)

    return both


_ONLY: Final = (["ROW", "ONLY"], ["ROWS", "ONLY"])
OTHER_FIXES: Mapping[str, _Fix] = {
    "age_years": short_ages,
    "any_all": lists,
    "arguments": with_default,
    "arithmetic": texts_joined,
    "average_opaque": as_quotient,
    "cast": _either(days_of_format, _either(texts_cut, as_cast)),
    "construct": _either(without_table_hint, values_listed),
    "count_arguments": counted_below,
    "date_format": fields_written,
    "function": _either(called, _either(logarithms, joined_texts)),
    "interval": _either(seconds_between, whole_lengths),
    "limit": as_limit,
    "name_needed": named_behind,
    "number_form": plain_numbers,
    "offset": as_limit,
    "only_select": misspelt,
    "operator": _either(overlapping, operators),
    "parameter": ranges,
    "public_first": private_first,
    "rank": first_of_rank,
    "recursive": series,
    "star": rows_counted,
    "symbol": _either(one_by_one, lists),
    "syntax": _either(names_quoted, readable),
    "text_part": from_first,
    "tuple": compared_one_by_one,
    "unit_key_opaque": pairs_counted,
    "unread_text": _either(without_comma, null_tests),
}
"""The fixes of this module by the rule that refuses what they mend."""
