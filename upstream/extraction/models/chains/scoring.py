"""The scores of labels for each token: sums of weights, by arrays, of a batch at once.

What a token's letters say to itself and to its neighbours depends on the word alone,
so it is added up once for each word (``_WordScores``), not for each token.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from upstream.extraction.features.columns import NEAR, Column
from upstream.extraction.features.feature_set import (
    DocumentFeatures,
    FeatureChoices,
    distances,
    word_attributes,
)
from upstream.extraction.features.pairs import BEFORE, BEHIND, PAIRS, PairKind
from upstream.extraction.features.words import shape
from upstream.extraction.models.chains.weights import ChainWeights, Weights

_MOST_WORDS = 20_000  # kept: about 30 MB with 45 labels and four words to each side
_FIRST_SIZE = 1024
_EDGE = 0  # the row of what stands before and behind a text
NONE = -1
"""The number of a word that is in no known pair."""
_HASH_BITS = 20
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: Fibonacci hashing
Rows = npt.NDArray[np.int64]
PairNumbers = npt.NDArray[np.int64]


class LabelScores:
    """Adds up what is known of tokens to the scores of their labels; for one thread."""

    def __init__(self, weights: ChainWeights, choices: FeatureChoices) -> None:
        self._weights = weights
        self._words = _WordScores(weights, choices)
        self._unknown = len(weights.attributes)
        self._fixed: dict[str, tuple[tuple[str, ...], Rows]] = {}

    def of(self, documents: Sequence[DocumentFeatures]) -> list[Weights]:
        """Return the scores of each document, shape (tokens, labels)."""
        bounds = [0, *accumulate(len(each.tokens) for each in documents)]
        scores = np.empty((bounds[-1], len(self._weights.labels)), dtype=np.float32)
        scores[:] = self._weights.intercept
        self._words.add(documents, scores)
        for column in self._merged(documents, bounds):
            self._add(column, scores)
        return [scores[first:end] for first, end in pairwise(bounds)]

    def _merged(
        self, documents: Sequence[DocumentFeatures], bounds: Sequence[int]
    ) -> Iterator["_Merged"]:
        """Yield what is known, each kind of all documents at once."""
        merged: dict[str, _Merged] = {}
        for each, (first, end) in zip(documents, pairwise(bounds), strict=True):
            for column in each.columns:
                tokens = column.tokens
                places = np.arange(first, end) if tokens is None else tokens + first
                rows = self._rows(column.kind, column.names)[column.at]
                held = merged.setdefault(column.kind, _Merged())
                held.add(places, rows, column.value)
                for step in NEAR if column.is_near else ():
                    kind = f"{step}|{column.kind}"
                    rows = self._near_rows(kind, step, column)[column.at]
                    moved = places - step
                    kept = (moved >= first) & (moved < end)
                    held = merged.setdefault(kind, _Merged())
                    held.add(moved[kept], rows[kept], None)
        yield from merged.values()

    def _rows(self, kind: str, names: tuple[str, ...]) -> Rows:
        """Return the rows of names; looked up once where a kind's are always these."""
        held = self._fixed.get(kind)
        if held is not None and held[0] is names:
            return held[1]
        rows = self._weights.rows(names)
        self._fixed[kind] = names, rows
        return rows

    def _near_rows(self, kind: str, step: int, column: Column) -> Rows:
        held = self._fixed.get(kind)
        if held is not None and held[0] is column.names:
            return held[1]
        rows = self._weights.rows(f"{step}|{name}" for name in column.names)
        self._fixed[kind] = column.names, rows
        return rows

    def _add(self, column: "_Merged", scores: Weights) -> None:
        rows, places = np.concatenate(column.rows), np.concatenate(column.places)
        if not column.values:
            self._add_rows(rows, places, scores)
            return
        added = self._weights.states[rows]
        added *= np.concatenate(column.values)[:, np.newaxis]
        scores[places] += added

    def _add_rows(self, rows: Rows, places: Rows | None, scores: Weights) -> None:
        """Add rows of weights to places, each of which occurs once; None: to all."""
        known = np.flatnonzero(rows != self._unknown)
        there = known if places is None else places[known]
        if len(there) == len(scores):
            scores += self._weights.states[rows]
        else:
            scores[there] += self._weights.states[rows[known]]


@dataclass(slots=True)
class _Merged:
    """A kind of columns of several documents: a token's place occurs once."""

    places: list[Rows] = field(default_factory=list)
    rows: list[Rows] = field(default_factory=list)
    values: list[npt.NDArray[np.float64]] = field(default_factory=list)

    def add(
        self, places: Rows, rows: Rows, value: npt.NDArray[np.float64] | None
    ) -> None:
        """Add the column of one document."""
        self.places.append(places)
        self.rows.append(rows)
        if value is not None:
            self.values.append(value)


class _PairScores:
    """What pairs of neighbouring words, by their numbers, add to scores."""

    def __init__(self, weights: ChainWeights) -> None:
        self._numbers: dict[bool, dict[str, int]] = {False: {}, True: {}}
        by_name = {kind.name: kind for kind in PAIRS}
        rows: dict[PairKind, list[tuple[int, int, int]]] = {kind: [] for kind in PAIRS}
        for row, name in enumerate(weights.attributes):
            begin, _, said = name.partition("=")
            kind = by_name.get(begin)
            if kind is not None:
                known = self._numbers[kind.is_of_shapes]
                first, _, second = said.partition(" ")
                one = known.setdefault(first, len(known))
                other = known.setdefault(second, len(known))
                rows[kind].append((one, other, row))
        self._tables = {kind: _PairTable(held) for kind, held in rows.items() if held}
        self._states = weights.states

    def numbers(self, word: str) -> tuple[int, int]:
        """Return a word's number and that of its shape; ``NONE``: in no known pair."""
        words, shapes = self._numbers[False], self._numbers[True]
        return words.get(word.lower(), NONE), shapes.get(shape(word), NONE)

    def edge(self, sign: str) -> tuple[int, int]:
        """Return the numbers of what stands before or behind a text."""
        words, shapes = self._numbers[False], self._numbers[True]
        return words.get(sign, NONE), shapes.get(sign, NONE)

    def add(self, neighbours: Mapping[int, PairNumbers], scores: Weights) -> None:
        """Add what pairs say.

        Args:
            neighbours: For -1, 0 and 1 the numbers of the tokens so far off, shape
                (tokens, 2): of the word and of its shape.
            scores: Shape (tokens, labels).
        """
        for kind, table in self._tables.items():
            column = int(kind.is_of_shapes)
            tokens, rows = table.find(
                neighbours[kind.first][:, column], neighbours[kind.second][:, column]
            )
            scores[tokens] += self._states[rows]


class _PairTable:
    """The rows of pairs of numbers, found among many that are not there.

    Few pairs are known; a table of bits, looked up by a hash, leaves out most others
    before the sorted ones are searched.
    """

    def __init__(self, known: Sequence[tuple[int, int, int]]) -> None:
        first, second, rows = np.array(known, dtype=np.uint64).T
        keys = _keys(first, second)
        order = np.argsort(keys)
        self._keys, self._rows = keys[order], rows[order].astype(np.int64)
        self._bits = np.zeros(1 << _HASH_BITS, dtype=bool)
        self._bits[_hashes(keys)] = True

    def find(self, first: Rows, second: Rows) -> tuple[Rows, Rows]:
        """Return which pairs are known, and the row of each of those."""
        keys = _keys(first.astype(np.uint64), second.astype(np.uint64))
        likely = np.flatnonzero(self._bits[_hashes(keys)])
        at = np.searchsorted(self._keys, keys[likely])
        at[at == len(self._keys)] = 0
        is_known = self._keys[at] == keys[likely]
        return likely[is_known], self._rows[at[is_known]]


def _keys(
    first: npt.NDArray[np.uint64], second: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """Return one number for two; ``NONE``, which no known pair has, is 2^64 - 1."""
    return (first << np.uint64(32)) | second


def _hashes(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    return (keys * _MULTIPLIER) >> np.uint64(64 - _HASH_BITS)


class _WordScores:
    """What each word adds to the scores of its neighbours and of itself."""

    def __init__(self, weights: ChainWeights, choices: FeatureChoices) -> None:
        self._weights = weights
        self._choices = choices
        self._steps = (0, *distances(choices))
        self._reach = max(1, *self._steps)
        self._has_pairs = choices.pairs
        self._bases, self._base_rows = _by_distance(weights, self._steps)
        self._rows: dict[str, int] = {}
        self._table = np.zeros(self._shape(_FIRST_SIZE), dtype=np.float32)
        edges = weights.rows(f"{step}|EDGE" for step in self._steps)
        self._table[:, _EDGE] = weights.states[edges]
        self._table[0, _EDGE] = 0
        self._pairs = _PairScores(weights)
        self._numbers = np.full((_FIRST_SIZE, 2), NONE, dtype=np.int64)
        self._before, self._behind = map(self._pairs.edge, (BEFORE, BEHIND))

    def _shape(self, rows: int) -> tuple[int, int, int]:
        return len(self._steps), rows, len(self._weights.labels)

    def add(self, documents: Sequence[DocumentFeatures], scores: Weights) -> None:
        """Add to ``scores`` what the words of documents say, one behind the other."""
        words = [each.tokens.words for each in documents]
        self._learn_all(words)
        edge, rows = [_EDGE] * self._reach, self._rows
        padded, places = list(edge), []
        for each in words:
            places.append(np.arange(len(padded), len(padded) + len(each)))
            padded += [rows[word] for word in each]
            padded += edge
        at, here = np.array(padded, dtype=np.int64), np.concatenate(places)
        for number, step in enumerate(self._steps):
            scores += self._table[number].take(at[here + step], axis=0)
        if self._has_pairs:
            self._pairs.add(self._neighbours(at, here), scores)

    def _neighbours(self, at: Rows, here: Rows) -> dict[int, PairNumbers]:
        """Return the numbers of each token and of those beside it."""
        found: dict[int, PairNumbers] = {0: self._numbers[at[here]]}
        for step, edge in ((-1, self._before), (1, self._behind)):
            rows = at[here + step]
            beside = self._numbers[rows]
            beside[rows == _EDGE] = edge
            found[step] = beside
        return found

    def _learn_all(self, words: Sequence[tuple[str, ...]]) -> None:
        if len(self._rows) > _MOST_WORDS:
            self._rows.clear()
        new = set().union(*words) - self._rows.keys()
        self._make_room(1 + len(self._rows) + len(new))
        for word in sorted(new):
            self._learn(word)

    def _make_room(self, rows: int) -> None:
        held = self._table.shape[1]
        if rows > held:
            grown = np.zeros(self._shape(2 * rows), dtype=np.float32)
            grown[:, :held] = self._table
            self._table = grown
            numbers = np.full((2 * rows, 2), NONE, dtype=np.int64)
            numbers[:held] = self._numbers
            self._numbers = numbers

    def _learn(self, word: str) -> None:
        row, bases = 1 + len(self._rows), self._bases
        known = [
            bases[name]
            for name in word_attributes(word, self._choices)
            if name in bases
        ]
        states = self._weights.states[self._base_rows[known]]
        self._table[:, row] = states.sum(axis=0)
        self._numbers[row] = self._pairs.numbers(word)
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
