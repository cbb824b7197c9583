"""What every published model of a cube offers its readers; all of it is free."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from release.contract.domain import CubeDomain

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
AnyArray = NDArray[np.int64] | NDArray[np.float64]

Table = Mapping[str, AnyArray]
"""Columns of one file, all of one length, in canonical order."""

PublicFacts = dict[str, object]
"""JSON members of the manifest that a model is rebuilt from, besides its tables."""


@dataclass(frozen=True, slots=True)
class Roll:
    """Which cells a question counts, and under which group it counts them.

    Attributes:
        codes: For each dimension, for each of its values, the group that the value
            falls into, or -1 where it is left out. Groups are numbered from 0. A
            dimension that is summed over has codes 0 alone; one that is kept has
            0..n-1; a coarser level or a set of values has fewer.
        groups: For each dimension, how many groups it has.
        mask: Which cells count at all, where that is no product of sets; bool, one a
            cell in C order. None: all.
    """

    codes: tuple[IntArray, ...]
    groups: tuple[int, ...]
    mask: NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True)
class Estimates:
    """One number a group, C order over the dimensions' groups.

    Attributes:
        values: Estimated counts; may be negative.
        variances: Mean squared error that the model expects of each value: of the
            noise, and of the spread inside what was measured together.
        below: How far below each value its 95 % interval reaches, from the exact
            distribution where the error is of few independent draws, else from the
            variance.
        above: How far above it reaches.
        noise: 95 % half-widths of noise alone: what grows with the confidence.
    """

    values: FloatArray
    variances: FloatArray
    below: FloatArray
    above: FloatArray
    noise: FloatArray

    @classmethod
    def around(
        cls, values: FloatArray, variances: FloatArray, half_widths: FloatArray
    ) -> "Estimates":
        """Return estimates whose error is noise alone, alike on either side."""
        return cls(values, variances, half_widths, half_widths, half_widths)

    @classmethod
    def between(
        cls,
        values: FloatArray,
        variances: FloatArray,
        ends: tuple[FloatArray, FloatArray],
        noise: FloatArray,
    ) -> "Estimates":
        """Return estimates with the ends of their intervals, which hold them."""
        below = np.maximum(values - ends[0], 0.0)
        above = np.maximum(ends[1] - values, 0.0)
        return cls(values, variances, below, above, noise)

    @property
    def half_widths(self) -> FloatArray:
        """How far each interval's farther end is from the value."""
        return np.maximum(self.below, self.above)


@dataclass(frozen=True, slots=True)
class Weighing:
    """Bounds weighted sums of a roll's groups.

    Attributes:
        entries: How many pairs of a part and a sum each use passes over.
        bounds: From what each group's counts are multiplied by, and what the sums are
            estimated to be, to the sums with their ends.
    """

    entries: int
    bounds: Callable[[FloatArray, FloatArray], Estimates]


@runtime_checkable
class WeighedModel(Protocol):
    """A model that knows how errors of its counts go together."""

    def weighing(self, roll: Roll, sums: IntArray, count: int) -> Weighing:
        """Return what bounds weighted sums of a roll's groups.

        Args:
            roll: Which cells count, in groups.
            sums: Which sum each group adds to.
            count: How many sums there are.
        """
        ...


class CubeModel(Protocol):
    """A published cube: noisy values, and what follows from them and public facts."""

    @property
    def kind(self) -> str:
        """Name of the class that rebuilds it; stands in the manifest."""
        ...

    @property
    def domain(self) -> CubeDomain:
        """What the cube ranges over."""
        ...

    def facts(self) -> PublicFacts:
        """Return what the manifest says of the model: scales, parts, parameters."""
        ...

    def tables(self) -> Mapping[str, Table]:
        """Return each file's columns; integers as drawn are int64."""
        ...

    def estimates(self) -> FloatArray:
        """Return the estimate of every cell, C order.

        Raises:
            ValueError: There are more cells than are ever held one by one.
        """
        ...

    def roll(self, roll: Roll) -> Estimates:
        """Answer a question; see ``Roll``."""
        ...


@runtime_checkable
class FittedModel(CubeModel, Protocol):
    """A model whose answers rest on a fit of all its draws."""

    def prepare(self) -> None:
        """Work out the fit now, so that no question has to wait for it."""
        ...
