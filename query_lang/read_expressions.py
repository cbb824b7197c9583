"""sqlglot's expressions to ours: an allow-list of node classes and arguments."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlglot import exp

from privacy.errors import SqlNotAllowedError
from query_lang import rules
from query_lang.node_rules import rule_of
from query_lang.places import Places
from query_lang.refusals import refuse
from query_lang.rules import Rule
from query_lang.syntax import (
    And,
    Between,
    BooleanLiteral,
    Comparison,
    ComparisonOperator,
    CountDistinct,
    CountRows,
    Expression,
    InList,
    IsNull,
    LiteralType,
    Name,
    Not,
    NullLiteral,
    NumberLiteral,
    Or,
    Position,
    StringLiteral,
    TypedLiteral,
)
from query_lang.tokens import Token, TokenKind, is_identifier

_OPERATORS: Mapping[type[exp.Expr], ComparisonOperator] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_TYPED: Mapping[str, LiteralType] = {"DATE": "date", "TIMESTAMP": "timestamp"}
_NAMES = frozenset({TokenKind.WORD, TokenKind.QUOTED})


def arguments(node: exp.Expr) -> set[str]:
    """Return the arguments that a node really carries."""
    return {name for name, value in node.args.items() if value}


def _kind(node: exp.Expr) -> Rule:
    if isinstance(node, exp.AggFunc):
        return rules.AGGREGATE
    return rules.FUNCTION if isinstance(node, exp.Func) else rules.CONSTRUCT


class ExpressionReader:
    """Reads expressions in the order of the text."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._readers: Mapping[type[exp.Expr], Callable[[exp.Expr], Expression]] = {
            exp.Paren: self._paren,
            exp.Column: self._name,
            exp.Literal: self._literal,
            exp.Boolean: self._boolean,
            exp.Null: self._null,
            exp.Neg: self._negative,
            exp.Cast: self._typed_literal,
            exp.Count: self._count,
            exp.Between: self._between,
            exp.In: self._in,
            exp.Is: self._is,
            exp.Not: self._not,
            exp.And: self._chain,
            exp.Or: self._chain,
            **dict.fromkeys(_OPERATORS, self._comparison),
        }

    def read(self, node: exp.Expr) -> Expression:
        """Read one expression.

        Raises:
            SqlNotAllowedError: A node or an argument is outside the allow-list.
        """
        read = self._readers.get(type(node))
        if read is None:
            raise self.refusal(node)
        return read(node)

    def identifier(self, node: exp.Expr) -> str:
        """Read a name: folded to lower case unless it is quoted."""
        token = self._places.token(node)
        if token is None or token.kind not in _NAMES:
            raise refuse(rules.IDENTIFIER, self.position(node))
        name = token.text if token.kind is TokenKind.QUOTED else token.text.lower()
        if not is_identifier(name):
            raise refuse(rules.IDENTIFIER, token.position)
        return name

    def position(self, node: exp.Expr) -> Position:
        """Return where a node begins: at its first part that has a place."""
        return self._places.position(node.walk())

    def only(self, node: exp.Expr, *known: str) -> None:
        """Refuse a node that carries an argument outside the allow-list."""
        unknown = sorted(arguments(node) - {*known, "_type"})
        if unknown:
            rule, words = rule_of(unknown[0])
            raise refuse(rule, self._places.first_word(words) or self.position(node))

    def refusal(self, node: exp.Expr) -> SqlNotAllowedError:
        """Return the refusal of a node that is not in the language."""
        rule, words = rule_of(type(node).__name__, otherwise=_kind(node))
        marked = self._places.first_word(words)
        return refuse(rule, marked or self._name_position(node))

    def _name_position(self, node: exp.Expr) -> Position:
        """Return where a node begins, at a function's name where it has one."""
        position = self.position(node)
        if not isinstance(node, exp.Func):
            return position
        return self._places.function_name(position) or position

    def _paren(self, node: exp.Expr) -> Expression:
        self.only(node, "this")
        return self.read(node.this)

    def _name(self, node: exp.Expr) -> Expression:
        position = self.position(node)
        if isinstance(node.this, exp.Star):
            raise refuse(rules.STAR, position)
        if arguments(node) & {"db", "catalog"}:
            raise refuse(rules.QUALIFIED_TABLE, position)
        self.only(node, "this", "table")
        table = node.args.get("table")
        qualifier = None if table is None else self.identifier(table)
        return Name(self.identifier(node.this), qualifier, position)

    def _literal(self, node: exp.Expr) -> Expression:
        token = self._places.token(node)
        if token is None:  # sqlglot does not place ".5"
            token = self._places.next_token(lambda t: t.kind is TokenKind.NUMBER)
        if token.kind is TokenKind.STRING:
            return StringLiteral(token.text, token.position)
        return NumberLiteral(token.text, token.position)

    def _boolean(self, node: exp.Expr) -> Expression:
        token = self._keyword("TRUE", "FALSE")
        return BooleanLiteral(value=bool(node.this), position=token.position)

    def _keyword(self, *words: str) -> Token:
        return self._places.next_token(lambda token: token.word in words)

    def _null(self, _: exp.Expr) -> Expression:
        return NullLiteral(self._keyword("NULL").position)

    def _negative(self, node: exp.Expr) -> Expression:
        token = self._leaf(node.this, TokenKind.NUMBER)
        if token is None:
            raise refuse(rules.ARITHMETIC, self.position(node))
        minus = self._places.before(token)
        return NumberLiteral(f"-{token.text}", minus.position)

    def _leaf(self, node: exp.Expr, kind: TokenKind) -> Token | None:
        if not isinstance(node, exp.Literal):
            return None
        token = self._places.token(node)
        return token if token is not None and token.kind is kind else None

    def _typed_literal(self, node: exp.Expr) -> Expression:
        token = self._leaf(node.this, TokenKind.STRING)
        if token is None:
            raise self.refusal(node)
        word = self._places.before(token)
        kind = _TYPED.get(word.word)
        if kind is None:
            raise self.refusal(node)
        return TypedLiteral(kind, token.text, word.position)

    def _count(self, node: exp.Expr) -> Expression:
        position = self.position(node)
        self._places.token(node)
        counted = node.this
        if isinstance(counted, exp.Column):
            raise self._count_column(counted, position)
        self.only(node, "this", "big_int")
        if isinstance(counted, exp.Star) and not arguments(counted):
            return CountRows(position)
        if isinstance(counted, exp.Distinct) and len(counted.expressions) == 1:
            self.only(counted, "expressions")
            return CountDistinct(self.read(counted.expressions[0]), position)
        raise refuse(rules.COUNT_ARGUMENTS, position)

    def _count_column(self, node: exp.Expr, at: Position) -> SqlNotAllowedError:
        name = self.read(node)
        shown = name.name if isinstance(name, Name) else "column"
        return refuse(
            rules.COUNT_COLUMN,
            at,
            hint=f"use COUNT(*) with WHERE {shown} IS NOT NULL; "
            "COUNT(DISTINCT unit key) counts units",
        )

    def _comparison(self, node: exp.Expr) -> Expression:
        self.only(node, "this", "expression")
        left, right = self.read(node.this), self.read(node.expression)
        return Comparison(_OPERATORS[type(node)], left, right, left.position)

    def _between(self, node: exp.Expr) -> Expression:
        self.only(node, "this", "low", "high")
        value, low, high = (
            self.read(node.args[part]) for part in ("this", "low", "high")
        )
        return Between(value, low, high, negated=False, position=value.position)

    def _in(self, node: exp.Expr) -> Expression:
        position = self.position(node)
        if not arguments(node) - {"this"}:
            raise refuse(rules.EMPTY_LIST, position)
        self.only(node, "this", "expressions")
        value = self.read(node.this)
        items = tuple(self.read(item) for item in node.expressions)
        return InList(value, items, negated=False, position=value.position)

    def _is(self, node: exp.Expr) -> Expression:
        self.only(node, "this", "expression")
        value = self.read(node.this)
        if not isinstance(node.expression, exp.Null):
            raise refuse(rules.IS_TRUE, value.position)
        self._keyword("NULL")
        return IsNull(value, negated=False, position=value.position)

    def _not(self, node: exp.Expr) -> Expression:
        item, inner = self.read(node.this), node.this
        if isinstance(inner, exp.Between | exp.In | exp.Is) and isinstance(
            item, Between | InList | IsNull
        ):
            return replace(item, negated=True)
        return Not(item, item.position)

    def _chain(self, node: exp.Expr) -> Expression:
        kind, parts = type(node), [node]
        while type(parts[0]) is kind:  # a left-deep spine, as long as the text
            self.only(parts[0], "this", "expression")
            parts[:1] = [parts[0].this, parts[0].expression]
        items = tuple(self.read(part) for part in parts)
        return (And if kind is exp.And else Or)(items, items[0].position)
