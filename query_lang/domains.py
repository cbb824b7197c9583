"""The public cells of group keys: declared, never learnt from rows."""

from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from itertools import product
from math import prod

from privacy.schema import (
    Column,
    ColumnType,
    RangeDomain,
    Scalar,
    ValuesDomain,
)
from query_lang import rules
from query_lang.compiled import Cell
from query_lang.predicates import ColumnRef
from query_lang.refusals import no_public_domain, refuse, too_many_groups
from query_lang.syntax import Position

MAX_CELLS = 10_000


def cell_count(column: Column) -> int | None:
    """Return how many cells a key has (values, ``other``, NULL), or None."""
    values = _value_count(column)
    return None if values is None else values + column.nullable


def _value_count(column: Column) -> int | None:
    count: int | None = None
    match column.domain:
        case ValuesDomain() as listed:
            count = len(listed.all_values())
        case RangeDomain(int(low), int(high)) if column.type is ColumnType.INTEGER:
            count = max(0, high - low + 1)
        case RangeDomain(date() as low, date() as high) if (
            column.type is ColumnType.DATE
        ):
            count = max(0, (high - low).days + 1)
        case None if column.type is ColumnType.BOOLEAN:
            count = 2
        case _:
            pass
    return count


def key_values(column: Column) -> tuple[Scalar | None, ...]:
    """Return a countable key's cells in declared order, NULL last where nullable."""
    null: tuple[None, ...] = (None,) if column.nullable else ()
    return (*_values(column), *null)


def _values(column: Column) -> Iterable[Scalar]:
    match column.domain:
        case ValuesDomain() as listed:
            return listed.all_values()
        case RangeDomain(date() as low, date() as high):
            return (low + timedelta(days=n) for n in range((high - low).days + 1))
        case RangeDomain(int(low), int(high)):
            return range(low, high + 1)
        case _:
            return (False, True)


def check_keys(keys: tuple[ColumnRef, ...], positions: tuple[Position, ...]) -> None:
    """Refuse keys without a public domain, and more than 10,000 cells.

    Raises:
        NoPublicDomainError: A key's values are not declared one by one.
        TooManyGroupsError: The product of the domains passes the limit.
        SqlNotAllowedError: A key has no cell at all.
    """
    sizes: list[int] = []
    for key, position in zip(keys, positions, strict=True):
        size = cell_count(key.column)
        if size is None:
            name, kind = key.column.name, key.column.type.value
            detail = f"{name} ({kind}) has no declared list of values to group by"
            raise no_public_domain(position, detail=detail)
        if size == 0:
            raise refuse(rules.NO_CELLS, position)
        sizes.append(size)
    if prod(sizes) > MAX_CELLS:
        raise too_many_groups(positions[0], cells=prod(sizes))


def cells(keys: tuple[ColumnRef, ...]) -> tuple[Cell, ...]:
    """Return all cells of checked keys, the first key slowest; ``()`` without keys."""
    return tuple(product(*(key_values(key.column) for key in keys)))


def stored_cell(cell: Cell, keys: tuple[ColumnRef, ...]) -> Cell:
    """Return a cell as an engine returns it: decimals as scaled integers."""
    return tuple(
        stored(value, key.column) if isinstance(value, Decimal) else value
        for value, key in zip(cell, keys, strict=True)
    )


def stored(value: Decimal, column: Column) -> Scalar:
    """Return a decimal of the column's grid in units of its last place."""
    numerator, denominator = value.as_integer_ratio()
    return int(numerator * 10**column.scale) // denominator
