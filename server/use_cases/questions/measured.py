"""The noisy vectors of a paid answer, as they are stored behind its document."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from server.use_cases.services.documents import encode


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a draw was of, so that a finer one may go on from it.

    Attributes:
        plan: Digest of the statements that filled the vectors.
        scales: Of the noise of each measure, in the question's order and grid steps.
    """

    plan: str
    scales: Sequence[float]


@dataclass(frozen=True, slots=True)
class Measured:
    """All that a question measured, in the order of its normal form.

    Attributes:
        shown_as: Tells the text apart whose document shows them: the identity of a
            question before names and presentation were left out of it.
        vectors: One a measure, on its grid; a histogram's holds its bins cell by cell.
        drawn: Of what, and how; None where nothing finer can be drawn after it.
    """

    shown_as: str
    vectors: Sequence[Sequence[int]]
    drawn: Drawn | None = None

    @classmethod
    def read(cls, stored: bytes | None) -> "Measured | None":
        """Return what ``encode`` wrote; None where nothing was."""
        if stored is None:
            return None
        read = json.loads(stored)
        drawn = read.get("drawn")
        if drawn is not None:
            scales = [float.fromhex(scale) for scale in drawn["scales"]]
            drawn = Drawn(drawn["plan"], scales)
        return cls(read["shown_as"], read["vectors"], drawn)

    def encode(self) -> bytes:
        """Return the bytes that are stored."""
        vectors = [list(vector) for vector in self.vectors]
        told = {"shown_as": self.shown_as, "vectors": vectors}
        if self.drawn is None:
            return encode(told)
        scales = [scale.hex() for scale in self.drawn.scales]
        return encode({**told, "drawn": {"plan": self.drawn.plan, "scales": scales}})
