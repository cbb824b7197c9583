"""Our own parsed tree: what was written, where, and nothing of what it means."""

from dataclasses import dataclass
from typing import Literal

ComparisonOperator = Literal["=", "<>", "<", "<=", ">", ">="]
LiteralType = Literal["date", "timestamp", "text"]
CastForm = Literal["cast", "try_cast", "safe_cast", "::"]
ArithmeticOperator = Literal["+", "-", "*", "/", "%", "||"]
DatePart = Literal[
    "year",
    "isoyear",
    "quarter",
    "month",
    "week",
    "isoweek",
    "day",
    "dow",
    "dayofweek",
    "isodow",
    "doy",
    "dayofyear",
    "hour",
    "minute",
    "second",
    "epoch",
]
AggregateName = Literal[
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "bool_and",
    "bool_or",
    "first",
    "last",
    "median",
    "quantile",
    "var_pop",
    "var_samp",
    "stddev_pop",
    "stddev_samp",
    "covar_pop",
    "covar_samp",
    "corr",
    "regr_slope",
]
FunctionName = Literal[
    "abs",
    "add_months",
    "adddate",
    "age",
    "age_band",
    "age_years",
    "ceil",
    "ceiling",
    "coalesce",
    "concat",
    "contains",
    "current_date",
    "current_timestamp",
    "date",
    "date_add",
    "date_diff",
    "date_format",
    "date_part",
    "date_sub",
    "date_trunc",
    "dateadd",
    "datediff",
    "datefromparts",
    "datepart",
    "datetime",
    "datetime_add",
    "datetime_diff",
    "datetime_sub",
    "datetime_trunc",
    "datetrunc",
    "day",
    "dayofmonth",
    "dayofweek",
    "dayofyear",
    "dense_rank",
    "div",
    "ends_with",
    "exp",
    "first_value",
    "floor",
    "format_date",
    "getdate",
    "greatest",
    "grouping",
    "hour",
    "icd_block",
    "icd_category",
    "icd_chapter",
    "isodow",
    "isoweek",
    "isoyear",
    "lag",
    "last_day",
    "last_value",
    "lead",
    "least",
    "left",
    "length",
    "level",
    "ln",
    "localtimestamp",
    "lower",
    "lpad",
    "ltrim",
    "make_date",
    "minute",
    "mod",
    "month",
    "now",
    "nullif",
    "power",
    "quarter",
    "rank",
    "regexp_like",
    "replace",
    "right",
    "round",
    "row_number",
    "rpad",
    "rtrim",
    "second",
    "sign",
    "sqrt",
    "split_part",
    "starts_with",
    "strftime",
    "strpos",
    "subdate",
    "substring",
    "timestamp",
    "timestamp_add",
    "timestamp_diff",
    "timestamp_sub",
    "timestamp_trunc",
    "timestampdiff",
    "to_char",
    "to_date",
    "today",
    "trim",
    "trunc",
    "upper",
    "week",
    "weekofyear",
    "width_bucket",
    "year",
]
SequenceFunctionName = Literal[
    "ends_with",
    "first_then",
    "has_run",
    "length",
    "occurrences",
    "slope",
    "slope_band",
    "starts_with",
    "symbol_at",
    "top_runs",
]
FrameEdge = Literal["unbounded", "current", "preceding", "following"]
JoinKind = Literal["inner", "left"]


@dataclass(frozen=True, order=True, slots=True)
class Position:
    """A place in the text: line and column, both from 1, counted in characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Idiom:
    """Another dialect's words for what other nodes say; ``syntax.idioms`` has them.

    Rewriting leaves none, so that nothing after it has to know them.
    """

    position: Position


@dataclass(frozen=True, slots=True)
class Name:
    """A column, perhaps with its table: ``e.age``."""

    name: str
    qualifier: str | None
    position: Position


@dataclass(frozen=True, slots=True)
class NumberLiteral:
    """A number as written, its minus included; never rounded."""

    text: str
    position: Position


@dataclass(frozen=True, slots=True)
class StringLiteral:
    """A string, its doubled quotes resolved."""

    text: str
    position: Position


@dataclass(frozen=True, slots=True)
class TypedLiteral:
    """``DATE '2024-01-31'`` or ``TIMESTAMP '2024-01-31 08:00:00'``."""

    type: LiteralType
    text: str
    position: Position


@dataclass(frozen=True, slots=True)
class BooleanLiteral:
    """TRUE or FALSE."""

    value: bool
    position: Position


@dataclass(frozen=True, slots=True)
class NullLiteral:
    """NULL where a value could stand; binding refuses it with a hint."""

    position: Position


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left operator right``."""

    operator: ComparisonOperator
    left: "Expression"
    right: "Expression"
    position: Position


@dataclass(frozen=True, slots=True)
class Between:
    """``value [NOT] BETWEEN low AND high``."""

    value: "Expression"
    low: "Expression"
    high: "Expression"
    negated: bool
    position: Position


@dataclass(frozen=True, slots=True)
class InList:
    """``value [NOT] IN (items)``."""

    value: "Expression"
    items: tuple["Expression", ...]
    negated: bool
    position: Position


@dataclass(frozen=True, slots=True)
class IsNull:
    """``value IS [NOT] NULL``."""

    value: "Expression"
    negated: bool
    position: Position


@dataclass(frozen=True, slots=True)
class Not:
    """NOT in front of a condition."""

    item: "Expression"
    position: Position


@dataclass(frozen=True, slots=True)
class And:
    """A chain of two or more conditions."""

    items: tuple["Expression", ...]
    position: Position


@dataclass(frozen=True, slots=True)
class Or:
    """A chain of two or more alternatives."""

    items: tuple["Expression", ...]
    position: Position


@dataclass(frozen=True, slots=True)
class Like:
    """``value [NOT] LIKE pattern``; the pattern as written."""

    value: "Expression"
    pattern: "Expression"
    negated: bool
    position: Position


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``left operator right``; ``/`` has a divisor that binding checks."""

    operator: ArithmeticOperator
    left: "Expression"
    right: "Expression"
    position: Position


@dataclass(frozen=True, slots=True)
class Negative:
    """A minus in front of anything but a number, whose minus is its own."""

    value: "Expression"
    position: Position


@dataclass(frozen=True, slots=True)
class CaseBranch:
    """``WHEN condition THEN result``."""

    condition: "Expression"
    result: "Expression"


@dataclass(frozen=True, slots=True)
class Case:
    """``CASE [operand] WHEN ... THEN ... [ELSE otherwise] END``."""

    operand: "Expression | None"
    branches: tuple[CaseBranch, ...]
    otherwise: "Expression | None"
    position: Position


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function of the language that is no aggregate: ``COALESCE(a, b)``.

    Those of sequences are read where a release of sequences is asked, nowhere else.
    """

    name: Literal[FunctionName, SequenceFunctionName]
    arguments: tuple["Expression", ...]
    position: Position


@dataclass(frozen=True, slots=True)
class Extract:
    """``EXTRACT(part FROM value)``."""

    part: DatePart
    value: "Expression"
    position: Position


@dataclass(frozen=True, slots=True)
class CastType:
    """A type as written: ``double precision``, ``numeric(10, 2)``; in lower case."""

    name: str
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Cast:
    """``CAST(value AS type)``, its other spellings, and ``value::type``."""

    value: "Expression"
    type: CastType
    form: CastForm
    position: Position


@dataclass(frozen=True, slots=True)
class Interval:
    """``INTERVAL '90 days'``, ``INTERVAL 90 DAY``; the unit in lower case, if apart."""

    value: "Expression"
    unit: str | None
    position: Position


@dataclass(frozen=True, slots=True)
class CurrentDate:
    """CURRENT_DATE: the snapshot's declared date."""

    position: Position


@dataclass(frozen=True, slots=True)
class OrderItem:
    """One term of an ORDER BY; ``nulls_first`` is None where nothing is written."""

    expression: "Expression"
    descending: bool
    nulls_first: bool | None
    position: Position


@dataclass(frozen=True, slots=True)
class CountRows:
    """``COUNT(*)``."""

    position: Position


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """``SUM(x)``, ``COUNT(DISTINCT x)``, ``FIRST(x ORDER BY d)``, ``MEDIAN(x)``."""

    name: AggregateName
    distinct: bool
    arguments: tuple["Expression", ...]
    order_by: tuple[OrderItem, ...]
    position: Position


@dataclass(frozen=True, slots=True)
class FrameBound:
    """One end of a window's frame; ``rows`` counts preceding or following rows."""

    edge: FrameEdge
    rows: int | None
    following: bool  # tells the two unbounded ends apart


@dataclass(frozen=True, slots=True)
class Frame:
    """``ROWS BETWEEN start AND end``."""

    start: FrameBound
    end: FrameBound


@dataclass(frozen=True, slots=True)
class WindowCall:
    """``function OVER (PARTITION BY ... ORDER BY ... ROWS ...)``."""

    function: "AggregateCall | CountRows | FunctionCall | Idiom"
    partition_by: tuple["Expression", ...]
    order_by: tuple[OrderItem, ...]
    frame: Frame | None
    position: Position


@dataclass(frozen=True, slots=True)
class InQuery:
    """``value [NOT] IN (SELECT ...)``.

    Attributes:
        unknown_is_false: Whether a row is left out where it is unknown, as by WHERE.
    """

    value: "Expression"
    query: "Select | UnionAll"
    negated: bool
    position: Position
    unknown_is_false: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    """``EXISTS (SELECT ...)``; NOT in front of it is a Not."""

    query: "Select | UnionAll"
    position: Position


@dataclass(frozen=True, slots=True)
class Star:
    """``*`` or ``e.*`` in a SELECT list: all columns, or those of one table.

    Refused at the top, where rows would leave.

    Attributes:
        without: Columns that are left out, by name: ``* EXCEPT (age)``.
        word: EXCEPT or EXCLUDE, as written.
    """

    position: Position
    qualifier: str | None = None
    without: tuple[str, ...] = ()
    word: str | None = None


Expression = (
    Name
    | NumberLiteral
    | StringLiteral
    | TypedLiteral
    | BooleanLiteral
    | NullLiteral
    | Comparison
    | Between
    | InList
    | IsNull
    | Like
    | Not
    | And
    | Or
    | Arithmetic
    | Negative
    | Case
    | FunctionCall
    | Extract
    | Cast
    | CurrentDate
    | Interval
    | CountRows
    | AggregateCall
    | WindowCall
    | InQuery
    | Exists
    | Star
    | Idiom
)


@dataclass(frozen=True, slots=True)
class SelectItem:
    """One output column and the name given to it, if any."""

    expression: Expression
    alias: str | None
    position: Position


@dataclass(frozen=True, slots=True)
class TableName:
    """A table or a common table expression by its name.

    Attributes:
        schema: What stands in front of the name, which is a table's then.
    """

    name: str
    alias: str | None
    position: Position
    schema: str | None = None


@dataclass(frozen=True, slots=True)
class DerivedTable:
    """``(SELECT ...) AS alias``."""

    query: "Select | UnionAll"
    alias: str
    position: Position


@dataclass(frozen=True, slots=True)
class Join:
    """``[INNER | LEFT] JOIN source ON condition | USING (names)``.

    Attributes:
        condition: None exactly where ``using`` is not empty, ``is_of_first`` or
            ``is_natural``.
        is_of_first: Whether each row meets the first alone of the rows of ``source``,
            which is a query with its own ties and order.
        is_natural: Whether it is USING all names that both sides have, which tables
            alone tell.
        is_of_one: Whether no row may meet two of ``source``.
    """

    kind: JoinKind
    source: TableName | DerivedTable
    condition: Expression | None
    using: tuple[str, ...]
    position: Position
    is_of_first: bool = False
    is_natural: bool = False
    is_of_one: bool = False


@dataclass(frozen=True, slots=True)
class Select:
    """One SELECT: the top of a query, or any below it.

    Attributes:
        aliases: Names that were read as aliases of its list before its tables were
            known; none of them may be a column.
        alone: Names without a table that were read as columns of rows in the text; none
            of them may be a column of a table of FROM, too.
        gone: Columns of tables of FROM that were written out: what names one of them
            alone, in brackets, may mean it.
        kept: QUALIFY of an answer: which of its rows stay once windows are over them.
        sets: Of an answer with totals (ROLLUP and the like): which of the keys, by
            their places from 0, each of its grouping sets has; of others none.
        hides_keys: Whether its keys are those of groups that it aggregates: they need
            not be selected.
        stacks: Whether its rows are those of several answers: no two may have the same
            keys.
        units: Of several answers those, from 0, whose rows are counted as different
            units: each has one row a unit at most.
        unmatched: Columns of rows in the text, which a LEFT JOIN from them keeps as
            groups without a match; once these are written out, what they are.
        is_thinned: Whether WHERE or another join may leave some of these rows out.
        is_of_rows: Whether it rolls up what belongs to each row around it: by the unit
            key, too.
    """

    distinct: bool
    items: tuple[SelectItem, ...]
    source: TableName | DerivedTable
    joins: tuple[Join, ...]
    where: Expression | None
    group_by: tuple[Expression, ...]
    having: Expression | None
    order_by: tuple[OrderItem, ...]
    limit: int | None
    position: Position
    aliases: tuple[Name, ...] = ()
    kept: Expression | None = None
    sets: tuple[tuple[int, ...], ...] = ()
    hides_keys: bool = False
    alone: tuple[Name, ...] = ()
    gone: tuple[str, ...] = ()
    stacks: bool = False
    unmatched: tuple[Expression, ...] = ()
    is_thinned: bool = False
    is_of_rows: bool = False
    units: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class UnionAll:
    """Two or more SELECTs one after the other, below the top only."""

    parts: tuple[Select, ...]
    position: Position


@dataclass(frozen=True, slots=True)
class CommonTable:
    """``name AS (SELECT ...)`` of the WITH clause; may name those before it."""

    name: str
    query: Select | UnionAll
    position: Position


@dataclass(frozen=True, slots=True)
class Query:
    """A whole text: its common table expressions and the SELECT at the top.

    Attributes:
        common_tables: Of WITH.
        select: The top.
    """

    common_tables: tuple[CommonTable, ...]
    select: Select


Node = (
    Query
    | CommonTable
    | Select
    | UnionAll
    | SelectItem
    | OrderItem
    | TableName
    | DerivedTable
    | Join
    | CaseBranch
    | CastType
    | Frame
    | FrameBound
    | Position
    | Expression
)
