"""Which cells of measured vectors add up to which other cells, the least noisy way.

Of each wanted cell a few ways are found that give its exact number: cells of one vector
added up, and such sums taken from one another. Where there are several, they are
weighed by least squares, draws that they share counted. Proof: docs/proofs/derived.md.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import prod
from typing import Final

from query_lang.deriving.codes import Codes, any_of
from query_lang.deriving.grids import Grid

MOST_CELLS: Final = 1_000
"""That are derived for one question."""
MOST_ADDED: Final = 400_000
"""Numbers that are added up for one question."""
MOST_SOURCES: Final = 16
"""Vectors that are looked at for one measure, the least noisy first."""

_MOST_WAYS: Final = 4
_MOST_STEPS: Final = 3_000_000
_PART_STEPS: Final = 30  # to number one value of a key
_PAIR_STEPS: Final = 30  # to see how many cells two sums share
PARTS_OF_A_CELL: Final = 15
"""Values of keys that are numbered while one cell is looked for."""
_GRAIN: Final = 1_000
"""Weights are whole multiples of its inverse, so that they add up to 1 exactly."""


@dataclass(frozen=True, slots=True)
class Vector:
    """A measured vector: what it counts, and the variance of a draw in it."""

    grid: Grid
    variance: float


@dataclass(frozen=True, slots=True)
class Taken:
    """Cells of one vector, added up and weighed.

    Attributes:
        vector: Its position.
        weight: Of their sum.
        places: Of each axis the positions of the values, as bits.
    """

    vector: int
    weight: Fraction
    places: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many cells they are."""
        return prod(place.bit_count() for place in self.places)

    def shared(self, other: "Taken") -> int:
        """Return how many cells both hold."""
        if self.vector != other.vector:
            return 0
        pairs = zip(self.places, other.places, strict=True)
        return prod((one & two).bit_count() for one, two in pairs)


Combination = tuple[Taken, ...]
"""A number as a weighted sum of cells; an empty one is publicly 0."""


def value_of(
    found: Combination, vectors: Mapping[int, Sequence[int]], grids: Sequence[Grid]
) -> Fraction:
    """Return the number that a combination makes of vectors, noisy or exact.

    Args:
        found: What is added up.
        vectors: Of those that it names, cell by cell in the order of their questions.
        grids: Of all vectors.
    """
    return sum(
        (
            taken.weight * _total(taken, vectors[taken.vector], grids[taken.vector])
            for taken in found
        ),
        start=Fraction(0),
    )


def _total(taken: Taken, vector: Sequence[int], grid: Grid) -> int:
    return sum(vector[cell] for cell in cells_of(taken, grid))


def cells_of(taken: Taken, grid: Grid) -> list[int]:
    """Return the positions of the cells that are added up, in their vector."""
    starts = [0]
    for axis, places in zip(grid.axes, taken.places, strict=True):
        width = len(axis.parts)
        bits = _bits(places)
        starts = [start * width + bit for start in starts for bit in bits]
    return starts


def _bits(places: int) -> list[int]:
    return [bit for bit in range(places.bit_length()) if places >> bit & 1]


def draws_of(found: Combination) -> list[tuple[int, Fraction, int]]:
    """Return all noise in a combination: vector, weight, number of draws alike.

    Cells that several of its parts hold are counted once, with all their weight.
    """
    drawn: list[tuple[int, Fraction, int]] = []
    for vector in sorted({taken.vector for taken in found}):
        own = [taken for taken in found if taken.vector == vector]
        drawn += [(vector, weight, count) for weight, count in _apart(own)]
    return drawn


def _apart(own: Sequence[Taken]) -> Iterator[tuple[Fraction, int]]:
    """Yield the weight and number of the cells that exactly some of the parts hold."""
    held: dict[frozenset[int], int] = {}
    every = range(len(own))
    for size in range(len(own), 0, -1):
        for chosen in map(frozenset, combinations(every, size)):
            axes = zip(*(own[n].places for n in chosen), strict=True)
            met = prod(_all_of(places).bit_count() for places in axes)
            exactly = met - sum(n for more, n in held.items() if more > chosen)
            held[chosen] = exactly
            if exactly:
                yield sum((own[n].weight for n in chosen), start=Fraction(0)), exactly


def _apart_steps(found: Combination) -> int:
    """Return what it takes to tell apart the cells that parts of one vector share."""
    alike = Counter(taken.vector for taken in found)
    return sum(4**parts for parts in alike.values())  # pairs of choices among them


def _all_of(places: Iterable[int]) -> int:
    found = -1
    for each in places:
        found &= each
    return found


@dataclass(slots=True)
class Effort:
    """What is left of the work that one question may take, whatever it measures.

    Attributes:
        cells: That are derived.
        added: Numbers that are added up.
        steps: Parts that are compared.
    """

    cells: int = MOST_CELLS
    added: int = MOST_ADDED
    steps: int = _MOST_STEPS

    @property
    def is_spent(self) -> bool:
        """Whether more was taken than there was."""
        return min(self.cells, self.added, self.steps) < 0


def is_near(grid: Grid, wanted: Grid) -> bool:
    """Whether cells of a grid may be added up to cells of another.

    They may not where they are restricted by what the other does not ask about.
    """
    if (grid.rows, grid.what) != (wanted.rows, wanted.what):
        return False
    asked = {*wanted.base, *(axis.operand for axis in wanted.axes)}
    return asked.issuperset(grid.base)


def parts_of(grids: Iterable[Grid]) -> int:
    """Return how many values the keys of some grids have."""
    return sum(len(axis.parts) for grid in grids for axis in grid.axes)


def _is_same(grid: Grid, wanted: Grid) -> bool:
    """Whether two grids have the same cells, in whatever order."""
    return grid.base == wanted.base and set(grid.axes) == set(wanted.axes)


class Deriver:
    """Finds cells of one grid in vectors of others.

    Args:
        wanted: What is to be derived.
        vectors: That may be taken; those that count something else are left out.
        effort: Of the question whose measure it is.
    """

    def __init__(
        self, wanted: Grid, vectors: Sequence[Vector], effort: Effort | None = None
    ) -> None:
        self._effort = Effort() if effort is None else effort
        self._wanted = wanted
        self._vectors = vectors
        self.tried = 0  # cells, in each vector that is near, and what takes as long
        near = [n for n, vector in enumerate(vectors) if is_near(vector.grid, wanted)]
        near.sort(key=lambda n: vectors[n].variance)
        own = [n for n in near if _is_same(vectors[n].grid, wanted)][:_MOST_WAYS]
        near = [*own, *(n for n in near if n not in own)]
        self._near = self._affordable(near[:MOST_SOURCES])
        self._coded = Codes([wanted, *(vectors[n].grid for n in self._near)])
        self._grids = {n: self._coded.grid(vectors[n].grid) for n in self._near}
        self._unions: dict[tuple[int, int], int] = {}
        self._numbers: dict[tuple[int, ...], int] = {}  # of axes: equal ones are one
        self._axes = {
            n: [self._number(axis) for axis in coded.axes]
            for n, coded in self._grids.items()
        }
        self._direct: dict[frozenset[tuple[str, int]], list[Combination]] = {}
        self._weights: dict[tuple[tuple[float, ...], ...], list[Fraction]] = {}
        self._larger = self._known_unions()

    def _affordable(self, near: list[int]) -> list[int]:
        """Return the vectors to look at, none where that takes more than is left."""
        if not near:
            return near
        parts = parts_of([self._wanted, *(self._vectors[n].grid for n in near)])
        self._effort.cells -= self._wanted.size
        self._effort.steps -= _PART_STEPS * parts
        if self._effort.is_spent:
            return []
        self.tried += parts // PARTS_OF_A_CELL
        return near

    def all_cells(self) -> list[Combination] | None:
        """Return a combination for each wanted cell, None where one has none."""
        if not self._near:
            return None
        wanted = self._coded.grid(self._wanted)
        names = [axis.operand for axis in self._wanted.axes]
        found: list[Combination] = []
        for cell in product(*wanted.axes):
            self.tried += len(self._near)
            if not all(cell):  # no row can be in it
                found.append(())
                continue
            asked = zip(names, cell, strict=True)
            one = self._cell({**wanted.base, **self._coded.restricting(asked)})
            if one is None:
                return None
            self._effort.added -= sum(taken.size for taken in one)
            self._effort.steps -= _apart_steps(one)
            if self._effort.is_spent:
                return None
            found.append(one)
        return found

    def _cell(self, region: Mapping[str, int]) -> Combination | None:
        return self._weighed([*self._summed(region), *self._differences(region)])

    # -- ways -------------------------------------------------------------------

    def _summed(self, region: Mapping[str, int]) -> list[Combination]:
        """Return the ways in which cells of one vector are a region."""
        key = frozenset(region.items())
        if key not in self._direct:
            found = [self._within(n, region) for n in self._near]
            ways = [(one,) for one in found if one is not None]
            ways.sort(key=self._variance)
            self._direct[key] = list(ways[:_MOST_WAYS])
        return self._direct[key]

    def _within(self, number: int, region: Mapping[str, int]) -> Taken | None:
        """Return the cells of one vector whose union is a region."""
        grid, coded = self._vectors[number].grid, self._grids[number]
        self._effort.steps -= 1
        names = {axis.operand for axis in grid.axes}
        if {n: part for n, part in region.items() if n not in names} != coded.base:
            return None
        places: list[int] = []
        for axis, alike, parts in zip(
            grid.axes, self._axes[number], coded.axes, strict=True
        ):
            part = region.get(axis.operand, self._coded.whole(axis.operand))
            if (alike, part) not in self._unions:
                self._unions[alike, part] = self._union_of(parts, part)
            chosen = self._unions[alike, part]
            several = chosen.bit_count() > 1 and grid.by_unit and not axis.constant
            if not chosen or several:
                return None
            places.append(chosen)
        return Taken(number, Fraction(1), tuple(places))

    def _number(self, parts: Sequence[int]) -> int:
        return self._numbers.setdefault(tuple(parts), len(self._numbers))

    def _union_of(self, parts: Sequence[int], part: int) -> int:
        """Return the values of an axis whose union is a part, as bits; 0: none."""
        self._effort.steps -= len(parts)
        chosen = union = 0
        for n, each in enumerate(parts):
            if each and each & part == each:
                chosen |= 1 << n
                union |= each
        return chosen if union == part else 0

    def _known_unions(self) -> dict[str, dict[int, None]]:
        """Return what vectors hold of each operand altogether, all of it first."""
        found: dict[str, dict[int, None]] = {}  # in order, so that ties end alike
        for name in self._coded.names():
            found[name] = {self._coded.whole(name): None}
        for number in self._near:
            coded = self._grids[number]
            for name, part in coded.base.items():
                found[name][part] = None
            for axis, parts in zip(
                self._vectors[number].grid.axes, coded.axes, strict=True
            ):
                found[axis.operand][any_of(parts)] = None
        return found

    def _differences(self, region: Mapping[str, int]) -> Iterator[Combination]:
        """Yield a larger region less the rest of it, for each operand."""
        for name, part in region.items():
            if self._wanted.by_unit and not self._wanted.is_constant(name):
                continue
            for larger in self._larger[name]:
                if larger == part or larger & part != part:
                    continue
                whole = self._summed(self._with(region, name, larger))[:1]
                if not whole:
                    continue
                rest = self._summed(self._with(region, name, larger & ~part))[:1]
                for (one,), (other,) in product(whole, rest):
                    yield one, Taken(other.vector, -other.weight, other.places)

    def _with(self, region: Mapping[str, int], name: str, part: int) -> dict[str, int]:
        return self._coded.restricting({**region, name: part}.items())

    # -- least squares ----------------------------------------------------------

    def _variance(self, found: Combination) -> float:
        return self._covariance(found, found)

    def _covariance(self, one: Combination, other: Combination) -> float:
        self._effort.steps -= _PAIR_STEPS * len(one) * len(other)
        return sum(
            float(a.weight * b.weight) * a.shared(b) * self._vectors[a.vector].variance
            for a in one
            for b in other
        )

    def _weighed(self, ways: Sequence[Combination]) -> Combination | None:
        """Return the least noisy weighted mean of some ways."""
        if not ways:
            return None
        best = sorted(ways, key=self._variance)[:_MOST_WAYS]
        table = tuple(tuple(self._covariance(a, b) for b in best) for a in best)
        if table not in self._weights:
            self._weights[table] = least_squares(table)
        weights = self._weights[table]
        return _joined(
            (weight, way) for weight, way in zip(weights, best, strict=True) if weight
        )


def _joined(ways: Iterable[tuple[Fraction, Combination]]) -> Combination:
    """Return a weighted sum of ways, like cells once."""
    found: dict[tuple[int, tuple[int, ...]], Fraction] = {}
    for weight, way in ways:
        for taken in way:
            key = taken.vector, taken.places
            found[key] = found.get(key, Fraction(0)) + weight * taken.weight
    return tuple(
        Taken(vector, weight, places)
        for (vector, places), weight in found.items()
        if weight
    )


def least_squares(covariances: Sequence[Sequence[float]]) -> list[Fraction]:
    """Return the weights of the least noisy mean of estimates of one number.

    Args:
        covariances: Of the estimates; the first one has the least variance.

    Returns:
        Weights that add up to 1 exactly. An estimate that says nothing which those
        before it do not has 0.

    Source: Aitken 1936 (generalised least squares); docs/proofs/derived.md.

    >>> least_squares([[1.0, 0.0], [0.0, 3.0]])
    [Fraction(3, 4), Fraction(1, 4)]
    """
    chosen = [0]
    solved = [1.0]
    for n in range(1, len(covariances)):
        tried = _solved(
            [[covariances[a][b] for b in (*chosen, n)] for a in (*chosen, n)]
        )
        if tried is not None:
            chosen.append(n)
            solved = tried
    total = sum(solved)
    weights = [Fraction(0)] * len(covariances)
    for n, part in zip(chosen[1:], solved[1:], strict=True):
        weights[n] = Fraction(round(_GRAIN * part / total), _GRAIN)
    weights[0] = 1 - sum(weights, start=Fraction(0))
    return weights


def _solved(table: list[list[float]]) -> list[float] | None:
    """Solve ``table x = 1`` by elimination; None where a row depends on others."""
    size = len(table)
    rows = [[*row, 1.0] for row in table]
    for n in range(size):
        if rows[n][n] <= 1e-9 * table[n][n]:
            return None
        for below in range(n + 1, size):
            factor = rows[below][n] / rows[n][n]
            for place in range(n, size + 1):
                rows[below][place] -= factor * rows[n][place]
    found = [0.0] * size
    for n in reversed(range(size)):
        known = sum(rows[n][m] * found[m] for m in range(n + 1, size))
        found[n] = (rows[n][size] - known) / rows[n][n]
    return found
