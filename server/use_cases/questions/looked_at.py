"""What was read for a question beside compiling it: the public cost counts it."""

from typing import Final, NamedTuple


class LookedAt(NamedTuple):
    """How much was looked at.

    Attributes:
        texts: Paid questions that were read and compiled anew.
        cells: Cells of paid answers that were looked for or drawn again.
    """

    texts: int = 0
    cells: int = 0

    def plus(self, other: "LookedAt") -> "LookedAt":
        """Return both added up.

        >>> LookedAt(1, 10).plus(LookedAt(0, 5))
        LookedAt(texts=1, cells=15)
        """
        return LookedAt(self.texts + other.texts, self.cells + other.cells)


NOTHING_LOOKED_AT: Final = LookedAt()
