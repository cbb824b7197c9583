from decimal import Context, Decimal, localcontext
from fractions import Fraction

import pytest

from mechanisms.samplers.enclosures import (
    NARROW,
    Complement,
    Decay,
    PassProbability,
    Rational,
    exp_minus,
    narrowed,
    share,
    squared,
)

BITS = [1, 8, 62, 126, 500]
SCALES = [Fraction(1, 1000), Fraction(1, 3), Fraction(10.000000000000002), 2**40]


def exactly(make):
    """Return what a formula of decimals gives with 400 digits."""
    with localcontext(Context(prec=400)):
        return Fraction(make())


def decay(scale):
    scale = Fraction(scale)
    return (-Decimal(scale.denominator) / Decimal(scale.numerator)).exp()


def holds(interval, value, bits):
    low, high = interval
    slack = Fraction(1, 10**380)
    return Fraction(low, 1 << bits) <= value + slack and value - slack <= Fraction(
        high, 1 << bits
    )


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("scale", SCALES)
def test_a_decay_is_enclosed_within_two_units(scale, bits):
    low, high = Decay(Fraction(scale)).enclose(bits)
    assert holds((low, high), exactly(lambda: decay(scale)), bits)
    assert high - low <= NARROW


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("threshold", [0, 1, 14, 10**9])
@pytest.mark.parametrize("scale", SCALES)
def test_the_probability_to_pass_is_enclosed(scale, threshold, bits):
    ratio = PassProbability(threshold, Fraction(scale))
    probability = exactly(lambda: decay(scale) ** threshold / (1 + decay(scale)))
    assert holds(ratio.enclose(bits), probability, bits)
    assert holds(Complement(ratio).enclose(bits), 1 - probability, bits)
    narrow = narrowed(lambda b: [ratio.enclose(b)], bits)[0]
    assert narrow[1] - narrow[0] <= NARROW


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("times", [0, 8, 40, 56])
def test_a_ratio_squared_over_and_over_is_enclosed(times, bits):
    ratio = Decay(Fraction(2**40))
    power = exactly((-(Decimal(2) ** (times - 40))).exp)
    assert holds(squared(ratio, times, bits), power, bits)
    low, high = narrowed(lambda b: [squared(ratio, times, b)], bits)[0]
    assert holds((low, high), power, bits)
    assert high - low <= NARROW


def test_what_is_smaller_than_a_unit_is_not_worked_out():
    assert exp_minus(Fraction(10**30), 500) == (0, 1)
    assert Decay(Fraction(1, 2**1000)).enclose(62) == (0, 1)


def test_the_enclosure_of_one_stays_within_one():
    assert exp_minus(Fraction(0), 62) == (2**62 - 1, 2**62)


@pytest.mark.parametrize(
    ("value", "bits", "interval"),
    [
        (Fraction(1, 2), 1, (1, 1)),
        (Fraction(1, 3), 4, (5, 6)),
        (Fraction(0), 8, (0, 0)),
        (Fraction(1), 8, (256, 256)),
    ],
)
def test_a_fraction_is_enclosed_as_well_as_integers_can(value, bits, interval):
    assert Rational(value).enclose(bits) == interval


def test_a_share_of_enclosed_numbers_is_rounded_outwards():
    assert share((1, 2), (3, 4), 4) == (4, 11)
    assert share((3, 4), (3, 4), 4) == (12, 16)


def test_equal_ratios_share_their_tables():
    assert (
        len({PassProbability(3, Fraction(2)), PassProbability(3, Fraction(4, 2))}) == 1
    )
