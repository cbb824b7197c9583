"""L1: nobody overdraws, however many ask at once."""

import pytest

from tests.crash.instruments.books import problems
from tests.crash.instruments.races import run_races
from tests.effort import rounds

pytestmark = pytest.mark.thorough
ROUNDS = rounds(30, 6)  # by turns one of three scopes


def test_of_64_clients_exactly_one_gets_the_last_epsilon(nursery, installation, key):
    races = list(run_races(nursery, installation, key, ROUNDS))
    assert [race for race in races if not race.is_right] == []
    assert len(races) == ROUNDS
    assert problems(installation) == []
