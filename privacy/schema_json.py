"""Public schemas as JSON, in the words of the manifest; the round trip is exact."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal

from privacy.schema import (
    DEFAULT_MAX_LENGTH,
    DEFAULT_MAX_ROWS,
    DEFAULT_MAX_UNITS,
    Blocks,
    Column,
    ColumnType,
    Dataset,
    Domain,
    Hierarchy,
    HierarchyDomain,
    ListedRow,
    RangeDomain,
    Scalar,
    Table,
    ValuesDomain,
)

JsonObject = dict[str, object]


def scalar_to_json(value: Scalar) -> int | str:
    """Write a value: dates in ISO, decimals as strings, the rest as it is."""
    if isinstance(value, date):  # a datetime is a date
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


_READERS: Mapping[ColumnType, Callable[[str], Scalar]] = {
    ColumnType.DECIMAL: Decimal,
    ColumnType.DATE: date.fromisoformat,
    ColumnType.TIMESTAMP: datetime.fromisoformat,
}


def scalar_from_json(value: object, kind: ColumnType) -> Scalar:
    """Read a value of a column of type ``kind`` back.

    Raises:
        TypeError: The value is not one that ``scalar_to_json`` writes.
    """
    if kind in _READERS and isinstance(value, str):
        return _READERS[kind](value)
    if isinstance(value, int | str):  # a bool is an int
        return value
    message = f"no {kind.value} is written as {type(value).__name__}"
    raise TypeError(message)


def dataset_to_json(dataset: Dataset) -> JsonObject:
    """Write a dataset's public schema."""
    return {
        "name": dataset.name,
        "population": dataset.population,
        "unit": dataset.unit,
        "snapshot_date": dataset.snapshot_date.isoformat(),
        "tables": [table_to_json(table) for table in dataset.tables.values()],
        "hierarchies": [_hierarchy_to_json(h) for h in dataset.hierarchies.values()],
        **_held_sizes(dataset),
        **({} if dataset.blocks is None else {"blocks": _blocks_json(dataset.blocks)}),
    }


def _blocks_json(blocks: Blocks) -> JsonObject:
    return {
        "column": blocks.column,
        "tables": list(blocks.tables),
        "values": list(blocks.values),
    }


def _held_sizes(dataset: Dataset) -> JsonObject:
    """Write the most units always: its being there tells that sizes are held."""
    return {"max_units": dataset.max_units} if dataset.sizes_are_held else {}


def _unless_default(name: str, value: object, default: object) -> JsonObject:
    """Write what was declared otherwise than by silence."""
    return {} if value == default else {name: value}


def _hierarchy_to_json(hierarchy: Hierarchy) -> JsonObject:
    return {
        "name": hierarchy.name,
        "levels": list(hierarchy.levels),
        "codes": [[code, *values] for code, values in hierarchy.codes.items()],
    }


def table_to_json(table: Table) -> JsonObject:
    """Write one table: ``unit_column`` and its row bound, or ``public``."""
    privacy: JsonObject = (
        {"public": True}
        if table.is_public
        else {
            "unit_column": table.unit_column,
            "max_rows_per_unit": table.max_rows_per_unit,
        }
    )
    return {
        "name": table.name,
        **privacy,
        "key": list(table.key),
        **_fan_out_to_json(table),
        **_unless_default("max_rows", table.max_rows, DEFAULT_MAX_ROWS),
        **_unless_default("listed", table.listed, default=False),
        "columns": [_column_to_json(column) for column in table.columns],
        **({"rows": rows_to_json(table.rows)} if table.rows else {}),
    }


def rows_to_json(rows: Iterable[ListedRow]) -> list[list[int | str | None]]:
    """Write rows of a public table, values as elsewhere."""
    return [[None if v is None else scalar_to_json(v) for v in row] for row in rows]


def _fan_out_to_json(table: Table) -> JsonObject:
    if not table.fan_out:
        return {}
    return {"fan_out": [{"columns": list(c), "max": most} for c, most in table.fan_out]}


def _column_to_json(column: Column) -> JsonObject:
    return {
        "name": column.name,
        "type": column.type.value,
        "scale": column.scale,
        "nullable": column.nullable,
        "constant_in_unit": column.constant_in_unit,
        "domain": domain_to_json(column.domain),
        **_unless_default("max_length", column.max_length, DEFAULT_MAX_LENGTH),
        **_unless_default("expression", column.expression, None),
    }


def domain_to_json(domain: Domain | None) -> JsonObject | None:
    """Write a domain in the words of the manifest."""
    match domain:
        case None:
            return None
        case RangeDomain(minimum, maximum):
            return {"min": scalar_to_json(minimum), "max": scalar_to_json(maximum)}
        case ValuesDomain(values, other):
            return {"values": [scalar_to_json(v) for v in values], "other": other}
        case HierarchyDomain(name):
            return {"hierarchy": name}


def dataset_from_json(document: JsonObject) -> Dataset:
    """Read a dataset's public schema back."""
    tables = [_table_from_json(table) for table in _objects(document["tables"])]
    hierarchies = _objects(document.get("hierarchies", []))
    return Dataset(
        name=str(document["name"]),
        population=str(document["population"]),
        unit=str(document["unit"]),
        snapshot_date=date.fromisoformat(str(document["snapshot_date"])),
        tables={table.name: table for table in tables},
        hierarchies={str(h["name"]): _hierarchy_from_json(h) for h in hierarchies},
        max_units=_integer(document.get("max_units", DEFAULT_MAX_UNITS)),
        sizes_are_held="max_units" in document,
        blocks=_blocks_from_json(document.get("blocks")),
    )


def _blocks_from_json(document: object) -> Blocks | None:
    if not isinstance(document, dict):
        return None
    return Blocks(
        str(document["column"]),
        tuple(str(name) for name in _list(document["tables"])),
        tuple(v if isinstance(v, int) else str(v) for v in _list(document["values"])),
    )


def _hierarchy_from_json(document: JsonObject) -> Hierarchy:
    rows = [_list(row) for row in _list(document["codes"])]
    return Hierarchy(
        name=str(document["name"]),
        levels=tuple(str(level) for level in _list(document["levels"])),
        codes={
            str(code): tuple(None if v is None else str(v) for v in values)
            for code, *values in rows
        },
    )


def _objects(value: object) -> list[JsonObject]:
    items = _list(value)
    if not all(isinstance(item, dict) for item in items):
        message = "a list of objects is written here"
        raise TypeError(message)
    return [dict(item) for item in items if isinstance(item, dict)]


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        message = "a list is written here"
        raise TypeError(message)
    return value


def _integer(value: object) -> int:
    if not isinstance(value, int):
        message = "an integer is written here"
        raise TypeError(message)
    return value


def _table_from_json(document: JsonObject) -> Table:
    unit_column, bound = document.get("unit_column"), document.get("max_rows_per_unit")
    key, rows = document["key"], document.get("rows", [])
    columns = tuple(_column_from_json(c) for c in _objects(document["columns"]))
    return Table(
        name=str(document["name"]),
        columns=columns,
        unit_column=None if unit_column is None else str(unit_column),
        max_rows_per_unit=bound if isinstance(bound, int) else None,
        key=tuple(str(name) for name in key) if isinstance(key, list) else (),
        fan_out=tuple(
            (tuple(str(name) for name in _list(fan["columns"])), _integer(fan["max"]))
            for fan in _objects(document.get("fan_out", []))
        ),
        max_rows=_integer(document.get("max_rows", DEFAULT_MAX_ROWS)),
        listed=bool(document.get("listed", False)),
        rows=tuple(_row_from_json(row, columns) for row in _list(rows)),
    )


def _row_from_json(row: object, columns: Sequence[Column]) -> ListedRow:
    pairs = zip(_list(row), columns, strict=True)
    return tuple(None if v is None else scalar_from_json(v, c.type) for v, c in pairs)


def _column_from_json(document: JsonObject) -> Column:
    kind = ColumnType(str(document["type"]))
    scale = document["scale"]
    return Column(
        name=str(document["name"]),
        type=kind,
        scale=scale if isinstance(scale, int) else 0,
        nullable=bool(document["nullable"]),
        constant_in_unit=bool(document["constant_in_unit"]),
        domain=_domain_from_json(document["domain"], kind),
        max_length=_integer(document.get("max_length", DEFAULT_MAX_LENGTH)),
        expression=None if (text := document.get("expression")) is None else str(text),
    )


def _domain_from_json(document: object, kind: ColumnType) -> Domain | None:
    if not isinstance(document, dict):
        return None
    if "hierarchy" in document:
        return HierarchyDomain(str(document["hierarchy"]))
    if "values" in document:
        values = tuple(scalar_from_json(v, kind) for v in document["values"])
        return ValuesDomain(values, other=bool(document["other"]))
    return RangeDomain(
        scalar_from_json(document["min"], kind), scalar_from_json(document["max"], kind)
    )
