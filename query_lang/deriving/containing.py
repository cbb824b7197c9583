"""Which cells of measured vectors hold all that is in a wanted cell, and maybe more.

Of counts, whose numbers are never more than those of a larger region. So noisy numbers
that were paid for say how large others can be (docs/proofs/accuracy.md).
"""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, product
from typing import Final

from query_lang.deriving.codes import CodedGrid, Codes, any_of
from query_lang.deriving.derivations import (
    MOST_ADDED,
    PARTS_OF_A_CELL,
    Taken,
    Vector,
    is_near,
    parts_of,
)
from query_lang.deriving.grids import Grid

_COUNTS: Final = frozenset({"count", "count_units"})
_MOST_HELD: Final = 4
"""Vectors of which numbers are read for one cell, those that ask for most first."""
_MOST_NEAR: Final = 64
"""Vectors that are looked at for one measure, likewise."""

_MOST_PARTS: Final = 30_000
"""Values of keys that these have in all."""

_MOST_LAWS: Final = 64
"""Kinds of noise in these: each takes its half-width to be found."""
_CELLS_OF_A_LAW: Final = 100  # take as long to be compared
_ADDED: Final = 100  # numbers that are added up while one cell is compared

MOST_COMPARED: Final = 20_000
"""Cells of wanted and measured vectors that are compared for one question."""


class Containing:
    """Finds what holds the cells of one grid in vectors of others.

    Args:
        wanted: What is asked.
        vectors: That may be taken; those that count something else are left out.
    """

    def __init__(self, wanted: Grid, vectors: Sequence[Vector]) -> None:
        self._wanted = wanted
        self._vectors = vectors
        near = [n for n, vector in enumerate(vectors) if is_near(vector.grid, wanted)]
        near.sort(key=lambda n: _order(vectors[n]))
        self._near = self._affordable(near[:_MOST_NEAR]) if _is_count(wanted) else []
        self.compared = min(wanted.size * len(self._near), MOST_COMPARED + 1)
        if self._near and self.compared <= MOST_COMPARED:
            parts = parts_of([wanted, *(vectors[n].grid for n in self._near)])
            self.compared += parts // PARTS_OF_A_CELL

    def _affordable(self, near: Sequence[int]) -> list[int]:
        """Return the first vectors, as many as have not too many values in all."""
        sizes = accumulate(parts_of([self._vectors[n].grid]) for n in near)
        return [n for n, size in zip(near, sizes, strict=True) if size <= _MOST_PARTS]

    def all_cells(self) -> list[list[Taken]] | None:
        """Return what holds each wanted cell, several of one cell by themselves.

        None where nothing holds any, or where more would be compared than may be.
        """
        if not self._near or self.compared > MOST_COMPARED:
            return None
        coded = Codes([self._wanted, *(self._vectors[n].grid for n in self._near)])
        grids = {n: coded.grid(self._vectors[n].grid) for n in self._near}
        own = coded.grid(self._wanted)
        names = [axis.operand for axis in self._wanted.axes]
        found = []
        for cell in product(*own.axes):
            asked = zip(names, cell, strict=True)
            region = {**own.base, **coded.restricting(asked)}
            held = [self._around(n, grids[n], region, coded) for n in self._near]
            found.append([one for one in held if one is not None][:_MOST_HELD])
        return found if any(found) and self._may_read(found) else None

    def _may_read(self, found: Sequence[Sequence[Taken]]) -> bool:
        """Count what reading all these sums takes; say whether that is not too much."""
        several = {one for cell in found for one in cell}
        laws = {(one.vector, one.size, len(cell)) for cell in found for one in cell}
        added = sum(one.size for one in several)
        self.compared += added // _ADDED + _CELLS_OF_A_LAW * len(laws)
        return added <= MOST_ADDED and len(laws) <= _MOST_LAWS

    def _around(
        self, number: int, grid: CodedGrid, region: Mapping[str, int], coded: Codes
    ) -> Taken | None:
        """Return the cells of one vector that meet a region, if they hold all of it."""
        for name, part in grid.base.items():
            if region.get(name, coded.whole(name)) & ~part:
                return None
        places = []
        for axis, parts in zip(self._vectors[number].grid.axes, grid.axes, strict=True):
            part = region.get(axis.operand, coded.whole(axis.operand))
            if part & ~any_of(parts):
                return None
            places.append(sum(1 << n for n, each in enumerate(parts) if each & part))
        return Taken(number, Fraction(1), tuple(places))


def _order(vector: Vector) -> tuple[int, int, float]:
    """Put first what is likely to be small, and has little noise."""
    grid = vector.grid
    return -len(grid.base), grid.size, vector.variance


def _is_count(grid: Grid) -> bool:
    return json.loads(grid.what)[0] in _COUNTS
