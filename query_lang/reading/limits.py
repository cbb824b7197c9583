"""How large a query may be, checked on its tokens before anything parses them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from query_lang.syntax import rules
from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import refuse
from query_lang.syntax.tokens import Token, TokenKind

MAX_TEXT_BYTES = 16 * 1024
MAX_TOKENS = 2_000
MAX_DEPTH = 30
MAX_IN_ITEMS = 256
MAX_TYPE_DEPTH = 3
"""Brackets within brackets behind words that the parser knows as types, DATE(...)
among them: it reads what is in them twice, as the type's length and as a call's
arguments, so that each level doubles the work."""

_ENDS_NOT = frozenset(
    {"AND", "OR", "WHEN", "THEN", "ELSE", "SELECT", "FROM", "WHERE", "GROUP"}
    | {"HAVING", "ORDER", "LIMIT", "JOIN", "LEFT", "ON", "UNION"}
)
_TYPES = "write CAST(x AS DATE), or make the inner value in a derived table"
_LISTING = frozenset({"IN", "ANY", "SOME", "ALL"})
_SETS = frozenset({"UNION", "INTERSECT", "EXCEPT", "MINUS"})
"""Words before an ALL that no list follows."""
_NESTS = frozenset({"CASE", "END", "NOT"})
_COUNTED_SIGNS = frozenset({"(", ")", "-", ","})


def check_size(sql: str) -> None:
    """Refuse a text over 16 KiB of UTF-8.

    Raises:
        SqlNotAllowedError: The text is too long.
    """
    if len(sql.encode("utf-8", "surrogatepass")) > MAX_TEXT_BYTES:
        raise refuse(rules.TEXT_SIZE, Position(1, 1))


def check_tokens(tokens: Sequence[Token], types: Collection[str]) -> None:
    """Refuse too many tokens, too much nesting, or too long a list.

    Depth is the nesting of brackets, CASE, NOT and minus signs; chains of AND and OR
    add none.

    Args:
        tokens: Of the text.
        types: Words that the parser knows as types, in capitals.

    Raises:
        SqlNotAllowedError: A limit is passed; placed at the token that passes it.
    """
    if len(tokens) > MAX_TOKENS:
        raise refuse(rules.TOKEN_COUNT, tokens[MAX_TOKENS].position)
    depth, before, last = _Depth(), "", ""
    for token in tokens:
        opens_list = before in _LISTING and last not in _SETS
        depth.read(token, opens_list=opens_list, opens_type=before in types)
        before, last = token.word, before


@dataclass(slots=True)
class _Frame:
    """What an open bracket or CASE holds."""

    counts_items: bool = False
    types: int = 0  # brackets of types around it, and itself
    items: int = 1
    nots: int = 0
    minuses: int = 0


@dataclass(slots=True)
class _Depth:
    """A running count of nesting and list items."""

    frames: list[_Frame] = field(default_factory=lambda: [_Frame()])
    total: int = 0

    def read(self, token: Token, *, opens_list: bool, opens_type: bool) -> None:
        """Count one token."""
        word, text = token.word, token.text
        if word in _ENDS_NOT:
            self._clear()
        elif word in _NESTS:
            self._read_nesting(word)
        elif token.kind is TokenKind.SIGN:
            if text not in _COUNTED_SIGNS:
                return
            self._read_sign(token, opens_list=opens_list, opens_type=opens_type)
        elif self.frames[-1].minuses:
            self._clear(minuses_only=True)
        if self.total > MAX_DEPTH:
            raise refuse(rules.DEPTH, token.position)

    def _read_sign(self, token: Token, *, opens_list: bool, opens_type: bool) -> None:
        text, top = token.text, self.frames[-1]
        if text == "(":
            self._open(counts_items=opens_list, opens_type=opens_type)
            if self.frames[-1].types > MAX_TYPE_DEPTH:
                detail = "DATE(...), TIMESTAMP(...) and types stand in each other here"
                raise refuse(rules.DEPTH, token.position, detail=detail, hint=_TYPES)
        elif text == ")":
            self._close()
        elif text == "-":
            top.minuses += 1
            self.total += 1
        else:
            self._clear()
            top.items += 1
            if top.counts_items and top.items > MAX_IN_ITEMS:
                raise refuse(rules.IN_LIST_SIZE, token.position)

    def _read_nesting(self, word: str) -> None:
        if word == "CASE":
            self._open(counts_items=False)
        elif word == "END":
            self._close()
        else:
            self.frames[-1].nots += 1
            self.total += 1

    def _open(self, *, counts_items: bool, opens_type: bool = False) -> None:
        types = self.frames[-1].types + opens_type
        self.frames.append(_Frame(counts_items=counts_items, types=types))
        self.total += 1

    def _close(self) -> None:
        if len(self.frames) > 1:  # a bracket too many is the parser's to refuse
            self._clear()
            self.frames.pop()
            self.total -= 1
        self._clear(minuses_only=True)

    def _clear(self, *, minuses_only: bool = False) -> None:
        top = self.frames[-1]
        self.total -= top.minuses
        top.minuses = 0
        if not minuses_only:
            self.total -= top.nots
            top.nots = 0
