"""Prefix trees lose what they were charged: by whole paths, by levels, by shape.

At most the charge, and at least 0.7 of it where counts are looked at, by bounds that
are wrong with probability 1e-6; half the noise must be found each time.
"""

import math

import pytest

from release.sequences.strategies.ngram import Ngram
from release.sequences.strategies.registry import STRATEGIES
from tests.audit.instruments.bounds import (
    VERDICT_ALPHA,
    probability_of_bound_above,
    threshold_event,
)
from tests.audit.subjects.sequence_plans import GRAMS, TREES
from tests.audit.subjects.sequences import TreeSuite
from tests.audit.subjects.suites import LEAST

pytestmark = [pytest.mark.slow, pytest.mark.statistical]
KNOWN = 60
EVEN = {"budget": "uniform", "threshold": 1}
PATHS = {
    2: TreeSuite(2, KNOWN, 4_000, parameters=EVEN),
    3: TreeSuite(3, KNOWN, 6_000, parameters=EVEN),
}
ADAPTIVE = TreeSuite(3, KNOWN, 6_000, parameters={"threshold": 1})
LEVELS = TreeSuite(4, KNOWN, 10_000, epsilon="8", parameters=EVEN)
SHAPE = TreeSuite(3, 0, 6_000, parameters=EVEN)


def test_the_long_tier_audits_every_strategy():
    assert GRAMS
    assert {Ngram.name, *(plan.strategy for plan in TREES)} == set(STRATEGIES)


@pytest.mark.parametrize("height", PATHS)
def test_a_whole_path_shows_what_was_charged(height, report):
    suite = PATHS[height]
    bound = suite.run().path_bound(slice(height), KNOWN + 1)
    report(f"prefix tree, path of {height}: LB {bound:.3f} of {suite.epsilon}")
    assert LEAST * 3 <= bound <= 3


@pytest.mark.parametrize("height", PATHS)
def test_half_the_noise_on_a_path_is_caught(height, report):
    bound = PATHS[height].run("1/2").path_bound(slice(height), KNOWN + 1)
    report(f"prefix tree, path of {height}, noise x 0.5: LB {bound:.3f}, must fail")
    assert bound > 3


def test_an_adaptive_budget_shows_no_more_than_was_charged(report):
    bound = ADAPTIVE.run().path_bound(slice(3), KNOWN + 1)
    report(f"prefix tree, adaptive budget: LB {bound:.3f} of 3")
    assert LEAST * 3 <= bound <= 3


def test_each_level_alone_shows_its_own_part(report):
    trees, halved = LEVELS.run(), LEVELS.run("1/2")
    bounds = [trees.path_bound(slice(k, k + 1), KNOWN + 1) for k in range(4)]
    faulty = [halved.path_bound(slice(k, k + 1), KNOWN + 1) for k in range(4)]
    report(f"prefix tree, levels at 2 each: LB {[round(b, 3) for b in bounds]}")
    assert all(LEAST * 2 <= bound <= 2 for bound in bounds)
    assert min(faulty) > 2


def test_the_shape_of_a_tree_shows_no_more_than_was_charged(report):
    bound = SHAPE.run().structure_bound(3)
    report(f"prefix tree, existence, depth, nodes, bytes: largest LB {bound:.3f} of 3")
    assert bound <= 3


def test_half_the_noise_shows_in_the_shape_of_a_tree(report):
    bound = SHAPE.run("1/2").structure_bound(3)
    report(f"prefix tree, shape, noise x 0.5: largest LB {bound:.3f}, must fail")
    assert bound > 3


def test_verdicts_on_trees_are_wrong_less_than_once_in_a_million_runs():
    cases = [(suite, height, 3) for height, suite in PATHS.items()]
    for suite, cells, claim in [*cases, (LEVELS, 1, 2)]:
        scale = suite.height / float(suite.epsilon)
        event = threshold_event(1, scale, cells)
        halved = threshold_event(1, scale / 2, cells)
        assert math.log(event.present / event.absent) == pytest.approx(claim)
        assert _probability(event, suite, claim) < VERDICT_ALPHA * 1.01
        assert 1 - _probability(event, suite, LEAST * claim) < VERDICT_ALPHA
        assert 1 - _probability(halved, suite, claim) < VERDICT_ALPHA


def _probability(event, suite, level):
    return probability_of_bound_above(event, suite.samples, level)
