"""What the kinds of jobs about texts have in common."""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

from sqlalchemy import Connection, insert, or_, select

from privacy.errors import CuratorError
from query_lang.binding.outside_domain import nearest_value
from server.persistence import tables
from server.persistence.text_tables import text_begun, text_origin
from server.use_cases.extraction.store.models import (
    ModelStore,
    job_id_of,
    model_id_of,
)
from server.use_cases.extraction.store.slices import Slices
from server.use_cases.extraction.store.spans import SpanStore
from server.use_cases.extraction.store.texts import (
    PAGE,
    Collection,
    StoredDocument,
    TextStore,
)
from server.use_cases.jobs.actors import check_custodian
from server.use_cases.jobs.kinds import (
    JobContext,
    JobParameters,
    UnpreparedError,
)
from server.use_cases.jobs.store import ENDED, is_free
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.services import Services
from server.use_cases.services.text_cipher import TextCipher, read_text_key
from server.use_cases.services.work_ends import TEXTS_BEGUN
from upstream.extraction.models.model import TextModel
from upstream.extraction.models.rules import USUAL
from upstream.extraction.terms.terms import TermModel
from upstream.extraction.text.spans import GOLD, AnnotatedDocument

CREATE = (
    "create one: curator population create FILE, a manifest's, a pipeline's or a "
    "linkage's"
)
"""What to do where there is no population."""
RULES = "rules"
"""The finder that needs no model."""
Parameters = TypeVar("Parameters", bound=JobParameters)


class Working(Protocol):
    """What a stage of a job sees of it: ``JobContext``, or ``Stage`` of a pipeline."""

    @property
    def job_id(self) -> str:
        """The job's id."""
        ...

    @property
    def actor(self) -> str:
        """Who asked for the job."""
        ...

    @property
    def position(self) -> object:
        """Where an earlier attempt stopped; None at first."""
        ...

    def save_position_with(self, connection: Connection, position: object) -> None:
        """Write down where a later attempt goes on."""
        ...

    def require_lease_with(self, connection: Connection) -> None:
        """Let no other worker take the job until a transaction's end."""
        ...

    def progress(self, stage: str, done: int, total: int | None) -> None:
        """Say how far a stage is."""
        ...

    def raise_if_stopped(self) -> None:
        """End the job here where it has to stop."""
        ...


class TextParts:
    """The stores of texts, for one use: the key's file is read when it is needed."""

    def __init__(self, services: Services) -> None:
        """Open the stores.

        Raises:
            TextKeyError: The key's file is missing or holds none.
        """
        cipher = read_text_key(services.settings.text_key)
        self.cipher = cipher
        self.databases = services.databases
        self.texts = TextStore(cipher)
        self.models = ModelStore(cipher)
        self.spans = SpanStore()

    def slices(self, context: Working) -> Slices:
        """Return what writes for a job, while it is this worker's."""
        return Slices(self.databases, context.require_lease_with)

    def collection(self, population: str, name: str) -> Collection:
        """Return a population's collection.

        Raises:
            NoSuchThingError: There is none.
        """
        with self.databases.reader.connect() as connection:
            return self.texts.collection(connection, population, name)

    def pages(self, collection: str, after: int = 0) -> Iterator[list[StoredDocument]]:
        """Yield documents, a page at a time, each read in a short transaction."""
        while True:
            with self.databases.reader.connect() as connection:
                page = self.texts.page(connection, collection, after=after, most=PAGE)
            if not page:
                return
            yield page
            after = page[-1].number

    def annotated(self, collection: str, finder: str) -> Iterator[AnnotatedDocument]:
        """Yield a collection's documents with the spans of a finder."""
        for page in self.pages(collection):
            numbers = range(page[0].number, page[-1].number + 1)
            with self.databases.reader.connect() as connection:
                found = self.spans.spans(connection, collection, finder, numbers)
            for one in page:
                yield AnnotatedDocument(one.document, found.get(one.number, ()))

    def opened(self, model: str) -> TextModel | TermModel | None:
        """Return a model by its id; None: the rules.

        Raises:
            NoSuchThingError: It was deleted.
            TextKeyError: It cannot be opened.
        """
        if model == RULES:
            return None
        with self.databases.reader.connect() as connection:
            return self.models.model(connection, model)

    def require_finding(self, collection: Collection, finder: str) -> None:
        """Refuse where nobody went over a collection for these spans.

        Raises:
            CommandRefusedError: Nobody did.
        """
        with self.databases.reader.connect() as connection:
            finders = self.spans.finders(connection, collection.id)
        if finder not in finders:
            said = "is no gold standard" if finder == GOLD else f"has none of {finder}"
            has = f"spans of {', '.join(finders)}" if finders else "no spans"
            message = f"the collection {collection.name!r} {said}: it has {has}"
            raise CommandRefusedError(message)


def found_types(model: TextModel | TermModel | None) -> set[str]:
    """Return the types of the spans that a model can find; None: the rules."""
    return set(USUAL.values()) if model is None else set(model.found_types)


class TextJob:
    """A kind of job about texts: its beginning, and what it leaves behind.

    That it was asked for is in the chain, at a time that tells of submissions alone;
    when it ends, no entry is written (ADR 38).
    """

    name: str

    def __init__(self, services: Services) -> None:
        self._services = services

    def unbegun(self) -> list[str]:
        """Return the jobs that no entry names and that nobody works on."""
        job = tables.job
        wanted = (
            select(job.c.id)
            .where(
                job.c.kind == self.name,
                is_free(),
                job.c.cancel_requested.is_(False),
                job.c.id.not_in(select(text_begun.c.job)),
            )
            .order_by(job.c.created, job.c.id)
        )
        with self._services.databases.reader.connect() as connection:
            return list(connection.execute(wanted).scalars())

    def begin(self, context: JobContext, parameters: JobParameters) -> None:
        """Write the entry that says that the job was asked for, once.

        Raises:
            CommandRefusedError: Whoever asked for it is no custodian now.
        """
        del parameters
        facts = {
            "population": context.population,
            "job": context.job_id,
            "kind": self.name,
        }
        with self._services.databases.reader.connect() as connection:
            self.check_actor(connection, context)
            begun = connection.execute(
                select(text_begun.c.job).where(text_begun.c.job == context.job_id)
            ).first()
        if begun is not None:
            return
        recorded = self._services.ledger.recorded(TEXTS_BEGUN, context.actor, facts)
        with recorded as change:
            change.connection.execute(insert(text_begun).values(job=context.job_id))

    def settle(self) -> None:
        """Do nothing: what a job left is deleted by whoever cleans."""

    def clean(self) -> None:
        """Do nothing: what is left is rows, and deleted by ``discard``."""

    def discard(self, context: JobContext, *, is_over: bool) -> None:
        """Delete what ended jobs of the population began and did not finish.

        Raises:
            LeaseLostError: The job is another worker's now.
        """
        cipher, databases = (
            TextCipher(None),
            self._services.databases,
        )  # nothing is opened
        texts, spans, models = TextStore(cipher), SpanStore(), ModelStore(cipher)
        slices = Slices(databases, context.require_claim_with)
        with databases.reader.connect() as connection:
            begun = texts.unfinished_jobs(connection)
            begun |= spans.unfinished_jobs(connection)
            begun |= {job_id_of(one) for one in models.without_row(connection)}
            left = self.over(connection, context, begun, is_over=is_over)
        for job in left:
            spans.delete_of(slices, job)
            models.delete_parts(slices, model_id_of(job))
            with databases.reader.connect() as connection:
                unfinished = texts.unfinished_of(connection, job)
            for collection in unfinished:
                tables = tables_folder(self._services)
                delete_collection(slices, tables, texts, collection)

    def over(
        self,
        connection: Connection,
        context: JobContext,
        jobs: Iterable[str],
        *,
        is_over: bool,
    ) -> list[str]:
        """Return which of some jobs have ended, and are of a job's population.

        Args:
            connection: Of the transaction that reads.
            context: Of the job.
            jobs: Some jobs.
            is_over: Whether it has ended, too.
        """
        job = tables.job
        own = context.job_id if is_over else None
        has_ended = or_(job.c.state.in_(ENDED), job.c.id == own)
        theirs = job.c.population == context.population
        found = select(job.c.id).where(job.c.id.in_(sorted(jobs)), theirs, has_ended)
        return sorted(connection.execute(found).scalars())

    def holds_queue(self, result: Document | None) -> bool:
        """Whether the next job begins at the end of a slot: always (ADR 39)."""
        del result
        return True

    def check_actor(self, connection: Connection, context: JobContext) -> None:
        """Check that whoever asked for the job could ask for it now.

        Raises:
            CommandRefusedError: They could not.
        """
        check_custodian(connection, context.actor, str(context.population))

    def require_population(self, population: str) -> None:
        """Require that a population is there.

        Raises:
            UnpreparedError: It is not.
        """
        table = tables.population
        with self._services.databases.reader.connect() as connection:
            known = list(connection.execute(select(table.c.name)).scalars())
        if population not in known:
            near = nearest_value(population, known)
            meant = f"did you mean {near!r}? " if near is not None else ""
            # nobody is a custodian of it: only whoever works on the host is told
            message = f"there is no population {population!r}: {meant}{CREATE}"
            raise UnpreparedError(message, population)

    def _parts(self) -> TextParts:
        return TextParts(self._services)


def tables_folder(services: Services) -> Path:
    """Return where pipelines keep the tables that they made, a folder for each job."""
    return services.settings.data / "texts"


def delete_collection(
    slices: Slices, tables: Path, texts: TextStore, collection: str
) -> None:
    """Delete a collection, all that was found in it, and the tables made of it.

    It is seen no more from the first transaction on; whoever cleans goes on where this
    was cut off. What was loaded of such a table stays: it is a dataset.

    Args:
        slices: Delete them.
        tables: The folder of pipelines' tables.
        texts: The store.
        collection: The collection's id.
    """
    with slices.transaction() as connection:
        texts.hide(connection, collection)
    made = select(text_origin.c.job).where(text_origin.c.collection == collection)
    with slices.reader() as connection:
        jobs = list(connection.execute(made.distinct()).scalars())
    for job in jobs:
        delete_table(slices, tables, job)
    texts.delete_all(slices, collection)


def delete_table(slices: Slices, tables: Path, job: str) -> None:
    """Delete the table that a pipeline's job made, and its values' origins.

    Of what was cut off, whoever cleans finds the folder, or the origins: the files go
    first and the folder last.
    """
    folder = tables / job
    for file in folder.glob("*"):
        file.unlink(missing_ok=True)
    slices.delete(text_origin, text_origin.c.job == job)
    shutil.rmtree(folder, ignore_errors=True)


def told_to(population: str, error: CuratorError) -> UnpreparedError:
    """Return a refusal that only custodians of a population are told."""
    return UnpreparedError(str(error), population)


def own(parameters: JobParameters, kind: type[Parameters]) -> Parameters:
    """Return parameters as those of a kind, which they always are."""
    if not isinstance(parameters, kind):
        raise TypeError
    return parameters
