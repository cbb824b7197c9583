"""Each population's jobs have a queue of their own: none waits for another's."""

import contextlib
import itertools
import threading
import time

import pytest
from sqlalchemy import select

from budget.ledger import Scope
from budget.storage.tables import charge
from privacy.losses import Loss
from privacy.times import shown_time
from server.bootstrap import make_jobs, make_runner
from server.persistence import tables
from server.persistence.schema import RECORDED_TABLES
from server.processes.job_worker import work_until
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.jobs.kinds import JobContext
from server.use_cases.jobs.queues import JobQueues
from server.use_cases.jobs.store import ENDED
from server.use_cases.loading import loading
from server.use_cases.publishing.job import ReleaseJob
from tests.effort import gate_first
from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.publishing import spec

pytestmark = pytest.mark.long

OPERATOR = Viewer("local:test", None)
OTHERS = [f"{n},F,30,north,2024-01-01,n" for n in range(501, 561)]
WAIT_SECONDS = 60


@pytest.fixture(params=gate_first(1, ["sqlite", "postgresql"]))
def installation(request, tmp_path):
    shared = request.param == "postgresql"
    url = request.getfixturevalue("empty_database") if shared else ""
    made = ImportingInstallation(tmp_path, url=url).create()
    made.load()
    made.load(OTHERS, dataset="ours", population="others")
    return made


def until(look):
    """Return what a look brings, once it brings something."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.02)
    raise TimeoutError


class Hold:
    """Holds loads of ``people`` where they read rows."""

    def __init__(self, ingest):
        self._ingest = ingest
        self._reached, self._ended = threading.Event(), threading.Event()

    def ingest(self, manifest, **more):
        if manifest.population.id == "people":
            self._reached.set()
            self._ended.wait(WAIT_SECONDS)
        return self._ingest(manifest, **more)

    def wait(self):
        assert self._reached.wait(WAIT_SECONDS)

    def end(self):
        self._ended.set()


@pytest.fixture
def hold(monkeypatch):
    made = Hold(loading.ingest)
    monkeypatch.setattr(loading, "ingest", made.ingest)
    yield made
    made.end()


class JobSubmitter:
    """Submits jobs and looks at them."""

    def __init__(self, installation, services):
        self.installation = installation
        self.services = services
        self.service = make_jobs(services)

    def submit(self, *rows, **more):
        path = self.installation.write_manifest(*rows)
        return self.submit_manifest(path, **more)

    def submit_others(self, **more):
        path = self.installation.write_manifest(
            OTHERS, dataset="ours", population="others"
        )
        return self.submit_manifest(path, **more)

    def submit_manifest(self, path, **more):
        told = {"manifest": str(path), **more}
        return self.service.submit(OPERATOR, "dataset.load", told)["id"]

    def submit_release(self, name, **more):
        told = {"release": spec(name, **more)}
        return self.service.submit(OPERATOR, "release.publish", told)["id"]

    def wait(self, job):
        """Return a job once it has ended."""
        return until(
            lambda: (
                (seen := self.service.show(OPERATOR, job))["state"] in ENDED and seen
            )
        )

    def charge(self, job):
        return self.services.ledger.query(job)

    def charged(self, job):
        """Return a release's charge once it is made, and the job waits again."""
        return until(lambda: self.state(job) == "queued" and self.charge(job))

    def state(self, job):
        return self.service.show(OPERATOR, job)["state"]


@contextlib.contextmanager
def working(installation):
    """Have a worker, as ``curator worker`` is one, for the length of a block."""
    stop = threading.Event()
    with installation.services() as services:
        queues = JobQueues(make_runner(services, stop, beat_seconds=0.05))
        worker = threading.Thread(target=work_until, args=(stop, queues.begin))
        worker.start()
        try:
            yield JobSubmitter(installation, services)
        finally:
            stop.set()
            worker.join()
            queues.join()


def test_no_job_waits_for_another_populations(installation, hold):
    with working(installation) as submitter:
        held = [submitter.submit(), submitter.submit()]
        hold.wait()
        free = [submitter.submit_others(dry_run=True), submitter.submit_others()]
        assert [submitter.wait(job)["state"] for job in free] == ["done", "done"]
        assert [submitter.state(job) for job in held] == ["running", "queued"]
        hold.end()
        assert [submitter.wait(job)["state"] for job in held] == ["done", "done"]


def test_releases_of_four_populations_are_counted_at_once(installation, monkeypatch):
    names = ["clinic", "ours", "third", "fourth"]
    for start, name in ((601, "third"), (701, "fourth")):
        rows = [f"{n},F,30,north,2024-01-01,n" for n in range(start, start + 60)]
        installation.load(rows, dataset=name, population=f"{name}_people")
    meet = threading.Barrier(len(names), timeout=WAIT_SECONDS)
    interruptible = JobContext.interruptible

    @contextlib.contextmanager
    def all_at_once(context, interrupt):
        with interruptible(context, interrupt):
            meet.wait()  # each has its snapshot open, and reads it
            yield

    monkeypatch.setattr(JobContext, "interruptible", all_at_once)
    with working(installation) as submitter:
        jobs = [submitter.submit_release(name, dataset=name) for name in names]
        assert [submitter.wait(job)["state"] for job in jobs] == ["done"] * len(names)


def test_a_populations_own_jobs_follow_one_another(installation, hold):
    with working(installation) as submitter:
        jobs = [submitter.submit() for _ in range(3)]
        hold.end()
        seen = [submitter.wait(job) for job in jobs]
    assert [one["state"] for one in seen] == ["done"] * 3
    assert all(
        one["ended"] <= after["started"] for one, after in itertools.pairwise(seen)
    )


def test_a_load_under_way_is_swept_by_no_other(installation, hold):
    with working(installation) as submitter:
        job = submitter.submit()
        hold.wait()
        part = installation.data / "snapshots" / "s_unfinished.duckdb.part"
        part.touch()
        submitter.wait(submitter.submit_others())
        assert part.exists()
        hold.end()
        submitter.wait(job)
        submitter.wait(submitter.submit_others())
        assert not part.exists()


def test_a_dataset_that_another_population_made_meanwhile_is_refused(
    installation, hold
):
    with working(installation) as submitter:
        path = installation.write_manifest(dataset="fresh")
        slow = submitter.submit_manifest(path)
        hold.wait()
        theirs = installation.write_manifest(
            OTHERS, dataset="fresh", population="others"
        )
        assert submitter.wait(submitter.submit_manifest(theirs))["state"] == "done"
        hold.end()
        seen = submitter.wait(slow)
    assert (seen["state"], seen["result"]) == ("failed", None)


def test_a_release_is_charged_before_its_turn(installation, hold):
    with working(installation) as submitter:
        load = submitter.submit()
        hold.wait()
        jobs = [submitter.submit_release(name) for name in ("first", "second", "third")]
        charges = [submitter.charged(job) for job in jobs]
        assert [submitter.state(job) for job in (load, *jobs)] == ["running"] + [
            "queued"
        ] * 3
        submitter.service.cancel(OPERATOR, jobs[1])
        until(lambda: submitter.charge(jobs[1]).state == "failed")
        again = submitter.submit_release("second")
        charges.append(submitter.charged(again))
        hold.end()
        ended = [submitter.wait(job)["state"] for job in (load, *jobs, again)]
        assert ended == ["done", "done", "cancelled", "done", "done"]
        after = submitter.service.show(OPERATOR, load)["ended"]
        assert all(shown_time(charge.time) <= after for charge in charges)
        assert charges[0].snapshot == submitter.charge(jobs[2]).snapshot
        assert submitter.services.ledger.verify(RECORDED_TABLES).ok


def test_a_release_that_is_refused_fails_before_its_turn(installation, hold):
    with working(installation) as submitter:
        load = submitter.submit()
        hold.wait()
        jobs = [submitter.submit_release("same"), submitter.submit_release("same")]
        assert "another name" in submitter.wait(jobs[1])["error"]
        assert [submitter.state(job) for job in (load, jobs[0])] == [
            "running",
            "queued",
        ]
        assert submitter.charge(jobs[1]) is None
        hold.end()
        assert submitter.wait(jobs[0])["state"] == "done"


def test_a_release_that_is_cancelled_while_it_is_charged_ends_before_its_turn(
    installation, monkeypatch
):
    """Its charge stays, once, and its name is free."""
    begin = ReleaseJob.begin

    def cancelled_meanwhile(kind, context, parameters):
        begin(kind, context, parameters)
        submitter.service.cancel(OPERATOR, context.job_id)

    monkeypatch.setattr(ReleaseJob, "begin", cancelled_meanwhile)
    with installation.services() as services:
        submitter = JobSubmitter(installation, services)
        population = Scope.population("people")
        runner = make_runner(services, threading.Event(), beat_seconds=0.05)
        load, release = submitter.submit(), submitter.submit_release("visitors")
        runner.begin_due()
        assert (submitter.state(load), submitter.state(release)) == (
            "queued",
            "cancelled",
        )
        assert submitter.charge(release).state == "failed"
        assert services.ledger.spent(population) == Loss.parse("0.5")
        monkeypatch.undo()
        again = submitter.submit_release("visitors")
        while runner.run_one():
            pass
        runner.begin_due()
        assert [submitter.state(job) for job in (release, again)] == [
            "cancelled",
            "done",
        ]
        assert services.ledger.spent(population) == Loss.parse("1")
        assert services.ledger.verify(RECORDED_TABLES).ok


def test_beginning_costs_no_attempt(installation):
    with installation.services() as services:
        runner = make_runner(services, threading.Event(), beat_seconds=0.05)
        job = JobSubmitter(installation, services).submit_release("visitors")
        runner.begin_due()
        with services.databases.reader.connect() as connection:
            attempts = connection.execute(
                select(charge.c.attempts, tables.job.c.attempts, tables.job.c.state)
                .join(tables.job, tables.job.c.id == charge.c.query_id)
                .where(charge.c.query_id == job)
            ).one()
        assert tuple(attempts) == (0, 0, "queued")
        assert runner.run_one()
        assert JobSubmitter(installation, services).state(job) == "done"
