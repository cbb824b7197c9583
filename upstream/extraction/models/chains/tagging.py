"""Probabilities of labels for documents, in batches of bounded size."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from upstream.extraction.features.feature_set import (
    DocumentFeatures,
    FeatureChoices,
    document_features,
)
from upstream.extraction.features.phrases import Dictionary
from upstream.extraction.models.chains.inference import Probabilities, marginals
from upstream.extraction.models.chains.scoring import LabelScores
from upstream.extraction.models.chains.weights import ChainWeights, Weights
from upstream.extraction.text.labels import may_follow
from upstream.extraction.text.tokens import tokenize

BATCH_TOKENS = 50_000
"""Tokens at most in a batch of several documents; about 40 MB with 45 labels."""


class ChainTagger:
    """Says how likely each token of a text has each label; for one thread."""

    def __init__(
        self,
        weights: ChainWeights,
        choices: FeatureChoices,
        dictionaries: Sequence[Dictionary] = (),
    ) -> None:
        self.labels = weights.labels
        self._choices = choices
        self._dictionaries = dictionaries
        self._scores = LabelScores(weights, choices)
        self.transitions = valid_transitions(weights)

    def features(self, text: str) -> DocumentFeatures:
        """Return what is known of the tokens of a text."""
        return document_features(tokenize(text), self._choices, self._dictionaries)

    def tag(
        self, texts: Iterable[str]
    ) -> Iterator[tuple[DocumentFeatures, Probabilities]]:
        """Yield, for each text, what is known of it and how likely its labels are.

        Probabilities are of shape (tokens, labels); rows add up to 1.
        """
        yield from self.probabilities(map(self.features, texts))

    def probabilities(
        self, documents: Iterable[DocumentFeatures]
    ) -> Iterator[tuple[DocumentFeatures, Probabilities]]:
        """Yield the same of documents whose features are known already."""
        for batch in batches(documents):
            joint = marginals(self.scores(batch), self.transitions)
            yield from zip(batch, joint, strict=True)

    def scores(self, batch: Sequence[DocumentFeatures]) -> list[Weights]:
        """Return the score of each label for each token, shape (tokens, labels)."""
        return self._scores.of(batch)


def batches(
    documents: Iterable[DocumentFeatures],
) -> Iterator[list[DocumentFeatures]]:
    """Yield documents in batches of few tokens; one that is larger is a batch."""
    batch: list[DocumentFeatures] = []
    size = 0
    for each in documents:
        if batch and size + len(each.tokens) > BATCH_TOKENS:
            yield batch
            batch, size = [], 0
        batch.append(each)
        size += len(each.tokens)
    if batch:
        yield batch


def valid_transitions(
    weights: ChainWeights,
) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return the transitions, minus infinity where a span would go on from nothing."""
    valid = weights.transitions.copy()
    for row, label in enumerate(weights.labels):
        for column, following in enumerate(weights.labels):
            if not may_follow(label, following):
                valid[row, column] = -np.inf
    return valid
