"""A text made of parts of another, such as a note without its markup; places kept."""

from bisect import bisect_right
from collections.abc import Iterator

from upstream.extraction.reading.outcomes import Written
from upstream.extraction.text.documents import Piece, join_pieces


class Rewriter:
    """Builds a text from left to right out of parts of one text."""

    def __init__(self, base: Written) -> None:
        self.base = base
        self._starts = [piece.start for piece in base.pieces]
        self._texts: list[str] = []
        self._pieces: list[Piece] = []
        self.length = 0
        self._reached = base.pieces[0].original if base.pieces else 0

    def copy(self, start: int, end: int) -> None:
        """Take a part of the base as it is."""
        if start >= end:
            return
        for piece in self._covering(start, end):
            at = self.length + piece.start - start
            self._pieces.append(Piece(at, piece.original, piece.width))
        self._texts.append(self.base.text[start:end])
        self.length += end - start
        self._reached = self._behind(end)

    def replace(self, start: int, end: int, by: str) -> None:
        """Write what a part of the base stands for, such as an escape.

        Each character of ``by`` has the whole part as its place.
        """
        first = next(self._covering(start, end)).original
        reached = self._behind(end)
        for count in range(len(by)):
            self._pieces.append(Piece(self.length + count, first, reached - first))
        self._texts.append(by)
        self.length += len(by)
        self._reached = reached

    def insert(self, text: str) -> None:
        """Write what does not stand in the base, such as a line break between parts."""
        self._pieces.append(Piece(self.length, self._reached, 0))
        self._texts.append(text)
        self.length += len(text)

    def written(self) -> Written:
        """Return the text so far."""
        text = "".join(self._texts)
        base = self.base
        pieces = join_pieces(self._pieces)
        return Written(text, pieces, base.encoding, base.encoding_from)

    def _covering(self, start: int, end: int) -> Iterator[Piece]:
        """Yield the base's pieces of a part, the first cut to begin with it."""
        at = bisect_right(self._starts, start) - 1
        for piece in self.base.pieces[at:]:
            if piece.start >= end:
                return
            ahead = max(start - piece.start, 0)
            original = piece.original + ahead * piece.width
            yield Piece(piece.start + ahead, original, piece.width)

    def _behind(self, end: int) -> int:
        """Return the offset in the original behind the character before ``end``."""
        last = next(self._covering(end - 1, end))
        return last.original + last.width
