"""A small tree of questions, and its SQL text. Shares nothing with ``query_lang``.

Every node is frozen, so that a tree can be a key and can be shrunk by replacing parts.
The printer writes brackets around every operator: meaning never rests on precedence.
"""

from dataclasses import dataclass, fields
from datetime import date, datetime
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Col:
    name: str
    table: str | None = None


@dataclass(frozen=True, slots=True)
class Lit:
    """A literal; ``typed`` writes DATE '...' or TIMESTAMP '...' before a moment."""

    value: int | Decimal | str | bool | date | datetime
    typed: bool = False


@dataclass(frozen=True, slots=True)
class Compare:
    operator: str  # = <> < <= > >=
    left: "Expr"
    right: "Expr"


@dataclass(frozen=True, slots=True)
class Between:
    value: "Expr"
    low: "Expr"
    high: "Expr"
    negated: bool = False


@dataclass(frozen=True, slots=True)
class InList:
    value: "Expr"
    items: tuple["Expr", ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsNull:
    value: "Expr"
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Like:
    """``value LIKE pattern``, or ILIKE where it ``folds``."""

    value: "Expr"
    pattern: str
    negated: bool = False
    folds: bool = False


@dataclass(frozen=True, slots=True)
class Not:
    item: "Expr"


@dataclass(frozen=True, slots=True)
class And:
    items: tuple["Expr", ...]


@dataclass(frozen=True, slots=True)
class Or:
    items: tuple["Expr", ...]


@dataclass(frozen=True, slots=True)
class Arith:
    """+ - * / % on numbers, || on texts, and on dates: d + n, d - n, d - e."""

    operator: str
    left: "Expr"
    right: "Expr"


@dataclass(frozen=True, slots=True)
class Divide:
    """``left / NULLIF(right, 0)``."""

    left: "Expr"
    right: "Expr"


@dataclass(frozen=True, slots=True)
class Minus:
    value: "Expr"


@dataclass(frozen=True, slots=True)
class IsTruth:
    """``value IS [NOT] TRUE``, FALSE or UNKNOWN (None)."""

    value: "Expr"
    truth: bool | None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsDistinct:
    """``left IS [NOT] DISTINCT FROM right``."""

    left: "Expr"
    right: "Expr"
    negated: bool = False


@dataclass(frozen=True, slots=True)
class NullIf:
    """``NULLIF(value, other)``."""

    value: "Expr"
    other: "Expr"


@dataclass(frozen=True, slots=True)
class Case:
    operand: "Expr | None"
    branches: tuple[tuple["Expr", "Expr"], ...]
    otherwise: "Expr | None"


@dataclass(frozen=True, slots=True)
class Coalesce:
    items: tuple["Expr", ...]


@dataclass(frozen=True, slots=True)
class Call:
    """age_band, age_years, date_diff, icd_*, level, lag, lead, first_value, ...

    Plain strings and integers among the arguments are literals.
    """

    name: str
    arguments: tuple["Expr | str | int", ...]


@dataclass(frozen=True, slots=True)
class Extract:
    part: str
    value: "Expr"


@dataclass(frozen=True, slots=True)
class Cast:
    """``CAST(value AS type)``; ``scale``, if written, is a decimal's."""

    value: "Expr"
    type: str
    scale: int | None = None


@dataclass(frozen=True, slots=True)
class Length:
    """An interval beside a difference."""

    days: int
    micros: int


@dataclass(frozen=True, slots=True)
class Today:
    """CURRENT_DATE."""


@dataclass(frozen=True, slots=True)
class OrderItem:
    expression: "Expr | int"  # an int is a position
    descending: bool = False
    nulls_first: bool | None = None


@dataclass(frozen=True, slots=True)
class Agg:
    """An aggregate; ``argument`` None is COUNT(*).

    ``fraction`` and ``bins`` belong to quantile; they are written as given. ``where``
    is FILTER (WHERE ...): it sees the rows that hold it, and no other. ``other`` is the
    second column of a covariance.
    """

    name: str
    argument: "Expr | None" = None
    distinct: bool = False
    order_by: tuple[OrderItem, ...] = ()
    fraction: Decimal | None = None
    bins: int | None = None
    where: "Expr | None" = None
    other: "Expr | None" = None


@dataclass(frozen=True, slots=True)
class Frame:
    """ROWS BETWEEN start AND end; offsets from the current row, None unbounded."""

    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Window:
    function: "Agg | Call"
    partition_by: tuple["Expr", ...]
    order_by: tuple[OrderItem, ...] = ()
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class InQuery:
    value: "Expr"
    query: "Select | UnionAll"
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    query: "Select | UnionAll"


@dataclass(frozen=True, slots=True)
class Star:
    """The SELECT list of an EXISTS."""


Expr = (
    Col
    | Lit
    | Compare
    | Between
    | InList
    | IsNull
    | Like
    | Not
    | And
    | Or
    | Arith
    | Divide
    | Minus
    | IsTruth
    | IsDistinct
    | NullIf
    | Case
    | Coalesce
    | Call
    | Extract
    | Cast
    | Length
    | Today
    | Agg
    | Window
    | InQuery
    | Exists
    | Star
)


@dataclass(frozen=True, slots=True)
class Item:
    expression: Expr
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class TableRef:
    name: str
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class Derived:
    query: "Select | UnionAll"
    alias: str


@dataclass(frozen=True, slots=True)
class Join:
    """``kind`` is inner or left; exactly one of ``on`` and ``using`` is given.

    ``first``: LATERAL, with the first row of ``source`` for each row before it.
    """

    kind: str
    source: TableRef | Derived
    on: Expr | None = None
    using: str | None = None
    first: bool = False


@dataclass(frozen=True, slots=True)
class Select:
    items: tuple[Item, ...]
    source: TableRef | Derived
    joins: tuple[Join, ...] = ()
    where: Expr | None = None
    group_by: tuple[Expr | int, ...] = ()  # an int is a position
    having: Expr | None = None
    order_by: tuple[OrderItem, ...] = ()
    limit: int | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class UnionAll:
    parts: tuple[Select, ...]


@dataclass(frozen=True, slots=True)
class Query:
    select: Select
    ctes: tuple[tuple[str, Select | UnionAll], ...] = ()


# -- walking -------------------------------------------------------------------


def children(node):
    """Return the nodes right below a node, those in nested tuples included."""
    found = []

    def collect(value):
        if isinstance(value, tuple):
            for part in value:
                collect(part)
        elif hasattr(value, "__dataclass_fields__"):
            found.append(value)

    for field in fields(node):
        collect(getattr(node, field.name))
    return found


def walk(node):
    """Yield a node and all below it, itself first."""
    yield node
    for child in children(node):
        yield from walk(child)


# -- text ----------------------------------------------------------------------


def print_sql(tree) -> str:
    """Write a query as text."""
    text = select_sql(tree.select)
    if not tree.ctes:
        return text
    named = ",\n".join(f"{name} AS ({query_sql(query)})" for name, query in tree.ctes)
    return f"WITH {named}\n{text}"


def query_sql(query):
    if isinstance(query, UnionAll):
        return " UNION ALL ".join(select_sql(part) for part in query.parts)
    return select_sql(query)


def select_sql(select):
    distinct = "DISTINCT " if select.distinct else ""
    parts = [f"SELECT {distinct}{listed(select.items)}"]
    parts.append(f"FROM {sql(select.source)}")
    parts += [sql(join) for join in select.joins]
    if select.where is not None:
        parts.append(f"WHERE {sql(select.where)}")
    if select.group_by:
        parts.append(f"GROUP BY {listed(select.group_by)}")
    if select.having is not None:
        parts.append(f"HAVING {sql(select.having)}")
    if select.order_by:
        parts.append(f"ORDER BY {listed(select.order_by)}")
    if select.limit is not None:
        parts.append(f"LIMIT {select.limit}")
    return " ".join(parts)


def listed(nodes):
    return ", ".join(sql(node) for node in nodes)


def sql(node):
    """Write one node; plain integers and strings are literals."""
    if isinstance(node, bool | int | str):
        return literal_sql(node, typed=False)
    return WRITERS[type(node)](node)


def literal_sql(value, *, typed):  # noqa: PLR0911 - one return a kind
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    kind = "TIMESTAMP" if isinstance(value, datetime) else "DATE"
    separator = {"sep": " "} if isinstance(value, datetime) else {}
    return f"{kind + ' ' if typed else ''}'{value.isoformat(**separator)}'"


def negation(node):
    return "NOT " if node.negated else ""


def between_sql(node):
    low, high = sql(node.low), sql(node.high)
    return f"({sql(node.value)} {negation(node)}BETWEEN {low} AND {high})"


def like_sql(node):
    word = "ILIKE" if node.folds else "LIKE"
    return f"({sql(node.value)} {negation(node)}{word} {sql(node.pattern)})"


def case_sql(node):
    operand = "" if node.operand is None else f" {sql(node.operand)}"
    whens = "".join(f" WHEN {sql(c)} THEN {sql(r)}" for c, r in node.branches)
    otherwise = "" if node.otherwise is None else f" ELSE {sql(node.otherwise)}"
    return f"CASE{operand}{whens}{otherwise} END"


def aggregate_sql(node):
    kept = "" if node.where is None else f" FILTER (WHERE {sql(node.where)})"
    if node.argument is None:
        return f"COUNT(*){kept}"
    inside = f"{'DISTINCT ' if node.distinct else ''}{sql(node.argument)}"
    if node.other is not None:
        inside += f", {sql(node.other)}"
    if node.fraction is not None:
        inside += f", {node.fraction:f}"
    if node.bins is not None:
        inside += f", {node.bins}"
    if node.order_by:
        inside += f" ORDER BY {listed(node.order_by)}"
    return f"{node.name.upper()}({inside}){kept}"


def truth_sql(node):
    word = "UNKNOWN" if node.truth is None else str(node.truth).upper()
    return f"({sql(node.value)} IS {negation(node)}{word})"


def distinct_sql(node):
    left, right = sql(node.left), sql(node.right)
    return f"({left} IS {negation(node)}DISTINCT FROM {right})"


def cast_sql(node):
    sizes = "" if node.scale is None else f"(38, {node.scale})"
    return f"CAST({sql(node.value)} AS {node.type.upper()}{sizes})"


def order_sql(node):
    text = sql(node.expression) + (" DESC" if node.descending else "")
    if node.nulls_first is None:
        return text
    return f"{text} NULLS {'FIRST' if node.nulls_first else 'LAST'}"


def edge_sql(offset, *, unbounded):
    if offset is None:
        return f"UNBOUNDED {unbounded}"
    if offset == 0:
        return "CURRENT ROW"
    return f"{abs(offset)} {'FOLLOWING' if offset > 0 else 'PRECEDING'}"


def window_sql(node):
    parts = []
    if node.partition_by:
        parts.append(f"PARTITION BY {listed(node.partition_by)}")
    if node.order_by:
        parts.append(f"ORDER BY {listed(node.order_by)}")
    if node.frame is not None:
        start = edge_sql(node.frame.start, unbounded="PRECEDING")
        end = edge_sql(node.frame.end, unbounded="FOLLOWING")
        parts.append(f"ROWS BETWEEN {start} AND {end}")
    return f"{sql(node.function)} OVER ({' '.join(parts)})"


def join_sql(node):
    word = {"inner": "JOIN", "left": "LEFT JOIN"}[node.kind]
    if node.first:
        return f"{word} LATERAL {sql(node.source)} ON TRUE"
    tail = f"USING ({node.using})" if node.using else f"ON {sql(node.on)}"
    return f"{word} {sql(node.source)} {tail}"


def named(text, alias):
    return text if alias is None else f"{text} AS {alias}"


WRITERS = {
    Col: lambda n: n.name if n.table is None else f"{n.table}.{n.name}",
    Lit: lambda n: literal_sql(n.value, typed=n.typed),
    Compare: lambda n: f"({sql(n.left)} {n.operator} {sql(n.right)})",
    Between: between_sql,
    InList: lambda n: f"({sql(n.value)} {negation(n)}IN ({listed(n.items)}))",
    IsNull: lambda n: f"({sql(n.value)} IS {negation(n)}NULL)",
    Like: like_sql,
    Not: lambda n: f"(NOT {sql(n.item)})",
    And: lambda n: "(" + " AND ".join(sql(i) for i in n.items) + ")",
    Or: lambda n: "(" + " OR ".join(sql(i) for i in n.items) + ")",
    Arith: lambda n: f"({sql(n.left)} {n.operator} {sql(n.right)})",
    Divide: lambda n: f"({sql(n.left)} / NULLIF({sql(n.right)}, 0))",
    Minus: lambda n: f"(- {sql(n.value)})",
    IsTruth: truth_sql,
    IsDistinct: distinct_sql,
    NullIf: lambda n: f"NULLIF({sql(n.value)}, {sql(n.other)})",
    Case: case_sql,
    Coalesce: lambda n: f"COALESCE({listed(n.items)})",
    Call: lambda n: f"{n.name.upper()}({listed(n.arguments)})",
    Extract: lambda n: f"EXTRACT({n.part.upper()} FROM {sql(n.value)})",
    Cast: cast_sql,
    Length: lambda n: f"INTERVAL '{n.days} days {n.micros // 10**6} seconds'",
    Today: lambda _: "CURRENT_DATE",
    OrderItem: order_sql,
    Agg: aggregate_sql,
    Window: window_sql,
    InQuery: lambda n: f"({sql(n.value)} {negation(n)}IN ({query_sql(n.query)}))",
    Exists: lambda n: f"EXISTS ({query_sql(n.query)})",
    Star: lambda _: "*",
    Item: lambda n: named(sql(n.expression), n.alias),
    TableRef: lambda n: named(n.name, n.alias),
    Derived: lambda n: f"({query_sql(n.query)}) AS {n.alias}",
    Join: join_sql,
}
