"""L3: charges survive the death of the process."""

import pytest

from tests.crash.instruments.books import problems, spent
from tests.crash.instruments.kills import SCOPES, run_kills, total_charged
from tests.effort import IS_LONG, rounds

pytestmark = pytest.mark.thorough
KILLS = rounds(20)


def test_every_answer_seen_before_a_kill_was_charged_and_is_replayed(
    nursery, installation, key
):
    findings = run_kills(nursery, installation, key, kills=KILLS)
    assert findings.wrong == []
    assert findings.kills == KILLS
    assert problems(installation) == []
    for scope in SCOPES:
        assert spent(installation, scope) == total_charged(installation)
    assert findings.seen + len(findings.unseen) == KILLS * 8
    if IS_LONG:  # the points really lie inside the latency range
        assert 0 < findings.seen < KILLS * 8
