from fractions import Fraction

import pytest

from mechanisms.errors import UnpaidMeasurementError
from mechanisms.measuring.discrete_laplace import DiscreteLaplace
from mechanisms.measuring.events import measure_event
from mechanisms.samplers.laplace import OpenDPSampler
from mechanisms.scales.pricing import price
from privacy.charges import Charge
from privacy.events import MeasuredVector, PriceEvent, VectorSensitivity
from privacy.losses import Loss
from privacy.sealed import SATURATION, Exact
from tests.support.noise.samplers import ScaledSampler, ZeroSampler

ONE = VectorSensitivity(Fraction(1), Fraction(1), Fraction(1))


class Unopened(Exact):
    """A sealed vector that a test forbids to open."""

    def unseal(self):
        raise AssertionError


def charge(epsilon):
    return Charge("q_test", Loss.parse(epsilon))


def vector(epsilon, scale):
    return MeasuredVector(ONE, Loss.parse(epsilon), scale)


def two_vectors(epsilon="1"):
    return price([ONE, ONE], [Fraction(1), Fraction(1)], Loss.parse(epsilon))


def test_the_loss_is_the_distance_over_the_exact_scale():
    assert DiscreteLaplace(0.1).epsilon(l1_sensitivity=Fraction(3)) == 3 / Fraction(0.1)


def test_an_event_is_measured_vector_by_vector():
    sealed = [Exact((3, 0)), Exact((5,))]
    noisy = measure_event(sealed, two_vectors(), charge("1"), ZeroSampler())
    assert noisy == [[3, 0], [5]]


def test_every_cell_gets_noise_of_its_own():
    event = price([ONE], [Fraction(1)], Loss.parse("0.001"))
    noisy = measure_event([Exact((0,) * 50)], event, charge("0.001"), OpenDPSampler())
    assert len(set(noisy[0])) > 25  # scale 1000: fewer has no chance worth naming


def test_parts_beyond_the_charge_open_no_seal():
    with pytest.raises(UnpaidMeasurementError):
        measure_event(
            [Unopened(()), Unopened(())], two_vectors(), charge("0.99"), ZeroSampler()
        )


def test_a_vector_too_many_opens_no_seal():
    with pytest.raises(UnpaidMeasurementError):
        measure_event([Unopened(())], two_vectors(), charge("1"), ZeroSampler())


def test_a_part_beyond_the_charge_opens_no_seal():
    with pytest.raises(UnpaidMeasurementError):
        DiscreteLaplace(1.0).measure(
            Unopened(()), charge("0.5"), vector("1", 1.0), ZeroSampler()
        )


@pytest.mark.parametrize("scale", [0.5, 9.99, 10.0])
def test_a_scale_below_the_rule_opens_no_seal(scale):
    event = PriceEvent(Loss.parse("0.1"), (vector("0.1", scale),))
    with pytest.raises(UnpaidMeasurementError):
        measure_event([Unopened(())], event, charge("0.1"), ZeroSampler())


@pytest.mark.parametrize("l1", [0, 2**62 + 1])
def test_a_sensitivity_out_of_range_opens_no_seal(l1):
    odd = VectorSensitivity(Fraction(l1), Fraction(l1), Fraction(l1))
    with pytest.raises(UnpaidMeasurementError):
        DiscreteLaplace(2.0**40).measure(
            Unopened(()),
            charge("1"),
            MeasuredVector(odd, Loss.parse("1"), 2.0**40),
            ZeroSampler(),
        )


@pytest.mark.parametrize("scale", [0.0, -1.0, float("inf"), float("nan"), 2.0**41])
def test_a_scale_without_noise_or_beyond_all_is_no_mechanism(scale):
    with pytest.raises(ValueError, match="scale"):
        DiscreteLaplace(scale)


def test_a_failed_measurement_says_nothing():
    assert str(UnpaidMeasurementError()) == ""
    assert UnpaidMeasurementError.code == "query_failed"


def test_values_beyond_sixty_two_bits_saturate_before_the_draw():
    noisy = OpenDPSampler().discrete_laplace([2**70, -(2**70), 1], 0.001)
    assert noisy == [SATURATION, -SATURATION, 1]  # e**-1000: noise of 0


def test_an_empty_vector_needs_no_noise():
    assert OpenDPSampler().discrete_laplace([], 1.0) == []


def test_a_scaled_sampler_draws_at_its_own_scale():
    assert ScaledSampler(1e-6).discrete_laplace([7], 100.0) == [7]
