"""The scores of labels for each token: sums of weights, by arrays.

What a token's letters say to itself and to its neighbours depends on the word alone,
so it is added up once for each word (``WordScores``), not for each token.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from upstream.extraction.features.columns import NONE
from upstream.extraction.features.feature_set import (
    DocumentFeatures,
    FeatureChoices,
    distances,
    word_attributes,
)
from upstream.extraction.models.chains.weights import ChainWeights, Weights

_MOST_WORDS = 20_000  # kept: about 30 MB with 45 labels and four words to each side
_FIRST_SIZE = 1024
Rows = npt.NDArray[np.int64]


class WordScores:
    """What each word adds to the scores of its neighbours and of itself."""

    def __init__(self, weights: ChainWeights, choices: FeatureChoices) -> None:
        self._weights = weights
        self._choices = choices
        self._steps = (0, *distances(choices))
        self._bases, self._base_rows = _by_distance(weights, self._steps)
        self._rows: dict[str, int] = {}
        self._table = np.zeros(self._shape(_FIRST_SIZE), dtype=np.float32)
        edges = weights.rows(f"{step}|EDGE" for step in self._steps)
        self._edges = weights.states[edges]  # what a text's end adds, for each step

    def _shape(self, rows: int) -> tuple[int, int, int]:
        return rows, len(self._steps), len(self._weights.labels)

    def add(self, words: Sequence[str], scores: Weights) -> None:
        """Add to ``scores`` what the words of one text say, shape (words, labels)."""
        at = self._numbered(words)
        count = len(words)
        for number, step in enumerate(self._steps):
            first, end = max(0, -step), min(count, count - step)
            if first < end:
                scores[first:end] += self._table[at[first + step : end + step], number]
            scores[: min(first, count)] += self._edges[number]
            scores[max(end, 0) :] += self._edges[number]

    def _numbered(self, words: Sequence[str]) -> Rows:
        if len(self._rows) > _MOST_WORDS:
            self._rows.clear()
        new = [word for word in dict.fromkeys(words) if word not in self._rows]
        self._make_room(len(self._rows) + len(new))
        for word in new:
            self._learn(word)
        rows = self._rows
        return np.array([rows[word] for word in words], dtype=np.int64)

    def _make_room(self, rows: int) -> None:
        if rows > len(self._table):
            grown = np.zeros(self._shape(2 * rows), dtype=np.float32)
            grown[: len(self._table)] = self._table
            self._table = grown

    def _learn(self, word: str) -> None:
        row, bases = len(self._rows), self._bases
        known = [
            bases[name]
            for name in word_attributes(word, self._choices)
            if name in bases
        ]
        states = self._weights.states[self._base_rows[known]]
        states.sum(axis=0, out=self._table[row])
        self._rows[word] = row


def _by_distance(
    weights: ChainWeights, steps: tuple[int, ...]
) -> tuple[dict[str, int], Rows]:
    """Return what words say of themselves, and where it is said of their neighbours.

    Returns:
        The attributes without their distances, and for each the rows of its weights at
        each distance, shape (attributes, steps).
    """
    column = {str(step): number for number, step in enumerate(steps) if step}
    bases: dict[str, int] = {}
    places: list[tuple[int, int, int]] = []
    for row, name in enumerate(weights.attributes):
        step, _, said = name.partition("|")
        number = column.get(step, 0)
        base = said if number else name
        places.append((bases.setdefault(base, len(bases)), number, row))
    rows = np.full((len(bases), len(steps)), len(weights.attributes), dtype=np.int64)
    for place, number, row in places:
        rows[place, number] = row
    return bases, rows


def label_scores(
    features: DocumentFeatures, weights: ChainWeights, words: WordScores
) -> Weights:
    """Return the score of each label for each token, shape (tokens, labels)."""
    tokens = features.tokens
    scores = np.tile(weights.intercept, (len(tokens), 1))
    words.add(tokens.words, scores)
    for each in features.columns:
        here = np.flatnonzero(each.at != NONE)
        if not len(here):
            continue
        rows = weights.rows(each.names)[each.at[here]]
        added = weights.states[rows]
        if each.value is not None:
            added = added * each.value[here, np.newaxis].astype(np.float32)
        scores[here] += added
    return scores
