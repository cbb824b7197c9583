"""The kind of job that reads texts into a collection: ``text.read``."""

import base64
import json
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from sqlalchemy import Connection

from server.use_cases.extraction.declarations import (
    FilePath,
    GoldFiles,
    Texts,
    import_folder,
    prepared_file,
    submitted_file,
)
from server.use_cases.extraction.gold import is_storable, read_gold
from server.use_cases.extraction.store.bodies import SetAside
from server.use_cases.extraction.store.spans import Finding
from server.use_cases.extraction.store.texts import NewCollection, StoredDocument
from server.use_cases.extraction.work import TextJob, TextParts, Working, own
from server.use_cases.jobs.kinds import JobContext, JobParameters, Prepared
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.text_cipher import TextCipher
from upstream.extraction.reading.outcomes import (
    Json,
    Position,
    Quarantined,
    ReadDocument,
    Reason,
)
from upstream.extraction.reading.reading import read_documents
from upstream.extraction.reading.seen_ids import SeenIds
from upstream.extraction.reading.specs import SourceSpec
from upstream.extraction.text.spans import GOLD, AnnotatedDocument

BATCH_DOCUMENTS = 100
BATCH_CHARACTERS = 1_000_000
BATCH_SECONDS = 2.0
"""What is read is written after so much, so that little is lost."""
_UNMARKED = (
    "the gold standard marks no span: nothing is learned from it, and nobody judged"
)
_PLACE = "job", "position"  # of what is closed


class ReadParameters(JobParameters):
    """A file under CURATOR_IMPORT that declares texts."""

    declaration: FilePath


@dataclass(frozen=True, slots=True)
class _Step:
    """What came next, and where reading goes on behind it.

    ``after`` is a position of a source; of a gold standard how many items were passed.
    """

    found: AnnotatedDocument | SetAside
    after: Json


@dataclass(frozen=True, slots=True)
class _Reached:
    """How far a job is: how much is stored, and where reading goes on."""

    documents: int = 0
    set_aside: int = 0
    after: Json = None

    @classmethod
    def of(cls, position: object, cipher: TextCipher, job: str) -> "_Reached":
        """Return what an earlier attempt saved.

        Raises:
            TextKeyError: It was encrypted, with another key.
        """
        if position is None:
            return cls()
        documents, set_aside, after = cast("list[Json]", position)
        if isinstance(after, str):
            after = json.loads(cipher.decrypt(base64.b64decode(after), *_PLACE, job))
        return cls(cast("int", documents), cast("int", set_aside), after)

    def to_json(self, cipher: TextCipher, job: str) -> list[Json]:
        """Return what a later attempt is told: names of files are closed, as texts."""
        body = cipher.encrypt(json.dumps(self.after).encode(), *_PLACE, job)
        return [self.documents, self.set_aside, base64.b64encode(body).decode()]


@dataclass(slots=True)
class _Batch:
    """What was read and not written yet."""

    documents: list[AnnotatedDocument] = field(default_factory=list)
    set_aside: list[SetAside] = field(default_factory=list)
    after: Json = None
    characters: int = 0
    began: float = field(default_factory=time.monotonic)

    @property
    def is_full(self) -> bool:
        """Whether it is time to write it."""
        return (
            len(self.documents) + len(self.set_aside) >= BATCH_DOCUMENTS
            or self.characters >= BATCH_CHARACTERS
            or time.monotonic() - self.began >= BATCH_SECONDS
        )

    def add(self, step: _Step) -> None:
        """Add what came next."""
        self.after = step.after
        if isinstance(step.found, SetAside):
            self.set_aside.append(step.found)
            return
        self.documents.append(step.found)
        self.characters += len(step.found.document.text)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a job writes: its collection, and whether it is a gold standard."""

    parts: TextParts
    context: Working
    collection: str
    is_gold: bool

    def begin(self, declared: Texts) -> None:
        """Make the collection, once."""
        context = self.context
        new = NewCollection(
            self.collection,
            declared.population,
            declared.collection,
            declared.model_dump_json(exclude_none=True),
            context.job_id,
            context.actor,
        )
        finding = Finding(self.collection, GOLD, context.job_id, context.actor)
        with self.parts.databases.work.begin() as connection:
            self.parts.texts.begin_collection(connection, new)
            if self.is_gold:
                self.parts.spans.begin_finding(connection, finding)

    def write(self, batch: _Batch, reached: _Reached) -> _Reached:
        """Write what was read, and then the job's position."""
        texts, first = self.parts.texts, reached.documents + 1
        slices, to = self.parts.slices(self.context), self.collection
        numbered = [
            StoredDocument(number, one.document)
            for number, one in enumerate(batch.documents, first)
        ]
        texts.insert_documents(slices, to, numbered)
        texts.insert_quarantined(slices, to, reached.set_aside + 1, batch.set_aside)
        if self.is_gold:
            spans = {n: one.spans for n, one in enumerate(batch.documents, first)}
            self.parts.spans.insert_spans(slices, to, GOLD, spans)
        now = _Reached(
            reached.documents + len(batch.documents),
            reached.set_aside + len(batch.set_aside),
            batch.after,
        )
        with slices.transaction() as connection:
            position = now.to_json(self.parts.cipher, self.context.job_id)
            self.context.save_position_with(connection, position)
        return now

    def reached(self) -> _Reached:
        """Return how far an earlier attempt was."""
        return _Reached.of(
            self.context.position, self.parts.cipher, self.context.job_id
        )

    def forget(self, reached: _Reached) -> None:
        """Delete what an earlier attempt wrote and did not know to be written."""
        slices, to = self.parts.slices(self.context), self.collection
        if self.is_gold:
            self.parts.spans.delete_behind(slices, to, GOLD, reached.documents)
        self.parts.texts.delete_behind(slices, to, reached.documents, reached.set_aside)

    def require_documents(self) -> None:
        """Refuse a collection of nothing: its source was declared wrongly.

        Raises:
            CommandRefusedError: No document was read.
        """
        texts = self.parts.texts
        with self.parts.databases.reader.connect() as connection:
            if texts.count(connection, self.collection):
                return
            reasons = texts.reasons(connection, self.collection)
            first = texts.quarantined(connection, self.collection, after=0, most=1)
        why = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
        said = [_told(one) for _, one in first]
        message = f"no document was read: {'; '.join([why, *said]) or 'there is none'}"
        raise CommandRefusedError(message)

    def finish(self, connection: Connection) -> None:
        """Let the collection be seen."""
        self.parts.texts.finish_collection(connection, self.collection)
        if self.is_gold:
            job = self.context.job_id
            self.parts.spans.finish_finding(connection, self.collection, GOLD, job)


class ReadJob(TextJob):
    """Reads a source or a gold standard into a collection.

    Documents are stored in slices, and then the position behind them. An attempt that
    was cut off is gone on with: what is behind the position is deleted and read again.
    The collection is seen once it is whole.
    """

    name = "text.read"
    parameters: type[JobParameters] = ReadParameters

    def prepare(self, parameters: JobParameters) -> Prepared:
        """Read the declaration, and no text.

        Raises:
            CommandRefusedError: The path leads out of the import folder.
            UnpreparedError: There is no such file, or it is wrong.
        """
        given = own(parameters, ReadParameters)
        found = prepared_file(Texts, self._services.settings.import_, given.declaration)
        self.require_population(found.declared.population)
        return Prepared(
            ReadParameters(declaration=str(found.path)),
            found.declared.population,
            [found.input],
        )

    def run(self, context: JobContext, parameters: JobParameters) -> Document:
        """Read what there is.

        Raises:
            CommandRefusedError: It was refused; nothing of it is seen.
            IngestionError: The source names nothing, or a file changed meanwhile.
            JobStoppedError: The job was cancelled, or has to be let go.
        """
        self.begin(context, parameters)
        given = own(parameters, ReadParameters)
        configured = self._services.settings.import_
        declared = submitted_file(
            Texts, configured, given.declaration, context.inputs[0]
        ).declared
        collection = collection_id_of(context.job_id)
        target = Target(
            self._parts(), context, collection, is_gold=declared.gold is not None
        )
        target.begin(declared)
        read_into(target, declared, import_folder(configured))
        target.require_documents()
        return self._concluded(context, target, declared)

    def _concluded(
        self, context: JobContext, target: Target, declared: Texts
    ) -> Document:
        parts, collection = target.parts, target.collection
        with parts.databases.reader.connect() as connection:
            result: Document = {
                "collection": declared.collection,
                "id": collection,
                "documents": parts.texts.count(connection, collection),
                "quarantined": parts.texts.reasons(connection, collection),
            }
            if target.is_gold:
                labels = parts.spans.labels(connection, collection, GOLD)
                result["spans"] = labels
                result["warnings"] = [] if labels else [_UNMARKED]
        output: Document = {"collection": collection, "name": declared.collection}
        with parts.databases.work.begin() as connection:
            self.check_actor(connection, context)
            target.finish(connection)
            context.conclude(connection, result, [output])
        return result


def _told(one: SetAside) -> str:
    """Return what was set aside and why; most sentences name the file themselves."""
    name = one.file or one.key
    return one.sentence if one.sentence.startswith(name) else f"{name}: {one.sentence}"


def collection_id_of(job: str) -> str:
    """Return the id of the collection that a job reads.

    >>> collection_id_of("job_0123")
    'texts_0123'
    """
    return "texts_" + job.partition("_")[2]


def read_into(target: Target, declared: Texts, folder: Path) -> None:
    """Store what was not stored yet.

    Args:
        target: Where to, begun.
        declared: What is read.
        folder: The import folder, without links.

    Raises:
        IngestionError: The source names nothing, or a file changed meanwhile.
        JobStoppedError: The job was cancelled, or has to be let go.
    """
    reached, batch = target.reached(), _Batch()
    target.forget(reached)
    for step in _steps(declared, folder, target, reached.after):
        batch.add(step)
        if batch.is_full:
            reached, batch = target.write(batch, reached), _Batch()
        done = reached.documents + len(batch.documents)
        target.context.progress("read", done, None)
    if batch.after is not None:
        target.write(batch, reached)


def _steps(
    declared: Texts, folder: Path, target: Target, after: Json
) -> Iterator[_Step]:
    """Yield what was not stored yet."""
    if declared.gold is not None:
        yield from _gold_steps(declared.gold, folder, cast("int | None", after) or 0)
    elif declared.source is not None:
        with closing(SeenIds()) as seen:
            _remember(target, seen)
            yield from _source_steps(declared.source, folder, after, seen)


def _remember(target: Target, seen: SeenIds) -> None:
    """Let the ids of what is stored be known: a second document of one is set aside."""
    texts = target.parts.texts
    with target.parts.databases.reader.connect() as connection:
        for number, key in enumerate(texts.keys(connection, target.collection)):
            seen.is_new(key, Position(record=number, state="stored"))


def _gold_steps(gold: GoldFiles, folder: Path, passed: int) -> Iterator[_Step]:
    for number, found in enumerate(read_gold(gold, folder), 1):
        if number > passed:
            yield _Step(found, number)


def _source_steps(
    source: SourceSpec, folder: Path, after: Json, seen: SeenIds
) -> Iterator[_Step]:
    position = None if after is None else Position.from_json(after)
    for one in read_documents(source, folder, after=position, seen=seen):
        yield _Step(_stored(one), one.position.to_json())


def _stored(found: ReadDocument | Quarantined) -> AnnotatedDocument | SetAside:
    if isinstance(found, Quarantined):
        place = found.place
        said = str(found.reason), found.sentence
        return SetAside(found.id, place.file, place.item, *said)
    if not is_storable(found.id):
        place = found.place
        sentence = f"{place.file}, {place.item}: its id has a zero character"
        return SetAside("", place.file, place.item, str(Reason.BAD_NAME), sentence)
    return AnnotatedDocument(found, ())
