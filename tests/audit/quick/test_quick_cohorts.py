"""Joins, roll-ups, windows, EXISTS, sums, averages, quantiles and a heavy patient (B8).

First, without a server: neighbours differ by exactly what is stated. Then over HTTP:
the loss of each is at most the charge, and at least 0.7 of it. Half the noise must be
caught: test_quick_cohort_controls.py.
"""

import pytest

from tests.audit.instruments.bounds import (
    NOISE_ALPHA,
    VERDICT_ALPHA,
    noise_p_value,
    probability_of_bound_above,
)
from tests.audit.instruments.snapshots import both_arms, distances, exact
from tests.audit.subjects.cohorts import (
    CELLS,
    FAULTY_SAMPLES,
    FULL,
    HEAVY,
    HEAVY_JOIN,
    HEAVY_L1,
    HEAVY_UNITS,
    SUITES,
)
from tests.audit.subjects.suites import LEAST, VECTOR_SAMPLES, describe
from tests.effort import gate_first

pytestmark = [pytest.mark.slow, pytest.mark.statistical]
HEAVY_SAMPLES = 80  # an arm
FIRST = "join by cell", "exists by cell", "quantile by cell"
BY_TURNS = sorted(SUITES, key=lambda suite: suite.name not in FIRST)
NAMED = {"ids": lambda suite: suite.name.replace(" ", "-")}


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory):
    """Lend both arms' databases by the cohort's name, as ingested."""
    folder = tmp_path_factory.mktemp("snapshots")
    with (
        both_arms(FULL, folder / "full") as full,
        both_arms(HEAVY, folder / "heavy") as heavy,
    ):
        yield {FULL: full, HEAVY: heavy}


@pytest.fixture(scope="module")
def urls(cohorts):
    with cohorts.served() as urls:
        yield urls


@pytest.mark.sampled
@pytest.mark.parametrize("suite", SUITES, **NAMED)
def test_each_cells_patient_attains_the_stated_sensitivity(suite, snapshots):
    stated, moved = distances(snapshots[FULL], suite.sql)

    assert stated == list(suite.l1)
    assert moved == [CELLS * l1 for l1 in suite.l1]


@pytest.mark.parametrize(
    ("question", "l1"), [(HEAVY_JOIN, HEAVY_L1), (HEAVY_UNITS, CELLS + 1)]
)
def test_a_heavy_patient_of_a_join_attains_the_stated_sensitivity(
    question, l1, snapshots
):
    assert distances(snapshots[HEAVY], question.sql) == ([l1], [l1])


@pytest.mark.parametrize("suite", SUITES, **NAMED)
def test_verdicts_on_cohorts_are_wrong_less_than_once_in_a_million_runs(suite):
    many, few = map(suite.samples_for, (VECTOR_SAMPLES, FAULTY_SAMPLES))
    claim = suite.claim

    assert probability_of_bound_above(suite.event(), many, claim) < 1e-6
    assert 1 - probability_of_bound_above(suite.event(), many, LEAST * claim) < 1e-6
    assert 1 - probability_of_bound_above(suite.event(0.5), few, claim) < 1e-6


@pytest.mark.thorough
@pytest.mark.parametrize("suite", gate_first(len(FIRST), BY_TURNS), **NAMED)
def test_cohorts_show_what_was_charged(suite, cohorts, urls, report):
    bodies = cohorts.ask(urls, suite.question, suite.answers_for(VECTOR_SAMPLES))
    hits = suite.hits(*bodies)

    report(describe(suite, hits))
    assert LEAST * suite.claim <= hits.lower_bound(VERDICT_ALPHA) <= suite.claim


@pytest.mark.thorough
def test_a_heavy_patient_of_a_join_shows_no_more_than_the_charge(
    cohorts, urls, snapshots, report
):
    marks = [vectors[0][0] for vectors in exact(snapshots[HEAVY], HEAVY_JOIN.sql)]
    bodies = cohorts.ask(urls, HEAVY_JOIN, HEAVY_SAMPLES)
    noise = [
        body["rows"][0][-1] - mark
        for mark, arm in zip(marks, bodies, strict=True)
        for body in arm
    ]
    p_value = noise_p_value(noise, HEAVY_L1)

    report(f"join, heavy: {HEAVY_SAMPLES} an arm, noise p = {p_value:.3g}")
    assert p_value > NOISE_ALPHA
