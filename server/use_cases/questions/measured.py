"""The noisy vectors of a paid answer, as they are stored behind its document."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from server.use_cases.services.documents import encode


@dataclass(frozen=True, slots=True)
class Measured:
    """All that a question measured, in the order of its normal form.

    Attributes:
        shown_as: Tells the text apart whose document shows them: the identity of a
            question before names and presentation were left out of it.
        vectors: One a measure, on its grid; a histogram's holds its bins cell by cell.
    """

    shown_as: str
    vectors: Sequence[Sequence[int]]

    @classmethod
    def read(cls, stored: bytes | None) -> "Measured | None":
        """Return what ``encode`` wrote; None where nothing was."""
        if stored is None:
            return None
        read = json.loads(stored)
        return cls(read["shown_as"], read["vectors"])

    def encode(self) -> bytes:
        """Return the bytes that are stored."""
        vectors = [list(vector) for vector in self.vectors]
        return encode({"shown_as": self.shown_as, "vectors": vectors})
