"""Made-up rows: a function of the public schema and the row's number, never of data."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from privacy.schema import (
    Column,
    ColumnType,
    Dataset,
    HierarchyDomain,
    RangeDomain,
    Scalar,
    Table,
    ValuesDomain,
)
from privacy.schema_json import scalar_to_json
from query_lang.hierarchies import level_values
from server.use_cases.answers import Document

_ROWS_PER_UNIT = 3  # at most; a table may declare fewer
_NULL_EVERY = 8
_DAYS = 365
_SMALL = 100  # of numbers without a domain


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value stands: its row, the row's unit, and its number in the unit."""

    row: int
    unit: int
    in_unit: int


def made_up_sample(dataset: Dataset, table: Table, rows: int) -> Document:
    """Return ``rows`` made-up rows of a table, as JSON.

    They fit the declared types, domains, nullability, keys and row bound. The same
    schema brings the same rows, and a row is the same however many are asked for.
    """
    per_unit = min(table.max_rows_per_unit or 1, _ROWS_PER_UNIT)
    places = [_Place(i, i // per_unit, i % per_unit) for i in range(rows)]
    return {
        "made_up": True,
        "dataset": dataset.name,
        "table": table.name,
        "columns": [{"name": c.name, "type": c.type.value} for c in table.columns],
        "rows": [
            [_cell(dataset, table, column, place) for column in table.columns]
            for place in places
        ],
    }


def _cell(dataset: Dataset, table: Table, column: Column, place: _Place) -> object:
    value = _value(dataset, table, column, place)
    return None if value is None else scalar_to_json(value)


def _value(
    dataset: Dataset, table: Table, column: Column, place: _Place
) -> Scalar | None:
    if column.name == table.unit_column:
        made = place.unit + 1
        return made if column.type is ColumnType.INTEGER else f"made-up-{made}"
    if column.name in table.key:
        return _nth(dataset, column, place.row if table.is_public else place.in_unit)
    turn = place.unit if column.constant_in_unit else place.row
    drawn = _draw(table.name, column.name, turn)
    if column.nullable and drawn % _NULL_EVERY == 0:
        return None
    return _nth(dataset, column, drawn // _NULL_EVERY)


def _draw(*words: object) -> int:
    """Return a number that looks like chance and is none."""
    text = "\0".join(str(word) for word in words)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def _nth(dataset: Dataset, column: Column, index: int) -> Scalar:
    """Return the ``index``-th value that a column may take, in a circle."""
    domain = column.domain
    if isinstance(domain, ValuesDomain):
        return _pick(domain.all_values(), index)
    if isinstance(domain, HierarchyDomain):
        return _pick(_codes(dataset, domain), index)
    if isinstance(domain, RangeDomain):
        return _between(column, domain, index)
    return _undeclared(dataset, column, index)


def _pick(values: Sequence[Scalar], index: int) -> Scalar:
    return values[index % len(values)]


def _codes(dataset: Dataset, domain: HierarchyDomain) -> Sequence[str]:
    own = dataset.hierarchies
    if domain.name in own:
        return tuple(own[domain.name].codes)
    return tuple(str(code) for code in level_values(domain, "category", own))


def _between(column: Column, domain: RangeDomain, index: int) -> Scalar:
    low, high = domain.minimum, domain.maximum
    if isinstance(low, datetime) and isinstance(high, datetime):
        return low + timedelta(
            minutes=index % (1 + int((high - low).total_seconds() // 60))
        )
    if isinstance(low, date) and isinstance(high, date):
        return low + timedelta(days=index % (1 + (high - low).days))
    if isinstance(low, Decimal) or column.type is ColumnType.DECIMAL:
        step = Decimal(1).scaleb(-column.scale)
        low, high = Decimal(str(low)), Decimal(str(high))
        return (low + step * (index % (1 + int((high - low) / step)))).quantize(step)
    return int(str(low)) + index % (1 + int(str(high)) - int(str(low)))


def _undeclared(dataset: Dataset, column: Column, index: int) -> Scalar:
    """Return a value of a column that declares no domain."""
    day = dataset.snapshot_date - timedelta(days=index % _DAYS)
    made: dict[ColumnType, Scalar] = {
        ColumnType.INTEGER: index % _SMALL,
        ColumnType.DECIMAL: Decimal(index % _SMALL).scaleb(-column.scale),
        ColumnType.DATE: day,
        ColumnType.TIMESTAMP: datetime.combine(day, time(hour=index % 24)),
        ColumnType.TEXT: f"{column.name}-{index % _SMALL}",
        ColumnType.BOOLEAN: index % 2 == 1,
    }
    return made[column.type]
