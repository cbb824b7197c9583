"""Every proposal and every exponential number: what is kept, and with what law."""

import os
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest

from mechanisms.samplers.gaussian import (
    EXPONENT_BITS,
    Gaussian,
    OsGaussianSampler,
    RestOfExponential,
    gaussian,
    whole,
)
from mechanisms.samplers.geometric import LARGEST
from privacy.sealed import SATURATION
from tests.support.noise.entropies import Script

ONE = 2**EXPONENT_BITS
DIGITS = 80
SMALL = [
    Fraction(1, 9),
    Fraction(1, 2),
    Fraction(1),
    Fraction(7, 3),
    Fraction(2.3) ** 2,
]
WIDE = [Fraction(1000), Fraction(2**40), Fraction(3) ** 50]


def scale_of(variance):
    """Return t, the whole number above the standard deviation."""
    scale = 1
    while scale * scale <= variance:
        scale += 1
    return scale


def loss_of(variance, magnitude):
    """Return the exponent of the probability to keep a proposal, by its definition."""
    centre = variance / scale_of(variance)
    return (magnitude - centre) ** 2 / (2 * variance)


def decimal(fraction):
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def proposals(reach):
    """Return the distances and signs of all proposals within a reach."""
    values = np.arange(-reach, reach + 1)
    return values, np.where(values < 0, -1 - values, values), values < 0


@pytest.mark.parametrize("variance", SMALL)
def test_each_proposal_is_kept_by_just_the_exponential_numbers_above_its_loss(variance):
    law, exponentials = Gaussian(variance), np.arange(14 * ONE)
    for value, distance, negative in zip(*proposals(7), strict=True):
        exact = loss_of(variance, abs(int(value))) * ONE
        kept, in_doubt = law.compare(
            np.full(len(exponentials), distance),
            np.full(len(exponentials), negative),
            exponentials,
        )
        assert not (kept & in_doubt).any()
        assert (exponentials[kept] >= ceil(exact)).all()
        assert (exponentials[~kept & ~in_doubt] + 1 <= floor(exact)).all()
        assert in_doubt.sum() <= 2


@pytest.mark.parametrize("variance", WIDE)
def test_wide_noise_is_compared_as_fractions_would(variance):
    law, deviation = Gaussian(variance), float(variance) ** 0.5
    parts = np.linspace(0, 8, 4_000)
    distances = (parts * deviation).astype(np.int64)
    exponentials = (((parts - 1) ** 2 / 2) * ONE).astype(np.int64)
    signs = np.arange(len(parts)) % 2 == 1
    for shift in (-2, -1, 0, 1, 2):
        near = np.maximum(exponentials + shift, 0)
        kept, in_doubt = law.compare(distances, signs, near)
        for place in range(0, len(parts), 7):
            magnitude = int(distances[place]) + int(signs[place])
            exact = law._rate * (magnitude - law._centre) ** 2
            if not in_doubt[place]:
                assert kept[place] == (near[place] >= exact)
                assert kept[place] or near[place] + 1 <= exact
        assert in_doubt.sum() < len(parts)


def kept_probability(variance, magnitude):
    """Return the probability that a proposal is kept, from what the sampler does."""
    exact = loss_of(variance, magnitude) * ONE
    first = exact.numerator // exact.denominator
    base = (-1 / Decimal(ONE)).exp()
    low, high = RestOfExponential(exact - first).enclose(200)
    assert 0 <= high - low <= 8
    tie = (base**first - base ** (first + 1)) * Decimal(low) / Decimal(2) ** 200
    return base ** (first + 1) + tie


@pytest.mark.parametrize("variance", SMALL)
def test_the_law_of_what_is_kept_is_the_discrete_gaussian_one(variance):
    with localcontext(prec=DIGITS):
        scale = Decimal(scale_of(variance))

        def weight(value):
            proposed = (-abs(value) / scale).exp()
            return proposed * kept_probability(variance, abs(value))

        for value in range(-9, 10):
            stated = (-(value**2) / (2 * decimal(variance))).exp()
            found = weight(value) / weight(0)
            assert abs(found / stated - 1) < Decimal("1e-40")


def tie_of(variance, value):
    """Return a proposal's exponential number that leaves it in doubt, and the rest."""
    exact = loss_of(variance, abs(value)) * ONE
    first = exact.numerator // exact.denominator
    return first, exact - first


@pytest.mark.parametrize("value", [-3, -1, 0, 2, 5])
@pytest.mark.parametrize("variance", SMALL)
def test_a_tie_is_settled_as_its_rest_says(variance, value):
    law = Gaussian(variance)
    first, rest = tie_of(variance, value)
    if rest == 0:  # the exponential number reaches the loss, whatever follows
        assert law._settle(value, first, Script()) == (value, True)
        return
    cut = RestOfExponential(rest).enclose(64)
    below, above = max(0, cut[0] - 2), min(2**64 - 1, cut[1] + 2)
    for word, expected in ((below, True), (above, False)):
        entropy = Script((8, int.from_bytes(word.to_bytes(8, "big"), "little")))
        assert law._settle(value, first, entropy) == (value, expected)


@pytest.mark.parametrize("value", [-4, 3])
def test_what_exact_numbers_settle_reads_no_bits(value):
    law = Gaussian(Fraction(2))
    first, _ = tie_of(Fraction(2), value)
    assert law._settle(value, first + 1, Script()) == (value, True)
    assert law._settle(value, first - 1, Script()) == (value, False)


@pytest.mark.parametrize("rest", [Fraction(0), Fraction(1, 3), Fraction(1)])
@pytest.mark.parametrize("bits", [8, 64, 300])
def test_the_rest_of_an_exponential_number_is_enclosed(rest, bits):
    with localcontext(prec=200):
        base = (-1 / Decimal(ONE)).exp()
        stated = ((-decimal(rest) / ONE).exp() - base) / (1 - base)
        low, high = RestOfExponential(rest).enclose(bits)
        slack = Decimal("1e-150")
        assert Decimal(low) / 2**bits <= stated + slack
        assert stated - slack <= Decimal(high) / 2**bits
    assert high - low <= 4


class Written:
    """A geometric law whose draws a test has written down."""

    def __init__(self, *draws):
        self.draws = list(draws)

    def draw(self, size, entropy):
        return np.array([self.draws.pop(0) for _ in range(size)])


def test_a_number_beyond_64_bits_is_drawn_on():
    assert whole(5, Written(), Script()) == 5
    assert whole(LARGEST, Written(7), Script()) == LARGEST + 7
    assert whole(LARGEST, Written(LARGEST, 0), Script()) == 2 * LARGEST


@pytest.mark.parametrize(("value", "end"), [(LARGEST, LARGEST), (-(2**63), -(2**63))])
def test_a_proposal_beyond_64_bits_is_weighed_whole(value, end):
    law = Gaussian(Fraction(2**80))
    law._distances, law._exponentials = Written(9), Written(LARGEST, 2**60)
    kept = law._settle(value, LARGEST, Script())
    assert kept == (end, True)  # its loss is 2**45: an exponential number above is kept
    law._distances = Written(9)
    assert law._settle(value, 2**60, Script()) == (end, False)


def test_what_64_bits_cut_off_is_left_to_exact_numbers():
    law = Gaussian(Fraction(1))
    distances = np.array([0, LARGEST, 0])
    exponentials = np.array([LARGEST, 0, 0])
    _, in_doubt = law.compare(distances, np.zeros(3, dtype=bool), exponentials)
    assert in_doubt[:2].all()


@pytest.mark.parametrize("size", [0, 1, 2**16 - 1, 2**16, 2**17 + 1])
def test_vectors_have_the_size_asked_for(size):
    drawn = gaussian(size, Fraction(9), os.urandom)
    assert drawn.shape == (size,)
    assert drawn.dtype == np.int64


def test_proposals_that_are_not_kept_leave_no_gap():
    law = Gaussian(Fraction(100))
    tried = [len(law.proposed(10_000, os.urandom)) for _ in range(5)]
    assert all(7_000 < kept < 8_200 for kept in tried)  # three in four: sqrt(pi / 2e)


@pytest.mark.parametrize("variance", [Fraction(0), Fraction(-1), Fraction(1, 2**81)])
def test_a_variance_out_of_range_is_refused(variance):
    with pytest.raises(ValueError, match="variance"):
        gaussian(1, variance, os.urandom)
    with pytest.raises(ValueError, match="variance"):
        gaussian(1, 2**81 - variance, os.urandom)


def test_noise_of_the_least_width_is_zero():
    assert not gaussian(10_000, Fraction(1, 2**80), os.urandom).any()


def test_noise_of_the_greatest_width_is_as_wide_as_it_says():
    drawn = gaussian(20_000, Fraction(2**80), os.urandom).astype(float)
    assert abs((drawn**2).mean() / 2.0**80 - 1) < 6 * (2 / 20_000) ** 0.5
    assert len(set(drawn.tolist())) > 19_900


def test_values_and_noise_saturate():
    sampler = OsGaussianSampler()
    ends = sampler.discrete_gaussian([2**80, -(2**80)], 2.0**-40)
    assert ends == [SATURATION - 1, 1 - SATURATION]
    assert sampler.discrete_gaussian([5, -7, 0], 2.0**-40) == [5, -7, 0]
