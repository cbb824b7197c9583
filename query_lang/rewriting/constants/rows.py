"""Which tables of a text are rows of literals, and what the rows are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from query_lang.rewriting.constants.folding import folded
from query_lang.rewriting.constants.series import MOST_ROWS, members
from query_lang.rewriting.constants.written import with_values
from query_lang.rewriting.trees import output_of
from query_lang.syntax import rules
from query_lang.syntax.idioms import (
    ConstantRows,
    ListedSource,
    NoTable,
    Series,
    SetOperation,
)
from query_lang.syntax.nodes import (
    BooleanLiteral,
    DerivedTable,
    Expression,
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

    def beside(self, other: "Constants") -> "Constants":
        """Return each row beside each of another table's."""
        rows = tuple((*one, *two) for one, two in product(self.rows, other.rows))
        return Constants((*self.columns, *other.columns), rows)


Known = Mapping[str, Constants]
"""Of tables of WITH, by name."""


def constants_in(source: TableName | DerivedTable, known: Known) -> Constants | None:
    """Return the rows of an item of FROM, where they are literals.

    Raises:
        SqlNotAllowedError: They are too many, of unequal width or no literals.
    """
    if isinstance(source, TableName):
        return known.get(source.name) if source.schema is None else None
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
    parts = [_projected(part, known) for part in query.parts]
    found = [part for part in parts if part is not None]
    if not found or len(found) < len(parts):
        return None
    rows = tuple(row for part in found for row in part.rows)
    return _checked(found[0].columns, rows, query.position)


def _projected(  # noqa: PLR0911 - an arm a form
    select: Select, known: Known
) -> Constants | None:
    """Return what a SELECT makes of literals, or of the rows of a table of them."""
    clauses = (select.joins, select.where, select.group_by, select.having)
    rest = (select.order_by, select.limit, select.distinct, select.kept)
    if any((*clauses, *rest)):
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
    rows = tuple(
        tuple(at_row(item.expression, below, name, row) for item in select.items)
        for row in below.rows
    )
    if not all(isinstance(each, LITERALS) for row in rows for each in row):
        return None
    names = [output_of(item) for item in select.items]
    named = tuple(each or f"column{n + 1}" for n, each in enumerate(names))
    return Constants(named, rows)


def _name_of(source: TableName | DerivedTable) -> str:
    return source.name if isinstance(source, TableName) else ""


def at_row(tree: Expression, table: Constants, called: str, row: Row) -> Expression:
    """Return an expression over a table of literals at one of its rows."""
    return folded(with_values(tree, called, dict(zip(table.columns, row, strict=True))))


def _checked(names: tuple[str, ...], rows: Sequence[Row], at: Position) -> Constants:
    plain = tuple(tuple(map(folded, row)) for row in rows)
    if any(len(row) != len(names) for row in plain):
        detail = "each row has as many values as the first"
        raise refuse(rules.CONSTANT_ROWS, at, detail=detail)
    for each in (each for row in plain for each in row):
        if not isinstance(each, LITERALS):
            detail = "rows in the text are of literals alone"
            raise refuse(rules.CONSTANT_ROWS, each.position, detail=detail)
    return Constants(names, plain)
