"""Made-up rows: a function of the public schema and the row's number, never of data."""

import csv
import hashlib
import io
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
from privacy.schema_json import rows_to_json, scalar_to_json
from query_lang.hierarchies import level_values
from server.use_cases.datasets.replies import SampleShape
from server.use_cases.releases.replies import CellValue

MOST_ROWS = 1000
FEW_ROWS = 20
"""What is made up at most, and where nobody says how many."""

_ROWS_PER_UNIT = 3  # at most; a table may declare fewer
_NULL_EVERY = 8
_DAYS = 365
_SMALL = 100  # of numbers without a domain
_SHOWN = 10  # rows of a public table that others name; whoever looks at it sees them


@dataclass(frozen=True, slots=True)
class _RowPosition:
    """Where a value stands: its row, the row's unit, and its number in the unit."""

    row: int
    unit: int
    in_unit: int


@dataclass(frozen=True, slots=True)
class _Made:
    """A column to make up, and what is the same in all its rows: found out once.

    Attributes:
        dataset: Whose tables were walked.
        table: The column's own.
        column: What is declared.
        owner: The table whose key the column names, if another's does.
        is_of_unit: Whether a unit's rows have one value.
        listed: The values of its domain, if they can be listed.
    """

    dataset: Dataset
    table: Table
    column: Column
    owner: Table | None
    is_of_unit: bool
    listed: Sequence[Scalar] | None


def made_up_sample(dataset: Dataset, table: Table, rows: int) -> SampleShape:
    """Return ``rows`` made-up rows of a table, as JSON.

    They fit the declared types, domains, nullability, keys and row bound. A column that
    another table has as a key names a row of it; what is constant in a unit is the same
    in all tables. A listed public table has its own rows. The same schema brings the
    same rows, and a row is the same however many are asked for.
    """
    return {
        "made_up": True,
        "dataset": dataset.name,
        "table": table.name,
        "columns": [{"name": c.name, "type": c.type.value} for c in table.columns],
        "rows": list(map(list, rows_to_json(table.rows[:rows])))
        or _made_up_rows(dataset, table, rows),
    }


def _made_up_rows(dataset: Dataset, table: Table, rows: int) -> list[list[CellValue]]:
    per_unit = 1 if table.is_public else _rows_made_up(table)
    places = [_RowPosition(i, i // per_unit, i % per_unit) for i in range(rows)]
    made = [_made(dataset, table, column) for column in table.columns]
    return [[_cell(each, place) for each in made] for place in places]


def sample_csv(sample: SampleShape) -> str:
    """Return made-up rows as CSV (RFC 4180): NULL is empty, booleans true or false."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow([column["name"] for column in sample["columns"]])
    writer.writerows([[_field(value) for value in row] for row in sample["rows"]])
    return file.getvalue()


def _field(value: CellValue) -> CellValue:
    return str(value).lower() if isinstance(value, bool) else value


def _made(dataset: Dataset, table: Table, column: Column) -> _Made:
    """Walk all tables for a column; no cell may, since there are many."""
    return _Made(
        dataset,
        table,
        column,
        _owner(dataset, table, column),
        _is_of_unit(dataset, table, column),
        _listed(dataset, column),
    )


def _cell(made: _Made, place: _RowPosition) -> CellValue:
    value = _value(made, place)
    if isinstance(value, str) and made.column.domain is None:
        value = value[-made.column.max_length :]  # its end holds the number
    return None if value is None else scalar_to_json(value)


def _value(made: _Made, place: _RowPosition) -> Scalar | None:
    table, column, owner = made.table, made.column, made.owner
    if column.name == table.unit_column or column.name in table.key:
        return _key(made, place)
    turn = (place.unit,) if made.is_of_unit else (table.name, place.row)
    drawn = _draw(column.name, *turn)
    if column.nullable and drawn % _NULL_EVERY == 0:
        return None
    if owner is not None and not (owner.is_public and column.domain is not None):
        number = _draw(owner.name, *turn) % _rows_made_up(owner)  # one for a whole key
        return _keyed(made, owner, (place.unit, number))
    return _nth(made, drawn // _NULL_EVERY)


def _is_of_unit(dataset: Dataset, table: Table, column: Column) -> bool:
    """Return whether a value is drawn by its unit, and not by its row.

    What is constant in one table is so wherever a column is declared the same: nobody
    has one sex here and another there.
    """
    return not table.is_public and any(
        same.constant_in_unit
        for other in dataset.tables.values()
        if not other.is_public
        and (same := other.column(column.name)) is not None
        and (same.type, same.domain) == (column.type, column.domain)
    )


def _rows_made_up(table: Table) -> int:
    """Return how many rows of each unit are made up; of a public table, those shown."""
    if table.is_public:
        return len(table.rows) or _SHOWN
    return min(table.max_rows_per_unit or 1, _ROWS_PER_UNIT)


def _owner(dataset: Dataset, table: Table, column: Column) -> Table | None:
    """Return the table whose key a column names, if another's does."""
    for other in dataset.tables.values():
        is_reachable = other.is_public or not table.is_public
        same = other.column(column.name)
        if other is table or not is_reachable or same is None:
            continue
        is_alike = (same.type, same.domain) == (column.type, column.domain)
        if column.name in other.key and is_alike:
            return other
    return None


def _listed(dataset: Dataset, column: Column) -> Sequence[Scalar] | None:
    domain = column.domain
    if isinstance(domain, ValuesDomain):
        return domain.all_values()
    if isinstance(domain, HierarchyDomain):
        return _codes(dataset, domain)
    return None


def _key(made: _Made, place: _RowPosition) -> Scalar:
    """Return a key's value; of several columns one may name a row of another table."""
    table, column, owner = made.table, made.column, made.owner
    if column.name == table.unit_column:
        number = place.unit + 1
        return number if column.type is ColumnType.INTEGER else f"made-up-{number}"
    if table.is_public:
        return _keyed(made, table, (place.unit, place.row))
    others = set(table.key) - {column.name, table.unit_column}
    if owner is not None and others:
        number = place.in_unit % _rows_made_up(owner)
        return _keyed(made, owner, (place.unit, number))
    return _keyed(made, table, (place.unit, place.in_unit))


def _keyed(made: _Made, table: Table, row: tuple[int, int]) -> Scalar:
    """Return the key of one row of a unit, or of a public table, in a column."""
    unit, number = row
    column = made.column
    keys = _listed_keys(table, column)
    if keys:
        return keys[number % len(keys)]
    count = number if table.is_public else unit * _ROWS_PER_UNIT + number
    if column.domain is None and column.type is ColumnType.INTEGER:
        return count + 1
    if column.domain is None and column.type is ColumnType.TEXT:
        return f"{column.name}-{count + 1}"
    return _nth(made, number)


def _listed_keys(table: Table, column: Column) -> Sequence[Scalar]:
    place = [each.name for each in table.columns].index(column.name)
    known = (row[place] for row in table.rows)
    return [value for value in known if value is not None]


def _draw(*words: object) -> int:
    """Return a number that looks like chance and is none."""
    text = "\0".join(str(word) for word in words)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def _nth(made: _Made, index: int) -> Scalar:
    """Return the ``index``-th value that a column may take, in a circle."""
    if made.listed is not None:
        return made.listed[index % len(made.listed)]
    if isinstance(made.column.domain, RangeDomain):
        return _between(made.column, made.column.domain, index)
    return _undeclared(made.dataset, made.column, index)


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
