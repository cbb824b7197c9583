"""Counts and grouped counts over HTTP: the loss is what was charged, and no less.

At most the charge, and at least 0.7 of it, by a bound that is wrong with probability
1e-6. The numbers of samples make every verdict here wrong less than once in a million
runs, which test_quick_controls.py computes.
"""

import pytest

from tests.audit.instruments.bounds import NOISE_ALPHA, VERDICT_ALPHA, noise_p_value
from tests.audit.subjects.suites import (
    LEAST,
    SINGLE_SAMPLES,
    SINGLE_SUITES,
    VECTOR_SAMPLES,
    VECTOR_SUITES,
    describe,
)
from tests.effort import gate_first

pytestmark = [pytest.mark.slow, pytest.mark.statistical]
NAMED = {"ids": lambda suite: suite.name.replace(" ", "-")}


@pytest.fixture(scope="module")
def urls(arms, exact):
    with arms.served() as urls:
        yield urls


@pytest.mark.sampled
@pytest.mark.parametrize("suite", [*SINGLE_SUITES, *VECTOR_SUITES], **NAMED)
def test_neighbours_differ_by_exactly_the_stated_sensitivity(suite, exact):
    present, absent = exact(suite.name)

    cells = zip(present["rows"], absent["rows"], strict=True)
    distance = sum(abs(one[-1] - other[-1]) for one, other in cells)

    assert present["noise"][0]["l1_sensitivity"] == str(suite.l1)
    assert distance == suite.l1 * suite.blocks  # one patient a block attains it


@pytest.mark.parametrize("suite", gate_first(1, SINGLE_SUITES[::-1]), **NAMED)
def test_one_number_shows_no_more_than_its_charge(suite, arms, urls, exact, report):
    truth = exact(suite.name)
    bodies = arms.ask(urls, suite.question, SINGLE_SAMPLES)
    hits = suite.hits(truth[0], *bodies)
    p_value = noise_p_value(suite.noise_of_arms(truth, bodies), suite.l1)

    report(f"{describe(suite, hits)}, noise p = {p_value:.3g}")
    assert hits.lower_bound(VERDICT_ALPHA) <= suite.claim
    assert p_value > NOISE_ALPHA


@pytest.mark.parametrize("suite", VECTOR_SUITES, **NAMED)
def test_groups_show_what_was_charged(suite, arms, urls, exact, report):
    bodies = arms.ask(urls, suite.question, suite.answers_for(VECTOR_SAMPLES))
    hits = suite.hits(exact(suite.name)[0], *bodies)

    report(describe(suite, hits))
    assert LEAST * suite.claim <= hits.lower_bound(VERDICT_ALPHA) <= suite.claim
