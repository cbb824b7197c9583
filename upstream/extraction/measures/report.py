"""How good a model is on a gold standard: the figures of all kinds, by type."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from upstream.extraction.measures.counts import (
    Counts,
    DocumentCounts,
    compare_document,
    total,
)
from upstream.extraction.text.spans import AnnotatedDocument, Span
from upstream.extraction.text.tokens import tokenize


@dataclass(frozen=True)
class Judgement:
    """What was compared, document by document.

    Attributes:
        documents: The counts of each, in the order of the gold standard.
    """

    documents: tuple[DocumentCounts, ...]

    @property
    def types(self) -> tuple[str, ...]:
        """The types that were there or found."""
        return tuple(sorted({kind for each in self.documents for kind in each.strict}))

    def strict(self, kind: str | None = None) -> Counts:
        """Return spans with both offsets and the type, of one type or of all."""
        return self._sum(lambda each: each.strict, kind)

    def overlapping(self, kind: str | None = None) -> Counts:
        """Return spans that share a character with one of their type."""
        return self._sum(lambda each: each.overlapping, kind)

    def tokens(self, kind: str | None = None) -> Counts:
        """Return tokens with their type."""
        return self._sum(lambda each: each.tokens, kind)

    @property
    def untyped(self) -> Counts:
        """Spans with both offsets, whatever their type."""
        return total(each.untyped for each in self.documents)

    @property
    def characters(self) -> Counts:
        """Characters, whatever their type: what is missed of them leaks."""
        return total(each.characters for each in self.documents)

    @property
    def unseen(self) -> int:
        """Spans of the gold standard with no character found."""
        return sum(each.unseen for each in self.documents)

    @property
    def clean(self) -> int:
        """Documents of whose gold standard no character was missed."""
        return sum(each.is_clean for each in self.documents)

    def _sum(
        self, by_type: Callable[[DocumentCounts], dict[str, Counts]], kind: str | None
    ) -> Counts:
        return total(
            counts
            for each in self.documents
            for name, counts in by_type(each).items()
            if kind in {None, name}
        )

    def to_json(self) -> dict[str, object]:
        """Return the figures as a document of numbers, without any text."""
        return {
            "documents": len(self.documents),
            "documents_clean": self.clean,
            "spans_unseen": self.unseen,
            "characters_leaked": self.characters.missed,
            "strict": figures(self.strict()),
            "untyped": figures(self.untyped),
            "overlapping": figures(self.overlapping()),
            "tokens": figures(self.tokens()),
            "characters": figures(self.characters),
            "types": {
                kind: {
                    "strict": figures(self.strict(kind)),
                    "overlapping": figures(self.overlapping(kind)),
                    "tokens": figures(self.tokens(kind)),
                }
                for kind in self.types
            },
            "misses": self.misses(),
        }

    def misses(self) -> list[dict[str, object]]:
        """Return how many spans of each type were not found, the worst type first.

        Found is a span that shares a character with one of its type.
        """
        counted = [(kind, self.overlapping(kind)) for kind in self.types]
        told = [(kind, counts) for kind, counts in counted if counts.missed]
        return [
            {
                "type": kind,
                "spans": counts.right + counts.missed,
                "missed": counts.missed,
                "recall": round(counts.recall, 4),
            }
            for kind, counts in sorted(told, key=lambda one: (one[1].recall, one[0]))
        ]


def figures(counts: Counts) -> dict[str, object]:
    """Return counts with precision, recall and F1, rounded to four digits.

    >>> figures(Counts(right=9, false=1, missed=3))["recall"]
    0.75
    """
    return {
        "right": counts.right,
        "false": counts.false,
        "missed": counts.missed,
        "precision": round(counts.precision, 4),
        "recall": round(counts.recall, 4),
        "f1": round(counts.f1, 4),
    }


def judge(
    gold: Sequence[AnnotatedDocument],
    find: Callable[[Iterable[str]], Iterable[tuple[Span, ...]]],
) -> Judgement:
    """Return how what ``find`` finds in the texts of a gold standard compares.

    Args:
        gold: The documents, with what is there.
        find: Returns the spans of each text, such as ``SpanFinder.find``.
    """
    found = find(each.document.text for each in gold)
    return Judgement(
        tuple(
            compare_document(each.spans, spans, _offsets(each.document.text))
            for each, spans in zip(gold, found, strict=True)
        )
    )


def _offsets(text: str) -> list[tuple[int, int]]:
    tokens = tokenize(text)
    return list(zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True))
