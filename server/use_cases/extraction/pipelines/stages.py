"""Stages of a job that works on texts: read them, let models go over them."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from server.use_cases.extraction.declarations import Texts, import_folder
from server.use_cases.extraction.reading import Target, collection_id_of, read_into
from server.use_cases.extraction.store.spans import Finding
from server.use_cases.extraction.store.texts import Collection
from server.use_cases.extraction.tagging import tag
from server.use_cases.extraction.work import TextParts
from server.use_cases.jobs.kinds import JobContext
from upstream.extraction.reading.specs import SourceSpec


@dataclass(frozen=True, slots=True)
class Wanted:
    """A population's collection, and where it is read from; None: it was read."""

    population: str
    collection: str
    source: SourceSpec | None


class Stage:
    """A stage of a pipeline's job, with a position of its own."""

    def __init__(self, context: JobContext, name: str) -> None:
        self._context = context
        self._name = name

    @property
    def job_id(self) -> str:
        """The job's id."""
        return self._context.job_id

    @property
    def actor(self) -> str:
        """Who asked for the job."""
        return self._context.actor

    @property
    def position(self) -> object:
        """Where an earlier attempt stopped in this stage; None: before it."""
        saved = self._context.position
        is_here = isinstance(saved, dict) and saved["stage"] == self._name
        return saved["at"] if isinstance(saved, dict) and is_here else None

    def save_position_with(self, connection: Connection, position: object) -> None:
        """Write down where a later attempt goes on in this stage."""
        told = {"stage": self._name, "at": position}
        self._context.save_position_with(connection, told)

    def require_lease_with(self, connection: Connection) -> None:
        """Let no other worker take the job until a transaction's end."""
        self._context.require_lease_with(connection)

    def progress(self, stage: str, done: int, total: int | None) -> None:
        """Say how far the stage is."""
        self._context.progress(stage, done, total)

    def raise_if_stopped(self) -> None:
        """End the job here where it has to stop."""
        self._context.raise_if_stopped()


def read_texts(
    context: JobContext, parts: TextParts, wanted: Wanted, configured: Path | None
) -> Collection:
    """Read a source, unless that is done; return the collection.

    What another job read from a source that was declared alike is taken as it is, so
    that a dry run, or a load that was refused, is no waste.

    Args:
        context: Of the job, which reads one source at most.
        parts: The stores.
        wanted: The collection.
        configured: The import folder, as it is configured.

    Raises:
        CommandRefusedError: Nothing could be read.
        JobStoppedError: The job was cancelled, or has to be let go.
    """
    source, made = wanted.source, collection_id_of(context.job_id)
    with parts.databases.reader.connect() as connection:
        known = parts.texts.collections(connection)
    if source is not None and made not in {one.id for one in known}:
        declared = Texts(
            population=wanted.population, collection=wanted.collection, source=source
        )
        for held in known:
            if _was_read(held, declared):
                return held
        target = Target(parts, Stage(context, "read"), made, is_gold=False)
        target.begin(declared)
        read_into(target, declared, import_folder(configured))
        target.require_documents()
        with parts.databases.work.begin() as connection:
            target.finish(connection)
            context.save_position_with(connection, {"stage": "read all", "at": None})
    return parts.collection(wanted.population, wanted.collection)


def _was_read(held: Collection, declared: Texts) -> bool:
    """Whether a collection is what a declaration reads."""
    named = held.population, held.name
    said = declared.model_dump_json(exclude_none=True)
    return named == (declared.population, declared.collection) and held.source == said


def said_of_reading(context: JobContext, held: Collection) -> list[str]:
    """Return what a custodian is warned of where another job read a collection."""
    if held.job == context.job_id:
        return []
    said = (
        f"the collection {held.name} was read before ({held.job}): what its source "
        "was given since is not in it; once it is deleted "
        f"('curator text delete {held.name}'), a run reads all again"
    )
    return [said]


def tag_texts(
    context: JobContext, parts: TextParts, found: Collection, model: str
) -> None:
    """Let a model go over a collection, unless it did.

    Raises:
        JobStoppedError: The job was cancelled, or has to be let go.
    """
    with parts.databases.reader.connect() as connection:
        if model in parts.spans.finders(connection, found.id):
            return
    finding = Finding(found.id, model, context.job_id, context.actor)
    with parts.databases.work.begin() as connection:
        parts.spans.begin_finding(connection, finding)
    tag(Stage(context, f"tag by {model}"), parts, finding)
    with parts.databases.work.begin() as connection:
        parts.spans.finish_finding(connection, found.id, model, context.job_id)
        context.save_position_with(connection, {"stage": "tagged", "at": None})
