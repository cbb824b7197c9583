"""The table ``compared``: every field as it is compared, NULL where it is missing."""

from collections.abc import Callable

import duckdb

from upstream.extraction.normalising.dates import Order
from upstream.linkage.declared import FieldKind, FieldSpec, LinkageSpec
from upstream.linkage.normalising.dates import date_sql, read_dates
from upstream.linkage.normalising.missing import present_sql
from upstream.linkage.normalising.names import full_name_sql
from upstream.linkage.normalising.names import name_sql as person_sql
from upstream.linkage.normalising.numbers import (
    amount_sql,
    code_sql,
    email_sql,
    id_sql,
    phone_sql,
)
from upstream.linkage.normalising.places import address_sql, place_sql
from upstream.linkage.normalising.texts import clean_sql, nothing_as_null_sql, words_sql
from upstream.linkage.tables import name_sql, text_sql

_CLEAN = name_sql("compared:clean")
_BY_KIND: dict[FieldKind, Callable[[str], str]] = {
    "name": person_sql,
    "full_name": full_name_sql,
    "date": date_sql,
    "phone": phone_sql,
    "email": email_sql,
    "id": id_sql,
    "address": address_sql,
    "place": place_sql,
    "code": code_sql,
    "category": words_sql,
    "number": amount_sql,
}


def normalise(
    connection: duckdb.DuckDBPyConnection, spec: LinkageSpec, into: str
) -> None:
    """Make a table of the records' values as they are compared.

    Its columns are ``number``, ``source``, and one of each field. Whatever the raw text
    is, its value is a text or NULL; nothing fails.

    Args:
        connection: It holds ``record``.
        spec: Names the fields, and says what kinds they are of.
        into: The name of the table, quoted; remade.
    """
    fields = spec.fields
    clean = ", ".join(
        f"{present_sql(name_sql(name))} AS {name_sql(name)}" for name in fields
    )
    raw = ", ".join(
        f"{clean_sql(name_sql(name))} AS {name_sql(name)}" for name in fields
    )
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {_CLEAN} AS SELECT number, source, {clean} "  # noqa: S608 - names are quoted
        f"FROM (SELECT number, source, {raw} FROM record)"
    )
    joins = [
        _dates_joined(connection, name, field.order) for name, field in _dates(spec)
    ]
    values = ", ".join(
        f"{_value_sql(name, field)} AS {name_sql(name)}"
        for name, field in fields.items()
    )
    connection.execute(
        f"CREATE OR REPLACE TABLE {into} AS SELECT number, source, {values} "  # noqa: S608 - as above
        f"FROM {_CLEAN} AS clean {' '.join(joins)} ORDER BY number"
    )
    connection.execute(f"DROP TABLE {_CLEAN}")
    for name, _ in _dates(spec):
        connection.execute(f"DROP TABLE {name_sql(f'{name}:read')}")


def _dates(spec: LinkageSpec) -> list[tuple[str, FieldSpec]]:
    """Return the fields that are dates."""
    return [
        (name, field) for name, field in spec.fields.items() if field.kind == "date"
    ]


def _dates_joined(
    connection: duckdb.DuckDBPyConnection, name: str, order: Order | None
) -> str:
    """Read the dates of a field that SQL does not; return what joins them."""
    made, column = f"{name}:read", name_sql(name)
    texts = f"SELECT {column} AS text FROM {_CLEAN}"  # noqa: S608 - as above
    read_dates(connection, texts, made, order)
    return f"LEFT JOIN {name_sql(made)} ON {name_sql(made)}.text = clean.{column}"


def _value_sql(name: str, field: FieldSpec) -> str:
    """Return the value of a field of table ``clean``."""
    column = f"clean.{name_sql(name)}"
    value = nothing_as_null_sql(_BY_KIND[field.kind](column))
    if field.kind == "date":
        return f"coalesce({name_sql(f'{name}:read')}.value, {value})"
    if field.kind == "category" and field.map:
        return _mapped_sql(column, field.map, value)
    return value


def _mapped_sql(column: str, meanings: dict[str, str], value: str) -> str:
    """Return what a value of a category means; others stand for themselves."""
    folded = words_sql(f"lower({column})")
    cases = " ".join(
        f"WHEN {text_sql(old.strip().lower())} THEN {words_sql(text_sql(new.lower()))}"
        for old, new in meanings.items()
    )
    return f"coalesce(CASE {column} {cases} END, CASE {folded} {cases} END, {value})"
