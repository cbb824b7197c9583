import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from mechanisms.scales.conversions.zcdp import (
    best_order,
    epsilon_at_order,
    epsilon_ceil,
    odds_epsilon_ceil,
)
from privacy.losses import NANO, Loss

DELTA = Fraction(1, 10**6)
rhos = st.integers(1, 10**10).map(Loss)
deltas = st.fractions(Fraction(1, 10**12), Fraction(1, 2))


def formula(rho, delta, order):
    return (
        rho * order
        + math.log(1 / (order * delta)) / (order - 1)
        + math.log1p(-1 / order)
    )


@given(loss=rhos, delta=deltas, order=st.fractions(Fraction(101, 100), 10**6))
def test_an_order_proves_the_formulas_epsilon_rounded_up(loss, delta, order):
    found = epsilon_at_order(loss.epsilon, delta, order)
    stated = formula(float(loss.epsilon), float(delta), float(order))
    assert float(found) == pytest.approx(stated, rel=1e-8, abs=1e-9)


def test_an_order_is_worked_out_to_thirty_digits_from_above():
    # rho 1/10, delta 1/2, order 2: 1/5 + ln 1 + ln (1/2)
    found = epsilon_at_order(Fraction(1, 10), Fraction(1, 2), Fraction(2))
    ln2 = Fraction(693147180559945309417232121458176569, 10**36)
    assert 0 <= found - (Fraction(1, 5) - ln2) < Fraction(1, 10**30)


@settings(max_examples=60)
@given(loss=rhos, delta=deltas)
def test_no_order_proves_less_than_the_one_that_is_taken(loss, delta):
    found = epsilon_ceil(loss, delta).nano_epsilon / 1e9
    rho, small = float(loss.epsilon), float(delta)
    others = [1 + math.exp(step / 10) for step in range(-120, 250)]
    least = max(0.0, min(formula(rho, small, order) for order in others))
    assert found <= least * (1 + 1e-9) + 2e-9


@settings(max_examples=60)
@given(loss=rhos, delta=deltas)
def test_it_is_no_more_than_the_older_conversion(loss, delta):
    rho = float(loss.epsilon)
    older = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert epsilon_ceil(loss, delta).nano_epsilon / 1e9 <= older + 2e-9


def gaussian_delta(rho, epsilon):
    """Return the exact delta of continuous Gaussian noise, which is rho-zCDP."""
    shift = math.sqrt(2 * rho)
    return norm.sf(epsilon / shift - shift / 2) - math.exp(epsilon) * norm.sf(
        epsilon / shift + shift / 2
    )


@pytest.mark.parametrize("nano", [10**6, 10**8, 10**9, 5 * 10**9])
@pytest.mark.parametrize("delta", [Fraction(1, 100), DELTA, Fraction(1, 10**9)])
def test_gaussian_noise_spends_no_more_than_is_stated_and_not_much_less(nano, delta):
    epsilon = epsilon_ceil(Loss(nano), delta).nano_epsilon / 1e9
    spent = gaussian_delta(nano / 1e9, epsilon)
    assert spent <= float(delta)
    assert spent >= float(delta) / 30


@settings(max_examples=30)
@given(loss=rhos, delta=deltas)
def test_more_rho_is_never_less_epsilon(loss, delta):
    more = Loss(loss.nano_epsilon * 11 // 10 + 1)
    assert epsilon_ceil(loss, delta) <= epsilon_ceil(more, delta)


def test_no_rho_is_no_epsilon():
    assert epsilon_ceil(Loss(0), DELTA).nano_epsilon == 0


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1)])
def test_a_delta_lies_strictly_between_none_and_all(delta):
    with pytest.raises(ValueError, match="delta"):
        epsilon_ceil(Loss(1), delta)


def test_what_no_epsilon_can_say_is_refused():
    with pytest.raises(ValueError, match="2\\*\\*62"):
        epsilon_ceil(Loss(2**62 - 1), DELTA)


def test_orders_are_above_one():
    assert best_order(Fraction(10**9), Fraction(1, 2)) > 1
    assert best_order(Fraction(1, 10**9), Fraction(1, 10**300)) > 1


def passed(rho, epsilon):
    """Return P(L >= epsilon) of Gaussian noise, whose L is normal: mean rho, 2 rho."""
    return norm.sf(epsilon, loc=rho, scale=math.sqrt(2 * rho))


@pytest.mark.parametrize("delta", ["0.001", "0.000001", "0.000000001"])
@pytest.mark.parametrize("rho", ["0.0001", "0.005", "0.1", "0.5", "1", "20"])
def test_a_factor_of_odds_is_passed_no_more_often_than_delta(rho, delta):
    loss, most = Loss.parse(rho), Fraction(delta)
    odds = odds_epsilon_ceil(loss, most)
    pair = epsilon_ceil(loss, most)
    assert passed(float(rho), float(odds.epsilon)) <= float(delta)
    assert odds >= pair
    if loss <= Loss.parse("0.1"):  # what (epsilon, delta) does not say
        assert passed(float(rho), float(pair.epsilon)) > float(delta)


@given(st.integers(1, 10**11), st.integers(1, NANO - 1))
def test_the_epsilon_of_odds_is_rounded_up(nano, delta):
    loss, most = Loss(nano), Fraction(delta, NANO)
    found = odds_epsilon_ceil(loss, most).epsilon - loss.epsilon
    needed = 4 * loss.epsilon * Fraction(-math.log(most))
    assert found**2 >= needed * (1 - Fraction(1, 10**13))
    assert (found - Fraction(1, NANO)) ** 2 <= needed * (1 + Fraction(1, 10**13))
