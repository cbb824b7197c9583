from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from mechanisms.samplers.enclosures import (
    Complement,
    Decay,
    PassProbability,
    Rational,
    narrowed,
)
from mechanisms.samplers.geometric import LARGEST, Geometric, geometric_of
from tests.support.noise.entropies import Script, always

BITS = 300
RATIOS = [
    Decay(Fraction(1, 3)),
    Decay(Fraction(300)),
    Decay(Fraction(2**40)),
    Complement(PassProbability(20, Fraction(1))),
    Rational(Fraction(9, 10)),
]


def probabilities(table):
    """Return a table's probabilities of 0..255, to almost 300 bits."""
    ends = [Fraction(low, 1 << BITS) for low, _ in narrowed(table._cuts, BITS)]
    return [b - a for a, b in pairwise([Fraction(0), *ends, Fraction(1)])]


def probability_of(law, number):
    """Return the probability to draw a number, put together from its digits' tables."""
    found = Fraction(1)
    for place, table in enumerate(law._low):
        found *= probabilities(table)[number >> 8 * place & 255]
    leading = probabilities(law._leading)
    times, last = divmod(number >> law._shift, 255)
    return found * leading[255] ** times * leading[last]


@pytest.mark.parametrize("number", [0, 1, 2, 254, 255, 256, 511, 70_000])
@pytest.mark.parametrize("ratio", RATIOS, ids=str)
def test_the_digits_make_up_the_geometric_law(ratio, number):
    with localcontext(Context(prec=100)):
        q = Decimal(ratio.enclose(BITS)[0]) / (1 << BITS)
        stated = Fraction((1 - q) * q**number)
    assert abs(probability_of(Geometric(ratio), number) - stated) < Fraction(1, 2**240)


def leading_word(law, digit):
    """Return a first word that settles the leading digit as this one."""
    return int(np.flatnonzero(law._leading._guide == digit)[0])


def test_a_leading_digit_of_255_begins_anew():
    law = Geometric(Decay(Fraction(3000)))
    seldom = 2**16 - 1
    law._leading._guide[seldom] = 255
    then, low = leading_word(law, 5), int(np.flatnonzero(law._low[0]._guide == 9)[0])
    script = Script((2, seldom), (2, seldom), (2, then), (2, low))
    assert law.draw(1, script).tolist() == [(255 + 255 + 5) * 256 + 9]
    assert script.is_used_up


def test_what_64_bits_cannot_hold_is_given_as_their_end():
    law = Geometric(Rational(1 - Fraction(1, 2**62)))
    assert law._shift == 56
    beyond, within = leading_word(law, 128), leading_word(law, 127)
    low = [(2, 0x8080)] * 7
    assert law.draw(1, Script((2, beyond), *low)).tolist() == [LARGEST]
    drawn = law.draw(1, Script((2, within), *low))
    assert drawn.tolist() == [int.from_bytes(bytes([127, *[128] * 7]))]


def test_a_draw_that_is_beyond_64_bits_is_drawn_no_further():
    law = Geometric(Complement(PassProbability(10**9, Fraction(1))))
    assert law._leading._guide[0x8080] == 255
    assert law.draw(1, always(128)).tolist() == [LARGEST]


def test_the_greatest_leading_digits_never_overflow():
    law = Geometric(Decay(Fraction(2**40)))
    assert law._shift == 40
    seldom = 2**16 - 1
    law._leading._guide[seldom] = 255
    enough = (2**63 >> 40) // 255 + 2
    words = Script(*[(2, seldom)] * enough, *[(2, 0x8080)] * 5)
    assert law.draw(1, words).tolist() == [LARGEST]


def test_blocks_are_filled_to_the_end():
    drawn = geometric_of(Decay(Fraction(5, 2))).draw(2**16 + 3, always(1))
    assert len(drawn) == 2**16 + 3
    assert len(set(drawn.tolist())) == 1


def test_no_draws_read_no_bits():
    assert geometric_of(Decay(Fraction(2))).draw(0, Script()).tolist() == []


def test_small_scales_have_few_digits_and_large_ones_many():
    digits = [
        len(Geometric(Decay(Fraction(scale)))._low)
        for scale in (Fraction(1, 10**6), 1, 3000, 10**6, 2**40)
    ]
    assert digits == [1, 1, 1, 2, 5]
