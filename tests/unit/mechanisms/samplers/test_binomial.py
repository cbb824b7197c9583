import os
from fractions import Fraction
from math import comb, isqrt

import pytest

from mechanisms.samplers.binomial import (
    Acceptance,
    _binary_digit,
    binomial,
    fair_heads,
)
from mechanisms.samplers.enclosures import PassProbability, Rational, exp_minus
from mechanisms.samplers.power_sums import odd_power_sum
from tests.support.noise.entropies import Script, always

BITS = 100


@pytest.mark.parametrize("power", [1, 3, 5, 21, 41])
@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_odd_powers_are_summed_exactly(power, count):
    stated = sum((2 * j - 1) ** power for j in range(1, count + 1))
    assert odd_power_sum(power, count) == stated


@pytest.mark.parametrize("coins", [0, 1, 7, 8, 9, 16])
def test_few_coins_are_thrown_one_by_one(coins):
    counts = [0] * (coins + 1)
    width = -(-coins // 8)
    for bits in range(2**coins):
        word = (bits << (-coins % 8)).to_bytes(width, "big")
        counts[fair_heads(coins, lambda size: word[:size])] += 1  # noqa: B023
    assert counts == [comb(coins, heads) for heads in range(coins + 1)]


@pytest.mark.parametrize("n", [40, 1000])
def test_an_offset_is_accepted_with_what_makes_up_the_difference(n):
    scale = 1 << isqrt(n // 2).bit_length()
    for offset in [*range(8), n // 8, n // 4]:
        low, high = Acceptance(n, offset, scale).enclose(BITS)
        exponent = Fraction(2 * n + 1, 8 * scale**2) - Fraction(offset, scale)
        likely = Fraction(comb(2 * n, n + offset), comb(2 * n, n))
        factor = exp_minus(abs(exponent), BITS)
        if exponent < 0:
            assert low * factor[0] <= likely * 4**BITS <= high * factor[1]
        else:
            assert low <= likely * factor[1]
            assert likely * factor[0] <= high
        assert 0 <= low <= high <= 2**BITS
        assert high - low <= 8


@pytest.mark.parametrize("n", [2**16, 10**12, 2**60])
def test_no_offset_is_accepted_with_more_than_certainty(n):
    scale = 1 << isqrt(n // 2).bit_length()
    worst = (2 * n + 1) // (4 * scale)
    for offset in (worst - 1, worst, worst + 1):
        low, high = Acceptance(n, offset, scale).enclose(62)
        assert high - low <= 4
        assert low > 0.99 * 2**62  # nearly tight where the two laws touch


@pytest.mark.parametrize("probability", [Fraction(5, 8), Fraction(1, 3), Fraction(0)])
def test_the_digits_of_a_probability_are_its_binary_digits(probability):
    digits = [_binary_digit(Rational(probability), place) for place in range(1, 60)]
    assert digits == [int(probability * 2**place) % 2 for place in range(1, 60)]


def test_a_digit_in_doubt_is_asked_for_more_narrowly():
    probability = PassProbability(
        30, Fraction(1)
    )  # 58 zeros before its first digit is sure
    number = Fraction(probability.enclose(400)[0], 2**400)
    assert [_binary_digit(probability, place) for place in range(1, 100)] == [
        int(number * 2**place) % 2 for place in range(1, 100)
    ]


def exact_law(trials, probability):
    return [
        comb(trials, k) * probability**k * (1 - probability) ** (trials - k)
        for k in range(trials + 1)
    ]


def test_a_binomial_of_few_trials_has_the_exact_law_over_all_bits():
    """Two trials read two digits of 5/8 and a third: count over all that they read."""
    found = [Fraction(0)] * 3

    def explore(left, bit, passed, weight):
        if left == 0:
            found[passed] += weight
            return
        if bit > 12:  # what is still in doubt weighs next to nothing
            return
        for heads in range(left + 1):
            part = weight * Fraction(comb(left, heads), 2**left)
            if _binary_digit(Rational(Fraction(5, 8)), bit):
                explore(left - heads, bit + 1, passed + heads, part)
            else:
                explore(heads, bit + 1, passed, part)

    explore(2, 1, 0, Fraction(1))
    for seen, stated in zip(found, exact_law(2, Fraction(5, 8)), strict=True):
        assert abs(seen - stated) < Fraction(1, 1000)


def test_trials_are_settled_as_their_numbers_say():
    # 5/8 is .1010...; a set bit is a head, and a head is a 0 in its trial's number
    numbers = Script((1, 0b10000000), (1, 0b11000000), (1, 0b10000000), (1, 0))
    assert binomial(3, Rational(Fraction(5, 8)), numbers) == 2  # .0, .100, .1011
    assert numbers.is_used_up


@pytest.mark.parametrize("trials", [0, 1, 2**17, 2**17 + 1, 2**61])
def test_the_count_lies_between_none_and_all(trials):
    found = binomial(trials, PassProbability(1, Fraction(10)), os.urandom)
    assert 0 <= found <= trials


def test_trials_of_no_probability_never_succeed():
    assert binomial(10**6, Rational(Fraction(0)), os.urandom) == 0


def test_no_trials_read_no_bits():
    assert binomial(0, Rational(Fraction(1, 3)), Script()) == 0
    assert fair_heads(0, Script()) == 0


def test_all_coins_may_show_heads():
    assert fair_heads(13, always(255)) == 13
