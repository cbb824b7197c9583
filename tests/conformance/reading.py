"""Text of the language to the evaluator's tree, so that a row of the suite is one text.

Only the parsing is shared with what is tested; what a text means is worked out twice.
Strings that look like a day or a moment are read as one: the suite keeps such text out
of text columns.
"""

import re
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from functools import partial, reduce

from query_lang.reading.parse import read_query
from query_lang.rewriting.literal_casts import with_plain_literals
from query_lang.syntax import idioms
from query_lang.syntax import nodes as syntax
from query_lang.syntax.idioms import FirstRowJoin
from query_lang.syntax.type_names import cast_target
from tests.conformance import reading_dates, reading_texts
from tests.semantics.meaning import tree

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,6})?")


def tree_of(sql):
    """Return the evaluator's tree of a text."""
    parsed = with_plain_literals(read_query(sql))
    ctes = tuple((c.name, _query(c.query)) for c in parsed.common_tables)
    return tree.Query(_select(parsed.select), ctes)


def _query(node):
    if isinstance(node, idioms.SetOperation):
        return _set_operation(node)
    if isinstance(node, syntax.UnionAll):
        return tree.UnionAll(tuple(_select(part) for part in node.parts))
    return _select(node)


def _set_operation(node):
    """Return the different rows of a set, looked up by IN where it is no union."""
    left, right = map(_query, node.sides)
    word = node.word
    if word == "UNION":
        sides = (left, right)
        parts = [s.parts if isinstance(s, tree.UnionAll) else (s,) for s in sides]
        left = tree.UnionAll(tuple(part for each in parts for part in each))
    first = left.parts[0] if isinstance(left, tree.UnionAll) else left
    names = [i.alias or i.expression.name for i in first.items]
    items = tuple(tree.Item(tree.Col(name, "s"), name) for name in names)
    where = None
    if word != "UNION":
        where = tree.InQuery(items[0].expression, right, word == "EXCEPT")
    return tree.Select(items, tree.Derived(left, "s"), where=where, distinct=True)


def _select(node):
    """Return a SELECT; what QUALIFY and DISTINCT ON keep is numbered below it."""
    if not isinstance(node, idioms.WrittenSelect):
        return _plain_select(node)
    if node.windows:
        node = _with_own_windows(node)
    if node.distinct_on:
        one = syntax.NumberLiteral("1", node.position)
        number = syntax.FunctionCall("row_number", (), node.position)
        order = node.order_by[len(node.distinct_on) :]
        numbers = (node.distinct_on, order, None, node.position)
        window = syntax.WindowCall(number, *numbers)
        node = replace(
            node,
            distinct_on=(),
            order_by=(),
            qualify=syntax.Comparison("=", window, one, node.position),
        )
    if node.qualify is None:
        return _plain_select(node)
    below = _plain_select(node)
    test, windows = _without_windows(_read(node.qualify))
    names = [i.alias or i.expression.name for i in below.items]
    below = replace(
        below,
        items=(
            *(replace(i, alias=n) for i, n in zip(below.items, names, strict=True)),
            *(tree.Item(window, name) for name, window in windows.items()),
        ),
    )
    items = tuple(tree.Item(tree.Col(name)) for name in names)
    return tree.Select(items, tree.Derived(below, "below"), where=test)


def _with_own_windows(node):
    """Return a SELECT whose windows say what WINDOW says of their names."""
    said = {}
    for window in node.windows:
        keys, order, frame = said.get(window.base, ((), (), None))
        own = window.partition_by, window.order_by, window.frame
        said[window.name] = (own[0] or keys, own[1] or order, own[2] or frame)

    def turned(part):
        if isinstance(part, tuple):
            return tuple(turned(item) for item in part)
        if isinstance(part, idioms.NamedWindow):
            keys, order, frame = said[part.base]
            order, frame = part.order_by or order, part.frame or frame
            return syntax.WindowCall(part.function, keys, order, frame, part.position)
        if isinstance(part, syntax.Select) or not hasattr(part, "__dataclass_fields__"):
            return part
        return replace(
            part, **{f: turned(getattr(part, f)) for f in part.__dataclass_fields__}
        )

    return replace(
        node,
        windows=(),
        **{name: turned(getattr(node, name)) for name in ("items", "qualify")},
    )


def _without_windows(node):
    """Return a condition with columns in the place of its windows, and these."""
    found = {}

    def turned(part):
        if isinstance(part, tuple):
            return tuple(turned(item) for item in part)
        if isinstance(part, tree.Window):
            name = f"window_{len(found)}"
            found[name] = part
            return tree.Col(name)
        if not hasattr(part, "__dataclass_fields__"):
            return part
        return replace(
            part, **{f: turned(getattr(part, f)) for f in part.__dataclass_fields__}
        )

    return turned(node), found


def _plain_select(node):
    source, joins = node.source, node.joins
    if joins and getattr(joins[0], "word", "") == "RIGHT":
        first = joins[0]
        tied = (first.condition, first.using, first.position)
        source, joins = (
            first.source,
            (syntax.Join("left", source, *tied), *joins[1:]),
        )
    return tree.Select(
        tuple(tree.Item(_read(i.expression), i.alias) for i in node.items),
        _source(source),
        tuple(_join(join, node.where) for join in joins),
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


def _join(node, where):
    if isinstance(node, FirstRowJoin):
        source = tree.Derived(_plain_select(node.source.query), node.source.alias)
        return tree.Join(node.kind, source, first=True)
    if getattr(node, "word", "") in {",", "CROSS"}:
        name = getattr(node.source, "alias", None) or node.source.name
        parts = where.items if isinstance(where, syntax.And) else (where,)
        ties = tuple(_read(p) for p in parts if _is_tie(p, name))
        return tree.Join("inner", _source(node.source), tree.And(ties))
    using = node.using[0] if node.using else None
    return tree.Join(node.kind, _source(node.source), _read(node.condition), using)


def _is_tie(part, name):
    if not isinstance(part, syntax.Comparison) or part.operator != "=":
        return False
    tables = [getattr(side, "qualifier", None) for side in (part.left, part.right)]
    return name in tables and None not in tables


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


def _comparison(node):
    if isinstance(node.left, syntax.FunctionCall) and node.left.name == "age":
        months, *_ = reading_dates.lengths_of(node.right, _read)
        pair = reading_dates.age(node.left, _read)
        age = reading_dates.months_either_way(*pair)
        return tree.Compare(node.operator, age, tree.Lit(months))
    return tree.Compare(node.operator, _read(node.left), _read(node.right))


def _extract(node):
    return reading_dates.part(node.part, node.value, _read)


def _arithmetic(node):
    if reading_dates.is_interval(node.right) and node.operator in "+-":
        sign = 1 if node.operator == "+" else -1
        return reading_dates.shifted(node.left, node.right, sign, _read)
    if reading_dates.is_interval(node.left):
        return reading_dates.shifted(node.right, node.left, 1, _read)
    left, right = _operand(node.left), node.right
    by_nullif = getattr(right, "name", None) == "nullif"
    if node.operator == "/" and by_nullif and right.arguments[1].text == "0":
        return tree.Divide(left, _operand(right.arguments[0]))
    return tree.Arith(node.operator, left, _operand(right))


def _operand(node):
    """A number that is written with a point is a decimal in arithmetic."""
    if isinstance(node, syntax.NumberLiteral) and "." in node.text:
        return tree.Lit(Decimal(node.text))
    return _read(node)


def _case(node):
    otherwise = node.otherwise
    if isinstance(otherwise, syntax.NullLiteral):
        otherwise = None
    branches = tuple((_read(b.condition), _read(b.result)) for b in node.branches)
    return tree.Case(_read(node.operand), branches, _read(otherwise))


def _other_call(node):  # noqa: C901, PLR0911, PLR0912 - a table of forms
    """Return what a call of another dialect means, worked out again."""
    text = reading_texts.call(node, _argument)
    if text is not None:
        return text
    first, *rest = arguments = _all(node.arguments)
    match node.name:
        case "IF" | "IFF" | "IIF":
            otherwise = rest[1] if len(rest) > 1 else None
            return tree.Case(None, ((first, rest[0]),), otherwise)
        case "IFNULL" | "ISNULL" | "NVL":
            return tree.Coalesce(arguments)
        case "NVL2":
            return tree.Case(None, ((tree.IsNull(first), rest[1]),), rest[0])
        case "DECODE":
            otherwise = rest[-1] if len(rest) % 2 else None
            pairs = tuple(zip(rest[::2], rest[1::2], strict=False))
            return tree.Case(first, pairs, otherwise)
        case "COUNTIF" | "COUNT_IF":
            return tree.Agg("count", where=first)
        case "APPROX_COUNT_DISTINCT" | "COUNT_DISTINCT":
            return tree.Agg("count", first, distinct=True)
        case "EVERY" | "LOGICAL_AND" | "LOGICAL_OR":
            name = "bool_or" if node.name == "LOGICAL_OR" else "bool_and"
            return tree.Agg(name, first)
        case "MEAN" | "AVERAGE":
            return tree.Agg("avg", first)
        case "STDDEV" | "STDEV" | "STDEVP":
            name = "stddev_pop" if node.name == "STDEVP" else "stddev_samp"
            return tree.Agg(name, first)
        case "VARIANCE" | "VAR" | "VARP":
            return tree.Agg("var_pop" if node.name == "VARP" else "var_samp", first)
        case _:  # a quantile
            fraction = Decimal(node.arguments[1].text)
            return tree.Agg("quantile", first, fraction=fraction)


def _within_group(node):
    (order,), fraction = node.order_by, Decimal(node.arguments[0].text)
    fraction = 1 - fraction if order.descending else fraction
    return tree.Agg("quantile", _read(order.expression), fraction=fraction)


def _quantile_at(node):
    first = {"OFFSET": 0, "SAFE_OFFSET": 0, "ORDINAL": 1, "SAFE_ORDINAL": 1}
    fraction = Decimal(node.at - first[node.word]) / node.parts
    return tree.Agg("quantile", _read(node.value), fraction=fraction)


def _is_distinct(node):
    if isinstance(node.right, syntax.NullLiteral):
        return tree.IsNull(_read(node.left), not node.negated)
    return tree.IsDistinct(_read(node.left), _read(node.right), node.negated)


def _row_in(node):
    values = _all(node.values)
    rows = [
        tree.And(tuple(map(partial(tree.Compare, "="), values, _all(row))))
        for row in node.rows
    ]
    found = tree.Or(tuple(rows))
    return tree.Not(found) if node.negated else found


def _symmetric(node):
    value, low, high = _all((node.value, node.low, node.high))
    ways = (tree.Between(value, low, high), tree.Between(value, high, low))
    return tree.Not(tree.Or(ways)) if node.negated else tree.Or(ways)


def _cast(node):
    target = cast_target(node.type, node.position)
    return tree.Cast(_read(node.value), target.type.value, target.scale)


def _call(node):  # noqa: PLR0911 - one return a form
    if node.name == "nullif":
        return tree.NullIf(*_all(node.arguments))
    found = reading_dates.call(node, _read)
    if found is not None:
        return found
    if node.name == "coalesce":
        return tree.Coalesce(_all(node.arguments))
    if node.name == "concat":
        return tree.Call("concat", _all(node.arguments))
    arguments = tuple(_argument(a) for a in node.arguments)
    if node.name == "power":
        base, exponent = arguments
        return reduce(lambda a, b: tree.Arith("*", a, b), [base] * exponent)
    return tree.Call(node.name, arguments)


def _argument(node):
    if isinstance(node, syntax.StringLiteral) and not _DAY.fullmatch(node.text):
        return node.text
    if isinstance(node, syntax.NumberLiteral):
        return int(node.text) if node.text.lstrip("-").isdigit() else _number(node)
    return _read(node)


def _aggregate(node):
    if node.name == "count" and isinstance(node.arguments[0], _LITERALS):
        return tree.Agg("count")  # COUNT(1)
    if node.name in {"quantile", "median"}:
        return _quantile(node)
    argument, *rest = _all(node.arguments)
    other = rest[0] if rest else None
    order = _order(node.order_by)
    return tree.Agg(node.name, argument, node.distinct, order, other=other)


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


_LITERALS = (syntax.NumberLiteral, syntax.StringLiteral, syntax.BooleanLiteral)
_READERS = {
    idioms.OtherCall: _other_call,
    idioms.Filtered: lambda n: replace(_read(n.aggregate), where=_read(n.condition)),
    idioms.WithinGroup: _within_group,
    idioms.QuantileAt: _quantile_at,
    idioms.IsTruth: lambda n: tree.IsTruth(_read(n.value), n.truth, n.negated),
    idioms.IsDistinct: _is_distinct,
    idioms.SymmetricBetween: _symmetric,
    idioms.RowIn: _row_in,
    idioms.Quantified: lambda n: tree.InQuery(
        _read(n.value), _query(n.query), n.word == "ALL"
    ),
    syntax.Name: lambda n: tree.Col(n.name, n.qualifier),
    syntax.NumberLiteral: _number,
    syntax.StringLiteral: _string,
    syntax.TypedLiteral: _typed,
    syntax.BooleanLiteral: lambda n: tree.Lit(n.value),
    syntax.Comparison: _comparison,
    syntax.Between: lambda n: tree.Between(
        _read(n.value), _read(n.low), _read(n.high), n.negated
    ),
    syntax.InList: lambda n: tree.InList(_read(n.value), _all(n.items), n.negated),
    syntax.IsNull: lambda n: tree.IsNull(_read(n.value), n.negated),
    syntax.Like: lambda n: tree.Like(_read(n.value), n.pattern.text, n.negated),
    idioms.OtherLike: reading_texts.pattern(_read),
    syntax.Not: lambda n: tree.Not(_read(n.item)),
    syntax.And: lambda n: tree.And(_all(n.items)),
    syntax.Or: lambda n: tree.Or(_all(n.items)),
    syntax.Arithmetic: _arithmetic,
    syntax.Negative: lambda n: tree.Minus(_read(n.value)),
    syntax.Case: _case,
    syntax.FunctionCall: _call,
    syntax.Extract: _extract,
    syntax.Interval: lambda n: reading_dates.length(n, _read),
    syntax.Cast: _cast,
    syntax.CurrentDate: lambda _: tree.Today(),
    syntax.CountRows: lambda _: tree.Agg("count"),
    syntax.AggregateCall: _aggregate,
    syntax.WindowCall: _window,
    syntax.InQuery: lambda n: tree.InQuery(_read(n.value), _query(n.query), n.negated),
    syntax.Exists: lambda n: tree.Exists(_query(n.query)),
    syntax.Star: lambda _: tree.Star(),
}
