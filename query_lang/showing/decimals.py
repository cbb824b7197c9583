"""Decimals as whole numbers of steps: rounding and writing, never in floats."""

from decimal import Context, Decimal
from typing import Final

_WIDE: Final = Context(prec=200)  # more digits than any value has, so nothing rounds


def decimal_of(steps: int, digits: int) -> Decimal:
    """Return ``steps`` times ``10**-digits``, exactly, with that many digits.

    >>> decimal_of(1250, 2)
    Decimal('12.50')
    """
    return _WIDE.scaleb(Decimal(steps), -digits)


def decimal_text(steps: int, digits: int) -> str:
    """Write ``steps`` times ``10**-digits`` with that many digits after the point.

    >>> decimal_text(-5, 2)
    '-0.05'
    """
    return f"{decimal_of(steps, digits):f}"


def round_half_even(numerator: int, denominator: int, digits: int) -> Decimal:
    """Return the decimal of so many digits that is nearest to a ratio, half to even.

    Args:
        numerator: Of the ratio.
        denominator: Positive.
        digits: After the point.

    >>> round_half_even(1, 8, 2)
    Decimal('0.12')
    """
    steps, rest = divmod(numerator * 10**digits, denominator)
    half = 2 * rest - denominator
    if half > 0 or (half == 0 and steps % 2):
        steps += 1
    return decimal_of(steps, digits)
