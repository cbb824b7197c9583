"""The audits' own controls: faults that they must catch, and how often they err."""

import pytest

from tests.audit.instruments.bounds import (
    NOISE_ALPHA,
    VERDICT_ALPHA,
    noise_p_value,
    probability_of_bound_above,
    probability_that_noise_passes,
)
from tests.audit.subjects.suites import (
    LEAST,
    SINGLE_SAMPLES,
    SINGLE_SUITES,
    VECTOR_SAMPLES,
    VECTOR_SUITES,
    describe,
)
from tests.effort import gate_first
from tests.support.noise.samplers import ScaledSampler

pytestmark = [pytest.mark.slow, pytest.mark.statistical, pytest.mark.thorough]
FAULTY_SAMPLES = 5_000
FAULTY_SINGLES = 200  # an arm
NAMED = {"ids": lambda value: getattr(value, "name", str(value)).replace(" ", "-")}


@pytest.fixture(scope="module", params=gate_first(1, [0.5, 1.5]))
def faulty(request, arms, exact):
    """Serve with noise of the wrong scale."""
    with arms.served(lambda: ScaledSampler(request.param)) as urls:
        yield request.param, urls


@pytest.mark.parametrize("suite", VECTOR_SUITES, **NAMED)
def test_verdicts_are_wrong_less_than_once_in_a_million_runs(suite):
    many, few = map(suite.samples_for, (VECTOR_SAMPLES, FAULTY_SAMPLES))

    assert probability_of_bound_above(suite.event(), many, 1.0) < 1e-6
    assert 1 - probability_of_bound_above(suite.event(), many, LEAST) < 1e-6
    assert 1 - probability_of_bound_above(suite.event(0.5), few, 1.0) < 1e-6
    assert probability_of_bound_above(suite.event(1.5), few, LEAST) < 1e-6


@pytest.mark.parametrize("suite", VECTOR_SUITES, **NAMED)
def test_grouped_noise_of_a_wrong_scale_is_caught(suite, faulty, arms, exact, report):
    factor, urls = faulty
    bodies = arms.ask(urls, suite.question, suite.answers_for(FAULTY_SAMPLES))
    hits = suite.hits(exact(suite.name)[0], *bodies)
    bound = hits.lower_bound(VERDICT_ALPHA)

    report(f"{describe(suite, hits)}, noise x {factor}: must fail")
    assert bound > suite.claim if factor < 1 else bound < LEAST * suite.claim


@pytest.mark.parametrize("faulty", [0.5], indirect=True)
def test_halved_noise_on_one_number_is_caught(faulty, arms, exact, report):
    suite = SINGLE_SUITES[1]
    bodies = arms.ask(faulty[1], suite.question, FAULTY_SINGLES)
    p_value = noise_p_value(suite.noise_of_arms(exact(suite.name), bodies), suite.l1)

    report(f"{suite.name}: noise p = {p_value:.3g}, noise x 0.5: must fail")
    assert p_value < NOISE_ALPHA


@pytest.mark.parametrize("suite", SINGLE_SUITES, **NAMED)
def test_the_shape_of_the_noise_on_one_number_tells_its_scale(suite):
    few, many = 2 * FAULTY_SINGLES, 2 * SINGLE_SAMPLES

    assert probability_that_noise_passes(few, suite.l1, 0.5, NOISE_ALPHA) < 1e-6
    assert probability_that_noise_passes(many, suite.l1, 0.5, NOISE_ALPHA) < 1e-6
    assert probability_that_noise_passes(many, suite.l1, 1.5, NOISE_ALPHA) < 1e-6
