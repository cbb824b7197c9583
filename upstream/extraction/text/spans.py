"""Spans: what was found in a text, where, and how sure it is."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from upstream.extraction.text.documents import TextDocument

GOLD = "gold"
"""The source of a span that a person marked."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A part of a text that has a type.

    Attributes:
        start: Offset of its first character, in code points.
        end: Offset behind its last one.
        label: Its type, such as ``NAME``.
        score: Probability that it is one, as whoever found it says; 1 if a person did.
        source: Who found it: ``gold``, or the name of a model, a rule or a dictionary.
        is_denied: Whether the text says that it is not so: "no fever".
    """

    start: int
    end: int
    label: str
    score: float = 1.0
    source: str = GOLD
    is_denied: bool = False

    def covers(self, other: "Span") -> bool:
        """Whether they have a character in common."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class AnnotatedDocument:
    """A document and the spans that were found in it, in the order of the text."""

    document: TextDocument
    spans: tuple[Span, ...]


def limited(
    documents: Iterable[AnnotatedDocument], types: Collection[str]
) -> list[AnnotatedDocument]:
    """Return documents with their spans of these types alone."""
    return [
        AnnotatedDocument(
            each.document, tuple(span for span in each.spans if span.label in types)
        )
        for each in documents
    ]


def in_order(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in the order of the text."""
    return tuple(sorted(spans))
