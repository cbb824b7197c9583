"""When a release ends, in the chain: at a public time, and never when work on rows did.

Whoever reads waits for the anchor of what was written last, so the moment of an entry
is felt by every key.
"""

import errno
import threading
import time
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select, update

import server.use_cases.publishing.job as at_work
import server.use_cases.releases.times as release_times
from budget.chain.anchor import HeldAnchor
from budget.storage.tables import chain, charge
from server.bootstrap import make_jobs, make_runner
from server.persistence import tables
from server.use_cases.jobs.queues import JobQueues
from server.use_cases.publishing.job import ReleaseJob
from server.use_cases.releases.folders import ReleaseFolders
from server.use_cases.releases.times import MOST_CELLS, declared_slots
from tests.support.installations.harness import Installation
from tests.support.installations.publishing import OPERATOR, Press, spec

SLOT = 3
HOUR = 3_600


@pytest.fixture
def press(tmp_path):
    made = Installation(tmp_path).create()
    made.load()
    return Press(made)


def publication(services, job):
    """Return the row of a job's release."""
    table = tables.publication
    with services.databases.reader.connect() as connection:
        return connection.execute(select(table).where(table.c.job == job)).one()


def until(look):
    """Return what a look brings, once it brings something."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.02)
    raise TimeoutError


def test_nothing_is_anchored_between_a_releases_charge_and_its_public_time(
    press, monkeypatch
):
    anchored, settled = [], []
    write, settle = HeldAnchor.write, ReleaseFolders.settle

    def counted(held, *arguments):
        anchored.append(time.time())
        write(held, *arguments)

    def noted(folders, *arguments):
        settled.append(time.time())
        return settle(folders, *arguments)

    monkeypatch.setattr(HeldAnchor, "write", counted)
    monkeypatch.setattr(ReleaseFolders, "settle", noted)
    press.installation.release_slot_s = SLOT
    job = press.submit(spec())
    assert press.run(job)["state"] == "done"
    with press.services() as services:
        row = publication(services, job)
        with services.databases.reader.connect() as connection:
            wanted = select(chain.c.time).where(chain.c.body.contains(row.id))
            times = list(connection.execute(wanted).scalars())
    shown = datetime.fromisoformat(row.visible)
    assert settled[0] < shown.timestamp() - 0.1  # whole before, or this says nothing
    of_charge = settled[0] - 0.001
    assert [one for one in anchored if of_charge < one < shown.timestamp()] == []
    assert shown <= datetime.fromisoformat(times[-1]) < shown + timedelta(seconds=1)


def test_releases_that_wait_for_their_time_hold_up_no_other_job_of_their_queue(
    press, monkeypatch
):
    due, waiting = threading.Event(), at_work.wait_until

    def wait(end, told):
        while not due.is_set():
            waiting(time.time() + 0.01, told)

    monkeypatch.setattr(at_work, "wait_until", wait)
    jobs = [press.submit(spec(name)) for name in ("first", "second")]
    with press.services() as services:
        stop, shown = threading.Event(), make_jobs(services).show
        queues = JobQueues(make_runner(services, stop, beat_seconds=0.05))

        def stages():
            queues.begin()
            return [shown(OPERATOR, job)["stage"] for job in jobs] == ["slot"] * 2

        try:
            until(stages)
            due.set()
            queues.join()
        finally:
            stop.set()
            queues.join()
        assert [shown(OPERATOR, job)["state"] for job in jobs] == ["done"] * 2


def test_a_release_that_failed_ends_in_the_chain_at_a_time_that_tells_no_more(
    press, monkeypatch
):
    def full(*_):
        raise OSError(errno.ENOSPC, "no room")

    press.installation.release_slot_s = HOUR
    with monkeypatch.context() as broken:
        broken.setattr(at_work, "write_release", full)
        job = press.submit(spec())
        assert press.run(job)["state"] == "failed"
    with press.services() as services:
        kind = ReleaseJob(services)
        kind.settle()
        row = publication(services, job)
        assert (row.state, services.ledger.query(job).state) == ("begun", "running")
        charged = datetime.fromisoformat(row.created).replace(microsecond=0)
        worst = charged + timedelta(seconds=HOUR * declared_slots(MOST_CELLS))
        for seconds, state in ((-1, "begun"), (1, "failed")):
            now = (worst + timedelta(seconds=seconds)).isoformat(
                timespec="microseconds"
            )
            monkeypatch.setattr(release_times, "now_text", lambda now=now: now)
            kind.settle()
            assert publication(services, job).state == state
        assert services.ledger.query(job).state == "failed"
        assert datetime.fromisoformat(publication(services, job).visible) == worst
    press.installation.release_slot_s = 0


def test_the_name_of_a_release_whose_job_ended_is_free_before_others_know(
    press, monkeypatch
):
    monkeypatch.setattr(
        ReleaseFolders, "was_given_up", lambda *_: press.installation.release_slot_s > 0
    )
    press.installation.release_slot_s = HOUR
    job = press.submit(spec())
    assert press.run(job)["state"] == "failed"
    with press.services() as services:
        assert publication(services, job).state == "begun"
    press.installation.release_slot_s = 0
    assert press.publish(spec())["state"] == "done"


def test_a_worker_that_stops_while_files_wait_spends_no_execution(press, monkeypatch):
    """Whole files are published however often their worker was started anew."""
    press.installation.release_slot_s = HOUR
    job = press.submit(spec())
    for _ in range(4):
        stop = threading.Event()
        with press.services() as services, monkeypatch.context() as patch:
            patch.setattr(at_work, "wait_until", _stopping(stop))
            runner = make_runner(services, stop, beat_seconds=0.05)
            assert runner.run_one(job)
            assert publication(services, job).state == "begun"
    (whole,) = press.folders()
    press.installation.release_slot_s = 0
    assert press.run(job)["state"] == "done"
    assert press.folders() == [whole]
    with press.services() as services, services.databases.reader.connect() as reading:
        attempts = select(charge.c.attempts).where(charge.c.query_id == job)
        assert reading.execute(attempts).scalar_one() == 1


def _stopping(stop):
    """Return a wait in which the worker is told to stop."""
    wait = at_work.wait_until

    def stopping(_, told):
        stop.set()
        wait(time.time() + 30, told)

    return stopping


def test_work_that_was_begun_too_often_ends_at_a_public_time_too(press):
    press.installation.release_slot_s = HOUR
    job = press.submit(spec())
    with press.services() as services:
        make_runner(services, threading.Event()).begin_due()
        with services.databases.work.begin() as connection:
            connection.execute(
                update(charge).where(charge.c.query_id == job).values(attempts=3)
            )
        make_runner(services, threading.Event()).run_one(job)
        assert make_jobs(services).show(OPERATOR, job)["state"] == "failed"
        assert publication(services, job).state == "begun"
        assert services.ledger.query(job).state == "running"
