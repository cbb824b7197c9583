"""L16: a release of any strategy is charged once and seen whole, or not at all.

Killed at each point for ``cells`` in tests/crash/test_releases.py; here every other
strategy is, once its noise is drawn, with a reader at the door.
"""

import pytest

from release.cubes.strategies.registry import STRATEGIES
from release.store.opening import problems_in
from server.use_cases.publishing.job import release_id_of
from tests.crash.instruments.release_submitter import ReleaseSubmitter
from tests.crash.test_releases import attempt
from tests.effort import gate_sample
from tests.support.installations.harness import (
    ImportingInstallation,
    client,
    serve_in_thread,
)
from tests.support.installations.publishing import Press

pytestmark = pytest.mark.thorough

KILLED = ("after the count", "after the files", "after the folder's name")
LATE = "after the entry"
LINE = {"pthb"}
OTHERS = sorted(set(STRATEGIES) - {"cells"})


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    made = ImportingInstallation(tmp_path_factory.mktemp("killed")).create()
    made.load()
    key = made.analyst()
    with serve_in_thread(made) as url, client(url, key) as http:
        yield made, http


def seen(http, release):
    """Return what a reader gets of a release, and the same of one that never was."""
    absent = "rel_" + "0" * 24
    return [
        [
            (reply.status_code, reply.content)
            for path in ("", "/download")
            for reply in [http.get(f"/v1/releases/{name}{path}")]
        ]
        for name in (release, absent)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", gate_sample(4, OTHERS))
def test_killed_with_its_noise_drawn_a_release_is_charged_once_and_seen_whole(
    house, monkeypatch, strategy
):
    made, http = house
    press, submitter = Press(made), ReleaseSubmitter(None, made)
    place = sorted(STRATEGIES).index(strategy)
    job = submitter.submit(
        strategy=strategy,
        epsilon="2",
        readers=[{"project": "study"}],
        **({"dimensions": [{"column": "age"}]} if strategy in LINE else {}),
    )
    release = release_id_of(job)
    attempt(press, job, monkeypatch, KILLED[place % len(KILLED)])
    own, absent = seen(http, release)
    assert own == absent
    attempt(press, job, monkeypatch, LATE)
    own, _ = seen(http, release)
    assert [status for status, _ in own] == [200, 200]
    assert press.run(job)["state"] == "done"
    (folder,) = (path for path in press.folders() if path.name.startswith(release))
    assert seen(http, release)[0] == own  # what was published stays as it was drawn
    assert problems_in(folder) == []
    assert submitter.problems([job]) == []
