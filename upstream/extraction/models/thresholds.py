"""Thresholds, chosen on documents that a model was not trained on."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from upstream.extraction.measures.counts import Counts, compare_document, total
from upstream.extraction.models.decisions import Decision, TypeProbabilities, decide
from upstream.extraction.models.model import Aim
from upstream.extraction.text.spans import Span
from upstream.extraction.text.tokens import Tokens

GRID = (0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001)
_USUAL = GRID[: GRID.index(0.1) + 1]
_LEAST_SPANS = 50  # of a type in the gold standard, for a threshold of its own
_LEAST_GAIN = 3  # errors fewer: what is less may be the documents' own


@dataclass(frozen=True)
class Tuned:
    """A document to choose thresholds on.

    Attributes:
        tokens: Its tokens.
        probable: How likely each has each type, as the model says.
        gold: What is there.
        complete: What is done with the spans that were decided, such as rules.
    """

    tokens: Tokens
    probable: TypeProbabilities
    gold: tuple[Span, ...]
    complete: Callable[[tuple[Span, ...]], tuple[Span, ...]] = tuple


def choose(documents: Sequence[Tuned], aim: Aim) -> Decision:
    """Return the thresholds that serve the aim best.

    For ``f1`` the best one for all types, and another for a frequent type that makes
    fewer errors with it; for ``recall`` the lowest for all that keeps the precision of
    characters.
    """
    if aim.prefer == "recall":
        return _for_recall(documents, aim.least_precision)
    best = max(GRID, key=lambda each: _f1(documents, Decision(each)))
    chosen: dict[str, float] = {}
    for kind in _common(documents):
        errors = {
            each: _errors(documents, Decision(best, {**chosen, kind: each}))
            for each in (best, *_USUAL)
        }
        own = min(errors, key=errors.__getitem__)
        if errors[own] <= errors[best] - _LEAST_GAIN:
            chosen[kind] = own
    return Decision(best, chosen)


def _common(documents: Iterable[Tuned]) -> list[str]:
    counts: dict[str, int] = {}
    for each in documents:
        for span in each.gold:
            counts[span.label] = counts.get(span.label, 0) + 1
    return sorted(kind for kind, count in counts.items() if count >= _LEAST_SPANS)


def _f1(documents: Iterable[Tuned], decision: Decision) -> float:
    return _strict(documents, decision).f1


def _errors(documents: Iterable[Tuned], decision: Decision) -> int:
    counts = _strict(documents, decision)
    return counts.false + counts.missed


def _strict(documents: Iterable[Tuned], decision: Decision) -> Counts:
    right = found = there = 0
    for each in documents:
        spans = _decided(each, decision)
        said = {(span.start, span.end, span.label) for span in spans}
        gold = {(span.start, span.end, span.label) for span in each.gold}
        right += len(said & gold)
        found += len(said)
        there += len(gold)
    return Counts(right, found - right, there - right)


def _decided(each: Tuned, decision: Decision) -> tuple[Span, ...]:
    return each.complete(decide(each.tokens, each.probable, decision, ""))


def _for_recall(documents: Sequence[Tuned], least_precision: float) -> Decision:
    kept = Decision(GRID[0])
    for threshold in GRID:
        decision = Decision(threshold)
        characters: Counts = total(
            compare_document(each.gold, _decided(each, decision)).characters
            for each in documents
        )
        if characters.precision < least_precision:
            break
        kept = decision
    return kept
