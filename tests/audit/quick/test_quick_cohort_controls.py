"""Half the noise on joins, roll-ups, windows, EXISTS, sums must be caught."""

import pytest

from tests.audit.instruments.bounds import VERDICT_ALPHA
from tests.audit.subjects.cohorts import FAULTY_SAMPLES, SUITES
from tests.audit.subjects.suites import describe
from tests.support.noise.samplers import ScaledSampler

pytestmark = [pytest.mark.slow, pytest.mark.statistical]


@pytest.mark.long
@pytest.mark.thorough
def test_half_the_noise_on_cohorts_is_caught(cohorts, report):
    with cohorts.served(lambda: ScaledSampler(0.5)) as faulty:
        found = {
            suite: suite.hits(
                *cohorts.ask(faulty, suite.question, suite.answers_for(FAULTY_SAMPLES))
            )
            for suite in SUITES
        }
    for suite, hits in found.items():
        report(f"{describe(suite, hits)}, noise x 0.5: must fail")
    bounds = {s.name: hits.lower_bound(VERDICT_ALPHA) for s, hits in found.items()}
    assert [s.name for s in SUITES if bounds[s.name] <= s.claim] == []
