"""The rules of ``upstream.files.reading`` as DuckDB expressions, column by column.

Every expression is total: it rests on TRY_CAST, never on a guard (CONTRACT 1).
"""

from dataclasses import dataclass
from datetime import date, datetime

from privacy.schema import OTHER, ColumnType
from query_lang.rendering.duckdb.levels import is_code_sql
from upstream.files.long_texts import is_long_sql
from upstream.files.reading import (
    NOT_FINITE,
    SATURATED,
    ColumnReader,
    ReadStatus,
    Stored,
    thousands_class,
    time_patterns,
)
from upstream.files.usual_forms import WHITE_SPACE
from upstream.manifests.declarations import ColumnSpec
from upstream.manifests.time_formats import MONTHS

STORED_TYPES = {
    ColumnType.INTEGER: "BIGINT",
    ColumnType.DECIMAL: "BIGINT",
    ColumnType.DATE: "DATE",
    ColumnType.TIMESTAMP: "TIMESTAMP",
    ColumnType.TEXT: "VARCHAR",
    ColumnType.BOOLEAN: "BOOLEAN",
}
_FIRST, _AFTER = "DATE '0001-01-01'", "DATE '10000-01-01'"
_MICROS = 400_000 * 1_000_000 * 1_000_000  # since 1970: beyond any year, in 64 bits
_FAST_DIGITS = 18  # a text of so many characters cannot pass 64 bits
_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL})


@dataclass(frozen=True, slots=True)
class ReadingSteps:
    """Four layers of expressions; each may read the names of the layers before.

    Attributes:
        present: The source text, NULL where it stands for NULL (name ``n``).
        readable: Whether the text has a form that can be read (name ``f``).
        parsed: The value before its domain, NULL where impossible (name ``p``).
        value: The stored value (name ``v``).
        outcome: The number of a ``ReadStatus`` (name ``s``).
    """

    present: str
    readable: str
    parsed: str
    value: str
    outcome: str


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def quoted_name(name: str) -> str:
    """Return the name of a table or column as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Stored) -> str:  # noqa: PLR0911 - one return a type
    """Return a stored value as an SQL literal."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case int():
            return f"CAST('{value}' AS HUGEINT)"
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return quoted(value)


def reading_steps(reader: ColumnReader, index: int) -> ReadingSteps:
    """Return the layers that read a column from its source text, ``r<index>``."""
    n, p = f"n{index}", f"p{index}"
    raw = source_text_sql(reader.column, f"r{index}")
    return ReadingSteps(
        present=_present(reader, raw),
        readable=_readable(reader, raw, n),
        parsed=_mapped(reader, raw, _parsed(reader, n)),
        value=stored_value_sql(reader, p),
        outcome=_outcome(reader, index),
    )


def stored_value_sql(reader: ColumnReader, p: str) -> str:
    """Return what a column stores of a value that was read: within its domain.

    Args:
        reader: The column's rules.
        p: The name of the value before its domain; decimals on their grid.
    """
    return f"TRY_CAST({_value(reader, p)} AS {STORED_TYPES[reader.column.type]})"


def source_text_sql(column: ColumnSpec, raw: str) -> str:
    """Return a source text without blanks at its ends, where they are to go."""
    if not column.trim:
        return raw
    return f"trim({raw}, {quoted(WHITE_SPACE)})"


def _present(reader: ColumnReader, raw: str) -> str:
    """Return the source text; a number of a declared form as others are written."""
    column, text = reader.column, raw
    if column.thousands:
        pattern = quoted(thousands_class(column))
        text = f"regexp_replace({text}, {pattern}, '', 'g')"
    if column.decimal:
        text = f"replace({text}, {quoted(column.decimal)}, '.')"
    nulls = ", ".join(quoted(text) for text in sorted(reader.null_texts))
    return f"CASE WHEN {raw} IN ({nulls}) THEN NULL ELSE {text} END" if nulls else text


def _readable(reader: ColumnReader, raw: str, n: str) -> str:
    if reader.form is None:
        return "true"
    column = reader.column
    matches = f"regexp_full_match({raw}, {quoted(reader.form)})"
    if column.type is ColumnType.INTEGER and not column.thousands:
        as_is = f"CAST(TRY_CAST({n} AS BIGINT) AS VARCHAR) = {n}"
        matches = f"(coalesce({as_is}, false) OR {matches})"
    texts = ", ".join(quoted(text) for text in sorted(reader.mapped))
    return f"({raw} IN ({texts}) OR {matches})" if texts else matches


def _mapped(reader: ColumnReader, raw: str, parsed: str) -> str:
    if not reader.mapped:
        return parsed
    whens = " ".join(
        f"WHEN {quoted(text)} THEN {literal(value)}"
        for text, value in sorted(reader.mapped.items())
    )
    return f"CASE {raw} {whens} ELSE {parsed} END"


def _parsed(reader: ColumnReader, n: str) -> str:
    kinds = {
        ColumnType.TEXT: lambda: n,
        ColumnType.BOOLEAN: lambda: f"({n} = 'true')",
        ColumnType.INTEGER: lambda: _integer(n),
        ColumnType.DECIMAL: lambda: _decimal(n, reader.column.scale or 0),
        ColumnType.DATE: lambda: _moment(reader, n),
        ColumnType.TIMESTAMP: lambda: _moment(reader, n),
    }
    return kinds[reader.column.type]()


def _integer(n: str) -> str:
    return (
        f"CASE WHEN strlen({n}) <= {_FAST_DIGITS} THEN TRY_CAST({n} AS BIGINT) "
        f"WHEN regexp_full_match({n}, '{NOT_FINITE}') THEN NULL "
        f"WHEN strlen(ltrim({n}, '+-0')) > 37 THEN {_saturated(n)} "
        f"ELSE TRY_CAST({n} AS HUGEINT) END"
    )


def _saturated(n: str) -> str:
    return f"CASE WHEN {n} LIKE '-%' THEN -1 ELSE 1 END * CAST({SATURATED} AS HUGEINT)"


def _decimal(n: str, scale: int) -> str:
    body = f"ltrim({n}, '+-')"
    whole, places = f"split_part({body}, '.', 1)", f"split_part({body}, '.', 2)"
    kept = f"rpad(left({places}, {scale}), {scale}, '0')" if scale else "''"
    digits = f"ltrim({whole} || {kept}, '0')"
    rest = f"rtrim(substr({places}, {scale + 1}), '0')"
    number = f"coalesce(TRY_CAST({digits} AS HUGEINT), 0)"
    up = f"({rest} > '5' OR ({rest} = '5' AND {number} % 2 = 1))"
    sign = f"CASE WHEN {n} LIKE '-%' THEN -1 ELSE 1 END"
    point = f"strpos({n}, '.')"
    given = f"CASE WHEN {point} = 0 THEN 0 ELSE strlen({n}) - {point} END"
    return (
        f"CASE WHEN strlen({n}) <= {_FAST_DIGITS} - {scale} AND {given} <= {scale} "
        f"THEN TRY_CAST(concat(replace({n}, '.', ''), "
        f"repeat('0', {scale} - ({given}))) AS BIGINT) "
        f"WHEN {n} IS NULL OR regexp_full_match({n}, '{NOT_FINITE}') THEN NULL "
        f"WHEN strlen({digits}) > 37 THEN {_saturated(n)} "
        f"ELSE {sign} * ({number} + CASE WHEN {up} THEN 1 ELSE 0 END) END"
    )


def _moment(reader: ColumnReader, n: str) -> str:
    column = reader.column
    patterns = time_patterns(column)
    moments = [_formed(column, one, n) for one in patterns] or [_read(column, n)]
    possible = [
        f"CASE WHEN {moment} >= {_FIRST} AND {moment} < {_AFTER} THEN {moment} END"
        for moment in moments
    ]
    return possible[0] if len(possible) == 1 else f"coalesce({', '.join(possible)})"


def _formed(column: ColumnSpec, form: str, n: str) -> str:
    """Return the moment of a text of one format."""
    if "(?P<u>" in form or "(?P<w>" in form:
        return _counted(form, n)
    is_day = column.type is ColumnType.DATE
    moment = _read(column, _iso(form, n, is_day=is_day, century=column.century))
    if column.clock != "utc" or "(?P<z>" not in form:
        return moment
    offset = f"replace({_part(form, n, 'z')}, ':', '')"
    hours, minutes = (f"substr({offset}, {at}, 2)" for at in (2, 4))
    ahead = (
        f"CASE WHEN {offset} LIKE '-%' THEN -1 ELSE 1 END * "
        f"(coalesce(TRY_CAST({hours} AS INTEGER), 0) * 60 + "
        f"coalesce(TRY_CAST({minutes} AS INTEGER), 0))"
    )
    possible = f"CASE WHEN {moment} >= {_FIRST} THEN {moment} END"
    return f"({possible} - to_minutes({ahead}))"


def _counted(form: str, n: str) -> str:
    """Return the moment of a count since 1970: a number that no year passes."""
    count = _part(form, n, "w" if "(?P<w>" in form else "u")
    sign = f"CASE WHEN {count} LIKE '-%' THEN -1 ELSE 1 END"
    micros = f"TRY_CAST(ltrim({count}, '-') AS BIGINT) * 1000"
    if "(?P<u>" in form:
        beyond = f"TRY_CAST(rpad({_part(form, n, 'v')}, 6, '0') AS BIGINT)"
        micros = f"{micros} * 1000 + {beyond}"
    within = f"greatest(least({sign} * ({micros}), {_MICROS}), -{_MICROS})"
    return f"make_timestamp({within})"


def _read(column: ColumnSpec, text: str) -> str:
    """Return the moment of a text in ISO's form; NULL where there is none."""
    possible, kind = "[0-9]{4}-[0-9]{2}-[0-9]{2}", "DATE"
    if column.type is not ColumnType.DATE:
        possible, kind = possible + "([T ]([01][0-9]|2[0-3]):.*)?", "TIMESTAMP"
    day = f"CASE WHEN regexp_full_match({text}, '{possible}') THEN {text} END"
    return f"TRY_CAST({day} AS {kind})"


def _iso(form: str, n: str, *, is_day: bool, century: int | None) -> str:
    def part(name: str, width: int, fill: str = "lpad") -> str:
        if not _group_position(form, name):
            return quoted("0" * width)
        return f"{fill}({_part(form, n, name)}, {width}, '0')"

    month = part("m", 2)
    for name, months in (("b", [m[:3] for m in MONTHS]), ("B", list(MONTHS))):
        if f"(?P<{name}>" in form:
            month = _month(part(name, 9, "lpad"), months)
    year = part("Y", 4)
    if "(?P<y>" in form:
        short = f"TRY_CAST({part('y', 2)} AS INTEGER) - {(century or 0) % 100}"
        year = f"CAST({century} + (({short} + 100) % 100) AS VARCHAR)"
        year = f"lpad({year}, 4, '0')"
    day = f"concat({year}, '-', {month}, '-', {part('d', 2)})"
    if is_day:
        return day
    hour = part("H", 2)
    if "(?P<p>" in form:
        noon = f"CASE WHEN lower({part('p', 2)}) = 'pm' THEN 12 ELSE 0 END"
        hour = f"TRY_CAST({part('I', 2)} AS INTEGER) % 12 + {noon}"
        hour = f"lpad(CAST({hour} AS VARCHAR), 2, '0')"
    clock = f"{hour}, ':', {part('M', 2)}, ':', {part('S', 2)}"
    return f"concat({day}, ' ', {clock}, '.', {part('f', 6, 'rpad')})"


def _month(found: str, names: list[str]) -> str:
    listed = ", ".join(quoted(name) for name in names)
    number = f"list_position([{listed}], ltrim(lower({found}), '0'))"
    return f"lpad(coalesce(CAST({number} AS VARCHAR), '00'), 2, '0')"


def _part(form: str, n: str, name: str) -> str:
    """Return the text of a named group; empty where the text has another form."""
    whole = quoted(f"^(?:{form})$")
    return f"regexp_extract({n}, {whole}, {_group_position(form, name)})"


def _group_position(form: str, name: str) -> int:
    """Return the number of a named group among the pattern's groups, 0 for none."""
    if f"(?P<{name}>" not in form:
        return 0
    return form[: form.index(f"(?P<{name}>") + 1].count("(?P<") + 1


def _value(reader: ColumnReader, p: str) -> str:
    if reader.allowed is not None:
        listed = ", ".join(literal(value) for value in reader.allowed)
        rest = quoted(OTHER) if reader.other else "NULL"
        return (
            f"CASE WHEN {p} IS NULL THEN NULL WHEN {p} IN ({listed}) THEN {p} "
            f"ELSE {rest} END"
        )
    if reader.column.type is ColumnType.TEXT:
        return _text_value(reader, p)
    if reader.lower is None or reader.upper is None:
        return p
    lower, upper = literal(reader.lower), literal(reader.upper)
    return (
        f"CASE WHEN {p} < {lower} THEN {lower} WHEN {p} > {upper} THEN {upper} "
        f"ELSE {p} END"
    )


def _text_value(reader: ColumnReader, p: str) -> str:
    """Return the expression of a text that is in no list: NULL where it may not be."""
    fits = f"NOT {is_long_sql(p, reader.column.length_bytes)}"
    if reader.hierarchy is not None:
        fits += f" AND {is_code_sql(reader.hierarchy, p, reader.own)}"
    return f"CASE WHEN {fits} THEN {p} END"


def _outcome(reader: ColumnReader, index: int) -> str:
    n, f, p, v = (f"{letter}{index}" for letter in "nfpv")
    nullable = reader.column.nullable
    kept_null = ReadStatus.KEPT if nullable else ReadStatus.NULL_REFUSED
    lost = ReadStatus.TO_NULL if nullable else ReadStatus.NULL_REFUSED
    moved = ReadStatus.CLAMPED if reader.allowed is None else ReadStatus.TO_OTHER
    return (
        f"CASE WHEN {n} IS NULL THEN {kept_null:d} "
        f"WHEN NOT {f} THEN {ReadStatus.UNREADABLE:d} "
        f"WHEN {p} IS NULL THEN {lost:d} "
        f"WHEN {v} IS NULL THEN {_unkept(reader, lost):d} "
        f"WHEN {v} <> {p} THEN {moved:d} {_rounded(reader, index)}"
        f"ELSE {ReadStatus.KEPT:d} END"
    )


def _rounded(reader: ColumnReader, index: int) -> str:
    """Return the case of a decimal with more places than its scale."""
    if reader.column.type is not ColumnType.DECIMAL:
        return ""
    places = f"split_part(n{index}, '.', 2)"
    more = f"rtrim(substr({places}, {(reader.column.scale or 0) + 1}), '0') <> ''"
    if reader.mapped:
        texts = ", ".join(quoted(text) for text in sorted(reader.mapped))
        more += f" AND r{index} NOT IN ({texts})"  # no text: it is not trimmed
    return f"WHEN {more} THEN {ReadStatus.ROUNDED:d} "


def _unkept(reader: ColumnReader, lost: ReadStatus) -> ReadStatus:
    """Return the outcome of a value that was read and cannot be stored."""
    bounds = (reader.lower, reader.allowed, reader.hierarchy)
    if any(bound is not None for bound in bounds):
        return lost
    if reader.column.type in _NUMBERS:
        return ReadStatus.UNREADABLE  # more than 64 bits
    is_text = reader.column.type is ColumnType.TEXT
    return ReadStatus.TOO_LONG if is_text and reader.column.nullable else lost
