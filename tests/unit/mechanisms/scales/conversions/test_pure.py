"""What pure mechanisms cost in rho, against Renyi divergences summed term by term."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.scales.conversions.pure import (
    bounded_range_rho,
    laplace_rho_ceil,
    pure_rho_ceil,
)
from privacy.losses import Loss

ORDERS = [1 + math.exp(step / 3) for step in range(-24, 16)]


def logs_of(logs):
    return logs - np.logaddexp.reduce(logs)


def renyi(first, second, order):
    """Return the Renyi divergence of two laws given by their logarithms."""
    return np.logaddexp.reduce(order * first + (1 - order) * second) / (order - 1)


def steepest(first, second):
    """Return the greatest divergence over its order, of orders near 1 and far."""
    return max(renyi(first, second, order) / order for order in ORDERS)


def divergence(first, second):
    return float((np.exp(first) * (first - second)).sum())


def laplace_pair(scale, shift):
    line = np.arange(-int(60 * scale) - 5, int(60 * scale) + shift + 6)
    return tuple(logs_of(-np.abs(line - at) / scale) for at in (0, shift))


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("shift", [1, 2, 5, 40])
def test_discrete_laplace_noise_costs_its_divergence_and_no_order_more(scale, shift):
    pair = laplace_pair(scale, shift)
    stated = laplace_rho_ceil(shift, scale).nano_epsilon / 1e9
    assert steepest(*pair) <= stated + 1e-12
    assert stated == pytest.approx(divergence(*pair), abs=2e-9)


@pytest.mark.parametrize("shifts", [(1, 1), (3, 2), (1, 1, 1, 4)])
def test_a_move_spread_over_cells_costs_no_more_than_in_one(shifts):
    spread = sum(laplace_rho_ceil(shift, 3.0).nano_epsilon for shift in shifts)
    assert spread <= laplace_rho_ceil(sum(shifts), 3.0).nano_epsilon + len(shifts)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 2.0**20, 2.0**40])
def test_laplace_noise_costs_no_more_than_any_pure_mechanism(scale):
    rho = laplace_rho_ceil(1, scale)
    any_pure = pure_rho_ceil(Loss(math.ceil(Fraction(1) / Fraction(scale) * 10**9)))
    assert rho <= any_pure
    assert rho.nano_epsilon >= 1


def test_a_cost_in_rho_is_rounded_up_where_digits_cancel():
    # t = 2**40, D = 2**20: D**2 / 2t**2 (1 - D / 3t) and less, 4.5e-13, is one nano
    assert laplace_rho_ceil(2**20, 2.0**40).nano_epsilon == 1
    assert laplace_rho_ceil(0, 1.0).nano_epsilon == 0
    exact = 2**40 / 2**40 + math.exp(-1) - 1
    assert laplace_rho_ceil(2**40, 2.0**40).nano_epsilon == math.ceil(exact * 1e9)


@given(nano=st.integers(0, 20 * 10**9))
def test_randomized_response_costs_what_any_pure_mechanism_may(nano):
    epsilon = nano / 1e9
    odds = logs_of(np.array([epsilon, 0.0]))
    stated = pure_rho_ceil(Loss(nano)).nano_epsilon / 1e9
    assert steepest(odds, odds[::-1]) <= stated + 1e-12
    assert stated == pytest.approx(divergence(odds, odds[::-1]), abs=2e-9)
    assert stated <= epsilon**2 / 2 + 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_choices_by_scores_cost_an_eighth_of_their_range_squared(seed):
    noise = np.random.default_rng(seed)
    scores = noise.integers(0, 12, 9)
    moved = scores + noise.integers(-1, 2, 9)
    scale = 2.0
    pair = logs_of(scores / scale), logs_of(moved / scale)
    stated = float(bounded_range_rho(2 / Fraction(scale)))
    assert steepest(*pair) <= stated + 1e-12
    assert steepest(*pair[::-1]) <= stated + 1e-12
