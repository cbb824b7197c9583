from fractions import Fraction

import numpy as np
import pytest

from mechanisms.errors import UnpaidMeasurementError
from mechanisms.measuring.meter import Meter, Part
from mechanisms.scales.calibration import laplace_scale
from privacy.charges import Charge
from privacy.counts import SparseCounts
from privacy.errors import InvalidLossError
from privacy.losses import Loss
from privacy.sealed import Exact
from tests.support.noise.samplers import ZeroVectorSampler

LIMIT = 2**62 - 1


class Unopened(Exact):
    """A sealed value that a test forbids to open."""

    def unseal(self):
        raise AssertionError


class Recorder(ZeroVectorSampler):
    """Adds nothing, and remembers the scales that it was asked for."""

    def __init__(self):
        self.scales = []

    def discrete_laplace(self, size, scale):
        self.scales.append(scale)
        return super().discrete_laplace(size, scale)

    def choose(self, scores, scale):
        self.scales.append(scale)
        return super().choose(scores, scale)


def part(name, epsilon):
    return Part(name, Loss.parse(epsilon))


def meter(*parts, charge="1", sampler=None):
    paid = Charge("r_test", Loss.parse(charge))
    return Meter(paid, parts or [part("cells", "1")], sampler or ZeroVectorSampler())


def sparse(cells, counts):
    return Exact(SparseCounts(np.array(cells, np.int64), np.array(counts, np.int64)))


def spend(meter, name, sealed):
    """Yield each way to spend a part."""
    yield lambda: meter.counts(name, sealed, 1)
    yield lambda: meter.sparse_counts(name, sealed, 10, 1, 2)
    yield lambda: meter.choose(name, sealed, 1)
    yield lambda: meter.biased_tests(name, 2, 1).cuts(sealed, np.array([0]))


WAYS = range(4)


def test_parts_beyond_the_charge_make_no_meter():
    with pytest.raises(UnpaidMeasurementError):
        meter(part("a", "0.5"), part("b", "0.500000001"))


def test_parts_may_be_the_whole_charge_or_less():
    assert meter(part("a", "0.5"), part("b", "0.5")).left("b") == Loss.parse("0.5")
    assert meter(part("a", "0.1")).left("a") == Loss.parse("0.1")


def test_two_parts_of_one_name_make_no_meter():
    with pytest.raises(UnpaidMeasurementError):
        meter(part("a", "0.1"), part("a", "0.1"))


@pytest.mark.parametrize("way", WAYS)
def test_a_part_that_is_not_there_opens_no_seal(way):
    with pytest.raises(UnpaidMeasurementError):
        list(spend(meter(), "other", Unopened(None)))[way]()


@pytest.mark.parametrize("first", WAYS)
@pytest.mark.parametrize("second", WAYS)
def test_a_part_that_was_spent_opens_no_seal(first, second):
    paid = meter()
    sealed = sparse([3], [4]) if first == 1 else Exact(np.array([4]))
    list(spend(paid, "cells", sealed))[first]()
    with pytest.raises(UnpaidMeasurementError):
        list(spend(paid, "cells", Unopened(None)))[second]()


@pytest.mark.parametrize("way", WAYS)
def test_a_part_too_small_for_any_noise_opens_no_seal(way):
    for epsilon in ("0", "0.000000001"):
        paid = meter(part("cells", epsilon))
        sealed = Unopened(None)
        with pytest.raises(InvalidLossError):
            [
                lambda: paid.counts("cells", sealed, 2**40),  # noqa: B023
                lambda: paid.sparse_counts("cells", sealed, 9, 2**40, 1),  # noqa: B023
                lambda: paid.choose("cells", sealed, 2**40),  # noqa: B023
                lambda: paid.biased_tests("cells", 2, 2**40),  # noqa: B023
            ][way]()


@pytest.mark.parametrize("sensitivity", [0, -1])
def test_a_sensitivity_of_nothing_opens_no_seal(sensitivity):
    for spent in (Meter.counts, Meter.choose):
        with pytest.raises(ValueError, match="sensitivity"):
            spent(meter(), "cells", Unopened(None), sensitivity)


def test_counts_are_measured_at_the_scale_of_the_rule():
    sampler = Recorder()
    paid = meter(part("a", "0.5"), part("b", "0.25"), sampler=sampler)
    for name, epsilon in (("a", "0.5"), ("b", "0.25")):
        noisy = paid.counts(name, Exact(np.array([5, 0, -2])), 3)
        assert noisy.values.tolist() == [5, 0, -2]
        assert noisy.scale == laplace_scale(Fraction(3), Loss.parse(epsilon))
        assert sampler.scales.pop() == Fraction(noisy.scale)


def test_each_cell_gets_noise_of_its_own():
    class Counting(ZeroVectorSampler):
        def discrete_laplace(self, size, scale):
            return np.arange(size)

    noisy = meter(sampler=Counting()).counts("cells", Exact(np.full(4, 7)), 1)
    assert noisy.values.tolist() == [7, 8, 9, 10]


def test_values_and_noise_saturate_without_overflow():
    class Extreme(ZeroVectorSampler):
        def discrete_laplace(self, size, scale):
            return np.array([2**63 - 1, -(2**63), 2**63 - 1, -(2**63), 5, -(2**62)])

    exact = np.array([2**63 - 1, -(2**63), -(2**63), 2**63 - 1, 2**62, 2**62])
    noisy = meter(sampler=Extreme()).counts("cells", Exact(exact), 1)
    assert noisy.values.tolist() == [LIMIT, -LIMIT, LIMIT, -LIMIT, LIMIT, 0]


@pytest.mark.parametrize(
    ("size", "threshold"), [(0, 1), (2**61 + 1, 1), (10, 0), (10, 2**61 + 1)]
)
def test_a_rule_out_of_range_spends_nothing_and_opens_no_seal(size, threshold):
    paid = meter()
    with pytest.raises(ValueError, match="domain"):
        paid.sparse_counts("cells", Unopened(None), size, 1, threshold)
    paid.counts("cells", Exact(np.array([1])), 1)


def test_without_noise_the_cells_at_the_threshold_are_kept_in_order():
    sealed = sparse([2, 5, 9, 10**12], [3, 2, 7, 1])
    noisy = meter().sparse_counts("cells", sealed, 2**50, 1, 3)
    assert (noisy.cells.tolist(), noisy.values.tolist()) == ([2, 9], [3, 7])
    assert noisy.scale == laplace_scale(Fraction(1), Loss.parse("1"))


def test_sampled_cells_are_the_empty_ones_and_all_are_in_order():
    class Passing(ZeroVectorSampler):
        def positions(self, cells, threshold, scale):
            assert (cells, threshold) == (5, 2)
            return np.arange(5)

        def tail_geometric(self, size, scale):
            return np.array([0, 1, 2, 3, 2**63 - 1])

    sealed = sparse([0, 3, 4, 7], [9, 1, 8, 7])
    noisy = meter(sampler=Passing()).sparse_counts("cells", sealed, 9, 1, 2)
    assert noisy.cells.tolist() == [0, 1, 2, 4, 5, 6, 7, 8]
    assert noisy.values.tolist() == [9, 2, 3, 8, 4, 5, 7, LIMIT]
    assert noisy.cells.dtype == noisy.values.dtype == np.int64


def test_a_domain_without_empty_cells_has_nothing_to_sample():
    noisy = meter().sparse_counts("cells", sparse([0, 1], [5, 1]), 2, 1, 1)
    assert noisy.cells.tolist() == [0, 1]


def test_the_best_score_is_chosen_at_twice_the_sensitivity():
    sampler = Recorder()
    paid = meter(sampler=sampler)
    assert paid.choose("cells", Exact(np.array([3, 9, 2**63 - 1, -5])), 5) == 2
    assert sampler.scales == [Fraction(laplace_scale(Fraction(10), Loss.parse("1")))]


def test_scores_saturate_so_that_no_difference_overflows():
    class Looking(ZeroVectorSampler):
        def choose(self, scores, scale):
            assert (scores.max() - scores >= 0).all()
            return super().choose(scores, scale)

    scores = Exact(np.array([-(2**63), 2**63 - 1]))
    assert meter(sampler=Looking()).choose("cells", scores, 1) == 1
