"""Counts and grouped counts over HTTP: the loss is what was charged, and no less.

At most the charge, and at least 0.7 of it, by a bound that is wrong with probability
1e-6. The numbers of samples make every verdict here wrong less than once in a million
runs, which the first test computes.
"""

import pytest

from tests.audit.bounds import (
    REPORT_ALPHA,
    VERDICT_ALPHA,
    chance_of_bound_above,
    noise_p_value,
)
from tests.audit.suites import SINGLE_SUITES, VECTOR_SUITES
from tests.samplers import ScaledSampler

pytestmark = [pytest.mark.slow, pytest.mark.statistical]
SINGLE_SAMPLES = 600  # too few for 0.7: too much noise is found by its distribution
VECTOR_SAMPLES = 15_000
FAULTY_SAMPLES = 5_000
LEAST = 0.7
NAMED = {"ids": lambda suite: suite.name.replace(" ", "-")}


def samples_of(suite, wanted):
    return suite.answers_for(wanted) * suite.blocks


@pytest.fixture(scope="module")
def urls(arms, exact):
    with arms.served() as urls:
        yield urls


@pytest.mark.parametrize("suite", VECTOR_SUITES, **NAMED)
def test_verdicts_are_wrong_less_than_once_in_a_million_runs(suite):
    many, few = (samples_of(suite, n) for n in (VECTOR_SAMPLES, FAULTY_SAMPLES))

    assert chance_of_bound_above(suite.event(), many, 1.0) < 1e-6
    assert 1 - chance_of_bound_above(suite.event(), many, LEAST) < 1e-6
    assert 1 - chance_of_bound_above(suite.event(0.5), few, 1.0) < 1e-6
    assert chance_of_bound_above(suite.event(1.5), few, LEAST) < 1e-6


@pytest.mark.parametrize("suite", (*SINGLE_SUITES, *VECTOR_SUITES), **NAMED)
def test_neighbours_differ_by_exactly_the_stated_sensitivity(suite, exact):
    present, absent = exact(suite.name)

    cells = zip(present["rows"], absent["rows"], strict=True)
    distance = sum(abs(one[-1] - other[-1]) for one, other in cells)

    assert present["noise"][0]["l1_sensitivity"] == str(suite.l1)
    assert distance == suite.l1 * suite.blocks  # one patient a block attains it


@pytest.mark.parametrize("suite", SINGLE_SUITES, **NAMED)
def test_one_number_shows_no_more_than_its_charge(suite, arms, urls, exact, report):
    truth = exact(suite.name)
    bodies = arms.ask(urls, suite.question, SINGLE_SAMPLES)
    hits = suite.hits(truth[0], *bodies)
    noise = [z for mark, arm in zip(truth, bodies, strict=True)
             for z in suite.noise(mark, arm)]
    p_value = noise_p_value(noise, suite.l1)

    report(f"{describe(suite, hits)}, noise p = {p_value:.3g}")
    assert hits.lower_bound(VERDICT_ALPHA) <= suite.claim
    assert p_value > VERDICT_ALPHA


@pytest.mark.parametrize("suite", VECTOR_SUITES, **NAMED)
def test_groups_show_what_was_charged(suite, arms, urls, exact, report):
    bodies = arms.ask(urls, suite.question, suite.answers_for(VECTOR_SAMPLES))
    hits = suite.hits(exact(suite.name)[0], *bodies)

    report(describe(suite, hits))
    assert LEAST * suite.claim <= hits.lower_bound(VERDICT_ALPHA) <= suite.claim


@pytest.mark.parametrize("suite", VECTOR_SUITES, **NAMED)
@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_noise_of_a_wrong_scale_is_caught(suite, factor, arms, exact, report):
    with arms.served(lambda: ScaledSampler(factor)) as urls:
        bodies = arms.ask(urls, suite.question, suite.answers_for(FAULTY_SAMPLES))
    hits = suite.hits(exact(suite.name)[0], *bodies)
    bound = hits.lower_bound(VERDICT_ALPHA)

    report(f"{describe(suite, hits)}, noise x {factor}: must fail")
    assert bound > suite.claim if factor < 1 else bound < LEAST * suite.claim


def describe(suite, hits):
    return (
        f"{suite.name}: charge {suite.epsilon}, claim {suite.claim:g}, "
        f"{hits.samples} an arm, LB99.9 {hits.lower_bound(REPORT_ALPHA):.3f}, "
        f"LB at 1 - 1e-6 {hits.lower_bound(VERDICT_ALPHA):.3f}"
    )
