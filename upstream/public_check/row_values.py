"""The values of private columns, as far as they may identify rows, in one form each."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

from privacy.schema import Column, ColumnType
from upstream.files.reading_sql import STORED_TYPES, quoted_name
from upstream.id_forms.amounts import MOST_DECIMALS, amount_sql
from upstream.id_forms.embedded_ids import MOST_CHARACTERS, is_date_sql
from upstream.id_forms.moments import moment_sql, moments_sql, timed_forms_sql
from upstream.public_check.published_ids import Texts
from upstream.public_check.row_evidence import Uses
from upstream.staging.staging import StagedTable

_MOST_SPELLED = 64  # characters of a form; of more there is a digest
_NOTE = 200  # characters of texts that are compared as they are written
_READ = frozenset(
    (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.TEXT, ColumnType.TIMESTAMP)
)
_NUMBERS = frozenset((ColumnType.INTEGER, ColumnType.DECIMAL))
_TIMES = frozenset((ColumnType.DATE, ColumnType.TIMESTAMP))
ONE_UNIT = "CASE WHEN min(unit_key) = max(unit_key) THEN min(unit_key) END AS unit"
"""The unit that alone has a value; NULL where several have it."""

_NOTHING = "CAST(NULL AS VARCHAR)"
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


@dataclass(frozen=True, slots=True)
class DecimalColumn:
    """A column of decimals of a private table, as far as they are not whole.

    Attributes:
        column: As others of it are looked at.
        scale: Its decimals.
        rows: The query of it: ``unit_key`` and ``value``, without sign and point.
    """

    column: PrivateColumn
    scale: int
    rows: str


@dataclass(frozen=True, slots=True)
class PrivateRows:
    """The rows of a private table, as they are staged, or stored.

    Attributes:
        table: The table's name.
        buckets: The relations of them.
        values: The expressions of its columns' values as the files have them, by name.
        columns: Those whose values may be ids.
        decimals: Those with decimals.
        files: The names of the table's files.
        unit_column: What they call the unit.
        has_derived: Whether these are stored rows, of which derived columns are looked
            at: the files do not have them.
    """

    table: str
    buckets: Sequence[str]
    values: Mapping[str, str]
    columns: Sequence[PrivateColumn]
    decimals: Sequence[DecimalColumn]
    files: Sequence[str]
    unit_column: str
    has_derived: bool = False

    def of_these(self, columns: Sequence[Column]) -> list[Column]:
        """Return the columns that are looked at in these rows: derived ones, or not."""
        return [c for c in columns if (c.expression is not None) == self.has_derived]

    def query(self, chosen: str) -> str:
        """Return the query of ``unit_key`` and of expressions, of all rows."""
        return _of_all(self.buckets, chosen)


@dataclass(frozen=True, slots=True)
class Found:
    """A public part that holds values which identify rows of a private column."""

    texts: Texts
    column: PrivateColumn


def first_found(
    texts: Sequence[Texts], parts: Iterable[tuple[PrivateColumn, Iterable[int]]]
) -> list[Found]:
    """Return each part once, with the first of the columns that it is found in.

    Args:
        texts: Of all parts, by their number.
        parts: Columns, and the numbers of what is found in each.
    """
    found: dict[int, Found] = {}
    for column, numbers in parts:
        for number in numbers:
            found.setdefault(number, Found(texts[number], column))
    return [found[number] for number in sorted(found)]


def are_namesakes(name: str, other: str, table: str) -> bool:
    """Return whether a column's name means the column of a table.

    >>> are_namesakes("EncounterID", "encounter_id", "stays")
    True
    >>> are_namesakes("visit_id", "id", "visits"), are_namesakes("id", "id", "visits")
    (True, False)
    """
    named, meant, of = plain_name(name), plain_name(other), plain_name(table)
    if meant not in _ANYBODYS:
        return named == meant
    return named in {of + meant, of.removesuffix("s") + meant}


def plain_name(name: str) -> str:
    """Return a name in small letters and digits."""
    return re.sub(r"[\W_]+", "", name.casefold())


def unit_name(staged: StagedTable) -> str:
    """Return what the first of a private table's files calls the unit."""
    unit = staged.table.column(str(staged.table.unit_column))
    return unit.names_in(staged.files[0].header)[0]


def staged_rows(staged: StagedTable, columns: Sequence[Column]) -> PrivateRows:
    """Return a staged private table as it is looked at.

    All of its rows: what is compared depends on no bound, key or domain. Booleans are
    not looked at by themselves; codes that are listed are, since a list is public.

    Args:
        staged: The table, before it is stored.
        columns: What the schema declares of it.
    """
    buckets = staged.buckets()
    declared = {column.name: column for column in columns}
    places = [
        (declared[one], _Place(f"v{index}", f"l{index}"))
        for index, one in staged.stored()
    ]
    rows = PrivateRows(
        staged.table.name,
        buckets,
        {column.name: _as_written(column, place) for column, place in places},
        [],
        [],
        [file.name for file in staged.files],
        unit_name(staged),
    )
    return _with_columns(rows, places)


def derived_rows(staged: StagedTable, columns: Sequence[Column]) -> PrivateRows:
    """Return a stored private table, as its derived columns are looked at.

    Args:
        staged: What the table was made of; it is in ``snapshot`` now.
        columns: What the schema declares of it, derived columns too.
    """
    name = staged.table.name
    stored = [column for column in columns if column.name != staged.table.unit_column]
    rows = PrivateRows(
        name,
        [f"snapshot.{quoted_name(name)}"],
        {column.name: quoted_name(column.name) for column in stored},
        [],
        [],
        [file.name for file in staged.files],
        unit_name(staged),
        has_derived=True,
    )
    derived = rows.of_these(stored)
    return _with_columns(
        rows, [(c, _Place(quoted_name(c.name), _NOTHING)) for c in derived]
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """The expressions of a value, and of its text where no domain keeps it."""

    value: str
    lost: str


def _with_columns(
    rows: PrivateRows, places: Sequence[tuple[Column, _Place]]
) -> PrivateRows:
    """Return rows with those of some columns whose values may be ids."""
    looked_at, decimals = [], []
    for column, place in places if rows.buckets else ():
        if (text := _text(column, place)) is not None:
            query = rows.query(f"{text} AS t")
            one = PrivateColumn(
                rows.table, column.name, query, rows.files, rows.unit_column
            )
            looked_at.append(one)
            if column.scale:
                query = _fractions(rows.buckets, column.scale, place)
                decimals.append(DecimalColumn(one, column.scale, query))
    return replace(rows, columns=looked_at, decimals=decimals)


def _of_all(buckets: Sequence[str], chosen: str) -> str:
    return " UNION ALL ".join(
        f"SELECT unit_key, {chosen} FROM {rows}"  # noqa: S608 - our own names
        for rows in buckets
    )


def _fractions(buckets: Sequence[str], scale: int, place: _Place) -> str:
    """Return the query of the values of a decimal column that are not whole."""
    value = f"abs(CAST({_decimal(scale, place)} AS HUGEINT))"
    rows = _of_all(buckets, f"{value} AS value")
    return f"SELECT * FROM ({rows}) WHERE value % {10**scale} <> 0"  # noqa: S608 - our own query


def _decimal(scale: int, place: _Place) -> str:
    """Return the expression of a decimal without point, as the file has it."""
    value, lost = place.value, place.lost
    ones, places = (f"split_part({lost}, '.', {n})" for n in (1, 2))
    whole = f"concat({ones}, rpad(left({places}, {scale}), {scale}, '0'))"
    return (
        f"CASE WHEN {lost} IS NULL THEN {value} "
        f"ELSE coalesce(TRY_CAST({whole} AS HUGEINT), {value}) END"
    )


def _as_written(column: Column, place: _Place) -> str:
    """Return the expression of a staged value, also where no domain keeps it."""
    value, lost = place.value, place.lost
    if column.type is ColumnType.DECIMAL:
        return _decimal(column.scale or 0, place)
    if column.type is ColumnType.TEXT:
        return f"coalesce({lost}, {value})"
    kind = STORED_TYPES[column.type]
    return f"coalesce(TRY_CAST({lost} AS {kind}), {value})"


def are_comparable(column: Column, other: Column) -> bool:
    """Whether values of two columns may be the same, as a file or another wrote them.

    Of one type; numbers; days and times; and whatever a text may write.
    """
    kinds = {column.type, other.type}
    return len(kinds) == 1 or ColumnType.TEXT in kinds or kinds in (_NUMBERS, _TIMES)


def compared_sql(column: Column, other: Column, value: str) -> str:
    """Return the expression of what is equal where two columns' values are the same.

    Args:
        column: The value's.
        other: The column that it is compared with.
        value: The expression of it.
    """
    kinds = {column.type, other.type}
    compared = f"CAST({value} AS VARCHAR)"
    if column.type is ColumnType.TEXT:
        compared = _text_compared_sql(f"trim({value})")
    elif kinds == _TIMES:
        compared = f"CAST({value} AS DATE)"
    elif column.type in _NUMBERS and kinds != {ColumnType.INTEGER}:
        step = 10 ** (MOST_DECIMALS - (column.scale or 0))
        compared = f"TRY(CAST({value} AS HUGEINT) * {step}::HUGEINT)"
        if ColumnType.TEXT in kinds:
            compared = f"CAST({compared} AS VARCHAR)"
    elif len(kinds) == 1:
        compared = value
    elif column.type in _TIMES:
        compared = moment_sql(compared)
    return compared


def _text_compared_sql(text: str) -> str:
    """Return the expression of what a text is: a time, a number, or small letters."""
    number = (
        f"CASE WHEN regexp_full_match({text}, '{_WHOLE}') THEN {text} "
        f"ELSE ltrim({amount_sql(text)}, '+') END"
    )
    decimal = f"CAST(TRY_CAST({number} AS DECIMAL(38, {MOST_DECIMALS})) AS VARCHAR)"
    digits = f"CAST(TRY_CAST(replace({decimal}, '.', '') AS HUGEINT) AS VARCHAR)"
    return f"coalesce(nullif({moment_sql(text)}, ''), {digits}, lower({text}))"


def _text(column: Column, place: _Place) -> str | None:
    """Return the expression of a value's text, None where none is looked at.

    Decimals count here where they are whole (``DecimalColumn`` has the others), and
    times to the second: days, hours and minutes of public calendars are anybody's.
    """
    value, lost = place.value, place.lost
    if column.type not in _READ:
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
    forms = timed_forms_sql("t", "times", f"[{form_sql('t')}]")
    times = moments_sql("t", since_1970=False)
    return (
        f"SELECT unit_key, unnest({forms}) AS form FROM ("  # noqa: S608 - our own queries
        f"SELECT unit_key, t, {times} AS times FROM ({rows}) WHERE t <> '')"
    )


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
