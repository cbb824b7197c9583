"""How the texts of a column are written: numbers, days, truths; and what is asked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import duckdb

from privacy.schema import ColumnType
from upstream.drafting.vocabularies import FAR_AWAY
from upstream.files.reading import number_form, thousands_class
from upstream.files.reading_sql import quoted
from upstream.files.usual_forms import (
    CLOCKS,
    DAYS,
    IN_UTC,
    MARKS,
    MOMENTS,
    truth_words,
)
from upstream.manifests.declarations import ColumnSpec
from upstream.manifests.time_formats import are_ambiguous, format_pattern

_ISO = frozenset(
    {"%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", *(f"%Y-%m-%d {clock}" for clock in CLOCKS)}
)
_NEARLY_ALL = 0.98
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
    """

    kind: ColumnType
    value: str
    formats: tuple[str, ...] = ()
    decimal: str | None = None
    thousands: str | None = None
    truths: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    nulls: tuple[str, ...] = ()
    question: str | None = None


@dataclass(slots=True)
class _Tries:
    """Conditions on a column, each of which is counted in one pass."""

    conditions: list[str] = field(default_factory=list)

    def add(self, condition: str) -> int:
        """Add a condition; return its place."""
        self.conditions.append(condition)
        return len(self.conditions) - 1


def guesses(
    connection: duckdb.DuckDBPyConnection, rows: str, names: Sequence[str]
) -> dict[str, Guess]:
    """Return what columns of texts seem to hold; those that hold texts are left out."""
    found = {}
    for name in names:
        if guess := _guess(connection, rows, '"' + name.replace('"', '""') + '"'):
            found[name] = guess
    return found


def _guess(
    connection: duckdb.DuckDBPyConnection, rows: str, column: str
) -> Guess | None:
    formats = (*DAYS, *MOMENTS, *IN_UTC)
    tries = _Tries()
    for one in formats:
        tries.add(f"{_fits(column, one)} AND {_moment(column, one)} IS NOT NULL")
    for decimal, thousands in MARKS:
        tries.add(_is_number(column, decimal, thousands))
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
    marks = dict(zip(MARKS, counts[len(formats) :], strict=True))
    if texts and (words := truth_words(texts)):
        return Guess(ColumnType.BOOLEAN, column, truths=words)
    return _moments(connection, values, column, told, total) or _numbers(
        column, marks, total
    )


def _fits(column: str, one: str) -> str:
    return f"regexp_full_match({column}, {quoted(_pattern(one))})"


def _pattern(one: str) -> str:
    return format_pattern(one, with_clock=True)


def _moment(column: str, one: str) -> str:
    return f"try_strptime({column}, {quoted(one)})"


def _is_number(column: str, decimal: str, thousands: str | None) -> str:
    spec = _number_spec(decimal, thousands)
    return f"regexp_full_match({column}, {quoted(number_form(spec))})"


def _number_spec(decimal: str, thousands: str | None) -> ColumnSpec:
    return ColumnSpec(
        name="n",
        type=ColumnType.DECIMAL,
        scale=2,
        decimal=decimal,
        thousands=thousands,
    )


def _numbers(
    column: str, counts: dict[tuple[str, str | None], int], total: int
) -> Guess | None:
    """Return the first way in which all values are numbers."""
    fitting = [marks for marks, n in counts.items() if n >= _NEARLY_ALL * total]
    if not fitting:
        return None
    decimal, thousands = fitting[0]
    plain = column
    if thousands:
        parts = thousands_class(_number_spec(decimal, thousands))
        plain = f"regexp_replace({plain}, {quoted(parts)}, '', 'g')"
    value = f"TRY_CAST(replace({plain}, {quoted(decimal)}, '.') AS DOUBLE)"
    question = None
    if (",", None) in fitting and (".", ",") in fitting:
        question = (
            "every value may have a decimal comma, or commas between thousands: which?"
        )
    mark = None if decimal == "." else decimal
    return Guess(
        ColumnType.DECIMAL,
        value,
        decimal=mark,
        thousands=thousands,
        question=question,
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
    has_clock = any("%H" in one for one in picked)
    kind = ColumnType.TIMESTAMP if has_clock else ColumnType.DATE
    value = f"coalesce({', '.join(_moment(column, one) for one in picked)})"
    formats = tuple(sorted(picked, key=lambda f: -counts[f]))
    far = tuple(_far_away(connection, values, column, formats))
    value = (
        f"CASE WHEN {column} NOT IN ({', '.join(map(quoted, far)) or quoted('')}) "
        f"THEN {value} END"
    )
    return Guess(
        kind,
        value if has_clock else f"CAST({value} AS DATE)",
        formats=() if set(formats) <= _ISO else formats,
        nulls=far,
        question=_which(formats, counts),
    )


def _which(formats: Sequence[str], counts: dict[str, int]) -> str | None:
    """Return the question of a format that has a twin which reads all values too."""
    for one in formats:
        twin = one
        for day, other in _TWINS.items():
            if day in one:
                twin = one.replace(day, other)
                break
        if twin != one and counts.get(twin, 0) == counts[one]:
            return f"each value can be read as {one} and as {twin}: which is it?"
    return None


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
