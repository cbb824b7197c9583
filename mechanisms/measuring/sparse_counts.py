"""Noise for a domain of very many cells, at a cost that grows with few of them."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from mechanisms.measuring.noisy import LARGEST_VALUE, NoisySparse, saturating_sum
from mechanisms.samplers.vectors import VectorSampler
from mechanisms.scales.noises import GAUSSIAN, Noise
from privacy.counts import IntArray, SparseCounts

MAX_CELLS: Final = 2**61
"""The most cells that the non-empty ones are hidden among."""

MAX_THRESHOLD: Final = 2**61

MAX_VISITED: Final = 2**28
"""The most cells of which each gets Gaussian noise, which no empty cell is spared."""

_BLOCK: Final = 1 << 20


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


def kept_cells(
    noise: Noise,
    raw: SparseCounts,
    rule: SparseRule,
    scale: float,
    sampler: VectorSampler,
) -> NoisySparse:
    """Return the cells whose noisy count reaches the threshold, whatever the noise is.

    Raises:
        ValueError: There are more cells than Gaussian noise is drawn for.

    Neighbouring relation: add or remove all rows of one unit.
    """
    if noise.has_l2:
        return visited(raw, rule, scale, sampler)
    return noisy_sparse(raw, rule, scale, sampler)


def visited(
    raw: SparseCounts, rule: SparseRule, scale: float, sampler: VectorSampler
) -> NoisySparse:
    """Add Gaussian noise to every cell, and keep those at the threshold.

    What is kept is a function of the noisy vector, so it costs what that does.

    Args:
        raw: The cells that are not empty, ascending.
        rule: Which cells there are, and which are kept.
        scale: Sigma of the noise, in units or rows.
        sampler: Where the noise comes from.

    Raises:
        ValueError: There are more cells than ``MAX_VISITED``.

    Neighbouring relation: add or remove all rows of one unit.
    Source: docs/proofs/discrete_gaussian.md.
    """
    if rule.size > MAX_VISITED:
        raise ValueError(rule.size)
    variance = Fraction(scale) ** 2
    cells, values = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for start in range(0, rule.size, _BLOCK):
        noise = sampler.discrete_gaussian(min(_BLOCK, rule.size - start), variance)
        first, last = np.searchsorted(raw.cells, [start, start + len(noise)])
        exact = np.zeros(len(noise), dtype=np.int64)
        exact[raw.cells[first:last] - start] = raw.counts[first:last]
        noisy = saturating_sum(exact, noise)
        kept = np.flatnonzero(noisy >= rule.threshold)
        cells.append(kept + start)
        values.append(noisy[kept])
    return NoisySparse(np.concatenate(cells), np.concatenate(values), scale, GAUSSIAN)


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
