"""Rho as an epsilon, and what an epsilon costs."""

import math
from fractions import Fraction

import pytest

from mechanisms.scales.concentrated import epsilon_ceil, pure_ceil, rho_ceil
from privacy.losses import NANO, Loss
from privacy.measures import PURE, zcdp

DELTA = Loss.parse("0.000001")


def gaussian_delta(sigma, epsilon):
    """Return the exact delta of continuous Gaussian noise at distance 1."""
    normal = [
        math.erfc(x / math.sqrt(2)) / 2
        for x in (epsilon * sigma - 0.5 / sigma, epsilon * sigma + 0.5 / sigma)
    ]
    return normal[0] - math.exp(epsilon) * normal[1]


@pytest.mark.parametrize("rho", ["0.000001", "0.001", "0.02", "0.5", "3", "40"])
@pytest.mark.parametrize("delta", ["0.001", "0.000001", "0.000000001"])
def test_what_a_rho_amounts_to_holds_for_gaussian_noise_and_is_near(rho, delta):
    loss, allowed = Loss.parse(rho), Loss.parse(delta)
    told = float(epsilon_ceil(loss, allowed).epsilon)
    sigma = math.sqrt(1 / (2 * float(loss.epsilon)))
    assert gaussian_delta(sigma, told) <= float(allowed.epsilon)
    if told > 1e-6:  # below, no epsilon is needed at all
        assert gaussian_delta(sigma, told * 0.7) > float(allowed.epsilon)


def test_more_rho_amounts_to_more():
    told = [epsilon_ceil(Loss(n * 10**6), DELTA) for n in range(1, 400, 7)]
    assert told == sorted(told)
    assert epsilon_ceil(Loss(0), DELTA) == Loss(0)


def test_it_is_no_more_than_the_plain_conversion():
    for nano in (10**5, 10**7, 10**9):
        rho = nano / NANO
        plain = rho + 2 * math.sqrt(rho * math.log(1 / float(DELTA.epsilon)))
        assert float(epsilon_ceil(Loss(nano), DELTA).epsilon) <= plain


@pytest.mark.parametrize(
    "nano", [1, 3, 44_721, 10**8, 2 * 10**9, 2 * 10**9 + 1, 10**11]
)
def test_an_epsilon_costs_half_its_square_or_itself(nano):
    rho = rho_ceil(Loss(nano))
    exact = min(Fraction(nano, NANO) ** 2 / 2, Fraction(nano, NANO))
    assert 0 <= rho.epsilon - exact < Fraction(1, NANO)
    assert pure_ceil(PURE, Loss(nano)) == Loss(nano)
    assert pure_ceil(zcdp(DELTA), Loss(nano)) == rho
