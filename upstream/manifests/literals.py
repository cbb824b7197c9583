"""Declared values read as a column's type, exactly: no floating point anywhere."""

import re
from datetime import date, datetime
from decimal import Decimal

from privacy.schema import ColumnType, Scalar

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)?"
)
_HINTS = {
    ColumnType.INTEGER: "write an integer of 64 bits",
    ColumnType.DECIMAL: "write a number with at most `scale` decimals, within 64 bits",
    ColumnType.DATE: "write a day as YYYY-MM-DD",
    ColumnType.TIMESTAMP: "write a moment as YYYY-MM-DD HH:MM:SS, without a zone",
    ColumnType.TEXT: "write a text free of NUL",
    ColumnType.BOOLEAN: "write true or false",
}


class LiteralError(ValueError):
    """A declared value does not fit its column's type; the message says the form."""


def typed_literal(value: bool | int | str, type_: ColumnType, scale: int) -> Scalar:  # noqa: FBT001 - one of three kinds of scalar, not a flag
    """Return a manifest's scalar as a public value of the column's type.

    Args:
        value: The scalar; numbers with a point and dates as their text.
        type_: The column's type.
        scale: Decimals of a DECIMAL column.

    Raises:
        LiteralError: The scalar is no value of that type.
    """
    literal = _literal(value, type_, scale)
    if literal is None:
        raise LiteralError(_HINTS[type_])
    return literal


def _literal(value: bool | int | str, type_: ColumnType, scale: int) -> Scalar | None:  # noqa: FBT001, PLR0911 - one return a type
    if type_ is ColumnType.BOOLEAN:
        return value if isinstance(value, bool) else None
    text = str(value).lower() if isinstance(value, bool) else str(value)
    match type_:
        case ColumnType.TEXT:
            return None if "\0" in text else text
        case ColumnType.INTEGER:
            return _integer(text)
        case ColumnType.DECIMAL:
            return _decimal(text, scale)
        case ColumnType.DATE:
            return _date(text)
        case ColumnType.TIMESTAMP:
            return _timestamp(text)


def _integer(text: str) -> int | None:
    number = int(text) if _INTEGER.fullmatch(text) else None
    if number is None or not INT64_MIN <= number <= INT64_MAX:
        return None
    return number


def _decimal(text: str, scale: int) -> Decimal | None:
    if _DECIMAL.fullmatch(text) is None:
        return None
    number = Decimal(text)
    grid = number.as_tuple().exponent
    places = -grid if isinstance(grid, int) else 0
    if places > scale and not text.endswith("0" * (places - scale)):
        return None
    scaled = scaled_integer(number, scale)
    return number if INT64_MIN <= scaled <= INT64_MAX else None


def scaled_integer(number: Decimal, scale: int) -> int:
    """Return a decimal of at most ``scale`` places times 10**scale, exactly."""
    sign, digits, exponent = number.as_tuple()
    shift = scale + (exponent if isinstance(exponent, int) else 0)
    whole = int("".join(map(str, digits)) or "0")
    moved = whole * _power(shift) if shift >= 0 else whole // _power(-shift)
    return -moved if sign else moved


def _power(places: int) -> int:
    return int("1" + "0" * places)


def _date(text: str) -> date | None:
    if _DATE.fullmatch(text) is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _timestamp(text: str) -> datetime | None:
    if _TIMESTAMP.fullmatch(text) is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
