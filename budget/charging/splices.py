"""Free answers, stored as what differs from the paid answer that they show.

A free answer repeats another one but for a few words. Were it stored whole, whoever has
paid once could fill the disk with it for nothing. So its row names the answer that it
shows and holds pieces: bytes of its own, and ranges of that one. Put together they are
the bytes that were sent, as their digest tells.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from privacy.errors import AnchorMismatchError

Piece = bytes | tuple[int, int]
"""Bytes (UTF-8) of an answer's own, or a range of the other's: start and stop."""
_DIFFERS = "a stored answer is not the one that was sent; see 'curator ledger verify'"


@dataclass(frozen=True, slots=True)
class Splice:
    """A free answer in pieces, with the SHA-256 of the bytes that were sent."""

    sha256: str
    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, body: bytes, pieces: Sequence[Piece]) -> "Splice":
        """Return the splice of a body that its pieces make."""
        return cls(hashlib.sha256(body).hexdigest(), tuple(pieces))

    @classmethod
    def decode(cls, stored: bytes) -> "Splice":
        """Return what ``encode`` wrote."""
        read = json.loads(stored)
        pieces = tuple(
            piece.encode() if isinstance(piece, str) else (piece[0], piece[1])
            for piece in read["pieces"]
        )
        return cls(read["sha256"], pieces)

    def encode(self) -> bytes:
        """Return the bytes that a row holds: few, however long the answer is."""
        pieces = [
            piece.decode() if isinstance(piece, bytes) else list(piece)
            for piece in self.pieces
        ]
        document = {"sha256": self.sha256, "pieces": pieces}
        return json.dumps(document, ensure_ascii=False).encode()

    def rebuilt(self, shown: bytes) -> bytes:
        """Return the bytes that were sent.

        Args:
            shown: The stored bytes of the answer that the ranges are of.

        Raises:
            AnchorMismatchError: They are not what was sent: something was edited.
        """
        body = joined(self.pieces, shown)
        if hashlib.sha256(body).hexdigest() != self.sha256:
            raise AnchorMismatchError(_DIFFERS)
        return body


def joined(pieces: Sequence[Piece], shown: bytes) -> bytes:
    """Return the body that pieces make, with ranges of ``shown``."""
    view = memoryview(shown)
    return b"".join(
        piece if isinstance(piece, bytes) else view[piece[0] : piece[1]]
        for piece in pieces
    )
