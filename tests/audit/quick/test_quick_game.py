"""The end-to-end game: an attacker with the whole interface and a budget of 1."""

import pytest

from tests.audit.instruments.bounds import VERDICT_ALPHA, game_bound, game_p_value
from tests.audit.instruments.game import play
from tests.effort import rounds
from tests.support.noise.samplers import ZeroSampler

pytestmark = [pytest.mark.slow, pytest.mark.statistical]
BUDGET = 1
ROUNDS = rounds(200)
ROUNDS_WITHOUT_NOISE = 45  # by chance all are right less than once in a million


@pytest.mark.thorough
def test_no_attacker_beats_the_bound_of_its_budget(arms, exact, report):
    with arms.served() as urls:
        right = play(arms, urls, BUDGET, ROUNDS)
    p_value = game_p_value(right, ROUNDS, BUDGET)

    report(
        f"game: budget {BUDGET}, {right} of {ROUNDS} right, "
        f"bound {game_bound(BUDGET):.3f}, p = {p_value:.3g}"
    )
    assert p_value > VERDICT_ALPHA


@pytest.mark.thorough
def test_the_attacker_wins_against_a_server_without_noise(arms, exact, report):
    with arms.served(ZeroSampler) as urls:
        right = play(arms, urls, BUDGET, ROUNDS_WITHOUT_NOISE)
    p_value = game_p_value(right, ROUNDS_WITHOUT_NOISE, BUDGET)

    report(f"game: no noise, {right} of {ROUNDS_WITHOUT_NOISE} right: must fail")
    assert p_value < VERDICT_ALPHA
