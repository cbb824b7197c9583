"""Sums of odd powers of odd numbers, exactly, however many there are."""

from fractions import Fraction
from functools import cache
from math import comb


def odd_power_sum(power: int, count: int) -> int:
    """Return ``1**power + 3**power + ... + (2 count - 1)**power``.

    With B(x) the Bernoulli polynomial of degree d = power + 1, the sum is
    ``2**power (B(count + 1/2) - B(1/2)) / d``, whatever the count.

    >>> odd_power_sum(3, 2)
    28
    """
    degree = power + 1
    difference = sum(
        comb(degree, rank) * _bernoulli_at_half(degree - rank) * count**rank
        for rank in range(1, degree + 1)
    )
    return int(difference * (1 << power) / degree)


def _bernoulli_at_half(degree: int) -> Fraction:
    return (Fraction(2, 1 << degree) - 1) * _bernoulli(degree)


@cache
def _bernoulli(degree: int) -> Fraction:
    """Return the Bernoulli number, with ``B(1) = -1/2``."""
    if degree == 0:
        return Fraction(1)
    earlier = sum(comb(degree + 1, k) * _bernoulli(k) for k in range(degree))
    return -Fraction(earlier) / (degree + 1)
