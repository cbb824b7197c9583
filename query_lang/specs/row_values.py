"""Values that are computed once for each row of a table, when it is loaded.

Each is written as an expression of the language and bound like one, so it is total. It
reads the row's own columns, and of other private tables what is constant within the
unit: so it is a function of the rows of its own unit (docs/proofs/ingestion.md).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NoReturn

from privacy.errors import CuratorError, QueryError, SqlSyntaxError
from privacy.schema import Dataset, Table
from query_lang.binding.environment import Environment
from query_lang.binding.expressions import ExpressionBinder
from query_lang.binding.scope import Relation, Scope, ValueColumn, table_columns
from query_lang.plans.expressions import Expression, Facts, slots_read
from query_lang.reading.parse import parse_query
from query_lang.syntax import rules
from query_lang.syntax.nodes import Exists, InQuery, Query, TableName
from query_lang.syntax.refusals import refuse
from query_lang.syntax.tokens import has_comment

_BEFORE: Final = "SELECT "
_NO_EXPRESSION: Final = (
    "it cannot be read as one expression of the language, such as discharged - admitted"
)
_UNIT: Final = -1
_UNIT_KEY: Final = "the unit column is no value, and is the same in all tables anyway"


class RowValueRefusedError(CuratorError):
    """An expression cannot be computed for each row of its table."""

    code = "refused"


@dataclass(frozen=True, slots=True)
class RowValue:
    """A value of each row, ready to be rendered.

    Attributes:
        expression: It, bound.
        reads: The table and column that each slot of the expression stands for.
    """

    expression: Expression
    reads: Mapping[int, tuple[str, str]]

    @property
    def facts(self) -> Facts:
        """What is publicly known of the value."""
        return self.expression.facts


class _NoSubqueries:
    """Refuses what would read rows beside the own one."""

    def in_query(self, tree: InQuery, binder: ExpressionBinder) -> NoReturn:
        """Refuse ``IN (SELECT ...)``."""
        del binder
        raise self._refusal(tree)

    def exists(self, tree: Exists, binder: ExpressionBinder) -> NoReturn:
        """Refuse ``EXISTS (SELECT ...)``."""
        del binder
        raise self._refusal(tree)

    def _refusal(self, tree: InQuery | Exists) -> QueryError:
        return refuse(
            rules.SUBQUERY_PLACE,
            tree.position,
            detail="a derived column holds no subquery",
            hint="name a column of another table that is constant_in_unit",
        )


def bind_row_value(text: str, table: Table, dataset: Dataset) -> RowValue:
    """Bind an expression over the rows of a private table; touches no data.

    Args:
        text: An expression of the language. Plain names mean the table's own columns;
            those of another private table are written with its name in front, and are
            NULL where the unit has no row there.
        table: As its files have it.
        dataset: The public schema, with the other tables as their files have them.

    Raises:
        RowValueRefusedError: It is no expression of the language, or it reads what is
            not constant within the unit from another table.
    """
    others = [t for t in dataset.tables.values() if t.name != table.name]
    known = [_Known(table, own=True)]
    known += [_Known(t, own=False) for t in others if not t.is_public]
    relations, reads = _relations(known)
    try:
        tree = _tree(text, table.name).select.items[0].expression
        environment = Environment(dataset, {})
        rows = ExpressionBinder(Scope(relations), environment, _NoSubqueries())
        bound = rows.value(tree)
    except SqlSyntaxError:
        raise RowValueRefusedError(_NO_EXPRESSION) from None
    except QueryError as error:
        raise RowValueRefusedError(_sentence(error)) from None
    if _UNIT in slots_read(bound):
        raise RowValueRefusedError(_UNIT_KEY)
    value = RowValue(
        bound, {slot: reads[slot].place for slot in sorted(slots_read(bound))}
    )
    for slot in value.reads:
        if not reads[slot].usable:
            raise RowValueRefusedError(_not_constant(*value.reads[slot], table.name))
    return value


@dataclass(frozen=True, slots=True)
class _Known:
    table: Table
    own: bool


@dataclass(frozen=True, slots=True)
class _Read:
    place: tuple[str, str]
    usable: bool


def _relations(known: list[_Known]) -> tuple[list[Relation], dict[int, _Read]]:
    """Return what may be named: the own table first, others with their name alone."""
    relations: list[Relation] = []
    reads: dict[int, _Read] = {}
    first = 0
    for each in known:
        table = each.table
        single = table.max_rows_per_unit == 1
        columns = table_columns(table, unit_slot=_UNIT, first_slot=first)
        for column in table.columns:
            found = columns[column.name]
            if not isinstance(found, ValueColumn):
                continue  # the unit's, which is no value
            constant = column.constant_in_unit or single
            usable = each.own or constant
            facts = replace(found.facts, constant=constant)
            if not each.own:
                facts = replace(facts, nullable=True)
            columns[column.name] = ValueColumn(found.slot, facts)
            reads[found.slot] = _Read((table.name, column.name), usable)
        merged = () if each.own else tuple(columns)
        relations.append(Relation(table.name, columns, merged))
        first += len(table.columns)
    return relations, reads


def _tree(text: str, table: str) -> Query:
    """Read one expression and nothing around it.

    Raises:
        QueryError: The text holds something else.
    """
    whole = f"{_BEFORE}{text}\nFROM {table}"
    tree = parse_query(whole)
    select = tree.select
    plain = (
        len(select.items) == 1
        and select.items[0].alias is None
        and isinstance(select.source, TableName)
        and select.source.name == table
        and select.source.alias is None
        and not select.joins
        and not has_comment(whole)
        and not any(_clauses(tree))
    )
    if not plain:
        raise refuse(
            rules.UNREAD_TEXT,
            select.position,
            detail="a derived column is one expression and nothing beside it",
            hint="such as discharged - admitted",
        )
    return tree


def _clauses(tree: Query) -> Iterator[bool]:
    select = tree.select
    yield bool(tree.common_tables)
    yield select.where is not None or select.having is not None
    yield bool(select.group_by) or bool(select.order_by)
    yield select.limit is not None or select.distinct


def _sentence(error: QueryError) -> str:
    """Return a refusal in words; a place in the text only beyond its first line."""
    column = error.column - len(_BEFORE) if error.line == 1 else error.column
    return f"{error.detail} (line {error.line}, column {max(1, column)}): {error.hint}"


def _not_constant(table: str, column: str, own: str) -> str:
    return (
        f"{table}.{column} may differ between rows of one unit, so no row of {own} has "
        "one value of it: name columns that are constant_in_unit, or of tables with "
        "max_rows_per_unit: 1"
    )
