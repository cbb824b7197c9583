"""What whoever works on the host does with texts and models, without a job."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from sqlalchemy import select

from server.persistence import tables
from server.persistence.text_tables import text_origin
from server.use_cases.extraction.formats import Format
from server.use_cases.extraction.store.slices import Slices
from server.use_cases.extraction.store.texts import Collection
from server.use_cases.extraction.work import (
    CREATE,
    RULES,
    TextParts,
    delete_collection,
    tables_folder,
)
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError, NoSuchThingError
from server.use_cases.services.services import Services
from upstream.extraction.gold.brat import write_brat
from upstream.extraction.gold.json_spans import write_json_spans, write_presidio
from upstream.extraction.gold.outcomes import Refused
from upstream.extraction.gold.tagged_files import write_tagged
from upstream.extraction.text.spans import GOLD, AnnotatedDocument

_WRITERS: dict[
    str, Callable[[Iterable[AnnotatedDocument], Path], tuple[Refused, ...]]
] = {
    "brat": write_brat,
    "json": write_json_spans,
    "presidio": write_presidio,
    "tags": write_tagged,
}


class TextService:
    """Lists, shows, exports and deletes; what is deleted is named in the chain."""

    def __init__(self, services: Services, actor: str) -> None:
        self._services = services
        self._actor = actor

    def population(self, told: str | None) -> str:
        """Return the population that is meant: the only one, where none is told.

        Raises:
            CommandRefusedError: There are several, or none.
        """
        if told is not None:
            return told
        with self._services.databases.reader.connect() as connection:
            names = connection.execute(select(tables.population.c.name)).scalars()
            known = list(names)
        if len(known) == 1:
            return str(known[0])
        message = (
            "say whose texts with --population"
            if known
            else f"there is no population: {CREATE}"
        )
        raise CommandRefusedError(message)

    def collections(self) -> list[Document]:
        """Return all collections, with what was found in each."""
        parts = TextParts(self._services)
        with self._services.databases.reader.connect() as connection:
            return [
                {
                    "name": one.name,
                    "population": one.population,
                    "documents": parts.texts.count(connection, one.id),
                    "quarantined": sum(
                        parts.texts.reasons(connection, one.id).values()
                    ),
                    "spans": parts.spans.finders(connection, one.id),
                    "created": one.created,
                    "id": one.id,
                }
                for one in parts.texts.collections(connection)
            ]

    def documents(
        self, population: str | None, name: str, *, after: int, most: int
    ) -> list[Document]:
        """Return documents behind a number: where they stand, without their texts."""
        parts, found = self._found(population, name)
        with self._services.databases.reader.connect() as connection:
            page = parts.texts.page(connection, found.id, after=after, most=most)
        return [
            {
                "number": one.number,
                "id": one.document.id,
                "file": one.document.place.file,
                "item": one.document.place.item,
                "characters": len(one.document.text),
                "fields": dict(one.document.fields),
            }
            for one in page
        ]

    def quarantined(
        self, population: str | None, name: str, *, after: int, most: int
    ) -> list[Document]:
        """Return what was set aside behind a number, and why."""
        parts, found = self._found(population, name)
        with self._services.databases.reader.connect() as connection:
            page = parts.texts.quarantined(connection, found.id, after=after, most=most)
        return [
            {
                "number": number,
                "id": one.key,
                "file": one.file,
                "item": one.item,
                "reason": one.reason,
                "sentence": one.sentence,
            }
            for number, one in page
        ]

    def export(
        self,
        population: str | None,
        name: str,
        *,
        finder: str,
        written: Format,
        target: Path,
    ) -> Document:
        """Write a collection with the spans of a finder, as a gold standard is.

        JSON alone says how sure a finder is, and who it is; the others are for people
        who correct what was found.

        Raises:
            CommandRefusedError: The target exists, or nobody found such spans.
        """
        parts, found = self._found(population, name)
        finder = self._finder(parts, found, finder)
        if target.exists():
            message = f"{target} exists: nothing was written"
            raise CommandRefusedError(message)
        try:
            _make_private(target, is_folder=written in {"brat", "tags"})
            annotated = parts.annotated(found.id, finder)
            if written != "json":
                annotated = map(_as_marked, annotated)
            refused = _WRITERS[written](annotated, target)
        except OSError as error:
            message = f"{target} cannot be written: {error.strerror}"
            raise CommandRefusedError(message) from None
        with self._services.databases.reader.connect() as connection:
            documents = parts.texts.count(connection, found.id)
        return {
            "to": str(target),
            "documents": documents - len(refused),
            "refused": [str(one) for one in islice(refused, 20)],
        }

    def origins(self, job: str, row: int) -> list[Document]:
        """Return what each value of a row of a pipeline's table was made of.

        Offsets are those of the original: bytes of a file, or characters of a value.

        Raises:
            NoSuchThingError: The job made no such row, or its texts were deleted.
        """
        parts, table = TextParts(self._services), text_origin
        wanted = table.c.job == job, table.c.row == row
        with self._services.databases.reader.connect() as connection:
            rows = connection.execute(select(table).where(*wanted)).all()
            if not rows:
                message = f"the job {job} made no row {row}"
                raise NoSuchThingError(message)
            before = rows[0].document - 1
            page = parts.texts.page(
                connection, rows[0].collection, after=before, most=1
            )
        if not page:
            message = "the texts that the row was made of were deleted"
            raise NoSuchThingError(message)
        document = page[0].document
        return [
            {
                "column": one.column,
                "document": document.id,
                "file": document.place.file,
                "item": document.place.item,
                "unit": document.place.unit,
                "from_to": None
                if one.start is None
                else list(document.original_range(one.start, one.end)),
                "finder": one.finder or None,
            }
            for one in rows
        ]

    def delete(self, population: str | None, name: str) -> Document:
        """Delete a collection and all that was found in it."""
        parts, found = self._found(population, name)
        facts = {"population": found.population, "collection": found.id, "name": name}
        with self._services.ledger.recorded("text.delete", self._actor, facts):
            pass
        tables = tables_folder(self._services)
        slices = Slices(self._services.databases)
        delete_collection(slices, tables, parts.texts, found.id)
        return {"deleted": name, "id": found.id}

    def models(self) -> list[Document]:
        """Return all models, a line each."""
        parts = TextParts(self._services)
        with self._services.databases.reader.connect() as connection:
            rows = parts.models.rows(connection)
        shown = ("name", "population", "created", "created_by", "id")
        return [{name: one.document()[name] for name in shown} for one in rows]

    def model(self, population: str | None, name: str) -> Document:
        """Return what is known of a model, but for what it learned."""
        population = self.population(population)
        parts = TextParts(self._services)
        with self._services.databases.reader.connect() as connection:
            return parts.models.row(connection, population, name).document()

    def delete_model(self, population: str | None, name: str) -> Document:
        """Delete a model; the spans that it found stay."""
        population = self.population(population)
        parts = TextParts(self._services)
        with self._services.databases.reader.connect() as connection:
            row = parts.models.row(connection, population, name)
        facts = {"population": population, "model": row.id, "name": row.name}
        recorded = self._services.ledger.recorded("model.delete", self._actor, facts)
        with recorded as change:
            parts.models.delete(change.connection, row.id)
        parts.models.delete_parts(Slices(self._services.databases), row.id)
        return {"deleted": row.name, "id": row.id}

    def _found(self, population: str | None, name: str) -> tuple[TextParts, Collection]:
        parts = TextParts(self._services)
        return parts, parts.collection(self.population(population), name)

    def _finder(self, parts: TextParts, found: Collection, told: str) -> str:
        """Return a finder by its name: a model's id is what spans are kept under.

        Raises:
            CommandRefusedError: It found nothing in this collection.
        """
        with self._services.databases.reader.connect() as connection:
            finders = parts.spans.finders(connection, found.id)
            if told not in {*finders, GOLD, RULES}:
                told = parts.models.row(connection, found.population, told).id
        parts.require_finding(found, told)
        return told


def _as_marked(one: AnnotatedDocument) -> AnnotatedDocument:
    """Return a document with its spans as a person would have marked them."""
    spans = (replace(span, score=1.0, source=GOLD) for span in one.spans)
    return AnnotatedDocument(one.document, tuple(spans))


def _make_private(target: Path, *, is_folder: bool) -> None:
    """Make a file or a folder that others on the host cannot open: it holds notes."""
    if is_folder:
        target.mkdir(mode=0o700, parents=True)
    else:
        target.touch(mode=0o600, exist_ok=False)
