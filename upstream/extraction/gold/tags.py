"""Spans as tags within the text, as HIDE prints them: ``<age>56</age> year old``.

A literal < is written ``&lt;``; an & is written ``&amp;`` where it would be taken for
the beginning of such an escape. Source: Gardner 2012, figure 4.2.
"""

import re
from collections.abc import Iterator

from upstream.extraction.gold.outcomes import GoldError
from upstream.extraction.reading.decoding.rewriting import Rewriter
from upstream.extraction.reading.outcomes import Written
from upstream.extraction.text.spans import GOLD, Span

_ESCAPES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
_MARKUP = re.compile(r"</?[A-Za-z]|&(?:lt|gt|amp);")
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)>")
_LABEL = re.compile(r"[A-Za-z][\w.-]*")


def without_tags(tagged: Written) -> tuple[Written, list[Span]]:
    """Return a text without its tags, and the spans that they marked.

    Args:
        tagged: The text with tags; the characters' places are kept.

    Raises:
        GoldError: A tag stands within another, or has no other end, at this offset of
            the tagged text.

    >>> from upstream.extraction.reading.outcomes import stored_text
    >>> text, spans = without_tags(stored_text("an <age>86</age> y/o, BP &lt; 90"))
    >>> text.text, spans[0].start, spans[0].end, spans[0].label
    ('an 86 y/o, BP < 90', 3, 5, 'age')
    """
    reader = _Reader(tagged)
    reader.read()
    return reader.rewriter.written(), reader.spans


class _Reader:
    def __init__(self, tagged: Written) -> None:
        self.text = tagged.text
        self.rewriter = Rewriter(tagged)
        self.spans: list[Span] = []
        self.opened: tuple[str, int, int] | None = None  # label, its place, span start

    def read(self) -> None:
        """Walk over the text from left to right."""
        at = 0
        while found := _MARKUP.search(self.text, at):
            start = found.start()
            self.rewriter.copy(at, start)
            if found[0].startswith("&"):
                at = found.end()
                self.rewriter.replace(start, at, _ESCAPES[found[0]])
            else:
                at = self._behind_tag(start)
        self.rewriter.copy(at, len(self.text))
        if self.opened is not None:
            sentence = "a tag opens here and is never closed"
            raise self._refusal(sentence, self.opened[1])

    def _behind_tag(self, start: int) -> int:
        tag = _TAG.match(self.text, start)
        if tag is None:
            sentence = "no whole tag: write a literal < as &lt;"
            raise self._refusal(sentence, start)
        closes, label = tag.groups()
        if not closes and self.opened is not None:
            sentence = "a tag opens within another: spans are apart"
            raise self._refusal(sentence, start)
        if not closes:
            self.opened = (label, start, self.rewriter.length)
            return tag.end()
        if self.opened is None or self.opened[0] != label:
            sentence = "a tag closes that is not open"
            raise self._refusal(sentence, start)
        begin, end = self.opened[2], self.rewriter.length
        if begin == end:
            sentence = "a tag with no text in it: take it out"
            raise self._refusal(sentence, start)
        self.spans.append(Span(begin, end, label))
        self.opened = None
        return tag.end()

    def _refusal(self, sentence: str, offset: int) -> GoldError:
        line = self.text.count("\n", 0, offset) + 1
        return GoldError(sentence, line=line, offset=offset)


def with_tags(text: str, spans: tuple[Span, ...]) -> str:
    """Return a text with its spans as tags.

    Args:
        text: The text.
        spans: Its spans, in its order, all within it.

    Raises:
        GoldError: Spans overlap, or tags cannot say what they are.
    """
    return "".join(_parts(text, spans))


def _parts(text: str, spans: tuple[Span, ...]) -> Iterator[str]:
    reached = 0
    for span in spans:
        _require_tag(span, reached)
        yield _escaped(text[reached : span.start])
        inside = _escaped(text[span.start : span.end])
        yield f"<{span.label}>{inside}</{span.label}>"
        reached = span.end
    yield _escaped(text[reached:])


def _require_tag(span: Span, reached: int) -> None:
    sentence = ""
    if span.start < reached:
        sentence = "spans overlap, which tags cannot say: write JSON instead"
    elif not _LABEL.fullmatch(span.label):
        sentence = "a tag is letters, digits, _ . and -: rename the label"
    elif (span.score, span.source, span.is_denied) != (1.0, GOLD, False):
        sentence = "tags have no scores, sources or denials: write JSON instead"
    if sentence:
        raise GoldError(sentence, offset=span.start)


def _escaped(text: str) -> str:
    return re.sub(r"&(?=(?:lt|gt|amp);)", "&amp;", text).replace("<", "&lt;")
