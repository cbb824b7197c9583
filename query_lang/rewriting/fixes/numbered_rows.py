"""Windows over a patient's rows that the language has in other words."""

from collections.abc import Iterator, Mapping, Sequence
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
from query_lang.syntax.tokens import Token, TokenKind


def with_default(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``LAG(x, 1, d) OVER w`` as CASE over the rows that have none before them.

    COALESCE of LAG would put the default for a missing x, too.
    """
    tokens = tokens_of(sql)
    closing = closing_of(tokens)
    edits: list[Edit] = []
    for at, token in enumerate(tokens):
        ends = list(ends_of(tokens, at + 1)) if token.word == "LAG" else []
        after = _window_end(tokens, ends[-1] + 1, closing) if ends else None
        if after is None or len(ends) != 3:  # noqa: PLR2004 - value, offset, default
            continue
        offset = tokens[ends[0] + 1]
        if offset.kind is not TokenKind.NUMBER or ends[1] != ends[0] + 2:
            return
        window = between(sql, tokens, ends[2] + 1, after)
        value = between(sql, tokens, at + 2, ends[1])
        default = between(sql, tokens, ends[1] + 1, ends[2])
        words = (
            f"CASE WHEN ROW_NUMBER() {window} <= {offset.text} THEN {default} "
            f"ELSE LAG({value}) {window} END"
        )
        edits.append((at, after, words))
    if edits:
        yield edited(sql, tokens, edits)


def _window_end(
    tokens: Sequence[Token], place: int, closing: Mapping[int, int]
) -> int | None:
    """Return what stands behind ``OVER (...)`` or ``OVER w``; None of anything else."""
    if marks_of(tokens, place, 1) != ["OVER"] or place + 1 >= len(tokens):
        return None
    if tokens[place + 1].is_sign("("):
        end = closing.get(place + 1)
        return None if end is None else end + 1
    return place + 2 if tokens[place + 1].word else None


def first_of_rank(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write RANK() = 1 by the least of what orders: rows that tie are all the first.

    Of ROW_NUMBER() one of them would be. A rank that is asked for otherwise stays.
    """
    tokens = tokens_of(sql)
    closing = closing_of(tokens)
    edits: list[Edit] = []
    for at, token in enumerate(tokens):
        if token.word not in {"RANK", "DENSE_RANK"}:
            continue
        is_called = marks_of(tokens, at + 1, 4) == ["(", ")", "OVER", "("]
        end = closing.get(at + 4) if is_called else None
        found = None if end is None else _first(sql, tokens, at + 5, end)
        if end is None or found is None or not _is_first_alone(tokens, end + 1):
            return
        edits.append((at, end + 1, found))
    if edits:
        yield edited(sql, tokens, edits)


def _first(sql: str, tokens: Sequence[Token], begin: int, end: int) -> str | None:
    """Return 1 of the rows of a window that come first, and 2 of others."""
    marks = marks_of(tokens, begin, end - begin)
    if "ORDER" not in marks:
        return None
    order = marks.index("ORDER")
    value = marks[order + 2 :]
    is_last = value[-1:] == ["DESC"]
    size = len(value) - (value[-1:] in _WAYS)
    is_name = size == 1 or (size == 3 and value[1] == ".")  # noqa: PLR2004 - t.x
    if marks[:2] != ["PARTITION", "BY"] or not is_name:
        return None
    place = begin + order + 2
    x = between(sql, tokens, place, place + size)
    window = f"OVER ({between(sql, tokens, begin, begin + order)})"
    least = f"{'MAX' if is_last else 'MIN'}({x}) {window}"
    return f"CASE WHEN {x} = {least} OR {least} IS NULL THEN 1 ELSE 2 END"


_WAYS: Final = (["ASC"], ["DESC"])
_ASKED: Final = (["=", "1"], ["<=", "1"], ["<", "2"])


def _is_first_alone(tokens: Sequence[Token], place: int) -> bool:
    """Whether a rank, or the name that it gets, is only asked whether it is 1."""
    if marks_of(tokens, place, 2) in _ASKED:
        return True
    at = place + (marks_of(tokens, place, 1) == ["AS"])
    if at >= len(tokens) or not tokens[at].word:
        return False
    others = [n for n, t in enumerate(tokens) if t.word == tokens[at].word and n != at]
    return bool(others) and all(marks_of(tokens, n + 1, 2) in _ASKED for n in others)
