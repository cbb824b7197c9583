"""How one column's text becomes a stored value: the rules, and them in Python.

``upstream.files.reading_sql`` renders the same rules for DuckDB; tests hold both equal.
This module locates what the fast path refused, and is the page to read.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from enum import IntEnum

from privacy.schema import (
    OTHER,
    ColumnType,
    Domain,
    Hierarchy,
    HierarchyDomain,
    RangeDomain,
    Scalar,
    ValuesDomain,
)
from query_lang.hierarchies import is_code
from upstream.files.long_texts import carried_bytes, is_long, size_bytes
from upstream.files.usual_forms import WHITE_SPACE
from upstream.manifests.declarations import ColumnSpec
from upstream.manifests.literals import (
    INT64_MAX,
    INT64_MIN,
    scaled_integer,
    typed_literal,
)
from upstream.manifests.public_schema import domain_of
from upstream.manifests.time_formats import format_pattern, iso_text

Stored = int | str | bool | date | datetime | None
"""A value as the snapshot holds it: decimals as integers on their grid."""

NOT_FINITE = "[+-]?(?:[nN][aA][nN]|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)"
INTEGER_FORM = r"[+-]?[0-9]+"
DECIMAL_FORM = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
DATE_FORM = r"[+-]?[0-9]{4,}-[0-9]{2}-[0-9]{2}"
TIMESTAMP_FORM = (
    DATE_FORM + r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)?"
)
SATURATED = 10**37  # stands for every magnitude from there on; far beyond 64 bits
_ALIKE = {" ": " \u00a0\u2009\u202f", "'": "'\u2019"}
"""What else parts thousands where one of these is declared."""

_NAMED = re.compile(r"\(\?P<\w+>")
_FORMS = {
    ColumnType.INTEGER: INTEGER_FORM,
    ColumnType.DECIMAL: DECIMAL_FORM,
    ColumnType.DATE: DATE_FORM,
    ColumnType.TIMESTAMP: TIMESTAMP_FORM,
    ColumnType.BOOLEAN: "true|false",
}


class ReadStatus(IntEnum):
    """What became of one value; stored as a number in the staging tables."""

    KEPT = 0
    CLAMPED = 1
    TO_OTHER = 2
    TO_NULL = 3
    UNREADABLE = 4  # refuses the file
    NULL_REFUSED = 5  # refuses the file
    TOO_LONG = 6  # a text of more than its column's max_length: NULL
    ROUNDED = 7  # a decimal with more places than its column's scale


@dataclass(frozen=True, slots=True)
class ColumnReader:
    """One column's rules, in stored values.

    Attributes:
        column: The declaration that the rules come from.
        null_texts: Source texts that are NULL.
        mapped: Source texts with a declared value.
        form: Pattern that every other readable text matches; None: any text does.
        lower: Least stored value, or None.
        upper: Greatest stored value, or None.
        allowed: The declared values, or None.
        other: Whether the rest becomes ``other``.
        hierarchy: The hierarchy whose codes are allowed, or None.
        own: The manifest's own hierarchies.
    """

    column: ColumnSpec
    null_texts: frozenset[str]
    mapped: Mapping[str, Stored]
    form: str | None
    lower: Stored = None
    upper: Stored = None
    allowed: tuple[Stored, ...] | None = None
    other: bool = False
    hierarchy: HierarchyDomain | None = None
    own: Mapping[str, Hierarchy] = field(default_factory=dict)

    def read(self, raw: str | None) -> tuple[Stored, ReadStatus]:
        """Return the stored value of a source text and what became of it."""
        if raw is not None and self.column.trim and self._is_whole(raw):
            raw = raw.strip(WHITE_SPACE)
        if raw is None or raw in self.null_texts:
            return self._null(ReadStatus.KEPT)
        if raw in self.mapped:
            return self._within_domain(self.mapped[raw])
        if self.form is not None and not self._has_form(raw):
            return None, ReadStatus.UNREADABLE
        return self._parsed(raw)

    def _parsed(self, raw: str) -> tuple[Stored, ReadStatus]:
        value = _parsed(self.column, raw)
        if value is None:
            return self._null(ReadStatus.TO_NULL)
        kept, outcome = self._within(value)
        if outcome is ReadStatus.KEPT and _has_more_places(self.column, raw):
            outcome = ReadStatus.ROUNDED
        return kept, outcome

    def _has_form(self, raw: str) -> bool:
        return self._is_whole(raw) and re.fullmatch(str(self.form), raw) is not None

    def _is_whole(self, raw: str) -> bool:
        """Whether a text is carried as it is, and not by its digest."""
        return size_bytes(raw) <= carried_bytes(self.column)

    def _null(self, outcome: ReadStatus) -> tuple[Stored, ReadStatus]:
        return None, outcome if self.column.nullable else ReadStatus.NULL_REFUSED

    def _within(self, value: Stored) -> tuple[Stored, ReadStatus]:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if is_number and self.lower is None and self.allowed is None:
            fits = isinstance(value, int) and INT64_MIN <= value <= INT64_MAX
            return (value, ReadStatus.KEPT) if fits else (None, ReadStatus.UNREADABLE)
        return self._within_domain(value)

    def _within_domain(self, value: Stored) -> tuple[Stored, ReadStatus]:
        if self.allowed is not None:
            return self._listed(value)
        if isinstance(value, str):
            return self._text(value)
        if self.lower is None or self.upper is None:
            return value, ReadStatus.KEPT
        clamped = _clamp(value, self.lower, self.upper)
        return clamped, ReadStatus.KEPT if clamped == value else ReadStatus.CLAMPED

    def _text(self, value: str) -> tuple[Stored, ReadStatus]:
        fits = not is_long(value, self.column.length_bytes)
        if self.hierarchy is not None:
            fits = fits and is_code(self.hierarchy, value, self.own)
        lost = ReadStatus.TOO_LONG if self.hierarchy is None else ReadStatus.TO_NULL
        return (value, ReadStatus.KEPT) if fits else self._null(lost)

    def _listed(self, value: Stored) -> tuple[Stored, ReadStatus]:
        if self.allowed is not None and value in self.allowed:
            return value, ReadStatus.KEPT
        if not self.other:
            return self._null(ReadStatus.TO_NULL)
        return OTHER, ReadStatus.KEPT if value == OTHER else ReadStatus.TO_OTHER


def reader_of(column: ColumnSpec) -> ColumnReader:
    """Return the rules of a checked column that is stored."""
    scale = column.scale or 0
    domain = domain_of(column)
    lower, upper, allowed = _stored_domain(domain, scale)
    return ColumnReader(
        column=column,
        null_texts=column.null_texts,
        mapped={
            raw: stored(typed_literal(value, column.type, scale), scale)
            for raw, value in column.map.items()
            if value is not None
        },
        form=_form(column),
        lower=lower,
        upper=upper,
        allowed=allowed,
        other=bool(column.domain and column.domain.other),
        hierarchy=domain if isinstance(domain, HierarchyDomain) else None,
        own=column.domain.own if column.domain else {},
    )


def _stored_domain(
    domain: Domain | None, scale: int
) -> tuple[Stored, Stored, tuple[Stored, ...] | None]:
    match domain:
        case None | HierarchyDomain():
            return None, None, None
        case RangeDomain(lower, upper):
            return stored(lower, scale), stored(upper, scale), None
        case ValuesDomain(values):
            return None, None, tuple(stored(value, scale) for value in values)


def stored(value: Scalar, scale: int) -> Stored:
    """Return a public value as the snapshot holds it."""
    return scaled_integer(value, scale) if isinstance(value, Decimal) else value


def time_patterns(column: ColumnSpec) -> tuple[str, ...]:
    """Return the patterns of a column's declared formats, with named parts."""
    clock = column.type is ColumnType.TIMESTAMP
    return tuple(
        format_pattern(one, with_clock=clock, with_century=column.century is not None)
        for one in column.time_formats
    )


def number_form(column: ColumnSpec) -> str:
    """Return the pattern of numbers with a column's own decimal mark and thousands."""
    whole = "[0-9]+"
    if column.thousands:
        whole = f"(?:[0-9]{{1,3}}(?:{thousands_class(column)}[0-9]{{3}})+|[0-9]+)"
    if column.type is ColumnType.INTEGER:
        return f"[+-]?{whole}"
    mark = re.escape(column.decimal or ".")
    return f"[+-]?(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)"


def thousands_class(column: ColumnSpec) -> str:
    """Return the class of characters that part thousands: blanks of any width are one.

    >>> column = ColumnSpec(name="n", type="integer", thousands="'")
    >>> thousands_class(column)
    "['\u2019]"
    """
    told = _ALIKE.get(str(column.thousands), str(column.thousands))
    return "[" + "".join(map(_in_class, told)) + "]"


def _in_class(character: str) -> str:
    return "\\" + character if character in "\\]^-[" else character


def _plain_number(column: ColumnSpec, raw: str) -> str:
    """Return a number of the declared form as others are written."""
    if column.thousands:
        raw = re.sub(thousands_class(column), "", raw)
    return raw.replace(column.decimal, ".") if column.decimal else raw


def _form(column: ColumnSpec) -> str | None:
    if column.type is ColumnType.TEXT:
        return None
    form = _FORMS[column.type]
    if patterns := time_patterns(column):
        form = "|".join(f"(?:{_NAMED.sub('(?:', pattern)})" for pattern in patterns)
    if column.decimal or column.thousands:
        form = number_form(column)
    if column.type is ColumnType.BOOLEAN:
        return form
    return f"(?:{form})|{NOT_FINITE}"


def _parsed(column: ColumnSpec, raw: str) -> Stored:  # noqa: PLR0911 - one a type
    """Return the value of a text of the right form; None where it is impossible."""
    if column.type is ColumnType.TEXT:
        return raw
    if column.type is ColumnType.BOOLEAN:
        return raw == "true"
    if re.fullmatch(NOT_FINITE, raw):
        return None
    is_moment = column.type in {ColumnType.DATE, ColumnType.TIMESTAMP}
    if is_moment:
        return _moment(column, raw)
    return _scaled(_plain_number(column, raw), column.scale or 0)


def _has_more_places(column: ColumnSpec, raw: str) -> bool:
    """Whether a number has more decimals than its column keeps, but idle zeros."""
    if column.type is not ColumnType.DECIMAL:
        return False
    _, _, places = _plain_number(column, raw).partition(".")
    return places[column.scale or 0 :].rstrip("0") != ""


def _scaled(raw: str, scale: int) -> int:
    """Return a number on the grid of its scale, rounded half to even."""
    sign = -1 if raw.startswith("-") else 1
    whole, _, places = raw.lstrip("+-").partition(".")
    kept, rest = places[:scale].ljust(scale, "0"), places[scale:].rstrip("0")
    digits = (whole + kept).lstrip("0") or "0"
    if len(digits) > 37:  # noqa: PLR2004 - the digits of SATURATED
        return sign * SATURATED
    number = int(digits)
    rounds_up = rest > "5" or (rest == "5" and number % 2 == 1)
    return sign * (number + rounds_up)


def _moment(column: ColumnSpec, raw: str) -> date | datetime | None:
    """Return the moment of the first format that gives one; None: none does."""
    texts: list[str | None] = [raw]
    if patterns := time_patterns(column):
        found = (re.fullmatch(pattern, raw) for pattern in patterns)
        texts = [
            iso_text(_parts(match), column.century, in_utc=column.clock == "utc")
            for match in found
            if match
        ]
    moments = (_read_moment(column, text) for text in texts if text is not None)
    return next((moment for moment in moments if moment is not None), None)


def _parts(match: re.Match[str]) -> dict[str, str]:
    return {name: text for name, text in match.groupdict().items() if text is not None}


def _read_moment(column: ColumnSpec, text: str) -> date | datetime | None:
    try:
        return _day(text) if column.type is ColumnType.DATE else _day_and_clock(text)
    except ValueError:
        return None


def _day(text: str) -> date:
    year, month, day = text[:10].split("-")
    if len(text) > 10 and text[10].isdigit():  # noqa: PLR2004 - a year beyond 9999
        raise ValueError
    return date(int(year), int(month), int(day))


def _day_and_clock(text: str) -> datetime:
    day = _day(text)
    hour, _, rest = text[11:].partition(":")
    minute, _, rest = rest.partition(":")
    second, _, fraction = rest.partition(".")
    micros = int(fraction.ljust(6, "0"))
    clock = time(int(hour or "0"), int(minute or "0"), int(second or "0"), micros)
    return datetime.combine(day, clock)


def _clamp(value: Stored, lower: Stored, upper: Stored) -> Stored:
    """Return the value, or the end of the range that it lies beyond."""
    if isinstance(value, int) and isinstance(lower, int) and isinstance(upper, int):
        return min(max(value, lower), upper)
    if isinstance(value, datetime):
        return _clamp_moment(value, lower, upper)
    if isinstance(value, date) and isinstance(lower, date) and isinstance(upper, date):
        return min(max(value, lower), upper)
    return value


def _clamp_moment(value: datetime, lower: Stored, upper: Stored) -> Stored:
    if isinstance(lower, datetime) and isinstance(upper, datetime):
        return min(max(value, lower), upper)
    return value
