"""The kind of job that makes a de-identified copy of texts: ``anonymize.texts``."""

import json
import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from privacy.wording import counted
from server.use_cases.anonymization.work.copy_jobs import (
    CopyJob,
    Counts,
    Making,
    refusing,
)
from server.use_cases.anonymization.work.files import (
    Reading,
    hierarchy_file,
    read_columns,
    read_crosswalk,
)
from server.use_cases.anonymization.work.members import RawMembers
from server.use_cases.anonymization.work.texts.copying import (
    CopiedDocument,
    CopyCounts,
    TextCopier,
)
from server.use_cases.anonymization.work.texts.declarations import (
    KnownIdentifiers,
    TextCopy,
)
from server.use_cases.extraction.declarations import Found
from server.use_cases.extraction.store.texts import Collection
from server.use_cases.extraction.tagging import model_id
from server.use_cases.extraction.work import TextParts
from server.use_cases.jobs.kinds import JobContext
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.private_files import private_file
from server.use_cases.services.secret_files import read_secret
from server.use_cases.services.services import Services
from upstream.anonymization.texts.kinds import Kind, kinds_of
from upstream.anonymization.texts.statistical import StatisticalView
from upstream.extraction.text.spans import GOLD, AnnotatedDocument

DOCUMENTS: Final = "documents.jsonl"
BROKEN_BY: Final = (
    "what somebody knows of a patient besides: a rare disease, a job, a family",
    "two copies of the same patients, or one and a table: what both tell joins them",
    "identifiers that no span marked and no other document of the patient has",
    "knowing by which rules the copy was made",
)
"""What is known to break a copy of texts; it stands in each manifest."""


class TextCopyJob(CopyJob):
    """Makes a de-identified copy of a collection, or says what it would be."""

    name = "anonymize.texts"
    declared = TextCopy
    kind = "texts"

    def inputs_of(self, found: Found[TextCopy]) -> list[Document]:
        """Return the collection and the finder of a file's.

        Raises:
            CuratorError: One is not there, or a type is not declared.
        """
        collection, finder, _ = given_of(self._parts(), found.declared)
        told: Document = {"collection": collection.id, "name": collection.name}
        return [told, {"finder": finder}]

    def making(self, context: JobContext, found: Found[TextCopy]) -> Making:
        """Begin an attempt: read once what all documents say of their patients.

        Raises:
            CommandRefusedError: No document names one, where a field is declared.
            JobStoppedError: The job has to stop.
        """
        declared, parts = found.declared, self._parts()
        given = given_of(parts, declared)
        copier = copier_of(self._services, declared, given)
        if declared.reads_beside:
            with self.reading(context) as reading:
                read_beside(copier, declared, reading)
        making = _Making(context, parts, declared, (given, copier))
        with refusing():  # lists that are too long, for one
            making.gather()
        return making


class _Making:
    """One attempt: the documents, what is known of their patients, and the counts."""

    def __init__(
        self,
        context: JobContext,
        parts: TextParts,
        declared: TextCopy,
        how: tuple["Given", TextCopier],
    ) -> None:
        self._context, self._parts, self._declared = context, parts, declared
        (self._collection, self._finder, _), self._copier = how
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
        lost = self._copier.without_patient
        if self._declared.linked and lost:
            message = (
                f"{lost} of {self._total} documents have an id that the crosswalk "
                "lacks: write it anew (curator linkage crosswalk), and id: where the "
                "linkage's source has one. Nothing was made"
            )
            raise CommandRefusedError(message)
        if name and self._total and lost == self._total:
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

    def planned(self) -> Document:
        """Return what would be done, counted."""
        for _ in self.copies():
            pass  # counted alone
        view = self._copier.view()
        choices = [] if view is None else list(self._choices(view))
        return self._counts() | ({"choices": choices} if choices else {})

    def _choices(self, view: StatisticalView) -> Iterator[Document]:
        for number, one in enumerate(view.choices(), 1):
            self._context.progress("try k", number, None)
            yield one

    def written(self, folder: Path) -> Document:
        """Write all copies; return what was done, counted.

        Raises:
            CommandRefusedError: Identifiers are left, and the file forbids that.
            OSError: They cannot be written.
        """
        _write(folder / DOCUMENTS, self.copies())
        self.require_none_left()
        return self._counts()

    def _counts(self) -> Document:
        alone = self._copier.without_patient if self._declared.has_patients else 0
        return {
            "profile": self._declared.profile,
            **self._counted.document(),
            "documents_without_patient": alone,
            "never_marked": self._copier.never_marked(),
            **({"measures": measures} if (measures := self._copier.measures) else {}),
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

    def members(self) -> RawMembers | None:
        """Return the patients, each in a class of his own."""
        patients = self._copier.patients()
        if patients is None:
            return None
        classes = range(len(patients))
        if self._declared.linked is not None:
            return RawMembers([], classes, patients)
        return RawMembers(patients, classes)

    def manifest(self) -> Document:
        """Return what was declared, and what breaks such copies."""
        declared = self._declared
        return {
            "broken_by": list(BROKEN_BY),
            "profile": declared.profile,
            "replacement": declared.replacement,
            "types": dict(declared.types),
            "dates": declared.dates.model_dump(),
            "residues": declared.residues,
            "statistical": declared.model_dump(mode="json")["statistical"],
            "known": declared.known is not None,
            "collection": self._collection.name,
            "finder": self._finder,
        }

    def summary(self, counts: Counts) -> list[str]:
        """Return in sentences what the copy is, and what may be left in it."""
        declared = self._declared
        documents = counted(counts["documents"], "document")
        people = counted(counts["patients"], "patient")
        whose = f" of {people}" if declared.has_patients else ""
        how = f"by the profile {declared.profile}, by {declared.replacement}"
        left = counted(counts["documents_with_left"], "document")
        never = ", ".join(counts["never_marked"]) or "none"
        return [
            f"{documents}{whose}, de-identified {how}; marked by {declared.finder}",
            f"identifiers that nobody marked: in {left} ({_DONE[declared.residues]})",
            f"kinds of identifiers that nobody looked for: {never}",
            *_risk_of(counts.get("measures")),
        ]

    def _documents(self) -> Iterator[AnnotatedDocument]:
        return self._parts.annotated(self._collection.id, self._finder)


_DONE: Final = {
    "tag": "those that were found are tagged",
    "flag": "they stand there",
    "refuse": "none that was found",
}


def _risk_of(measures: Counts | None) -> list[str]:
    if measures is None:
        return []
    told = ", ".join(
        f"{name} {value}"
        for name, value in measures.items()
        if isinstance(value, int | float)
    )
    return [f"generalized values: {told}"]


def _write(path: Path, copies: Iterable[CopiedDocument]) -> None:
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


Given = tuple[Collection, str, dict[str, Kind | None]]
"""A collection, whose spans of it are meant, and what their types stand for."""


def given_of(parts: TextParts, declared: TextCopy) -> Given:
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


def copier_of(services: Services, declared: TextCopy, given: Given) -> TextCopier:
    """Return what rewrites documents as a file declares."""
    return TextCopier(
        declared,
        given[2],
        read_secret(services.settings.secret_file),
        partial(hierarchy_file, services.settings.import_),
    )


def read_beside(copier: TextCopier, declared: TextCopy, reading: Reading) -> None:
    """Read whose documents are, and what else is known of patients.

    Args:
        copier: Is told.
        declared: The files.
        reading: What they are read with.

    Raises:
        CuratorError: The files do not serve.
    """
    if declared.linked is not None:
        copier.link(read_crosswalk(declared.linked, reading))
    if declared.known is not None:
        for patient, kind, text in _known(declared.known, reading):
            copier.know(patient, kind, text)


def _known(told: KnownIdentifiers, reading: Reading) -> Iterator[tuple[str, Kind, str]]:
    of_view = ["attribute", "value"] if told.attributes else []
    columns = list(dict.fromkeys((told.patient, *told.columns, *of_view)))
    read = read_columns(told.table, columns, reading).columns
    patients = read[told.patient]
    for name, of_column in told.columns.items():
        for patient, text in zip(patients, read[name], strict=True):
            if patient is not None and text is not None:
                yield patient, of_column, text
    if told.attributes:
        rows = zip(patients, read["attribute"], read["value"], strict=True)
        for patient, attribute, text in rows:
            kind = told.attributes.get(attribute or "")
            if patient is not None and text is not None and kind is not None:
                yield patient, kind, text
