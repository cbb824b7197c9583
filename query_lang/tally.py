"""Does the tree account for every token of the text? A guard against silent drops."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from query_lang import rules
from query_lang.refusals import refuse
from query_lang.syntax import (
    And,
    Between,
    BooleanLiteral,
    Comparison,
    CountDistinct,
    CountRows,
    Expression,
    InList,
    IsNull,
    Name,
    Not,
    NullLiteral,
    NumberLiteral,
    Or,
    Select,
    SelectItem,
    StringLiteral,
    TypedLiteral,
)
from query_lang.tokens import Token, TokenKind

_SILENT = frozenset({"(", ")", "AS"})  # grouping is in the tree's shape
_SPELLINGS = {"!=": "<>", "==": "="}


def check_every_token_is_read(tree: Select, tokens: Sequence[Token]) -> None:
    """Refuse a text that holds more or less than its tree says.

    Raises:
        SqlNotAllowedError: Placed at the first token that the tree does not know.
    """
    known = Counter(_of_select(tree))
    for token in tokens:
        mark = _mark(token)
        if mark in _SILENT:
            continue
        known[mark] -= 1
        if known[mark] < 0:
            raise refuse(rules.UNREAD_TEXT, token.position)
    if any(known.values()):
        raise refuse(rules.UNREAD_TEXT, tokens[-1].position)


def _mark(token: Token) -> str:
    if token.kind is TokenKind.STRING:
        return f"'{token.text}"
    text = token.text.upper()
    return _SPELLINGS.get(text, text)


def _of_select(tree: Select) -> Iterator[str]:
    yield from ("SELECT", "FROM", tree.source.name.upper())
    if tree.source.alias is not None:
        yield tree.source.alias.upper()
    yield from _listed(_of_item(item) for item in tree.items)
    if tree.where is not None:
        yield "WHERE"
        yield from _of(tree.where)
    if tree.group_by:
        yield from ("GROUP", "BY")
        yield from _listed(map(_of, tree.group_by))


def _listed(parts: Iterable[Iterator[str]], between: str = ",") -> Iterator[str]:
    for index, part in enumerate(parts):
        if index:
            yield between
        yield from part


def _of_item(item: SelectItem) -> Iterator[str]:
    yield from _of(item.expression)
    if item.alias is not None:
        yield item.alias.upper()


def _of(tree: Expression) -> Iterator[str]:
    match tree:
        case And(items) | Or(items):
            yield from _listed(map(_of, items), type(tree).__name__.upper())
        case Not(item):
            yield "NOT"
            yield from _of(item)
        case Between() | InList() | IsNull():
            yield from _of_predicate(tree)
        case Comparison(operator, left, right):
            yield operator
            yield from _of(left)
            yield from _of(right)
        case _:
            yield from _of_leaf(tree)


def _of_predicate(tree: Between | InList | IsNull) -> Iterator[str]:
    yield from _of(tree.value)
    if tree.negated:
        yield "NOT"
    match tree:
        case Between(_, low, high):
            yield from ("BETWEEN", "AND", *_of(low), *_of(high))
        case InList(_, items):
            yield from ("IN", *_listed(map(_of, items)))
        case _:
            yield from ("IS", "NULL")


def _of_leaf(tree: Expression) -> Iterator[str]:
    match tree:
        case Name(name, qualifier):
            yield name.upper()
            if qualifier is not None:
                yield from (".", qualifier.upper())
        case NumberLiteral(text):
            yield text.removeprefix("-")
            yield from "-" * text.startswith("-")
        case StringLiteral(text):
            yield f"'{text}"
        case TypedLiteral(kind, text):
            yield from (kind.upper(), f"'{text}")
        case _:
            yield from _of_keyword(tree)


def _of_keyword(tree: Expression) -> Iterator[str]:
    match tree:
        case BooleanLiteral(value):
            yield str(value).upper()
        case NullLiteral():
            yield "NULL"
        case CountRows():
            yield from ("COUNT", "*")
        case CountDistinct(value):
            yield from ("COUNT", "DISTINCT", *_of(value))
        case _:  # pragma: no cover - every other node is handled above
            raise AssertionError
