import os
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.samplers.enclosures import PassProbability, Rational
from mechanisms.samplers.skips import _at_once, skip


@pytest.mark.parametrize("cells", [0, 1, 5, 1000])
@pytest.mark.parametrize("probability", [Fraction(1, 10**6), Fraction(1, 2)])
def test_places_ascend_without_repeats_and_lie_within_the_cells(cells, probability):
    places = skip(cells, Rational(probability), os.urandom)
    assert places.dtype == np.int64
    assert (np.diff(places) > 0).all()
    assert ((places >= 0) & (places < cells)).all()


def test_no_cell_of_a_huge_domain_is_visited_in_vain():
    hopeless = PassProbability(10**9, Fraction(1))
    assert skip(2**61, hopeless, os.urandom).tolist() == []


def test_about_as_many_pass_as_are_expected_of_the_largest_domain():
    found = len(skip(2**61, Rational(Fraction(1, 2**52)), os.urandom))
    assert abs(found - 512) < 6 * 512**0.5


def test_many_pass_in_several_batches():
    cells = 3 * 2**20
    found = len(skip(cells, Rational(Fraction(1, 2)), os.urandom))
    assert abs(found - cells / 2) < 3 * cells**0.5


@pytest.mark.parametrize("cells", [0, 1, 10**7, 10**12, 2**61])
@pytest.mark.parametrize("bits", [1, 20, 60, 1000])
def test_sums_of_steps_never_overflow(cells, bits):
    at_once = _at_once(cells, Rational(Fraction(1, 2**bits)))
    assert at_once >= 1
    assert cells + at_once * (cells + 1) < 2**63
