"""SQL that reads source files as text: column ``r0``, ``r1``, ... in manifest order.

Canonical text of typed sources (Parquet), fixed because ``row_hash`` depends on it:
integers in decimal digits; decimals with their type's scale; floats as the shortest
decimal that reads back, without exponent and without a trailing ``.0``, else ``nan``,
``inf``, ``-inf``; booleans ``true``, ``false``; dates ``YYYY-MM-DD``; timestamps
``YYYY-MM-DD HH:MM:SS``, with ``.ffffff`` where it is not zero (cut to microseconds);
texts as they are; NULL stays NULL, apart from the empty text. A text longer than its
column's rules may need whole is carried by its digest (``upstream.files.long_texts``).
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from upstream.errors import IngestionError, Problem
from upstream.files.csv_structure import MAX_RECORD_BYTES, CsvFile
from upstream.files.long_texts import carried_bytes, carried_sql
from upstream.files.reading_sql import quoted, quoted_name
from upstream.files.sources import ParquetFile, SourceFile
from upstream.id_forms.embedded_ids import MOST_CHARACTERS
from upstream.manifests.declarations import ColumnSpec, TableSpec
from upstream.staging.file_columns import FileColumn

_AS_CAST = re.compile(
    r"U?(?:TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL\([0-9, ]+\)|BOOLEAN|VARCHAR|"
    r"UUID|ENUM\(.*\)"
)
_ZONED = re.compile(r"TIMESTAMP(?:_NS)? WITH TIME ZONE")
_TIMESTAMPS = frozenset({"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"})
_NO_TEXT = "NULL::VARCHAR"
_FLOATS = frozenset({"FLOAT", "DOUBLE"})


def raw_rows_sql(
    table: TableSpec,
    files: Sequence[SourceFile],
    looked_at: Sequence[FileColumn] = (),
) -> str:
    """Return the query of all rows of the files, in file order.

    Beside the texts it gives ``file`` (a number from 0) and ``row`` (from 1 within a
    Parquet file; NULL for CSV, whose lines ``read_csv_records`` knows).

    Args:
        table: What is declared.
        files: Its files.
        looked_at: Columns whose texts are wanted as well, as ``w0``, ``w1``, ...: their
            beginnings, whatever they are declared to be, if at all.

    Raises:
        IngestionError: A Parquet column has a type without canonical text.
    """
    parts = [
        _csv_sql(table, file, number, looked_at)
        if isinstance(file, CsvFile)
        else _parquet_sql(table, file, number, looked_at)
        for number, file in enumerate(files)
    ]
    carried = ", ".join(
        f"{carried_sql(f'r{i}', carried_bytes(column))} AS r{i}"
        for i, column in enumerate(table.columns)
    )
    return f"SELECT * REPLACE ({carried}) FROM ({' UNION ALL '.join(parts)})"  # noqa: S608 - our own names


def _csv_sql(
    table: TableSpec, file: CsvFile, number: int, looked_at: Sequence[FileColumn]
) -> str:
    names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(file.header)))
    texts = ", ".join(
        f"{_field(file, column)} AS r{i}" for i, column in enumerate(table.columns)
    )
    places = [column.place_in(file) for column in looked_at]
    texts += _beginnings(None if place is None else f"c{place}" for place in places)
    return (
        f"SELECT {number} AS file, NULL::BIGINT AS row, {texts} FROM read_csv("  # noqa: S608 - quoted paths
        f"[{quoted(str(file.path))}], auto_detect=false, columns={{{names}}}, "
        "header=true, delim=',', quote='\"', escape='\"', comment='', nullstr='', "
        f"parallel={_guesses_no_boundary(file)}, strict_mode=true, "
        "null_padding=false, ignore_errors=false, compression='none', "
        f"encoding='utf-8', max_line_size={2 * MAX_RECORD_BYTES})"
    )


def _field(file: CsvFile, column: ColumnSpec) -> str:
    """Return the expression of a column's text; NULL where the file lacks it."""
    for name in column.names_in(file.header):
        return f"coalesce(c{file.header.index(name)}, '')"
    return _NO_TEXT


def _guesses_no_boundary(file: CsvFile) -> str:
    """Say whether threads may share the file: never where a line end can be quoted.

    DuckDB's threads guess where a record starts in the middle of a file; seen to guess
    wrong (version 2.0.0) among fields that hold quotes, commas and line ends.
    """
    return str(not file.is_quoted).lower()


def _parquet_sql(
    table: TableSpec, file: ParquetFile, number: int, looked_at: Sequence[FileColumn]
) -> str:
    types = dict(file.types)
    texts = ", ".join(
        f"{_of_parquet(file, column, types)} AS r{i}"
        for i, column in enumerate(table.columns)
    )
    texts += _beginnings(_any_text(file, column) for column in looked_at)
    return (
        f"SELECT {number} AS file, file_row_number + 1 AS row, {texts} "  # noqa: S608 - as above
        f"FROM read_parquet([{quoted(str(file.path))}], file_row_number=true)"
    )


def _of_parquet(file: ParquetFile, column: ColumnSpec, types: Mapping[str, str]) -> str:
    for name in column.names_in(file.header):
        return _canonical_text(file, name, types[name])
    return _NO_TEXT


def _beginnings(texts: Iterable[str | None]) -> str:
    return "".join(
        f", left({text or _NO_TEXT}, {MOST_CHARACTERS}) AS w{index}"
        for index, text in enumerate(texts)
    )


def _any_text(file: ParquetFile, column: FileColumn) -> str | None:
    """Return the expression of a column's text, of whatever type it is."""
    place = column.place_in(file)
    if place is None:
        return None
    name, type_ = file.types[place]
    try:
        return _canonical_text(file, name, type_)
    except IngestionError:
        return f"CAST({quoted_name(name)} AS VARCHAR)"


def _canonical_text(file: ParquetFile, name: str, type_: str) -> str:
    column = quoted_name(name)
    if type_ in _FLOATS:
        return _written_out(f"regexp_replace(CAST({column} AS VARCHAR), '\\.0$', '')")
    if type_ in _TIMESTAMPS:
        return _moment_text(f"CAST({column} AS TIMESTAMP)", clock=True)
    if type_ == "DATE":
        return _moment_text(column, clock=False)
    if (remedy := unread_type(type_)) is None:
        return f"CAST({column} AS VARCHAR)"
    sentence = f"the column {name!r} has the type {type_}, which is not read: {remedy}"
    raise IngestionError((Problem(file.name, None, None, sentence),))


def unread_type(type_: str) -> str | None:
    """Return what to do about a Parquet column's DuckDB type; None: it is read.

    >>> unread_type("VARCHAR"), unread_type("INTEGER[]")
    (None, 'store it as text')
    """
    is_read = type_ in {*_FLOATS, *_TIMESTAMPS, "DATE"}
    if is_read or _AS_CAST.fullmatch(type_):
        return None
    return "store it without zone" if _ZONED.fullmatch(type_) else "store it as text"


def _written_out(text: str) -> str:
    """Write a float's text without its exponent, every digit kept."""
    mantissa, power = f"split_part({text}, 'e', 1)", f"split_part({text}, 'e', 2)"
    whole = f"ltrim(split_part({mantissa}, '.', 1), '-')"
    places = f"split_part({mantissa}, '.', 2)"
    shift = f"coalesce(TRY_CAST({power} AS INTEGER), 0)"
    sign = f"CASE WHEN {text} LIKE '-%' THEN '-' ELSE '' END"
    small = f"concat({sign}, '0.', repeat('0', -{shift} - 1), {whole}, {places})"
    large = (
        f"concat({sign}, {whole}, left({places}, {shift}), "
        f"repeat('0', {shift} - strlen({places})), "
        f"CASE WHEN strlen({places}) > {shift} THEN '.' ELSE '' END, "
        f"substr({places}, {shift} + 1))"
    )
    return (
        f"CASE WHEN NOT contains({text}, 'e') THEN {text} "
        f"WHEN {shift} < 0 THEN {small} ELSE {large} END"
    )


def _moment_text(column: str, *, clock: bool) -> str:
    """Write a moment as ISO text with astronomical years, ``infinity`` as itself."""
    year = f"year({column})"
    digits = f"CAST(abs({year}) AS VARCHAR)"
    text = (
        f"concat(CASE WHEN {year} < 0 THEN '-' ELSE '' END, "
        f"repeat('0', greatest(0, 4 - strlen({digits}))), {digits}, "
        f"strftime({column}, '-%m-%d'))"
    )
    if clock:
        micros = f"strftime({column}, '.%f')"
        text = (
            f"concat({text}, strftime({column}, ' %H:%M:%S'), "
            f"CASE WHEN {micros} = '.000000' THEN '' ELSE {micros} END)"
        )
    return (
        f"CASE WHEN {column} IS NULL THEN NULL WHEN isfinite({column}) THEN {text} "
        f"ELSE CAST({column} AS VARCHAR) END"
    )
