"""Texts read as values, and values written as texts: one meaning for every engine.

Nothing is trimmed and no locale is asked; a text that is not written so has no value.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal

from privacy.schema import ColumnType, Scalar

INTEGER_FORM = r"[+-]?[0-9]{1,30}"
DATE_FORM = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
TIMESTAMP_FORM = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[ T](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?)?"
)
TRUE_WORDS = ("t", "true", "y", "yes", "on", "1")
FALSE_WORDS = ("f", "false", "n", "no", "off", "0")

_LEAST, _GREATEST = -(2**63), 2**63 - 1


def decimal_form(scale: int) -> str:
    """Return the form of a number with at most so many decimals."""
    return rf"([+-]?[0-9]{{1,18}})(?:\.([0-9]{{0,{scale}}}))?"


def spellings(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return words in small letters, in capitals, and with one capital first.

    >>> spellings(("no",))
    ('no', 'NO', 'No')
    """
    found = (form for word in words for form in (word, word.upper(), word.capitalize()))
    return tuple(dict.fromkeys(found))


_TRUE, _FALSE = spellings(TRUE_WORDS), spellings(FALSE_WORDS)


def read_text(text: str, kind: ColumnType, scale: int = 0) -> Scalar | None:
    """Return the value that a text has as a type, or None where it has none.

    Args:
        text: As it stands, blanks and all.
        kind: Of the value.
        scale: The most decimals of a DECIMAL.

    >>> read_text("-07", ColumnType.INTEGER), read_text("7 ", ColumnType.INTEGER)
    (-7, None)
    """
    return _READERS[kind](text, scale)


_DAY = re.compile(
    r"([0-9]{4})(?:([0-9]{2})([0-9]{2})|-([0-9]{1,2})-([0-9]{1,2}))", re.ASCII
)


def read_day(text: str) -> Scalar | None:
    """Return the day that a literal text is, as other systems take it, too.

    >>> read_day("20240131"), read_day("2024-1-31"), read_day("2024-13-01")
    (datetime.date(2024, 1, 31), datetime.date(2024, 1, 31), None)
    """
    found = _DAY.fullmatch(text)
    if found is None:
        return None
    month, day = (int(found[n] or found[n + 2]) for n in (2, 3))
    return read_text(f"{found[1]}-{month:02}-{day:02}", ColumnType.DATE)


def _integer(text: str, _: int) -> Scalar | None:
    if not re.fullmatch(INTEGER_FORM, text, re.ASCII):
        return None
    value = int(text)
    return value if _LEAST <= value <= _GREATEST else None


def _decimal(text: str, scale: int) -> Scalar | None:
    found = re.fullmatch(decimal_form(scale), text, re.ASCII)
    if not found:
        return None
    steps = int(found[1] + (found[2] or "").ljust(scale, "0"))
    return Decimal(steps).scaleb(-scale) if _LEAST <= steps <= _GREATEST else None


def _date(text: str, _: int) -> Scalar | None:
    found = re.fullmatch(DATE_FORM, text, re.ASCII)
    return _or_none(date.fromisoformat, text) if found else None


def _timestamp(text: str, _: int) -> Scalar | None:
    if not re.fullmatch(TIMESTAMP_FORM, text, re.ASCII):
        return None
    whole, point, places = text.partition(".")
    padded = f"{whole}.{places.ljust(6, '0')}" if point else whole
    return _or_none(datetime.fromisoformat, padded)


def _boolean(text: str, _: int) -> Scalar | None:
    return True if text in _TRUE else False if text in _FALSE else None


def _or_none(read: Callable[[str], Scalar], text: str) -> Scalar | None:
    try:
        return read(text)
    except ValueError:
        return None


_READERS: Mapping[ColumnType, Callable[[str, int], Scalar | None]] = {
    ColumnType.INTEGER: _integer,
    ColumnType.DECIMAL: _decimal,
    ColumnType.DATE: _date,
    ColumnType.TIMESTAMP: _timestamp,
    ColumnType.BOOLEAN: _boolean,
    ColumnType.TEXT: lambda text, _: text,
}


def write_value(value: Scalar, scale: int = 0) -> str:  # noqa: PLR0911 - an arm a type
    """Return the text of a value: what reading it gives back.

    Args:
        value: Of any type; a moment's fraction ends at its last digit that is not 0.
        scale: Decimals that a number is written with.

    >>> write_value(Decimal("-0.5"), 2), write_value(datetime(2024, 1, 31, 8))
    ('-0.50', '2024-01-31 08:00:00')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        whole = value.replace(microsecond=0).isoformat(" ")
        places = f".{value.microsecond:06}".rstrip("0") if value.microsecond else ""
        return whole + places
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, int | Decimal):
        return f"{Decimal(value).quantize(Decimal(1).scaleb(-scale)):f}"
    return value
