"""Calls: functions, aggregates, windows, and the forms with words in brackets."""

from collections.abc import Mapping
from typing import get_args

from sqlglot import exp

from query_lang.reading.expressions import ExpressionReader, arguments
from query_lang.reading.places import Places
from query_lang.reading.sqlglot_tree import PostfixCast
from query_lang.syntax import rules
from query_lang.syntax.functions import (
    AGGREGATES,
    FORMS,
    FORMS_OF_SEQUENCES,
    FUNCTIONS,
    ORDERED,
    OTHER_FORMS,
    OTHERS_OF_SEQUENCES,
    SEQUENCE_FUNCTIONS,
    WINDOW_ONLY,
    WITHIN_GROUP,
    Form,
    instead_of,
)
from query_lang.syntax.idioms import (
    ArrayElement,
    Filtered,
    JoinedTexts,
    OtherCall,
    QuantileAt,
    WithinGroup,
)
from query_lang.syntax.nodes import (
    AggregateCall,
    Cast,
    CastForm,
    CastType,
    CountRows,
    CurrentDate,
    DatePart,
    Expression,
    Extract,
    FunctionCall,
    Idiom,
    Interval,
    LiteralType,
    NumberLiteral,
    OrderItem,
    Position,
    StringLiteral,
    TypedLiteral,
)
from query_lang.syntax.refusals import refuse
from query_lang.syntax.tokens import TokenKind
from query_lang.syntax.type_names import MORE_WORDS, NO_ZONES, cast_target

_TYPED: Mapping[str, LiteralType] = {
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "DATETIME": "timestamp",
}
_ZONED = frozenset(("TIMESTAMP", "TIMESTAMPTZ"))  # the first with WITH TIME ZONE
_PLAIN_TIME = "write TIMESTAMP '2024-01-31 08:00:00', the time as the column has it"
_CAST_FORMS: Mapping[str, CastForm] = {
    "CAST": "cast",
    "TRY_CAST": "try_cast",
    "SAFE_CAST": "safe_cast",
}
_PARTS: Mapping[str, DatePart] = {part.upper(): part for part in get_args(DatePart)}
_MAX_DIGITS = 18  # of a number of rows: within 64 bits
_Call = AggregateCall | CountRows | FunctionCall | Idiom


_COUNTED_FROM = (
    "a number alone counts from 0 or from 1: write ARRAY_AGG(x ORDER BY y)[OFFSET(0)], "
    "or (ARRAY_AGG(x ORDER BY y))[1]"
)
_FIRST_OF_ORDER = "the first of an order is FIRST(drug ORDER BY started)"
_FIRST_OF_SOME = (
    "the first of some rows is FIRST(drug ORDER BY started) FILTER (WHERE days > 3)"
)


def _is_array(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.upper() == "ARRAY_AGG"


_PAIRS = (
    "count pairs in a derived table: SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, "
    "ward FROM encounters) AS pairs"
)


class FunctionReader(ExpressionReader):
    """Reads whatever has the shape of a call."""

    def __init__(self, places: Places, *, sequences: bool = False) -> None:
        super().__init__(places)
        self._forms = FORMS_OF_SEQUENCES if sequences else FORMS
        self._others = OTHERS_OF_SEQUENCES if sequences else OTHER_FORMS
        self._readers.update(
            {
                exp.Anonymous: self._call,
                exp.Filter: self._filtered,
                exp.WithinGroup: self._within_group,
                exp.Bracket: self._element,
                exp.Cast: self._cast,
                exp.TryCast: self._cast,
                PostfixCast: self._cast,
                exp.Extract: self._extract,
                exp.CurrentDate: self._current_date,
                exp.CurrentTime: self._other_word,
                exp.CurrentTimestamp: self._word_call,
                exp.Localtimestamp: self._word_call,
                exp.Interval: self._interval,
                exp.CurrentUser: self._other_word,
                exp.Substring: self._substring,
                exp.Trim: self._trim,
            }
        )

    def _call(self, node: exp.Expr) -> Expression:
        word = self._places.word()
        if word in WINDOW_ONLY:
            raise refuse(rules.WINDOW_NEEDED, self._places.position)
        return self._called(node)

    def _called(self, node: exp.Expr) -> _Call:
        self.only(node, "this", "expressions")
        name, position = self._places.word(), self._places.position
        if str(node.this).upper() != name:  # a quoted name, or text that was dropped
            raise self._places.unread()
        if name == "STRING_AGG" and (texts := _distinct_texts(node)) is not None:
            return self._joined_texts(texts, node.expressions[0], position)
        if name not in self._forms and name not in self._others:
            rule, hint = instead_of(name, self._forms)
            raise refuse(rule, position, hint=hint)
        self._places.take(name)
        self._places.take_sign("(")
        if name not in self._forms:
            call: _Call = self._other_call(name, node.expressions, position)
        elif name in AGGREGATES:
            call = self._aggregate(name, node.expressions, position)
        else:
            call = self._function(name, node.expressions, position)
        self._places.take_sign(")")
        return call

    def _joined_texts(
        self, texts: exp.Distinct, whole: exp.Expr, position: Position
    ) -> JoinedTexts:
        self.only(texts, "expressions")
        self._places.take("STRING_AGG")
        self._places.take_sign("(")
        self._places.take("DISTINCT")
        value, separator = self._plain(texts.expressions)
        order: tuple[OrderItem, ...] = ()
        if isinstance(whole, exp.Order):
            self.only(whole, "this", "expressions")
            order = self.order(whole)
        self._places.take_sign(")")
        return JoinedTexts(position, value, separator, order)

    def _other_call(
        self, name: str, nodes: list[exp.Expr], position: Position
    ) -> OtherCall:
        _check_number(self._others[name], len(nodes), position)
        if name == "POSITION":
            return OtherCall(position, name, self._position(nodes))
        if name == "COUNT_BIG" and isinstance(nodes[0], exp.Star):
            return OtherCall(position, name, (self.star(nodes[0]),))
        return OtherCall(position, name, self._plain(nodes))

    def _position(self, nodes: list[exp.Expr]) -> tuple[Expression, ...]:
        """Read ``'.' IN code`` between the brackets of POSITION."""
        within = nodes[0].args.get("field")
        if len(nodes) > 1 or within is None:
            hint = f"write {self._others['POSITION'].shape}"
            raise refuse(rules.ARGUMENTS, self._places.position, hint=hint)
        part = self.operand(nodes[0].this)
        self._places.take("IN")
        return part, self.operand(within)

    def _substring(self, node: exp.Expr) -> Expression:
        """Read ``SUBSTRING(x, 1, 3)`` or ``SUBSTRING(x FROM 1 FOR 3)``."""
        self.only(node, "this", "start", "length")
        position, form = self._places.position, self._forms.get("SUBSTRING")
        if form is None:
            rule, hint = instead_of("SUBSTRING", self._forms)
            raise refuse(rule, position, hint=hint)
        start, length = node.args.get("start"), node.args.get("length")
        if start is None:
            raise refuse(rules.ARGUMENTS, position, hint=f"write {form.shape}")
        self._places.take("SUBSTRING")
        self._places.take_sign("(")
        arguments = [self.operand(node.this)]
        for word, part in (("FROM", start), ("FOR", length)):
            if part is None:
                break
            if not self._places.accept(word):
                self._places.take_sign(",")
            arguments.append(self.operand(part))
        self._places.take_sign(")")
        return FunctionCall("substring", tuple(arguments), position)

    def _trim(self, node: exp.Expr) -> Expression:
        position = self._places.position
        if "TRIM" not in self._forms or arguments(node) - {"this"}:
            hint = "write TRIM(x), LTRIM(x) or RTRIM(x), which cut blanks; other "
            hint += "characters: REPLACE(x, '-', '')"
            raise refuse(rules.FUNCTION, position, hint=hint)
        self._places.take("TRIM")
        self._places.take_sign("(")
        value = self.read(node.this)
        self._places.take_sign(")")
        return FunctionCall("trim", (value,), position)

    def _filtered(self, node: exp.Expr) -> Filtered:
        self.only(node, "this", "expression")
        aggregate = self._aggregate_alone(node.this)
        position = self._places.take("FILTER")
        self._places.take_sign("(")
        self._places.take("WHERE")
        condition = self.read(node.expression.this)
        self._places.take_sign(")")
        if isinstance(aggregate, FunctionCall):
            raise refuse(rules.AGGREGATE_FILTER, position)
        return Filtered(aggregate.position, aggregate, condition)

    def _aggregate_alone(self, node: exp.Expr) -> _Call:
        if isinstance(node, exp.WithinGroup):
            return self._within_group(node)
        if not isinstance(node, exp.Anonymous):
            raise self.refusal(node)
        return self._called(node)

    def _within_group(self, node: exp.Expr) -> WithinGroup:
        self.only(node, "this", "expression")
        called, name = node.this, self._places.word()
        position = self._places.position
        if not isinstance(called, exp.Anonymous) or name not in WITHIN_GROUP:
            rule, hint = instead_of(name, self._forms)
            if rule is not rules.AGGREGATE:
                rule, hint = rules.WITHIN_GROUP, None
            raise refuse(rule, position, hint=hint)
        self.only(called, "this", "expressions")
        self._places.take(name)
        self._places.take_sign("(")
        arguments = self._plain(called.expressions)
        self._places.take_sign(")")
        self._places.take("WITHIN", "GROUP")
        self._places.take_sign("(")
        order = self.order(node.expression)
        self._places.take_sign(")")
        return WithinGroup(position, name, arguments, order)

    def _element(self, node: exp.Expr) -> Expression:
        """Read ``APPROX_QUANTILES(x, 4)[OFFSET(1)]``, or the first of ARRAY_AGG."""
        self.only(node, "this", "expressions")
        called = node.this.this if isinstance(node.this, exp.Paren) else node.this
        if isinstance(called, exp.Filter) and _is_array(called.this):
            position = self._places.position
            raise refuse(rules.AGGREGATE_FILTER, position, hint=_FIRST_OF_SOME)
        if _is_array(called):
            return self._array_element(node, called)
        return self._quantile_at(node)

    def _array_element(self, node: exp.Expr, called: exp.Expr) -> ArrayElement:
        position, in_brackets = self._places.position, called is not node.this
        listed = called.expressions[0] if len(called.expressions) == 1 else called
        limited = listed if isinstance(listed, exp.Limit) else None
        ordered = listed if limited is None else limited.this
        if not isinstance(ordered, exp.Order):
            raise refuse(rules.AGGREGATE, position, hint=_FIRST_OF_ORDER)
        if in_brackets:
            self._places.take_sign("(")
        self._places.take("ARRAY_AGG")
        self._places.take_sign("(")
        (value,) = self._plain([ordered.this])
        order, limit = self.order(ordered), None
        if limited is not None:
            self.only(limited, "this", "expression")
            self._places.take("LIMIT")
            limit = self.rows()
        self._places.take_sign(")")
        if in_brackets:
            self._places.take_sign(")")
        word, at = self._at()
        if not (word or in_brackets):
            raise refuse(rules.AGGREGATE, position, hint=_COUNTED_FROM)
        return ArrayElement(position, value, order, limit, word, at)

    def _at(self) -> tuple[str, int]:
        """Read ``[OFFSET(0)]`` or ``[1]``."""
        self._places.take_sign("[")
        word = self._places.word()
        if word:
            self._places.take(word)
            self._places.take_sign("(")
        at = self.rows()
        if word:
            self._places.take_sign(")")
        self._places.take_sign("]")
        return word, at

    def _quantile_at(self, node: exp.Expr) -> QuantileAt:
        called, position = node.this, self._places.position
        whole = isinstance(called, exp.Anonymous) and len(called.expressions) == 2  # noqa: PLR2004 - a value and a number
        if not whole or self._places.word() != "APPROX_QUANTILES":
            name = self._places.word()
            rule, hint = instead_of(name, self._forms)
            if hint is None or name == "APPROX_QUANTILES":
                rule, hint = rules.QUANTILE, instead_of("APPROX_QUANTILES")[1]
            raise refuse(rule, position, hint=hint)
        self._places.take("APPROX_QUANTILES")
        self._places.take_sign("(")
        (value,) = self._plain(called.expressions[:1])
        self._places.take_sign(",")
        parts = self.rows()
        self._places.take_sign(")")
        return QuantileAt(position, value, parts, *self._at())

    def _check_form(self, name: str, given: int, position: Position) -> None:
        _check_number(self._forms[name], given, position)

    def _function(
        self, name: str, nodes: list[exp.Expr], position: Position
    ) -> FunctionCall:
        self._check_form(name, len(nodes), position)
        own = FUNCTIONS.get(name)
        found = SEQUENCE_FUNCTIONS[name] if own is None else own
        return FunctionCall(found, self._plain(nodes), position)

    def _plain(self, nodes: list[exp.Expr]) -> tuple[Expression, ...]:
        for node in nodes:
            if isinstance(node, exp.Order):
                raise refuse(rules.ORDER_IN_CALL, self._places.position)
            if isinstance(node, exp.Distinct):
                raise refuse(rules.AGGREGATE_DISTINCT, self._places.position)
        return self.listed(nodes)

    def _aggregate(
        self, name: str, nodes: list[exp.Expr], position: Position
    ) -> AggregateCall | CountRows:
        if name in ORDERED:
            return self._ordered_aggregate(name, nodes, position)
        if name == "COUNT" and len(nodes) == 1:
            return self._count(nodes[0], position)
        self._check_form(name, len(nodes), position)
        plain = self._plain(nodes)
        return AggregateCall(AGGREGATES[name], False, plain, (), position)  # noqa: FBT003 - fields in their order

    def _count(self, node: exp.Expr, position: Position) -> AggregateCall | CountRows:
        if isinstance(node, exp.Star):
            self.star(node)
            return CountRows(position)
        distinct = isinstance(node, exp.Distinct)
        counted = [node]
        if distinct:
            self.only(node, "expressions")
            counted = node.expressions
            if not counted:
                raise refuse(rules.COUNT_ARGUMENTS, position)
            if len(counted) > 1 or isinstance(counted[0], exp.Tuple):
                raise refuse(rules.COUNT_ARGUMENTS, position, hint=_PAIRS)
            self._places.take("DISTINCT")
        read = self._plain(counted)
        return AggregateCall("count", distinct, read, (), position)

    def _ordered_aggregate(
        self, name: str, nodes: list[exp.Expr], position: Position
    ) -> AggregateCall:
        if len(nodes) != 1 or not isinstance(nodes[0], exp.Order):
            self._plain(nodes)
            hint = f"write {FORMS[name].shape}; over a window {name}_VALUE"
            raise refuse(rules.FIRST_LAST_ORDER, position, hint=hint)
        self.only(nodes[0], "this", "expressions")
        value = self._plain([nodes[0].this])
        order = self.order(nodes[0])
        return AggregateCall(AGGREGATES[name], False, value, order, position)  # noqa: FBT003 - fields in their order

    def order(self, node: exp.Expr) -> tuple[OrderItem, ...]:
        """Read ``ORDER BY ...``."""
        self._places.take("ORDER", "BY")
        items: list[OrderItem] = []
        for item in node.expressions:
            if items:
                self._places.take_sign(",")
            items.append(self._order_item(item))
        return tuple(items)

    def _order_item(self, node: exp.Expr) -> OrderItem:
        self.only(node, "this", "desc", "nulls_first")
        expression = self.read(node.this)
        descending = bool(node.args.get("desc"))
        if descending:
            self._places.take("DESC")
        else:
            self._places.accept("ASC")
        first = self._nulls_first(bool(node.args.get("nulls_first")))
        return OrderItem(expression, descending, first, expression.position)

    def _nulls_first(self, first: bool) -> bool | None:  # noqa: FBT001 - sqlglot's own flag
        if not self._places.accept("NULLS"):
            return None
        self._places.take("FIRST" if first else "LAST")
        return first

    def rows(self) -> int:
        """Read a plain number of rows."""
        position = self._places.position
        if not self._places.is_kind(TokenKind.NUMBER):
            raise refuse(rules.ROW_NUMBERS, position)
        text = self._places.take_kind(TokenKind.NUMBER).text
        if not text.isdecimal() or len(text) > _MAX_DIGITS:
            raise refuse(rules.ROW_NUMBERS, position)
        return int(text)

    def _cast(self, node: exp.Expr) -> Expression:
        position, word = self._places.position, self._places.word()
        if arguments(node) - {"this", "to", "safe", "requires_string", "_type"}:
            raise refuse(rules.CAST, position)
        if isinstance(node, PostfixCast):
            value = self.operand(node.this)
            self._places.take_sign("::")
            return Cast(value, self._cast_type(), "::", value.position)
        if word in _TYPED and self._places.is_kind(TokenKind.STRING, ahead=1):
            return self._typed_literal(node, word)
        form = _CAST_FORMS.get(word)
        if form is None and word in _ZONED:
            raise refuse(rules.CAST, position, detail=NO_ZONES, hint=_PLAIN_TIME)
        if form is None:
            raise refuse(rules.CAST, position)
        self._places.take(word)
        self._places.take_sign("(")
        value = self.read(node.this)
        self._places.take("AS")
        read = self._cast_type()
        self._places.take_sign(")")
        return Cast(value, read, form, position)

    def _cast_type(self) -> CastType:
        """Read the name of a type and the sizes in its brackets."""
        position = self._places.position
        words = [self._places.take_name().text.lower()]
        for more in MORE_WORDS.get(words[0], ()):
            capitals = tuple(word.upper() for word in more)
            if capitals == tuple(self._places.word(i) for i in range(len(more))):
                self._places.take(*capitals)
                words += more
                break
        sizes: list[int] = []
        if self._places.is_sign("("):
            self._places.take_sign("(")
            sizes.append(self.rows())
            while self._places.is_sign(","):
                self._places.take_sign(",")
                sizes.append(self.rows())
            self._places.take_sign(")")
        written = CastType(" ".join(words), tuple(sizes))
        cast_target(written, position)
        return written

    def _typed_literal(self, node: exp.Expr, word: str) -> Expression:
        self.only(node, "this", "to")
        position = self._places.take(word)
        text = self._places.take_kind(TokenKind.STRING).text
        return TypedLiteral(_TYPED[word], text, position)

    def _extract(self, node: exp.Expr) -> Expression:
        self.only(node, "this", "expression")
        position = self._places.take("EXTRACT")
        self._places.take_sign("(")
        is_text = self._places.is_kind(TokenKind.STRING)  # EXTRACT('year' FROM d)
        named = str(node.this.this) if is_text else self._places.word()
        part = _PARTS.get(named if named.isupper() else named.upper() * named.islower())
        if part is None:
            raise refuse(rules.EXTRACT_PART, self._places.position)
        if is_text:
            self._places.take_kind(TokenKind.STRING)
        else:
            self._places.take(part.upper())
        self._places.take("FROM")
        value = self.read(node.expression)
        self._places.take_sign(")")
        return Extract(part, value, position)

    def _other_word(self, _: exp.Expr) -> Expression:
        rule, hint = instead_of(self._places.word(), self._forms)
        raise refuse(rule, self._places.position, hint=hint)

    def _word_call(self, node: exp.Expr) -> Expression:
        """Read CURRENT_TIMESTAMP: a function without brackets."""
        self.only(node)
        name = self._places.word()
        return FunctionCall(FUNCTIONS[name], (), self._places.take(name))

    def _interval(self, node: exp.Expr) -> Expression:
        position = self._places.take("INTERVAL")
        if node.args.get("fraction_in_string"):
            raise refuse(rules.INTERVAL, position)
        self.only(node, "this", "unit")
        value: Expression
        if self._places.is_kind(TokenKind.STRING):
            token = self._places.take_kind(TokenKind.STRING)
            value = StringLiteral(token.text, token.position)
        elif isinstance(node.this, exp.Literal):
            sign = self._places.take_sign("-").text if self._places.is_sign("-") else ""
            token = self._places.take_kind(TokenKind.NUMBER)
            value = NumberLiteral(sign + token.text, token.position)
        elif node.this is None:
            raise refuse(rules.INTERVAL, position)
        else:
            value = self.read(node.this)
        unit, due = node.args.get("unit"), self._places.word()
        if unit is None or not isinstance(unit, exp.Var) or unit.this.upper() != due:
            return Interval(value, None, position)
        self._places.take(due)
        return Interval(value, due.lower(), position)

    def _current_date(self, node: exp.Expr) -> Expression:
        self.only(node)
        return CurrentDate(self._places.take("CURRENT_DATE"))


def _check_number(form: Form, given: int, position: Position) -> None:
    if not form.fewest <= given <= form.most:
        raise refuse(rules.ARGUMENTS, position, hint=f"write {form.shape}")


def _distinct_texts(node: exp.Expr) -> exp.Distinct | None:
    """Return what STRING_AGG(DISTINCT x, y) is of, where it is written so."""
    whole = node.expressions[0] if len(node.expressions) == 1 else None
    texts = whole.this if isinstance(whole, exp.Order) else whole
    if not isinstance(texts, exp.Distinct) or len(texts.expressions) != 2:  # noqa: PLR2004 - a value and what stands between
        return None
    return texts
