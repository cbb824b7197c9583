"""What comes of reading a gold standard: documents with spans, and what was refused."""

from collections.abc import Iterable
from dataclasses import dataclass

from upstream.extraction.text.documents import TextDocument
from upstream.extraction.text.spans import AnnotatedDocument, Span, in_order


@dataclass(frozen=True, slots=True)
class GoldDocument(AnnotatedDocument):
    """A document with the spans that a person marked; spans may overlap.

    Attributes:
        ignored: How many notes, attributes and relations stood beside the spans, which
            are not read.
    """

    ignored: int = 0


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that was not read, or not written; the others are.

    Attributes:
        file: The file, as it was named.
        document: The document's id; empty where it has none.
        line: Line in the file, from 1, or None where the whole of it is meant.
        offset: Offset in the document's text at which it goes wrong, or None.
        sentence: What is wrong and what to do; it quotes no text.
    """

    file: str
    document: str
    line: int | None
    offset: int | None
    sentence: str

    def __str__(self) -> str:
        """Write place and sentence as compilers do."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        told = [f"document {self.document}"] if self.document else []
        told += [] if self.offset is None else [f"offset {self.offset:,}"]
        return f"{place}: {', '.join([*told, self.sentence])}"


class GoldError(Exception):
    """A document of a gold standard is refused; whoever knows its file says so.

    Attributes:
        sentence: What is wrong and what to do.
        line: Line in the file, from 1, or None.
        offset: Offset in the document's text, or None.
    """

    def __init__(
        self, sentence: str, *, line: int | None = None, offset: int | None = None
    ) -> None:
        self.sentence = sentence
        self.line = line
        self.offset = offset
        super().__init__(sentence)

    def refused(self, file: str, document: str, line: int | None = None) -> Refused:
        """Return the refusal, with its place."""
        at = line if self.line is None else self.line
        return Refused(file, document, at, self.offset, self.sentence)


def gold_document(
    document: TextDocument, spans: Iterable[Span], ignored: int = 0
) -> GoldDocument:
    """Return a document with its spans in the order of the text.

    Raises:
        GoldError: A span does not lie in the text, or has no label.
    """
    kept = in_order(spans)
    for span in kept:
        require_within(document.text, span.start, span.end)
        if not span.label.strip():
            sentence = "a span without a label: name its type"
            raise GoldError(sentence, offset=span.start)
    return GoldDocument(document, kept, ignored)


def require_writable(annotated: AnnotatedDocument) -> None:
    """Require that a document can be written in any format.

    Raises:
        GoldError: A span does not lie in its text, or the text is no Unicode.
    """
    gold_document(annotated.document, annotated.spans)
    require_unicode(annotated.document.text)


def require_unicode(text: str) -> None:
    """Require that a text has no halves of characters.

    Raises:
        GoldError: It has.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        sentence = "its text has halves of characters: mend it"
        raise GoldError(sentence, offset=error.start) from None


def require_within(text: str, start: int, end: int, line: int | None = None) -> None:
    """Require that a span has characters, all of them in the text.

    Raises:
        GoldError: It has none, or goes beyond the text.
    """
    if 0 <= start < end <= len(text):
        return
    sentence = (
        f"a span from {start} to {end} in a text of {len(text)} characters: offsets "
        "count code points from 0"
    )
    raise GoldError(sentence, line=line, offset=start)
