import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.samplers.laplace import opendp_epsilon_ceil
from mechanisms.scales.calibration import MAX_SCALE, laplace_scale, spends_at_most
from privacy.errors import InvalidLossError
from privacy.losses import Loss


def test_a_tenth_of_epsilon_takes_a_scale_just_above_ten():
    assert laplace_scale(Fraction(1), Loss.parse("0.1")) == 10.000000000000002


def test_a_power_of_two_takes_exactly_its_inverse():
    assert laplace_scale(Fraction(1), Loss.parse("0.25")) == 4.0


@settings(max_examples=60)
@given(l1=st.integers(1, 10**6), nano=st.integers(10**6, 5 * 10**9))
def test_the_scale_is_the_least_float_that_the_loss_pays_for(l1, nano):
    loss = Loss(nano)
    scale = laplace_scale(Fraction(l1), loss)
    assert l1 / Fraction(scale) <= loss.epsilon
    assert Fraction(opendp_epsilon_ceil(scale, l1)) <= loss.epsilon
    below = math.nextafter(scale, 0.0)
    reaches = Fraction(below) >= l1 / loss.epsilon
    assert not (reaches and spends_at_most(Fraction(l1), below, loss))


@settings(max_examples=40)
@given(l1=st.integers(1, 1_000), nano=st.integers(10**6, 10**9))
def test_more_loss_never_takes_a_wider_scale(l1, nano):
    less, more = Loss(nano), Loss(nano + 1)
    assert laplace_scale(Fraction(l1), more) <= laplace_scale(Fraction(l1), less)


def test_no_loss_buys_no_noise():
    with pytest.raises(InvalidLossError):
        laplace_scale(Fraction(1), Loss(0))


def test_the_widest_scale_is_two_to_the_fortieth():
    assert laplace_scale(Fraction(2**40), Loss.parse("1")) == MAX_SCALE
    with pytest.raises(InvalidLossError) as refusal:
        laplace_scale(Fraction(2**40 + 1), Loss.parse("1"))
    assert refusal.value.code == "epsilon_out_of_range"


def test_rounding_may_not_push_a_scale_beyond_the_widest():
    # the ratio itself is in range, but no float in range spends little enough
    loss = Loss(10**15 + 7)
    l1 = Fraction(math.floor(loss.epsilon * 2**40))
    assert l1 / loss.epsilon < 2**40
    with pytest.raises(InvalidLossError):
        laplace_scale(l1, loss)


def test_a_sensitivity_beyond_sixty_two_bits_is_refused():
    with pytest.raises(InvalidLossError):
        laplace_scale(Fraction(2**62 + 1), Loss(2**62 - 1))


@pytest.mark.parametrize("l1", [Fraction(0), Fraction(-1), Fraction(1, 2)])
def test_a_sensitivity_is_a_positive_integer(l1):
    with pytest.raises(ValueError, match="positive integer"):
        laplace_scale(l1, Loss.parse("1"))


def test_a_scale_that_is_too_small_is_seen():
    assert not spends_at_most(Fraction(1), 9.99, Loss.parse("0.1"))


def test_a_scale_that_opendp_prices_above_the_part_is_seen():
    assert not spends_at_most(Fraction(1), 10.0, Loss.parse("0.1"))
