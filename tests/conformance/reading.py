"""Text of the language to the evaluator's tree, so that a row of the suite is one text.

Only the parsing is shared with what is tested; what a text means is worked out twice.
Strings that look like a day or a moment are read as one: the suite keeps such text out
of text columns.
"""

import re
from datetime import date, datetime
from decimal import Decimal

from query_lang.reading.parse import parse_query
from query_lang.syntax import nodes as syntax
from tests.semantics.meaning import tree

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,6})?")


def tree_of(sql):
    """Return the evaluator's tree of a text."""
    parsed = parse_query(sql)
    ctes = tuple((c.name, _query(c.query)) for c in parsed.common_tables)
    return tree.Query(_select(parsed.select), ctes)


def _query(node):
    if isinstance(node, syntax.UnionAll):
        return tree.UnionAll(tuple(_select(part) for part in node.parts))
    return _select(node)


def _select(node):
    return tree.Select(
        tuple(tree.Item(_read(i.expression), i.alias) for i in node.items),
        _source(node.source),
        tuple(_join(join) for join in node.joins),
        _read(node.where),
        tuple(_key(key) for key in node.group_by),
        _read(node.having),
        _order(node.order_by),
        node.limit,
        node.distinct,
    )


def _source(node):
    if isinstance(node, syntax.DerivedTable):
        return tree.Derived(_query(node.query), node.alias)
    return tree.TableRef(node.name, node.alias)


def _join(node):
    using = node.using[0] if node.using else None
    return tree.Join(node.kind, _source(node.source), _read(node.condition), using)


def _key(node):
    if isinstance(node, syntax.NumberLiteral):
        return int(node.text)
    return _read(node)


def _order(items):
    return tuple(
        tree.OrderItem(_key(i.expression), i.descending, i.nulls_first) for i in items
    )


def _read(node):
    return None if node is None else _READERS[type(node)](node)


def _all(nodes):
    return tuple(_read(node) for node in nodes)


def _number(node):
    value = Decimal(node.text)
    return tree.Lit(int(value) if value == value.to_integral_value() else value)


def _string(node):
    return tree.Lit(_moment(node.text))


def _moment(text):
    if _DAY.fullmatch(text):
        return date.fromisoformat(text)
    return datetime.fromisoformat(text) if _MOMENT.fullmatch(text) else text


def _typed(node):
    moment = _moment(node.text)
    if node.type == "timestamp" and not isinstance(moment, datetime):
        moment = datetime.combine(moment, datetime.min.time())
    return tree.Lit(moment, typed=True)


def _arithmetic(node):
    by_nullif = getattr(node.right, "name", None) == "nullif"
    if node.operator == "/" and by_nullif and node.right.arguments[1].text == "0":
        return tree.Divide(_read(node.left), _read(node.right.arguments[0]))
    return tree.Arith(node.operator, _read(node.left), _read(node.right))


def _case(node):
    otherwise = node.otherwise
    if isinstance(otherwise, syntax.NullLiteral):
        otherwise = None
    branches = tuple((_read(b.condition), _read(b.result)) for b in node.branches)
    return tree.Case(_read(node.operand), branches, _read(otherwise))


def _call(node):
    if node.name == "coalesce":
        return tree.Coalesce(_all(node.arguments))
    return tree.Call(node.name, tuple(_argument(a) for a in node.arguments))


def _argument(node):
    if isinstance(node, syntax.StringLiteral) and not _DAY.fullmatch(node.text):
        return node.text
    if isinstance(node, syntax.NumberLiteral):
        return int(node.text)
    return _read(node)


def _aggregate(node):
    if node.name in {"quantile", "median"}:
        return _quantile(node)
    argument = _read(node.arguments[0])
    return tree.Agg(node.name, argument, node.distinct, _order(node.order_by))


def _quantile(node):
    argument, *rest = node.arguments
    fraction = Decimal(rest[0].text) if rest else None
    bins = int(rest[1].text) if len(rest) > 1 else None
    return tree.Agg(node.name, _read(argument), fraction=fraction, bins=bins)


def _window(node):
    frame = node.frame
    read = None if frame is None else tree.Frame(_edge(frame.start), _edge(frame.end))
    keys, order = _all(node.partition_by), _order(node.order_by)
    return tree.Window(_read(node.function), keys, order, read)


def _edge(bound):
    if bound.edge == "unbounded":
        return None
    rows = bound.rows or 0
    return rows if bound.following else -rows


_READERS = {
    syntax.Name: lambda n: tree.Col(n.name, n.qualifier),
    syntax.NumberLiteral: _number,
    syntax.StringLiteral: _string,
    syntax.TypedLiteral: _typed,
    syntax.BooleanLiteral: lambda n: tree.Lit(n.value),
    syntax.Comparison: lambda n: tree.Compare(
        n.operator, _read(n.left), _read(n.right)
    ),
    syntax.Between: lambda n: tree.Between(
        _read(n.value), _read(n.low), _read(n.high), n.negated
    ),
    syntax.InList: lambda n: tree.InList(_read(n.value), _all(n.items), n.negated),
    syntax.IsNull: lambda n: tree.IsNull(_read(n.value), n.negated),
    syntax.Like: lambda n: tree.Like(_read(n.value), n.pattern.text, n.negated),
    syntax.Not: lambda n: tree.Not(_read(n.item)),
    syntax.And: lambda n: tree.And(_all(n.items)),
    syntax.Or: lambda n: tree.Or(_all(n.items)),
    syntax.Arithmetic: _arithmetic,
    syntax.Negative: lambda n: tree.Minus(_read(n.value)),
    syntax.Case: _case,
    syntax.FunctionCall: _call,
    syntax.Extract: lambda n: tree.Extract(n.part, _read(n.value)),
    syntax.DateOfTimestamp: lambda n: tree.DateOf(_read(n.value)),
    syntax.CurrentDate: lambda _: tree.Today(),
    syntax.CountRows: lambda _: tree.Agg("count"),
    syntax.AggregateCall: _aggregate,
    syntax.WindowCall: _window,
    syntax.InQuery: lambda n: tree.InQuery(_read(n.value), _query(n.query), n.negated),
    syntax.Exists: lambda n: tree.Exists(_query(n.query)),
    syntax.Star: lambda _: tree.Star(),
}
