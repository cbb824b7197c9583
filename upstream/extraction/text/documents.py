"""Documents, and where each of their characters stands in a custodian's file."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

Unit = Literal["byte", "character"]


@dataclass(frozen=True, slots=True)
class Place:
    """What a document's text was read from.

    Attributes:
        file: Its path under the import folder, or a database's table.
        item: Which part of it, as a person would look for it: ``row 17, column note``;
            empty for a whole file.
        unit: What offsets into the original count: bytes of a file, or characters of
            a value that a table holds decoded.
    """

    file: str
    item: str = ""
    unit: Unit = "byte"


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters that stand one behind the other in the original.

    Attributes:
        start: Offset of its first character in the text, in code points.
        original: Offset of that character in the original, in the place's unit.
        width: Units of one character there; 0 for a run that is not in the original,
            such as a line break between two parts.
    """

    start: int
    original: int
    width: int


@dataclass(frozen=True, slots=True)
class TextDocument:
    """A note, as text.

    Attributes:
        id: Names it among the documents of its source; the same at every reading.
        text: What is written, decoded, never normalised.
        place: What it was read from.
        pieces: Where its characters stand in the original, in order; the first begins
            at 0. Empty where the text is empty.
        fields: What stood beside it, such as a patient's number and a date; as text.
    """

    id: str
    text: str
    place: Place
    pieces: tuple[Piece, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)

    def original_range(self, start: int, end: int) -> tuple[int, int]:
        """Return where a span of the text stands in the original.

        Args:
            start: Offset of its first character, in code points.
            end: Offset behind its last one.

        Returns:
            The first offset and the one behind the last, in the place's unit.

        Raises:
            ValueError: The text has no such span.

        >>> text = "Älter"
        >>> place = Place("a.txt")
        >>> document = TextDocument("a", text, place, pieces_of(text, "utf-8"))
        >>> document.original_range(1, 3)
        (2, 4)
        """
        if not 0 <= start < end <= len(self.text):
            message = f"no span {start} to {end} in a text of {len(self.text)}"
            raise ValueError(message)
        first, last = self._piece(start), self._piece(end - 1)
        begin = first.original + (start - first.start) * first.width
        return begin, last.original + (end - last.start) * last.width

    def _piece(self, offset: int) -> Piece:
        at = bisect_right(self.pieces, offset, key=lambda piece: piece.start)
        return self.pieces[at - 1]


def pieces_of(text: str, encoding: str, *, original: int = 0) -> tuple[Piece, ...]:
    """Return where the characters of a text stand that was decoded as it is.

    Args:
        text: The decoded text, without a byte order mark.
        encoding: A name that Python knows, which encodes one character at a time.
        original: Offset of its first byte.
    """
    return join_pieces(_runs(text, encoding, original))


_UTF16_RUNS = re.compile("[\0-\uffff]+|[\U00010000-\U0010ffff]+")
_RUNS = {
    "utf-8": re.compile(
        "[\0-\x7f]+|[\x80-\u07ff]+|[\u0800-\uffff]+|[\U00010000-\U0010ffff]+"
    ),
    "utf-16-le": _UTF16_RUNS,
    "utf-16-be": _UTF16_RUNS,
}
"""Runs of characters of one width: found so, many times faster than one by one."""


def join_pieces(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Drop the pieces that only go on where the one before would have gone."""
    kept: list[Piece] = []
    for piece in pieces:
        if not kept or not _goes_on(kept[-1], piece):
            kept.append(piece)
    return tuple(kept)


def _goes_on(before: Piece, piece: Piece) -> bool:
    reached = before.original + (piece.start - before.start) * before.width
    return before.width == piece.width and reached == piece.original


def _runs(text: str, encoding: str, original: int) -> Iterator[Piece]:
    if text.isascii() and len("a".encode(encoding)) == 1:
        yield from [Piece(0, original, 1)] if text else []
        return
    start = 0
    for width, length in _widths(text, encoding):
        yield Piece(start, original, width)
        start, original = start + length, original + length * width


def _widths(text: str, encoding: str) -> Iterator[tuple[int, int]]:
    """Yield the width of the characters of each run, and how many they are."""
    if encoding in _RUNS:
        for run in _RUNS[encoding].finditer(text):
            yield len(run[0][0].encode(encoding)), run.end() - run.start()
        return
    widths = {character: len(character.encode(encoding)) for character in set(text)}
    if len(set(widths.values())) == 1:
        yield widths[text[0]], len(text)
        return
    for width, group in groupby(text, key=widths.__getitem__):
        yield width, sum(1 for _ in group)
