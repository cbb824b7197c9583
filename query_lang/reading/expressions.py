"""sqlglot's expressions to ours: an allow-list of node classes and arguments."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import get_args

from sqlglot import exp

from privacy.errors import SqlNotAllowedError
from privacy.schema import ColumnType
from query_lang.reading.node_rules import rule_of
from query_lang.reading.places import Places
from query_lang.syntax import rules
from query_lang.syntax.idioms import (
    IsDistinct,
    IsTruth,
    LikeEach,
    OtherLike,
    Overlaps,
    PatternWord,
    Quantified,
    QuantifiedList,
    QuantifierWord,
    RowIn,
    RowInQuery,
    ScalarQuery,
    SymmetricBetween,
)
from query_lang.syntax.nodes import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Between,
    BooleanLiteral,
    Case,
    CaseBranch,
    Cast,
    Comparison,
    ComparisonOperator,
    Exists,
    Expression,
    InList,
    InQuery,
    IsNull,
    Like,
    Name,
    Negative,
    Not,
    NullLiteral,
    NumberLiteral,
    Or,
    Select,
    Star,
    StringLiteral,
    UnionAll,
)
from query_lang.syntax.refusals import refuse
from query_lang.syntax.rules import Rule
from query_lang.syntax.tokens import TokenKind, column_name, is_identifier
from query_lang.syntax.type_names import cast_target

MAX_TREE_DEPTH = 100

_COMPARISONS: Mapping[type[exp.Expr], tuple[ComparisonOperator, tuple[str, ...]]] = {
    exp.EQ: ("=", ("=", "==")),
    exp.NEQ: ("<>", ("<>", "!=")),
    exp.LT: ("<", ("<",)),
    exp.LTE: ("<=", ("<=",)),
    exp.GT: (">", (">",)),
    exp.GTE: (">=", (">=",)),
}
_ARITHMETIC: Mapping[type[exp.Expr], ArithmeticOperator] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.DPipe: "||",
}
_PATTERNS: Mapping[type[exp.Expr], tuple[PatternWord, ...]] = {
    exp.Like: ("LIKE",),
    exp.ILike: ("ILIKE",),
    exp.SimilarTo: ("SIMILAR",),
    exp.RegexpLike: ("~", "RLIKE", "REGEXP"),
    exp.RegexpILike: ("~*",),
}
_CONDITIONS = (
    *_COMPARISONS,
    *(exp.Between, exp.In, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(*_PATTERNS, exp.Escape),
    *(exp.Not, exp.And, exp.Or),
)
_TRUTHS: Mapping[str, bool | None] = {"TRUE": True, "FALSE": False, "UNKNOWN": None}
_TRUTH_NODES = (exp.Boolean, exp.Null)


def arguments(node: exp.Expr) -> set[str]:
    """Return the arguments that a node really carries."""
    return {name for name, value in node.args.items() if value}


def _kind(node: exp.Expr) -> Rule:
    return rules.FUNCTION if isinstance(node, exp.Func) else rules.CONSTRUCT


_OVERLAPS = (
    "(a.started, a.stopped) OVERLAPS (b.started, b.stopped): starts and ends on both "
    "sides"
)


class ExpressionReader(ABC):
    """Reads names, literals, conditions and arithmetic, in the order of the text."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._depth = 0
        self._titles: set[str] = set()
        self.titles: list[Name] = []
        self._readers: dict[type[exp.Expr], Callable[[exp.Expr], Expression]] = {
            exp.Paren: self._paren,
            exp.Subquery: self._scalar,
            exp.Column: self._name,
            exp.Literal: self._literal,
            exp.Boolean: self._boolean,
            exp.Null: self._null,
            exp.Neg: self._negative,
            exp.Between: self._between,
            exp.In: self._in,
            exp.Overlaps: self._overlaps,
            exp.Is: self._is,
            exp.Escape: self._like,
            exp.NullSafeEQ: self._is_distinct,
            exp.NullSafeNEQ: self._is_distinct,
            exp.Not: self._not,
            exp.And: self._chain,
            exp.Or: self._chain,
            exp.Case: self._case,
            exp.Exists: self._exists,
            exp.Star: self._star,
            **dict.fromkeys(_PATTERNS, self._like),
            **dict.fromkeys(_COMPARISONS, self._comparison),
            **dict.fromkeys(_ARITHMETIC, self._arithmetic),
        }

    @abstractmethod
    def query(self, node: exp.Expr) -> Select | UnionAll:
        """Read a query in the brackets that are open here."""

    @abstractmethod
    def first_row(self, node: exp.Expr) -> Select:
        """Read a query of one first row, likewise: it has ORDER BY and LIMIT."""

    def read(self, node: exp.Expr) -> Expression:
        """Read one expression.

        Raises:
            SqlNotAllowedError: A node or an argument is outside the allow-list.
        """
        read = self._readers.get(type(node))
        if read is None:
            raise self.refusal(node)
        self._deepen()
        expression = read(node)
        self._depth -= 1
        return expression

    def _deepen(self) -> None:
        self._depth += 1
        if self._depth > MAX_TREE_DEPTH:
            raise refuse(
                rules.DEPTH,
                self._places.position,
                detail="an expression has at most 100 operators inside each other",
                hint="split the arithmetic over derived tables",
            )

    def operand(self, node: exp.Expr) -> Expression:
        """Read what stands beside an operator: a condition there needs brackets."""
        if isinstance(node, _CONDITIONS):
            joins = self._places.holds_sign("||")
            hint = "write OR as a word: || joins texts" if joins else None
            raise refuse(rules.BRACKETS_NEEDED, self._places.position, hint=hint)
        return self.read(node)

    def listed(self, nodes: list[exp.Expr]) -> tuple[Expression, ...]:
        """Read expressions with commas between them."""
        items: list[Expression] = []
        for node in nodes:
            if items:
                self._places.take_sign(",")
            items.append(self.read(node))
        return tuple(items)

    def identifier(self, node: exp.Expr | None) -> str:
        """Read a name: folded to lower case unless it is quoted."""
        token = self._places.take_name()
        if not isinstance(node, exp.Identifier) or node.this != token.text:
            raise refuse(rules.UNREAD_TEXT, token.position)
        name = token.text if token.kind is TokenKind.QUOTED else token.text.lower()
        if name in self._titles:
            return column_name(name)
        if not is_identifier(name):
            raise refuse(rules.IDENTIFIER, token.position)
        return name

    def title(self, node: exp.Expr | None, of: Expression) -> str:
        """Read the name that the top gives a column: a quoted one may be any words.

        It is no column's name, so binding refuses one that is, but of that column.
        """
        quoted = node.this if self._places.is_kind(TokenKind.QUOTED) and node else ""
        name, position = column_name(quoted), self._places.position
        if not is_identifier(quoted) and is_identifier(name):
            self._titles.add(quoted)
            if not (isinstance(of, Name) and of.name == name):
                self.titles.append(Name(name, None, position))
        return self.identifier(node)

    def only(self, node: exp.Expr, *known: str) -> None:
        """Refuse a node that carries an argument outside the allow-list."""
        for name, value in node.args.items():
            if value and name not in known and name != "_type":
                unknown = sorted(arguments(node) - {*known, "_type"})
                raise self._refused(unknown[0], _kind(node))

    def refusal(self, node: exp.Expr) -> SqlNotAllowedError:
        """Return the refusal of a node outside the allow-list."""
        return self._refused(type(node).__name__, _kind(node))

    def _refused(self, name: str, otherwise: Rule) -> SqlNotAllowedError:
        rule, words = rule_of(name, otherwise=otherwise)
        return refuse(rule, self._places.ahead(words) or self._places.position)

    def _paren(self, node: exp.Expr) -> Expression:
        self.only(node, "this")
        if not self._places.is_sign("("):  # sqlglot adds brackets of its own
            raise refuse(rules.BRACKETS_NEEDED, self._places.position)
        self._places.take_sign("(")
        read = self.read(node.this)
        self._places.take_sign(")")
        return read

    def _name(self, node: exp.Expr) -> Expression:
        position = self._places.position
        if isinstance(node.this, exp.Star):
            raise refuse(rules.STAR, position)
        if arguments(node) & {"db", "catalog"}:
            raise refuse(rules.QUALIFIED_TABLE, position)
        self.only(node, "this", "table")
        table = node.args.get("table")
        if table is None:
            return Name(self.identifier(node.this), None, position)
        qualifier = self.identifier(table)
        self._places.take_sign(".")
        return Name(self.identifier(node.this), qualifier, position)

    def _star(self, _: exp.Expr) -> Expression:
        raise refuse(rules.STAR, self._places.position)

    def star(self, node: exp.Expr) -> Star:
        """Read ``*``, or ``e.*``, where it may stand."""
        position, qualifier = self._places.position, None
        if isinstance(node, exp.Column):
            self.only(node, "this", "table")
            qualifier = self.identifier(node.args.get("table"))
            self._places.take_sign(".")
            node = node.this
        self.only(node, "except_")
        self._places.take_sign("*")
        left_out = node.args.get("except_")
        if not left_out:
            return Star(position, qualifier)
        word = self._places.word()
        self._places.take(word)
        bracketed = self._places.is_sign("(")
        if bracketed:
            self._places.take_sign("(")
        without: list[str] = []
        for name in left_out:
            if without:
                self._places.take_sign(",")
            whole = isinstance(name, exp.Column) and arguments(name) == {"this"}
            without.append(self.identifier(name.this if whole else name))
        if bracketed:
            self._places.take_sign(")")
        return Star(position, qualifier, tuple(without), word)

    def _literal(self, node: exp.Expr) -> Expression:
        if node.args.get("is_string"):
            token = self._places.take_kind(TokenKind.STRING)
            return StringLiteral(token.text, token.position)
        token = self._places.take_kind(TokenKind.NUMBER)
        return NumberLiteral(token.text, token.position)

    def _boolean(self, node: exp.Expr) -> Expression:
        value = bool(node.this)
        return BooleanLiteral(value, self._places.take("TRUE" if value else "FALSE"))

    def _null(self, _: exp.Expr) -> Expression:
        return NullLiteral(self._places.take("NULL"))

    def _negative(self, node: exp.Expr) -> Expression:
        self.only(node, "this")
        position = self._places.take_sign("-").position
        value = self.operand(node.this)
        if isinstance(node.this, exp.Literal) and isinstance(value, NumberLiteral):
            return NumberLiteral(f"-{value.text}", position)
        return Negative(value, position)

    def _comparison(self, node: exp.Expr) -> Expression:
        self.only(node, "this", "expression")
        operator, signs = _COMPARISONS[type(node)]
        left = self.operand(node.this)
        self._places.take_sign(*signs)
        if isinstance(node.expression, exp.Any | exp.All):
            return self._quantified(left, operator, node.expression)
        if isinstance(node.expression, exp.Anonymous) and self._is_quantifier():
            word = self._quantifier()
            items = self._in_brackets(node.expression.expressions)
            is_text = any(map(_is_cast_to_text, items))
            return QuantifiedList(left.position, left, operator, word, items, is_text)
        right = self.operand(node.expression)
        return Comparison(operator, left, right, left.position)

    def _quantified(
        self, value: Expression, operator: str, node: exp.Expr
    ) -> Expression:
        """Read ``ANY (SELECT ...)``."""
        if not isinstance(node.this, exp.Query):
            raise refuse(rules.ANY_ALL, self._places.position)
        word = self._quantifier()
        query = self.bracketed(node.this)
        return Quantified(value.position, value, operator, word, query)

    def _is_quantifier(self) -> bool:
        return self._places.word() in get_args(QuantifierWord)

    def _quantifier(self) -> QuantifierWord:
        word: QuantifierWord = next(
            w for w in get_args(QuantifierWord) if w == self._places.word()
        )
        self._places.take(word)
        return word

    def _arithmetic(self, node: exp.Expr) -> Expression:
        self.only(node, "this", "expression", "typed", "safe")
        operator = _ARITHMETIC[type(node)]
        left = self.operand(node.this)
        self._places.take_sign(operator)
        right = self.operand(node.expression)
        return Arithmetic(operator, left, right, left.position)

    def _between(self, node: exp.Expr, *, negated: bool = False) -> Expression:
        self.only(node, "this", "low", "high", "symmetric")
        value = self.operand(node.this)
        self._infix(negated, "BETWEEN")
        symmetric = self._places.accept("SYMMETRIC")
        low = self.operand(node.args["low"])
        self._places.take("AND")
        high = self.operand(node.args["high"])
        if symmetric:
            return SymmetricBetween(value.position, value, low, high, negated)
        return Between(value, low, high, negated=negated, position=value.position)

    def _infix(self, negated: bool, *words: str) -> None:  # noqa: FBT001 - one of two spellings
        self._places.take(*(("NOT",) if negated else ()), *words)

    def _in(self, node: exp.Expr, *, negated: bool = False) -> Expression:
        if not arguments(node) - {"this"}:
            raise refuse(rules.EMPTY_LIST, self._places.position)
        if arguments(node) & {"field", "unnest"}:
            raise refuse(rules.IN_COLUMN, self._places.position)
        self.only(node, "this", "expressions", "query")
        if isinstance(node.this, exp.Tuple):
            return self._row_in(node, negated=negated)
        value = self.operand(node.this)
        self._infix(negated, "IN")
        within = node.args.get("query")
        if within is not None:
            query = self.unwrapped(within)
            return InQuery(value, query, negated=negated, position=value.position)
        self._places.take_sign("(")
        items = self.listed(node.expressions)
        self._places.take_sign(")")
        return InList(value, items, negated=negated, position=value.position)

    def _row_in(self, node: exp.Expr, *, negated: bool) -> Expression:
        """Read ``(a, b) IN ((1, 2), ...)`` or ``(a, b) IN (SELECT ...)``."""
        position = self._places.position
        values = self._row(node.this)
        self._infix(negated, "IN")
        within = node.args.get("query")
        if within is not None:
            return RowInQuery(position, values, self.unwrapped(within), negated)
        rows: list[tuple[Expression, ...]] = []
        self._places.take_sign("(")
        for item in node.expressions:
            if rows:
                self._places.take_sign(",")
            if not isinstance(item, exp.Tuple):
                raise refuse(rules.TUPLE, self._places.position)
            rows.append(self._row(item))
        self._places.take_sign(")")
        return RowIn(position, values, tuple(rows), negated)

    def _in_brackets(self, nodes: list[exp.Expr]) -> tuple[Expression, ...]:
        self._places.take_sign("(")
        row = self.listed(nodes)
        self._places.take_sign(")")
        return row

    def _overlaps(self, node: exp.Expr) -> Expression:
        """Read ``(a, b) OVERLAPS (c, d)``."""
        self.only(node, "this", "expression")
        position = self._places.position
        for side in (node.this, node.expression):
            if not isinstance(side, exp.Tuple) or len(side.expressions) != 2:  # noqa: PLR2004 - a start and an end
                raise refuse(rules.TUPLE, position, hint=_OVERLAPS)
        one = self._row(node.this)
        self._places.take("OVERLAPS")
        return Overlaps(position, one, self._row(node.expression))

    def _row(self, node: exp.Expr) -> tuple[Expression, ...]:
        self.only(node, "expressions")
        return self._in_brackets(node.expressions)

    def bracketed(self, node: exp.Expr, *, first: bool = False) -> Select | UnionAll:
        """Read a query and the brackets around it, of which there may be several.

        Args:
            node: The query.
            first: Whether it may be one of a first row.
        """
        self._places.take_sign("(")
        self._deepen()
        if isinstance(node, exp.Subquery):
            query = self.unwrapped(node)
        elif first and isinstance(node, exp.Select) and node.args.get("limit"):
            query = self.first_row(node)
        else:
            query = self.query(node)
        self._depth -= 1
        self._places.take_sign(")")
        return query

    def unwrapped(self, node: exp.Expr) -> Select | UnionAll:
        """Read what sqlglot has as a query in brackets."""
        self.only(node, "this")
        return self.bracketed(node.this)

    def _scalar(self, node: exp.Expr) -> Expression:
        position = self._places.position
        self.only(node, "this")
        return ScalarQuery(position, self.bracketed(node.this, first=True))

    def _exists(self, node: exp.Expr) -> Expression:
        self.only(node, "this")
        position = self._places.take("EXISTS")
        return Exists(self.bracketed(node.this), position)

    def _is(self, node: exp.Expr, *, negated: bool = False) -> Expression:
        self.only(node, "this", "expression")
        value = self.operand(node.this)
        self._places.take("IS", *(("NOT",) if negated else ()))
        word, position = self._places.word(), value.position
        if word == "NULL" and isinstance(node.expression, exp.Null):
            self._places.take("NULL")
            return IsNull(value, negated=negated, position=position)
        if word not in _TRUTHS or not isinstance(node.expression, _TRUTH_NODES):
            raise refuse(rules.IS_TRUE, self._places.position)
        self._places.take(word)
        return IsTruth(position, value, _TRUTHS[word], negated)

    def _is_distinct(self, node: exp.Expr) -> Expression:
        self.only(node, "this", "expression")
        negated = isinstance(node, exp.NullSafeEQ)
        left = self.operand(node.this)
        self._places.take("IS", *(("NOT",) if negated else ()), "DISTINCT", "FROM")
        right = self.operand(node.expression)
        return IsDistinct(left.position, left, right, negated)

    def _like(self, node: exp.Expr, *, negated: bool = False) -> Expression:
        """Read ``value [NOT] LIKE pattern [ESCAPE sign]``, ILIKE, ``value ~ regex``."""
        inner = node.this if isinstance(node, exp.Escape) else node
        if type(inner) not in _PATTERNS:
            raise self.refusal(inner)
        self.only(inner, "this", "expression", "negate")
        negated = negated or bool(inner.args.get("negate"))
        value = self.operand(inner.this)
        word = self._pattern_word(_PATTERNS[type(inner)], negated=negated)
        if isinstance(inner.expression, exp.Any | exp.All):
            return self._like_each(value, word, inner.expression, negated=negated)
        pattern = self.operand(inner.expression)
        escape = None
        if inner is not node:
            self.only(node, "this", "expression")
            self._places.take("ESCAPE")
            escape = self.operand(node.expression)
        if word == "LIKE" and escape is None:
            return Like(value, pattern, negated=negated, position=value.position)
        return OtherLike(value.position, value, pattern, word, escape, negated)

    def _like_each(
        self, value: Expression, word: PatternWord, node: exp.Expr, *, negated: bool
    ) -> Expression:
        """Read ``ANY ('a%', 'b%')`` behind LIKE; NOT before it has two meanings."""
        position, listed = self._places.position, node.this
        if negated or not isinstance(listed, exp.Tuple | exp.Paren):
            hint = "write code LIKE 'I2%' OR code LIKE 'I50%', or NOT (...) of it"
            raise refuse(rules.ANY_ALL, position, hint=hint)
        items = listed.expressions if isinstance(listed, exp.Tuple) else [listed.this]
        quantifier, patterns = self._quantifier(), self._in_brackets(items)
        return LikeEach(value.position, value, patterns, word, quantifier)

    def _pattern_word(
        self, words: tuple[PatternWord, ...], *, negated: bool
    ) -> PatternWord:
        for word in words:
            sign = f"!{word}" if negated else word
            if self._places.is_sign(sign):
                self._places.take_sign(sign)
                return word
        if negated:
            self._places.take("NOT")
        found = next((word for word in words if word == self._places.word()), words[0])
        self._places.take(found, *(("TO",) if found == "SIMILAR" else ()))
        return found

    def _not(self, node: exp.Expr) -> Expression:
        self.only(node, "this")
        if self._places.accept("NOT"):
            item = self.read(node.this)
            return Not(item, item.position)
        return self._negated(node.this)

    def _negated(self, node: exp.Expr) -> Expression:
        """Read a predicate that has NOT inside it: ``a NOT IN (1)``."""
        readers: Mapping[type[exp.Expr], Callable[..., Expression]] = {
            exp.Between: self._between,
            exp.In: self._in,
            exp.Is: self._is,
            exp.Escape: self._like,
            **dict.fromkeys(_PATTERNS, self._like),
        }
        read = readers.get(type(node))
        if read is None:
            raise self.refusal(node)
        return read(node, negated=True)

    def _chain(self, node: exp.Expr) -> Expression:
        kind, parts = type(node), [node]
        while type(parts[0]) is kind:  # a left-deep spine, as long as the text
            self.only(parts[0], "this", "expression")
            parts[:1] = [parts[0].this, parts[0].expression]
        items: list[Expression] = []
        for part in parts:
            if items:
                self._places.take("AND" if kind is exp.And else "OR")
            items.append(self.read(part))
        return (And if kind is exp.And else Or)(tuple(items), items[0].position)

    def _case(self, node: exp.Expr) -> Expression:
        self.only(node, "this", "ifs", "default")
        position = self._places.take("CASE")
        operand, default = node.args.get("this"), node.args.get("default")
        read_operand = None if operand is None else self.read(operand)
        branches = tuple(self._branch(branch) for branch in node.args["ifs"])
        otherwise = None
        if default is not None:
            self._places.take("ELSE")
            otherwise = self.read(default)
        self._places.take("END")
        return Case(read_operand, branches, otherwise, position)

    def _branch(self, node: exp.Expr) -> CaseBranch:
        self.only(node, "this", "true")
        self._places.take("WHEN")
        condition = self.read(node.this)
        self._places.take("THEN")
        return CaseBranch(condition, self.read(node.args["true"]))


def _is_cast_to_text(item: Expression) -> bool:
    """Whether an item of a list is cast to text."""
    if not isinstance(item, Cast):
        return False
    return cast_target(item.type, item.position).type is ColumnType.TEXT
