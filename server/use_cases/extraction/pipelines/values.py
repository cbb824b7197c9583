"""Values of columns that are made of documents: of a field, or of spans of a type."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from server.use_cases.extraction.pipelines.files import Column
from server.use_cases.extraction.store.texts import StoredDocument
from upstream.extraction.normalising.outcomes import Normalised
from upstream.extraction.text.spans import Span


@dataclass(frozen=True, slots=True)
class Made:
    """A value of a row.

    Attributes:
        value: The value, if there is one.
        span: What it was made of; None: a field, or nothing.
        doubt: What is to be counted: why there is no value, or why it is unsure.
        passed: Why the span that was to be taken first has none, where another has.
    """

    value: str | None
    span: Span | None
    doubt: str | None = None
    passed: str | None = None


class Values:
    """Reads the values of some columns."""

    def __init__(
        self, columns: Iterable[Column], meaning: Callable[[Span, str], str]
    ) -> None:
        """Make the columns' normalisers.

        Args:
            columns: The columns.
            meaning: Returns what a span stands for, given its text.
        """
        self._read = {one.name: one.rule.normaliser() for one in columns}
        self._meaning = meaning

    def value(
        self, column: Column, one: StoredDocument, spans: tuple[Span, ...]
    ) -> Made:
        """Return the value of a column in a document.

        Args:
            column: The column.
            one: The document.
            spans: What it may be made of.
        """
        if column.field is not None:
            text = one.document.fields.get(column.field, "")
            return _told(self._read_text(column, text))
        fitting = self._fitting(column, one.document.text, spans)
        if column.rule.kind == "present":
            return Made("true", fitting[0]) if fitting else Made("false", None)
        first: Normalised | None = None
        for span in fitting:
            said = one.document.text[span.start : span.end]
            if column.rule.kind == "meaning":
                said = self._meaning(span, said)
            read = self._read[column.name](said)
            if read.value is not None:
                passed = None if first is None else str(first.doubt)
                return Made(read.value, span, passed=passed)
            first = first or read
        return _told(first)

    def _fitting(
        self, column: Column, text: str, spans: tuple[Span, ...]
    ) -> list[Span]:
        """Return the spans that a column may be made of, the one to take first."""
        least, meanings = float(column.least_score), set(column.meanings)
        fitting = [
            span
            for span in spans
            if span.label == column.span
            and span.score >= least
            and column.takes_denied(is_denied=span.is_denied)
            and (
                not meanings
                or self._meaning(span, text[span.start : span.end]) in meanings
            )
        ]
        if column.take == "last":
            fitting.reverse()
        elif column.take == "surest":
            fitting.sort(key=lambda span: -span.score)
        return fitting

    def _read_text(self, column: Column, text: str) -> Normalised | None:
        return self._read[column.name](text) if text.strip() else None


def _told(said: Normalised | None) -> Made:
    """Return what was read as a value; None: there was nothing to read."""
    if said is None:
        return Made(None, None, "missing")
    return Made(said.value, None, None if said.doubt is None else str(said.doubt))
