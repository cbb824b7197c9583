"""Jobs survive the death of their workers, and end once."""

import os
import random
import time
from pathlib import Path

import duckdb
import pytest

from tests.crash.instruments.job_kills import run_job_cancels, run_job_kills
from tests.crash.instruments.job_submitter import JobSubmitter
from tests.effort import gate_first, rounds
from tests.support.installations.harness import ImportingInstallation

pytestmark = pytest.mark.thorough


@pytest.fixture
def installation(tmp_path):
    return ImportingInstallation(tmp_path).create()


@pytest.fixture(params=gate_first(1, ["postgresql", "sqlite"]))
def either(request, tmp_path):
    """An installation on each database in turn."""
    shared = request.param == "postgresql"
    url = request.getfixturevalue("empty_database") if shared else ""
    return ImportingInstallation(tmp_path, url=url).create()


@pytest.fixture
def submitter(nursery, installation):
    return JobSubmitter(nursery, installation)


def test_a_worker_that_is_killed_anywhere_leaves_a_job_that_is_done_once(
    nursery, installation
):
    kills = rounds(10, 3)
    findings = run_job_kills(nursery, installation, kills)
    assert findings.wrong == []
    assert findings.states == {"done": kills}


def test_a_job_that_is_cancelled_anywhere_is_done_or_undone(nursery, installation):
    cancels = rounds(4, 2)
    findings = run_job_cancels(nursery, installation, cancels)
    assert findings.wrong == []
    assert sum(findings.states.values()) == cancels


def test_of_two_workers_one_dies_and_the_other_does_its_jobs_too(nursery, either):
    submitter = JobSubmitter(nursery, either)
    jobs = [submitter.submit(dataset=name) for name in ("one", "two", "three")]
    with submitter.working() as first, submitter.working() as second:
        time.sleep(random.uniform(0, 1))
        first.kill()
        assert {submitter.wait(job)[0]["state"] for job in jobs} == {"done"}
        second.ask_to_end()
    assert submitter.problems(jobs) == []


@pytest.fixture(scope="module")
def big_rows(tmp_path_factory):
    """A table whose load takes seconds."""
    path = tmp_path_factory.mktemp("big") / "rows.csv"
    duckdb.connect().execute(
        "COPY (SELECT i // 4 AS patient_id, ['F', 'M'][1 + i // 4 % 2] AS sex, "
        "20 + i // 4 % 70 AS age, 'north' AS ward, DATE '2024-03-01' AS day, "
        f"'note ' || i AS note FROM range(200000) r(i)) TO '{path}' (HEADER)"
    )
    return path.read_text().splitlines()[1:]


def at_work(seen):
    return seen["stage"] is not None and seen["stage"].startswith(("read", "rank"))


def test_a_load_is_followed_and_cancelled_within_seconds(submitter, big_rows):
    job = submitter.submit(big_rows)
    with submitter.working() as worker:
        submitter.wait(job, at_work)
        start = time.monotonic()
        submitter.cancel(job)
        ended, _ = submitter.wait(job)
        assert time.monotonic() - start < 5
        worker.ask_to_end()
    assert (ended["state"], ended["result"]) == ("cancelled", None)
    assert submitter.problems([job]) == []


def test_a_worker_that_is_told_to_end_gives_its_job_to_another(submitter, big_rows):
    job = submitter.submit(big_rows)
    with submitter.working() as first:
        submitter.wait(job, at_work)
        first.ask_to_end()
    given_up = submitter.look(job)
    assert (given_up["state"], given_up["attempts"]) == ("running", 0)
    assert submitter.file_problems() == []
    with submitter.working() as second:
        ended, seen = submitter.wait(job)
        second.ask_to_end()
    assert (ended["state"], ended["attempts"]) == ("done", 1)
    assert submitter.problems([job]) == []
    assert never_goes_back(seen)


def never_goes_back(seen):
    """Whether no stage of one attempt ever had more done before."""
    furthest = {}
    for one in seen:
        place = one["attempts"], one["stage"]
        if one["done"] < furthest.get(place, 0):
            return False
        furthest[place] = one["done"]
    return len(furthest) > 1  # it was really watched


def children_named(pid, word):
    """Return the processes below ``pid`` whose command line has a word."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            line = (path.parent / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if parent == pid and word.encode() in line:
            found.add(int(path.parent.name))
    return found


def soon(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.05)
    message = "it did not come to pass"
    raise TimeoutError(message)


def test_a_server_has_a_worker_that_is_started_again_and_dies_with_it(
    nursery, submitter, installation
):
    server = nursery.start(installation, worker=True)
    try:
        (first,) = soon(lambda: children_named(server.pid, "worker"))
        os.kill(first, 9)
        (second,) = soon(lambda: children_named(server.pid, "worker") - {first})
        server.kill_alone()
        soon(lambda: not Path(f"/proc/{second}").exists())
        job = submitter.submit()
        again = nursery.start(installation, worker=True)
        assert submitter.wait(job)[0]["state"] == "done"
        (third,) = children_named(again.pid, "worker")
        again.ask_to_end()
        soon(lambda: not Path(f"/proc/{third}").exists())
    finally:
        server.kill()
    assert submitter.problems([job]) == []
