"""Lines of brat's standoff format (.ann), read and written.

Source: https://brat.nlplab.org/standoff.html.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from upstream.extraction.gold.outcomes import GoldError, require_within
from upstream.extraction.text.spans import GOLD, Span

_SPAN = re.compile(
    r"T\S*\t(?P<label>\S+) (?P<parts>\d{1,12} \d{1,12}(?:;\d{1,12} \d{1,12})*)"
    r"(?:\t(?P<quote>.*))?"
)
_IGNORED = frozenset("REAMN#*")
_LABEL = re.compile(r"[^\s;]+")


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A line that marks a span.

    Attributes:
        number: Of the line, from 1.
        label: The span's type.
        parts: Where it begins and ends; several times if it is interrupted.
        quote: What the line says stands there, or None.
    """

    number: int
    label: str
    parts: tuple[tuple[int, int], ...]
    quote: str | None


def read_lines(content: str) -> tuple[list[MarkedLine], int]:
    """Return the lines that mark spans, and how many others are ignored.

    Raises:
        GoldError: A line is none of the format's.
    """
    marked = []
    ignored = 0
    for number, line in enumerate(re.split(r"\r\n|\n", content), 1):
        match = _SPAN.fullmatch(line)
        if match:
            parts = tuple(map(_part, match["parts"].split(";")))
            marked.append(MarkedLine(number, match["label"], parts, match["quote"]))
        elif line[:1] in _IGNORED and line:
            ignored += 1
        elif line.strip():
            sentence = "no line of brat's format: T1, a tab, label start end, a tab"
            raise GoldError(sentence, line=number)
    return marked, ignored


def spans_of(
    marked: list[MarkedLine],
    text: str,
    *,
    split: bool = False,
    has_mark: bool = False,
) -> list[Span]:
    """Return the spans of a text that lines mark.

    Where the text ends lines with CR LF, offsets may count those as one character or
    as two; where a byte order mark stood before it, they may count that, too. Which of
    them is known by what the lines quote.

    Args:
        marked: The lines.
        text: The document's text.
        split: Whether an interrupted span is read as several, instead of refused.
        has_mark: Whether the file begins with a byte order mark, which is not in
            ``text``.

    Raises:
        GoldError: A span is interrupted, lies beyond the text, or is not what its line
            quotes.
    """
    for line in marked:
        if len(line.parts) > 1 and not split:
            sentence = (
                "an interrupted span (several parts): mark each part on its own, or "
                "have it split"
            )
            raise GoldError(sentence, line=line.number, offset=line.parts[0][0])
    try:
        return list(_spans(marked, text))
    except GoldError:
        for places in _other_counts(text, has_mark=has_mark):
            try:
                moved = [_moved(line, places) for line in marked]
                return list(_spans(moved, text))
            except (GoldError, IndexError):
                continue
        raise


def line_of(number: int, span: Span, text: str) -> str:
    """Return the line that marks a span.

    Raises:
        GoldError: The format cannot say it.
    """
    if not _LABEL.fullmatch(span.label):
        sentence = "brat's labels have no blanks and no semicolons: rename the label"
        raise GoldError(sentence, offset=span.start)
    if (span.score, span.source, span.is_denied) != (1.0, GOLD, False):
        sentence = "brat has no scores, sources or denials here: write JSON instead"
        raise GoldError(sentence, offset=span.start)
    quote = _quoted(text[span.start : span.end])
    return f"T{number}\t{span.label} {span.start} {span.end}\t{quote}\n"


def _part(written: str) -> tuple[int, int]:
    start, _, end = written.partition(" ")
    return int(start), int(end)


def _spans(marked: list[MarkedLine], text: str) -> Iterator[Span]:
    for line in marked:
        for start, end in line.parts:
            require_within(text, start, end, line.number)
            yield Span(start, end, line.label)
        if line.quote is not None and not _is_quoted(line, text):
            sentence = (
                "the text there is not what the line quotes: offsets count code points "
                "of the .txt as it is"
            )
            at = line.parts[0][0]
            raise GoldError(sentence, line=line.number, offset=at)


def _is_quoted(line: MarkedLine, text: str) -> bool:
    found = [text[start:end] for start, end in line.parts]
    quote = str(line.quote)
    return any(_quoted(joint.join(found)) == _quoted(quote) for joint in (" ", ""))


def _quoted(text: str) -> str:
    """Return a text on one line, as brat quotes it."""
    return re.sub("[\r\n\v\f\x1c-\x1e\x85\u2028\u2029\t]+", " ", text).strip(" ")


def _other_counts(text: str, *, has_mark: bool) -> Iterator[list[int]]:
    """Yield the offset of each character that others count, in their order."""
    if has_mark:
        yield [0, *range(len(text) + 1)]
    if "\r\n" in text:
        short = [m.start() for m in re.finditer(r"\r\n|.", text, re.DOTALL)]
        short.append(len(text))
        yield short
        if has_mark:
            yield [0, *short]


def _moved(line: MarkedLine, places: list[int]) -> MarkedLine:
    parts = tuple((places[start], places[end]) for start, end in line.parts)
    return MarkedLine(line.number, line.label, parts, line.quote)
