"""What was read for a question beside compiling it: the public cost counts it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from query_lang.plans.compiled import CompiledQuery

_CELLS_OF_A_RELEASE: Final = 600
_CELLS_OF_AN_ANSWER: Final = 100
_CELLS_OF_A_STEP: Final = 5 / 3
_STEPS_OF_A_CELL: Final = 60_000  # of releases, each a nanosecond
MOST_DERIVED: Final = 10_000
"""Cells after which no further question of a request is looked for in paid answers."""


RequiredTurn = Callable[[CompiledQuery], None]
"""What raises where a question takes longer than its caller's turn is for."""


def in_any_turn(_: CompiledQuery) -> None:
    """Let a question be answered now, however long it takes."""


@dataclass(slots=True)
class LookedAt:
    """How much was looked at so far, for one request, whatever becomes of it.

    Attributes:
        texts: Questions that were read and compiled anew.
        cells: Cells that were looked for in paid answers, or drawn again, and what else
            takes as long as one of them.
        anew: Of these cells, those that stand for what the texts are made of.
        derived: Of these cells, those that were looked for in paid answers.
        derives: Whether more of them may be looked for.
        releases: Ids of those that were opened, whose opening that reply alone waits
            for: they stay open for those to come.
        require_turn: Called with what is to be charged, or shown anew, before either.
    """

    texts: int = 0
    cells: float = 0
    anew: float = 0
    derived: int = 0
    derives: bool = True
    releases: set[str] = field(default_factory=set)
    require_turn: RequiredTurn = in_any_turn

    def add(self, texts: int = 0, cells: float = 0) -> None:
        """Count more of it.

        >>> looked_at = LookedAt(1, 10)
        >>> looked_at.add(cells=5)
        >>> looked_at.texts, looked_at.cells
        (1, 15)
        """
        self.texts += texts
        self.cells += cells

    def add_steps(self, steps: int) -> None:
        """Count so many steps of binding, and what follows of what was bound.

        Short texts repeat their operands: bytes do not tell how long they take.
        """
        self.cells += _CELLS_OF_A_STEP * steps

    def add_foreseen(self, steps: int) -> None:
        """Count what comparing with announced releases takes, in a release's steps."""
        self.cells += steps / _STEPS_OF_A_CELL

    def add_text(self, vectors: int, cells: float, steps: int) -> None:
        """Count one paid question that was read anew.

        Args:
            vectors: That it paid for; one is as long as a text.
            cells: As long as which its length and its keys take.
            steps: Of binding it.
        """
        more = cells + _CELLS_OF_A_STEP * steps
        self.anew += more
        self.add(texts=max(1, vectors), cells=more)

    def add_derived(self, cells: int) -> None:
        """Count so many cells that were looked for in paid answers."""
        self.derived += cells
        self.cells += cells

    def begin_another(self) -> None:
        """Begin with the next question of a study: they share what may be looked for.

        Everybody behind waits for it. Whether one is left out is a function of what
        the asker's project asks and paid, the same for a plan and for what it plans.
        """
        self.derives = self.derived < MOST_DERIVED

    def add_release(self, release: str, cells: int) -> None:
        """Count an answer of so many cells from a release that may not be open yet."""
        if release not in self.releases:
            self.cells += _CELLS_OF_A_RELEASE
        self.releases.add(release)
        self.cells += _CELLS_OF_AN_ANSWER + cells
