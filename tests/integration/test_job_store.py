"""Jobs as rows: one holder at a time, by the database's clock."""

import threading
import time

import pytest
from sqlalchemy import insert

from server.persistence import tables
from server.use_cases.errors import JobStoppedError, LeaseLostError
from server.use_cases.job_store import Ending, Headway, JobStore, NewJob
from tests.harness import Installation


@pytest.fixture(params=["sqlite", "postgresql"])
def databases(request, tmp_path):
    shared = request.param == "postgresql"
    url = request.getfixturevalue("empty_database") if shared else ""
    with Installation(tmp_path, url=url).create().services() as services:
        yield services.databases


def store(databases, boot="a", lease_ms=15_000):
    return JobStore(databases, boot, lease_ms=lease_ms)


def submit(databases, population=None):
    return store(databases).submit(NewJob("test", "{}", population, "local:test", "{}"))


def expire(databases, boot="a"):
    """Return a job whose holder has gone silent."""
    job = submit(databases)
    assert store(databases, boot, lease_ms=-1).claim().id == job
    return job


def test_jobs_are_taken_oldest_first_and_once(databases):
    jobs = [submit(databases) for _ in range(3)]
    taken = [store(databases, boot).claim().id for boot in "abc"]
    assert taken == jobs
    assert store(databases).claim() is None


def test_many_workers_never_take_the_same_job(databases):
    jobs = {submit(databases) for _ in range(12)}
    taken = []

    def take(boot):
        mine = store(databases, boot)
        while (row := mine.claim()) is not None:
            taken.append(row.id)

    threads = [threading.Thread(target=take, args=(str(n),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 12
    assert set(taken) == jobs


def test_a_lease_that_ran_out_is_taken_over_and_its_old_holder_can_write_nothing(
    databases,
):
    job = expire(databases)
    old, new = store(databases, "a"), store(databases, "b")
    assert new.claim().attempts == 2
    for write in (
        lambda: old.beat(job),
        lambda: old.save(job, position="1"),
        lambda: old.finish(job, Ending("done")),
    ):
        with pytest.raises(LeaseLostError):
            write()
    old.give_up(job)
    old.postpone(job, 0)
    with databases.writer.begin() as connection, pytest.raises(JobStoppedError):
        old.conclude(connection, job, result="{}")
    held = new.get(job)
    assert (held.state, held.lease_boot, held.position) == ("running", "b", None)


def test_a_beat_keeps_the_lease_and_writes_how_far_the_job_is(databases):
    job = submit(databases)
    mine = store(databases, lease_ms=400)
    mine.claim()
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        mine.beat(job, Headway("read", 3, 9))
        assert store(databases, "b").claim() is None
        time.sleep(0.02)
    seen = mine.get(job)
    assert (seen.stage, seen.done, seen.total) == ("read", 3, 9)


def test_the_wish_to_cancel_comes_back_with_the_beat(databases):
    job = submit(databases)
    mine = store(databases)
    mine.claim()
    assert mine.beat(job) is False
    store(databases, "b").request_cancel(job)
    assert mine.beat(job) is True
    assert mine.get(job).state == "running"


def test_a_queued_job_is_cancelled_at_once(databases):
    job = submit(databases)
    store(databases).request_cancel(job)
    seen = store(databases).get(job)
    assert (seen.state, seen.ended is None) == ("cancelled", False)
    assert store(databases).claim() is None


def test_a_job_that_has_ended_stays_as_it_is(databases):
    job = submit(databases)
    mine = store(databases)
    mine.claim()
    mine.finish(job, Ending("done", result="{}"))
    mine.request_cancel(job)
    with pytest.raises(LeaseLostError):
        mine.finish(job, Ending("failed"))
    seen = mine.get(job)
    assert (seen.state, seen.cancel_requested) == ("done", False)


def test_a_job_that_was_cancelled_cannot_conclude(databases):
    job = submit(databases)
    mine = store(databases)
    mine.claim()
    mine.request_cancel(job)
    with databases.writer.begin() as connection, pytest.raises(JobStoppedError):
        mine.conclude(connection, job, result="{}")
    assert mine.get(job).result is None


def test_what_is_given_up_is_free_at_once_and_cost_no_attempt(databases):
    job = submit(databases)
    mine = store(databases)
    mine.claim()
    mine.save(job, position='{"row": 7}')
    mine.give_up(job)
    taken = store(databases, "b").claim()
    assert (taken.id, taken.attempts, taken.position) == (job, 1, '{"row": 7}')


def test_what_is_postponed_waits_and_cost_an_attempt(databases):
    job = submit(databases)
    mine = store(databases)
    mine.claim()
    mine.postpone(job, 300)
    assert store(databases, "b").claim() is None
    time.sleep(0.4)
    assert store(databases, "b").claim().attempts == 2


def test_the_leases_clock_is_near_the_machines(databases):
    submit(databases)
    before = time.time() * 1000
    row = store(databases, lease_ms=0).claim()
    after = time.time() * 1000
    assert before - 1000 < row.lease_until_ms < after + 1000


def test_a_job_that_is_done_is_wholly_done_whatever_its_last_beat_said(databases):
    job, mine = submit(databases), store(databases)
    mine.claim()
    mine.beat(job, Headway("read", 3, 9))
    mine.finish(job, Ending("done", result="{}"))
    row = mine.get(job)
    assert (row.done, row.total) == (9, 9)


def test_a_job_that_failed_says_how_far_it_had_come(databases):
    job, mine = submit(databases), store(databases)
    mine.claim()
    mine.beat(job, Headway("read", 3, 9))
    mine.finish(job, Ending("failed", error="no"))
    row = mine.get(job)
    assert (row.done, row.total) == (3, 9)


def test_each_population_has_a_queue_and_what_is_nobodys_is_its_actors(databases):
    row = dict.fromkeys(tables.population.columns.keys(), "") | {"name": "people"}
    row |= {"epsilon_min_nano": 1, "epsilon_max_nano": 1}
    with databases.writer.begin() as connection:
        connection.execute(insert(tables.population).values(row))
    jobs = [submit(databases, name) for name in ("people", "fresh", None, "people")]
    mine = store(databases)
    theirs, own = sorted(mine.waiting(), reverse=True)
    assert (theirs, own) == ("population people", "actor local:test")
    taken = [mine.claim(queue=queue).id for queue in (own, theirs, own, theirs)]
    assert taken == [jobs[1], jobs[0], jobs[2], jobs[3]]
    assert mine.claim(queue=own) is None
    assert mine.waiting() == []
