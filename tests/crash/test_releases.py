"""A release survives the death of its worker anywhere: charged once, never partial."""

import threading
import time

import pytest

import server.use_cases.publishing.job as at_work
from server.bootstrap import make_runner
from tests.crash.instruments.job_kills import run_job_cancels, run_job_kills
from tests.crash.instruments.release_submitter import ReleaseSubmitter
from tests.effort import in_the_audits, rounds
from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.publishing import Press, paths, spec

pytestmark = pytest.mark.thorough

LEASE_MS = 200


@pytest.fixture(params=["sqlite", "postgresql"])
def installation(request, tmp_path):
    shared = request.param == "postgresql"
    url = request.getfixturevalue("empty_database") if shared else ""
    made = ImportingInstallation(tmp_path, url=url).create()
    made.load()
    return made


@pytest.mark.slow
def test_a_worker_killed_anywhere_leaves_a_release_that_is_published_once(
    nursery, installation
):
    kills = rounds(8)
    findings = run_job_kills(
        nursery, installation, kills, submitter_type=ReleaseSubmitter
    )
    assert findings.wrong == []
    assert findings.states == {"done": kills}


@pytest.mark.slow
def test_a_release_cancelled_anywhere_is_published_or_failed(nursery, installation):
    cancels = rounds(4, 2)
    findings = run_job_cancels(
        nursery, installation, cancels, submitter_type=ReleaseSubmitter
    )
    assert findings.wrong == []
    assert sum(findings.states.values()) == cancels


class KilledError(BaseException):
    """Ends an attempt where it stands; nothing catches it, as with a kill."""


def before(work):
    def killed(*_, **__):
        raise KilledError

    return killed


def after(work):
    def killed(*arguments, **more):
        work(*arguments, **more)
        raise KilledError

    return killed


POINTS = {
    "before the charge": ("ledger", "charge_work", before),
    "after the charge": ("ledger", "charge_work", after),
    "before the count": ("engine", "count", before),
    "after the count": ("engine", "count", after),
    "before the files": (None, "write_release", before),
    "after the files": (None, "write_release", after),
    "after the folder's name": ("folders", "settle", after),
    "before the entry": ("ledger", "store_work", before),
    "after the entry": ("ledger", "store_work", after),
}


KINDS = {"cube": (spec, "count_cube"), "sequences": (paths, "count_sequences")}


@pytest.fixture
def quick(tmp_path):
    made = ImportingInstallation(tmp_path).create()
    made.load()
    return made


def attempt(press, job, monkeypatch, point, kind="cube"):
    """Work on a job in a process of its own, as it were, which ends at a point."""
    where, name, when = POINTS[point]
    name = KINDS[kind][1] if where == "engine" else name
    with press.services() as services, monkeypatch.context() as patch:
        target = {
            None: at_work,
            "folders": at_work.ReleaseFolders,
            "ledger": services.ledger,
            "engine": services.engine,
        }[where]
        patch.setattr(target, name, when(getattr(target, name)))
        runner = make_runner(
            services, threading.Event(), lease_ms=LEASE_MS, beat_seconds=0.05
        )
        with pytest.raises(KilledError):
            runner.run_one(job)
    time.sleep(LEASE_MS / 1000 + 0.1)  # its lease runs out


ENDS = [
    (point, kind) if (place + number) % 2 == 0 else in_the_audits((point, kind))
    for place, point in enumerate(POINTS)
    for number, kind in enumerate(KINDS)
]
"""Every point; the gate has one kind of release at each, the audits both."""


@pytest.mark.parametrize(("point", "kind"), ENDS)
def test_killed_at_a_point_it_is_charged_once_and_published_whole(
    quick, monkeypatch, point, kind
):
    press, submitter = Press(quick), ReleaseSubmitter(None, quick)
    job = submitter.submit(KINDS[kind][0])
    attempt(press, job, monkeypatch, point, kind)
    before_it = [path.name for path in press.folders()]
    assert press.run(job)["state"] == "done"
    assert submitter.problems([job]) == []
    if point == "after the entry":  # what was published stays as it was drawn
        assert [path.name for path in press.folders()] == before_it


def test_work_is_begun_three_times_at_most_however_it_ends(quick, monkeypatch):
    press, submitter = Press(quick), ReleaseSubmitter(None, quick)
    job = submitter.submit()
    for _ in range(3):
        attempt(press, job, monkeypatch, "after the count")
    assert press.run(job)["state"] == "failed"
    assert submitter.states() == {at_work.release_id_of(job): ("failed", None)}
    assert submitter.file_problems() == []
    with press.services() as services:
        record = services.ledger.query(job)
    assert (record.state, str(record.loss)) == ("failed", "0.5")
