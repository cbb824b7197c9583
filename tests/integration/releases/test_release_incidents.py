"""What goes wrong with a release: told, counted, and never drawn a second time."""

import errno
import hashlib
import threading
import time

import duckdb
import pytest
from sqlalchemy.exc import OperationalError

import server.use_cases.publishing.job as at_work
from budget.ledger import Ledger
from engines.duckdb.engine import DuckDbEngine
from mechanisms.measuring.meter import Meter
from privacy.errors import (
    ExecutionError,
    InvalidOptionError,
    LedgerUnavailableError,
)
from server.bootstrap import make_jobs, make_runner
from server.telemetry.metrics import Readings
from server.use_cases.custody.people import PeopleService
from server.use_cases.jobs.kinds import JobContext
from server.use_cases.jobs.store import ENDED, JobStore
from server.use_cases.oversight.odometers import Odometers
from server.use_cases.releases.folders import ReleaseFolders
from tests.support.installations.harness import Installation
from tests.support.installations.publishing import OPERATOR, Press, paths, spec


@pytest.fixture
def quick(tmp_path):
    made = Installation(tmp_path).create()
    made.load()
    return made


NO_SPACE = OSError(errno.ENOSPC, "a path, and what it held")


def no_space_left(work, error=NO_SPACE):
    """Write all, and then say that the disk is full."""

    def full(*arguments):
        work(*arguments)
        raise error

    return full


@pytest.mark.parametrize(
    ("spec_of", "error"),
    [
        (spec, NO_SPACE),
        (paths, NO_SPACE),
        (spec, MemoryError("a path")),
        (spec, duckdb.OutOfMemoryException("a path")),
        (spec, RuntimeError("a path")),
    ],
)
def test_what_was_measured_and_cannot_be_written_is_never_drawn_anew(
    quick, monkeypatch, spec_of, error
):
    press = Press(quick)
    full = no_space_left(at_work.write_release, error)
    monkeypatch.setattr(at_work, "write_release", full)
    job = press.submit(spec_of())
    ended = press.run(job)
    assert (ended["state"], ended["attempts"]) == ("failed", 1)
    assert "charge stays spent" in ended["error"]
    assert "path" not in ended["error"]
    assert press.folders() == []
    with press.services() as services:
        record = services.ledger.query(job)
    assert (record.state, str(record.loss)) == ("failed", "0.5")
    monkeypatch.undo()
    assert press.publish(spec_of())["state"] == "done"  # its name is free


@pytest.mark.parametrize("error", [MemoryError, ValueError])
def test_what_fails_between_the_draw_and_the_files_is_never_drawn_anew(
    quick, monkeypatch, error
):
    press = Press(quick)
    draws = []
    drawn = Meter.counts

    def failing(*arguments, **named):
        draws.append(drawn(*arguments, **named))
        raise error

    monkeypatch.setattr(Meter, "counts", failing)
    job = press.submit(spec())
    ended = press.run(job)
    assert (ended["state"], ended["attempts"], len(draws)) == ("failed", 1, 1)
    assert "charge stays spent" in ended["error"]
    assert press.folders() == []
    assert press.run(job)["state"] == "failed"
    assert len(draws) == 1


def drawn_once(monkeypatch):
    """Let counting fail from now on."""

    def counted(*_, **__):
        raise AssertionError

    monkeypatch.setattr(DuckDbEngine, "count_cube", counted)


def test_files_that_are_whole_are_published_where_the_ledger_was_full(
    quick, monkeypatch
):
    press = Press(quick)
    store = Ledger.store_work

    def full(self, charge, *_):
        raise LedgerUnavailableError(message="full", query_id=charge.query_id)

    monkeypatch.setattr(Ledger, "store_work", full)
    monkeypatch.setattr("server.use_cases.jobs.running.POSTPONED_MS", 0)
    job = press.submit(spec())
    assert press.run(job)["state"] not in ENDED
    (whole,) = press.folders()
    monkeypatch.setattr(Ledger, "store_work", store)
    drawn_once(monkeypatch)
    ended = press.run(job)
    assert (ended["state"], press.folders()) == ("done", [whole])
    assert whole.name.endswith(ended["result"]["manifest_sha256"][:16])


def test_what_was_drawn_and_given_up_is_not_drawn_where_its_end_was_not_written(
    quick, monkeypatch
):
    folders = ReleaseFolders(quick.settings.releases)
    (folders.stage("rel_1", 1) / "cells.parquet").write_bytes(b"half")
    assert not folders.was_given_up("rel_1")
    folders.give_up("rel_1", 1)
    (left,) = folders.present()
    assert (folders.was_given_up("rel_1"), list(left.iterdir())) == (True, [])
    press = Press(quick)
    monkeypatch.setattr(ReleaseFolders, "was_given_up", lambda *_: True)
    drawn_once(monkeypatch)
    ended = press.run(press.submit(spec()))
    assert (ended["state"], ended["attempts"]) == ("failed", 1)
    assert "charge stays spent" in ended["error"]
    assert press.folders() == []  # it is nobody's in the making


def test_an_attempt_that_stood_still_deletes_nothing_of_the_one_that_took_over(quick):
    """Else what the other draws could not be written, and its charge would fail."""
    folders = ReleaseFolders(quick.settings.releases)
    first = folders.stage("rel_1", 1)
    second = folders.stage("rel_1", 2)  # its lease ran out meanwhile
    assert folders.present() == [second]
    late = folders.stage("rel_1", 1)
    folders.give_up("rel_1", 1)
    assert [one.exists() for one in (first, second, late)] == [False, True, False]
    third = folders.stage("rel_1", 3)
    assert [path for path in folders.present() if ".part-" in path.name] == [third]


def test_a_changed_folder_is_not_taken_for_what_was_written(quick):
    folders = ReleaseFolders(quick.settings.releases)
    part = folders.stage("rel_1", 1)
    (part / "manifest.json").write_bytes(b"{}")
    digest = hashlib.sha256(b"{}").hexdigest()
    folders.settle(part, "rel_1", digest, "2026-05-04T09:30:00+00:00")
    assert folders.whole("rel_1") == b"{}"
    (folders.path("rel_1", digest) / "manifest.json").write_bytes(b"[]")
    assert folders.whole("rel_1") is None


def test_what_fails_before_the_measurement_for_a_passing_reason_is_begun_again(
    quick, monkeypatch
):
    press = Press(quick)
    read = at_work.read_secret

    def unreadable(path):
        raise OSError(errno.EIO, "the disk is away")

    monkeypatch.setattr(at_work, "read_secret", unreadable)
    monkeypatch.setattr("server.use_cases.jobs.running.POSTPONED_MS", 0)
    job = press.submit(spec())
    assert press.run(job)["state"] not in ENDED
    monkeypatch.setattr(at_work, "read_secret", read)
    assert press.run(job)["state"] == "done"


def test_a_principal_of_another_population_is_refused_as_one_that_nobody_has(quick):
    press = Press(quick)
    with quick.services() as services:
        PeopleService(services, "local:test").create_principal("zoe", "analyst")
    told = []
    for name in ("zoe", "nobody"):
        with pytest.raises(InvalidOptionError) as refused:
            press.submit(spec(readers=[{"principal": name}]))
        told.append(str(refused.value).replace(name, "NAME"))
    assert told[0] == told[1]
    quick.analyst("ada", "study")
    done = press.publish(spec(readers=[{"principal": "ada"}]))
    assert done["state"] == "done"


def test_a_job_whose_execution_failed_says_so_in_a_sentence(quick, monkeypatch):
    def failing(*_, **__):
        raise ExecutionError

    monkeypatch.setattr(DuckDbEngine, "count_cube", failing)
    ended = Press(quick).publish(spec())
    assert ended["state"] == "failed"
    assert ended["error"].startswith("the work could not be executed")


@pytest.mark.sampled
@pytest.mark.parametrize(("slot_seconds", "late"), [(0, 0), (1, 1), (3_600, 0)])
def test_releases_that_missed_their_time_are_counted(quick, slot_seconds, late):
    quick.release_slot_s = slot_seconds  # of 1 s, the commit's own second is too much
    press = Press(quick)
    ended = press.publish_unseen(spec()) if slot_seconds > 1 else press.publish(spec())
    assert ended["state"] == "done"
    assert ended["result"]["late"] == bool(late)
    with press.services() as services:
        readings = Odometers(services).read(late=0)
    assert isinstance(readings, Readings)
    assert readings.late_releases == late


def test_what_was_drawn_is_written_where_the_ledger_says_nothing_meanwhile(
    quick, monkeypatch
):
    press = Press(quick)
    asked = []

    def silent(self):
        asked.append(self)
        if len(asked) > 1:  # behind the draw
            statement = "UPDATE job"
            raise OperationalError(statement, {}, Exception("disk is full"))

    monkeypatch.setattr(JobContext, "require_lease", silent)
    ended = press.run(press.submit(spec()))
    assert (ended["state"], ended["attempts"]) == ("done", 1)


def test_a_release_without_room_for_its_folder_is_never_drawn(quick, monkeypatch):
    press = Press(quick)

    def full(*_):
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(ReleaseFolders, "stage", full)
    drawn_once(monkeypatch)
    ended = press.run(press.submit(spec()))
    assert (ended["state"], ended["attempts"]) == ("failed", 1)
    assert "charge stays spent" in ended["error"]


def test_what_neither_disk_takes_is_not_drawn_again_by_the_same_worker(
    quick, monkeypatch
):
    press = Press(quick)

    def away(*_):
        raise OSError(errno.EROFS, "read-only")

    def silent(*_):
        raise LedgerUnavailableError(message="full", query_id="q")

    monkeypatch.setattr("server.use_cases.jobs.running.POSTPONED_MS", 0)
    job = press.submit(spec())
    with press.services() as services, monkeypatch.context() as broken:
        runner = make_runner(
            services, threading.Event(), lease_ms=300, beat_seconds=0.05
        )
        broken.setattr(at_work, "write_release", away)
        broken.setattr(ReleaseFolders, "give_up", away)
        broken.setattr(JobStore, "finish", silent)
        with pytest.raises(LedgerUnavailableError):
            runner.run_one(job)
        broken.undo()
        drawn_once(monkeypatch)
        while not runner.run_one(job):
            time.sleep(0.1)  # until the lease has run out
        ended = make_jobs(services).show(OPERATOR, job)
    assert ended["state"] == "failed"
    assert "charge stays spent" in ended["error"]
