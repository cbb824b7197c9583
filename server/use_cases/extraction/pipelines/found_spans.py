"""The spans of a collection's documents, of one finder or of several together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from server.use_cases.extraction.store.texts import Collection
from server.use_cases.extraction.work import TextParts
from upstream.extraction.models.union import Risk, union
from upstream.extraction.terms.terms import TermModel
from upstream.extraction.text.spans import Span


@dataclass(frozen=True, slots=True)
class Found:
    """A collection, and the models that went over it, by their ids."""

    collection: Collection
    models: Sequence[str]


class FoundSpans:
    """The spans of documents, of one model or of several together."""

    def __init__(
        self,
        parts: TextParts,
        found: Found,
        told_risks: Mapping[str, Literal["direct", "indirect", "health"]],
        added: Mapping[int, tuple[Span, ...]] | None = None,
    ) -> None:
        """Open the models of terms.

        Args:
            parts: The stores.
            found: The collection and its finders.
            told_risks: How risky types are; others are direct, of lists health.
            added: Spans that are not stored yet, by the numbers of their documents.
        """
        self._parts = parts
        self._found = found
        self._told_risks = told_risks
        self._added = added or {}
        self._terms = [one for one in map(self._opened, found.models) if one]
        health = {kind: Risk.HEALTH for one in self._terms for kind in one.types}
        told = {kind: Risk[risk.upper()] for kind, risk in told_risks.items()}
        self._risks = {**health, **told}

    def _opened(self, model: str) -> TermModel | None:
        """Return a model of terms, and None for one of another kind."""
        opened = self._parts.opened(model)
        return opened if isinstance(opened, TermModel) else None

    def of(self, numbers: range) -> dict[int, tuple[Span, ...]]:
        """Return spans, by the numbers of their documents.

        What several models found is one set: whatever one of them found is kept.
        """
        by_model = [self._by(model, numbers) for model in self._found.models]
        if self._added:
            by_model.append({n: self._added[n] for n in numbers if n in self._added})
        if len(by_model) == 1:
            return by_model[0]
        return {
            number: union((found.get(number, ()) for found in by_model), self._risks)
            for number in numbers
        }

    @property
    def collection(self) -> Collection:
        """Whose documents."""
        return self._found.collection

    def adding(self, added: Mapping[int, tuple[Span, ...]]) -> "FoundSpans":
        """Return these spans and some that are not stored yet."""
        return FoundSpans(self._parts, self._found, self._told_risks, added)

    def risk(self, label: str) -> Risk:
        """Return how risky a type is."""
        return self._risks.get(label, Risk.DIRECT)

    def _by(self, model: str, numbers: range) -> dict[int, tuple[Span, ...]]:
        """Return a model's spans; the model is their source."""
        with self._parts.databases.reader.connect() as connection:
            found = self._parts.spans.spans(
                connection, self._found.collection.id, model, numbers
            )
        return {
            number: tuple(replace(span, source=model) for span in spans)
            for number, spans in found.items()
        }

    def meaning(self, span: Span, said: str) -> str:
        """Return what a span stands for: the words themselves, in lower case, if none.

        Args:
            span: The span.
            said: Its text.
        """
        for terms in self._terms:
            meaning = terms.meaning(span.label, said)
            if meaning is not None:
                return meaning
        return " ".join(said.lower().split())
