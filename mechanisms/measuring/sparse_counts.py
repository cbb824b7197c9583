"""Noise for a domain of very many cells, at a cost that grows with few of them."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from mechanisms.measuring.noisy import LARGEST_VALUE, NoisySparse, saturating_sum
from mechanisms.samplers.vectors import VectorSampler
from privacy.counts import IntArray, SparseCounts

MAX_CELLS: Final = 2**61
"""The most cells that the non-empty ones are hidden among."""

MAX_THRESHOLD: Final = 2**61


@dataclass(frozen=True, slots=True)
class SparseRule:
    """Which cells are kept; public.

    Attributes:
        size: How many cells the domain has, from 1 to 2**61.
        threshold: The least noisy count that is kept, from 1 to 2**61.

    Raises:
        ValueError: One of them is out of range.
    """

    size: int
    threshold: int

    def __post_init__(self) -> None:
        """Refuse what the proof, or 64 bits, do not cover."""
        if not (0 < self.size <= MAX_CELLS and 0 < self.threshold <= MAX_THRESHOLD):
            message = "a domain has up to 2**61 cells, a threshold lies in 1..2**61"
            raise ValueError(message)


def noisy_sparse(
    raw: SparseCounts, rule: SparseRule, scale: float, sampler: VectorSampler
) -> NoisySparse:
    """Return what noising every cell and keeping those at the threshold would.

    The non-empty cells get their noise one by one. Of the empty ones it is drawn which
    reach the threshold, and how far beyond it each goes. Both come in cell order, and
    nothing tells them apart.

    Args:
        raw: The cells that are not empty.
        rule: Which cells there are, and which are kept.
        scale: Of the noise, in units or rows.
        sampler: Where the noise comes from.

    Neighbouring relation: add or remove all rows of one unit.
    Source: docs/proofs/sparse_counts.md.
    """
    exact = Fraction(scale)
    noise = sampler.discrete_laplace(len(raw.cells), exact)
    noisy = saturating_sum(raw.counts, noise)
    kept = noisy >= rule.threshold
    passed = sampler.positions(rule.size - len(raw.cells), rule.threshold, exact)
    beyond = sampler.tail_geometric(len(passed), exact)
    sampled = rule.threshold + np.minimum(beyond, LARGEST_VALUE - rule.threshold)
    cells = np.concatenate([raw.cells[kept], _empty_cells(raw.cells, passed)])
    order = np.argsort(cells)
    return NoisySparse(
        cells[order], np.concatenate([noisy[kept], sampled])[order], scale
    )


def _empty_cells(taken: IntArray, places: IntArray) -> IntArray:
    """Return the cell numbers of empty cells that are numbered among themselves."""
    empties_before = taken - np.arange(len(taken))
    return places + np.searchsorted(empties_before, places, side="right")
