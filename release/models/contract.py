"""What every published model of a cube offers its readers; all of it is free."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from release.domain import CubeDomain

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
AnyArray = NDArray[np.int64] | NDArray[np.float64]

Table = Mapping[str, AnyArray]
"""Columns of one file, all of one length, in canonical order."""

Facts = dict[str, object]
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
        half_widths: 95 % half-widths, from the exact distribution where the error is
            of few independent draws, else from the variance.
    """

    values: FloatArray
    variances: FloatArray
    half_widths: FloatArray


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

    def facts(self) -> Facts:
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
