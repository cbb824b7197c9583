"""When a job ends, and the next one of its queue begins, tells nothing of its work."""

import threading
import time
from datetime import datetime

import pytest
from sqlalchemy import select, update

from budget.storage.tables import chain
from server.bootstrap import make_runner
from server.persistence import tables
from server.use_cases.extraction.pipelines import pipelines, stages
from server.use_cases.jobs.kinds import JobContext
from server.use_cases.jobs.store import MAX_ATTEMPTS, JobStore
from server.use_cases.services.paging import Page
from tests.support.data.notes import write_notes, write_pipeline
from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.texts import OPERATOR, Texts

SLOT = 3
LONG = 12 * SLOT  # so long a work has slots of twice the length


@pytest.fixture
def texts(tmp_path):
    made = ImportingInstallation(tmp_path).create()
    made.load()
    made.release_slot_s = SLOT
    write_notes(made.folder, range(1, 9))
    with made.services() as services:
        yield Texts(made, services)


def work(texts, **more):
    """Run the next job, from the middle of a slot on."""
    while not 1.2 <= time.time() % SLOT < SLOT / 2 + 0.5:
        time.sleep(0.02)
    runner = make_runner(texts.services, threading.Event(), beat_seconds=0.05)
    assert runner.run_one(**more)


def ended(texts, job):
    """Return how a job ended, and when, in seconds since 1970."""
    with texts.services.databases.reader.connect() as connection:
        row = connection.execute(select(tables.job).where(tables.job.c.id == job)).one()
    return row.state, datetime.fromisoformat(row.ended).timestamp()


def begun_before(texts, job, seconds):
    """Let earlier attempts have worked so long."""
    table = tables.job
    with texts.services.databases.work.begin() as connection:
        connection.execute(
            update(table).where(table.c.id == job).values(worked_ms=seconds * 1000)
        )


def read(texts):
    return texts.submit("text.read", declaration="notes.yaml")


def fail(texts):
    job = read(texts)
    path = texts.folder / "notes.yaml"
    path.write_text(path.read_text() + " ")
    return job


def cancel(texts, monkeypatch):
    job = read(texts)
    begin = pipelines.TextJob.begin

    def cancelled_meanwhile(kind, context, parameters):
        begin(kind, context, parameters)
        texts.jobs.cancel(OPERATOR, job)
        threading.Event().wait(0.5)  # it is told so with a beat

    monkeypatch.setattr(pipelines.TextJob, "begin", cancelled_meanwhile)
    return job


@pytest.mark.long
@pytest.mark.parametrize("state", ["done", "failed", "cancelled"])
def test_a_job_about_texts_ends_at_the_end_of_a_slot(texts, monkeypatch, state):
    if state == "cancelled":
        job = cancel(texts, monkeypatch)
    else:
        job = read(texts) if state == "done" else fail(texts)
    work(texts)
    how, when = ended(texts, job)
    assert how == state
    assert when % SLOT < 1  # the commit's own time


def cut_off(texts, job, attempts=1):
    """Let a job's workers have died."""
    table = tables.job
    with texts.services.databases.work.begin() as connection:
        connection.execute(
            update(table)
            .where(table.c.id == job)
            .values(state="running", attempts=attempts, lease_until_ms=0)
        )


@pytest.mark.long
@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_a_job_whose_workers_died_ends_at_the_end_of_a_slot(texts, state):
    job = read(texts)
    if state == "failed":
        cut_off(texts, job, MAX_ATTEMPTS)
    else:
        cut_off(texts, job)
        texts.jobs.cancel(OPERATOR, job)
    work(texts)
    how, when = ended(texts, job)
    assert how == state
    assert when % SLOT < 1


@pytest.mark.long
def test_the_slot_grows_with_the_work_of_all_attempts(texts):
    job = read(texts)
    begun_before(texts, job, LONG)
    work(texts)
    assert ended(texts, job)[1] % (2 * SLOT) < 1


@pytest.mark.long
def test_what_attempts_worked_is_written_with_their_beats(texts):
    job = read(texts)
    begun_before(texts, job, LONG)
    work(texts, at_slot=False)
    row = JobStore(texts.services.databases).get(job)
    assert LONG * 1000 <= row.worked_ms < LONG * 1000 + 60_000


@pytest.mark.long
def test_at_a_terminal_nobody_waits(texts):
    work(texts, only=read(texts), at_slot=False)
    assert texts.jobs.page(OPERATOR, Page(50, None))["items"][0]["stage"] != "slot"


@pytest.mark.long
@pytest.mark.parametrize("told", [{"dry_run": True}, {}], ids=["dry", "refused"])
def test_a_load_that_records_nothing_ends_at_the_end_of_a_slot_in_its_queue(
    texts, told
):
    rows = ["1,F,no age,north,2024-03-03,n"] if not told else ["1,F,30,north,,n"]
    path = texts.installation.write_manifest(rows)
    job = texts.submit("dataset.load", manifest=str(path), **told)
    work(texts)
    state, when = ended(texts, job)
    assert state in {"done", "failed"}
    assert when % SLOT < 1


def recorded(texts):
    """Return when the last load was recorded."""
    with texts.services.databases.reader.connect() as connection:
        loads = chain.c.body.contains('"action":"dataset.load"')
        told = connection.scalars(select(chain.c.time).where(loads)).all()
    return datetime.fromisoformat(told[-1]).timestamp()


@pytest.mark.long
def test_the_slot_of_a_pipelines_load_grows_with_its_work_on_texts(texts, monkeypatch):
    tag = stages.tag

    def long_tagging(stage, parts, finding):
        tag(stage, parts, finding)
        context.append(stage._context)
        context[0].rest(-LONG)  # as if it had worked so long

    context: list[JobContext] = []
    monkeypatch.setattr(stages, "tag", long_tagging)
    texts.done("text.read", declaration="notes.yaml")
    write_pipeline(texts.folder, models="[rules]")
    texts.done("text.pipeline", pipeline="pipeline.yaml")
    assert len(context) == 1
    assert recorded(texts) % (2 * SLOT) < 1


@pytest.mark.long
def test_the_slot_of_a_load_grows_with_the_work_of_earlier_attempts(texts):
    path = texts.installation.write_manifest()
    job = texts.submit("dataset.load", manifest=str(path))
    begun_before(texts, job, LONG)
    work(texts)
    assert recorded(texts) % (2 * SLOT) < 1
    assert ended(texts, job)[0] == "done"
