"""Releases, strategy by strategy: the loss is what was charged, and no less.

At most what the sums looked at were charged, and at least 0.7 of it, by a bound that is
wrong with probability 1e-6. How often a verdict is wrong is computed here from the
scales that the releases publish.
"""

import math

import pytest

from release.cubes.strategies.registry import STRATEGIES
from tests.audit.instruments.bounds import (
    VERDICT_ALPHA,
    game_p_value,
    probability_of_bound_above,
)
from tests.audit.subjects import canaries
from tests.audit.subjects.releases import SUITES
from tests.audit.subjects.suites import LEAST
from tests.effort import gate_first
from tests.support.noise.samplers import ScaledVectorSampler, ZeroVectorSampler

pytestmark = [pytest.mark.slow, pytest.mark.statistical]
NAMED = {"ids": lambda suite: suite.name.replace(" ", "-")}
SLOWEST = {"pthb", "agrid", "dpcube"}
BLIND = {"pthb", "auto"}  # so few samples do not show 0.7: the long tier's do


@pytest.fixture(
    scope="module",
    params=gate_first(
        -len(SLOWEST), sorted(SUITES, key=lambda suite: suite.name in SLOWEST)
    ),
    **NAMED,
)
def audit(request):
    """Measure one suite's arms, as they are and with half the noise."""
    suite = request.param
    return suite, suite.run(suite.samples), suite.run(suite.faulty, factor="1/2")


def test_every_strategy_is_audited():
    assert {suite.strategy for suite in SUITES} == set(STRATEGIES)


@pytest.mark.sampled
def test_a_release_shows_what_it_was_charged(audit, report):
    suite, seen, _ = audit
    report(str(seen))
    assert seen.bound() <= suite.claim
    assert seen.bound() >= LEAST * suite.claim or suite.name in BLIND


def test_the_noise_of_a_release_has_the_published_scale_and_no_bias(audit):
    assert audit[1].noise_problems() == []


def test_half_the_noise_of_a_release_is_caught(audit, report):
    suite, _, faulty = audit
    report(f"{faulty}, noise x 0.5: must fail")
    assert faulty.bound() > suite.claim


def test_verdicts_on_releases_are_wrong_less_than_once_in_a_million_runs(audit):
    suite, seen, faulty = audit
    event, samples, claim = seen.event(), seen.hits.samples, suite.claim
    halved = faulty.event(0.5)
    assert math.log(event.present / event.absent) == pytest.approx(claim, rel=0.01)
    assert probability_of_bound_above(event, samples, claim) < 1e-6
    shown = 1 - probability_of_bound_above(event, samples, LEAST * claim) < 1e-6
    assert shown or suite.name in BLIND
    assert 1 - probability_of_bound_above(halved, faulty.hits.samples, claim) < 1e-6


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_release_tells_coins_no_better_than_its_charge_allows(strategy, report):
    right, coins = canaries.play(strategy)
    p_value = game_p_value(right, coins, canaries.BUDGET)
    report(f"canaries, {strategy}: {right} of {coins} right, p {p_value:.3g}")
    assert p_value > VERDICT_ALPHA


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_coins_are_told_where_a_release_has_no_noise(strategy):
    right, coins = canaries.play(strategy, ZeroVectorSampler())
    assert game_p_value(right, coins, canaries.BUDGET) < VERDICT_ALPHA


def test_half_the_noise_tells_coins(report):
    right, coins = canaries.play("cells", ScaledVectorSampler("1/2"))
    p_value = game_p_value(right, coins, canaries.BUDGET)
    report(f"canaries, cells, noise x 0.5: {right} of {coins}, p {p_value:.3g}")
    assert p_value < VERDICT_ALPHA
