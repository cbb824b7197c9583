"""The kind of job that lets a model find spans in a collection: ``text.tag``."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Protocol

from pydantic import Field

from privacy.errors import CuratorError
from server.use_cases.extraction.store.spans import Finding, finding_guard
from server.use_cases.extraction.work import (
    RULES,
    TextJob,
    TextParts,
    Working,
    own,
    told_to,
)
from server.use_cases.jobs.kinds import JobContext, JobParameters, Prepared
from server.use_cases.services.documents import Document
from upstream.extraction.models.rules import USUAL, Rule, Rules
from upstream.extraction.text.spans import Span
from upstream.manifests.declarations import Identifier

ModelName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
"""A model's name or its id; ``rules``: the forms alone."""


class Finder(Protocol):
    """Finds the spans of texts."""

    def find(self, texts: Iterable[str]) -> Iterator[tuple[Span, ...]]:
        """Yield the spans of each text, in order."""
        ...


class RulesFinder:
    """Finds what stands in the usual forms of identifiers, without any model."""

    def __init__(self) -> None:
        self._rules = Rules({form: Rule(kind, 1.0) for form, kind in USUAL.items()})

    def find(self, texts: Iterable[str]) -> Iterator[tuple[Span, ...]]:
        """Yield the matches of each text; they may lie over one another."""
        return (self._rules.find(text) for text in texts)


def model_id(parts: TextParts, population: str, model: str) -> str:
    """Return the id of a model, or of the rules.

    Raises:
        NoSuchThingError: The population has no such model.
    """
    if model == RULES:
        return RULES
    with parts.databases.reader.connect() as connection:
        return parts.models.row(connection, population, model).id


def finder_of(parts: TextParts, model: str) -> Finder:
    """Return what finds spans by a model, by its id.

    Raises:
        NoSuchThingError: It was deleted.
        TextKeyError: It cannot be opened.
    """
    opened = parts.opened(model)
    return RulesFinder() if opened is None else opened.finder()


class TagParameters(JobParameters):
    """A collection, and the model that goes over it, by its name or its id."""

    population: Identifier
    collection: Identifier
    model: ModelName


class TagJob(TextJob):
    """Lets a model find spans; they are stored in slices, the position with a page.

    What is behind the position was cut off: it is deleted, and then found again.
    """

    name = "text.tag"
    parameters: type[JobParameters] = TagParameters

    def prepare(self, parameters: JobParameters) -> Prepared:
        """Look for the collection and the model.

        Raises:
            UnpreparedError: One is not there.
        """
        given = own(parameters, TagParameters)
        self.require_population(given.population)
        try:
            parts = self._parts()
            found = parts.collection(given.population, given.collection)
            model = model_id(parts, given.population, given.model)
        except CuratorError as error:
            raise told_to(given.population, error) from None
        inputs: list[Document] = [
            {"collection": found.id, "name": found.name},
            {"model": model, "name": given.model},
        ]
        return Prepared(
            given.model_copy(update={"model": model}), given.population, inputs
        )

    def run(self, context: JobContext, parameters: JobParameters) -> Document:
        """Find the spans.

        Raises:
            CommandRefusedError: It was refused; none are seen.
            JobStoppedError: The job was cancelled, or has to be let go.
        """
        self.begin(context, parameters)
        given = own(parameters, TagParameters)
        parts = self._parts()
        found = parts.collection(given.population, given.collection)
        finding = Finding(found.id, given.model, context.job_id, context.actor)
        with parts.databases.work.begin() as connection:
            parts.spans.begin_finding(connection, finding)
        tag(context, parts, finding)
        with parts.databases.reader.connect() as connection:
            labels = parts.spans.labels(connection, found.id, given.model)
            documents = parts.texts.count(connection, found.id)
        result: Document = {
            "collection": found.name,
            "finder": given.model,
            "documents": documents,
            "spans": labels,
        }
        output: Document = {"collection": found.id, "finder": given.model}
        with parts.databases.work.begin() as connection:
            self.check_actor(connection, context)
            parts.spans.finish_finding(
                connection, found.id, given.model, context.job_id
            )
            context.conclude(connection, result, [output])
        return result


def tag(context: Working, parts: TextParts, finding: Finding) -> None:
    """Find the spans of a collection, from where an earlier attempt stopped.

    Raises:
        JobStoppedError: The job was cancelled, or is another worker's now.
    """
    finder = finder_of(parts, finding.finder)
    saved = context.position
    after = saved if isinstance(saved, int) else 0
    with parts.databases.reader.connect() as connection:
        total = parts.texts.count(connection, finding.collection)
    of = (finding.collection, finding.finder)
    slices = parts.slices(context).guarded(finding_guard(*of, finding.job))
    parts.spans.delete_behind(slices, *of, after)
    for page in parts.pages(finding.collection, after):
        texts = unless_stopped(context, (one.document.text for one in page))
        found = {
            one.number: spans
            for one, spans in zip(page, finder.find(texts), strict=True)
        }
        last = page[-1].number
        parts.spans.insert_spans(slices, *of, found)
        with slices.transaction() as connection:
            context.save_position_with(connection, last)
        context.progress("tag", last, total)


def unless_stopped(context: Working, texts: Iterable[str]) -> Iterator[str]:
    """Yield texts until the job has to stop.

    Raises:
        JobStoppedError: It has to.
    """
    for text in texts:
        context.raise_if_stopped()
        yield text
