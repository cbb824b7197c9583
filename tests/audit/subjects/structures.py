"""What the shape of a release tells: how many pieces, and where they end.

Here both arms differ in one unit alone, and a sample is a release.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.audit.instruments.bounds import VERDICT_ALPHA, lower_bounds
from tests.audit.instruments.measurements import pieces_of
from tests.audit.subjects.releases import measure
from tests.support.noise.meters import cube_of

EPSILON = "1"
BOUND = 20  # D: the rows of the unit, as many as a piece of the others holds
CELLS = 32
PLACE = 21
KNOWN = np.repeat([0, 30, 2, 0], CELLS // 4)
"""An empty run, a full one, one near nothing, and the one where the unit is alone."""


def shape_of(model):
    """Return what is looked at, each a bool: ends of pieces, numbers of them."""
    pieces = pieces_of(model)
    ends = np.diff(pieces) != 0
    alone = (pieces == pieces[PLACE]).sum() == 1
    many = len(np.unique(pieces)) > np.arange(1, CELLS)
    return np.concatenate([ends, [alone], many])


def tree_of(model):
    """Return which pairs of dimensions were chosen."""
    chosen = set(model.drawn.pairs)
    return np.array([pair in chosen for pair in ((0, 1), (0, 2), (1, 2))])


@dataclass(frozen=True)
class Structure:
    """One audit: a strategy, a cube that a unit changes, and what is seen of it."""

    strategy: str
    known: np.ndarray
    place: tuple[int, ...]
    events: Callable

    def bounds(self, samples, alpha=VERDICT_ALPHA):
        """Return a lower bound an event, of which one is wrong by alpha at most."""
        present, absent = (self._counts(samples, rows) for rows in (BOUND, 0))
        return lower_bounds(present, absent, samples, alpha / len(present))

    def _counts(self, samples, rows):
        image = self.known.copy()
        image[self.place] += rows
        cube = cube_of(image, BOUND)
        return sum(
            self.events(measure(self.strategy, cube, EPSILON)).astype(np.int64)
            for _ in range(samples)
        )


LINES = tuple(
    Structure(strategy, KNOWN, (PLACE,), shape_of)
    for strategy in ("dpcube", "agrid", "privtree", "pthb", "dawa")
)
STRUCTURES = (
    *LINES,
    Structure("marginals", np.full((2, 3, 4), 9), (0, 1, 2), tree_of),
)


def describe(structure, samples, bounds):
    return (
        f"structure, {structure.strategy}: charge {EPSILON}, {samples} releases an "
        f"arm, {len(bounds)} events, largest LB at 1 - 1e-6 {bounds.max():.3f}"
    )
