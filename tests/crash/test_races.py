"""L1: nobody overdraws, however many ask at once."""

import pytest

from tests.crash.books import problems
from tests.crash.races import run_races

pytestmark = pytest.mark.thorough


def test_of_64_clients_exactly_one_gets_the_last_epsilon(nursery, installation, key):
    races = list(run_races(nursery, installation, key, rounds=30))
    assert [race for race in races if not race.is_right] == []
    assert len(races) == 30
    assert problems(installation) == []
