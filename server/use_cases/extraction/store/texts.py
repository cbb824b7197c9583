"""Collections of documents as rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select, update

from query_lang.binding.outside_domain import nearest_value
from server.persistence.text_tables import (
    text_collection,
    text_document,
    text_finding,
    text_part,
    text_quarantined,
    text_span,
)
from server.use_cases.extraction.store.bodies import (
    SetAside,
    document_body,
    document_of,
    set_aside_body,
    set_aside_of,
)
from server.use_cases.extraction.store.parts import cut, delete_parts, joined
from server.use_cases.extraction.store.slices import Row, Slices
from server.use_cases.services.errors import CommandRefusedError, NoSuchThingError
from server.use_cases.services.services import now_text
from server.use_cases.services.text_cipher import TextCipher
from upstream.extraction.text.documents import TextDocument

PAGE = 100
"""Documents that are held at once."""
UNFINISHED, WHOLE = "unfinished", "whole"


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents that were read together.

    ``job`` read them; ``source`` is its declaration, JSON.
    """

    id: str
    population: str
    name: str
    source: str
    job: str
    state: str
    created: str
    created_by: str


@dataclass(frozen=True, slots=True)
class NewCollection:
    """A collection that a job is about to read."""

    id: str
    population: str
    name: str
    source: str
    job: str
    actor: str


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document and its number in its collection, from 1."""

    number: int
    document: TextDocument


class TextStore:
    """The tables of texts; what writes is given its transaction, or slices of many."""

    def __init__(self, cipher: TextCipher) -> None:
        self._cipher = cipher

    def begin_collection(self, connection: Connection, new: NewCollection) -> None:
        """Make a collection that nobody sees yet; once for its job.

        Raises:
            CommandRefusedError: The population has a collection of this name.
        """
        held = connection.execute(
            select(text_collection.c.job).where(
                text_collection.c.population == new.population,
                text_collection.c.name == new.name,
            )
        ).scalar_one_or_none()
        if held == new.job:
            return
        if held is not None:
            message = (
                f"population {new.population!r} has a collection {new.name!r}, or a "
                "job is reading one: choose another name, or delete that one"
            )
            raise CommandRefusedError(message)
        connection.execute(
            insert(text_collection).values(
                id=new.id,
                population=new.population,
                name=new.name,
                source=new.source,
                job=new.job,
                state=UNFINISHED,
                created=now_text(),
                created_by=new.actor,
            )
        )

    def finish_collection(self, connection: Connection, collection: str) -> None:
        """Let a collection be seen."""
        connection.execute(
            update(text_collection)
            .where(text_collection.c.id == collection)
            .values(state=WHOLE)
        )

    def collection(
        self, connection: Connection, population: str, name: str
    ) -> Collection:
        """Return a whole collection of a population.

        Raises:
            NoSuchThingError: There is none.
        """
        row = connection.execute(
            select(text_collection).where(
                text_collection.c.population == population,
                text_collection.c.name == name,
                text_collection.c.state == WHOLE,
            )
        ).one_or_none()
        if row is None:
            near = nearest_value(name, self._names(connection, population))
            meant = f"did you mean {near!r}? " if near else ""
            message = (
                f"population {population!r} has no collection {name!r}: {meant}see "
                "'curator text list'"
            )
            raise NoSuchThingError(message)
        return Collection(**row._mapping)  # noqa: SLF001 - public, but for its dash

    def _names(self, connection: Connection, population: str) -> list[str]:
        found = self.collections(connection)
        return [one.name for one in found if one.population == population]

    def collections(self, connection: Connection) -> list[Collection]:
        """Return all whole collections, oldest first."""
        rows = connection.execute(
            select(text_collection)
            .where(text_collection.c.state == WHOLE)
            .order_by(text_collection.c.created, text_collection.c.id)
        )
        return [Collection(**row._mapping) for row in rows]  # noqa: SLF001 - as above

    def hide(self, connection: Connection, collection: str) -> None:
        """Let nobody see a collection any more: it is about to be deleted."""
        connection.execute(
            update(text_collection)
            .where(text_collection.c.id == collection)
            .values(state=UNFINISHED)
        )

    def delete_all(self, slices: Slices, collection: str) -> None:
        """Delete a collection that nobody sees, and all that was found in it."""
        slices.delete(text_finding, text_finding.c.collection == collection)
        slices.delete(text_span, text_span.c.collection == collection)  # none is added
        self.delete_behind(slices, collection)
        slices.delete(text_collection, text_collection.c.id == collection)

    def delete_behind(
        self, slices: Slices, collection: str, after: int = 0, set_aside: int = 0
    ) -> None:
        """Delete the documents behind a number, and what was set aside behind one."""
        delete_parts(slices, collection, after=after)
        for table, number in ((text_document, after), (text_quarantined, set_aside)):
            theirs = table.c.collection == collection, table.c.number > number
            slices.delete(table, *theirs)

    def insert_documents(
        self, slices: Slices, collection: str, documents: Sequence[StoredDocument]
    ) -> None:
        """Write documents; a long one's parts before its row."""
        rows: list[Row] = []
        further: list[Row] = []
        for one in documents:
            first, parts = cut(collection, one.number, self._closed(collection, one))
            further += parts
            rows.append(
                {
                    "collection": collection,
                    "number": one.number,
                    "key": one.document.id,
                    "characters": len(one.document.text),
                    "body": first,
                }
            )
        slices.insert(text_part, further)
        slices.insert(text_document, rows)

    def _closed(self, collection: str, one: StoredDocument) -> bytes:
        place = text_document.name, collection, one.number, one.document.id
        return self._cipher.encrypt(document_body(one.document), *place)

    def insert_quarantined(
        self, slices: Slices, collection: str, first: int, found: Sequence[SetAside]
    ) -> None:
        """Write what was set aside; the first has the number ``first``."""
        rows = (
            {
                "collection": collection,
                "number": number,
                "reason": one.reason,
                "body": self._cipher.encrypt(
                    set_aside_body(one), text_quarantined.name, collection, number
                ),
            }
            for number, one in enumerate(found, first)
        )
        slices.insert(text_quarantined, rows)

    def count(self, connection: Connection, collection: str) -> int:
        """Return how many documents a collection has."""
        return connection.execute(
            select(func.count())
            .select_from(text_document)
            .where(text_document.c.collection == collection)
        ).scalar_one()

    def documents(
        self, connection: Connection, collection: str, *, after: int = 0
    ) -> Iterator[StoredDocument]:
        """Yield documents by their numbers, a page of them held at once.

        Raises:
            TextKeyError: They cannot be opened.
        """
        while page := self.page(connection, collection, after=after):
            yield from page
            after = page[-1].number

    def keys(self, connection: Connection, collection: str) -> Iterator[str]:
        """Yield the ids of a collection's documents, in no order."""
        table = text_document
        yield from connection.execute(
            select(table.c.key).where(table.c.collection == collection)
        ).scalars()

    def page(
        self, connection: Connection, collection: str, *, after: int, most: int = PAGE
    ) -> list[StoredDocument]:
        """Return the next documents behind a number.

        Raises:
            TextKeyError: They cannot be opened.
        """
        table = text_document
        rows = connection.execute(
            select(table.c.number, table.c.key, table.c.body)
            .where(table.c.collection == collection, table.c.number > after)
            .order_by(table.c.number)
            .limit(most)
        ).all()
        bodies = joined(connection, collection, {row.number: row.body for row in rows})
        return [
            StoredDocument(
                row.number,
                document_of(
                    row.key,
                    self._cipher.decrypt(
                        bodies[row.number], table.name, collection, row.number, row.key
                    ),
                ),
            )
            for row in rows
        ]

    def quarantined(
        self, connection: Connection, collection: str, *, after: int = 0, most: int
    ) -> list[tuple[int, SetAside]]:
        """Return what was set aside, with its numbers.

        Raises:
            TextKeyError: It cannot be opened.
        """
        table = text_quarantined
        rows = connection.execute(
            select(table)
            .where(table.c.collection == collection, table.c.number > after)
            .order_by(table.c.number)
            .limit(most)
        ).all()
        return [
            (
                row.number,
                set_aside_of(
                    row.reason,
                    self._cipher.decrypt(row.body, table.name, collection, row.number),
                ),
            )
            for row in rows
        ]

    def reasons(self, connection: Connection, collection: str) -> dict[str, int]:
        """Return how many documents were set aside for each reason."""
        table = text_quarantined
        rows = connection.execute(
            select(table.c.reason, func.count())
            .where(table.c.collection == collection)
            .group_by(table.c.reason)
            .order_by(table.c.reason)
        ).all()
        return {reason: count for reason, count in rows}  # noqa: C416 - rows are typed

    def unfinished_of(self, connection: Connection, job: str) -> list[str]:
        """Return the collection that a job began and did not finish, if any."""
        left = connection.execute(
            select(text_collection.c.id).where(
                text_collection.c.job == job, text_collection.c.state == UNFINISHED
            )
        ).scalars()
        return list(left)

    def unfinished_jobs(self, connection: Connection) -> set[str]:
        """Return the jobs that began a collection and did not finish it."""
        return set(
            connection.execute(
                select(text_collection.c.job).where(
                    text_collection.c.state == UNFINISHED
                )
            ).scalars()
        )
