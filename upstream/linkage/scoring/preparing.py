"""The table ``compared``: normal values, how many records have each, and blocks."""

from collections.abc import Sequence

import duckdb

from upstream.linkage.blocking.blocks import Blocked, blocks_sql, leave_out_large
from upstream.linkage.blocking.keys import key_name, key_sql
from upstream.linkage.blocking.passes import Pass
from upstream.linkage.comparing.vectors import count_name
from upstream.linkage.declared import LinkageSpec
from upstream.linkage.normalising.normalising import normalise
from upstream.linkage.tables import name_sql

TABLE = "compared"
PLACE = '"number:place"'
"""The column that numbers records from 1 without gaps."""

_NORMAL = name_sql("compared:normal")


def prepare(
    connection: duckdb.DuckDBPyConnection, spec: LinkageSpec, passes: Sequence[Pass]
) -> list[Blocked]:
    """Remake ``compared`` of ``record``; return what each pass brings together."""
    normalise(connection, spec, _NORMAL)
    joins, counts = [], []
    for place, field in enumerate(spec.fields):
        column = name_sql(field)
        joins.append(
            f"LEFT JOIN (SELECT {column} AS value, count(*)::INTEGER AS records "  # noqa: S608 - names are quoted
            f"FROM {_NORMAL} WHERE {column} IS NOT NULL GROUP BY {column}) AS c{place} "
            f"ON c{place}.value = n.{column}"
        )
        counts.append(f"c{place}.records AS {count_name(field)}")
    keys = dict.fromkeys(key for each in passes for key in each.keys)
    values = ", ".join(f"{key_sql(key)} AS {key_name(key)}" for key in keys)
    names = ", ".join(
        f"n.{name_sql(name)}" for name in ("number", "source", *spec.fields)
    )
    connection.execute(
        f"CREATE OR REPLACE TABLE {TABLE} AS SELECT {names}, {', '.join(counts)}, "  # noqa: S608 - as above
        f"row_number() OVER (ORDER BY number)::INTEGER AS {PLACE}, "
        f"{blocks_sql(passes, spec)} FROM "
        f"(SELECT *, {values} FROM {_NORMAL}) AS n {' '.join(joins)} "
        "ORDER BY number"
    )
    connection.execute(f"DROP TABLE {_NORMAL}")
    return [
        leave_out_large(connection, TABLE, place, rule)
        for place, rule in enumerate(passes)
    ]


def records_of(connection: duckdb.DuckDBPyConnection) -> int:
    """Return how many records are prepared."""
    (found,) = connection.execute(f"SELECT count(*) FROM {TABLE}").fetchall()  # noqa: S608 - our own name
    return int(found[0])


def values_of(
    connection: duckdb.DuckDBPyConnection, spec: LinkageSpec
) -> dict[str, int]:
    """Return how many records have a value, by field."""
    counts = ", ".join(f"count({name_sql(field)})" for field in spec.fields)
    (found,) = connection.execute(f"SELECT {counts} FROM {TABLE}").fetchall()  # noqa: S608 - names are quoted
    return dict(zip(spec.fields, map(int, found), strict=True))
