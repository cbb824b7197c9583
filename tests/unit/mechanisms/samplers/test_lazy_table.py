"""Every first word, and every way that a tie can go."""

from bisect import bisect_right
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.samplers.enclosures import Decay, Rational
from mechanisms.samplers.geometric import _digit_cuts, _leading_cuts
from mechanisms.samplers.lazy_table import FIRST_BITS, NEXT_BITS, LazyTable, refine
from mechanisms.samplers.trials import succeeds, successes
from tests.support.noise.entropies import Script

KNOWN_BITS = FIRST_BITS + NEXT_BITS
FAR_BITS = 700


def rational_cuts(*cuts):
    return lambda bits: [Rational(cut).enclose(bits) for cut in cuts]


LAWS = {
    "thirds": rational_cuts(Fraction(1, 3), Fraction(2, 3)),
    "near the ends": rational_cuts(Fraction(1, 2**70), 1 - Fraction(1, 2**70)),
    "crowded": rational_cuts(*(Fraction(1, 3) + Fraction(i, 2**64) for i in range(5))),
    "certain": rational_cuts(),
    "a digit": _digit_cuts(Decay(Fraction(300)), 0),
    "an even digit": _digit_cuts(Decay(Fraction(2**40)), 0),
    "a leading digit": _leading_cuts(Decay(Fraction(7, 3)), 0),
    "a sure leading digit": _leading_cuts(Decay(Fraction(1)), 0),
}


def far_cuts(cuts):
    """Return each cut in units of 2**-700, rounded up."""
    return [high for _, high in cuts(FAR_BITS)]


def outcome(cuts, known, bits):
    """Return how many cuts lie at or below a number of so many bits."""
    return bisect_right(cuts, known << (FAR_BITS - bits))


@pytest.mark.parametrize("law", LAWS)
def test_each_first_word_is_settled_rightly_or_left_open(law):
    table, cuts = LazyTable(LAWS[law]), far_cuts(LAWS[law])
    for word, found in enumerate(table._guide.tolist()):
        if found >= 0:
            assert outcome(cuts, word, 16) == found
            assert outcome(cuts, (word + 1 << 300) - 1, 316) == found
    left_open = np.count_nonzero(table._guide < 0)
    assert left_open <= 2 * len(cuts)


ENDINGS = [0, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2**63)), 2**64 - 1]


def words_at(cuts):
    """Yield 62-bit numbers at, next to and a little off each cut."""
    for cut in cuts:
        at = cut >> (FAR_BITS - KNOWN_BITS)
        for step in (-2, -1, 0, 1, 2, 2**20):
            if 0 <= at + step < 2**KNOWN_BITS:
                yield at + step


@pytest.mark.sampled
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("law", LAWS)
def test_a_tie_is_refined_until_it_is_settled_rightly(law, ending):
    table, cuts = LazyTable(LAWS[law]), far_cuts(LAWS[law])
    word = int.from_bytes(ending.to_bytes(8, "big"), "little")
    for known in words_at(cuts):
        first, after = known >> NEXT_BITS, known & (1 << NEXT_BITS) - 1
        script = Script((2, first), (8, after << (64 - NEXT_BITS)), *[(8, word)] * 8)
        uniform = known
        for _ in range(8):
            uniform = uniform << 64 | ending
        found = int(table.draw(1, script)[0])
        assert found == outcome(cuts, uniform, KNOWN_BITS + 8 * 64)


def test_a_law_on_sixteenths_is_drawn_as_often_as_it_should_be():
    cuts = [Fraction(3, 16), Fraction(4, 16), Fraction(11, 16)]
    table = LazyTable(rational_cuts(*cuts))
    every = Script(*[(2, value) for value in range(2**16)])
    counts = np.bincount(table.draw(2**16, every), minlength=4)
    assert counts.tolist() == [3 * 4096, 4096, 7 * 4096, 5 * 4096]
    assert every.is_used_up


def test_one_trial_reads_on_only_while_it_is_in_doubt():
    third = Rational(Fraction(1, 3))
    doubtful = int("01" * 32, 2).to_bytes(8, "big")
    below, above = bytes(8), b"\xff" * 8
    for ending, expected in ((below, True), (above, False)):
        left = [doubtful, doubtful, ending]
        assert succeeds(third, lambda size: left.pop(0)[:size]) is expected  # noqa: B023
        assert left == []


def test_trials_succeed_as_often_as_they_should_over_all_words():
    every = Script(*[(2, value) for value in range(2**16)])
    found = successes(2**16, Rational(Fraction(5, 2**16)), every)
    assert np.flatnonzero(found).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("probability", [Fraction(0), Fraction(1)])
def test_a_trial_that_is_certain_is_certain(probability):
    for byte in (b"\x00", b"\xff"):
        passed = succeeds(Rational(probability), byte.__mul__)
        assert passed == bool(probability)


def test_refining_begins_where_the_known_bits_end():
    cut = rational_cuts(Fraction(1, 2) + Fraction(1, 2**100))
    script = Script((8, 0), (8, 0))
    assert refine(cut, script, known=1 << 61, bits=62) == 0
