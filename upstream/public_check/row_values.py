"""The values of private columns, as far as they may identify rows, in one form each."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import duckdb

from privacy.schema import Column, ColumnType, HierarchyDomain, ValuesDomain
from upstream.id_forms.embedded_ids import MOST_CHARACTERS, is_date_sql
from upstream.public_check.row_evidence import Uses
from upstream.staging.staging import StagedTable

_MOST_SPELLED = 64  # characters of a form; of more there is a digest
_NOTE = 200  # characters of texts that are compared as they are written
_READ = frozenset(
    (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.TEXT, ColumnType.TIMESTAMP)
)
_WHOLE = "[-+]?[0-9]+([.]0*)?"
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


def staged_columns(
    staged: StagedTable, columns: Sequence[Column], unit_column: str
) -> Iterator[PrivateColumn]:
    """Yield the columns of a staged private table that are looked at.

    All of its rows: what is compared depends on no bound, key or domain. Codes that are
    listed are left out.

    Args:
        staged: The table, before it is stored.
        columns: What the schema declares of it.
        unit_column: What its files call the unit.
    """
    table, buckets = staged.table, staged.buckets()
    declared = {column.name: column for column in columns}
    files = [file.path.name for file in staged.files]
    for index, name in staged.stored() if buckets else ():
        text = _text(declared[name], index)
        if text is not None:
            paths = " UNION ALL ".join(
                f"SELECT unit_key, {text} AS t FROM {rows}"  # noqa: S608 - our own names
                for rows in buckets
            )
            yield PrivateColumn(table.name, name, paths, files, unit_column)


def _text(column: Column, index: int) -> str | None:
    """Return the expression of a staged value's text, None where none is looked at.

    Decimals count where they are whole, and times to the second: days, hours and
    minutes of public calendars are anybody's.
    """
    value, lost = f"v{index}", f"l{index}"
    is_listed = isinstance(column.domain, ValuesDomain | HierarchyDomain)
    if is_listed or column.type not in _READ:
        return None
    if column.type is ColumnType.TIMESTAMP:
        return f"CASE WHEN second({value}) <> 0 THEN CAST({value} AS VARCHAR) END"
    if column.type is ColumnType.DECIMAL:
        one = 10 ** (column.scale or 0)
        whole = f"CASE WHEN {value} % {one} = 0 THEN {value} // {one} END"
        lost = f"CASE WHEN regexp_full_match({lost}, '{_WHOLE}') THEN {lost} END"
        return f"coalesce({lost}, CAST({whole} AS VARCHAR))"
    return f"coalesce({lost}, CAST({value} AS VARCHAR))"


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
        found = connection.execute(
            "SELECT CAST(sum(uses) AS BIGINT), "  # noqa: S608 - as above
            "CAST(coalesce(sum(uses) FILTER (uses > 1), 0) AS BIGINT) "
            f"FROM temp.{_USES}"
        ).fetchone() or (0, 0)
        numbers = connection.execute(
            f"SELECT length(form), count(*), max(form) FROM temp.{_USES} "  # noqa: S608 - as above
            "WHERE regexp_full_match(form, '[0-9]+') GROUP BY length(form)"
        ).fetchall()
    finally:
        connection.execute(f"DROP TABLE IF EXISTS temp.{_USES}")
    return Uses(
        found[0] or 0,
        found[1],
        {length: count for length, count, _ in numbers},
        {length: int(greatest) for length, _, greatest in numbers},
    )


def values_sql(rows: str) -> str:
    """Return the query of ``unit_key`` and ``form`` of the values that may be ids."""
    return f"SELECT unit_key, {form_sql('t')} AS form FROM ({rows}) WHERE t <> ''"  # noqa: S608 - our own queries


def form_sql(text: str) -> str:
    """Return the DuckDB expression of a text's one form: no separators, no zeros.

    Of a long text it is a digest; of one without digits, nothing.
    """
    beginning = f"left({text}, {MOST_CHARACTERS})"
    whole = f"regexp_replace(lower({beginning}), '[.,]0+$', '')"
    kept = f"regexp_replace({whole}, '[^0-9a-z]', '', 'g')"
    return (
        f"CASE WHEN regexp_full_match({text}, '[1-9][0-9]{{0,{_MOST_SPELLED - 1}}}') "
        f"THEN {text} WHEN NOT regexp_matches({text}, '[0-9]') THEN '' "
        f"WHEN length({text}) > {_NOTE} THEN {_digest(f'lower({beginning})')} "
        f"WHEN length({text}) > {_MOST_SPELLED} AND length({kept}) > {_MOST_SPELLED} "
        f"THEN {_digest(kept)} "
        f"ELSE regexp_replace({kept}, '(^|[^0-9])0+([0-9])', '\\1\\2', 'g') END"
    )


def _digest(text: str) -> str:
    return f"concat('h0', md5({text}))"


def is_id_sql(form: str) -> str:
    """Return the condition of a number that is no day, or of a code with digits."""
    return (
        f"(CASE WHEN regexp_full_match({form}, '[0-9]+') THEN NOT {is_date_sql(form)} "
        f"ELSE regexp_matches({form}, '[0-9]') END)"
    )
