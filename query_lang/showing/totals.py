"""The rows of an answer with totals: cells, and sums of cells over rolled-up keys.

A total is the sum of noisy numbers that are paid for, so it costs nothing; its noise is
that of as many draws as it adds up (docs/proofs/grouping_sets.md).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

from query_lang.plans.compiled import (
    CompiledQuery,
    GroupingShown,
    KeyPlaces,
    NamedTotal,
)
from query_lang.plans.rendered import Cell


@dataclass(frozen=True)
class AnswerRows:
    """All rows that an answer may show, set after set, each in declared order.

    Attributes:
        cells: Of each row the values of its keys; NULL of those that it is a total
            over.
        members: Of each row the measured cells that it adds up; None where each row is
            its own cell.
        kept: Of each row the keys that its grouping set has.
    """

    cells: tuple[Cell, ...]
    members: tuple[tuple[int, ...], ...] | None = None
    kept: tuple[frozenset[int], ...] = ()

    def number_added(self, row: int) -> int:
        """Return how many cells a row adds up."""
        return 1 if self.members is None else len(self.members[row])

    def added(self, vector: Sequence[int], size: int) -> Sequence[int]:
        """Return a vector of the rows, of one of the cells.

        Args:
            vector: ``size`` numbers a cell, cell by cell.
            size: How many; of a histogram its bins.
        """
        if self.members is None:
            return vector
        return [
            sum([vector[cell * size + place] for cell in members])
            for members in self.members
            for place in range(size)
        ]

    def grouping(self, shown: GroupingShown) -> list[int]:
        """Return GROUPING in each row: a bit for each key that it is a total over."""
        found: dict[frozenset[int], int] = {}
        for kept in set(self.kept):
            bits = (str(int(index not in kept)) for index in shown.indexes)
            found[kept] = int("".join(bits), 2)
        return [found[kept] for kept in self.kept]

    def named(self, shown: NamedTotal) -> list[str | None]:
        """Return a key's value as text in each row, and the word of totals over it."""
        found: list[str | None] = []
        for cell, kept in zip(self.cells, self.kept, strict=True):
            value = cell[shown.index]
            is_total = shown.index not in kept or (shown.of_null and value is None)
            text = None if value is None else str(value)
            found.append(shown.word if is_total else text)
        return found


def answer_rows(compiled: CompiledQuery) -> AnswerRows:
    """Return the rows of an answer, its grouping sets in the order of the text."""
    sets, cells = compiled.presentation.sets, compiled.rendered.cells
    if not sets:
        return AnswerRows(cells)
    found = [_SetOfRows(frozenset(each), compiled.key_places) for each in sets]
    return AnswerRows(
        tuple(cell for each in found for cell in each.cells(cells)),
        tuple(places for each in found for places in each.members()),
        tuple(each.kept for each in found for _ in each.starts),
    )


@dataclass(frozen=True)
class _SetOfRows:
    """The rows of one grouping set."""

    kept: frozenset[int]
    keys: tuple[KeyPlaces, ...]

    @cached_property
    def starts(self) -> list[int]:
        """The place of each row's cell whose other keys have their first values."""
        axes = [
            range(key.size) if index in self.kept else range(1)
            for index, key in enumerate(self.keys)
        ]
        return [self._place(values) for values in product(*axes)]

    def members(self) -> list[tuple[int, ...]]:
        """Return the places of the cells that each row adds up."""
        axes = [
            range(1) if index in self.kept else key.added
            for index, key in enumerate(self.keys)
        ]
        offsets = [self._place(values) for values in product(*axes)]
        return [tuple([start + each for each in offsets]) for start in self.starts]

    def cells(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return the keys of each row."""
        indexes = range(len(self.keys))
        return [
            tuple([cells[start][i] if i in self.kept else None for i in indexes])
            for start in self.starts
        ]

    def _place(self, values: Sequence[int]) -> int:
        place = 0
        for key, value in zip(self.keys, values, strict=True):
            place = place * key.size + value
        return place


def cells_added(sets: Sequence[Sequence[int]], keys: Sequence[KeyPlaces]) -> list[int]:
    """Return how many cells each row of each grouping set adds up.

    >>> keys = KeyPlaces(3, (0, 1, 2)), KeyPlaces(5, (3, 4))
    >>> cells_added([(0, 1), (0,), ()], keys)
    [1, 2, 6]
    """
    return [
        prod(len(key.added) for index, key in enumerate(keys) if index not in kept)
        for kept in sets
    ]


class DrawsLaw:
    """Half-widths of rows of an answer, whatever number of draws each adds up."""

    def __init__(
        self,
        rows: AnswerRows,
        half_width: Callable[[int, Fraction], int],
        sum_half_widths: Callable[..., Sequence[Fraction]],
    ) -> None:
        self._rows = rows
        self._half_width = half_width
        self._sum_half_widths = sum_half_widths
        self._found: dict[tuple[int, Fraction, int], int] = {}

    def half_width(self, vector: int, confidence: Fraction, row: int) -> int:
        """Return that of a row's number, in grid steps."""
        return self.of_draws(vector, confidence, self._rows.number_added(row))

    def of_draws(self, vector: int, confidence: Fraction, draws: int) -> int:
        """Return that of a sum of so many draws of a vector, in grid steps."""
        key = vector, confidence, draws
        if key not in self._found:
            self._found[key] = self._of_draws(*key)
        return self._found[key]

    def _of_draws(self, vector: int, confidence: Fraction, draws: int) -> int:
        if draws == 1:
            return self._half_width(vector, confidence)
        noise = [[(Fraction(1), vector, draws)]]
        (width,) = self._sum_half_widths(noise, 1 - confidence)
        return math.ceil(width)
