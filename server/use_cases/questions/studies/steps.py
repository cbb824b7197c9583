"""What looking for a study takes, by public facts: bounded, and counted as its cost."""

from math import inf
from typing import Final

from server.use_cases.questions.looked_at import LookedAt

_A_CALL: Final = 2
_MULTIPLICATIONS: Final = 200_000  # of floating-point numbers, in a step
_A_ROW: Final = 1.5
_CELLS: Final = 200  # of a row, in a step
_WIDTHS: Final = 110
_A_DRAW: Final = 6
_A_DRAW_OF_A_LAW: Final = 0.4
_A_TEXT: Final = 300
_CHARACTERS: Final = 3  # of a text, in a step
_FORMED: Final = 2  # of a normal form's own steps, in a step
_ADDED: Final = 500  # whole numbers, in a step


class Steps:
    """What a search took, in steps that take as long as one cell is looked for.

    Measured by ``python -m benchmarks.studies``.

    Args:
        looked_at: Counts it for the request; None: it is no request's.
        most: So many may be taken.
    """

    def __init__(self, looked_at: LookedAt | None = None, most: float = inf) -> None:
        self._looked_at = looked_at or LookedAt()
        self._most = most
        self.taken = 0.0

    def take(self, steps: float) -> None:
        """Count more of it."""
        self.taken += steps
        self._looked_at.add(cells=steps)

    def may_take(self, steps: float) -> bool:
        """Count more of it, if so much is left; else nothing more is."""
        if self.taken + steps > self._most:
            self.taken = max(self.taken, self._most)
            return False
        self.take(steps)
        return True


def of_products(multiplications: float) -> float:
    """Return the steps of one call that multiplies tables of numbers."""
    return _A_CALL + multiplications / _MULTIPLICATIONS


def of_rows(rows: int, cells: int) -> float:
    """Return the steps of telling apart what numbers add up, a row each.

    Args:
        rows: Of numbers.
        cells: Of the base table.
    """
    return rows * (_A_ROW + cells / _CELLS)


def of_widths(laws: int, draws: int) -> float:
    """Return the steps of finding half-widths.

    Args:
        laws: Kinds of weighted sums.
        draws: Of that with the most draws of different weights.
    """
    return _WIDTHS + (_A_DRAW + _A_DRAW_OF_A_LAW * laws) * draws


def of_sums(numbers: float) -> float:
    """Return the steps of adding up whole numbers, with their weights."""
    return numbers / _ADDED


def of_text(sql: str) -> float:
    """Return the steps of compiling a text."""
    return _A_TEXT + len(sql) / _CHARACTERS


def of_form(steps: int) -> float:
    """Return the steps of what is counted by a text's normal form, in its own steps."""
    return steps / _FORMED
