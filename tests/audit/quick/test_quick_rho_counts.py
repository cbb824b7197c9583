"""Grouped counts of a population that counts rho, over HTTP: as much as was charged.

At most the charge, and at least 0.7 of it, by a bound that is wrong with probability
1e-6; half the noise shows more than the charge.
"""

import pytest

from tests.audit.instruments.arms import make_arms
from tests.audit.instruments.bounds import VERDICT_ALPHA
from tests.audit.instruments.concentrated import least_bound, rho_lower_bound
from tests.audit.subjects.rho_suites import (
    CONTROL_SAMPLES,
    RHO_SUITES,
    RHO_TABLES,
    SAMPLES,
)
from tests.audit.subjects.suites import LEAST
from tests.support.noise.samplers import ScaledSampler, ZeroSampler

pytestmark = [pytest.mark.slow, pytest.mark.statistical, pytest.mark.thorough]
NAMED = {"ids": lambda suite: suite.name.replace(" ", "-")}


@pytest.fixture(scope="module")
def arms(tmp_path_factory):
    return make_arms(tmp_path_factory.mktemp("rho"), RHO_TABLES)


@pytest.fixture(scope="module")
def exact(arms):
    with arms.served(ZeroSampler) as urls:
        return {
            suite.name: [bodies[0] for bodies in arms.ask(urls, suite.question, 1)]
            for suite in RHO_SUITES
        }


@pytest.mark.parametrize("suite", RHO_SUITES, **NAMED)
def test_neighbours_attain_the_squared_distance_that_is_charged_for(suite, exact):
    present, absent = exact[suite.name]
    moved = suite.blocks_of(present) - suite.blocks_of(absent)
    assert {tuple(block) for block in moved.tolist()} == {suite.moves}
    scale = float(present["noise"][0]["scale"])
    squared = sum(move**2 for move in suite.moves)
    assert squared / (2 * scale**2) == pytest.approx(suite.claim, rel=1e-5)


@pytest.mark.parametrize("suite", RHO_SUITES, **NAMED)
def test_groups_show_the_rho_that_was_charged(suite, arms, exact, report):
    with arms.served() as urls:
        bodies = arms.ask(urls, suite.question, suite.answers_for(SAMPLES))
    statistics = suite.statistics(exact[suite.name][1], bodies)
    bound = rho_lower_bound(*statistics, VERDICT_ALPHA)

    report(f"{suite.name}: {len(statistics[0]):,} an arm: rho {bound:.3f} of 0.5")
    assert LEAST * suite.claim <= bound <= suite.claim


@pytest.mark.parametrize("suite", RHO_SUITES, **NAMED)
def test_half_the_noise_shows_more(suite, arms, exact, report):
    with arms.served(lambda: ScaledSampler(0.5)) as urls:
        bodies = arms.ask(urls, suite.question, suite.answers_for(CONTROL_SAMPLES))
    statistics = suite.statistics(exact[suite.name][1], bodies)
    bound = rho_lower_bound(*statistics, VERDICT_ALPHA)

    report(f"{suite.name}, noise x 0.5: rho {bound:.3f}: must fail")
    assert bound > suite.claim


@pytest.mark.parametrize("suite", RHO_SUITES, **NAMED)
def test_verdicts_are_wrong_less_than_once_in_a_million_runs(suite):
    samples = suite.samples_for(SAMPLES)
    lowest = least_bound(suite.claim, samples, VERDICT_ALPHA)
    assert lowest >= LEAST * suite.claim
