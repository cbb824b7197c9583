import numpy as np

from mechanisms.samplers.entropy import integers, integers_below, short_words
from tests.support.noise.entropies import Script, always


def test_every_pattern_of_sixteen_bits_stands_for_one_integer():
    script = Script(*[(2, value) for value in range(2**16)])
    assert (short_words(script, 2**16) == np.arange(2**16)).all()
    assert script.is_used_up


def test_integers_take_the_leading_bits_of_their_words():
    script = Script((8, 0b101 << 61), (8, 2**64 - 1), (8, 0))
    assert integers(script, 3, 3).tolist() == [5, 7, 0]


def test_integers_of_no_bits_read_nothing():
    assert integers(Script(), 3, 0).tolist() == [0, 0, 0]


def test_each_integer_in_range_comes_of_equally_many_words():
    script = Script(*[(8, value << 61) for value in range(8)])
    assert integers_below(script, 8, 5).tolist() == [0, 1, 2, 3, 4]


def test_integers_of_sixty_two_bits_are_not_negative():
    assert integers_below(always(255), 2, 2**62).tolist() == [2**62 - 1] * 2


def test_the_only_integer_below_one_is_none():
    assert integers_below(Script(), 4, 1).tolist() == [0] * 4
