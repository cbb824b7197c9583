"""What only the custodian can say of a table: other ids, days to come, copies."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import duckdb

from privacy.schema import ColumnType
from upstream.drafting.columns.column_names import Drafted
from upstream.drafting.rows import row_of
from upstream.files.reading_sql import quoted_name
from upstream.id_forms.identities import Described, second_identities

_TIMES = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})
LEFT_OUT = (
    "left out: each unit has a value of its own here, and nobody shares it, as of a "
    "second identity; take the # away where questions need it"
)


def other_identities(
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
    named = {c.name: c.source for c in columns}
    found = second_identities(
        quoted_name(unit),
        [Described(c.name, c.kind, quoted_name(c.source)) for c in columns],
        lambda wanted: row_of(connection, rows, wanted),
    )
    return frozenset(named[name] for name in found)


def after_today(
    connection: duckdb.DuckDBPyConnection, rows: str, columns: Sequence[Drafted]
) -> Iterator[str]:
    """Yield the names of columns that have days which nobody can know yet."""
    today = datetime.now(UTC).date()
    times = [c for c in columns if c.kind in _TIMES]
    later = row_of(
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
