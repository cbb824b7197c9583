"""Which tables of a text are rows of literals, and what the rows are."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from query_lang.rewriting.constants.folding import folded
from query_lang.rewriting.constants.series import MOST_ROWS, members
from query_lang.rewriting.constants.written import Values, reads_literals, with_values
from query_lang.rewriting.trees import output_of, parts
from query_lang.syntax import rules
from query_lang.syntax.idioms import (
    ConstantRows,
    ListedSource,
    NoTable,
    Series,
    SetOperation,
    WrittenSelect,
)
from query_lang.syntax.nodes import (
    BooleanLiteral,
    DerivedTable,
    Expression,
    Name,
    NullLiteral,
    NumberLiteral,
    Position,
    Select,
    Star,
    StringLiteral,
    TableName,
    TypedLiteral,
    UnionAll,
)
from query_lang.syntax.refusals import refuse

MOST_VALUES: Final = 2_560
"""Of a table of literals that is computed of another: 256 rows of ten columns."""

MOST_FOLDED: Final = 20_000
"""Nodes that are computed of literals in a text: some 10 microseconds each."""

LITERALS = (StringLiteral, NumberLiteral, TypedLiteral, BooleanLiteral, NullLiteral)
Row = tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Constants:
    """A table of literals.

    Attributes:
        columns: What they are called.
        rows: Of literals alone.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(slots=True)
class Known:
    """What is known of the tables of literals of a text.

    Attributes:
        tables: Of WITH, by name.
        folded: Nodes that were computed of literals, in all of the text.
    """

    tables: dict[str, Constants] = field(default_factory=dict)
    folded: int = 0

    def fold(self, tree: object, times: int, position: Position) -> None:
        """Count a tree that is computed so many times, before it is.

        Raises:
            SqlNotAllowedError: Rule ``too_complex``.
        """
        self.folded += times * sum(1 for _ in parts(tree))
        if self.folded > MOST_FOLDED:
            raise refuse(rules.TOO_COMPLEX, position, detail=_TOO_LONG, hint=_FEWER)


def constants_in(source: TableName | DerivedTable, known: Known) -> Constants | None:
    """Return the rows of an item of FROM, where they are literals.

    Raises:
        SqlNotAllowedError: They are too many, of unequal width or no literals.
    """
    if isinstance(source, TableName):
        return known.tables.get(source.name) if source.schema is None else None
    columns = source.columns if isinstance(source, ListedSource) else ()
    return constants_of(source.query, columns, source.alias, known)


def constants_of(
    query: Select | UnionAll, columns: Sequence[str], called: str, known: Known
) -> Constants | None:
    """Return the rows of a query of literals alone, under the names of its columns."""
    found = _rows_of(query, called, known)
    if found is None:
        return None
    if len(found.rows) > MOST_ROWS:
        raise refuse(rules.CONSTANT_ROWS, query.position)
    if columns and len(columns) != len(found.columns):
        detail = f"{len(columns)} names for {len(found.columns)} columns"
        raise refuse(rules.CONSTANT_ROWS, query.position, detail=detail)
    return replace(found, columns=tuple(columns) or found.columns)


def _rows_of(  # noqa: PLR0911 - an arm a kind
    query: Select | UnionAll, called: str, known: Known
) -> Constants | None:
    if isinstance(query, ConstantRows):
        names = tuple(f"column{place + 1}" for place in range(len(query.rows[0])))
        return _checked(names, query.rows, query.position)
    if isinstance(query, Series):
        rows = tuple((each,) for each in members(query))
        return Constants((called or query.name.lower(),), rows)
    if isinstance(query, SetOperation):
        return None
    if isinstance(query, UnionAll):
        return _one_after_the_other(query, known)
    return _projected(query, known)


def _one_after_the_other(query: UnionAll, known: Known) -> Constants | None:
    columns: tuple[str, ...] = ()
    rows: list[Row] = []
    for part in query.parts:
        found = _projected(part, known)
        if found is None:
            return None
        columns = columns or found.columns
        rows += found.rows
        if len(rows) > MOST_ROWS:
            raise refuse(rules.CONSTANT_ROWS, part.position)
    return _checked(columns, rows, query.position)


def _projected(  # noqa: PLR0911 - an arm a form
    select: Select, known: Known
) -> Constants | None:
    """Return what a SELECT makes of literals, or of the rows of a table of them."""
    clauses = (select.joins, select.where, select.group_by, select.having)
    rest = (select.order_by, select.limit, select.distinct, select.kept)
    says_more = isinstance(select, WrittenSelect) and select.says_more()
    if any((*clauses, *rest)) or says_more:  # GROUP BY ALL keeps fewer rows
        return None
    if isinstance(select.source, NoTable):
        below, name = Constants((), ((),)), ""
    else:
        found = constants_in(select.source, known)
        if found is None:
            return None
        below, name = found, select.source.alias or _name_of(select.source)
    if any(isinstance(item.expression, Star) for item in select.items):
        return below if len(select.items) == 1 else None
    if len(below.rows) * len(select.items) > MOST_VALUES:
        raise refuse(rules.CONSTANT_ROWS, select.position, detail=_TOO_WIDE)
    trees = tuple(item.expression for item in select.items)
    known.fold(trees, len(below.rows), select.position)
    rows: list[Row] = []
    for each in below.rows:
        row = tuple(at_row(tree, below, name, each) for tree in trees)
        if not _are_literals(row):
            return None
        rows.append(row)
    return Constants(_titles(select), tuple(rows))


def _are_literals(row: Row) -> bool:
    return all(isinstance(each, LITERALS) for each in row)


def _titles(select: Select) -> tuple[str, ...]:
    names = [output_of(item) for item in select.items]
    return tuple(each or f"column{n + 1}" for n, each in enumerate(names))


_TOO_LONG = (
    f"what is computed of rows in the text has {MOST_FOLDED:,} parts at most, counted "
    "in each of the rows"
)
_FEWER = "write the values as they shall be, or fewer rows"
_TOO_WIDE = f"a table of rows in the text has {MOST_VALUES:,} values at most"


def _name_of(source: TableName | DerivedTable) -> str:
    return source.name if isinstance(source, TableName) else ""


def at_row(tree: Expression, table: Constants, called: str, row: Row) -> Expression:
    """Return an expression over a table of literals at one of its rows."""
    return folded(with_values(tree, called, dict(zip(table.columns, row, strict=True))))


def _plain(tree: Expression) -> Expression:
    return tree if isinstance(tree, LITERALS) else folded(tree)


def _checked(names: tuple[str, ...], rows: Sequence[Row], at: Position) -> Constants:
    plain = tuple(tuple(map(_plain, row)) for row in rows)
    if any(len(row) != len(names) for row in plain):
        detail = "each row has as many values as the first"
        raise refuse(rules.CONSTANT_ROWS, at, detail=detail)
    for each in (each for row in plain for each in row):
        if not isinstance(each, LITERALS):
            detail = "rows in the text are of literals alone"
            raise refuse(rules.CONSTANT_ROWS, each.position, detail=detail)
    return Constants(names, plain)


@dataclass(frozen=True, slots=True)
class Joined:
    """A table of literals that a SELECT joins.

    Attributes:
        table: Its rows.
        called: Its name in FROM.
        conditions: What the join says of them.
        keeps_private: LEFT JOIN of it: rows that meet none stay.
    """

    table: Constants
    called: str
    conditions: tuple[Expression, ...]
    keeps_private: bool = False

    def reads(self, tree: object) -> bool:
        """Whether an expression has a column of it."""
        return reads_literals(tree, self.called, frozenset(self.table.columns))

    def is_of(self, part: object) -> bool:
        """Whether a part is a column of it; a name alone is, where it has that name."""
        if not isinstance(part, Name) or part.qualifier not in {None, self.called}:
            return False
        return part.name in self.table.columns

    def at(self, tree: Expression, row: Row) -> Expression:
        """Return an expression at one of its rows."""
        return at_row(tree, self.table, self.called, row)

    def written(self, called: str, values: Values) -> "Joined":
        """Return it with the columns of another table written out."""
        said = with_values(self.conditions, called, values)
        return replace(self, conditions=said)
