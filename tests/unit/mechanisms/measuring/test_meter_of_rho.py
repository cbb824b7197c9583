"""A meter whose parts are rhos."""

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.errors import UnpaidMeasurementError
from mechanisms.measuring.meter import Meter, Part
from mechanisms.measuring.path_budget import LevelRule
from mechanisms.measuring.sparse_counts import MAX_VISITED
from mechanisms.scales.conversions.pure import (
    bounded_range_rho,
    pure_loss_floor,
    pure_rho_ceil,
)
from mechanisms.scales.gaussian.calibration import gaussian_scale
from mechanisms.scales.noises import GAUSSIAN, LAPLACE
from privacy.charges import Charge
from privacy.counts import SparseCounts
from privacy.losses import Loss
from privacy.measures import PURE, zcdp
from privacy.sealed import Exact
from tests.support.noise.samplers import ZeroVectorSampler

RHO = zcdp(Loss.parse("0.000001"))
TENTH = Loss.parse("0.1")


class Unopened(Exact):
    def unseal(self):
        raise AssertionError


class Recorder(ZeroVectorSampler):
    def __init__(self):
        self.variances, self.scales = [], []

    def discrete_gaussian(self, size, variance):
        self.variances.append((size, variance))
        return super().discrete_gaussian(size, variance)

    def choose(self, scores, scale):
        self.scales.append(scale)
        return super().choose(scores, scale)


def meter(sampler=None, parts=None, paid="0.1", measure=RHO):
    charge = Charge("r_test", Loss.parse(paid))
    parts = parts or [Part("all", TENTH)]
    return Meter(charge, parts, sampler or ZeroVectorSampler(), measure, GAUSSIAN)


def test_rhos_beyond_the_charge_and_rhos_paid_in_epsilon_make_no_meter():
    with pytest.raises(UnpaidMeasurementError):
        meter(paid="0.099999999")
    with pytest.raises(UnpaidMeasurementError):
        meter(measure=PURE)


def test_counts_have_gaussian_noise_for_their_l2_distance():
    sampler = Recorder()
    noisy = meter(sampler).counts("all", Exact(np.arange(9)), 6, l2_squared=8)
    sigma = gaussian_scale(Fraction(8), TENTH)
    assert noisy.scale == sigma
    assert noisy.noise is GAUSSIAN
    assert sampler.variances == [(9, Fraction(sigma) ** 2)]


def test_without_a_proved_l2_the_l1_is_taken_for_it():
    noisy = meter().counts("all", Exact(np.arange(9)), 6)
    assert noisy.scale == gaussian_scale(Fraction(36), TENTH)


def test_a_choice_costs_the_eighth_of_its_range_squared():
    sampler = Recorder()
    assert meter(sampler).choose("all", Exact(np.array([3, 9, -5])), 5) == 1
    (scale,) = sampler.scales
    cost = bounded_range_rho(10 / scale)
    assert TENTH.epsilon * Fraction(999, 1000) < cost <= TENTH.epsilon


def test_what_is_proved_in_epsilon_alone_opens_no_seal_for_a_rho():
    costs = Unopened(np.array([1]))
    with pytest.raises(UnpaidMeasurementError):
        meter().interval_costs("all", costs, np.array([1]))
    with pytest.raises(UnpaidMeasurementError):
        meter().biased_tests("all", 2, 1)


def test_a_part_pays_for_as_much_epsilon_as_its_rho_and_no_nano_more():
    most = pure_loss_floor(TENTH)
    more = Loss(most.nano_epsilon + 1)
    assert pure_rho_ceil(most) <= TENTH < pure_rho_ceil(more)
    inner = meter().pure("all", [Part("cells", most)])
    assert inner.noise is LAPLACE
    assert inner.counts("cells", Exact(np.array([1])), 1).noise is LAPLACE
    with pytest.raises(UnpaidMeasurementError):
        meter().pure("all", [Part("cells", more)])
    spent = meter()
    spent.counts("all", Exact(np.array([1])), 1)
    with pytest.raises(UnpaidMeasurementError):
        spent.pure("all", [Part("cells", most)])


def test_an_epsilon_divides_into_no_rhos():
    pure = Meter(
        Charge("r", TENTH), [Part("all", TENTH)], ZeroVectorSampler(), PURE, LAPLACE
    )
    with pytest.raises(UnpaidMeasurementError):
        pure.pure("all", [Part("cells", Loss(1))])


def test_every_cell_gets_noise_and_those_at_the_threshold_stay_in_order(monkeypatch):
    monkeypatch.setattr("mechanisms.measuring.sparse_counts._BLOCK", 4)

    class Adding(ZeroVectorSampler):
        def __init__(self):
            self.drawn = 0

        def discrete_gaussian(self, size, variance):
            first, self.drawn = self.drawn, self.drawn + size
            return np.arange(first, first + size)  # the cell's number

    raw = SparseCounts(np.array([1, 4, 9]), np.array([7, -9, 1]))
    noisy = meter(Adding()).sparse_counts("all", Exact(raw), 11, 1, 5)
    assert noisy.cells.tolist() == [1, 5, 6, 7, 8, 9, 10]
    assert noisy.values.tolist() == [8, 5, 6, 7, 8, 10, 10]
    assert noisy.scale == gaussian_scale(Fraction(1), TENTH)


def test_more_cells_than_are_ever_drawn_open_no_seal():
    paid = meter()
    sealed = Unopened(None)
    with pytest.raises(ValueError, match=str(MAX_VISITED + 1)):
        paid.sparse_counts("all", sealed, MAX_VISITED + 1, 1, 5)
    assert paid.left("all") == TENTH


def test_a_path_of_grams_pays_for_the_places_of_one_unit_in_l2():
    budget = meter().path_budget("all", 6)
    rule = LevelRule(np.array([0]), np.array([40_000_000]), np.array([3]), 5)
    level = budget.measure(Exact(SparseCounts(np.array([2]), np.array([9]))), rule)
    assert level.scales == (gaussian_scale(Fraction(36), Loss.parse("0.04")),)
    assert budget.left.tolist() == [60_000_000]
