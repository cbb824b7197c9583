"""Does the tree account for every token of the text, in order?

A guard against what a parser drops in silence or turns round. It knows the tree
alone: it writes the tokens that the tree was made from and holds them against the
text. Brackets are left out, for grouping is in the shape of the tree.
"""

from collections.abc import Callable, Mapping, Sequence

from query_lang.syntax import rules
from query_lang.syntax.idioms import (
    ArrayElement,
    ConstantRows,
    Filtered,
    FirstRowJoin,
    GroupedKeys,
    IsDistinct,
    IsTruth,
    JoinedTexts,
    LikeEach,
    ListedSource,
    ListedTable,
    NamedWindow,
    NoTable,
    OtherCall,
    OtherLike,
    Overlaps,
    Quantified,
    QuantifiedList,
    QuantileAt,
    RowIn,
    RowInQuery,
    ScalarQuery,
    Series,
    SetOperation,
    SymmetricBetween,
    UnionAnswer,
    WindowDefinition,
    WithinGroup,
    WrittenJoin,
    WrittenSelect,
    WrittenUnion,
)
from query_lang.syntax.nodes import (
    AggregateCall,
    And,
    Arithmetic,
    Between,
    BooleanLiteral,
    Case,
    Cast,
    CastType,
    CommonTable,
    Comparison,
    CountRows,
    CurrentDate,
    DerivedTable,
    Exists,
    Expression,
    Extract,
    Frame,
    FrameBound,
    FunctionCall,
    InList,
    InQuery,
    Interval,
    IsNull,
    Join,
    Like,
    Name,
    Negative,
    Not,
    NullLiteral,
    NumberLiteral,
    Or,
    OrderItem,
    Query,
    Select,
    Star,
    StringLiteral,
    TableName,
    TypedLiteral,
    UnionAll,
    WindowCall,
)
from query_lang.syntax.refusals import refuse
from query_lang.syntax.tokens import Token, TokenKind, column_name, is_identifier

_Spellings = tuple[tuple[str, ...], ...]
Marks = list[str | _Spellings]
"""Texts of tokens in their order; a tuple stands for the first of it that fits."""

_SPELLINGS = {"!=": "<>", "==": "="}
_BRACKETS = frozenset("()")
_TYPED_WORDS = {"date": ("DATE",), "timestamp": ("TIMESTAMP", "DATETIME")}


def _perhaps(word: str) -> _Spellings:
    return ((word,), ())


_AS, _OUTER, _INNER, _ASC = map(_perhaps, ("AS", "OUTER", "INNER", "ASC"))
_DISTINCT = _perhaps("DISTINCT")
_FIRST: _Spellings = (("FIRST",), ("NEXT",))
_ROWS: _Spellings = (("ROWS",), ("ROW",))
_SETS: Mapping[str, _Spellings] = {
    "UNION": (("UNION",),),
    "INTERSECT": (("INTERSECT",),),
    "EXCEPT": (("EXCEPT",), ("MINUS",)),
}


def check_every_token_is_read(tree: Query, tokens: Sequence[Token]) -> None:
    """Refuse a text that holds more, less or something else than its tree says.

    Raises:
        SqlNotAllowedError: Placed at the first token that the tree does not know.
    """
    due: Marks = []
    _query(tree, due)
    marks, at = [_mark(token) for token in tokens], 0
    for mark in due:
        at = _after_brackets(marks, at)
        if at < len(marks) and marks[at] == mark:
            at += 1
            continue
        spellings = ((mark,),) if isinstance(mark, str) else mark
        fitting = (s for s in spellings if tuple(marks[at : at + len(s)]) == s)
        spelling = next(fitting, None)
        if spelling is None:
            raise refuse(rules.UNREAD_TEXT, tokens[min(at, len(tokens) - 1)].position)
        at += len(spelling)
    at = _after_brackets(marks, at)
    if at < len(marks):
        raise refuse(rules.UNREAD_TEXT, tokens[at].position)


def _mark(token: Token) -> str:
    word = token.word
    if word:
        return word
    if token.kind is TokenKind.STRING:
        return f"'{token.text}"
    text = token.text.upper()
    if token.kind is TokenKind.QUOTED and not is_identifier(token.text):
        text = column_name(token.text).upper()
    return _SPELLINGS.get(text, text)


def _after_brackets(marks: Sequence[str], at: int) -> int:
    while at < len(marks) and marks[at] in _BRACKETS:
        at += 1
    return at


# -- what each node was written as, appended to what is due ------------------


def _query(tree: Query, due: Marks) -> None:
    _with(tree.common_tables, due)
    select = tree.select
    if isinstance(select, UnionAnswer):
        _source(select.source, due)
        _order(select.order_by, due)
        _limit(select, due)
        return
    _select(select, due)


def _with(tables: Sequence[CommonTable], due: Marks) -> None:
    between = "WITH"
    for table in tables:
        due += (between, table.name.upper())
        if isinstance(table, ListedTable):
            _names(table.columns, due)
        due.append("AS")
        _queries(table.query, due)
        between = ","


def _names(names: Sequence[str], due: Marks) -> None:
    for index, name in enumerate(names):
        due += (",", name.upper()) if index else (name.upper(),)


def _constants(tree: ConstantRows | Series, due: Marks) -> None:
    if isinstance(tree, ConstantRows):
        due.append("VALUES")
        _listed([item for row in tree.rows for item in row], due)
        return
    due += ("UNNEST", tree.name) if tree.is_array else (tree.name,)
    _listed(tree.arguments, due)


def _queries(tree: Select | UnionAll, due: Marks) -> None:
    if isinstance(tree, ConstantRows | Series):
        _constants(tree, due)
        return
    if isinstance(tree, SetOperation | WrittenUnion):
        _with(tree.common_tables, due)
    if isinstance(tree, SetOperation) and tree.sides is not None:
        left, right = tree.sides
        _queries(left, due)
        due += (_SETS[tree.word], _DISTINCT)
        _queries(right, due)
        return
    parts = (tree,) if isinstance(tree, Select) else tree.parts
    for index, part in enumerate(parts):
        if index:
            due += ("UNION", "ALL")
        _select(part, due)


def _select(tree: Select, due: Marks) -> None:  # noqa: C901, PLR0912 - a table of clauses
    if isinstance(tree, WrittenSelect):
        _with(tree.common_tables, due)
    due.append("SELECT")
    if tree.distinct:
        due.append("DISTINCT")
    if isinstance(tree, WrittenSelect) and tree.has_top:
        due += ("TOP", str(tree.limit))
    if isinstance(tree, WrittenSelect):
        _clause(("DISTINCT", "ON"), tree.distinct_on, due)
    for index, item in enumerate(tree.items):
        if index:
            due.append(",")
        _node(item.expression, due)
        _alias(item.alias, due)
    if not isinstance(tree.source, NoTable):
        due.append("FROM")
        _source(tree.source, due)
    for join in tree.joins:
        _join(join, due)
    _clause(("WHERE",), _one(tree.where), due)
    if isinstance(tree, WrittenSelect) and tree.groups_by_all:
        due += ("GROUP", "BY", "ALL")
    _clause(("GROUP", "BY"), tree.group_by, due)
    _clause(("HAVING",), _one(tree.having), due)
    if isinstance(tree, WrittenSelect):
        _windows_and_qualify(tree, due)
    _order(tree.order_by, due)
    _limit(tree, due)


def _windows_and_qualify(tree: WrittenSelect, due: Marks) -> None:
    qualify, windows = tree.qualify, tree.windows
    is_first = bool(windows) and qualify is not None
    if is_first and qualify is not None:
        place = windows[0].position
        last = (place.line, place.column)
        is_first = (qualify.position.line, qualify.position.column) < last
    if is_first:
        _clause(("QUALIFY",), _one(qualify), due)
    between = "WINDOW"
    for window in windows:
        due += (between, window.name.upper(), "AS")
        due += () if window.base is None else (window.base.upper(),)
        _within(window, due)
        between = ","
    if not is_first:
        _clause(("QUALIFY",), _one(qualify), due)


def _one(part: Expression | None) -> tuple[Expression, ...]:
    return () if part is None else (part,)


def _limit(tree: Select, due: Marks) -> None:
    if isinstance(tree, WrittenSelect) and tree.has_top:
        return
    if isinstance(tree, WrittenSelect) and tree.fetches:
        due += ("FETCH", _FIRST, str(tree.limit), _ROWS, "ONLY")
    elif isinstance(tree, WrittenSelect) and tree.limits_nothing:
        due += ("LIMIT", "ALL")
    elif tree.limit is not None:
        due += ("LIMIT", str(tree.limit))


def _clause(words: Sequence[str], parts: Sequence[Expression], due: Marks) -> None:
    if parts:
        due += words
        _listed(parts, due)


def _listed(parts: Sequence[Expression], due: Marks, between: str = ",") -> None:
    for index, part in enumerate(parts):
        if index:
            due.append(between)
        _node(part, due)


_BETWEEN: Mapping[str, Sequence[str | _Spellings]] = {
    "SUBSTRING": (((",",), ("FROM",)), ((",",), ("FOR",))),
    "POSITION": ("IN",),
}
"""What stands between the arguments of a call, where it may be no comma."""


def _called_with(name: str, parts: Sequence[Expression], due: Marks) -> None:
    between = _BETWEEN.get(name)
    for index, part in enumerate(parts):
        if index:
            due.append("," if between is None else between[index - 1])
        _node(part, due)


def _alias(alias: str | None, due: Marks) -> None:
    if alias is not None:
        due += (_AS, alias.upper())


def _source(source: TableName | DerivedTable, due: Marks) -> None:
    if isinstance(source, TableName):
        due += () if source.schema is None else (source.schema.upper(), ".")
        due.append(source.name.upper())
    else:
        _queries(source.query, due)
    _alias(source.alias or None, due)
    if isinstance(source, ListedSource):
        _names(source.columns, due)


_LEFT_JOIN: Marks = ["LEFT", _OUTER, "JOIN"]
_INNER_JOIN: Marks = [_INNER, "JOIN"]
_JOIN_WORDS: Mapping[str, Marks] = {
    ",": [","],
    "CROSS": ["CROSS", "JOIN"],
    "RIGHT": ["RIGHT", _OUTER, "JOIN"],
}


def _join(join: Join, due: Marks) -> None:
    if isinstance(join, FirstRowJoin):
        due += join.words
    elif isinstance(join, WrittenJoin):
        due += _JOIN_WORDS[join.word]
    else:
        due += ("NATURAL",) if join.is_natural else ()
        due += _LEFT_JOIN if join.kind == "left" else _INNER_JOIN
    _source(join.source, due)
    if join.condition is not None:
        due.append("ON")
        _node(join.condition, due)
        return
    between = "USING"
    for name in join.using:
        due += (between, name.upper())
        between = ","


def _order(items: Sequence[OrderItem], due: Marks) -> None:
    words: tuple[str, ...] = ("ORDER", "BY")
    for item in items:
        due += words
        _node(item.expression, due)
        due.append("DESC" if item.descending else _ASC)
        if item.nulls_first is not None:
            due += ("NULLS", "FIRST" if item.nulls_first else "LAST")
        words = (",",)


def _node(tree: Expression, due: Marks) -> None:
    _WRITERS[type(tree)](tree, due)


def _and(tree: And, due: Marks) -> None:
    _listed(tree.items, due, "AND")


def _or(tree: Or, due: Marks) -> None:
    _listed(tree.items, due, "OR")


def _not(tree: Not, due: Marks) -> None:
    due.append("NOT")
    _node(tree.item, due)


def _infix(tree: Comparison | Arithmetic, due: Marks) -> None:
    _node(tree.left, due)
    due.append(tree.operator)
    _node(tree.right, due)


def _negative(tree: Negative, due: Marks) -> None:
    due.append("-")
    _node(tree.value, due)


_Predicate = Between | InList | InQuery | IsNull | Like


def _predicate(tree: _Predicate, due: Marks) -> None:
    _node(tree.value, due)
    negation = ("NOT",) if tree.negated else ()
    match tree:
        case IsNull():
            due += ("IS", *negation, "NULL")
        case Between(_, low, high):
            due += (*negation, "BETWEEN")
            _listed((low, high), due, "AND")
        case InList(_, items):
            due += (*negation, "IN")
            _listed(items, due)
        case InQuery(_, query):
            due += (*negation, "IN")
            _queries(query, due)
        case Like(_, pattern):
            due += (*negation, "LIKE")
            _node(pattern, due)


def _name(tree: Name, due: Marks) -> None:
    if tree.qualifier is not None:
        due += (tree.qualifier.upper(), ".")
    due.append(tree.name.upper())


def _star(tree: Star, due: Marks) -> None:
    if tree.qualifier is not None:
        due += (tree.qualifier.upper(), ".")
    due.append("*")
    for place, name in enumerate(tree.without):
        due += ("," if place else tree.word or "", name.upper())


def _number(tree: NumberLiteral, due: Marks) -> None:
    if tree.text.startswith("-"):
        due.append("-")
    due.append(tree.text.removeprefix("-"))


def _string(tree: StringLiteral, due: Marks) -> None:
    due.append(f"'{tree.text}")


def _typed(tree: TypedLiteral, due: Marks) -> None:
    words = _TYPED_WORDS[tree.type]
    due += (tuple((word,) for word in words), f"'{tree.text}")


def _boolean(tree: BooleanLiteral, due: Marks) -> None:
    due.append(str(tree.value).upper())


def _exists(tree: Exists, due: Marks) -> None:
    due.append("EXISTS")
    _queries(tree.query, due)


def _extract(tree: Extract, due: Marks) -> None:
    part = tree.part.upper()
    due += ("EXTRACT", ((part,), (f"'{tree.part}",), (f"'{part}",)), "FROM")
    _node(tree.value, due)


def _cast(tree: Cast, due: Marks) -> None:
    if tree.form == "::":
        _node(tree.value, due)
        due.append("::")
    else:
        due.append(tree.form.upper())
        _node(tree.value, due)
        due.append("AS")
    _type(tree.type, due)


def _type(written: CastType, due: Marks) -> None:
    due += written.name.upper().split(" ")
    for index, size in enumerate(written.sizes):
        if index:
            due.append(",")
        due.append(str(size))


def _interval(tree: Interval, due: Marks) -> None:
    due.append("INTERVAL")
    _node(tree.value, due)
    if tree.unit is not None:
        due.append(tree.unit.upper())


def _case(tree: Case, due: Marks) -> None:
    due.append("CASE")
    if tree.operand is not None:
        _node(tree.operand, due)
    for branch in tree.branches:
        due.append("WHEN")
        _node(branch.condition, due)
        due.append("THEN")
        _node(branch.result, due)
    if tree.otherwise is not None:
        due.append("ELSE")
        _node(tree.otherwise, due)
    due.append("END")


def _call(tree: FunctionCall | AggregateCall, due: Marks) -> None:
    due.append(tree.name.upper())
    if isinstance(tree, FunctionCall):
        _called_with(tree.name.upper(), tree.arguments, due)
        return
    if tree.distinct:
        due.append("DISTINCT")
    _listed(tree.arguments, due)
    _order(tree.order_by, due)


def _window(tree: WindowCall, due: Marks) -> None:
    _node(tree.function, due)
    due.append("OVER")
    _within(tree, due)


def _named_window(tree: NamedWindow, due: Marks) -> None:
    _node(tree.function, due)
    due += ("OVER", tree.base.upper())
    _within(tree, due)


def _within(tree: WindowCall | NamedWindow | WindowDefinition, due: Marks) -> None:
    _clause(("PARTITION", "BY"), tree.partition_by, due)
    _order(tree.order_by, due)
    if tree.frame is not None:
        due.append(_frame(tree.frame))


def _frame(frame: Frame) -> _Spellings:
    start = _bound(frame.start)
    whole = ("ROWS", "BETWEEN", *start, "AND", *_bound(frame.end))
    brief = ("ROWS", *start)
    return (whole, brief) if frame.end.edge == "current" else (whole,)


def _bound(bound: FrameBound) -> tuple[str, ...]:
    if bound.edge == "current":
        return ("CURRENT", "ROW")
    rows = "UNBOUNDED" if bound.rows is None else str(bound.rows)
    return (rows, "FOLLOWING" if bound.following else "PRECEDING")


# -- idioms ------------------------------------------------------------------


def _other_call(tree: OtherCall, due: Marks) -> None:
    due.append(tree.name)
    _called_with(tree.name, tree.arguments, due)


def _grouped_keys(tree: GroupedKeys, due: Marks) -> None:
    is_behind = tree.word.startswith("WITH")
    due += () if is_behind else tree.word.split()
    _listed(tree.items, due)
    due += tree.word.split() if is_behind else ()


def _scalar(tree: ScalarQuery, due: Marks) -> None:
    _queries(tree.query, due)


def _other_like(tree: OtherLike, due: Marks) -> None:
    _node(tree.value, due)
    if tree.word in {"~", "~*"}:
        due.append(f"!{tree.word}" if tree.negated else tree.word)
    else:
        due += (*(("NOT",) if tree.negated else ()), tree.word)
        due += ("TO",) if tree.word == "SIMILAR" else ()
    _node(tree.pattern, due)
    if tree.escape is not None:
        due.append("ESCAPE")
        _node(tree.escape, due)


def _like_each(tree: LikeEach, due: Marks) -> None:
    _node(tree.value, due)
    due += (tree.word, tree.quantifier)
    _listed(tree.patterns, due)


def _filtered(tree: Filtered, due: Marks) -> None:
    _node(tree.aggregate, due)
    due += ("FILTER", "WHERE")
    _node(tree.condition, due)


def _within_group(tree: WithinGroup, due: Marks) -> None:
    due.append(tree.name)
    _listed(tree.arguments, due)
    due += ("WITHIN", "GROUP")
    _order(tree.order_by, due)


def _quantile_at(tree: QuantileAt, due: Marks) -> None:
    due.append("APPROX_QUANTILES")
    _node(tree.value, due)
    due += (",", str(tree.parts), "[", tree.word, str(tree.at), "]")


def _array_element(tree: ArrayElement, due: Marks) -> None:
    due.append("ARRAY_AGG")
    _node(tree.value, due)
    _order(tree.order_by, due)
    due += () if tree.limit is None else ("LIMIT", str(tree.limit))
    due += ("[", tree.word) if tree.word else ("[",)
    due += (str(tree.at), "]")


def _joined_texts(tree: JoinedTexts, due: Marks) -> None:
    due += ("STRING_AGG", "DISTINCT")
    _listed((tree.value, tree.separator), due)
    _order(tree.order_by, due)


def _overlaps(tree: Overlaps, due: Marks) -> None:
    _listed(tree.one, due)
    due.append("OVERLAPS")
    _listed(tree.other, due)


def _quantified_list(tree: QuantifiedList, due: Marks) -> None:
    _node(tree.value, due)
    due += (tree.operator, tree.word)
    _listed(tree.items, due)


_Negatable = IsTruth | IsDistinct | SymmetricBetween | RowIn | RowInQuery


def _negation(tree: _Negatable) -> tuple[str, ...]:
    return ("NOT",) if tree.negated else ()


def _is_truth(tree: IsTruth, due: Marks) -> None:
    _node(tree.value, due)
    word = "UNKNOWN" if tree.truth is None else str(tree.truth).upper()
    due += ("IS", *_negation(tree), word)


def _is_distinct(tree: IsDistinct, due: Marks) -> None:
    _node(tree.left, due)
    due += ("IS", *_negation(tree), "DISTINCT", "FROM")
    _node(tree.right, due)


def _symmetric(tree: SymmetricBetween, due: Marks) -> None:
    _node(tree.value, due)
    due += (*_negation(tree), "BETWEEN", "SYMMETRIC")
    _listed((tree.low, tree.high), due, "AND")


def _row_in(tree: RowIn, due: Marks) -> None:
    _listed(tree.values, due)
    due += (*_negation(tree), "IN")
    for index, row in enumerate(tree.rows):
        if index:
            due.append(",")
        _listed(row, due)


def _row_in_query(tree: RowInQuery, due: Marks) -> None:
    _listed(tree.values, due)
    due += (*_negation(tree), "IN")
    _queries(tree.query, due)


def _quantified(tree: Quantified, due: Marks) -> None:
    _node(tree.value, due)
    due += (tree.operator, tree.word)
    _queries(tree.query, due)


_WORDS: Mapping[type[Expression], tuple[str, ...]] = {
    NullLiteral: ("NULL",),
    CurrentDate: ("CURRENT_DATE",),
    CountRows: ("COUNT", "*"),
}


def _words(tree: Expression, due: Marks) -> None:
    due += _WORDS[type(tree)]


_WRITERS: Mapping[type[Expression], Callable[..., None]] = {
    And: _and,
    Or: _or,
    Not: _not,
    **dict.fromkeys((Comparison, Arithmetic), _infix),
    Negative: _negative,
    **dict.fromkeys((Between, InList, InQuery, IsNull, Like), _predicate),
    Name: _name,
    Star: _star,
    NumberLiteral: _number,
    StringLiteral: _string,
    TypedLiteral: _typed,
    BooleanLiteral: _boolean,
    Case: _case,
    Exists: _exists,
    Extract: _extract,
    Cast: _cast,
    Interval: _interval,
    **dict.fromkeys((FunctionCall, AggregateCall), _call),
    WindowCall: _window,
    **dict.fromkeys(_WORDS, _words),
    OtherCall: _other_call,
    OtherLike: _other_like,
    ScalarQuery: _scalar,
    LikeEach: _like_each,
    Filtered: _filtered,
    GroupedKeys: _grouped_keys,
    NamedWindow: _named_window,
    WithinGroup: _within_group,
    QuantileAt: _quantile_at,
    IsTruth: _is_truth,
    IsDistinct: _is_distinct,
    SymmetricBetween: _symmetric,
    RowIn: _row_in,
    RowInQuery: _row_in_query,
    Quantified: _quantified,
    QuantifiedList: _quantified_list,
    Overlaps: _overlaps,
    ArrayElement: _array_element,
    JoinedTexts: _joined_texts,
}
