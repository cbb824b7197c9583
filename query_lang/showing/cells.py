"""Cells and what they show, however they were answered."""

from collections.abc import Sequence
from typing import Protocol

from privacy.schema import Scalar
from query_lang.plans.compiled import Shown
from query_lang.plans.rendered import Cell

ShownValue = Scalar | None
"""A key as it is, a number in its column's unit, a day; None is NULL.

A Decimal has as many digits after the point as are shown.
"""


class CellValues(Protocol):
    """What all cells of a question show, however it was answered."""

    @property
    def cells(self) -> Sequence[Cell]:
        """Public cells, in declared order."""
        ...

    def column(self, shown: Shown) -> Sequence[ShownValue]:
        """Return one value a cell, in declared order."""
        ...
