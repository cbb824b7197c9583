"""The kind of job that holds models against a gold standard: ``text.evaluate``."""

from collections.abc import Iterable, Iterator
from typing import cast

from pydantic import Field

from privacy.errors import CuratorError
from server.use_cases.extraction.tagging import (
    ModelName,
    finder_of,
    model_id,
    unless_stopped,
)
from server.use_cases.extraction.work import (
    RULES,
    TextJob,
    TextParts,
    found_types,
    own,
    told_to,
)
from server.use_cases.jobs.kinds import JobContext, JobParameters, Prepared
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from upstream.extraction.measures.comparison import (
    SIGNIFICANT,
    Difference,
    compare,
    paired_t_test,
)
from upstream.extraction.measures.counts import Counts, DocumentCounts, total
from upstream.extraction.measures.report import Judgement, judge
from upstream.extraction.text.spans import GOLD, AnnotatedDocument, Span, limited
from upstream.manifests.declarations import Identifier

_FOLDED = ("gold", "folds", "fold_by")
"""What cards must have alike for the folds of two models to be the same documents."""


class EvaluateParameters(JobParameters):
    """A collection with a gold standard, and one model or two to compare.

    A model is named by its name or its id; ``rules``: the usual forms alone.
    """

    population: Identifier
    gold: Identifier
    models: list[ModelName] = Field(min_length=1, max_length=2)


class EvaluateJob(TextJob):
    """Judges models; stores nothing but the job's own result, which has no text.

    Of models that were trained for some types, and of lists of terms, only these types
    are judged; the result names those that were left out.
    """

    name = "text.evaluate"
    parameters: type[JobParameters] = EvaluateParameters

    def prepare(self, parameters: JobParameters) -> Prepared:
        """Look for the gold standard and the models.

        Raises:
            UnpreparedError: One is not there.
        """
        given = own(parameters, EvaluateParameters)
        self.require_population(given.population)
        try:
            parts = self._parts()
            found = parts.collection(given.population, given.gold)
            parts.require_finding(found, GOLD)
            models = [model_id(parts, given.population, one) for one in given.models]
        except CuratorError as error:
            raise told_to(given.population, error) from None
        inputs: list[Document] = [{"collection": found.id, "name": found.name}]
        for model, name in zip(models, given.models, strict=True):
            inputs.append({"model": model, "name": name})
        return Prepared(
            given.model_copy(update={"models": models}), given.population, inputs
        )

    def run(self, context: JobContext, parameters: JobParameters) -> Document:
        """Judge the models.

        Raises:
            CommandRefusedError: It was refused.
            JobStoppedError: The job was cancelled, or has to be let go.
        """
        self.begin(context, parameters)
        given = own(parameters, EvaluateParameters)
        parts = self._parts()
        found = parts.collection(given.population, given.gold)
        gold = list(parts.annotated(found.id, GOLD))
        types = _types(parts, given.models)
        marked = {span.label for one in gold for span in one.spans}
        left_out = marked - types if types is not None else set()
        if types is not None:
            gold = limited(gold, types)
        if not any(one.spans for one in gold):
            said = f" of the types {', '.join(sorted(types))}" if types else ""
            message = f"the gold standard {given.gold!r} marks no span{said}"
            raise CommandRefusedError(message)
        judged = [_judged(context, parts, gold, model) for model in given.models]
        result: Document = {
            "gold": given.gold,
            "types_left_out": sorted(left_out),
            "models": [
                {
                    **_named(parts, given, model),
                    "types_not_found": _not_found(parts, model, marked - left_out),
                    **judgement.to_json(),
                }
                for model, judgement in zip(given.models, judged, strict=True)
            ],
        }
        if len(judged) > 1:
            context.progress("compare", 0, 1)
            by_folds = _by_folds(parts, given)
            result["comparison"] = {**_compared(judged[0], judged[1]), **by_folds}
        with parts.databases.work.begin() as connection:
            self.check_actor(connection, context)
            context.conclude(connection, result, [])
        return result


def _types(parts: TextParts, models: list[str]) -> set[str] | None:
    """Return the types that models look for; None: all that there are."""
    found: set[str] = set()
    for model in models:
        opened = parts.opened(model)
        if opened is None or not opened.types:
            return None
        found.update(opened.types)
    return found


def _not_found(parts: TextParts, model: str, marked: set[str]) -> list[str]:
    """Return the types of the gold standard that a model cannot find, by its names."""
    return sorted(marked - found_types(parts.opened(model)))


def _judged(
    context: JobContext, parts: TextParts, gold: list[AnnotatedDocument], model: str
) -> Judgement:
    finder = finder_of(parts, model)

    def find(texts: Iterable[str]) -> Iterator[tuple[Span, ...]]:
        found = finder.find(unless_stopped(context, texts))
        for done, spans in enumerate(found, 1):
            context.progress(f"judge {model}", done, len(gold))
            yield spans

    return judge(gold, find)


def _named(parts: TextParts, given: EvaluateParameters, model: str) -> Document:
    """Return a model's names, and whether it learned from this very gold standard."""
    if model == RULES:
        return {"model": RULES, "name": RULES, "knows_gold": False}
    with parts.databases.reader.connect() as connection:
        row = parts.models.row(connection, given.population, model)
    card = row.document()["card"]
    knows = isinstance(card, dict) and given.gold in {
        card.get("gold"),
        card.get("tune"),
    }
    return {"model": row.id, "name": row.name, "knows_gold": knows}


def _compared(first: Judgement, second: Judgement) -> Document:
    """Return differences of F1: of spans, and of characters whatever their type."""
    one, other = first.documents, second.documents
    return {
        "spans": _told(compare(one, other, _strict)),
        "characters": _told(compare(one, other, lambda each: each.characters)),
    }


def _by_folds(parts: TextParts, given: EvaluateParameters) -> Document:
    """Return how models differ on the folds that both were judged by, if they were."""
    cards = []
    for model in given.models:
        if model == RULES:
            return {}
        with parts.databases.reader.connect() as connection:
            row = parts.models.row(connection, given.population, model)
        cards.append(cast("dict[str, Document]", row.document())["card"])
    folds = [cast("list[float]", card.get("fold_f1", [])) for card in cards]
    first, second = ([card.get(key) for key in _FOLDED] for card in cards)
    if first != second or not all(folds):
        return {}
    one, other = (sum(figures) / len(figures) for figures in folds)
    probability = paired_t_test(folds[0], folds[1])
    return {
        "folds": {
            "first_f1": round(one, 4),
            "second_f1": round(other, 4),
            "difference": round(other - one, 4),
            "probability": round(probability, 4),
            "folds": len(folds[0]),
            "significant": probability < SIGNIFICANT,
        }
    }


def _strict(counts: DocumentCounts) -> Counts:
    return total(counts.strict.values())


def _told(difference: Difference) -> Document:
    return {
        "first_f1": round(difference.first, 4),
        "second_f1": round(difference.second, 4),
        "difference": round(difference.second - difference.first, 4),
        "probability": round(difference.probability, 4),
        "exchanges": difference.exchanges,
        "significant": difference.is_significant,
    }
