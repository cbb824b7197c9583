"""The values of private columns, as far as they may identify rows, in one form each."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from privacy.schema import Column, ColumnType, HierarchyDomain, Table, ValuesDomain
from upstream.embedded_ids import is_date_sql
from upstream.row_evidence import Uses

_MOST_CHARACTERS = 64
_SENTENCE = "% % % %"  # no number in parts
_USES = "row_id_uses"
_ANYBODYS = frozenset(
    (
        *("id", "ids", "key", "keys", "nr", "no", "num", "number", "index", "code"),
        *("row", "rowid", "rownr", "seq", "sequence", "line", "item", "step", "order"),
        *("position", "pos", "rank", "count", "version", "day", "month", "year"),
    )
)
"""Names by which no two columns are of the same thing."""


@dataclass(frozen=True, slots=True)
class PrivateColumn:
    """A column of a private table whose values may identify rows.

    Attributes:
        table: The table's name.
        name: Its own.
        rows: The query of it: ``unit_key`` and the value as text, ``t``.
        files: The names of the table's files.
        unit_column: What they call the unit.
    """

    table: str
    name: str
    rows: str
    files: Sequence[str] = ()
    unit_column: str = ""

    def is_namesake(self, name: str) -> bool:
        """Whether a column of that name is of the same thing, by its name."""
        return are_namesakes(name, self.name, self.table)


def are_namesakes(name: str, other: str, table: str) -> bool:
    """Return whether a column's name means the column of a table.

    >>> are_namesakes("EncounterID", "encounter_id", "stays")
    True
    >>> are_namesakes("visit_id", "id", "visits"), are_namesakes("id", "id", "visits")
    (True, False)
    """
    named, meant = _plain(name), _plain(other)
    if meant not in _ANYBODYS:
        return named == meant
    return named in {_plain(table) + meant, _plain(table).removesuffix("s") + meant}


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def may_identify(column: Column) -> bool:
    """Return whether a private column's values are looked for: no listed codes."""
    is_listed = isinstance(column.domain, ValuesDomain | HierarchyDomain)
    is_read = column.type in {ColumnType.INTEGER, ColumnType.TEXT}
    return is_read and not is_listed


def stored_columns(
    table: Table, files: Sequence[str], unit_column: str
) -> Iterator[PrivateColumn]:
    """Yield the columns of a stored private table that are looked at.

    Args:
        table: What is declared of it.
        files: The names of its files.
        unit_column: What they call the unit.
    """
    for column in filter(may_identify, table.columns):
        if column.name == table.unit_column:
            continue
        rows = (
            f'SELECT unit_key, CAST("{column.name}" AS VARCHAR) AS t '  # noqa: S608 - declared identifiers
            f'FROM snapshot."{table.name}"'
        )
        yield PrivateColumn(table.name, column.name, rows, files, unit_column)


def uses_of(connection: duckdb.DuckDBPyConnection, rows: str) -> Uses:
    """Return how units use the values of a column.

    Args:
        connection: Where they are counted.
        rows: As of ``PrivateColumn``.
    """
    try:
        connection.execute(
            f"CREATE TEMP TABLE {_USES} AS SELECT form, count(*) AS uses FROM "  # noqa: S608 - our own names
            f"(SELECT DISTINCT unit_key, form FROM ({values_sql(rows)}) "
            f"WHERE {is_id_sql('form')}) GROUP BY form"
        )
        number = "TRY_CAST(form AS UBIGINT)"
        found = connection.execute(
            "SELECT CAST(sum(uses) AS BIGINT), "  # noqa: S608 - as above
            "CAST(coalesce(sum(uses) FILTER (uses > 1), 0) AS BIGINT), "
            f"coalesce(max({number}), 0) FROM temp.{_USES}"
        ).fetchone() or (0, 0, 0)
        lengths: Mapping[int, int] = dict(
            connection.execute(
                f"SELECT length(form), count(*) FROM temp.{_USES} "  # noqa: S608 - as above
                f"WHERE {number} IS NOT NULL GROUP BY length(form)"
            ).fetchall()
        )
    finally:
        connection.execute(f"DROP TABLE IF EXISTS temp.{_USES}")
    return Uses(found[0] or 0, found[1], found[2], dict(lengths))


def values_sql(rows: str) -> str:
    """Return the query of ``unit_key`` and ``form`` of the values that may be ids."""
    return (
        f"SELECT unit_key, {form_sql('t')} AS form FROM ({rows}) "  # noqa: S608 - our own queries
        f"WHERE length(t) <= {_MOST_CHARACTERS} AND t NOT LIKE '{_SENTENCE}'"
    )


def form_sql(text: str) -> str:
    """Return the DuckDB expression of a text's one form: no separators, no zeros."""
    whole = f"regexp_replace(lower({text}), '[.,]0+$', '')"
    kept = f"regexp_replace({whole}, '[^0-9a-z]', '', 'g')"
    return (
        f"CASE WHEN regexp_full_match({text}, '[1-9][0-9]*') THEN {text} "
        f"ELSE regexp_replace({kept}, '(^|[^0-9])0+([0-9])', '\\1\\2', 'g') END"
    )


def is_id_sql(form: str) -> str:
    """Return the condition of a number that is no day, or of a code with digits."""
    return (
        f"(CASE WHEN regexp_full_match({form}, '[0-9]+') THEN NOT {is_date_sql(form)} "
        f"ELSE regexp_matches({form}, '[0-9]') END)"
    )
