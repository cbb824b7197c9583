"""A text made of parts of another, such as a note without its markup; places kept."""

from bisect import bisect_right
from collections.abc import Iterator

from upstream.extraction.reading.outcomes import EncodingSource, Written
from upstream.extraction.text.documents import Piece, join_pieces

_MOST_PLACED = 8


class Joiner:
    """Builds a text from left to right out of texts of one original, in its order."""

    def __init__(
        self, encoding: str = "", encoding_from: EncodingSource = "stored"
    ) -> None:
        self.length = 0
        self.ends_in_blank = False
        self._texts: list[str] = []
        self._pieces: list[Piece] = []
        self._reached = 0
        self._encoding = encoding
        self._encoding_from = encoding_from

    def add(self, written: Written) -> None:
        """Write a text that stands in the original."""
        for piece in written.pieces:
            start = self.length + piece.start
            self._pieces.append(Piece(start, piece.original, piece.width))
        if written.pieces:
            last = written.pieces[-1]
            self._reached = max(
                last.original + (len(written.text) - last.start) * last.width,
                self._reached,
            )
        self._write(written.text)

    def insert(self, text: str) -> None:
        """Write what does not stand there, such as a line break between parts."""
        self._pieces.append(Piece(self.length, self._reached, 0))
        self._write(text)

    def written(self) -> Written:
        """Return the text so far."""
        pieces = join_pieces(self._pieces)
        text = "".join(self._texts)
        return Written(text, pieces, self._encoding, self._encoding_from)

    def _write(self, text: str) -> None:
        self._texts.append(text)
        self.length += len(text)
        if text:
            self.ends_in_blank = text[-1].isspace()


class Rewriter(Joiner):
    """Builds a text from left to right out of parts of one text."""

    def __init__(self, base: Written) -> None:
        super().__init__(base.encoding, base.encoding_from)
        self.base = base
        self._starts = [piece.start for piece in base.pieces]
        self._reached = base.pieces[0].original if base.pieces else 0

    def copy(self, start: int, end: int) -> None:
        """Take a part of the base as it is."""
        if start >= end:
            return
        for piece in self._covering(start, end):
            at = self.length + piece.start - start
            self._pieces.append(Piece(at, piece.original, piece.width))
        self._write(self.base.text[start:end])
        self._reached = self._behind(end)

    def replace(self, start: int, end: int, by: str) -> None:
        """Write what a part of the base stands for, such as an escape.

        Each character of ``by`` has the whole part as its place. Of many, such as the
        blank lines that one escape may stand for, the first has: a file of such
        escapes would need a hundred times its size.
        """
        first = next(self._covering(start, end)).original
        reached = self._behind(end)
        placed = len(by) if len(by) <= _MOST_PLACED else 1
        for count in range(placed):
            self._pieces.append(Piece(self.length + count, first, reached - first))
        if placed < len(by):
            self._pieces.append(Piece(self.length + placed, reached, 0))
        self._write(by)
        self._reached = reached

    def _covering(self, start: int, end: int) -> Iterator[Piece]:
        """Yield the base's pieces of a part, the first cut to begin with it."""
        at = bisect_right(self._starts, start) - 1
        pieces = self.base.pieces
        for number in range(at, len(pieces)):
            piece = pieces[number]
            if piece.start >= end:
                return
            ahead = max(start - piece.start, 0)
            original = piece.original + ahead * piece.width
            yield Piece(piece.start + ahead, original, piece.width)

    def _behind(self, end: int) -> int:
        """Return the offset in the original behind the character before ``end``."""
        last = next(self._covering(end - 1, end))
        return last.original + last.width
