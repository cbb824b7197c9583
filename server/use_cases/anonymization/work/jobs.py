"""The kind of job that makes a de-identified copy of texts: ``anonymize.texts``.

A copy is a folder of its own, written whole before the job's result names it: what a
killed attempt left is deleted by the next one, or by whoever cleans.
"""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from privacy.errors import CuratorError
from privacy.times import shown_time
from server.use_cases.anonymization.copies import CopyFolders, copy_id, private_file
from server.use_cases.anonymization.service import WARNING
from server.use_cases.anonymization.work.copying import (
    CopiedDocument,
    CopyCounts,
    TextCopier,
)
from server.use_cases.anonymization.work.declarations import TextCopy
from server.use_cases.extraction.declarations import (
    FilePath,
    Found,
    prepared_file,
    submitted_file,
)
from server.use_cases.extraction.store.texts import Collection
from server.use_cases.extraction.tagging import model_id
from server.use_cases.extraction.work import TextJob, TextParts, own, told_to
from server.use_cases.jobs.kinds import (
    JobContext,
    JobParameters,
    Prepared,
)
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.secret_files import read_secret
from server.use_cases.services.services import Services, now_text
from upstream.anonymization.texts.kinds import Kind, kinds_of
from upstream.extraction.text.spans import GOLD, AnnotatedDocument

DOCUMENTS: Final = "documents.jsonl"
BROKEN_BY: Final = (
    "what somebody knows of a patient besides: a rare disease, a job, a family",
    "two copies of the same patients, or one and a table: what both tell joins them",
    "identifiers that no span marked and no other document of the patient has",
    "knowing by which rules the copy was made",
)
"""What is known to break a copy of texts; it stands in each manifest."""


class CopyParameters(JobParameters):
    """A file under CURATOR_IMPORT that declares a copy."""

    file: FilePath
    dry_run: bool = False


class TextCopyJob(TextJob):
    """Makes a de-identified copy of a collection, or says what it would be."""

    name = "anonymize.texts"
    parameters: type[JobParameters] = CopyParameters

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._folders = CopyFolders(services.settings.anonymized)

    def prepare(self, parameters: JobParameters) -> Prepared:
        """Check the file, the collection, whose spans, and what their types are.

        Raises:
            CommandRefusedError: The path leads out of the import folder.
            UnpreparedError: Something that the file names is not there, or is wrong.
        """
        given = own(parameters, CopyParameters)
        found = prepared_file(TextCopy, self._services.settings.import_, given.file)
        declared = found.declared
        self.require_population(declared.population)
        try:
            parts = self._parts()
            collection, finder, _ = given_of(parts, declared)
        except CuratorError as error:
            raise told_to(declared.population, error) from None
        inputs: list[Document] = [
            found.input,
            {"collection": collection.id, "name": collection.name},
            {"finder": finder},
        ]
        told = given.model_copy(update={"file": str(found.path)})
        return Prepared(told, declared.population, inputs)

    def run(self, context: JobContext, parameters: JobParameters) -> Document:
        """Make the copy.

        Raises:
            CommandRefusedError: It was refused; nothing was made.
            JobStoppedError: The job was cancelled, or has to be let go.
        """
        self.begin(context, parameters)
        given = own(parameters, CopyParameters)
        configured = self._services.settings.import_
        found = submitted_file(TextCopy, configured, given.file, context.inputs[0])
        secret = read_secret(self._services.settings.secret_file)
        making = _Making(context, self._parts(), found.declared, secret)
        making.gather()
        if given.dry_run:
            for _ in making.copies():
                pass  # counted alone
            return self._told(context, found, making.counts(), None)
        try:
            digest = self._settled(context, making)
        except OSError as error:
            self._folders.discard(context.job_id)
            message = f"the copy could not be written: {error.strerror}"
            raise CommandRefusedError(message) from None
        return self._told(context, found, making.counts(), digest)

    def _settled(self, context: JobContext, making: "_Making") -> str:
        """Write a copy whole; return its manifest's digest.

        Raises:
            CommandRefusedError: Identifiers are left, and the file forbids that.
            OSError: It cannot be written.
        """
        _written(self._folders.stage(context.job_id) / DOCUMENTS, making.copies())
        making.require_none_left()
        told: Document = {"job": context.job_id, "created_by": context.actor}
        context.require_lease()
        return self._folders.settle(context.job_id, making.manifest() | told)

    def _told(
        self,
        context: JobContext,
        found: Found[TextCopy],
        counts: Document,
        digest: str | None,
    ) -> Document:
        """Conclude the job; return its result. Without a digest nothing was made."""
        declared = found.declared
        result: Document = {
            "name": declared.name,
            "copy": None if digest is None else copy_id(context.job_id),
            "profile": declared.profile,
            "warning": WARNING,
            **counts,
        }
        outputs: list[Document] = []
        if digest is not None:
            outputs = [{"copy": copy_id(context.job_id), "manifest_sha256": digest}]
        with self._services.databases.work.begin() as connection:
            self.check_actor(connection, context)
            context.conclude(connection, result, outputs)
        return result

    def discard(self, context: JobContext, *, is_over: bool) -> None:
        """Delete what ended jobs wrote without an end, and what is left of texts."""
        with self._services.databases.reader.connect() as connection:
            held = {f"job_{one.id[5:]}" for one in self._folders.all()}
            left = set(self._folders.jobs()) - held
            gone = self.over(connection, context, left, is_over=is_over)
        own_copy = [context.job_id] if is_over else []
        for job in {*gone, *own_copy}:
            self._folders.discard(job)
        super().discard(context, is_over=is_over)


class _Making:
    """One attempt: the documents, what is known of their patients, and the counts."""

    def __init__(
        self, context: JobContext, parts: TextParts, declared: TextCopy, secret: bytes
    ) -> None:
        self._context, self._parts, self._declared = context, parts, declared
        self._collection, self._finder, kinds = given_of(parts, declared)
        self._copier = TextCopier(declared, kinds, secret)
        self._counted = CopyCounts()
        with parts.databases.reader.connect() as connection:
            self._total = parts.texts.count(connection, self._collection.id)

    def gather(self) -> None:
        """Note what was found of each patient.

        Raises:
            CommandRefusedError: No document names one, where a field is declared.
            JobStoppedError: The job has to stop.
        """
        for number in self._copier.gather(self._documents()):
            self._context.progress("gather", number, self._total)
        name = self._declared.patient
        if name and self._total and self._copier.without_patient == self._total:
            known = ", ".join(sorted(self._copier.fields)) or "none"
            message = (
                f"no document of {self._declared.collection} has the field {name!r}: "
                f"they have {known}. Nothing was made"
            )
            raise CommandRefusedError(message)

    def copies(self) -> Iterator[CopiedDocument]:
        """Yield the copies of all documents, and count them."""
        for number, one in enumerate(self._documents(), 1):
            copied = self._copier.copied(one)
            self._counted.add(one, copied)
            yield copied
            self._context.progress("rewrite", number, self._total)

    def counts(self) -> Document:
        """Return what was done, counted."""
        alone = self._copier.without_patient if self._declared.patient else 0
        return {
            **self._counted.document(),
            "documents_without_patient": alone,
            "never_marked": self._copier.never_marked(),
        }

    def require_none_left(self) -> None:
        """Refuse a copy in which identifiers are left, where the file says so.

        Raises:
            CommandRefusedError: Some are.
        """
        counted = self._counted
        if self._declared.residues == "refuse" and counted.with_exact:
            counts = sorted(counted.exact.items())
            kinds = ", ".join(f"{count} of {kind}" for kind, count in counts)
            message = (
                f"{counted.with_exact} of {counted.documents} documents still hold "
                f"identifiers of their patients ({kinds}): look at them by 'curator "
                "anonymize preview', or write residues: tag. Nothing was made"
            )
            raise CommandRefusedError(message)

    def manifest(self) -> Document:
        """Return what the copy's manifest says, but for its files and its job."""
        declared = self._declared
        return {
            "format": "curator anonymized copy 1",
            "kind": "texts",
            "name": declared.name,
            "population": declared.population,
            "warning": WARNING,
            "broken_by": list(BROKEN_BY),
            "profile": declared.profile,
            "replacement": declared.replacement,
            "types": dict(declared.types),
            "dates": declared.dates.model_dump(),
            "residues": declared.residues,
            "collection": self._collection.name,
            "finder": self._finder,
            "counts": self.counts(),
            "created": shown_time(now_text()),
        }

    def _documents(self) -> Iterator[AnnotatedDocument]:
        return self._parts.annotated(self._collection.id, self._finder)


def _written(path: Path, copies: Iterable[CopiedDocument]) -> None:
    """Write copies in the order of their drawn ids, which tells no other order."""
    places = {}
    unordered = path.with_suffix(".unordered")
    with private_file(unordered) as written:
        for one in copies:
            told = {"id": one.id, "patient": one.patient, "text": one.text}
            kept = {name: value for name, value in told.items() if value is not None}
            line = json.dumps(kept, ensure_ascii=False).encode() + b"\n"
            places[one.id] = written.tell(), len(line)
            written.write(line)
        with private_file(path) as ordered:
            for _, (at, length) in sorted(places.items()):
                written.seek(at)
                ordered.write(written.read(length))
            ordered.flush()
            os.fsync(ordered.fileno())
    unordered.unlink()


def given_of(
    parts: TextParts, declared: TextCopy
) -> tuple[Collection, str, dict[str, Kind | None]]:
    """Return the collection, the finder, and what its types stand for.

    Raises:
        CuratorError: One is not there, or a type is not declared.
    """
    collection = parts.collection(declared.population, declared.collection)
    finder = declared.finder
    if finder != GOLD:
        finder = model_id(parts, declared.population, finder)
    parts.require_finding(collection, finder)
    with parts.databases.reader.connect() as connection:
        labels = parts.spans.labels(connection, collection.id, finder)
    return collection, finder, kinds_of(labels, dict(declared.types))
