"""Right, false and missed: what precision, recall and F1 are made of."""

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TypeVar

from upstream.extraction.text.covered import Covered
from upstream.extraction.text.spans import Span

Typed = tuple[int, int, str]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Counts:
    """How many were found rightly, found though there is nothing, and missed.

    Attributes:
        right: Found, and there.
        false: Found, and not there.
        missed: There, and not found.
    """

    right: int = 0
    false: int = 0
    missed: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        """Return the counts of both."""
        return Counts(
            self.right + other.right,
            self.false + other.false,
            self.missed + other.missed,
        )

    @property
    def precision(self) -> float:
        """The part of what was found that is there; 1 if nothing was found."""
        found = self.right + self.false
        return self.right / found if found else 1.0

    @property
    def recall(self) -> float:
        """The part of what is there that was found; 1 if nothing is there."""
        there = self.right + self.missed
        return self.right / there if there else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall.

        >>> round(Counts(right=1, false=0, missed=1).f1, 3)
        0.667
        """
        both = 2 * self.right + self.false + self.missed
        return 2 * self.right / both if both else 1.0


def total(counts: Iterable[Counts]) -> Counts:
    """Return the counts of all."""
    return sum(counts, Counts())


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """One document, compared.

    Attributes:
        strict: For each type, spans with both offsets and the type.
        overlapping: For each type, spans that share a character with one of the type.
        untyped: Spans with both offsets, whatever their type.
        characters: Characters of all types together.
        tokens: For each type, tokens.
        unseen: Spans of the gold standard with no character found.
    """

    strict: dict[str, Counts]
    overlapping: dict[str, Counts]
    untyped: Counts
    characters: Counts
    unseen: int = 0
    tokens: dict[str, Counts] = field(default_factory=dict)

    @property
    def is_clean(self) -> bool:
        """Whether no character of the gold standard was missed."""
        return self.characters.missed == 0


def compare_document(
    gold: Sequence[Span],
    found: Sequence[Span],
    tokens: Sequence[tuple[int, int]] = (),
) -> DocumentCounts:
    """Compare what was found in a document with its gold standard.

    Args:
        gold: What is there.
        found: What was found; a span that is found twice counts once.
        tokens: Offsets of its tokens; none: tokens are not counted.
    """
    types = sorted({span.label for span in (*gold, *found)})
    there = {(span.start, span.end, span.label) for span in gold}
    said = {(span.start, span.end, span.label) for span in found}
    marked, named = _characters(gold), _characters(found)
    return DocumentCounts(
        strict={kind: _compare(_of(there, kind), _of(said, kind)) for kind in types},
        overlapping={kind: _overlaps(gold, found, kind) for kind in types},
        untyped=_compare({each[:2] for each in there}, {each[:2] for each in said}),
        characters=_compare(marked, named),
        unseen=sum(named.isdisjoint(range(s, e)) for s, e, _ in there),
        tokens={kind: _tokens(gold, found, tokens, kind) for kind in types},
    )


def _of(spans: set[Typed], kind: str) -> set[Typed]:
    return {span for span in spans if span[2] == kind}


def _compare(gold: AbstractSet[T], found: AbstractSet[T]) -> Counts:
    right = len(gold & found)
    return Counts(right, len(found) - right, len(gold) - right)


def _characters(spans: Iterable[Span]) -> set[int]:
    return {at for span in spans for at in range(span.start, span.end)}


def _overlaps(gold: Sequence[Span], found: Sequence[Span], kind: str) -> Counts:
    there = [span for span in set(gold) if span.label == kind]
    said = [span for span in set(found) if span.label == kind]
    by_people, by_model = _places(there), _places(said)
    met = sum(by_model.meets(span.start, span.end) for span in there)
    false = sum(not by_people.meets(span.start, span.end) for span in said)
    return Counts(met, false, len(there) - met)


def _places(spans: Iterable[Span]) -> Covered:
    return Covered((span.start, span.end) for span in spans)


def _tokens(
    gold: Sequence[Span],
    found: Sequence[Span],
    tokens: Sequence[tuple[int, int]],
    kind: str,
) -> Counts:
    there = _covered([span for span in gold if span.label == kind], tokens)
    said = _covered([span for span in found if span.label == kind], tokens)
    both = (there & said).total()
    return Counts(both, said.total() - both, there.total() - both)


def _covered(spans: Sequence[Span], tokens: Sequence[tuple[int, int]]) -> Counter[int]:
    places = _places(spans)
    return Counter(
        number for number, (start, end) in enumerate(tokens) if places.meets(start, end)
    )
