"""No transaction about texts grows with what one patient has, and none is half done."""

import secrets
from collections import Counter
from contextlib import contextmanager

import pytest
from sqlalchemy import event, func, select, update

from server.persistence import tables
from server.persistence.text_tables import (
    text_document,
    text_origin,
    text_part,
    text_span,
)
from server.use_cases.extraction.pipelines import table_making
from server.use_cases.extraction.reading import ReadJob
from server.use_cases.extraction.service import TextService
from server.use_cases.extraction.store.parts import PART_BYTES
from server.use_cases.extraction.store.slices import SLICE_BYTES, SLICE_ROWS, Slices
from server.use_cases.extraction.tagging import RulesFinder, TagJob
from server.use_cases.jobs import running
from server.use_cases.services.errors import JobStoppedError
from server.use_cases.services.text_cipher import TextKeyError
from tests.effort import gate_first
from tests.support.data.notes import declare, write_gold, write_notes, write_pipeline
from tests.support.installations.harness import STRANGERS, ImportingInstallation
from tests.support.installations.texts import Texts

pytestmark = pytest.mark.thorough

DATES = "1/1/2024 " * 700
LONG = ("é" * 99 + "\n") * 10_000
"""A note of a million characters, of two million bytes as it is stored."""


@pytest.fixture(params=gate_first(1, ["sqlite", "postgresql"]))
def texts(request, tmp_path):
    shared = request.param == "postgresql"
    url = request.getfixturevalue("empty_database") if shared else ""
    made = ImportingInstallation(tmp_path, url=url).create()
    made.load()
    with made.services() as services:
        yield Texts(made, services)


class Watch:
    """Counts the rows and the bytes that each transaction wrote or deleted."""

    def __init__(self):
        self.seen = []
        self.listeners = {
            "begin": self.on_begin,
            "after_cursor_execute": self.on_execute,
            "commit": self.on_commit,
        }

    def on_begin(self, connection):
        connection.info["written"] = [0, 0]

    def on_execute(self, connection, cursor, statement, parameters, _, is_many):
        if not statement.startswith(("INSERT", "DELETE", "UPDATE")):
            return
        rows = parameters if is_many else [parameters]
        told = [row.values() if isinstance(row, dict) else row for row in rows]
        size = sum(map(size_of, (v for row in told for v in row)))
        count = len(rows) if is_many else max(0, cursor.rowcount)
        if statement.startswith("DELETE FROM text_part"):
            size = count * PART_BYTES
        connection.info["written"][0] += count
        connection.info["written"][1] += size

    def on_commit(self, connection):
        self.seen.append(tuple(connection.info["written"]))


def size_of(value):
    """Return the bytes of a text or of bytes, in whatever a driver wrapped them."""
    value = getattr(value, "obj", value)
    return len(value) if isinstance(value, bytes | str) else 0


@contextmanager
def watched(databases):
    """Yield what each transaction of a block wrote or deleted."""
    watch = Watch()
    for engine in (databases.work, databases.writer):
        for name, listener in watch.listeners.items():
            event.listen(engine, name, listener)
    try:
        yield watch.seen
    finally:
        for engine in (databases.work, databases.writer):
            for name, listener in watch.listeners.items():
                event.remove(engine, name, listener)


def require_small(seen):
    """Require that transactions were many and that each had a slice's rows and bytes.

    A job's own row and a ledger's entry come to a slice: 4 rows and 10,000 bytes.
    """
    assert seen
    assert max(rows for rows, _ in seen) <= SLICE_ROWS + 4
    assert max(size for _, size in seen) <= SLICE_BYTES + 10_000


def write_long_notes(folder, *more):
    path = write_notes(folder, range(1, 31))
    for number, text in enumerate(more, 1):
        (folder / "notes" / f"p0077-{number}.txt").write_text(text, "utf-8")
    return path


def tagged(texts, model="rules"):
    told = {"population": "people", "collection": "notes", "model": model}
    return texts.run("text.tag", **told)


def test_reading_tagging_and_deleting_take_the_ledgers_lock_for_slices(texts):
    path = write_long_notes(texts.folder, LONG, DATES)
    with watched(texts.services.databases) as seen:
        texts.read(path)
        spans = tagged(texts)["result"]["spans"]
        require_small(seen)
        assert sum(spans.values()) > 700
        assert sum(rows for rows, _ in seen) > 700
        assert sum(size for _, size in seen) > 1_000_000
        TextService(texts.services, "local:test").delete(None, "notes")
        require_small(seen)
    assert counts(texts) == Counter()


def test_a_cancelled_jobs_spans_are_deleted_in_slices(texts, monkeypatch):
    texts.read(write_long_notes(texts.folder, DATES))
    cut_off_once(monkeypatch, text_span, JobStoppedError, at=5)
    with watched(texts.services.databases) as seen:
        assert tagged(texts)["state"] == "failed"
    require_small(seen)
    assert len(seen) > 10
    assert counts(texts)["text_span"] == 0
    assert tagged(texts)["state"] == "done"


def test_a_pipelines_origins_are_written_and_deleted_in_slices(texts, monkeypatch):
    texts.read(write_long_notes(texts.folder, DATES))
    path = write_pipeline(texts.folder, models="[rules]")
    told = path.read_text().replace(
        "  columns:\n", "  rows: {span: DATE}\n  columns:\n", 1
    )
    path.write_text(told.replace("unit: patient", "unit: person"))  # it is refused
    held = table_making._ORIGINS
    with watched(texts.services.databases) as seen:
        made = texts.run("text.pipeline", pipeline="pipeline.yaml")
    assert made["state"] == "failed"
    require_small(seen)
    assert sum(rows for rows, _ in seen) > 2 * held  # written, and deleted again
    assert counts(texts)["text_origin"] == 0


@pytest.mark.long
def test_a_long_model_is_kept_in_parts_and_goes_with_them(texts):
    write_notes(texts.folder, range(1, 9))
    texts.read("notes.yaml")
    terms = "\n".join(f"fever of kind {n},code {n}" for n in range(40_000))
    (texts.folder / "terms.csv").write_text(f"{terms}\nNothing else,none\n")
    declared = {"model": "terms", "terms": {"SYMPTOM": "terms.csv"}, "forms": False}
    declare(texts.folder, "terms", "people", **declared)
    path = texts.folder / "terms.yaml"
    path.write_text(path.read_text().replace('"collection": "terms", ', ""))
    with watched(texts.services.databases) as seen:
        model = texts.done("text.terms", declaration="terms.yaml")["model"]
    require_small(seen)
    assert counts(texts)["text_part"] > 5
    assert tagged(texts, "terms")["result"]["spans"] == {"SYMPTOM": 8}
    with texts.services.databases.work.begin() as connection:
        last = select(func.max(text_part.c.part)).scalar_subquery()
        connection.execute(text_part.delete().where(text_part.c.part == last))
    with (
        texts.services.databases.reader.connect() as connection,
        pytest.raises(TextKeyError, match="missing"),
    ):
        texts.parts().models.model(connection, model)
    with watched(texts.services.databases) as seen:
        TextService(texts.services, "local:test").delete_model(None, "terms")
    require_small(seen)
    assert counts(texts)["text_part"] == 0


def test_what_a_refused_model_had_stored_is_deleted(texts, monkeypatch):
    write_gold(texts.folder, range(100, 140))
    texts.read("gold.yaml")
    monkeypatch.setattr("server.use_cases.extraction.store.parts.PART_BYTES", 1_000)
    cut_off_once(monkeypatch, text_part, JobStoppedError, at=1)
    spec = {"training": {"algorithm": "ap", "iterations": 2}, "rules": "none"}
    told = {"population": "people", "model": "names", "gold": "gold", "spec": spec}
    assert texts.run("text.train", **told)["state"] == "failed"
    assert counts(texts)["text_part"] == 0
    assert texts.run("text.train", **told)["state"] == "done"
    assert counts(texts)["text_part"] > 0


def counts(texts):
    """Return how many rows of documents, spans, parts and origins there are."""
    with texts.services.databases.reader.connect() as connection:
        return +Counter(
            {
                table.name: connection.execute(
                    select(func.count()).select_from(table)
                ).scalar_one()
                for table in (text_document, text_span, text_part, text_origin)
            }
        )


def cut_off_once(monkeypatch, table, error, *, at, meanwhile=lambda: None):
    """Let an attempt end between two slices of a table, once."""
    passed = []
    insert = Slices.insert

    def cut(slices, into, rows):
        if into is not table or len(passed) > at:
            insert(slices, into, rows)
            return
        for row in rows:
            insert(slices, into, [row])
            passed.append(row)
            if len(passed) == at + 1:
                meanwhile()
                if error is not None:
                    raise error

    monkeypatch.setattr(Slices, "insert", cut)
    monkeypatch.setattr(running, "POSTPONED_MS", -1)
    return passed


def held(texts, finder="rules"):
    """Return every document's text and spans."""
    parts = texts.parts()
    found = parts.collection("people", "notes")
    return [(one.document.text, one.spans) for one in parts.annotated(found.id, finder)]


def found_in(told):
    return [(text, next(RulesFinder().find([text]))) for text, _ in told]


@pytest.mark.parametrize("at", gate_first(1, [0, 33, 400]))
def test_a_tagging_that_is_cut_off_within_a_document_resumes_to_the_same_spans(
    texts, monkeypatch, at
):
    texts.read(write_long_notes(texts.folder, DATES))
    passed = cut_off_once(monkeypatch, text_span, OSError(), at=at)
    seen = tagged(texts)
    assert (seen["state"], seen["attempts"], len(passed)) == ("done", 2, at + 1)
    told = held(texts)
    assert told == found_in(told)
    assert len(told) == 31


@pytest.mark.parametrize("table", [text_part, text_document], ids=["part", "document"])
def test_a_reading_that_is_cut_off_within_a_batch_resumes_to_the_same_documents(
    texts, monkeypatch, table
):
    path = write_long_notes(texts.folder, LONG, DATES)
    passed = cut_off_once(monkeypatch, table, OSError(), at=7)
    job = texts.run("text.read", declaration=str(path))
    assert (job["state"], job["attempts"], len(passed)) == ("done", 2, 8)
    told = sorted(text for text, _ in held(texts))
    notes = (texts.folder / "notes").glob("*.txt")
    assert told == sorted(one.read_text("utf-8") for one in notes)


def test_a_gold_standard_that_is_cut_off_within_its_spans_has_each_once(
    texts, monkeypatch
):
    write_gold(texts.folder, range(100, 180), name="notes")
    cut_off_once(monkeypatch, text_span, OSError(), at=50)
    job = texts.run("text.read", declaration="notes.yaml")
    assert (job["state"], job["attempts"]) == ("done", 2)
    assert job["result"]["spans"] == dict.fromkeys(
        ["AGE", "DATE", "NAME", "WEIGHT"], 80
    )


def test_whoever_lost_a_job_writes_no_more_slices(texts, monkeypatch):
    """Another worker has done it all meanwhile: nothing is there twice."""
    texts.read(write_long_notes(texts.folder, DATES))

    def another_does_it():
        job = tables.job
        with texts.services.databases.work.begin() as connection:
            mine = job.c.state == "running"
            lost = {"lease_until_ms": 0, "lease_boot": "lost"}  # no beat renews it
            connection.execute(update(job).where(mine).values(**lost))
        texts.work()

    passed = cut_off_once(monkeypatch, text_span, None, at=9, meanwhile=another_does_it)
    seen = tagged(texts)
    assert (seen["state"], seen["attempts"], len(passed)) == ("done", 2, 10)
    told = held(texts)
    assert told == found_in(told)


def test_with_a_key_a_jobs_position_names_no_file(texts, monkeypatch):
    key = texts.folder.parent / f"{texts.folder.name}.textkey"
    key.write_text(secrets.token_hex(32))
    key.chmod(0o600)
    texts.services.settings.text_key = key
    path = write_long_notes(texts.folder, DATES)
    monkeypatch.setattr("server.use_cases.extraction.reading.BATCH_DOCUMENTS", 10)
    cut_off_once(monkeypatch, text_document, OSError(), at=25)
    job = texts.run("text.read", declaration=str(path))
    assert (job["state"], job["attempts"]) == ("done", 2)
    assert len(held(texts, "none")) == 31
    with texts.services.databases.reader.connect() as connection:
        position = connection.execute(
            select(tables.job.c.position).where(tables.job.c.id == job["id"])
        ).scalar_one()
    assert position.startswith("[31, 0, ")
    assert "-" not in position  # of p0077-1.txt; base64 has neither sign
    assert ".txt" not in position
    key.unlink()


def test_what_a_position_was_before_is_gone_on_with(texts, monkeypatch):
    """Earlier versions wrote it plain."""
    path = write_long_notes(texts.folder, DATES)
    monkeypatch.setattr("server.use_cases.extraction.reading.BATCH_DOCUMENTS", 10)
    kind = "server.use_cases.extraction.reading._Reached.to_json"
    plain = lambda now, *_: [now.documents, now.set_aside, now.after]  # noqa: E731 - short
    monkeypatch.setattr(kind, plain)
    passed = cut_off_once(monkeypatch, text_document, OSError(), at=25)
    job = texts.run("text.read", declaration=str(path))
    assert (job["state"], job["attempts"]) == ("done", 2)
    assert len(passed) == 26
    assert len(held(texts)) == 31


@pytest.mark.parametrize("is_their_own", gate_first(1, [True, False]))
def test_what_an_ended_job_left_is_deleted_by_jobs_of_its_population_alone(
    texts, monkeypatch, is_their_own
):
    """Others would wait for it, and see how much it is."""
    texts.installation.load(STRANGERS, dataset="ours", population="others")
    texts.read(write_long_notes(texts.folder, DATES))
    with monkeypatch.context() as patched:
        patched.setattr(ReadJob, "discard", lambda *_, **__: None)
        patched.setattr(TagJob, "discard", lambda *_, **__: None)
        cut_off_once(patched, text_span, JobStoppedError, at=20)
        assert tagged(texts)["state"] == "failed"
    left = counts(texts)["text_span"]
    assert left > 10
    population = "people" if is_their_own else "others"
    source = {"kind": "text", "folder": "no", "files": ["*.txt"]}
    declare(texts.folder, "more", population, source=source)
    assert texts.run("text.read", declaration="more.yaml")["state"] == "failed"
    assert counts(texts)["text_span"] == (0 if is_their_own else left)


def test_a_collection_that_is_deleted_while_it_is_tagged_leaves_nothing(
    texts, monkeypatch
):
    texts.read(write_long_notes(texts.folder, DATES))

    def delete():
        TextService(texts.services, "local:test").delete(None, "notes")

    cut_off_once(monkeypatch, text_span, None, at=9, meanwhile=delete)
    seen = tagged(texts)
    assert (seen["state"], seen["error"]) == (
        "failed",
        "the collection was deleted meanwhile: nothing more was stored",
    )
    assert counts(texts) == Counter()
