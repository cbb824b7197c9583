"""PrivTree's tests: what they cut, and what a whole tree costs, worked out exactly."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from mechanisms.errors import UnpaidMeasurementError
from mechanisms.measuring.meter import Meter, Part
from mechanisms.samplers.biased_tests import MAX_DEPTH, delta_of, path_factor
from mechanisms.scales.calibration import laplace_scale
from privacy.charges import Charge
from privacy.losses import Loss
from privacy.sealed import Exact
from tests.support.noise.samplers import ZeroVectorSampler

ONE = Loss.parse("1")


def fresh_tests(fanout=2, l1=1, sampler=None):
    charge, parts = Charge("r_test", ONE), [Part("tree", ONE)]
    meter = Meter(charge, parts, sampler or ZeroVectorSampler())
    return meter.biased_tests("tree", fanout, l1)


@pytest.mark.parametrize(("fanout", "factor"), [(2, 3), (3, (5, 2)), (16, (31, 15))])
def test_a_path_costs_what_the_paper_says(fanout, factor):
    stated = Fraction(*factor) if isinstance(factor, tuple) else factor
    assert path_factor(fanout) == stated


@pytest.mark.parametrize("fanout", [1, 0, -3])
def test_a_node_is_cut_in_two_at_least(fanout):
    with pytest.raises(ValueError, match="fanout"):
        path_factor(fanout)


@pytest.mark.parametrize("fanout", [2, 4, 7, 16])
@pytest.mark.parametrize("l1", [1, 5])
def test_the_scale_pays_for_a_path_and_no_more_than_that(fanout, l1):
    tests = fresh_tests(fanout, l1)
    spent = path_factor(fanout) * l1 / Fraction(tests.scale)
    assert Fraction(999_999, 10**6) < spent <= ONE.epsilon
    assert tests.delta >= tests.scale * math.log(fanout) > tests.delta - 1


@pytest.mark.parametrize("scale", [0.01, 3.0, 1e6, 2.0**40])
def test_what_a_level_takes_off_is_never_rounded_down(scale):
    assert delta_of(scale, 2) == math.ceil(scale * math.log(2))
    assert Fraction(delta_of(scale, 2)) * 10**20 > Fraction(scale) * int(
        10**20 * math.log(2) * (1 - 1e-12)
    )


def test_without_noise_nodes_are_cut_above_their_depths_bias():
    tests = fresh_tests()
    delta = tests.delta
    assert delta == 3  # 3 ln 2 = 2.08
    depths = np.array([1, 1, 3, 3, 3])
    counts = np.array([delta, delta + 1, 3 * delta, 3 * delta + 1, 2**63 - 1])
    cuts = tests.cuts(Exact(counts), depths)
    assert cuts.tolist() == [False, True, False, True, True]


@pytest.mark.parametrize(("noise", "cut"), [(3, False), (4, True)])
def test_the_bias_never_falls_below_one_level(noise, cut):
    class Constant(ZeroVectorSampler):
        def discrete_laplace(self, size, scale):
            return np.full(size, noise)

    tests = fresh_tests(sampler=Constant())
    for depth in (5, 900):
        assert tests.cuts(Exact(np.array([0])), np.array([depth])).tolist() == [cut]


def test_no_nodes_need_no_test():
    assert fresh_tests().cuts(Exact(None), np.array([], dtype=np.int64)).tolist() == []


@pytest.mark.parametrize("depths", [[2], [1], [0], [3, 2], [MAX_DEPTH + 1]])
def test_no_depth_is_tested_again_and_none_without_end(depths):
    class Unopened(Exact):
        def unseal(self):
            raise AssertionError

    tests = fresh_tests()
    tests.cuts(Exact(np.array([9, 9])), np.array([2, 2]))
    with pytest.raises(UnpaidMeasurementError):
        tests.cuts(Unopened(None), np.array(depths))


# What a whole tree costs: every tree over a small domain, with its exact probability.


def log_probabilities(count, depth, delta, a):
    """Return log-probabilities of max(count - depth delta, -delta) + X > 0, <= 0."""
    biased = max(count - depth * delta, -delta)
    tail = a ** max(biased, 1 - biased) / (1 + a)
    near, far = math.log1p(-tail), math.log(tail)
    return (near, far) if biased >= 1 else (far, near)


def tree_log_probabilities(counts, delta, a, depth=0):
    """Return the log-probability of each binary tree over cells; a leaf is None."""
    if len(counts) == 1:
        return {None: 0.0}  # a single cell is cut no further: a public rule
    cut, kept = log_probabilities(sum(counts), depth, delta, a)
    found = {None: kept}
    middle = len(counts) // 2
    left = tree_log_probabilities(counts[:middle], delta, a, depth + 1)
    right = tree_log_probabilities(counts[middle:], delta, a, depth + 1)
    for one, other in product(left, right):
        found[(one, other)] = cut + left[one] + right[other]
    return found


def greatest_loss(counts, delta, a):
    """Return the greatest log-ratio over trees when one row is added anywhere."""
    here = tree_log_probabilities(counts, delta, a)
    assert abs(sum(math.exp(probability) for probability in here.values()) - 1) < 1e-9
    losses = []
    for cell in range(len(counts)):
        more = [count + (place == cell) for place, count in enumerate(counts)]
        there = tree_log_probabilities(more, delta, a)
        losses += [abs(there[tree] - here[tree]) for tree in here]
    return max(losses)


HISTOGRAMS = [
    *([n, 0, 0, 0, 0, 0, 0, 0] for n in (0, 1, 2, 3, 5, 8, 13, 40)),
    *([n, n, 1, 0, 3, 0, 0, n] for n in (1, 4, 9)),
    [6, 5, 4, 3, 2, 1, 0, 0],
]


@pytest.mark.parametrize("epsilon", ["0.5", "1", "3"])
def test_no_tree_gives_away_more_than_was_paid(epsilon):
    loss = Loss.parse(epsilon)
    scale = laplace_scale(Fraction(3), loss)
    a = math.exp(-1 / scale)
    spent = max(greatest_loss(c, delta_of(scale, 2), a) for c in HISTOGRAMS)
    assert spent <= float(loss.epsilon) + 1e-9


def chain_loss(cells, delta, a):
    """Return the loss of cutting every node above one cell, alone in its half."""
    depth_of = range(cells)

    def log_probability(count):
        return sum(log_probabilities(count, d, delta, a)[0] for d in depth_of)

    return max(log_probability(n + 1) - log_probability(n) for n in range(400))


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_a_path_however_deep_costs_what_was_paid(epsilon):
    loss = Loss.parse(epsilon)
    scale = laplace_scale(Fraction(3), loss)
    delta, a = delta_of(scale, 2), math.exp(-1 / scale)
    spent = chain_loss(200, delta, a)
    assert float(loss.epsilon) / 2 < spent <= float(loss.epsilon) + 1e-9


def test_without_the_bias_a_deep_path_costs_far_more():
    scale = laplace_scale(Fraction(3), ONE)
    assert chain_loss(200, 0, math.exp(-1 / scale)) > 10
