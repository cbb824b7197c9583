"""The discrete Gaussian mechanism opens a seal for a paid rho alone."""

from fractions import Fraction

import pytest

from mechanisms.errors import UnpaidMeasurementError
from mechanisms.measuring.discrete_gaussian import DiscreteGaussian
from mechanisms.measuring.events import measure_event
from mechanisms.measuring.meter import Meter, Part
from mechanisms.samplers.queries import QuerySampler
from mechanisms.scales.pricing import price
from privacy.charges import Charge
from privacy.events import MeasuredVector, PriceEvent, VectorSensitivity
from privacy.losses import Loss
from privacy.measures import zcdp
from privacy.sealed import SATURATION, Exact
from tests.support.noise.samplers import ZeroSampler, ZeroVectorSampler

RHO = zcdp(Loss.parse("0.000001"))
TWO = VectorSensitivity(Fraction(4), Fraction(4), Fraction(1))


class Unopened(Exact):
    """A sealed vector that a test forbids to open."""

    def unseal(self):
        raise AssertionError


def charge(rho):
    return Charge("q_test", Loss.parse(rho))


def event(rho="0.5"):
    return price([TWO, TWO], [Fraction(1)] * 2, Loss.parse(rho), RHO)


def test_the_loss_is_half_the_squared_distance_over_the_exact_variance():
    rho = DiscreteGaussian(0.1).rho(l2_squared=Fraction(3))
    assert rho == 3 / (2 * Fraction(0.1) ** 2)


def test_an_event_is_measured_vector_by_vector():
    noisy = measure_event(
        [Exact((3, 0)), Exact((5,))], event(), charge("0.5"), ZeroSampler()
    )
    assert noisy == [[3, 0], [5]]


def test_values_saturate_and_every_cell_gets_noise_of_its_own():
    wide = price([TWO], [Fraction(1)], Loss.parse("0.000001"), RHO)
    values = Exact((0,) * 50 + (2 * SATURATION,))
    (noisy,) = measure_event([values], wide, charge("0.000001"), QuerySampler())
    assert len(set(noisy[:50])) > 25  # sigma 1,414: fewer has no chance worth naming
    assert abs(noisy[50] - SATURATION) < 10**5


def test_parts_beyond_the_charge_open_no_seal():
    with pytest.raises(UnpaidMeasurementError):
        measure_event(
            [Unopened(()), Unopened(())], event(), charge("0.49"), ZeroSampler()
        )


def test_a_part_beyond_the_charge_opens_no_seal_by_itself_either():
    part = MeasuredVector(TWO, Loss.parse("0.5"), 2.0)
    with pytest.raises(UnpaidMeasurementError):
        DiscreteGaussian(2.0).measure(
            Unopened(()), charge("0.499999999"), part, ZeroSampler()
        )


def test_a_sigma_that_spends_more_than_its_part_opens_no_seal():
    part = MeasuredVector(TWO, Loss.parse("0.5"), 1.99)  # 2 would do
    with pytest.raises(UnpaidMeasurementError):
        measure_event(
            [Unopened(())],
            PriceEvent(Loss.parse("0.5"), (part,), RHO),
            charge("0.5"),
            ZeroSampler(),
        )


@pytest.mark.parametrize("sigma", [0.0, -1.0, float("inf"), float("nan"), 2.0**41])
def test_a_sigma_without_noise_or_beyond_64_bits_is_refused(sigma):
    with pytest.raises(ValueError, match="sigma"):
        DiscreteGaussian(sigma)


def test_a_release_is_paid_the_rho_of_its_whole_epsilon():
    parts = [Part("one", Loss.parse("0.4")), Part("two", Loss.parse("0.6"))]
    Meter(charge("0.462117158"), parts, ZeroVectorSampler(), RHO)
    with pytest.raises(UnpaidMeasurementError):
        Meter(charge("0.462117157"), parts, ZeroVectorSampler(), RHO)
    with pytest.raises(UnpaidMeasurementError):
        Meter(charge("0.5"), parts, ZeroVectorSampler())
