"""What only the custodian can say of a table: other ids, days to come, copies."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import duckdb

from privacy.schema import ColumnType
from upstream.drafting.columns.column_names import Drafted
from upstream.files.reading_sql import quoted_name
from upstream.id_forms.identities import (
    is_one_to_one_sql,
    may_be_one_to_one_sql,
    names_sql,
)

_TIMES = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})
LEFT_OUT = (
    "left out: each unit has a value of its own here, and nobody shares it, as of a "
    "second identity; take the # away where questions need it"
)


def second_identities(
    connection: duckdb.DuckDBPyConnection,
    rows: str,
    unit: str,
    columns: Sequence[Drafted],
) -> frozenset[str]:
    """Return the columns that tell units apart as their ids do.

    Args:
        connection: Where they are looked at.
        rows: The relation of the rows, with types.
        unit: The unit's column there.
        columns: Other columns.
    """
    key = quoted_name(unit)
    may_be = _asked(
        connection,
        rows,
        [
            f"{may_be_one_to_one_sql(key, quoted_name(c.source))} AND "
            f"{names_sql(c.name, c.kind, quoted_name(c.source))}"
            for c in columns
        ],
    )
    looked_at = [c.source for c, so in zip(columns, may_be, strict=True) if so]
    are = _asked(
        connection,
        rows,
        [is_one_to_one_sql(key, quoted_name(source)) for source in looked_at],
    )
    return frozenset(c for c, so in zip(looked_at, are, strict=True) if so)


def after_today(
    connection: duckdb.DuckDBPyConnection, rows: str, columns: Sequence[Drafted]
) -> Iterator[str]:
    """Yield the names of columns that have days which nobody can know yet."""
    today = datetime.now(UTC).date()
    times = [c for c in columns if c.kind in _TIMES]
    later = _asked(
        connection,
        rows,
        [
            f"bool_or(CAST({quoted_name(c.source)} AS DATE) > DATE '{today}')"
            for c in times
        ],
    )
    yield from (c.name for c, so in zip(times, later, strict=True) if so)


def rows_digest(connection: duckdb.DuckDBPyConnection, texts: str) -> object:
    """Return what tables of the same rows have in common, whatever their order.

    Args:
        connection: Where they are looked at.
        texts: The relation of the rows, each value as the file writes it.
    """
    return connection.execute(
        "SELECT count(*), sum(hash(one::VARCHAR)::HUGEINT) FROM "  # noqa: S608 - our own relation
        f"(SELECT concat_ws('|', *COLUMNS(*)) AS one FROM {texts})"
    ).fetchone()


def _asked(
    connection: duckdb.DuckDBPyConnection, rows: str, wanted: Sequence[str]
) -> tuple[object, ...]:
    if not wanted:
        return ()
    found = connection.execute(f"SELECT {', '.join(wanted)} FROM {rows}").fetchone()  # noqa: S608 - quoted names
    return tuple(found or ())
