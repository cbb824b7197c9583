"""n-gram releases: a path's loss is what was charged, and its shape tells no more."""

import math

import numpy as np
import pytest

from tests.audit.instruments.bounds import (
    REPORT_ALPHA,
    VERDICT_ALPHA,
    lower_bounds,
    probability_of_bound_above,
)
from tests.audit.subjects.ngrams import EPSILON, PathAudit, shapes
from tests.audit.subjects.suites import LEAST
from tests.effort import gate_first, rounds

pytestmark = [pytest.mark.slow, pytest.mark.statistical]

WHOLE = PathAudit(order=2, watched=(1, 2))
LEVELS = (
    PathAudit(order=2, watched=(1,), samples=15_000),
    PathAudit(order=2, watched=(2,), samples=15_000),
)
SHAPES = rounds(800, 500)  # 400 could not show more than the charge


@pytest.fixture(
    scope="module", params=gate_first(1, [WHOLE, *LEVELS]), ids=["path", "1", "2"]
)
def audit(request):
    own = request.param
    hits, scales = own.run(own.samples)
    return own, hits, scales


def test_a_path_shows_what_it_was_charged(audit, report):
    own, hits, _ = audit
    report(
        f"ngram, grams of {own.watched}: claim {own.claim:.3g}, "
        f"LB99.9 {hits.lower_bound(REPORT_ALPHA):.3f}"
    )
    assert hits.lower_bound(VERDICT_ALPHA) <= own.claim
    assert hits.lower_bound(VERDICT_ALPHA) >= LEAST * own.claim


def test_half_the_noise_of_a_path_is_caught(report):
    hits, scales = WHOLE.run(WHOLE.faulty, factor="1/2")
    bound = hits.lower_bound(VERDICT_ALPHA)
    report(f"ngram, noise x 0.5: LB {bound:.3f}, must fail")
    assert bound > WHOLE.claim
    halved = WHOLE.event(scales, 0.5)
    assert 1 - probability_of_bound_above(halved, WHOLE.faulty, WHOLE.claim) < 1e-6


def test_verdicts_on_paths_are_wrong_less_than_once_in_a_million_runs(audit):
    own, hits, scales = audit
    event = own.event(scales)
    assert math.log(event.present / event.absent) == pytest.approx(own.claim, rel=0.01)
    assert probability_of_bound_above(event, hits.samples, own.claim) < 1e-6
    assert 1 - probability_of_bound_above(event, hits.samples, LEAST * own.claim) < 1e-6


@pytest.mark.long
def test_the_shape_of_a_release_tells_no_more_than_was_charged(report):
    seen = [shapes(SHAPES, present=present) for present in (True, False)]
    bounds = lower_bounds(*seen, SHAPES, VERDICT_ALPHA / len(seen[0]))
    report(f"ngram, shape: claim {EPSILON}, LB {np.max(bounds):.3f}")
    assert np.max(bounds) <= float(EPSILON)


@pytest.mark.long
def test_the_shape_without_noise_gives_the_unit_away():
    seen = [shapes(SHAPES, present=present, factor="1/20") for present in (True, False)]
    bounds = lower_bounds(*seen, SHAPES, VERDICT_ALPHA / len(seen[0]))
    assert np.max(bounds) > float(EPSILON)
