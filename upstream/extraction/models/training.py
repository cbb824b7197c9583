"""Training of a model: its chain, its rules, how sure it is, and its thresholds."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from upstream.extraction.features.feature_set import (
    DocumentFeatures,
    attribute_lists,
    document_features,
)
from upstream.extraction.features.phrases import Dictionary
from upstream.extraction.measures.report import judge
from upstream.extraction.models.calibration import likeliest_factor
from upstream.extraction.models.chains.crf import CrfChoices, CrfTrainer
from upstream.extraction.models.chains.inference import Probabilities
from upstream.extraction.models.chains.linear import LinearTrainer
from upstream.extraction.models.chains.tagging import ChainTagger
from upstream.extraction.models.chains.weights import ChainWeights
from upstream.extraction.models.decisions import type_probabilities
from upstream.extraction.models.model import (
    Aim,
    ModelSpec,
    TextModel,
    ruled,
    with_rules,
)
from upstream.extraction.models.rules import Rules, learn_rules
from upstream.extraction.models.sampling import draws_of
from upstream.extraction.models.thresholds import Tuned, choose
from upstream.extraction.text.labels import labelling
from upstream.extraction.text.spans import AnnotatedDocument, limited
from upstream.extraction.text.tokens import tokenize

Progress = Callable[[str, int, int], None]
TUNED = "tuned"
"""What a card calls the figures of the documents that thresholds were chosen on."""
TUNED_PART = 5
"""Without documents to tune on, one of so many of the gold standard is kept aside."""


def silent(_stage: str, _done: int, _total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class GoldStandard:
    """What a model is made of.

    Attributes:
        train: Documents to learn from.
        tune: Documents to choose thresholds on; none: some of ``train`` are kept
            aside for it, and learned from afterwards.
        dictionaries: Phrases of kinds, for features.
    """

    train: Sequence[AnnotatedDocument]
    tune: Sequence[AnnotatedDocument] = ()
    dictionaries: Sequence[Dictionary] = ()

    def split(self) -> "GoldStandard":
        """Return the gold standard with documents to tune on."""
        if self.tune:
            return self
        kept = [each for at, each in enumerate(self.train) if at % TUNED_PART]
        aside = self.train[::TUNED_PART] if kept else self.train
        return GoldStandard(kept or self.train, aside, self.dictionaries)


def train_model(
    name: str, spec: ModelSpec, gold: GoldStandard, progress: Progress = silent
) -> TextModel:
    """Return a model that was trained on a gold standard.

    Args:
        name: What its spans name as their source.
        spec: What it is trained as.
        gold: What it learns; documents without spans tell it what nothing looks like.
        progress: Told of stages, how far they are, and how far they go; may raise.

    Raises:
        ValueError: The gold standard has no document, or no span of the types.
    """
    wanted = _of_types(gold, spec.types)
    counts = Counter(span.label for each in wanted.train for span in each.spans)
    if not counts:
        message = "the gold standard has no span to learn: mark some, or other types"
        raise ValueError(message)
    split = wanted.split()
    tuned = _tuned(name, spec, _trained(spec, split, progress), split, progress)
    progress("judge", 0, 1)
    judged = judge(split.tune, tuned.model.finder().find)
    model = replace(tuned.model, card={TUNED: judged.to_json()})
    if wanted.tune:
        return model
    # What is tuned on must not have been learned: a second training is sure of it all.
    # Thresholds and factor of the first serve the second, which knows little more.
    weights = _trained(spec, wanted, progress).scaled(tuned.factor)
    return replace(model, weights=weights, rules=_rules(spec, wanted))


def _of_types(gold: GoldStandard, types: tuple[str, ...]) -> GoldStandard:
    if not types:
        return gold

    return GoldStandard(
        limited(gold.train, types), limited(gold.tune, types), gold.dictionaries
    )


def _trained(spec: ModelSpec, gold: GoldStandard, progress: Progress) -> ChainWeights:
    choices = spec.training
    trainer = (
        CrfTrainer(choices)
        if isinstance(choices, CrfChoices)
        else LinearTrainer(choices)
    )
    for done, (attributes, labels) in enumerate(_examples(spec, gold)):
        progress("read features", done, len(gold.train))
        trainer.add(attributes, labels)
    return trainer.train(partial(progress, "train"))


def _examples(
    spec: ModelSpec, gold: GoldStandard
) -> Iterator[tuple[Iterable[Mapping[str, float]], list[str]]]:
    """Yield attributes and labels of the tokens that are trained on, by document."""
    for each in gold.train:
        tokens = tokenize(each.document.text)
        labels = labelling(tokens, each.spans).labels
        kept = spec.sampling.keep(labels, draws_of(spec.seed, each.document.id))
        features = document_features(tokens, spec.features, gold.dictionaries)
        said = attribute_lists(features, spec.features)
        yield (
            [attributes for attributes, keep in zip(said, kept, strict=True) if keep],
            [label for label, keep in zip(labels, kept, strict=True) if keep],
        )


@dataclass(frozen=True)
class _Tuned:
    """A model with thresholds, and the factor that its weights were made surer by."""

    model: TextModel
    factor: float


def _tuned(
    name: str,
    spec: ModelSpec,
    weights: ChainWeights,
    gold: GoldStandard,
    progress: Progress,
) -> _Tuned:
    """Return the model whose scores and thresholds fit the documents to tune on."""
    progress("tune", 0, 2)
    tagger = ChainTagger(weights, spec.features, gold.dictionaries)
    read = [tagger.features(each.document.text) for each in gold.tune]
    labels = [
        labelling(features.tokens, each.spans).labels
        for features, each in zip(read, gold.tune, strict=True)
    ]
    factor = likeliest_factor(weights, tagger, list(zip(read, labels, strict=True)))
    progress("tune", 1, 2)
    model = TextModel(
        name,
        spec,
        weights.scaled(factor),
        rules=_rules(spec, gold),
        dictionaries=tuple(gold.dictionaries),
    )
    tagger = ChainTagger(model.weights, spec.features, gold.dictionaries)
    return _Tuned(
        _aimed(model, gold.tune, tagger.probabilities(read), spec.aim), factor
    )


def _rules(spec: ModelSpec, gold: GoldStandard) -> Rules:
    return Rules({}) if spec.rules == "none" else learn_rules(gold.train)


def aimed(model: TextModel, tune: Sequence[AnnotatedDocument], aim: Aim) -> TextModel:
    """Return a model with thresholds for another aim, without training it again.

    Args:
        model: The model.
        tune: Documents to choose thresholds on, which it has not learned from.
        aim: What they are chosen for.
    """
    tagger = ChainTagger(model.weights, model.spec.features, model.dictionaries)
    tagged = tagger.tag(each.document.text for each in tune)
    return _aimed(model, tune, tagged, aim)


def _aimed(
    model: TextModel,
    tune: Sequence[AnnotatedDocument],
    tagged: Iterable[tuple[DocumentFeatures, Probabilities]],
    aim: Aim,
) -> TextModel:
    documents = [
        Tuned(
            features.tokens,
            type_probabilities(model.weights.labels, joint),
            each.spans,
            partial(with_rules, model.spec, ruled=ruled(model.rules, features)),
        )
        for each, (features, joint) in zip(tune, tagged, strict=True)
    ]
    return replace(model, decision=choose(documents, aim))
