"""Derived columns: bound against the manifest that declares them, in the order of need.

A load computes them of each stored row, so they read what is stored: values within
their domains, constants of the unit, rows within the bound.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from privacy.schema import ColumnType, Dataset
from query_lang.specs.row_values import RowValue, RowValueRefusedError, bind_row_value
from upstream.manifests.declarations import ColumnSpec, TableSpec
from upstream.manifests.public_schema import file_schema
from upstream.manifests.yaml_nodes import Place

Broken = Iterator[tuple[Place, str]]


@dataclass(frozen=True, slots=True)
class DerivedColumn:
    """A declared column and the value that each row has there.

    Attributes:
        column: As others are declared: its type and its domain hold what is stored.
        value: Bound over the columns that files have.
    """

    column: ColumnSpec
    value: RowValue


def derived_columns(
    table: TableSpec, tables: Sequence[TableSpec], schema: Dataset
) -> tuple[DerivedColumn, ...]:
    """Return the derived columns of a table of a checked manifest.

    Args:
        table: Which one.
        tables: All tables of the manifest.
        schema: The manifest's public schema.
    """
    known = as_files_have_it(tables, schema)
    return tuple(
        DerivedColumn(
            each.as_column(),
            bind_row_value(each.expression, known.tables[table.name], known),
        )
        for each in table.derived or ()
    )


def as_files_have_it(tables: Sequence[TableSpec], schema: Dataset) -> Dataset:
    """Return a public schema without its derived columns."""
    read = {table.name: file_schema(table) for table in tables}
    return replace(schema, tables=MappingProxyType(read))


def broken_derived_rules(tables: Sequence[TableSpec], schema: Dataset) -> Broken:
    """Yield what is wrong with expressions, with the path of the node.

    Args:
        tables: Of a manifest whose other declarations agree.
        schema: Its public schema, with its own hierarchies.
    """
    known = as_files_have_it(tables, schema)
    needs: dict[str, set[str]] = {table.name: set() for table in tables}
    for index, table in enumerate(tables):
        for number, each in enumerate(table.derived or ()):
            at: Place = ("tables", index, "derived", number)
            try:
                own = known.tables[table.name]
                bound = bind_row_value(each.expression, own, known)
            except RowValueRefusedError as error:
                yield (*at, "expression"), f"expression of {each.name}: {error}"
                continue
            yield from _facts(at, each.as_column(), bound)
            needs[table.name] |= {name for name, _ in bound.reads.values()}
    yield from _circles(tables, needs)


def storing_order(
    tables: Sequence[TableSpec], derived: Mapping[str, Sequence[DerivedColumn]]
) -> list[TableSpec]:
    """Return private tables in an order in which what is read comes before who reads.

    Args:
        tables: Those without circles, as the manifest's rules hold them.
        derived: The derived columns of each, by its name.
    """
    by_name = {table.name: table for table in tables}
    found: dict[str, TableSpec] = {}

    def take(table: TableSpec) -> None:
        if table.name in found:
            return
        for each in derived[table.name]:
            for name, _ in each.value.reads.values():
                if name != table.name:
                    take(by_name[name])
        found[table.name] = table

    for table in tables:
        take(table)
    return list(found.values())


def _facts(at: Place, column: ColumnSpec, bound: RowValue) -> Broken:
    """Yield where a declaration says something else than its expression."""
    facts, name = bound.facts, column.name
    told, found = (
        _typed(column.type, column.scale or 0),
        _typed(facts.type, facts.scale),
    )
    if told != found:
        sentence = (
            f"{name} is declared as {told}, and its expression is {found}: declare "
            f"that, or write CAST(... AS {_cast(column)})"
        )
        yield (*at, "type"), sentence
    if column.constant_in_unit and not facts.constant:
        sentence = (
            f"{name} cannot be constant_in_unit: its expression reads a column that "
            "may differ between rows of one unit"
        )
        yield (*at, "constant_in_unit"), sentence


def _typed(kind: ColumnType, scale: int) -> str:
    if kind is not ColumnType.DECIMAL:
        return str(kind.value)
    return f"{kind.value} of scale {scale}"


def _cast(column: ColumnSpec) -> str:
    if column.type is ColumnType.DECIMAL:
        return f"DECIMAL(18, {column.scale or 0})"
    return str(column.type.value).upper()


def _circles(tables: Sequence[TableSpec], needs: Mapping[str, set[str]]) -> Broken:
    """Yield tables whose derived columns need one another's rows."""
    for index, table in enumerate(tables):
        reached: set[str] = set()
        ahead = needs[table.name] - {table.name}
        while ahead:
            reached |= ahead
            ahead = set().union(*(needs[n] - {n} for n in ahead)) - reached
        if table.name in reached:
            others = " and ".join(sorted(reached - {table.name}))
            sentence = (
                f"derived columns of {table.name} and of {others} read each other's "
                "tables: keep those of one of them"
            )
            yield ("tables", index, "derived"), sentence
