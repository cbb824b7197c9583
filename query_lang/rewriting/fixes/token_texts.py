"""Tokens of a refused text, and texts with other words for some of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from privacy.errors import CuratorError, QueryError
from query_lang.syntax.tokens import Token, TokenKind, lex

_QUOTES: Final = frozenset("'\"`[")


def tokens_of(sql: str) -> Sequence[Token]:
    """Return the tokens of a text; none of one that has others."""
    try:
        return lex(sql)
    except CuratorError:
        return ()


def offset_of(sql: str, error: QueryError) -> int:
    """Return how many characters stand before the place of a refusal."""
    lines = sql.split("\n")
    return sum(len(line) + 1 for line in lines[: error.line - 1]) + error.column - 1


def between(sql: str, tokens: Sequence[Token], first: int, after: int) -> str:
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


def with_text(
    sql: str, tokens: Sequence[Token], first: int, after: int, text: str
) -> str:
    """Return a text with other words for the tokens from one to another."""
    start = tokens[first].start
    return sql[:start] + text + sql[start + len(between(sql, tokens, first, after)) :]


Edit = tuple[int, int, str]
"""Tokens from one place to another, and what stands for them."""


def edited(sql: str, tokens: Sequence[Token], edits: Sequence[Edit]) -> str:
    """Return a text with other words for tokens here and there, in their order."""
    text, end = "", 0
    for first, after, words in edits:
        start = tokens[first].start
        text += sql[end:start] + words
        end = start + len(between(sql, tokens, first, after))
    return text + sql[end:]


def ends_of(tokens: Sequence[Token], opened: int) -> Iterator[int]:
    """Return where the arguments end of a call whose bracket opens at a place."""
    depth = 0
    for at in range(opened, len(tokens)):
        depth += tokens[at].is_sign("(") - tokens[at].is_sign(")")
        if depth == 0 or (depth == 1 and tokens[at].is_sign(",")):
            yield at
        if depth == 0:
            return


def arguments_of(sql: str, tokens: Sequence[Token], at: int) -> Sequence[str]:
    """Return the arguments of the call whose name stands at a place."""
    found, first = [], at + 2
    for end in ends_of(tokens, at + 1):
        if end > first:
            found.append(between(sql, tokens, first, end))
        first = end + 1
    return found


def marks_of(tokens: Sequence[Token], place: int, many: int) -> Sequence[str]:
    """Return some tokens from a place on, words in capitals."""
    return [token.word or token.text for token in tokens[place : place + many]]


def closing_of(tokens: Sequence[Token]) -> Mapping[int, int]:
    """Return where each bracket that is opened is closed, of those that are."""
    opened: list[int] = []
    found: dict[int, int] = {}
    for at, token in enumerate(tokens):
        if token.is_sign("("):
            opened.append(at)
        elif token.is_sign(")") and opened:
            found[opened.pop()] = at
    return found


def ends_item(token: Token) -> bool:
    """Whether an item of a SELECT list ends before a token."""
    return token.is_sign(",") or token.word == "FROM"
