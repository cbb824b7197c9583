"""What a wish demands of each cell, and whether numbers that exist keep to it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from query_lang.plans.compiled import Measure as PlanMeasure
from server.use_cases.questions.requests import Accuracy
from server.use_cases.questions.wishes.prices import Wish, of_noise


def keeps_to(
    wish: Accuracy,
    priced: Wish,
    measures: Sequence[PlanMeasure],
    widths: Callable[[Fraction], Sequence[Sequence[int]]],
) -> bool:
    """Whether numbers that exist already are as accurate as is wished for.

    Each cell of a measure, and where a share of them is wished for, all at once: by the
    sum of their chances to miss.

    Args:
        wish: The accuracy.
        priced: How it was priced: what is known of how large numbers are.
        measures: Of the question.
        widths: Returns the half-width of each cell, in steps, at a chance to miss.
    """
    demanded = demand_of(wish, priced, measures)
    miss = demanded.miss
    found = widths(miss)
    if wish.cells is not None:
        found = widths(miss / max(map(len, found)))
    return all(
        width <= demanded.tolerance(place, cell)
        for place in range(len(measures))
        for cell, width in enumerate(found[place])
    )


@dataclass(frozen=True, slots=True)
class Demand:
    """How far noise may move each cell.

    Attributes:
        miss: How often it may move one further; of all cells together where a share of
            them is wished for.
        floors: Of each measure, in steps, whatever the number is.
        relative: The part of a number that it may be moved by, where that is more.
        least: What the size of each cell is at least; None: nothing is known.
    """

    miss: Fraction
    floors: Sequence[int]
    relative: Fraction
    least: Sequence[Sequence[int]] | None

    def tolerance(self, measure: int, cell: int) -> int:
        """Return how far one cell may be moved, in steps."""
        size = 0 if self.least is None else self.least[measure][cell]
        return max(self.floors[measure], math.floor(self.relative * size))


def demand_of(wish: Accuracy, priced: Wish, measures: Sequence[PlanMeasure]) -> Demand:
    """Return what a wish demands of each cell, as it was priced."""
    return Demand(
        miss=1 - (wish if wish.relative is None else of_noise(wish)).confidence,
        floors=[math.floor(wish.within * 10**m.scale) for m in measures],
        relative=wish.relative or Fraction(0),
        least=None if priced.known is None else priced.known.least,
    )
