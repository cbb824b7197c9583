"""L3: charges survive the death of the process."""

import pytest

from tests.crash.books import problems, spent
from tests.crash.kills import SCOPES, run_kills, total_charged

pytestmark = pytest.mark.thorough


def test_every_answer_seen_before_a_kill_was_charged_and_is_replayed(
    nursery, installation, key
):
    tally = run_kills(nursery, installation, key, kills=20)
    assert tally.wrong == []
    assert tally.kills == 20
    assert problems(installation) == []
    for scope in SCOPES:
        assert spent(installation, scope) == total_charged(installation)
    assert 0 < tally.seen < 20 * 8  # the points really lie inside the latency range
