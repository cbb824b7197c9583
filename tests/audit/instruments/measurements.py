"""What published models say was measured: levels of noisy sums, and of which cells.

Read from models as readers rebuild them, with the auditor's own sums of what he knows.
"""

from dataclasses import dataclass

import numpy as np

from release.cubes.models.trees.orders import BLOCKS, HILBERT, block_tree, hilbert_order


@dataclass(frozen=True)
class Measured:
    """One vector that was drawn.

    Attributes:
        name: Of the level.
        owners: For each cell, C order, the entry that counts it.
        values: As drawn.
        scale: Of each draw, as published.
    """

    name: str
    owners: np.ndarray
    values: np.ndarray
    scale: float

    def noise(self, image):
        """Return what was added to the sums of a cube that the auditor knows."""
        sums = np.bincount(self.owners, image.ravel(), len(self.values))
        return self.values - sums.astype(np.int64)


def measured_by(model):
    """Return the vectors that a model of any kind publishes, from the top down."""
    return READERS[model.kind](model)


def _cells(model):
    own = np.arange(model.domain.size)
    return [Measured("cells", own, model.values, model.scale)]


def _sparse(model):
    """Cells that were left out are read as no count at all: far below any."""
    values = np.full(model.domain.size, np.iinfo(np.int64).min // 2)
    values[model.cells] = model.values
    return [Measured("cells", np.arange(model.domain.size), values, model.scale)]


def _partition(model):
    labels = np.zeros(model.domain.shape, dtype=np.int64)
    bounds = zip(model.pieces.lower, model.pieces.upper, strict=True)
    for number, (lower, upper) in enumerate(bounds):
        labels[tuple(map(slice, lower, upper))] = number
    owners, found = labels.ravel(), []
    for name, level in zip(model.names[::-1], model.levels[::-1], strict=True):
        found.append(Measured(name, owners, level.values, level.scale))
        owners = level.parents[owners]
    return found[::-1]


def _tree(model):
    size = model.domain.size
    places = np.arange(size)  # along the order
    if model.buckets is not None:
        places = np.searchsorted(model.buckets, places, side="right") - 1
    owners = np.empty(size, dtype=np.int64)
    owners[_order_of(model)] = places
    found = []
    for level in range(len(model.values) - 1, -1, -1):
        name = f"level {level} of {len(model.values)}"
        found.append(Measured(name, owners, model.values[level], model.scales[level]))
        if level:
            owners = model.tree.parents(level - 1)[owners]
    return found[::-1]


def _order_of(model):
    if model.order == HILBERT:
        return hilbert_order(model.domain.shape)
    if model.order == BLOCKS:
        return block_tree(model.domain.shape, model.fanouts)[0]
    return np.arange(model.domain.size)


def _marginals(model):
    drawn = model.drawn
    places = np.unravel_index(np.arange(model.domain.size), model.domain.shape)
    found = [
        Measured(f"one_way {axis}", places[axis], values, drawn.one_scale)
        for axis, values in enumerate(drawn.one_way)
    ]
    for (one, other), values, scale in drawn.measured():
        width = int(drawn.bins[other].max()) + 1
        owners = drawn.bins[one][places[one]] * width + drawn.bins[other][places[other]]
        name = f"two_way {one} {other}"
        found.append(Measured(name, owners, values, scale))
    return found


def _picked(model):
    return measured_by(model.inner)


READERS = {
    "cells": _cells,
    "sparse_cells": _sparse,
    "partition": _partition,
    "tree": _tree,
    "marginals": _marginals,
    "picked": _picked,
}


def pieces_of(model):
    """Return which cells a model's last level counts together: its partition."""
    return measured_by(model)[-1].owners
