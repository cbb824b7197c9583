"""A patient with 100,000 rows, there or not: neither numbers nor times may tell."""

import time

import pytest

from tests.audit.instruments.arms import Question, make_arms
from tests.audit.instruments.bounds import (
    NOISE_ALPHA,
    REPORT_ALPHA,
    VERDICT_ALPHA,
    noise_p_value,
)
from tests.audit.instruments.timing import (
    HEAVY_PERMITS,
    HEAVY_QUESTION,
    HEAVY_SLOT_MS,
    area,
    threshold_bound,
    time_arms,
)
from tests.audit.subjects.suites import (
    AGES,
    HEAVY,
    HEAVY_ROWS,
    HEAVY_SUITE,
    UNITS,
    describe,
)
from tests.effort import IS_LONG
from tests.support.noise.samplers import ZeroSampler

pytestmark = [pytest.mark.slow, pytest.mark.statistical, pytest.mark.thorough]
SAMPLES = 80
TIMED, REACH = (100, 0.205) if IS_LONG else (40, 0.32)
"""How many an arm; an area farther from a half comes by chance once in a million."""
TIMED_CONTROL = 15
SLEEP_SECONDS = 0.25


@pytest.fixture(scope="module")
def heavy(tmp_path_factory):
    return make_arms(tmp_path_factory.mktemp("heavy"), [HEAVY], HEAVY_PERMITS)


@pytest.fixture(scope="module")
def timed(heavy):
    with heavy.served(slot_ms=HEAVY_SLOT_MS) as urls:
        return time_arms(heavy, urls, HEAVY_QUESTION, TIMED)


@pytest.fixture(scope="module")
def exact(heavy):
    """Return exact answers of both arms, to three questions."""
    grouped = f"SELECT age, {UNITS} FROM visits GROUP BY age"
    rows_by_age = "SELECT age, COUNT(*) FROM visits GROUP BY age"
    questions = [
        HEAVY_SUITE.question,
        Question(HEAVY.dataset, grouped),
        Question(HEAVY.dataset, rows_by_age),
    ]
    with heavy.served(ZeroSampler) as urls:
        return [
            [bodies[0] for bodies in heavy.ask(urls, question, 1)]
            for question in questions
        ]


@pytest.mark.long
def test_the_time_of_a_reply_does_not_tell_of_a_heavy_patient(timed, report):
    found = area(timed)
    bound = threshold_bound(timed, REPORT_ALPHA)

    report(
        f"A3: {TIMED} an arm, slot {HEAVY_SLOT_MS} ms, area {found:.3f}, "
        f"LB99.9 of the best threshold {bound:.3f}"
    )
    assert abs(found - 0.5) <= REACH


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("position", "l1"), [(0, HEAVY_ROWS), (1, AGES), (2, HEAVY_ROWS)]
)
def test_a_heavy_patient_attains_the_stated_sensitivity(exact, position, l1):
    present, absent = exact[position]

    cells = zip(present["rows"], absent["rows"], strict=True)
    distance = sum(abs(one[-1] - other[-1]) for one, other in cells)

    assert present["noise"][0]["l1_sensitivity"] == str(l1)
    assert distance == l1


def test_a_heavy_patient_shows_no_more_than_the_charge(heavy, exact, report):
    with heavy.served() as urls:
        bodies = heavy.ask(urls, HEAVY_SUITE.question, SAMPLES)
    hits = HEAVY_SUITE.hits(exact[0][0], *bodies)
    p_value = noise_p_value(HEAVY_SUITE.noise_of_arms(exact[0], bodies), HEAVY_ROWS)

    report(f"{describe(HEAVY_SUITE, hits)}, noise p = {p_value:.3g}")
    assert hits.lower_bound(VERDICT_ALPHA) <= HEAVY_SUITE.claim
    assert p_value > NOISE_ALPHA


class SleepySampler(ZeroSampler):
    """Takes its time where there are many rows: a fault that A3 must catch."""

    def discrete_laplace(self, values, scale):
        if sum(values) > HEAVY_ROWS / 2:
            time.sleep(SLEEP_SECONDS)
        return super().discrete_laplace(values, scale)


@pytest.mark.long
def test_a_server_that_tells_by_its_time_is_caught(heavy, exact, report):
    with heavy.served(SleepySampler) as urls:
        times = time_arms(heavy, urls, HEAVY_SUITE.question, TIMED_CONTROL)
    found = area(times)

    report(f"A3: {TIMED_CONTROL} an arm, a slow sampler, area {found:.3f}: must fail")
    assert abs(found - 0.5) > REACH
