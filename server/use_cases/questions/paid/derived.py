"""How questions are made of paid vectors, and what holds them; nothing is read here."""

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import floor
from typing import Final

from mechanisms.scales.noises import Noise, noise_of_measure
from mechanisms.scales.sum_tails import SumLaw
from mechanisms.scales.weighted_sums import sum_half_width
from privacy.losses import Loss
from query_lang.deriving.containing import Containing
from query_lang.deriving.derivations import (
    Combination,
    Deriver,
    Effort,
    Taken,
    Vector,
    draws_of,
    value_of,
)
from query_lang.deriving.grids import Grid
from server.use_cases.questions.paid.vectors import PaidVectors, loss_of_all

_MISS: Final = Fraction(5, 100)
_MOST_LAWS: Final = 64
"""Kinds of noise in one answer: each takes its half-width to be found."""


@dataclass(frozen=True, slots=True)
class Source:
    """One measured vector of a paid question."""

    paid: PaidVectors
    place: int
    grid: Grid

    @property
    def scale(self) -> float:
        """Of its noise, in steps of its grid."""
        return self.paid.event.vectors[self.place].scale

    @property
    def noise(self) -> Noise:
        """Of which kind it is: that of the population, and so of all sources."""
        return noise_of_measure(self.paid.event.measure)


@dataclass(frozen=True, slots=True)
class Derived:
    """How a question's numbers are made of paid ones; nothing was read for it yet.

    Attributes:
        sources: All vectors that were looked at.
        cells: Of each measure, of each cell: what is added up.
        half_widths: Of each measure, of each cell, in grid steps, at 95 %.
    """

    sources: Sequence[Source]
    cells: Sequence[Sequence[Combination]]
    half_widths: Sequence[Sequence[int]]

    def widths(self, miss: Fraction) -> list[list[int]]:
        """Return the half-width of each cell, missed with at most a given chance."""
        scales = [source.scale for source in self.sources]
        laws = _laws(self.cells, scales)
        return _half_widths(laws, miss, self.sources[0].noise.sums)

    @property
    def taken(self) -> list[PaidVectors]:
        """Return the paid questions that are used, the newest first."""
        used = {one.vector for each in self.cells for cell in each for one in cell}
        return _paid_of(self.sources, used)

    @property
    def loss(self) -> Loss:
        """What was paid for all of these."""
        return loss_of_all(self.taken)

    @property
    def price(self) -> Loss:
        """Nothing is drawn for it, and nothing paid."""
        return Loss(0)

    @property
    def words(self) -> str:
        """Say where the numbers come from."""
        names = ", ".join(paid.query_id for paid in self.taken)
        most = max((len(cell) for cells in self.cells for cell in cells), default=0)
        how = "one sum" if most <= 1 else f"a weighted sum of up to {most} sums"
        return (
            f"nothing was measured: each number is {how} of noisy numbers that the "
            f"project paid for in {names}; rounded to the column's grid"
        )


@dataclass(frozen=True, slots=True)
class Held:
    """What holds a question's cells in paid vectors: they are no larger than that.

    Attributes:
        sources: All vectors that were looked at.
        cells: Of each measure, of each cell: sums that are at least as large.
    """

    sources: Sequence[Source]
    cells: Sequence[Sequence[Sequence[Taken]]]

    @property
    def taken(self) -> list[PaidVectors]:
        """Return the paid questions that are used."""
        flat = (one for each in self.cells for cell in each for one in cell)
        return _paid_of(self.sources, {one.vector for one in flat})

    def most(
        self, vectors: Mapping[int, Sequence[int]], miss: Fraction
    ) -> list[list[int | None]]:
        """Return how large each number is at most, each wrong with a given chance.

        A sum that holds many cells is added up once, and like noise is looked at once.
        """
        grids = [source.grid for source in self.sources]

        @cache
        def width(vector: int, size: int, several: int) -> Fraction:
            source = self.sources[vector]
            draws = [(Fraction(1), source.scale, size)]
            return sum_half_width(draws, miss / several, source.noise.sums)

        @cache
        def end(one: Taken, several: int) -> int:
            reach = width(one.vector, one.size, several)
            return max(0, floor(value_of((one,), vectors, grids) + reach))

        return [
            [min((end(one, len(cell)) for one in cell), default=None) for cell in each]
            for each in self.cells
        ]


def sources_of(paid: Sequence[PaidVectors]) -> Iterator[Source]:
    """Yield the vectors of paid questions that may be added up."""
    for one in paid:
        for place, grid in enumerate(one.grids):
            if grid is not None:
                yield Source(one, place, grid)


def derived_of(
    wanted: Sequence[Grid | None], sources: Sequence[Source]
) -> tuple[Derived | None, int]:
    """Return how a question is made of sources, and how many cells were tried."""
    vectors = _vectors_of(sources)
    cells: list[list[Combination]] = []
    tried = 0
    effort = Effort()
    for grid in wanted:
        if grid is None:
            return None, tried
        deriver = Deriver(grid, vectors, effort)
        found = deriver.all_cells()
        tried += deriver.tried
        if found is None:
            return None, tried
        cells.append(found)
    laws = _laws(cells, [source.scale for source in sources])
    is_empty = not any(cell for each in cells for cell in each)
    if is_empty or len({law for each in laws for law in each}) > _MOST_LAWS:
        return None, tried
    widths = _half_widths(laws, _MISS, sources[0].noise.sums)
    return Derived(sources, cells, widths), tried


def held_of(
    wanted: Sequence[Grid | None], sources: Sequence[Source]
) -> tuple[Held | None, int]:
    """Return what holds a question's cells, and how many were compared."""
    vectors = _vectors_of(sources)
    cells, compared = [], 0
    for grid in wanted:
        if grid is None:
            return None, compared
        containing = Containing(grid, vectors)
        found = containing.all_cells()
        compared += containing.compared
        if found is None:
            return None, compared
        cells.append(found)
    return Held(sources, cells), compared


def _vectors_of(sources: Sequence[Source]) -> list[Vector]:
    return [
        Vector(source.grid, source.noise.variance(source.scale)) for source in sources
    ]


def _paid_of(sources: Sequence[Source], used: Container[int]) -> list[PaidVectors]:
    """Return the paid questions of some vectors, the newest first."""
    found = {
        source.paid.query_id: source.paid
        for place, source in enumerate(sources)
        if place in used
    }
    return list(found.values())


Law = tuple[tuple[float, Fraction, int], ...]


def _laws(
    cells: Sequence[Sequence[Combination]], scales: Sequence[float]
) -> list[list[Law]]:
    return [[_law(cell, scales) for cell in each] for each in cells]


def _half_widths(
    laws: Sequence[Sequence[Law]], miss: Fraction, sums: SumLaw
) -> list[list[int]]:
    """Return the half-width of each cell; that of each law is found once."""
    found = {law for each in laws for law in each}
    widths = {law: _half_width(law, miss, sums) for law in found}
    return [[widths[law] for law in each] for each in laws]


def _law(cell: Combination, scales: Sequence[float]) -> Law:
    draws = ((scales[v], abs(weight), n) for v, weight, n in draws_of(cell) if weight)
    return tuple(sorted(draws))


def _half_width(law: Law, miss: Fraction, sums: SumLaw) -> int:
    """Return the half-width of a rounded number: rounding moves it by half a step."""
    draws = [(weight, scale, n) for scale, weight, n in law]
    width = sum_half_width(draws, miss, sums)
    return math.floor(width + Fraction(1, 2))
