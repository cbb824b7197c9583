"""Numbers with units, converted exactly and rounded once."""

import re
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from typing import Literal

from upstream.extraction.normalising.outcomes import (
    Doubt,
    DoubtError,
    Normalised,
    normalised,
)

DecimalSign = Literal[".", ","]
_POUND = Fraction(45359237, 100_000_000)  # kilograms, exactly
_INCH = Fraction(254, 10_000)  # metres, exactly

_SCALES: dict[str, dict[str, Fraction]] = {
    "mass": {
        "kg": Fraction(1),
        "g": Fraction(1, 1_000),
        "mg": Fraction(1, 10**6),
        "ug": Fraction(1, 10**9),
        "lb": _POUND,
        "oz": _POUND / 16,
    },
    "length": {
        "m": Fraction(1),
        "cm": Fraction(1, 100),
        "mm": Fraction(1, 1_000),
        "in": _INCH,
        "ft": 12 * _INCH,
    },
    "volume": {"l": Fraction(1), "dl": Fraction(1, 10), "ml": Fraction(1, 1_000)},
    "time": {
        "s": Fraction(1),
        "min": Fraction(60),
        "h": Fraction(3_600),
        "d": Fraction(86_400),
    },
    "pressure": {"mmhg": Fraction(1), "kpa": Fraction(1_000_000, 133_322)},
    "mass in volume": {
        "g/l": Fraction(1),
        "g/dl": Fraction(10),
        "mg/dl": Fraction(1, 100),
        "mg/l": Fraction(1, 1_000),
    },
    "temperature": {"c": Fraction(1), "f": Fraction(5, 9)},
    "share": {"%": Fraction(1, 100), "1": Fraction(1)},
}
_ALIKE = {
    **dict.fromkeys(
        ("kgs", "kilo", "kilos", "kilogram", "kilograms", "kilogramm"), "kg"
    ),
    **dict.fromkeys(("gram", "grams", "gramos", "gr", "gramm"), "g"),
    **dict.fromkeys(("mcg", "µg", "μg"), "ug"),
    **dict.fromkeys(("lbs", "pound", "pounds", "libras"), "lb"),
    **dict.fromkeys(("ounce", "ounces"), "oz"),
    **dict.fromkeys(("metre", "metres", "meter", "meters", "metros"), "m"),
    **dict.fromkeys(("inch", "inches", '"'), "in"),
    **dict.fromkeys(("foot", "feet", "'"), "ft"),
    **dict.fromkeys(("litre", "litres", "liter", "liters", "litros"), "l"),
    **dict.fromkeys(("cc",), "ml"),
    **dict.fromkeys(("hour", "hours", "hr", "hrs", "horas", "stunden"), "h"),
    **dict.fromkeys(("minute", "minutes", "mins", "minutos", "minuten"), "min"),
    **dict.fromkeys(("day", "days", "días", "dias", "tage"), "d"),
    **dict.fromkeys(("°c", "ºc", "celsius"), "c"),
    **dict.fromkeys(("°f", "ºf", "fahrenheit"), "f"),
    **dict.fromkeys(("mm hg",), "mmhg"),
}
_PART = re.compile(r"([+-]?[0-9][0-9.,]*)\s*([^\s0-9][^0-9]*)?\s*")
_FREEZING_F = 32
_LONGEST = 100  # characters
MOST_DIGITS = 9  # behind the point


def units() -> frozenset[str]:
    """Return the units that a column may have."""
    return frozenset(unit for scale in _SCALES.values() for unit in scale)


def normal_number(
    text: str,
    unit: str,
    *,
    digits: int = 0,
    decimal: DecimalSign = ".",
    assumed: str | None = None,
) -> Normalised:
    """Return a number in a unit, rounded half to even.

    Args:
        text: What a span says: ``154 lb``, ``5 ft 10 in``, ``1,250 g``.
        unit: One of ``units()``; what the value is in.
        digits: Behind the point of the value.
        decimal: Which sign stands before decimals; the other groups thousands.
        assumed: The unit of a number that stands alone; None: it has no value.

    >>> normal_number("154 lb", "kg", digits=1).value
    '69.9'
    >>> normal_number("70", "kg").doubt
    <Doubt.UNIT: 'unit'>
    """
    scale = next(held for held in _SCALES.values() if unit in held)

    def read() -> str:
        parts = _parts(" ".join(text.lower().split()).rstrip(".,; "))
        if len(parts) > 1 and (None in dict(parts).values() or unit in {"c", "f"}):
            raise DoubtError(Doubt.UNREADABLE)
        whole = Fraction(0)
        for written, said in parts:
            given = assumed if said is None else said
            number = read_number(written, decimal)
            if number is None or (number < 0 and len(parts) > 1):
                raise DoubtError(Doubt.UNREADABLE)
            if given is None or given not in scale:
                raise DoubtError(Doubt.UNIT)
            whole += _converted(number, given, unit, scale)
        return _rounded(whole, digits)

    return normalised(read)


def read_number(written: str, decimal: DecimalSign) -> Fraction | None:
    """Return a written number; None where its signs are in no order that is known.

    >>> read_number("1,250.5", "."), read_number("72,5", ".")
    (Fraction(2501, 2), None)
    """
    grouping = "," if decimal == "." else "."
    pattern = (
        rf"[+-]?(?:[0-9]+|[0-9]{{1,3}}(?:{re.escape(grouping)}[0-9]{{3}})+)"
        rf"(?:{re.escape(decimal)}[0-9]+)?"
    )
    if not re.fullmatch(pattern, written):
        return None
    return Fraction(written.replace(grouping, "").replace(decimal, "."))


def _parts(text: str) -> list[tuple[str, str | None]]:
    """Return numbers and their units, in order.

    Raises:
        DoubtError: There is anything else, or nothing.
    """
    found, at = [], 0
    if not text or len(text) > _LONGEST:
        raise DoubtError(Doubt.UNREADABLE)
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            raise DoubtError(Doubt.UNREADABLE)
        said = part[2].strip(" .,") if part[2] else None
        found.append((part[1].rstrip(".,"), _ALIKE.get(said, said) if said else None))
        at = part.end()
    return found


def _converted(
    number: Fraction, given: str, unit: str, scale: dict[str, Fraction]
) -> Fraction:
    if given == "f":
        number -= _FREEZING_F
    number *= scale[given] / scale[unit]
    return number + _FREEZING_F if unit == "f" else number


def _rounded(number: Fraction, digits: int) -> str:
    """Return a fraction in decimals; its quotient is rounded once."""
    scaled = round(number * 10**digits)  # of a fraction: exactly, half to even
    with localcontext() as context:
        context.prec = 200
        value = Decimal(scaled).scaleb(-digits)
        return format(value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN), "f")
