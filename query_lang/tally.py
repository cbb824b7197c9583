"""Does the tree account for every token of the text, in order?

A guard against what a parser drops in silence or turns round. It knows the tree
alone: it writes the tokens that the tree was made from and holds them against the
text. Brackets are left out, for grouping is in the shape of the tree.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from query_lang import rules
from query_lang.refusals import refuse
from query_lang.syntax import (
    AggregateCall,
    And,
    Arithmetic,
    Between,
    BooleanLiteral,
    Case,
    CommonTable,
    Comparison,
    CountRows,
    CurrentDate,
    DateOfTimestamp,
    DerivedTable,
    Exists,
    Expression,
    Extract,
    Frame,
    FrameBound,
    FunctionCall,
    InList,
    InQuery,
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
    SelectItem,
    Star,
    StringLiteral,
    TableName,
    TypedLiteral,
    UnionAll,
    WindowCall,
)
from query_lang.tokens import Token, TokenKind

Marks = Iterator[str | tuple[tuple[str, ...], ...]]  # a tuple: the first that fits
_SPELLINGS = {"!=": "<>", "==": "="}
_BRACKETS = frozenset("()")


def _perhaps(word: str) -> tuple[tuple[str, ...], ...]:
    return ((word,), ())


def check_every_token_is_read(tree: Query, tokens: Sequence[Token]) -> None:
    """Refuse a text that holds more, less or something else than its tree says.

    Raises:
        SqlNotAllowedError: Placed at the first token that the tree does not know.
    """
    marks, at = [_mark(token) for token in tokens], 0
    for mark in _of_query(tree):
        while at < len(marks) and marks[at] in _BRACKETS:
            at += 1
        spellings = ((mark,),) if isinstance(mark, str) else mark
        fitting = (s for s in spellings if tuple(marks[at : at + len(s)]) == s)
        spelling = next(fitting, None)
        if spelling is None:
            raise refuse(rules.UNREAD_TEXT, tokens[min(at, len(tokens) - 1)].position)
        at += len(spelling)
    rest = [i for i in range(at, len(marks)) if marks[i] not in _BRACKETS]
    if rest:
        raise refuse(rules.UNREAD_TEXT, tokens[rest[0]].position)


def _mark(token: Token) -> str:
    if token.kind is TokenKind.STRING:
        return f"'{token.text}"
    text = token.text.upper()
    return _SPELLINGS.get(text, text)


def _listed(parts: Iterable[Marks], *between: str) -> Marks:
    for index, part in enumerate(parts):
        if index:
            yield from between
        yield from part


def _of_query(tree: Query) -> Marks:
    if tree.common_tables:
        yield "WITH"
        yield from _listed(map(_of_common_table, tree.common_tables), ",")
    yield from _of_select(tree.select)


def _of_common_table(table: CommonTable) -> Marks:
    yield from (table.name.upper(), "AS")
    yield from _of_queries(table.query)


def _of_queries(tree: Select | UnionAll) -> Marks:
    parts = (tree,) if isinstance(tree, Select) else tree.parts
    yield from _listed(map(_of_select, parts), "UNION", "ALL")


def _of_select(tree: Select) -> Marks:
    yield "SELECT"
    if tree.distinct:
        yield "DISTINCT"
    yield from _listed(map(_of_item, tree.items), ",")
    yield "FROM"
    yield from _of_source(tree.source)
    for join in tree.joins:
        yield from _of_join(join)
    yield from _of_clause(("WHERE",), () if tree.where is None else (tree.where,))
    yield from _of_clause(("GROUP", "BY"), tree.group_by)
    yield from _of_clause(("HAVING",), () if tree.having is None else (tree.having,))
    yield from _of_order(tree.order_by)
    if tree.limit is not None:
        yield "LIMIT"
        yield str(tree.limit)


def _of_clause(words: tuple[str, ...], parts: tuple[Expression, ...]) -> Marks:
    if parts:
        yield from words
        yield from _listed(map(_of, parts), ",")


def _of_item(item: SelectItem) -> Marks:
    yield from _of(item.expression)
    yield from _of_alias(item.alias)


def _of_alias(alias: str | None) -> Marks:
    if alias is not None:
        yield _perhaps("AS")
        yield alias.upper()


def _of_source(source: TableName | DerivedTable) -> Marks:
    if isinstance(source, TableName):
        yield source.name.upper()
    else:
        yield from _of_queries(source.query)
    yield from _of_alias(source.alias)


def _of_join(join: Join) -> Marks:
    if join.kind == "left":
        yield from ("LEFT", _perhaps("OUTER"))
    else:
        yield _perhaps("INNER")
    yield "JOIN"
    yield from _of_source(join.source)
    if join.condition is not None:
        yield "ON"
        yield from _of(join.condition)
    else:
        yield "USING"
        yield from _listed((iter((name.upper(),)) for name in join.using), ",")


def _of_order(items: tuple[OrderItem, ...]) -> Marks:
    if items:
        yield from ("ORDER", "BY")
        yield from _listed(map(_of_order_item, items), ",")


def _of_order_item(item: OrderItem) -> Marks:
    yield from _of(item.expression)
    yield "DESC" if item.descending else _perhaps("ASC")
    if item.nulls_first is not None:
        yield from ("NULLS", "FIRST" if item.nulls_first else "LAST")


def _of(tree: Expression) -> Marks:
    match tree:
        case And(items) | Or(items):
            yield from _listed(map(_of, items), type(tree).__name__.upper())
        case Not(item):
            yield "NOT"
            yield from _of(item)
        case Comparison(operator, left, right) | Arithmetic(operator, left, right):
            yield from _of(left)
            yield operator
            yield from _of(right)
        case Negative(value):
            yield "-"
            yield from _of(value)
        case Between() | InList() | InQuery() | IsNull() | Like():
            yield from _of_predicate(tree)
        case _:
            yield from _of_leaf(tree)


def _of_predicate(tree: Between | InList | InQuery | IsNull | Like) -> Marks:
    yield from _of(tree.value)
    negation = ("NOT",) if tree.negated else ()
    match tree:
        case IsNull():
            yield from ("IS", *negation, "NULL")
        case Between(_, low, high):
            yield from (*negation, "BETWEEN", *_of(low), "AND", *_of(high))
        case InList(_, items):
            yield from (*negation, "IN", *_listed(map(_of, items), ","))
        case InQuery(_, query):
            yield from (*negation, "IN", *_of_queries(query))
        case Like(_, pattern):
            yield from (*negation, "LIKE", *_of(pattern))


def _of_leaf(tree: Expression) -> Marks:
    match tree:
        case Name(name, None):
            yield name.upper()
        case Name(name, str(qualifier)):
            yield from (qualifier.upper(), ".", name.upper())
        case NumberLiteral(text):
            yield from "-" * text.startswith("-")
            yield text.removeprefix("-")
        case StringLiteral(text):
            yield f"'{text}"
        case TypedLiteral(kind, text):
            yield from (kind.upper(), f"'{text}")
        case BooleanLiteral(value):
            yield str(value).upper()
        case _:
            yield from _of_form(tree)


_WORDS: Mapping[type, tuple[str, ...]] = {
    NullLiteral: ("NULL",),
    CurrentDate: ("CURRENT_DATE",),
    CountRows: ("COUNT", "*"),
    Star: ("*",),
}


def _of_form(tree: Expression) -> Marks:
    match tree:
        case Case():
            yield from _of_case(tree)
        case Exists(query):
            yield "EXISTS"
            yield from _of_queries(query)
        case Extract(part, value):
            yield from ("EXTRACT", part.upper(), "FROM", *_of(value))
        case DateOfTimestamp(value):
            yield from ("CAST", *_of(value), "AS", "DATE")
        case FunctionCall() | AggregateCall() | WindowCall():
            yield from _of_call(tree)
        case _:
            yield from _WORDS[type(tree)]


def _of_case(tree: Case) -> Marks:
    yield "CASE"
    if tree.operand is not None:
        yield from _of(tree.operand)
    for branch in tree.branches:
        yield from ("WHEN", *_of(branch.condition), "THEN", *_of(branch.result))
    if tree.otherwise is not None:
        yield from ("ELSE", *_of(tree.otherwise))
    yield "END"


def _of_call(tree: FunctionCall | AggregateCall | WindowCall) -> Marks:
    if isinstance(tree, WindowCall):
        yield from (*_of(tree.function), "OVER")
        yield from _of_clause(("PARTITION", "BY"), tree.partition_by)
        yield from _of_order(tree.order_by)
        yield from () if tree.frame is None else _of_frame(tree.frame)
        return
    yield tree.name.upper()
    if isinstance(tree, AggregateCall) and tree.distinct:
        yield "DISTINCT"
    yield from _listed(map(_of, tree.arguments), ",")
    if isinstance(tree, AggregateCall):
        yield from _of_order(tree.order_by)


def _of_frame(frame: Frame) -> Marks:
    start = _of_bound(frame.start)
    whole = ("ROWS", "BETWEEN", *start, "AND", *_of_bound(frame.end))
    brief = ("ROWS", *start)
    yield (whole, brief) if frame.end.edge == "current" else (whole,)


def _of_bound(bound: FrameBound) -> tuple[str, ...]:
    if bound.edge == "current":
        return ("CURRENT", "ROW")
    rows = "UNBOUNDED" if bound.rows is None else str(bound.rows)
    return (rows, "FOLLOWING" if bound.following else "PRECEDING")
