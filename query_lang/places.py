"""Where sqlglot's nodes lie in the text, by our own tokens."""

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Protocol

from query_lang.syntax import Position
from query_lang.tokens import Token, TokenKind

_CONNECTIVES = frozenset({"WHERE", "AND", "OR", "NOT", "GROUP", "BY", "SELECT"})
_TELLING = frozenset(set(TokenKind) - {TokenKind.SIGN})


class Placed(Protocol):
    """What this module needs of a sqlglot node."""

    @property
    def meta(self) -> dict[str, object]:
        """Return what the parser noted: ``start`` is an offset."""


class Places:
    """Finds tokens and positions while a tree is read in the order of its text.

    sqlglot gives names, numbers, strings and calls an offset, and keywords none; a
    keyword is found as the next of its kind after the last token that was read.
    """

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self.tokens = tokens
        self._by_start = {token.start: token for token in tokens}
        self._read_to = -1

    def token(self, node: Placed) -> Token | None:
        """Return the token that a node was made from, and count it as read."""
        token = self._token(node)
        if token is not None:
            self._read_to = max(self._read_to, token.start)
        return token

    def _token(self, node: Placed) -> Token | None:
        start = node.meta.get("start")
        return self._by_start.get(start) if isinstance(start, int) else None

    def position(self, parts: Iterable[Placed]) -> Position:
        """Return where the first of these parts begins, else the next unread token."""
        found = [t for t in map(self._token, parts) if t is not None]
        return min(found, key=lambda t: t.start).position if found else self._next()

    def _next(self) -> Position:
        later = (t for t in self.tokens if t.start > self._read_to)
        telling = (
            t.position
            for t in later
            if t.word not in _CONNECTIVES and t.kind in _TELLING
        )
        return next(telling, self.tokens[-1].position)

    def next_token(self, fits: Callable[[Token], bool]) -> Token:
        """Return the next token of a sort and count it as read."""
        later = (t for t in self.tokens if t.start > self._read_to and fits(t))
        token = next(later, self.tokens[-1])
        self._read_to = max(self._read_to, token.start)
        return token

    def first_word(self, words: AbstractSet[str]) -> Position | None:
        """Return where the first of these words stands anywhere in the text."""
        return next((t.position for t in self.tokens if t.word in words), None)

    def function_name(self, argument: Position) -> Position | None:
        """Return the word in front of the bracket that opens before an argument."""
        earlier = [t for t in self.tokens if t.position < argument]
        pairs = list(pairwise(earlier))[-1:]
        found = (w.position for w, sign in pairs if w.word and sign.is_sign("("))
        return next(found, None)

    def before(self, token: Token) -> Token:
        """Return the token in front of this one."""
        return self.tokens[max(self.tokens.index(token) - 1, 0)]
