"""Decimals as whole numbers of steps: rounding and writing, never in floats."""

from fractions import Fraction


def round_half_even(value: Fraction, digits: int) -> Fraction:
    """Return the multiple of ``10**-digits`` that is nearest, half to even.

    >>> round_half_even(Fraction(1, 8), 2)
    Fraction(3, 25)
    """
    steps = 10**digits
    return Fraction(round(value * steps), steps)  # round() of a fraction: half to even


def decimal_text(value: Fraction, digits: int) -> str:
    """Write a number that has at most ``digits`` decimals with exactly so many.

    Raises:
        ValueError: It has more; nothing is rounded here.

    >>> decimal_text(Fraction(-1, 20), 2)
    '-0.05'
    """
    steps = value * 10**digits
    if steps.denominator != 1:
        message = f"{value} has more than {digits} decimals"
        raise ValueError(message)
    whole, rest = divmod(abs(steps.numerator), 10**digits)
    sign = "-" if steps < 0 else ""
    return f"{sign}{whole}.{rest:0{digits}d}" if digits else f"{sign}{whole}"
