"""The kind of job that trains a model on a gold standard: ``text.train``."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import yaml
from pydantic import Field, ValidationError

from privacy.errors import CuratorError
from query_lang.binding.outside_domain import nearest_value
from server.use_cases.extraction.declarations import sentence_of
from server.use_cases.extraction.store.models import NewModel, model_id_of
from server.use_cases.extraction.store.texts import Collection
from server.use_cases.extraction.tagging import ModelName, model_id
from server.use_cases.extraction.work import TextJob, TextParts, own, told_to
from server.use_cases.jobs.kinds import JobContext, JobParameters, Prepared
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.version import VERSION
from upstream.extraction.features.phrases import Dictionary
from upstream.extraction.judging.folds import cross_validate, folds_of
from upstream.extraction.measures.report import Judgement
from upstream.extraction.models.model import ModelSpec, TextModel
from upstream.extraction.models.model_files import model_bytes
from upstream.extraction.models.training import GoldStandard, train_model
from upstream.extraction.terms.terms import TermModel
from upstream.extraction.text.spans import GOLD, AnnotatedDocument
from upstream.manifests.declarations import Identifier

MOST_FOLDS = 50
_MOST_LISTS = 10
_MOST_TOLD = 20  # names in one sentence


class TrainParameters(JobParameters):
    """What a model learns, and how.

    Attributes:
        population: Whose texts.
        model: The model's name, new in its population.
        gold: The collection with a gold standard that it learns.
        tune: A collection with one to choose thresholds on; without it a part of
            ``gold`` is kept aside for that.
        spec: What it is trained as; nothing: the defaults.
        folds: With 2 or more, models are also trained on all folds but one and
            judged on that one; the card says how good they were. 0: none are.
        fold_by: A field of documents, such as a patient's number: documents that
            share it are in one fold.
        dictionaries: Models that are lists of terms: which of them a word stands in is
            known to the model.
    """

    population: Identifier
    model: Identifier
    gold: Identifier
    tune: Identifier | None = None
    spec: dict[str, object] = Field(default_factory=dict)
    folds: int = Field(default=0, ge=0, le=MOST_FOLDS)
    fold_by: str = Field(default="", max_length=200)
    dictionaries: list[ModelName] = Field(default_factory=list, max_length=_MOST_LISTS)


class TrainJob(TextJob):
    """Trains a model and stores it; an attempt that was cut off begins again.

    The model's row and the job's result are one transaction.
    """

    name = "text.train"
    parameters: type[JobParameters] = TrainParameters

    def prepare(self, parameters: JobParameters) -> Prepared:
        """Check the spec, the names and that there is a gold standard.

        Raises:
            CommandRefusedError: The spec is none.
            UnpreparedError: The collection is not there, or the name is taken.
        """
        given = own(parameters, TrainParameters)
        spec = read_spec(given.spec)
        self.require_population(given.population)
        try:
            parts = self._parts()
            used = [*_collections(parts, given)]
            lists = [
                model_id(parts, given.population, one) for one in given.dictionaries
            ]
            with parts.databases.reader.connect() as connection:
                parts.models.require_unused(connection, given.population, given.model)
        except CuratorError as error:
            raise told_to(given.population, error) from None
        inputs: list[Document] = [
            {"collection": one.id, "name": one.name} for one in used
        ]
        for model, name in zip(lists, given.dictionaries, strict=True):
            inputs.append({"model": model, "name": name})
        told = spec.model_dump(mode="json")
        return Prepared(
            given.model_copy(update={"spec": told}), given.population, inputs
        )

    def run(self, context: JobContext, parameters: JobParameters) -> Document:
        """Train the model.

        Raises:
            CommandRefusedError: It was refused; there is no model.
            JobStoppedError: The job was cancelled, or has to be let go.
        """
        self.begin(context, parameters)
        given = own(parameters, TrainParameters)
        parts, spec = self._parts(), read_spec(given.spec)
        gold, *tune = [_all(context, parts, one) for one in _collections(parts, given)]
        _check_types(spec, gold)
        made = model_id_of(context.job_id)
        try:
            lists = _dictionaries(context, parts)
            whole = GoldStandard(gold, (), lists)
            judged = _cross_validated(context, given, spec, whole)
            standard = GoldStandard(gold, tune[0] if tune else (), lists)
            trained = train_model(made, spec, standard, context.progress)
        except ValueError as error:
            raise CommandRefusedError(str(error)) from None
        card = {**_card(given, spec, gold), **trained.card, **judged}
        context.progress("store", 0, 1)
        slices = parts.slices(context)
        body = parts.models.insert_parts(slices, made, _content(trained, card))
        new = NewModel(
            given.population,
            given.model,
            spec.model_dump_json(),
            card,
            context.job_id,
            context.actor,
        )
        result: Document = {"model": made, "name": given.model, "card": card}
        output: Document = {"model": made, "name": given.model}
        with parts.databases.work.begin() as connection:
            self.check_actor(connection, context)
            parts.models.insert(connection, new, body)
            context.conclude(connection, result, [output])
        return result


def read_spec(told: dict[str, object]) -> ModelSpec:
    """Return what a model is trained as.

    Raises:
        CommandRefusedError: It is no spec.
    """
    try:
        return ModelSpec.model_validate(told)
    except ValidationError as error:
        told_wrong = error.errors(include_url=False, include_input=False)
        said = "; ".join(sentence_of(one, ModelSpec) for one in told_wrong)
        message = f"spec: {said}"
        raise CommandRefusedError(message) from None


def spec_in(path: Path) -> dict[str, object]:
    """Return the spec that a YAML file of whoever works on the host holds.

    Raises:
        CommandRefusedError: It cannot be read, or is no mapping.
    """
    try:
        told = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        message = f"{path} cannot be read as YAML ({type(error).__name__})"
        raise CommandRefusedError(message) from None
    if not isinstance(told, dict):
        message = f"{path}: write keys of a model's spec, such as 'rules: union'"
        raise CommandRefusedError(message)
    return told


def _collections(parts: TextParts, given: TrainParameters) -> list[Collection]:
    """Return the collections that a model is made of; each has a gold standard."""
    names = [given.gold] if given.tune is None else [given.gold, given.tune]
    found = [parts.collection(given.population, name) for name in names]
    for one in found:
        parts.require_finding(one, GOLD)
    return found


def _check_types(spec: ModelSpec, gold: Sequence[AnnotatedDocument]) -> None:
    """Check that the gold standard marks each type that a spec names.

    Raises:
        CommandRefusedError: It does not: a model would never find it.
    """
    marked = sorted({span.label for one in gold for span in one.spans})
    for name in spec.types:
        if name not in marked:
            near = nearest_value(name, marked)
            meant = f"did you mean {near!r}?" if near else f"it marks {_told(marked)}"
            message = f"spec: types: the gold standard marks no {name!r}: {meant}"
            raise CommandRefusedError(message)


def _told(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_TOLD]) + (", ..." if names[_MOST_TOLD:] else "")
    return shown or "nothing"


def _dictionaries(context: JobContext, parts: TextParts) -> list[Dictionary]:
    """Return the phrases of the lists of terms that a job was given.

    Raises:
        CommandRefusedError: A model is none of lists, or two have one of the same name.
    """
    found: list[Dictionary] = []
    for given in context.inputs:
        if "model" not in given:
            continue
        opened = parts.opened(str(given["model"]))
        if not isinstance(opened, TermModel):
            name = given["name"]
            message = f"{name} is no list of terms: 'curator model terms' makes one"
            raise CommandRefusedError(message)
        found += (one.dictionary() for one in opened.terminologies)
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        message = f"two dictionaries have one name: {', '.join(sorted(names))}"
        raise CommandRefusedError(message)
    return found


def _all(
    context: JobContext, parts: TextParts, collection: Collection
) -> list[AnnotatedDocument]:
    """Return a gold standard, whole: training goes over it many times."""
    held = []
    for one in parts.annotated(collection.id, GOLD):
        held.append(one)
        context.progress(f"read {collection.name}", len(held), None)
    return held


def _cross_validated(
    context: JobContext,
    given: TrainParameters,
    spec: ModelSpec,
    gold: GoldStandard,
) -> Document:
    """Return how good models of the other folds were on each fold, together."""
    if not given.folds:
        return {}
    folds = folds_of(gold.train, given.folds, by=given.fold_by)

    def tell(stage: str, done: int, total: int) -> None:
        if stage == "fold":
            context.progress("judge by folds", done, total)
        context.raise_if_stopped()

    parts = list(cross_validate(spec, gold, folds, tell))
    together = tuple(one for part in parts for one in part.documents)
    return {
        "by_folds": Judgement(together).to_json(),
        "fold_f1": [round(part.strict().f1, 6) for part in parts],
        "folds": given.folds,
        "fold_by": given.fold_by,
    }


def _card(
    given: TrainParameters, spec: ModelSpec, gold: Sequence[AnnotatedDocument]
) -> Document:
    counts = Counter(
        span.label
        for one in gold
        for span in one.spans
        if not spec.types or span.label in spec.types
    )
    return {
        "gold": given.gold,
        "tune": given.tune,
        "dictionaries": given.dictionaries,
        "documents": len(gold),
        "spans": dict(sorted(counts.items())),
        "code_version": VERSION,
    }


def _content(trained: TextModel, card: Document) -> bytes:
    return model_bytes(replace(trained, card=card))
