"""Real numbers between 0 and 1, enclosed by integers as narrowly as anyone asks."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Final, Protocol

Interval = tuple[int, int]
"""``low <= x * 2**bits <= high`` for a number x and so many bits."""

NARROW: Final = 2
"""The widest that a narrow interval may be."""

_SPARE_BITS = 64
_SPARE_DIGITS = 12
_QUARTER = Fraction(1, 4)


class Ratio(Protocol):
    """A number from 0 to 1; equal ratios compare and hash as equal."""

    def enclose(self, bits: int) -> Interval:
        """Return integers around it, closer as ``bits`` grow, within 0..2**bits."""
        ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Rational:
    """A ratio that is a fraction.

    Attributes:
        value: From 0 to 1.
    """

    value: Fraction

    def enclose(self, bits: int) -> Interval:
        """Return integers around it: equal once it needs no more bits, else 1 apart."""
        scaled = self.value * (1 << bits)
        return math.floor(scaled), math.ceil(scaled)


@dataclass(frozen=True, slots=True)
class Decay:
    """The ratio ``exp(-1 / scale)``.

    Attributes:
        scale: Positive.
    """

    scale: Fraction

    def enclose(self, bits: int) -> Interval:
        """Return integers around it, at most 2 apart."""
        return exp_minus(1 / self.scale, bits)


@dataclass(frozen=True, slots=True)
class PassProbability:
    """The probability that discrete Laplace noise is at least ``threshold``.

    With ``a = exp(-1 / scale)`` that is ``a**threshold / (1 + a)``.

    Attributes:
        threshold: At least 0.
        scale: Positive.
    """

    threshold: int
    scale: Fraction

    def enclose(self, bits: int) -> Interval:
        """Return integers around it, a few units apart."""
        one = 1 << bits
        tail_low, tail_high = exp_minus(self.threshold / self.scale, bits)
        a_low, a_high = exp_minus(1 / self.scale, bits)
        low = (tail_low << bits) // (one + a_high)
        return low, _divide_ceil(tail_high << bits, one + a_low)


@dataclass(frozen=True, slots=True)
class Complement:
    """The ratio ``1 - of``."""

    of: Ratio

    def enclose(self, bits: int) -> Interval:
        """Return integers around it, as far apart as those of the other."""
        low, high = self.of.enclose(bits)
        return (1 << bits) - high, (1 << bits) - low


def exp_minus(power: Fraction, bits: int) -> Interval:
    """Return integers around ``exp(-power) * 2**bits``, at most 2 apart.

    ``Decimal.exp`` rounds correctly. With p digits the quotient errs by h = 10**(1-p)/2
    of itself, which moves ``exp`` by at most ``2 power h exp(-power) < h``; rounding
    adds h. Here 2 h is far less than a quarter of ``2**-bits``.

    Args:
        power: At least 0.
        bits: At least 1.
    """
    if power > bits:  # then exp(-power) < 2**-bits
        return 0, 1
    with localcontext(Context(prec=bits // 3 + _SPARE_DIGITS)):
        near = (-Decimal(power.numerator) / Decimal(power.denominator)).exp()
    scaled = Fraction(near) * (1 << bits)
    low, high = math.floor(scaled - _QUARTER), math.ceil(scaled + _QUARTER)
    return max(0, low), min(1 << bits, high)


def multiply(left: Interval, right: Interval, bits: int) -> Interval:
    """Return integers around the product of two enclosed numbers."""
    return left[0] * right[0] >> bits, _shift_ceil(left[1] * right[1], bits)


def squared(ratio: Ratio, times: int, bits: int) -> Interval:
    """Return integers around ``ratio ** (2 ** times)``."""
    found = ratio.enclose(bits)
    for _ in range(times):
        found = multiply(found, found, bits)
    return found


def share(part: Interval, whole: Interval, bits: int) -> Interval:
    """Return integers around ``part / whole``, which is at most 1."""
    low = (part[0] << bits) // whole[1]
    return low, min(1 << bits, _divide_ceil(part[1] << bits, whole[0]))


def narrowed(make: Callable[[int], list[Interval]], bits: int) -> list[Interval]:
    """Return what ``make`` encloses, each narrowly: at most 2 units of so many bits.

    Args:
        make: Encloses some numbers; the enclosures shrink as its bits grow.
        bits: Of the intervals that are returned.
    """
    spare = _SPARE_BITS
    while True:
        found = [
            (low >> spare, _shift_ceil(high, spare)) for low, high in make(bits + spare)
        ]
        if all(high - low <= NARROW for low, high in found):
            return found
        spare *= 2


def _shift_ceil(value: int, bits: int) -> int:
    return -(-value >> bits)


def _divide_ceil(value: int, by: int) -> int:
    return -(-value // by)
