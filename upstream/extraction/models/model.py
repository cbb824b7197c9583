"""A model: what finds spans in a text, with all that it needs to do so."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import tee
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from upstream.extraction.features.feature_set import DocumentFeatures, FeatureChoices
from upstream.extraction.features.phrases import Dictionary
from upstream.extraction.models.chains.crf import CrfChoices
from upstream.extraction.models.chains.linear import LinearChoices
from upstream.extraction.models.chains.tagging import ChainTagger
from upstream.extraction.models.chains.weights import ChainWeights
from upstream.extraction.models.decisions import (
    Decision,
    decide,
    type_probabilities,
)
from upstream.extraction.models.rules import Rules
from upstream.extraction.models.sampling import EveryToken, Sampling
from upstream.extraction.models.union import Risk, fill, union
from upstream.extraction.text.labels import type_of
from upstream.extraction.text.spans import Span

Training = Annotated[CrfChoices | LinearChoices, Field(discriminator="algorithm")]


class Aim(BaseModel):
    """What thresholds are chosen for, on documents that were not trained on.

    Attributes:
        prefer: ``f1``: as many spans as possible exactly right; ``recall``: as few
            characters of identifiers as possible left over, while the precision of
            characters is at least ``least_precision``.
        least_precision: Of characters, for ``recall``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    prefer: Literal["f1", "recall"] = "f1"
    least_precision: float = Field(default=0.93, gt=0, le=1)


class ModelSpec(BaseModel):
    """What a model is trained as.

    Attributes:
        training: The classifier, and how it is trained.
        features: What it knows of tokens.
        sampling: Which tokens it is trained on.
        rules: What the rules that were right in the gold standard add: ``none``;
            ``fill``, where the classifier finds nothing; ``union``, everywhere.
        aim: What its thresholds are chosen for.
        types: The types that it learns; none: all of the gold standard.
        risks: How risky types are, where finders disagree.
        seed: Of all that is drawn in training.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    training: Training = CrfChoices()
    features: FeatureChoices = FeatureChoices()
    sampling: Sampling = EveryToken()
    rules: Literal["none", "fill", "union"] = "fill"
    aim: Aim = Aim()
    types: tuple[str, ...] = ()
    risks: Mapping[str, Risk] = Field(default_factory=dict)
    seed: int = Field(default=1, ge=0)


@dataclass(frozen=True)
class TextModel:
    """A trained model.

    Attributes:
        name: What its spans name as their source.
        spec: What it was trained as.
        weights: Of its chain.
        decision: How sure it has to be.
        rules: Of its layer of rules; empty: none.
        dictionaries: That its features look in.
        card: What it was trained on and how good it is, for whoever uses it.
    """

    name: str
    spec: ModelSpec
    weights: ChainWeights
    decision: Decision = field(default_factory=Decision)
    rules: Rules = field(default_factory=lambda: Rules({}))
    dictionaries: Sequence[Dictionary] = ()
    card: Mapping[str, object] = field(default_factory=dict)

    @property
    def types(self) -> tuple[str, ...]:
        """The types that it was trained for; none: all that were marked."""
        return self.spec.types

    @property
    def found_types(self) -> tuple[str, ...]:
        """The types that it can find: those that it learned, by words or by rules."""
        learned = map(type_of, self.weights.labels)
        ruled = (rule.label for rule in self.rules.rules.values())
        return tuple(dict.fromkeys(kind for kind in (*learned, *ruled) if kind))

    def finder(self) -> "SpanFinder":
        """Return what finds spans by this model; for one thread."""
        return SpanFinder(self)


class SpanFinder:
    """Finds the spans of texts by a model, as fast as many are given at once."""

    def __init__(self, model: TextModel) -> None:
        self._model = model
        self._tagger = ChainTagger(
            model.weights, model.spec.features, model.dictionaries
        )

    def find(self, texts: Iterable[str]) -> Iterator[tuple[Span, ...]]:
        """Yield the spans of each text, in order; none lies over another."""
        model = self._model
        for features, joint in self._tagger.tag(texts):
            probable = type_probabilities(self._tagger.labels, joint)
            spans = decide(features.tokens, probable, model.decision, model.name)
            yield with_rules(model.spec, spans, ruled(model.rules, features))


def ruled(rules: Rules, features: DocumentFeatures) -> tuple[Span, ...]:
    """Return what rules find in a text, by its forms if they are known already."""
    if features.matches is None:
        return rules.find(features.tokens.text)
    return rules.of(features.matches)


def with_rules(
    spec: ModelSpec, spans: tuple[Span, ...], ruled: tuple[Span, ...]
) -> tuple[Span, ...]:
    """Return a classifier's spans with what a model's rules add to them.

    Args:
        spec: Says how they are added.
        spans: What the classifier found.
        ruled: What the rules found in the same text; of a model without rules nothing.
    """
    if spec.rules == "union":
        return union([spans, ruled], spec.risks)
    return fill(spans, ruled)


class UnionFinder:
    """Finds what any of several models finds: DAST's aggregator."""

    def __init__(
        self, models: Sequence[TextModel], risks: Mapping[str, Risk] | None = None
    ) -> None:
        self._finders = [model.finder() for model in models]
        self._risks = risks or {}

    def find(self, texts: Iterable[str]) -> Iterator[tuple[Span, ...]]:
        """Yield the union of each text's spans, in order; none lies over another."""
        copies = tee(texts, len(self._finders))
        found = [
            finder.find(copy)
            for finder, copy in zip(self._finders, copies, strict=True)
        ]
        for spans in zip(*found, strict=True):
            yield union(spans, self._risks)
