"""A cube of noisy marginals, joined by a tree of the strongest pairs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Final, cast

import numpy as np

from mechanisms.scales.noises import Noise
from release.contract.confidence import shared
from release.contract.domain import CubeDomain
from release.contract.intervals import (
    noise_variance,
    sum_half_widths,
    weighted_half_widths,
    weighted_quantile,
)
from release.contract.models import (
    Estimates,
    FloatArray,
    IntArray,
    PublicFacts,
    Roll,
    Table,
)
from release.contract.rho.noise_facts import noise_facts, noise_in
from release.contract.sealed_cube import MAX_DENSE_CELLS
from release.cubes.models.marginals.fit import (
    Marginals,
    Rounds,
    TreeFit,
    binned,
    fit_tree,
)
from release.cubes.models.marginals.weighed_rows import LAST_CYCLES, ROWS, WeighedRows
from release.cubes.models.parts.levels import family_sums
from release.cubes.models.parts.rolling import check_roll, group_sums

Told = tuple[tuple[int, int], IntArray, float]
"""A pair, its table, and the scale of its draws."""

MISFIT: Final = 0.2
"""Standard deviation of a count of several dimensions by what the tree does not know,
as a share of the most that it could be off."""

_PRIMES: Final = (
    *(2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47),
    *(53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113),
)
"""One a dimension: the steps of their square roots are even, and even together."""


@dataclass(frozen=True)
class MarginalsModel:
    """All one-way marginals and the pairs of a tree, fitted to one distribution.

    Attributes:
        domain: What the cube ranges over; it may have more cells than any array.
        drawn: The noisy tables.
    """

    domain: CubeDomain
    drawn: Marginals

    @classmethod
    def rebuilt(
        cls,
        domain: CubeDomain,
        facts: Mapping[str, object],
        tables: Mapping[str, Table],
    ) -> "MarginalsModel":
        """Return the model that wrote these facts and tables."""
        pairs = _pairs(facts["pairs"])
        axes = range(len(domain.dimensions))
        drawn = Marginals(
            one_way=tuple(_ints(tables, f"one_way_{axis}", "value") for axis in axes),
            one_scale=float(str(facts["one_scale"])),
            bins=tuple(_ints(tables, f"one_way_{axis}", "bin") for axis in axes),
            pairs=pairs,
            two_way=tuple(
                _ints(tables, f"two_way_{one}_{other}", "value") for one, other in pairs
            ),
            two_scale=float(str(facts["two_scale"])),
            rounds=_rounds(facts, tables),
            noise=noise_in(facts),
        )
        return cls(domain, drawn)

    @property
    def kind(self) -> str:
        """Its name in manifests."""
        return "marginals"

    def facts(self) -> PublicFacts:
        """Return the tree, the pairs of later rounds, and the scales."""
        rounds = self.drawn.rounds
        found: PublicFacts = {
            "pairs": [list(pair) for pair in self.drawn.pairs],
            "one_scale": self.drawn.one_scale,
            "two_scale": self.drawn.two_scale,
        }
        if rounds.pairs:
            found["round_pairs"] = [list(pair) for pair in rounds.pairs]
            found["round_scale"] = rounds.scale
        return {**found, **noise_facts(self.drawn.noise)}

    def tables(self) -> Mapping[str, Table]:
        """Return one file a dimension and one a pair, values and bins in order."""
        files: dict[str, Table] = {
            f"one_way_{axis}": {"value": table, "bin": bins}
            for axis, (table, bins) in enumerate(
                zip(self.drawn.one_way, self.drawn.bins, strict=True)
            )
        }
        for (one, other), table, _ in self.drawn.measured():
            files[f"two_way_{one}_{other}"] = {"value": table}
        return files

    @cached_property
    def fit(self) -> TreeFit:
        """The tree's distribution, which agrees with all draws but later rounds'."""
        return fit_tree(self.drawn)

    @cached_property
    def weighed(self) -> WeighedRows | None:
        """The distribution that agrees with later rounds too; None: there are none."""
        rounds = self.drawn.rounds
        if not rounds.pairs:
            return None
        found = self.tree_rows()
        noise = self._variance(rounds.scale)
        for pair, table in zip(rounds.pairs, rounds.tables, strict=True):
            found.told(pair, table, self.fit.total, noise)
        found.fit(LAST_CYCLES)
        return found

    def prepare(self) -> None:
        """Work out the fit."""
        for found in (self.fit, self.weighed):
            del found

    def tree_rows(self) -> WeighedRows:
        """Return rows of the tree's fit, for later rounds to weigh."""
        rows = self._tree_rows(ROWS)
        return WeighedRows.of_tree(rows, self.fit, self.drawn.pairs, self.drawn.bins)

    def estimates(self) -> FloatArray:
        """Return the estimate of every cell.

        Raises:
            ValueError: There are more cells than are ever held one by one.
        """
        if self.domain.size > MAX_DENSE_CELLS:
            raise ValueError(self.domain.size)
        shape = self.domain.shape
        return self._sums(Roll(tuple(np.arange(n) for n in shape), shape)).ravel()

    def roll(self, roll: Roll) -> Estimates:
        """Return sums over products of sets; a mask needs a cube of few cells.

        Variances are of noise and of what the tree does not know; see
        docs/proofs/marginals.md.
        """
        check_roll(self.domain.shape, roll)
        sums = self._sums(Roll(roll.codes, roll.groups))
        variances = self._variances(roll, sums).ravel()
        values = sums.ravel()
        if roll.mask is not None:
            masked = group_sums(self.estimates(), self.domain.shape, roll)
            values = np.asarray(masked, dtype=np.float64)
        ends, noise = self._ends(roll, values, variances)
        return Estimates.between(values, variances, ends, noise)

    def synthetic(self, rows: int) -> IntArray:
        """Return rows drawn from the fit, as numbers of values: (rows, dimensions).

        Drawn by an even sequence, not by chance: the same model gives the same rows,
        and tables of them are nearer to the fit's than chance would bring them.
        """
        if self.weighed is not None:
            return self.weighed.even_rows(rows)
        return self._tree_rows(rows)

    def _tree_rows(self, rows: int) -> IntArray:
        number = np.arange(1, rows + 1)
        chosen = np.zeros((rows, len(self.domain.dimensions)), dtype=np.int64)
        bins = np.zeros_like(chosen)
        for axis, parent, table in self._order():
            even = np.mod(number * np.sqrt(_PRIMES[axis]), 1.0)
            before = bins[:, parent] if parent >= 0 else np.zeros_like(number)
            bins[:, axis], left = _pick(table, before, even)
            inside = self._within(axis)
            chosen[:, axis], _ = _pick(inside, bins[:, axis], left)
        return chosen

    def _within(self, axis: int) -> FloatArray:
        """Return (bins, values): how each bin's mass lies on its values."""
        shares, bins = self.fit.shares[axis], self.drawn.bins[axis]
        count = int(bins.max()) + 1
        mass = binned(shares, bins)[bins]
        sizes = np.bincount(bins)[bins]
        inside = np.zeros((count, len(bins)))
        inside[bins, np.arange(len(bins))] = np.where(
            mass > 0, shares / np.maximum(mass, 1e-300), 1 / sizes
        )
        return inside

    def _order(self) -> list[tuple[int, int, FloatArray]]:
        """Return each dimension with its parent and its bins given the parent's."""
        first = (0, -1, self.fit.root[None, :])
        edges = zip(self.drawn.pairs, self.fit.conditionals, strict=True)
        return [first, *((other, one, table) for (one, other), table in edges)]

    def _sums(self, roll: Roll) -> FloatArray:
        """Return estimates, one axis a dimension."""
        if self.weighed is not None:
            return np.asarray(self.weighed.sums(roll) * self.fit.total)
        return self._tree_sums(roll)

    def _tree_sums(self, roll: Roll) -> FloatArray:
        """Return the tree's estimates: messages from the leaves inwards."""
        count = len(self.domain.dimensions)
        below = [
            ([axis], self._within(axis) @ _members(roll, axis)) for axis in range(count)
        ]
        for axis, parent, table in reversed(self._order()):
            axes, told = below[axis]
            told = np.tensordot(table, told, axes=1)
            if parent < 0:
                order = np.argsort(axes)
                return np.asarray(np.transpose(told[0], order) * self.fit.total)
            have, so_far = below[parent]
            wide = so_far.reshape(so_far.shape + (1,) * len(axes))
            narrow = told.reshape(told.shape[:1] + (1,) * len(have) + told.shape[1:])
            below[parent] = ([*have, *axes], wide * narrow)
        raise AssertionError

    def _variances(self, roll: Roll, sums: FloatArray) -> FloatArray:
        """Return noise of the tables, and what a tree of pairs cannot know."""
        one = self._variance(self.drawn.one_scale)
        two = self._variance(self.drawn.two_scale) if self.drawn.pairs else 0.0
        sides, noises, cells = [], [], []
        for shares, codes, groups in zip(
            self.fit.shares, roll.codes, roll.groups, strict=True
        ):
            kept = codes >= 0
            values = np.bincount(codes[kept], minlength=groups)
            sides.append(family_sums(codes[kept], shares[kept], groups))
            noises.append(np.minimum(values, len(codes) - values) * one)
            cells.append(np.where(values < len(codes), values, 1))
        least = reduce(np.minimum.outer, sides) * max(self.fit.total, 1.0)
        part = np.clip(sums / np.maximum(least, 1.0), 0.0, 1.0)
        noise = reduce(np.add.outer, noises) * np.square(part)
        whole = np.square(sums / max(self.fit.total, 1.0)) * self._total_variance(one)
        asked = [axis for axis, codes in enumerate(roll.codes) if codes.any()]
        if len(asked) < 2:  # noqa: PLR2004 - one dimension is measured by itself
            return np.asarray(noise + whole)
        told = self._measured(asked)
        if told is not None:
            between = reduce(np.multiply.outer, cells) * self._variance(told[2])
            return np.asarray(noise + whole + between)
        misfit = MISFIT * np.maximum(least - sums, 0.0)
        return np.asarray(noise + whole + np.square(misfit) + two)

    def _ends(
        self, roll: Roll, values: FloatArray, variances: FloatArray
    ) -> tuple[tuple[FloatArray, FloatArray], FloatArray]:
        """Return the ends that draws alone, unfitted, leave open, and their noise.

        A count of several dimensions is at least 0 and at most that of each of them.
        """
        asked = [
            axis
            for axis, (codes, groups) in enumerate(
                zip(roll.codes, roll.groups, strict=True)
            )
            if codes.any() or groups > 1
        ]
        if not asked and roll.mask is None:
            error = weighted_half_widths(variances, 1.0, self._quantile)
            return (values - error, values + error), error
        sides = [self._side(roll, axis, asked) for axis in range(len(roll.codes))]
        most = reduce(np.minimum.outer, [drawn + error for drawn, error in sides])
        low, high = np.zeros(len(values)), np.maximum(most.ravel(), 0.0)
        noise = reduce(np.maximum.outer, [error for _, error in sides]).ravel()
        if len(asked) == 1 and roll.mask is None:
            drawn, error = sides[asked[0]]
            low, high, noise = drawn - error, drawn + error, error
        elif (told := self._measured(asked)) is not None and roll.mask is None:
            drawn, error = _pair(roll, told, self.drawn.noise)
            low, high = drawn - error, np.minimum(high, drawn + error)
        return (low, np.maximum(high, low)), noise

    def _side(
        self, roll: Roll, axis: int, asked: list[int]
    ) -> tuple[FloatArray, FloatArray]:
        """Return what was drawn of one dimension's groups, and its half-widths.

        All of the asked dimensions' ends hold together 95 times in 100, since the
        least of them is taken.
        """
        one = self._variance(self.drawn.one_scale)
        factor = shared(max(1, len(asked)))
        codes, groups = roll.codes[axis], roll.groups[axis]
        if axis not in asked:
            variance = np.array([self._total_variance(one)])
            return np.array([self.fit.total]), factor * weighted_half_widths(
                variance, 1.0, self._quantile
            )
        kept = codes >= 0
        table = self.drawn.one_way[axis].astype(np.float64)
        values = np.bincount(codes[kept], minlength=groups)
        drawn = family_sums(codes[kept], table[kept], groups)
        return drawn, factor * self._sum_half_widths(values)

    def _measured(self, asked: list[int]) -> Told | None:
        """Return these two dimensions' own table, if they were counted unbinned."""
        if any(
            int(self.drawn.bins[axis].max()) + 1 < len(self.drawn.bins[axis])
            for axis in asked
        ):
            return None
        found = (told for told in self.drawn.measured() if sorted(told[0]) == asked)
        return next(found, None)

    def _variance(self, scale: float) -> float:
        return noise_variance(scale, self.drawn.noise)

    @property
    def _quantile(self) -> float:
        return weighted_quantile(self.drawn.noise)

    def _sum_half_widths(self, draws: IntArray) -> FloatArray:
        return sum_half_widths(draws, self.drawn.one_scale, self.drawn.noise)

    def _total_variance(self, one: float) -> float:
        weights = sum(1 / len(table) for table in self.drawn.one_way)
        return one / weights


def _members(roll: Roll, axis: int) -> FloatArray:
    """Return (values, groups): 1 where a value lies in a group."""
    codes = roll.codes[axis]
    member = np.zeros((len(codes), roll.groups[axis]))
    kept = np.flatnonzero(codes >= 0)
    member[kept, codes[kept]] = 1.0
    return member


def _pair(roll: Roll, told: Told, noise: Noise) -> tuple[FloatArray, FloatArray]:
    """Return what was drawn of two dimensions together, and 95 % half-widths."""
    (one, other), table, scale = told
    square = table.astype(np.float64).reshape(len(roll.codes[one]), -1)
    rows, columns = _members(roll, one), _members(roll, other)
    drawn = rows.T @ square @ columns
    cells = np.outer(rows.sum(axis=0), columns.sum(axis=0)).astype(np.int64)
    error = sum_half_widths(cells, scale, noise)
    if one > other:
        drawn, error = drawn.T, error.T
    return drawn.ravel(), error.ravel()


def _pairs(listed: object) -> tuple[tuple[int, int], ...]:
    found = cast("list[list[int]]", listed)
    return tuple((int(one), int(other)) for one, other in found)


def _rounds(facts: Mapping[str, object], tables: Mapping[str, Table]) -> Rounds:
    """Return what a model wrote of later rounds, if there were any."""
    pairs = _pairs(facts.get("round_pairs", []))
    names = [f"two_way_{one}_{other}" for one, other in pairs]
    return Rounds(
        pairs,
        tuple(_ints(tables, name, "value") for name in names),
        float(str(facts.get("round_scale", 0.0))),
    )


def _ints(tables: Mapping[str, Table], file: str, column: str) -> IntArray:
    return np.asarray(tables[file][column], dtype=np.int64)


def _pick(
    table: FloatArray, rows: IntArray, even: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return the column that each number in 0..1 falls into, and where within it."""
    ends = np.cumsum(table, axis=1)
    ends /= ends[:, -1:]
    flat = (ends + np.arange(len(ends))[:, None]).ravel()
    place = np.searchsorted(flat, rows + even, side="right")
    width = table.shape[1]
    column = np.minimum(place - rows * width, width - 1)
    upper = ends[rows, column]
    lower = np.where(column > 0, ends[rows, np.maximum(column - 1, 0)], 0.0)
    inside = (even - lower) / np.maximum(upper - lower, 1e-300)
    return column, np.clip(inside, 0.0, np.nextafter(1.0, 0.0))
