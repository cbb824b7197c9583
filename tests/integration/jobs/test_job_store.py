"""Jobs as rows: one holder at a time, by the database's clock."""

import threading
import time

import pytest
from sqlalchemy import insert

from server.persistence import tables
from server.use_cases.jobs.store import Ending, Headway, JobStore, NewJob
from server.use_cases.services.errors import JobStoppedError, LeaseLostError
from tests.support.installations.harness import Installation


@pytest.fixture(params=["sqlite", "postgresql"])
def databases(request, tmp_path):
    shared = request.param == "postgresql"
    url = request.getfixturevalue("empty_database") if shared else ""
    with Installation(tmp_path, url=url).create().services() as services:
        yield services.databases


def store(databases, lease_ms=15_000):
    return JobStore(databases, lease_ms=lease_ms)


def submit(databases, population=None):
    return store(databases).submit(NewJob("test", "{}", population, "local:test", "{}"))


def expire(databases):
    """Return the lease of a job whose holder has gone silent."""
    job = submit(databases)
    row = store(databases, lease_ms=-1).claim()
    assert row.id == job
    return row.lease


def test_jobs_are_taken_oldest_first_and_once(databases):
    jobs = [submit(databases) for _ in range(3)]
    taken = [store(databases).claim().id for _ in jobs]
    assert taken == jobs
    assert store(databases).claim() is None


def test_many_workers_never_take_the_same_job(databases):
    jobs = {submit(databases) for _ in range(12)}
    taken = []

    def take():
        mine = store(databases)
        while (row := mine.claim()) is not None:
            taken.append(row.id)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 12
    assert set(taken) == jobs


def test_a_lease_that_ran_out_is_taken_over_and_its_old_holder_can_write_nothing(
    databases,
):
    old, same_process = expire(databases), store(databases)
    new = same_process.claim()
    assert (new.id, new.attempts) == (old.job_id, 2)
    for write in (
        lambda: same_process.beat(old),
        lambda: same_process.save(old, position="1"),
        lambda: same_process.finish(old, Ending("done")),
    ):
        with pytest.raises(LeaseLostError):
            write()
    same_process.give_up(old)
    same_process.postpone(old, 0)
    assert not same_process.requeue(old)
    with databases.writer.begin() as connection, pytest.raises(JobStoppedError):
        same_process.conclude(connection, old, result="{}")
    with databases.reader.connect() as connection:
        assert not same_process.is_held(connection, old)
        assert same_process.is_held(connection, new.lease)
    held = same_process.get(old.job_id)
    assert (held.state, held.lease, held.position) == ("running", new.lease, None)
    same_process.finish(new.lease, Ending("done"))


def test_a_job_that_nobody_has_is_held_by_no_claim(databases):
    submit(databases)
    mine = store(databases)
    lease = mine.claim().lease
    mine.postpone(lease, 10_000)
    for one in (lease, mine.get(lease.job_id).lease):
        with pytest.raises(LeaseLostError):
            mine.beat(one)


def test_a_beat_keeps_the_lease_and_writes_how_far_the_job_is(databases):
    job = submit(databases)
    mine = store(databases, lease_ms=400)
    lease = mine.claim().lease
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        mine.beat(lease, Headway("read", 3, 9))
        assert store(databases).claim() is None
        time.sleep(0.02)
    seen = mine.get(job)
    assert (seen.stage, seen.done, seen.total) == ("read", 3, 9)


def test_the_wish_to_cancel_comes_back_with_the_beat(databases):
    job = submit(databases)
    mine = store(databases)
    lease = mine.claim().lease
    assert mine.beat(lease) is False
    store(databases).request_cancel(job)
    assert mine.beat(lease) is True
    assert mine.get(job).state == "running"


def test_a_job_that_was_cancelled_while_it_was_begun_ends_where_it_is_put_back(
    databases,
):
    job, other = submit(databases), submit(databases)
    mine = store(databases)
    lease, kept = mine.claim().lease, mine.claim().lease
    mine.request_cancel(job)
    assert (mine.requeue(lease), mine.requeue(kept)) == (True, False)
    seen = [mine.get(one) for one in (job, other)]
    assert [one.state for one in seen] == ["cancelled", "queued"]
    assert [one.ended is None for one in seen] == [False, True]


def test_what_needs_no_more_work_is_found_before_its_turn(databases):
    mine, hurried = store(databases), store(databases, lease_ms=-1)
    jobs = [submit(databases) for _ in range(5)]
    cut_off, done = hurried.claim(jobs[0]), hurried.claim(jobs[2])
    held = mine.claim(jobs[1])
    with databases.writer.begin() as connection:
        mine.conclude(connection, done.lease, result="{}")
    assert mine.at_end() == [done.id]
    for job in (cut_off.id, held.id, jobs[3]):
        mine.request_cancel(job)
    assert mine.at_end() == [cut_off.id, done.id]  # ``held`` ends itself


def test_a_queued_job_is_cancelled_at_once(databases):
    job = submit(databases)
    store(databases).request_cancel(job)
    seen = store(databases).get(job)
    assert (seen.state, seen.ended is None) == ("cancelled", False)
    assert store(databases).claim() is None


def test_a_job_that_has_ended_stays_as_it_is(databases):
    job = submit(databases)
    mine = store(databases)
    lease = mine.claim().lease
    mine.finish(lease, Ending("done", result="{}"))
    mine.request_cancel(job)
    with pytest.raises(LeaseLostError):
        mine.finish(lease, Ending("failed"))
    seen = mine.get(job)
    assert (seen.state, seen.cancel_requested) == ("done", False)


def test_a_job_that_was_cancelled_cannot_conclude(databases):
    job = submit(databases)
    mine = store(databases)
    lease = mine.claim().lease
    mine.request_cancel(job)
    with databases.writer.begin() as connection, pytest.raises(JobStoppedError):
        mine.conclude(connection, lease, result="{}")
    assert mine.get(job).result is None


def test_what_is_given_up_is_free_at_once_and_cost_no_attempt(databases):
    job = submit(databases)
    mine = store(databases)
    lease = mine.claim().lease
    mine.save(lease, position='{"row": 7}')
    mine.give_up(lease)
    taken = store(databases).claim()
    assert (taken.id, taken.attempts, taken.position) == (job, 1, '{"row": 7}')


def test_what_is_postponed_waits_and_cost_an_attempt(databases):
    submit(databases)
    mine = store(databases)
    mine.postpone(mine.claim().lease, 300)
    assert store(databases).claim() is None
    time.sleep(0.4)
    assert store(databases).claim().attempts == 2


def test_the_leases_clock_is_near_the_machines(databases):
    submit(databases)
    before = time.time() * 1000
    row = store(databases, lease_ms=0).claim()
    after = time.time() * 1000
    assert before - 1000 < row.lease_until_ms < after + 1000


def test_a_job_that_is_done_is_wholly_done_whatever_its_last_beat_said(databases):
    job, mine = submit(databases), store(databases)
    lease = mine.claim().lease
    mine.beat(lease, Headway("read", 3, 9))
    mine.finish(lease, Ending("done", result="{}"))
    row = mine.get(job)
    assert (row.done, row.total) == (9, 9)


def test_a_job_that_failed_says_how_far_it_had_come(databases):
    job, mine = submit(databases), store(databases)
    lease = mine.claim().lease
    mine.beat(lease, Headway("read", 3, 9))
    mine.finish(lease, Ending("failed", error="no"))
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
