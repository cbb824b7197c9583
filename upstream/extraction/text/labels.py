"""Spans as one label for each token: B begins a span, I goes on, O is in none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from upstream.extraction.text.spans import Span
from upstream.extraction.text.tokens import Tokens

OUTSIDE = "O"
_BEGINS, _GOES_ON = "B-", "I-"


@dataclass(frozen=True, slots=True)
class Labelling:
    """A label for each token.

    Attributes:
        labels: One for each token.
        misfits: Spans that do not begin and end where tokens do, that have no token,
            or that stand in another one: labels cannot say them.
    """

    labels: tuple[str, ...]
    misfits: tuple[Span, ...]


def labelling(tokens: Tokens, spans: Iterable[Span]) -> Labelling:
    """Return the labels of these spans; of spans that overlap, the longest one's.

    >>> from upstream.extraction.text.tokens import tokenize
    >>> labelling(tokenize("Dr. Ann Lee"), [Span(4, 11, "NAME")]).labels
    ('O', 'O', 'B-NAME', 'I-NAME')
    """
    labels = [OUTSIDE] * len(tokens)
    misfits: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start - span.end, span)):
        first = int(np.searchsorted(tokens.ends, span.start, side="right"))
        end = int(np.searchsorted(tokens.starts, span.end, side="left"))
        if first >= end or any(label != OUTSIDE for label in labels[first:end]):
            misfits.append(span)
            continue
        if (tokens.starts[first], tokens.ends[end - 1]) != (span.start, span.end):
            misfits.append(span)
        labels[first] = _BEGINS + span.label
        labels[first + 1 : end] = [_GOES_ON + span.label] * (end - first - 1)
    return Labelling(tuple(labels), tuple(sorted(misfits)))


def type_of(label: str) -> str | None:
    """Return the type of a span's token, None of one that is in no span.

    >>> type_of("I-NAME"), type_of("O")
    ('NAME', None)
    """
    return None if label == OUTSIDE else label[len(_BEGINS) :]


def begins(label: str) -> bool:
    """Whether a label begins a span."""
    return label.startswith(_BEGINS)


def may_follow(label: str, following: str) -> bool:
    """Whether ``following`` may stand behind ``label``: a span goes on or begins.

    >>> may_follow("O", "I-NAME"), may_follow("B-NAME", "I-NAME")
    (False, True)
    """
    return not following.startswith(_GOES_ON) or type_of(label) == type_of(following)


def labels_of(types: Iterable[str]) -> tuple[str, ...]:
    """Return all labels of these types, ``O`` first.

    >>> labels_of(["NAME"])
    ('O', 'B-NAME', 'I-NAME')
    """
    pairs = [prefix + kind for kind in sorted(types) for prefix in (_BEGINS, _GOES_ON)]
    return (OUTSIDE, *pairs)


def spans_of(
    tokens: Tokens,
    labels: Sequence[str],
    scores: Sequence[float],
    source: str,
    first: int = 0,
) -> tuple[Span, ...]:
    """Return the spans that labels say; a span is as sure as its least sure token.

    Args:
        tokens: The tokens.
        labels: One for each of them, or of those from ``first`` on that they are of;
            an I that goes on nothing begins a span.
        scores: For each of these tokens, the probability of its type.
        source: Who found them.
        first: Which token the first label is of.
    """
    spans: list[Span] = []
    start, kind = 0, None
    for at, label in enumerate([*labels, OUTSIDE]):
        goes_on = label.startswith(_GOES_ON) and type_of(label) == kind
        if kind is not None and not goes_on:
            spans.append(
                Span(
                    int(tokens.starts[first + start]),
                    int(tokens.ends[first + at - 1]),
                    kind,
                    float(min(scores[start:at])),
                    source,
                )
            )
        if not goes_on:
            start, kind = at, type_of(label)
    return tuple(spans)
