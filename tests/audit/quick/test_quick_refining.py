"""Laplace noise that is refined: both answers show the epsilon of the finer one.

The bare mechanism, on many cells at once: each has a patient of its own in one arm. The
statistic is the likelihood ratio of both answers together, which by
docs/proofs/refining.md is that of the finer one; the coarser one alone and the two as
if they were independent are looked at, too.
"""

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.measuring.events import measure_event
from mechanisms.measuring.refined_laplace import Shown, refine_event
from mechanisms.samplers.queries import QuerySampler
from mechanisms.scales.pricing import price
from privacy.charges import Charge
from privacy.events import VectorSensitivity
from privacy.losses import Loss
from privacy.sealed import Exact
from tests.audit.instruments.bounds import VERDICT_ALPHA, lower_bounds
from tests.support.noise.samplers import ScaledSampler

pytestmark = [pytest.mark.slow, pytest.mark.statistical]

ONE = VectorSensitivity(Fraction(1), Fraction(1), Fraction(1))
FIRST, WHOLE = Loss.parse("0.5"), Loss.parse("1")
CELLS = 25_000
"""An arm: each bound stays above its limit by more than twice its own error."""
LEAST = 0.7


def event(loss):
    return price([ONE], [Fraction(1)], loss)


def answers(move, sampler):
    """Return both noisy numbers of each cell."""
    sealed = [Exact((move,) * CELLS)]
    first = measure_event(sealed, event(FIRST), Charge("q_one", FIRST), sampler)
    shown, rest = Shown(event(FIRST), first), WHOLE.minus_floor_zero(FIRST)
    second = refine_event(sealed, shown, event(WHOLE), Charge("q_two", rest), sampler)
    return np.array(first[0]), np.array(second[0])


def bound(arms, happens):
    """Return a lower bound of epsilon by one event, present against absent."""
    counted = [int(happens(*arm).sum()) for arm in arms]
    return float(lower_bounds(*counted, CELLS, VERDICT_ALPHA))


@pytest.fixture(scope="module")
def arms():
    """Return the answers of the cells with their patients, and without."""
    return [answers(move, QuerySampler()) for move in (1, 0)]


EVENTS = {
    "the finer one": lambda _, second: second >= 1,
    "both": lambda first, second: (first >= 1) & (second >= 1),
    "the coarser one": lambda first, _: first >= 1,
    "both alike": lambda first, second: (first == 1) & (second == 1),
    "their sum": lambda first, second: first + 3 * second >= 4,
    "their difference": lambda first, second: second - first >= 1,
}


@pytest.mark.parametrize("name", EVENTS)
def test_both_answers_show_the_epsilon_of_the_finer_one_and_no_less(name, arms, report):
    found = bound(arms, EVENTS[name])

    report(f"{name}: {CELLS:,} cells: epsilon {found:.3f} of 1")
    assert found <= float(WHOLE.epsilon)
    if name in {"the finer one", "both"}:
        assert found >= LEAST * float(WHOLE.epsilon)


def test_half_the_noise_in_both_answers_is_caught(report):
    halved = [answers(move, ScaledSampler(0.5)) for move in (1, 0)]
    found = bound(halved, EVENTS["the finer one"])

    report(f"the finer one, noise x 0.5: epsilon {found:.3f}: must fail")
    assert found > float(WHOLE.epsilon)


def test_noise_that_is_gone_on_from_twice_is_caught(report):
    """Two finer draws given one coarser one: why the ledger holds that it is once."""

    def thrice(move):
        sealed, sampler = [Exact((move,) * CELLS)], QuerySampler()
        first = measure_event(sealed, event(FIRST), Charge("q_one", FIRST), sampler)
        rest = Charge("q_two", WHOLE.minus_floor_zero(FIRST))
        shown = Shown(event(FIRST), first)
        drawn = [
            np.array(refine_event(sealed, shown, event(WHOLE), rest, sampler)[0])
            for _ in range(2)
        ]
        below = np.array(first[0]) <= 0
        return int((below & (drawn[0] >= 1) & (drawn[1] >= 1)).sum())

    charged = Loss(2 * WHOLE.nano_epsilon).minus_floor_zero(FIRST)  # 0.5 three times
    found = float(lower_bounds(thrice(1), thrice(0), CELLS, VERDICT_ALPHA))
    report(f"two finer ones: epsilon {found:.3f} where {charged} would be charged")
    assert found > float(charged.epsilon)
