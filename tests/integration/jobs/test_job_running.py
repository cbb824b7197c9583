"""What becomes of a job: its work ends, fails, waits, is stopped or cut off."""

import contextlib
import json
import threading
import time
from dataclasses import dataclass, field

import duckdb
import pytest

from privacy.errors import AnchorMissingError, LedgerUnavailableError
from server.use_cases.jobs.kinds import JobContext, JobParameters
from server.use_cases.jobs.running import JobRunner, RunnerParts
from server.use_cases.jobs.store import MAX_ATTEMPTS, JobStore, NewJob
from server.use_cases.services.errors import CommandRefusedError
from tests.effort import gate_first
from tests.support.installations.harness import Installation

NOT_NOW = LedgerUnavailableError("the ledger cannot be written now")
ENDLESS = "SELECT sum(i * j) FROM range(1000000) a(i), range(1000000) b(j)"
LINEAGE = {"inputs": [], "code_version": "0", "outputs": []}


@dataclass
class Work:
    """A kind of job whose work each test says."""

    run: object
    name: str = "test"
    parameters: type = JobParameters
    cleaned: list = field(default_factory=list)
    settled: list = field(default_factory=list)
    discarded: list = field(default_factory=list)

    def clean(self):
        self.cleaned.append(True)

    def discard(self, context, *, is_over):
        self.discarded.append(is_over)

    def unbegun(self):
        return []

    def settle(self):
        self.settled.append(True)

    def holds_queue(self, result):
        return True


@dataclass
class JobsInProcess:
    """Submits jobs and runs them in this process."""

    databases: object
    caught_up: list = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def store(self, lease_ms=15_000):
        return JobStore(self.databases, lease_ms=lease_ms)

    def submit(self, kind="test"):
        new = NewJob(kind, "{}", None, "local:test", json.dumps(LINEAGE))
        return self.store().submit(new)

    def runner(self, kind):
        parts = RunnerParts(
            store=self.store(),
            kinds={kind.name: kind},
            catch_up=lambda: self.caught_up.append(True),
            beat_seconds=0.05,
        )
        return JobRunner(parts, self.stop)

    def run(self, kind):
        """Run the next job; return whether there was one."""
        return self.runner(kind).run_one()

    def do(self, work):
        """Submit a job, run it once, and return it."""
        job = self.submit()
        assert self.run(Work(work))
        return self.store().get(job)


@pytest.fixture(params=gate_first(1, ["sqlite", "postgresql"]))
def local(request, tmp_path):
    shared = request.param == "postgresql"
    url = request.getfixturevalue("empty_database") if shared else ""
    with Installation(tmp_path, url=url).create().services() as services:
        yield JobsInProcess(services.databases)


def raising(error):
    def work(_, __):
        raise error

    return work


def wait_until_stopped(context, _):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        context.raise_if_stopped()
        time.sleep(0.01)
    return {}


def test_work_that_ends_leaves_its_result(local):
    row = local.do(lambda _, __: {"made": 7})
    assert (row.state, row.result, row.error) == ("done", '{"made": 7}', None)
    assert not local.run(Work(None))


def test_a_refusal_is_the_jobs_error(local):
    row = local.do(raising(CommandRefusedError("ask another custodian first")))
    assert (row.state, row.error) == ("failed", "ask another custodian first")


def test_a_bug_shows_its_type_and_not_what_it_met(local):
    row = local.do(raising(ValueError("patient 4711")))
    assert row.state == "failed"
    assert "ValueError" in row.error
    assert "4711" not in row.error


@pytest.mark.parametrize("fault", [NOT_NOW, AnchorMissingError()])
def test_work_that_met_a_passing_fault_waits_and_is_tried_again(local, fault):
    row = local.do(raising(fault))
    assert (row.state, row.attempts, row.lease_boot) == ("running", 1, None)
    assert not local.run(Work(None))  # it waits


def test_a_fault_that_does_not_pass_fails_the_job_in_the_end(local):
    job = local.submit()
    kind = Work(raising(OSError("no space")))
    for _ in range(MAX_ATTEMPTS):
        assert local.run(kind)
        with local.databases.writer.begin() as connection:  # no need to wait
            connection.exec_driver_sql(
                "UPDATE job SET lease_until_ms = 0 WHERE state = 'running'"
            )
    row = local.store().get(job)
    assert (row.state, row.attempts) == ("failed", MAX_ATTEMPTS)
    assert "OSError" in row.error


def cut_off(local, times=1):
    """Return a job whose holders died."""
    job = local.submit()
    for _ in range(times):
        local.store(lease_ms=-1).claim()
    return job


def test_a_job_that_was_cut_off_three_times_is_not_tried_again(local):
    job = cut_off(local, MAX_ATTEMPTS)
    tried = []
    kind = Work(lambda *_: tried.append(True))
    assert local.run(kind)
    row = local.store().get(job)
    assert (row.state, row.attempts, tried) == ("failed", MAX_ATTEMPTS, [])
    assert "cut off 3 times" in row.error
    assert kind.cleaned
    assert kind.discarded == [True]


def test_a_job_that_was_cut_off_after_its_result_is_done(local):
    job = local.submit()
    dead = local.store(lease_ms=-1)
    lease = dead.claim().lease
    with local.databases.writer.begin() as connection:
        dead.conclude(connection, lease, result='{"made": 7}')
    local.store().request_cancel(job)  # too late
    assert local.run(Work(raising(AssertionError("done twice"))))
    row = local.store().get(job)
    assert (row.state, row.result) == ("done", '{"made": 7}')
    assert local.caught_up  # nothing is called done that is not anchored


def test_a_job_that_fails_after_its_result_is_done(local):
    def work(context, _):
        with local.databases.writer.begin() as connection:
            context.conclude(connection, {"made": 7}, [{"thing": "t"}])
        message = "the anchor's disk is full"
        raise OSError(message)

    row = local.do(work)
    assert (row.state, row.result) == ("done", '{"made": 7}')
    assert json.loads(row.lineage)["outputs"] == [{"thing": "t"}]
    assert local.caught_up


def test_a_job_that_was_cancelled_while_nobody_held_it_is_cancelled(local):
    job = cut_off(local)
    local.store().request_cancel(job)
    assert local.run(Work(raising(AssertionError("it was cancelled"))))
    assert local.store().get(job).state == "cancelled"


def test_a_job_that_needs_no_more_work_ends_before_its_turn(local):
    jobs = [cut_off(local)]
    local.store().request_cancel(jobs[0])
    jobs.append(local.submit())
    dead = local.store(lease_ms=-1)
    lease = dead.claim(jobs[1]).lease
    with local.databases.writer.begin() as connection:
        dead.conclude(connection, lease, result='{"made": 7}')
    kind = Work(raising(AssertionError("nothing is left to do")))
    local.runner(kind).begin_due()
    seen = [local.store().get(job) for job in jobs]
    assert [(row.state, row.result) for row in seen] == [
        ("cancelled", None),
        ("done", '{"made": 7}'),
    ]
    assert (kind.settled, kind.cleaned) == ([True], [])
    assert local.caught_up


def test_what_a_job_made_is_deleted_before_it_ends_and_while_it_is_held(local):
    seen = []

    class Watched(Work):
        def discard(self, context, *, is_over):
            super().discard(context, is_over=is_over)
            with local.databases.work.begin() as connection:
                context.require_claim_with(connection)
            seen.append(local.store().get(context.job_id).state)

    kind = Watched(raising(CommandRefusedError("no")))
    job = local.submit()
    local.run(kind)
    assert (seen, kind.discarded) == (["running", "running"], [False, True])
    assert local.store().get(job).state == "failed"


def test_what_cannot_be_deleted_now_keeps_no_job_from_its_end(local):
    class Broken(Work):
        def discard(self, context, *, is_over):
            if is_over:
                raise NOT_NOW

    job = local.submit()
    local.run(Broken(raising(CommandRefusedError("no"))))
    assert local.store().get(job).state == "failed"


def test_a_resumed_job_goes_on_where_it_saved_its_position(local):
    def work(context, _):
        if context.position is None:
            with local.databases.writer.begin() as connection:
                context.save_position_with(connection, {"row": 7})
            raise NOT_NOW
        return {"from": context.position["row"]}

    job = local.submit()
    local.run(Work(work))
    with local.databases.writer.begin() as connection:
        connection.exec_driver_sql("UPDATE job SET lease_until_ms = 0")
    local.run(Work(work))
    row = local.store().get(job)
    assert (row.state, row.attempts, row.result) == ("done", 2, '{"from": 7}')


@contextlib.contextmanager
def meanwhile(local, kind):
    """Run the next job beside a block."""
    thread = threading.Thread(target=local.run, args=(kind,))
    thread.start()
    try:
        yield
    finally:
        thread.join(30)
    assert not thread.is_alive()


def wait_for(condition):
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert condition()


def test_running_work_is_cancelled(local):
    job = local.submit()
    kind = Work(wait_until_stopped)
    with meanwhile(local, kind):
        wait_for(lambda: local.store().get(job).state == "running")
        local.store().request_cancel(job)
    assert local.store().get(job).state == "cancelled"
    assert kind.cleaned


def test_a_statement_of_an_engine_is_interrupted(local):
    def work(context, _):
        connection = duckdb.connect(config={"threads": 1})
        with context.interruptible(connection.interrupt):
            connection.execute(ENDLESS)
        return {}

    job = local.submit()
    with meanwhile(local, Work(work)):
        wait_for(lambda: local.store().get(job).state == "running")
        local.store().request_cancel(job)
    assert local.store().get(job).state == "cancelled"


def test_a_worker_that_has_to_end_gives_its_job_up(local):
    job = local.submit()
    with meanwhile(local, Work(wait_until_stopped)):
        wait_for(lambda: local.store().get(job).state == "running")
        local.stop.set()
    assert not local.run(Work(None))  # it takes no other
    local.stop.clear()
    assert local.run(Work(lambda *_: {}))
    row = local.store().get(job)
    assert (row.state, row.attempts) == ("done", 1)


def test_a_worker_whose_job_was_taken_over_leaves_it_alone(local):
    job = local.submit()

    def work(context, _):
        with local.databases.writer.begin() as connection:
            connection.exec_driver_sql("UPDATE job SET lease_boot = 'other'")
        return wait_until_stopped(context, _)

    assert local.run(Work(work))
    row = local.store().get(job)
    assert (row.state, row.lease_boot, row.result) == ("running", "other", None)


def test_a_kind_that_the_worker_does_not_know_fails(local):
    job = local.submit("newer")
    assert local.run(Work(None))
    row = local.store().get(job)
    assert row.state == "failed"
    assert "does not know" in row.error


def test_no_stage_of_an_attempt_goes_back(local):
    store = local.store()
    local.submit()
    context = JobContext(store, store.claim())
    said = [("read", 5), ("rank", 1), ("read", 3), ("rank", 2), ("read", 6)]
    shown = []
    for stage, done in said:
        context.progress(stage, done, 9)
        shown.append(context.take_headway())
    assert [(one.stage, one.done) for one in shown] == [
        ("read", 5),
        ("rank", 1),
        ("read", 5),
        ("rank", 2),
        ("read", 6),
    ]
    assert context.take_headway() is None


def test_what_was_done_is_written_while_the_work_goes_on(local):
    def work(context, _):
        context.progress("read", 3, 9)
        wait_for(lambda: local.store().get(context.job_id).done == 3)
        return {}

    assert local.do(work).state == "done"
