"""How the texts of a column are written: numbers, days, truths; and what is asked."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import duckdb

from privacy.schema import ColumnType
from upstream.drafting.columns.text_reasons import (
    behind_some,
    reason,
    reason_conditions,
)
from upstream.drafting.columns.vocabularies import FAR_AWAY
from upstream.files.reading import number_form, thousands_class
from upstream.files.reading_sql import quoted, quoted_name
from upstream.files.usual_forms import (
    AM_PM,
    CLOCKS,
    COMPACT_DAYS,
    COUNTED,
    COUNTED_FROM,
    COUNTED_TO,
    DAYS,
    IN_UTC,
    LETTERS,
    MARKS,
    MOMENTS,
    SHORT_DAYS,
    ZONED,
    truth_words,
)
from upstream.manifests.declarations import ColumnSpec
from upstream.manifests.time_formats import (
    are_ambiguous,
    format_pattern,
    has_offset,
    has_short_years,
)

_ISO = frozenset(
    {"%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", *(f"%Y-%m-%d {clock}" for clock in CLOCKS)}
)
Marks = tuple[str, str | None]
"""A decimal mark, and what parts thousands."""

_ALL_MARKS: tuple[Marks, ...] = ((".", None), *MARKS)
_TWINS_OF_MARKS: dict[Marks, Marks] = {
    (",", None): (".", ","),
    (".", None): (",", "."),
}
_QUESTIONS = {
    ",": "every value may have a decimal comma, or commas between thousands: which? "
    'Take TODO away, or, of thousands, write type: integer, thousands: ","',
    ".": "every value may have a decimal point, or points between thousands: which? "
    'Take thousands away, or, of thousands, write type: integer, thousands: "."',
}
_PADDED = "zeros stand before the digits: a text, in which 007 and 7 are two"
_CENTURY = (
    "years of two digits: say from which year on these are (with century: {first}, "
    "{short} to 99 are 19.., and none lies after {last}), then declare the domain"
)
_SOME_SHORT = "others have four digits: export all so, if any are older than that"
_ZERO_DECIMALS = (
    "whole numbers written with .0, as of a program that met empty cells: if they name "
    "or count things, export them without, and write type: integer"
)
_SERIAL = r"[1-6][0-9]{4}(?:\.[0-9]+)?"
"""A day of 1927 to 2091 as spreadsheets count them."""

_MIXED_CELLS = (
    "numbers and texts with a decimal comma: decimal is of the texts, cells of numbers "
    "are what they are"
)
_MOST_PLACES = 6
"""The most decimals that a draft declares: of more, most are a float's own."""

LIMITED = r"[<>]=?\s*[-+]?[0-9][0-9.,]*"
_CLOCK = (
    "times with an offset to UTC: does the time of day that stands there count, or "
    "UTC? Write clock: as_written, or clock: utc"
)
_LETTERS = (
    "these letters are yes and no in some languages: if they are others here, write "
    "type: text, and take them out of true_values and false_values"
)
_UTC = "times in UTC: hours of the day, and days, are not those on the wall there"
_OFFSET = re.compile(r"\+11(?::11)?$")  # in a shape, where +00:00 counts too
_MOST_SHAPES = 500  # of which a column of days has few
_NEARLY_ALL = 0.98
_NO_DAYS = ("0", "00000000", "99999999", *(day.replace("-", "") for day in FAR_AWAY))
"""What stands for no day, where days are digits."""

WRITTEN_NO_DAYS = (
    *("0000-00-00", "0000-00-00 00:00:00", "0000/00/00"),
    *("00/00/0000", "00.00.0000", "00-00-0000"),
)
"""What stands for no day, where days are written with marks."""
_TWINS = {"%d/%m": "%m/%d", "%m/%d": "%d/%m", "%d-%m": "%m-%d", "%m-%d": "%d-%m"}


@dataclass(frozen=True, slots=True)
class Guess:
    """What a column of texts seems to hold.

    Attributes:
        kind: Its type.
        value: The expression of a value of that type, for a proposal's ends.
        formats: Of days and times that are not ISO; empty: none has to be declared.
        decimal: The decimal mark where it is no point.
        thousands: What parts thousands.
        truths: Words for true and for false.
        nulls: Texts that stand for nothing, such as days far away.
        question: What only the custodian can say.
        scale: Decimals of a decimal.
        is_open: Whether the question is of the decimal mark: until it is answered
            nothing can be loaded.
        twins: Those of its formats that may be another: which, or none, is asked.
        is_short: Whether years have two digits.
        flag: A mark for yes, and all that stands where there is none.
        words: Words beside numbers or days, of which some may stand for nothing.
        limits: Results beside numbers that say less or more than one: ``<0,5``.
        is_zoned: Whether times have an offset to UTC.
    """

    kind: ColumnType
    value: str
    formats: tuple[str, ...] = ()
    decimal: str | None = None
    thousands: str | None = None
    truths: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    nulls: tuple[str, ...] = ()
    question: str | None = None
    scale: int | None = None
    is_open: bool = False
    twins: frozenset[str] = frozenset()
    is_short: bool = False
    flag: tuple[str, tuple[str, ...]] | None = None
    words: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    is_zoned: bool = False

    @property
    def is_padded(self) -> bool:
        """Whether it is a text of digits with zeros before some."""
        return self.question == _PADDED


@dataclass(slots=True)
class _Tries:
    """Conditions on a column, each of which is counted in one pass."""

    conditions: list[str] = field(default_factory=list)

    def add(self, condition: str) -> int:
        """Add a condition; return its place."""
        self.conditions.append(condition)
        return len(self.conditions) - 1


def compact_guesses(
    connection: duckdb.DuckDBPyConnection, texts: str, names: Sequence[str]
) -> dict[str, Guess]:
    """Return which columns of whole numbers hold days in digits: 20220304.

    Args:
        connection: Where they are looked at.
        texts: The relation of the rows, each value as the file writes it.
        names: The columns.
    """
    found = {}
    for name in names:
        column = quoted_name(name)
        for one in COMPACT_DAYS:
            moment = _moment(column, one)
            digits = 8 if one == COMPACT_DAYS[0] else 14
            fits = f"length({column}) = {digits} AND year({moment})"
            is_none = f"{column} IN ({', '.join(map(quoted, _NO_DAYS))})"
            every, none = connection.execute(
                f"SELECT bool_and(coalesce({fits} BETWEEN 1900 AND 2100, false)) "  # noqa: S608 - quoted names
                f"FILTER (NOT {is_none}), list(DISTINCT {column} ORDER BY {column}) "
                f"FILTER ({is_none}) "
                f"FROM {texts} WHERE TRY_CAST({column} AS BIGINT) IS NOT NULL"
            ).fetchone() or (None, None)
            if every:
                found[name] = _compact(column, one, tuple(none or ()))
    return found


def _compact(column: str, one: str, none: tuple[str, ...]) -> Guess:
    text = f"CAST({column} AS VARCHAR)"
    listed = ", ".join(map(quoted, _NO_DAYS))
    moment = f"CASE WHEN {text} NOT IN ({listed}) THEN {_moment(text, one)} END"
    is_day = one == COMPACT_DAYS[0]
    return Guess(
        ColumnType.DATE if is_day else ColumnType.TIMESTAMP,
        f"CAST({moment} AS DATE)" if is_day else moment,
        formats=(one,),
        words=none,
        question="whole numbers each of which is a day of 1900 to 2100 in digits: if "
        "they only name or count things, write type: integer, without format"
        + (f"; {', '.join(none)} for no day: take TODO away" if none else ""),
    )


def counted_guesses(
    connection: duckdb.DuckDBPyConnection, texts: str, names: Sequence[str]
) -> dict[str, Guess]:
    """Return which columns of numbers hold moments, counted since 1970: 1709287860.

    Args:
        connection: Where they are looked at.
        texts: The relation of the rows, each value as the file writes it.
        names: The columns.
    """
    kinds = [(name, one) for name in names for one in COUNTED]
    if not kinds:
        return {}
    wanted = ", ".join(_is_counted(quoted_name(name), one) for name, one in kinds)
    row = connection.execute(f"SELECT {wanted} FROM {texts}").fetchone() or ()  # noqa: S608 - quoted names
    return {
        name: _counted(name, one)
        for (name, one), every in zip(kinds, row, strict=False)
        if every
    }


def _is_counted(column: str, one: str) -> str:
    low, high = (end * COUNTED[one] for end in (COUNTED_FROM, COUNTED_TO))
    text = f"trim({column})"  # a cast of the column alone would be the CSV reader's
    return f"bool_and(TRY_CAST({text} AS DOUBLE) BETWEEN {low} AND {high})"


def _counted(name: str, one: str) -> Guess:
    seconds = f"TRY_CAST(trim(CAST({quoted_name(name)} AS VARCHAR)) AS DOUBLE)"
    seconds = f"{seconds} / {COUNTED[one]}"
    return Guess(
        ColumnType.TIMESTAMP,
        f"make_timestamp(CAST({seconds} * 1000000 AS BIGINT))",
        formats=(one,),
        question=f"numbers that may be {one.removeprefix('unix_')} since 1970, all of "
        "2000 to 2038, in UTC: take TODO away; if they only name or count things, "
        "write type: integer, without format",
        twins=frozenset({one}),
    )


def decimal_guesses(
    connection: duckdb.DuckDBPyConnection,
    texts: str,
    names: Sequence[str],
    *,
    is_typed: bool,
) -> dict[str, Guess]:
    """Return how columns of decimals with a point are written.

    Those of which not nearly all are written as a load reads them are texts.

    Args:
        connection: Where they are looked at.
        texts: The relation of the rows, each value as the file writes it.
        names: The columns.
        is_typed: Whether the file has numbers, which a load writes out itself.
    """
    found = {}
    for name in names:
        column = quoted_name(name)
        values = f"SELECT {column} FROM {texts}"  # noqa: S608 - quoted names
        if not is_typed and (said := _exponents(connection, values, column)):
            text = f"CAST({column} AS VARCHAR)"
            found[name] = Guess(ColumnType.TEXT, text, question=said)
            continue
        guess = _decimal(connection, values, column, (".", None))
        if guess.kind is ColumnType.DECIMAL:
            found[name] = replace(guess, value=column)
            if not is_typed and guess.question is None:
                said = (
                    _ZERO_DECIMALS if _are_whole(connection, values, column) else None
                )
                found[name] = replace(found[name], question=said)
    return found


def _exponents(
    connection: duckdb.DuckDBPyConnection, values: str, column: str
) -> str | None:
    """Return why a column is a text, where some of its numbers have exponents."""
    total, plain, *reasons = connection.execute(
        f"SELECT count(*), count(*) FILTER ({_is_number(column, '.', None)}), "  # noqa: S608 - quoted names
        + ", ".join(f"count(*) FILTER ({one})" for one in reason_conditions(column))
        + f" FROM ({values}) WHERE TRY_CAST({column} AS DOUBLE) IS NOT NULL"
    ).fetchone() or (0, 0)
    return reason(reasons, total) if plain < total * _NEARLY_ALL else None


def _are_whole(connection: duckdb.DuckDBPyConnection, values: str, column: str) -> bool:
    """Return whether all numbers of a column have .0 behind them, and no more."""
    form = f"bool_and(regexp_full_match({column}, '[+-]?[0-9]+[.]0+'))"
    wanted = f"SELECT {form} FROM ({values}) WHERE {column} <> ''"  # noqa: S608 - quoted names
    found = connection.execute(wanted).fetchone()
    return bool(found and found[0])


def guess_of(
    connection: duckdb.DuckDBPyConnection, rows: str, name: str, *, has_cells: bool
) -> Guess | None:
    """Return what a column of texts seems to hold; None: texts.

    A guess of texts says what keeps them from being something else.

    Args:
        connection: Where it is looked at.
        rows: The relation of the rows.
        name: The column.
        has_cells: Whether it is of a sheet: its numbers have a point, whatever its
            texts have.
    """
    column = quoted_name(name)
    formats = _met_formats(connection, rows, column)
    tries = _Tries()
    for one in formats:
        tries.add(f"{_fits(column, one)} AND {_moment(column, one)} IS NOT NULL")
    for decimal, thousands in _ALL_MARKS:
        tries.add(_is_number(column, decimal, thousands))
    tries.add(f"regexp_full_match({column}, {quoted(LIMITED)})")
    for condition in reason_conditions(column):
        tries.add(condition)
    counted = ", ".join(f"count(*) FILTER ({each})" for each in tries.conditions)
    values = f"SELECT {column} FROM {rows} WHERE {column} <> ''"  # noqa: S608 - quoted names
    distinct = f"list(DISTINCT {column} ORDER BY {column})[:6]"
    several = f"CASE WHEN approx_count_distinct({column}) < 20 THEN {distinct} END"
    total, texts, *counts = connection.execute(
        f"SELECT count({column}), {several}, {counted} FROM ({values})"  # noqa: S608 - as above
    ).fetchone() or (0, None)
    if not total:
        return None
    told = dict(zip(formats, counts, strict=False))
    counts = counts[len(formats) :]
    marks = dict(zip(_ALL_MARKS, counts, strict=False))
    limited, *reasons = counts[len(marks) :]
    if texts and (words := truth_words(texts)):
        said = _LETTERS if (words[0][0], words[1][0]) in LETTERS else None
        return Guess(ColumnType.BOOLEAN, column, truths=words, question=said)
    return (
        _moments(connection, values, column, told, total)
        or _told_of(_numbers(connection, values, column, marks, total), reasons)
        or (_mixed_cells(connection, values, column, total) if has_cells else None)
        or _text(connection, values, column, told, (max(marks.values()), limited))
        or _plain_text(column, reason(reasons, _NEARLY_ALL * total))
    )


def _told_of(guess: Guess | None, counts: Sequence[int]) -> Guess | None:
    """Return a guess of numbers that tells of the few which no load reads."""
    said = behind_some(counts)
    if guess is None or said is None:
        return guess
    told = [guess.question] if guess.question else []
    return replace(guess, question="; ".join([*told, f"{said}, or they become NULL"]))


def _met_formats(
    connection: duckdb.DuckDBPyConnection, rows: str, column: str
) -> list[str]:
    """Return the formats that values are of by their form: each is dear to count."""
    shape = f"regexp_replace({column}, '[0-9]', '1', 'g')"
    found = connection.execute(
        f"SELECT DISTINCT {shape} FROM {rows} WHERE {column} <> '' LIMIT {_MOST_SHAPES}"  # noqa: S608 - quoted names
    ).fetchall()
    shapes = {str(text) for (text,) in found}
    shapes |= {_OFFSET.sub(lambda m: m[0].replace("1", "0"), one) for one in shapes}
    known = (*DAYS, *MOMENTS, *IN_UTC, *SHORT_DAYS, *AM_PM, *ZONED)
    patterns = ((one, re.compile(_pattern(one))) for one in known)
    return [one for one, met in patterns if any(map(met.fullmatch, shapes))]


def _plain_text(column: str, said: str | None) -> Guess | None:
    return Guess(ColumnType.TEXT, column, question=said) if said else None


def _mixed_cells(
    connection: duckdb.DuckDBPyConnection, values: str, column: str, total: int
) -> Guess | None:
    """Return the guess of numbers some of which a sheet has as texts with a comma."""
    for decimal, thousands in _ALL_MARKS:
        is_text = _is_number(column, decimal, thousands)
        is_number = _is_number(column, ".", None)
        places = f"length(split_part({column}, {quoted(decimal)}, 2))"
        of_numbers = f"length(split_part({column}, '.', 2))"
        found = (
            decimal == ","
            and connection.execute(
                f"SELECT count(*), max(greatest({places}, CASE WHEN {is_number} THEN "  # noqa: S608 - quoted names
                f"{of_numbers} END)) FROM ({values}) WHERE {is_text} OR {is_number}"
            ).fetchone()
        )
        if found and found[0] >= _NEARLY_ALL * total:
            mark = (
                f"replace(replace({column}, {quoted(thousands or ' ')}, ''), ',', '.')"
            )
            value = f"CASE WHEN {is_number} THEN {column} ELSE {mark} END"
            return Guess(
                ColumnType.DECIMAL,
                f"TRY_CAST({value} AS DOUBLE)",
                decimal=decimal,
                thousands=thousands,
                question=_MIXED_CELLS,
                scale=min(found[1], _MOST_PLACES),
            )
    return None


def _text(
    connection: duckdb.DuckDBPyConnection,
    values: str,
    column: str,
    days: dict[str, int],
    counts: tuple[int, int],
) -> Guess | None:
    """Return why a column stays a text, where that can be told."""
    numbers, limited = counts
    first, second = [*sorted(days, key=lambda one: -days[one]), None, None][:2]
    formats = [one for one in (first, second) if one is not None]
    are_days = " OR ".join(f"{_moment(column, one)} IS NOT NULL" for one in formats)
    are_serials = f"regexp_full_match({column}, {quoted(_SERIAL)})"
    total, either, serials = connection.execute(
        f"SELECT count(*), count(*) FILTER ({are_days or 'false'}), "  # noqa: S608 - quoted names
        f"count(*) FILTER ({are_serials}) FROM ({values})"
    ).fetchone() or (0, 0, 0)
    days_and_serials = either + serials if either else 0
    said = None
    if limited and numbers + limited >= _NEARLY_ALL * total:
        said = (
            f"numbers, but {_percent(limited, total)} begin with < or >: a text, "
            "unless map says which numbers these are"
        )
    elif serials and days_and_serials >= _NEARLY_ALL * total:
        said = (
            f"days, but {_percent(serials, total)} are numbers that may be days as "
            "spreadsheets count them (45292 is 2024-01-01): a text; give all cells of "
            "the column the format of a date, and export it again"
        )
    elif second is not None and either >= _NEARLY_ALL * total:
        said = (
            f"days in two forms that cannot be told apart ({first} and {second}): a "
            "text"
        )
    elif first is not None and days[first] * 2 >= total:
        said = (
            f"days ({first}), but {_percent(total - days[first], total)} are none: a "
            "text, unless you declare the format, and in null_values what stands for "
            "nothing"
        )
    return Guess(ColumnType.TEXT, column, question=said) if said else None


def _percent(part: int, whole: int) -> str:
    return f"{max(1, round(100 * part / whole))} %"


def _fits(column: str, one: str) -> str:
    return f"regexp_full_match({column}, {quoted(_pattern(one))})"


def _pattern(one: str) -> str:
    return format_pattern(one, with_clock=True, with_century=True)


def _moment(column: str, one: str) -> str:
    """Return the moment that a text is in a format, an offset left aside."""
    text = column
    if has_offset(one):
        text = f"regexp_replace({column}, ' ?(Z|[+-][0-9:]+)$', '')"
        one = one.removesuffix("%z").rstrip()
    return f"try_strptime({text}, {quoted(one)})"


def _is_number(column: str, decimal: str, thousands: str | None) -> str:
    spec = _number_spec(decimal, thousands)
    return f"regexp_full_match({column}, {quoted(number_form(spec))})"


def has_other_decimals(
    connection: duckdb.DuckDBPyConnection, texts: str, name: str, thousands: str
) -> bool:
    """Return whether what parts thousands may be the decimal mark in one file.

    Some of its values have it, none has it twice, and none has the other mark.

    Args:
        connection: Where they are looked at.
        texts: The relation of the file's rows, each value as the file writes it.
        name: The column.
        thousands: A point or a comma.
    """
    column = quoted_name(name)
    found = connection.execute(
        f"SELECT bool_or(contains({column}, {quoted(thousands)})) AND "  # noqa: S608 - quoted names
        f"bool_and({_is_number(column, thousands, None)}) "
        f"FROM {texts} WHERE regexp_matches({column}, '[0-9]')"
    ).fetchone()
    return bool(found and found[0])


def _number_spec(decimal: str, thousands: str | None) -> ColumnSpec:
    return ColumnSpec(
        name="n",
        type=ColumnType.DECIMAL,
        scale=2,
        decimal=decimal,
        thousands=thousands,
    )


def _numbers(
    connection: duckdb.DuckDBPyConnection,
    values: str,
    column: str,
    counts: dict[Marks, int],
    total: int,
) -> Guess | None:
    """Return the way in which most values are numbers, if nearly all are.

    Of ways in which as many are the first: a mark that no value has is no guess.
    """
    marks = max(counts, key=lambda one: counts[one])
    if counts[marks] < _NEARLY_ALL * total:
        return None
    return _decimal(connection, values, column, marks)


def _decimal(
    connection: duckdb.DuckDBPyConnection, values: str, column: str, marks: Marks
) -> Guess:
    """Return the guess of numbers: what decimals they have, and what may be meant.

    Digits alone are integers, and texts where zeros stand before some: such numbers
    only name things. Where all that could be decimals stand in threes, only the
    custodian can say what the mark means.
    """
    decimal, thousands = marks
    twin = _TWINS_OF_MARKS.get(marks)
    places = f"length(split_part({column}, {quoted(decimal)}, 2))"
    wanted = (
        f"max({places})",
        f"count(*) FILTER (contains({column}, {quoted(decimal)}))",
        f"count(*) FILTER (regexp_full_match({column}, '[+-]?0[0-9]+'))",
        f"count(*) FILTER (contains({column}, {quoted(decimal)}) AND "
        f"(NOT {_is_number(column, *twin)} OR ltrim({column}, '+-') LIKE '0_%'))"
        if twin
        else "1",
    )
    fitting = _is_number(column, decimal, thousands)
    scale, marked, padded, only = connection.execute(
        f"SELECT {', '.join(wanted)} FROM ({values}) WHERE {fitting}"  # noqa: S608 - as above
    ).fetchone() or (0, 0, 0, 0)
    if not marked and padded:
        return Guess(ColumnType.TEXT, column, question=_PADDED)
    plain = column
    if thousands:
        parts = thousands_class(_number_spec(decimal, thousands))
        plain = f"regexp_replace({plain}, {quoted(parts)}, '', 'g')"
    if not marked:
        value = f"TRY_CAST(trim({plain}) AS BIGINT)"
        return Guess(ColumnType.INTEGER, value, thousands=thousands)
    question = None if only else _QUESTIONS[decimal]
    if scale > _MOST_PLACES:
        question = (
            f"some values have more than {_MOST_PLACES} decimals: a load rounds them "
            f"to {_MOST_PLACES}, unless you declare a greater scale"
        )
    return Guess(
        ColumnType.DECIMAL,
        f"TRY_CAST(replace({plain}, {quoted(decimal)}, '.') AS DOUBLE)",
        decimal=None if decimal == "." else decimal,
        thousands=thousands,
        question=question,
        scale=min(scale, _MOST_PLACES),
        is_open=not only,
    )


def _moments(
    connection: duckdb.DuckDBPyConnection,
    values: str,
    column: str,
    counts: dict[str, int],
    total: int,
) -> Guess | None:
    """Return the formats that read nearly all values, none of them ambiguous."""
    picked: list[str] = []
    for one in sorted(counts, key=lambda f: -counts[f]):
        rival = any(are_ambiguous(one, p, with_clock=True) for p in picked)
        if counts[one] and not rival:
            picked.append(one)
    if not picked or sum(counts[one] for one in picked) < _NEARLY_ALL * total:
        return None
    has_clock = any("%H" in one or "%I" in one for one in picked)
    is_zoned = any(map(has_offset, picked))
    kind = ColumnType.TIMESTAMP if has_clock else ColumnType.DATE
    value = f"coalesce({', '.join(_moment(column, one) for one in picked)})"
    formats = tuple(sorted(picked, key=lambda f: -counts[f]))
    far = tuple(_far_away(connection, values, column, formats))
    value = (
        f"CASE WHEN {column} NOT IN ({', '.join(map(quoted, far)) or quoted('')}) "
        f"THEN {value} END"
    )
    twins = dict(_twins(formats, counts))
    is_of_two = {has_short_years(one) for one in formats}
    is_short = True in is_of_two
    questions = [
        f"each value can be read as {one} and as {twin}: which is it?"
        for one, twin in twins.items()
    ]
    questions += [_asked_century()] if is_short else []
    questions += [_SOME_SHORT] if is_short and len(is_of_two) > 1 else []
    questions += [_CLOCK] if is_zoned else []
    questions += [_UTC] if set(formats) & set(IN_UTC) else []
    return Guess(
        kind,
        value if has_clock else f"CAST({value} AS DATE)",
        formats=() if set(formats) <= _ISO else formats,
        nulls=far,
        question="; ".join(questions) or None,
        twins=frozenset(twins),
        is_short=is_short,
        is_zoned=is_zoned,
    )


def earliest_century() -> int:
    """Return the first of the 100 years of which this year is the last."""
    return datetime.now(UTC).year - 99


def _asked_century() -> str:
    first = earliest_century()
    return _CENTURY.format(first=first, short=first % 100, last=first + 99)


def _twins(formats: Sequence[str], counts: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Yield each format that has a twin which reads all its values too, with that."""
    for one in formats:
        day = next((day for day in _TWINS if day in one), None)
        twin = one if day is None else one.replace(day, _TWINS[day])
        if twin != one and counts.get(twin, 0) == counts[one]:
            yield one, twin


def _far_away(
    connection: duckdb.DuckDBPyConnection,
    values: str,
    column: str,
    formats: Sequence[str],
) -> Iterator[str]:
    """Yield texts that stand for no end yet, in the formats of a column."""
    days = ", ".join(f"DATE '{day}'" for day in FAR_AWAY)
    for one in formats:
        moment = _moment(column, one)
        found = connection.execute(
            f"SELECT DISTINCT {column} FROM ({values}) "  # noqa: S608 - quoted names
            f"WHERE CAST({moment} AS DATE) IN ({days}) ORDER BY 1 LIMIT 3"
        ).fetchall()
        yield from (str(text) for (text,) in found)
