"""Where a tree's parts lie in the text: a walk over our own tokens."""

from collections.abc import Set as AbstractSet

from query_lang.syntax import rules
from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import refuse
from query_lang.syntax.tokens import Token, TokenKind, is_top

_NAMES = frozenset({TokenKind.WORD, TokenKind.QUOTED})


class Places:
    """A walk over the tokens, one by one, while a tree is read in their order.

    sqlglot places few of its nodes and drops what it deems noise. So the reader takes
    every token, brackets included, as it reads the node that the token was written
    for; a token that no node is due to is refused where it stands.
    """

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self._tokens = tokens
        self._next = 0

    @property
    def position(self) -> Position:
        """Where the next token stands; at the end of the text, the last one."""
        return self._tokens[min(self._next, len(self._tokens) - 1)].position

    def word(self, ahead: int = 0) -> str:
        """Return a coming token as a bare word in capitals, else as an empty text."""
        token = self._peek(ahead)
        return "" if token is None else token.word

    def is_sign(self, text: str, ahead: int = 0) -> bool:
        """Whether a coming token is this sign."""
        token = self._peek(ahead)
        return token is not None and token.is_sign(text)

    def is_kind(self, kind: TokenKind, ahead: int = 0) -> bool:
        """Whether a coming token is of this kind."""
        token = self._peek(ahead)
        return token is not None and token.kind is kind

    def _peek(self, ahead: int = 0) -> Token | None:
        index = self._next + ahead
        return self._tokens[index] if index < len(self._tokens) else None

    def take(self, *words: str) -> Position:
        """Take these words, in this order; return where the first stands.

        Raises:
            SqlNotAllowedError: Other text stands here.
        """
        position = self.position
        for word in words:
            token = self._peek()
            if token is None or token.word != word:
                raise self.unread()
            self._next += 1
        return position

    def is_at_top(self) -> bool:
        """Whether ``TOP 5`` comes next."""
        return self._peek() is not None and is_top(self._tokens, self._next)

    def accept(self, word: str) -> bool:
        """Take this word if it comes next."""
        token = self._peek()
        found = token is not None and token.word == word
        self._next += found
        return found

    def take_sign(self, *signs: str) -> Token:
        """Take one of these signs.

        Raises:
            SqlNotAllowedError: Other text stands here.
        """
        token = self._peek()
        if token is None or token.kind is not TokenKind.SIGN or token.text not in signs:
            raise self.unread()
        self._next += 1
        return token

    def take_kind(self, kind: TokenKind) -> Token:
        """Take a token of this kind.

        Raises:
            SqlNotAllowedError: Other text stands here.
        """
        token = self._peek()
        if token is None or token.kind is not kind:
            raise self.unread()
        self._next += 1
        return token

    def take_name(self) -> Token:
        """Take a word or a quoted name.

        Raises:
            SqlNotAllowedError: Other text stands here.
        """
        token = self._peek()
        if token is None or token.kind not in _NAMES:
            raise refuse(rules.IDENTIFIER, self.position)
        self._next += 1
        return token

    def take_end(self) -> None:
        """Hold that every token was taken.

        Raises:
            SqlNotAllowedError: Text remains.
        """
        if self._next < len(self._tokens):
            raise self.unread()

    def unread(self) -> Exception:
        """Return the refusal of text that the tree does not know."""
        return refuse(rules.UNREAD_TEXT, self.position)

    def holds_sign(self, text: str) -> bool:
        """Whether the text has this sign anywhere."""
        return any(token.is_sign(text) for token in self._tokens)

    def ahead(self, words: AbstractSet[str]) -> Position | None:
        """Return where the first of these words comes, within the open bracket."""
        depth = 0
        for token in self._tokens[self._next :]:
            depth += token.is_sign("(") - token.is_sign(")")
            if depth < 0:
                return None
            if depth == 0 and token.word in words:
                return token.position
        return None
