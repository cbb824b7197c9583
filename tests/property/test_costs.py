"""Costly plans on two neighbouring snapshots: the same end, within a small memory."""

import random
import time

import pytest

from tests.property.costly_plans import CHOSEN, TEXTS, arms, costly, run

GATE_PLANS, TEXT_PLANS, CHOSEN_PLANS = 40, 20, 30
TRIES = 4  # of a plan that took too long: a busy machine slows one, not all
SLOWNESS = 8  # of this machine: what a cost leaves out multiplies by hundreds
MOST_SECONDS = 20.0  # of a processor, for some milliseconds of work


@pytest.fixture(scope="module")
def both():
    found = arms()
    yield found
    for connection in found:
        connection.close()


def tried(both, seed, kind=costly):
    """Return what became of one random plan: refused, or answered on both sides."""
    made = kind(random.Random(seed)).compiled()
    if made is None:
        return "refused"
    cost, statements = made
    told = SLOWNESS * len(both) * cost.steps / 1e9
    most, took = min(MOST_SECONDS, told), []
    while not took or (took[-1] >= most and len(took) < TRIES):
        start = time.process_time()
        ends = [run(connection, statements, cost) for connection in both]
        took.append(time.process_time() - start)
        assert ends == ["answered", "answered"], (seed, cost)
    assert min(took) < most, (seed, cost)
    return "answered"


def test_an_accepted_plan_is_answered_with_and_without_a_unit_at_every_cap(both):
    found = [tried(both, seed) for seed in range(GATE_PLANS)]
    assert found.count("answered") >= GATE_PLANS // 4
    assert found.count("refused") >= GATE_PLANS // 8


def test_constants_that_collide_take_no_longer_than_was_told(both):
    found = [tried(both, seed, CHOSEN) for seed in range(CHOSEN_PLANS)]
    assert found.count("answered") >= CHOSEN_PLANS // 2


@pytest.mark.sampled
@pytest.mark.parametrize("kind", TEXTS)
def test_long_texts_in_every_place_fit_the_least_memory_that_accepts_them(both, kind):
    """Orders, keys of joins and groups, with up to 16 computed texts in each."""
    found = [tried(both, seed, kind) for seed in range(TEXT_PLANS)]
    assert found.count("answered") >= TEXT_PLANS // 2
