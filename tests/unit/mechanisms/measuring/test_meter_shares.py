"""A part of a loss divides once, and noisy costs are paid by one part."""

import numpy as np
import pytest

from mechanisms.errors import UnpaidMeasurementError
from mechanisms.measuring.meter import Meter, Part
from mechanisms.scales.calibration import laplace_scale
from privacy.charges import Charge
from privacy.losses import Loss
from privacy.sealed import Exact
from tests.support.noise.samplers import ZeroVectorSampler

LOSS = Loss(10**9)


def meter(sampler=None):
    parts = [Part("first", Loss(4 * 10**8)), Part("second", Loss(6 * 10**8))]
    return Meter(Charge("c", LOSS), parts, sampler or ZeroVectorSampler())


def test_a_part_divides_into_shares_that_are_each_spent_once():
    whole = meter()
    inner = whole.divide("second", [Part("a", Loss(10**8)), Part("b", Loss(5 * 10**8))])
    noisy = inner.counts("a", Exact(np.array([3, 4])), 1)
    assert noisy.values.tolist() == [3, 4]
    assert noisy.scale == laplace_scale(1, Loss(10**8))
    for name in ("a", "first", "second"):
        with pytest.raises(UnpaidMeasurementError):
            inner.counts(name, Exact(np.array([3])), 1)
    with pytest.raises(UnpaidMeasurementError):
        whole.counts("second", Exact(np.array([3])), 1)
    assert whole.left("first") == Loss(4 * 10**8)


def test_shares_beyond_their_part_or_of_one_name_are_refused_and_the_part_is_gone():
    for shares in (
        [Part("a", Loss(6 * 10**8)), Part("b", Loss(1))],
        [Part("a", Loss(1)), Part("a", Loss(1))],
    ):
        whole = meter()
        with pytest.raises(UnpaidMeasurementError):
            whole.divide("second", shares)
        with pytest.raises(UnpaidMeasurementError):
            whole.left("second")


class Scales(ZeroVectorSampler):
    """Remembers the scale of each draw."""

    def __init__(self):
        self.seen = {}

    def discrete_laplace(self, size, scale):
        self.seen[float(scale)] = size
        return super().discrete_laplace(size, scale)


def test_each_interval_gets_noise_of_its_own_shift_from_one_part():
    sampler = Scales()
    whole = meter(sampler)
    shifts = np.array([2, 5, 5, 12])
    costs = whole.interval_costs("first", Exact(np.array([0, 7, 8, 9])), shifts)
    assert costs.tolist() == [0, 7, 8, 9]
    loss = Loss(4 * 10**8)
    expected = {laplace_scale(n, loss): many for n, many in ((2, 1), (5, 2), (12, 1))}
    assert sampler.seen == expected
    with pytest.raises(UnpaidMeasurementError):
        whole.interval_costs("first", Exact(np.array([0])), np.array([2]))
