"""Whole cells of one table that agree best with it and with coarser ones.

All numbers that are shown are sums of these cells, so they add up exactly. Scales and
layouts are public; nothing here depends on rows (docs/proofs/studies.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.scales.noises import Noise
from mechanisms.scales.weighted_sums import sum_half_widths
from server.use_cases.questions.studies.steps import (
    Steps,
    of_products,
    of_rows,
    of_sums,
    of_widths,
)

FloatArray = NDArray[np.float64]

_GRAIN: Final = 1 << 20
"""What a coarser table's surprise weighs in a cell is a whole multiple of its inverse;
any such weight leaves the expected number as it is."""

MOST_LAWS: Final = 64
"""Kinds of weighted sums of noise in one measure's numbers."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What one measure's tables and numbers are, over the cells of the base table.

    Attributes:
        coarse: A row for each cell of each coarser table: 1 where it holds a base cell.
        tables: Of each such row, which coarser table it is of.
        wanted: Of each question, a row a number: what it takes of each base cell.
    """

    coarse: FloatArray
    tables: tuple[int, ...]
    wanted: tuple[FloatArray, ...]

    @property
    def numbers(self) -> FloatArray:
        """Return the rows of all questions."""
        return np.concatenate(self.wanted)

    @property
    def steps(self) -> float:
        """What it takes to tell what all numbers are made of, once."""
        size, base = map(int, self.coarse.shape)
        numbers = sum(map(len, self.wanted))
        products = size**3 + base * size * (2 * size + 2 * numbers)
        return of_products(products + 20 * base * numbers) + of_rows(numbers)

    @property
    def adding_steps(self) -> float:
        """What it takes to make all numbers of noisy ones."""
        size, base = map(int, self.coarse.shape)
        return of_sums(base * (size + sum(map(len, self.wanted))))


@dataclass(frozen=True)
class Fit:
    """The least noisy cells of a base table, given its coarser ones.

    Attributes:
        layout: Of its cells.
        noise: Of all tables.
        scales: Of the base table's noise, then of each coarser one.
    """

    layout: Layout
    noise: Noise
    scales: tuple[float, ...]

    def cells(self, vectors: Sequence[Sequence[int]]) -> list[int]:
        """Return whole cells whose sums are the best estimates of all numbers.

        Args:
            vectors: The base table's noisy cells, then those of each coarser one.
        """
        base = list(vectors[0])
        coarse = [number for vector in vectors[1:] for number in vector]
        if not coarse:
            return base
        held = [np.flatnonzero(row).tolist() for row in self.layout.coarse]
        surprises = [
            number - sum(base[cell] for cell in cells)
            for number, cells in zip(coarse, held, strict=True)
        ]
        gains = [[int(gain) for gain in row] for row in self._gains]
        return _rounded(
            [
                number * _GRAIN
                + sum(g * s for g, s in zip(row, surprises, strict=True) if g)
                for number, row in zip(base, gains, strict=True)
            ]
        )

    def numbers(self, question: int, cells: Sequence[int]) -> list[int]:
        """Return a question's numbers as sums of cells."""
        found = []
        for row in self.layout.wanted[question]:
            taken = np.flatnonzero(row).tolist()
            found.append(sum(int(row[cell]) * cells[cell] for cell in taken))
        return found

    def widths(self, question: int, miss: Fraction) -> list[int] | None:
        """Return the half-width of each of a question's numbers, in grid steps.

        None where there are more kinds of them than may be looked at.
        """
        found = self.widths_of([question], miss)
        return None if found is None else found[0]

    def widths_of(
        self, questions: Sequence[int], miss: Fraction, steps: Steps | None = None
    ) -> list[list[int]] | None:
        """Return the half-widths of several questions' numbers, in grid steps.

        None where one has more kinds of them than may be looked at, or where that
        takes more than is left.

        Args:
            questions: Of the layout, by place.
            miss: How often each may be passed.
            steps: Counts what it takes, and bounds it.
        """
        steps = steps or Steps()
        laws = [self._laws(self.layout.wanted[n]) for n in questions]
        kinds = list(dict.fromkeys(law for each in laws for law in each))
        steps.take(of_widths(len(kinds), max((len(d) for d, _ in kinds), default=0)))
        if steps.are_spent or any(len(set(each)) > MOST_LAWS for each in laws):
            return None
        sums = [
            [(Fraction(weight, _GRAIN), scale, n) for weight, scale, n in draws]
            for draws, _ in kinds
        ]
        reach = sum_half_widths(sums, miss, self.noise.sums)
        found = {
            law: math.floor(each + law[1])
            for law, each in zip(kinds, reach, strict=True)
        }
        return [[found[law] for law in each] for each in laws]

    def _laws(self, numbers: FloatArray) -> "list[_Law]":
        on_coarse = numbers @ self._gains
        on_base = numbers * _GRAIN - on_coarse @ self.layout.coarse
        return [
            (_draws(base, coarse, self._row_scales(), self.scales[0]), self._turn(row))
            for base, coarse, row in zip(on_base, on_coarse, numbers, strict=True)
        ]

    def _turn(self, row: FloatArray) -> Fraction:
        """Return how far rounding the cells can move a sum of them.

        Each running sum of cells is off by half a step at most; a sum of cells is one
        of differences of these.
        """
        if not self.layout.tables:
            return Fraction(0)
        changes = np.abs(np.diff(np.append(row, 0.0))).sum()
        return Fraction(int(changes), 2)

    def _row_scales(self) -> list[float]:
        return [self.scales[1 + table] for table in self.layout.tables]

    @cached_property
    def _gains(self) -> FloatArray:
        """Return what each base cell takes of each surprise, in grains."""
        variances = [self.noise.variance(scale) for scale in self._row_scales()]
        own = self.noise.variance(self.scales[0])
        return np.round(own * gains(self.layout.coarse, variances, own) * _GRAIN)


def gains(coarse: FloatArray, variances: Sequence[float], own: float) -> FloatArray:
    """Return the weights of surprises by regression, for an own variance of 1.

    Source: Aitken 1936 (generalised least squares).
    """
    if not len(coarse):
        return np.zeros((coarse.shape[1], 0))
    covariance = np.diag(variances) + own * coarse @ coarse.T
    return np.asarray(np.linalg.solve(covariance, coarse).T)


_Draws = tuple[tuple[int, float, int], ...]
_Law = tuple[_Draws, Fraction]


def _draws(
    base: FloatArray, coarse: FloatArray, scales: Sequence[float], own: float
) -> _Draws:
    """Return all noise of one number: weight in grains, scale, number of like draws."""
    found: dict[tuple[int, float], int] = {}
    for weight, n in zip(*np.unique(np.abs(base), return_counts=True), strict=True):
        if weight:
            found[int(weight), own] = int(n)
    for weight, scale in zip(np.abs(coarse).tolist(), scales, strict=True):
        if weight:
            key = int(weight), scale
            found[key] = found.get(key, 0) + 1
    return tuple(sorted((w, scale, n) for (w, scale), n in found.items()))


def _rounded(grains: Sequence[int]) -> list[int]:
    """Return whole cells whose running sums are those given, each rounded by itself.

    >>> _rounded([_GRAIN // 2 - 1, _GRAIN // 2 - 1, _GRAIN // 2 - 1, 3])
    [0, 1, 0, 1]
    """
    cells, before, total = [], 0, 0
    for number in grains:
        total += number
        now = (2 * total + _GRAIN) // (2 * _GRAIN)
        cells.append(now - before)
        before = now
    return cells
