"""Texts, spans and models as rows, on both databases, with and without a key."""

import secrets
from contextlib import contextmanager

import pytest
from sqlalchemy import LargeBinary, select

from budget.storage.databases import Databases
from server.persistence.schema import upgrade
from server.persistence.text_tables import metadata
from server.use_cases.extraction.store.bodies import SetAside
from server.use_cases.extraction.store.models import ModelStore, NewModel, model_id_of
from server.use_cases.extraction.store.slices import Slices
from server.use_cases.extraction.store.spans import Finding, SpanStore
from server.use_cases.extraction.store.texts import (
    NewCollection,
    StoredDocument,
    TextStore,
)
from server.use_cases.extraction.work import delete_collection
from server.use_cases.services.errors import CommandRefusedError, NoSuchThingError
from server.use_cases.services.text_cipher import TextCipher, TextKeyError
from tests.effort import gate_first
from upstream.extraction.text.documents import Place, TextDocument, pieces_of
from upstream.extraction.text.spans import Span

KEY = secrets.token_bytes(32)
NEW = NewCollection("texts_1", "people", "notes", "{}", "job_1", "grace")
TEXTS = ["Ann Lee, 56", "älter\0\ud800\n", ""]


@pytest.fixture(params=gate_first(1, ["sqlite", "postgresql"]))
def databases(request, tmp_path):
    url = f"sqlite:///{tmp_path / 'curator.sqlite'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("empty_database")
    databases = Databases(url)
    with databases.writer.begin() as connection:
        upgrade(connection)
    yield databases
    databases.close()


def documents():
    for number, text in enumerate(TEXTS, 1):
        pieces = pieces_of(text, "utf-8") if "\ud800" not in text else ()
        place = Place("folder/a.txt", f"part {number}")
        document = TextDocument(f"a{number}", text, place, pieces, {"patient": "7"})
        yield StoredDocument(number, document)


def aside(number):
    return SetAside(f"b{number}", f"b{number}.txt", "", "empty", "b.txt: it is empty")


def fill(databases, store, new=NEW):
    slices = Slices(databases)
    with databases.work.begin() as connection:
        store.begin_collection(connection, new)
    store.insert_documents(slices, new.id, list(documents()))
    store.insert_quarantined(slices, new.id, 1, [aside(1), aside(2)])
    with databases.work.begin() as connection:
        store.finish_collection(connection, new.id)


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "sealed"])
def test_documents_and_what_was_set_aside_are_read_as_they_were_written(databases, key):
    store = TextStore(TextCipher(key))
    fill(databases, store)
    with databases.reader.connect() as connection:
        found = store.collection(connection, "people", "notes")
        assert list(store.documents(connection, found.id)) == list(documents())
        assert store.count(connection, found.id) == 3
        assert store.reasons(connection, found.id) == {"empty": 2}
        ((number, last),) = store.quarantined(connection, found.id, after=1, most=9)
    assert (number, last.key, last.file) == (2, "b2", "b2.txt")


def bodies(databases):
    """Return every stored byte and word of the tables of texts."""
    with databases.reader.connect() as connection:
        return [
            (
                column,
                value if isinstance(column.type, LargeBinary) else str(value).encode(),
            )
            for table in metadata.tables.values()
            for column in table.columns
            for value in connection.execute(select(column)).scalars()
        ]


def test_with_a_key_no_text_field_or_place_is_in_the_database(databases):
    fill(databases, TextStore(TextCipher(KEY)))
    held = bodies(databases)
    assert len(held) > 20
    for secret in (b"Ann", b"patient", b"folder", b"is empty"):
        assert [str(column) for column, value in held if secret in value] == []
    fill(
        databases,
        TextStore(TextCipher(None)),
        NewCollection("texts_2", "people", "plain", "{}", "job_2", "grace"),
    )
    assert any(b"Ann Lee" in value for _, value in bodies(databases))  # it can be found


def test_rows_of_before_there_was_a_key_are_read_beside_new_ones(databases):
    fill(databases, TextStore(TextCipher(None)))
    later = TextStore(TextCipher(KEY))
    new = NewCollection("texts_2", "people", "later", "{}", "job_2", "grace")
    fill(databases, later, new)
    with databases.reader.connect() as connection:
        for collection in ("texts_1", "texts_2"):
            assert list(later.documents(connection, collection)) == list(documents())


def test_without_the_key_texts_are_refused_and_counts_are_not(databases):
    fill(databases, TextStore(TextCipher(KEY)))
    without = TextStore(TextCipher(None))
    with databases.reader.connect() as connection:
        assert without.count(connection, "texts_1") == 3
        with pytest.raises(TextKeyError, match="CURATOR_TEXT_KEY"):
            list(without.documents(connection, "texts_1"))


def test_a_name_is_one_collections_of_its_population(databases, tmp_path):
    store = TextStore(TextCipher(None))
    fill(databases, store)
    with databases.work.begin() as connection:
        store.begin_collection(connection, NEW)  # again, for the same job
        theirs = NewCollection("texts_9", "others", "notes", "{}", "job_9", "alan")
        store.begin_collection(connection, theirs)
        twice = NewCollection("texts_8", "people", "notes", "{}", "job_8", "alan")
        with pytest.raises(CommandRefusedError, match="choose another name"):
            store.begin_collection(connection, twice)
        with pytest.raises(NoSuchThingError):  # it is not whole yet
            store.collection(connection, "others", "notes")
        assert store.unfinished_of(connection, "job_1") == []  # finished: it stays
        assert store.unfinished_of(connection, "job_9") == ["texts_9"]
    delete_collection(Slices(databases), tmp_path, store, "texts_9")
    with databases.reader.connect() as connection:
        assert [one.id for one in store.collections(connection)] == ["texts_1"]
        assert store.unfinished_jobs(connection) == set()


def test_spans_are_read_as_they_were_found_and_go_with_their_collection(
    databases, tmp_path
):
    store, spans = TextStore(TextCipher(None)), SpanStore()
    fill(databases, store)
    found = {1: (Span(0, 7, "NAME", 0.5, "m"), Span(9, 11, "AGE", 1 / 3, "m"))}
    finding = Finding("texts_1", "model_1", "job_2", "grace")
    with databases.work.begin() as connection:
        spans.begin_finding(connection, finding)
    spans.insert_spans(Slices(databases), "texts_1", "model_1", found)
    with databases.work.begin() as connection:
        assert spans.finders(connection, "texts_1") == {}
        assert spans.unfinished_jobs(connection) == {"job_2"}
        spans.finish_finding(connection, "texts_1", "model_1", "job_2")
        again = Finding("texts_1", "model_1", "job_3", "grace")
        with pytest.raises(CommandRefusedError, match="already"):
            spans.begin_finding(connection, again)
    with databases.reader.connect() as connection:
        assert spans.finders(connection, "texts_1") == {"model_1": 2}
        assert spans.labels(connection, "texts_1", "model_1") == {"AGE": 1, "NAME": 1}
        assert spans.spans(connection, "texts_1", "model_1", range(1, 3)) == found
    delete_collection(Slices(databases), tmp_path, store, "texts_1")
    with databases.reader.connect() as connection:
        assert spans.finders(connection, "texts_1") == {}
        assert store.collections(connection) == []


def test_a_model_is_known_by_its_name_and_its_id_in_its_population_alone(databases):
    models = ModelStore(TextCipher(KEY))
    new = NewModel("people", "names", "{}", {"documents": 3}, "job_5", "grace")
    learned = b"what it learned of Ann"
    body = models.insert_parts(Slices(databases), model_id_of("job_5"), learned)
    assert b"Ann" not in body
    with databases.work.begin() as connection:
        models.insert(connection, new, body)
        with pytest.raises(CommandRefusedError, match="a model 'names'"):
            models.insert(connection, new, body)
    with databases.reader.connect() as connection:
        (row,) = models.rows(connection)
        assert models.row(connection, "people", "names") == row
        assert models.row(connection, "people", row.id) == row
        with pytest.raises(NoSuchThingError):
            models.row(connection, "others", row.id)
        with pytest.raises(CommandRefusedError, match="no model"):
            models.model(connection, row.id)  # these bytes are none
        with pytest.raises(TextKeyError):
            ModelStore(TextCipher(None)).model(connection, row.id)
    with databases.work.begin() as connection:
        models.delete(connection, row.id)
        assert models.rows(connection) == []


def test_whoever_deletes_late_deletes_nothing_of_another_job(databases):
    store, spans = TextStore(TextCipher(None)), SpanStore()
    fill(databases, store)
    found = {number: (Span(0, 1, "NAME", 0.5, "m"),) for number in range(1, 4)}

    def begin(job):
        with databases.work.begin() as connection:
            finding = Finding("texts_1", "model_1", job, "grace")
            spans.begin_finding(connection, finding)
        spans.insert_spans(Slices(databases), "texts_1", "model_1", found)

    begun = []

    def overtaken(_):
        if not begun:  # another cleaner was faster, and a job began anew
            begun.append("job_3")
            spans.delete_of(Slices(databases), "job_2")
            begin("job_3")

    begin("job_2")
    late = Slices(databases)
    reader = late.reader
    late.reader = lambda: overtaken_after(reader, overtaken)
    spans.delete_of(late, "job_2")
    with databases.reader.connect() as connection:
        assert spans.unfinished_jobs(connection) == {"job_3"}
        assert spans.spans(connection, "texts_1", "model_1", range(1, 4)) == found


@contextmanager
def overtaken_after(reader, happens):
    with reader() as connection:
        yield connection
    happens(None)
