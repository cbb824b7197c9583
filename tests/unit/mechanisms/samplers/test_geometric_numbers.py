"""Geometric numbers of any scale: floor(scale * E), digit by digit and by their law."""

import os
from fractions import Fraction
from math import floor

import numpy as np
import pytest

from mechanisms.samplers import geometric_numbers as module
from mechanisms.samplers.enclosures import exp_minus
from mechanisms.samplers.gaussian import RestOfExponential
from mechanisms.samplers.geometric import LARGEST
from mechanisms.samplers.geometric_numbers import MAX_SCALE, geometric_numbers
from tests.unit.mechanisms.samplers.laws import chi_squared_passes

ONE = 2**48
SCALES = [Fraction(1, 3), Fraction(1), Fraction(37, 10), Fraction(2000.3)]


class Fixed:
    """Exponential numbers that a test says, cut to their first 48 places."""

    def __init__(self, numbers):
        self._numbers = numbers

    def draw(self, size, entropy):
        return np.array(self._numbers[:size], dtype=np.int64)


@pytest.mark.parametrize("scale", [*SCALES, Fraction(2**40), MAX_SCALE])
def test_an_exponential_number_far_from_an_end_is_rounded_down(scale, monkeypatch):
    known = [0, 1, 3, ONE // 3, ONE, 5 * ONE + 7, 40 * ONE]
    far = [k for k in known if floor(scale * k / ONE) == floor(scale * (k + 1) / ONE)]
    monkeypatch.setattr(module, "_exponentials", lambda: Fixed(far))
    found = geometric_numbers(len(far), scale, os.urandom)
    assert found.tolist() == [floor(scale * k / ONE) for k in far]


def test_one_at_an_end_is_settled_by_more_places(monkeypatch):
    """At scale 2**46 each quarter of a step decides: an eighth before the end."""
    monkeypatch.setattr(module, "_exponentials", lambda: Fixed([3] * 20_000))
    found = geometric_numbers(20_000, Fraction(2**46) * Fraction(7, 8), os.urandom)
    reached = floor(Fraction(7, 32) * 4)
    assert set(found.tolist()) <= {reached, reached + 1}


def test_what_is_left_of_an_exponential_number_is_enclosed():
    rest = Fraction(1, 3)
    low, high = RestOfExponential(rest, 48).enclose(60)
    b = [Fraction(end, 2**400) for end in exp_minus(Fraction(1, ONE), 400)]
    cut = [Fraction(end, 2**400) for end in exp_minus(rest / ONE, 400)]
    least, most = (cut[0] - b[1]) / (1 - b[0]), (cut[1] - b[0]) / (1 - b[1])
    assert Fraction(low, 2**60) <= least < most <= Fraction(high, 2**60)
    assert high - low <= 4


@pytest.mark.statistical
@pytest.mark.parametrize("scale", SCALES)
def test_draws_follow_the_geometric_law(scale):
    many = 200_000
    found = geometric_numbers(many, scale, os.urandom)
    ratio = np.exp(-1 / float(scale))
    edges = np.unique(np.linspace(0, max(3, 6 * float(scale)), 12).astype(int))
    expected = many * -np.diff(np.append(ratio**edges, 0))
    counted = np.diff(np.append(np.searchsorted(np.sort(found), edges), many))
    assert chi_squared_passes(counted, expected)


@pytest.mark.statistical
def test_a_law_of_half_the_scale_is_told_apart():
    many = 200_000
    found = geometric_numbers(many, Fraction(3, 2), os.urandom)
    expected = many * (1 - np.exp(-1 / 3)) * np.exp(-np.arange(12) / 3)
    counted = np.bincount(np.minimum(found, 11), minlength=12)
    expected[-1] = many - expected[:-1].sum()
    assert not chi_squared_passes(counted, expected)


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), MAX_SCALE + 1])
def test_a_scale_out_of_range_is_refused(scale):
    with pytest.raises(ValueError, match="a scale lies above 0"):
        geometric_numbers(1, scale, os.urandom)


def test_what_passes_63_bits_is_drawn_on(monkeypatch):
    """An exponential number has no memory: another one is added to its end."""
    draws = iter([[LARGEST], [5]])

    class Long:
        def draw(self, size, entropy):
            return np.array(next(draws), dtype=np.int64)

    monkeypatch.setattr(module, "_exponentials", Long)
    found = geometric_numbers(1, Fraction(1), os.urandom)
    assert found.tolist() == [(LARGEST + 5) // ONE]
