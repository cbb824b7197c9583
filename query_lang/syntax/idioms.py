"""What is written in another dialect's words, as it was written.

``query_lang.rewriting`` turns each into nodes that have the same meaning, before
anything is bound: no idiom leaves ``parse_query``, and none can be sent over the wire.
"""

from dataclasses import dataclass
from typing import Literal

from query_lang.syntax.nodes import (
    AggregateCall,
    CommonTable,
    CountRows,
    DerivedTable,
    Expression,
    Frame,
    FunctionCall,
    Idiom,
    Join,
    OrderItem,
    Position,
    Select,
    TableName,
    UnionAll,
)

QuantifierWord = Literal["ANY", "SOME", "ALL"]
SetWord = Literal["UNION", "INTERSECT", "EXCEPT"]
JoinWord = Literal["RIGHT", "CROSS", ","]
GroupingWord = Literal[
    "ROLLUP", "CUBE", "GROUPING SETS", "WITH ROLLUP", "WITH CUBE", ""
]
PatternWord = Literal["LIKE", "ILIKE", "SIMILAR", "~", "~*", "RLIKE", "REGEXP"]


@dataclass(frozen=True, slots=True)
class OtherCall(Idiom):
    """A call by a name of another dialect: ``IF(c, a, b)``, ``COUNTIF(c)``."""

    name: str  # in capitals
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class OtherLike(Idiom):
    """``value [NOT] ILIKE pattern [ESCAPE sign]``, SIMILAR TO, or ``value ~ regex``."""

    value: Expression
    pattern: Expression
    word: PatternWord
    escape: Expression | None
    negated: bool


@dataclass(frozen=True, slots=True)
class LikeEach(Idiom):
    """``value LIKE ANY ('a%', 'b%')``, ILIKE, SOME or ALL."""

    value: Expression
    patterns: tuple[Expression, ...]
    word: PatternWord
    quantifier: QuantifierWord


@dataclass(frozen=True, slots=True)
class Filtered(Idiom):
    """``aggregate FILTER (WHERE condition)``."""

    aggregate: AggregateCall | CountRows | Idiom
    condition: Expression


@dataclass(frozen=True, slots=True)
class NamedWindow(Idiom):
    """``function OVER w``, or ``OVER (w ORDER BY x ROWS ...)``, by a name of WINDOW."""

    function: AggregateCall | CountRows | FunctionCall | Idiom
    base: str
    partition_by: tuple[Expression, ...]
    order_by: tuple[OrderItem, ...]
    frame: Frame | None


@dataclass(frozen=True, slots=True)
class WindowDefinition:
    """``w AS (v PARTITION BY ... ORDER BY ... ROWS ...)`` of WINDOW."""

    position: Position
    name: str
    base: str | None
    partition_by: tuple[Expression, ...]
    order_by: tuple[OrderItem, ...]
    frame: Frame | None


@dataclass(frozen=True, slots=True)
class ScalarQuery(Idiom):
    """``(SELECT COUNT(*) FROM encounters)`` as a value."""

    query: Select | UnionAll


@dataclass(frozen=True, slots=True)
class GroupedKeys(Idiom):
    """``ROLLUP (a, (b, c))`` and the like, an item of GROUP BY.

    Attributes:
        word: Which; WITH ROLLUP and WITH CUBE stand behind all keys, and nothing in
            front of several keys in brackets.
        items: Keys, or more of these.
    """

    word: GroupingWord
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class WithinGroup(Idiom):
    """``name(arguments) WITHIN GROUP (ORDER BY item)``."""

    name: str  # in capitals
    arguments: tuple[Expression, ...]
    order_by: tuple[OrderItem, ...]


@dataclass(frozen=True, slots=True)
class QuantileAt(Idiom):
    """``APPROX_QUANTILES(value, parts)[OFFSET(at)]``; ORDINAL counts from 1."""

    value: Expression
    parts: int
    word: str  # in capitals
    at: int


@dataclass(frozen=True, slots=True)
class ArrayElement(Idiom):
    """``ARRAY_AGG(value ORDER BY item [LIMIT n])[OFFSET(0)]``, or ``[1]``."""

    value: Expression
    order_by: tuple[OrderItem, ...]
    limit: int | None
    word: str  # in capitals; empty where the number stands alone
    at: int


@dataclass(frozen=True, slots=True)
class JoinedTexts(Idiom):
    """``STRING_AGG(DISTINCT value, separator [ORDER BY value])``."""

    value: Expression
    separator: Expression
    order_by: tuple[OrderItem, ...]


@dataclass(frozen=True, slots=True)
class IsTruth(Idiom):
    """``value IS [NOT] TRUE``, FALSE or UNKNOWN, whose truth is None."""

    value: Expression
    truth: bool | None
    negated: bool


@dataclass(frozen=True, slots=True)
class IsDistinct(Idiom):
    """``left IS [NOT] DISTINCT FROM right``."""

    left: Expression
    right: Expression
    negated: bool


@dataclass(frozen=True, slots=True)
class SymmetricBetween(Idiom):
    """``value [NOT] BETWEEN SYMMETRIC low AND high``."""

    value: Expression
    low: Expression
    high: Expression
    negated: bool


@dataclass(frozen=True, slots=True)
class RowIn(Idiom):
    """``(a, b) [NOT] IN ((1, 2), (3, 4))``."""

    values: tuple[Expression, ...]
    rows: tuple[tuple[Expression, ...], ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class RowInQuery(Idiom):
    """``(a, b) [NOT] IN (SELECT c, d ...)``."""

    values: tuple[Expression, ...]
    query: Select | UnionAll
    negated: bool


@dataclass(frozen=True, slots=True)
class Overlaps(Idiom):
    """``(start, end) OVERLAPS (start, end)``; an end may be a length of time."""

    one: tuple[Expression, ...]
    other: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class QuantifiedList(Idiom):
    """``value operator ANY (a, b)``.

    Attributes:
        value: What is compared.
        operator: As written.
        word: ANY, SOME or ALL.
        items: Of the list.
        is_text: Whether an item is cast to text: the list compares with texts alone.
    """

    value: Expression
    operator: str
    word: QuantifierWord
    items: tuple[Expression, ...]
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Quantified(Idiom):
    """``value operator ANY (SELECT ...)``."""

    value: Expression
    operator: str
    word: QuantifierWord
    query: Select | UnionAll


@dataclass(frozen=True, slots=True)
class WrittenSelect(Select):
    """A SELECT with clauses of other dialects; it stands where a Select may.

    Attributes:
        common_tables: Of a WITH in front of it, below the top.
        distinct_on: The keys of DISTINCT ON.
        qualify: The condition of QUALIFY.
        windows: Those that WINDOW names, before QUALIFY or after it.
        groups_by_all: GROUP BY ALL.
        fetches: FETCH FIRST n ROWS ONLY stands for LIMIT n.
        limits_nothing: LIMIT ALL.
        has_top: TOP n stands for LIMIT n.
    """

    common_tables: tuple[CommonTable, ...] = ()
    distinct_on: tuple[Expression, ...] = ()
    qualify: Expression | None = None
    windows: tuple[WindowDefinition, ...] = ()
    groups_by_all: bool = False
    fetches: bool = False
    limits_nothing: bool = False
    has_top: bool = False

    def says_more(self) -> bool:
        """Whether any of these clauses was written."""
        clauses = (
            self.common_tables,
            self.distinct_on,
            self.groups_by_all,
            self.windows,
        )
        limits = (self.fetches, self.limits_nothing, self.has_top)
        return self.qualify is not None or any((*clauses, *limits))


@dataclass(frozen=True, slots=True)
class WrittenJoin(Join):
    """A join of another kind; CROSS and commas tie nothing."""

    word: JoinWord = ","


@dataclass(frozen=True, slots=True)
class FirstRowJoin(Join):
    """A join with the first of the rows that each row before it meets.

    Attributes:
        words: LATERAL and APPLY, as written.
    """

    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenUnion(UnionAll):
    """A UNION ALL with a WITH in front of it, below the top."""

    common_tables: tuple[CommonTable, ...] = ()


@dataclass(frozen=True, slots=True)
class SetOperation(UnionAll):
    """``left UNION right``, INTERSECT or EXCEPT, of different rows; ``parts`` is empty.

    Attributes:
        sides: The two queries.
        word: MINUS is EXCEPT.
        common_tables: Of a WITH in front of it.
    """

    sides: tuple[Select | UnionAll, Select | UnionAll] | None = None
    word: SetWord = "UNION"
    common_tables: tuple[CommonTable, ...] = ()


@dataclass(frozen=True, slots=True)
class ConstantRows(UnionAll):
    """``VALUES ('a', 1), ('b', 2)``; ``parts`` is empty."""

    rows: tuple[tuple[Expression, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Series(UnionAll):
    """``generate_series(1, 12)`` as a table; ``parts`` is empty.

    Attributes:
        name: In capitals; BigQuery's arrays have names of their own.
        arguments: First, last, and perhaps the step.
        is_array: Whether UNNEST stands around it.
    """

    name: str = ""
    arguments: tuple[Expression, ...] = ()
    is_array: bool = False


@dataclass(frozen=True, slots=True)
class ListedTable(CommonTable):
    """``name (a, b) AS (SELECT ...)``: a table of WITH, its columns named."""

    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedSource(DerivedTable):
    """``(SELECT ...) AS alias (a, b)``, likewise."""

    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoTable(TableName):
    """What a SELECT without FROM reads; its name is empty."""


@dataclass(frozen=True, slots=True)
class UnionAnswer(Select):
    """UNION of answers at the top, with the ORDER BY and LIMIT of all; no items.

    Attributes:
        place: Where the word stands.
    """

    place: Position | None = None
