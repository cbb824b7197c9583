"""From declarations to the public schema that every other package reads."""

from dataclasses import replace

from privacy.schema import (
    Column,
    Domain,
    HierarchyDomain,
    RangeDomain,
    Table,
    ValuesDomain,
)
from upstream.manifests.declarations import ColumnSpec, TableSpec
from upstream.manifests.literals import typed_literal


def table_schema(table: TableSpec) -> Table:
    """Return the public schema of a checked table, its derived columns last."""
    read = file_schema(table)
    derived = tuple(
        replace(_column(each.as_column(), is_unit=False), expression=each.expression)
        for each in table.derived or ()
    )
    return replace(read, columns=(*read.columns, *derived))


def file_schema(table: TableSpec) -> Table:
    """Return the public schema of a checked table as its files have it."""
    return Table(
        name=table.name,
        columns=tuple(
            _column(column, is_unit=column.name == table.unit_column)
            for column in table.columns
        ),
        unit_column=table.unit_column,
        max_rows_per_unit=table.max_rows_per_unit,
        key=table.key,
        fan_out=tuple((fan.columns, fan.max) for fan in table.fan_out),
        max_rows=table.most_rows,
        listed=bool(table.listed),
    )


def _column(column: ColumnSpec, *, is_unit: bool) -> Column:
    return Column(
        name=column.name,
        type=column.type,
        scale=column.scale or 0,
        nullable=column.nullable and not is_unit,
        constant_in_unit=column.constant_in_unit,
        domain=domain_of(column),
        max_length=column.length_bytes,
    )


def domain_of(column: ColumnSpec) -> Domain | None:
    """Return a checked column's domain in public values, or None."""
    spec = column.domain
    if spec is None:
        return None
    if spec.hierarchy is not None:
        return HierarchyDomain(spec.hierarchy)
    scale = column.scale or 0
    if spec.min is not None and spec.max is not None:
        return RangeDomain(
            typed_literal(spec.min, column.type, scale),
            typed_literal(spec.max, column.type, scale),
        )
    values = [typed_literal(v, column.type, scale) for v in spec.values or ()]
    return ValuesDomain(tuple(values), other=spec.other)
