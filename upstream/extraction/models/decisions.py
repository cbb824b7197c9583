"""From probabilities of labels to spans: which types are taken, and how sure to be.

A type is taken where its probability reaches its threshold. Under one half, a threshold
prefers recall: of two errors, a name that is missed is the worse one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from upstream.extraction.text.labels import OUTSIDE, begins, spans_of, type_of
from upstream.extraction.text.spans import Span
from upstream.extraction.text.tokens import Tokens

Probabilities = npt.NDArray[np.float64]
HALF = 0.5


@dataclass(frozen=True)
class Decision:
    """How sure a model has to be of each type.

    Attributes:
        threshold: The probability that a token's type needs, of types without one of
            their own; in (0, 1).
        thresholds: For types, their own.
    """

    threshold: float = HALF
    thresholds: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that all are probabilities.

        Raises:
            ValueError: One is not in (0, 1).
        """
        if not all(
            0 < each < 1 for each in (self.threshold, *self.thresholds.values())
        ):
            message = "thresholds are probabilities: above 0 and under 1"
            raise ValueError(message)

    def of(self, kind: str) -> float:
        """Return a type's threshold."""
        return self.thresholds.get(kind, self.threshold)


@dataclass(frozen=True)
class TypeProbabilities:
    """For each token, how likely it has each type, and that a span begins with it.

    Attributes:
        types: The types.
        inside: Shape (tokens, types).
        begins: Shape (tokens, types); no more than ``inside``.
    """

    types: tuple[str, ...]
    inside: Probabilities
    begins: Probabilities


def type_probabilities(
    labels: tuple[str, ...], joint: Probabilities
) -> TypeProbabilities:
    """Add up the probabilities of a type's labels, shape (tokens, labels)."""
    types, inside, first = _of_types(labels)
    return TypeProbabilities(types, joint @ inside, joint @ first)


@lru_cache(maxsize=16)
def _of_types(
    labels: tuple[str, ...],
) -> tuple[tuple[str, ...], Probabilities, Probabilities]:
    """Return the types, and which labels are of each and which begin it.

    Both of shape (labels, types).
    """
    types = tuple(dict.fromkeys(kind for kind in map(type_of, labels) if kind))
    inside = np.zeros((len(labels), len(types)))
    first = np.zeros_like(inside)
    for row, label in enumerate(labels):
        if label != OUTSIDE:
            column = types.index(type_of(label) or "")
            inside[row, column] = 1
            first[row, column] = begins(label)
    return types, inside, first


def decide(
    tokens: Tokens, probable: TypeProbabilities, decision: Decision, source: str
) -> tuple[Span, ...]:
    """Return the spans of a text.

    Of the types that reach their threshold a token has the one that exceeds it most;
    a span ends where the next is more likely to have begun than to go on.
    """
    if not probable.types or not len(tokens):
        return ()
    thresholds = np.array([decision.of(kind) for kind in probable.types])
    margin = probable.inside / thresholds
    taken = np.flatnonzero(margin.max(axis=1) >= 1)
    if not len(taken):
        return ()
    best = margin[taken].argmax(axis=1)
    inside, first = probable.inside[taken, best], probable.begins[taken, best]
    labels = [
        ("B-" if begun else "I-") + probable.types[kind]
        for kind, begun in zip(
            best.tolist(), (first > inside / 2).tolist(), strict=True
        )
    ]
    scores = inside.tolist()
    spans: list[Span] = []
    breaks = np.flatnonzero(np.diff(taken) > 1) + 1
    for begin, end in pairwise([0, *breaks.tolist(), len(taken)]):
        at, run = int(taken[begin]), slice(begin, end)
        spans += spans_of(tokens, labels[run], scores[run], source, at)
    return tuple(spans)
