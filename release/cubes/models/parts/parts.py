"""What groups take of measured parts, and between which ends the truth then lies."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from release.contract.models import Estimates, FloatArray, IntArray
from release.cubes.models.parts.boxes import Overlaps


@dataclass(frozen=True, slots=True)
class Parts:
    """What each group's sum takes of each part that it meets; no pair stands twice.

    Attributes:
        nodes: Numbers of the parts.
        groups: Numbers of the groups.
        evenly: What the group takes of the part's count if its cells are alike.
        least: What it takes if the count lies where it matters least.
        most: What it takes if the count lies where it matters most.
    """

    nodes: IntArray
    groups: IntArray
    evenly: FloatArray
    least: FloatArray
    most: FloatArray

    def take(self, kept: IntArray) -> "Parts":
        """Return some of the entries."""
        takes = (self.evenly[kept], self.least[kept], self.most[kept])
        return Parts(self.nodes[kept], self.groups[kept], *takes)

    def loads(self, groups: int) -> FloatArray:
        """Return at least what one step of one draw can move each group's sum by.

        A fit hands a draw's step out to cells, and takes what it has handed out from
        others at most.
        """
        most, least = np.zeros(groups), np.zeros(groups)
        np.maximum.at(most, self.groups, self.most)
        np.minimum.at(least, self.groups, self.least)
        return most - least


@dataclass(frozen=True, slots=True)
class Meeting:
    """Which parts each sum meets, whatever it multiplies their counts by.

    Attributes:
        nodes: The part of each pair of part and sum.
        sums: The sum of each pair.
        sizes: How many cells each pair's part has.
        whole: Whether the sum takes all cells of the part.
        first: The first entry of each pair.
        groups: The roll's group of each entry.
        cells: How many cells of the part that group counts.
    """

    nodes: IntArray
    sums: IntArray
    sizes: FloatArray
    whole: NDArray[np.bool_]
    first: IntArray
    groups: IntArray
    cells: FloatArray

    @classmethod
    def of(
        cls, met: Overlaps, volumes: FloatArray, sums: IntArray, count: int
    ) -> "Meeting":
        """Gather what the groups of a roll meet into sums.

        Args:
            met: Which cells of which parts each group of the roll counts.
            volumes: How many cells each part has.
            sums: Which sum each group of the roll adds to.
            count: How many sums there are.
        """
        keys = met.boxes * count + sums[met.groups]
        order = np.argsort(keys, kind="stable")
        keys, cells = keys[order], met.cells[order].astype(np.float64)
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        nodes = keys[first] // count
        held = np.add.reduceat(cells, first) if len(first) else np.zeros(0)
        sizes = volumes[nodes]
        return cls(
            nodes,
            keys[first] % count,
            sizes,
            held >= sizes,
            first,
            met.groups[order],
            cells,
        )

    def parts(self, weights: FloatArray) -> Parts:
        """Return what the sums take of the parts.

        Args:
            weights: What each group's counts are multiplied by, in each sum.
        """
        if not len(self.first):
            none = np.zeros(0)
            return Parts(self.nodes, self.sums, none, none, none)
        own = weights[self.groups]
        least = np.minimum.reduceat(own, self.first)
        most = np.maximum.reduceat(own, self.first)
        return Parts(
            self.nodes,
            self.sums,
            np.add.reduceat(self.cells * own, self.first) / self.sizes,
            np.where(self.whole, least, np.minimum(least, 0.0)),
            np.where(self.whole, most, np.maximum(most, 0.0)),
        )


def parts_of(met: Overlaps, volumes: FloatArray, groups: int) -> Parts:
    """Return what a roll's own groups take of the parts that they meet."""
    meeting = Meeting.of(met, volumes, np.arange(groups), groups)
    return meeting.parts(np.ones(groups))


@dataclass(frozen=True, slots=True)
class Noisy:
    """Sums of whole parts.

    Attributes:
        values: Estimates.
        errors: 95 % half-widths of their noise.
        variances: Of their noise.
    """

    values: FloatArray
    errors: FloatArray
    variances: FloatArray


def bounded(
    shown: tuple[FloatArray, FloatArray],
    ends: tuple[Noisy, Noisy, Noisy],
    known: FloatArray | None = None,
) -> Estimates:
    """Return estimates with the ends that noise and cut parts leave open.

    Args:
        shown: Estimates, and their mean squared errors.
        ends: Sums with every cut part's count where it matters least; spread evenly;
            and where it matters most.
        known: A 95 % bound on how far the even sums are from the truth but for noise,
            if one was measured.

    Counts are not negative, so the truth lies between the outer ends wherever counts
    lie. Where many parts are cut they may all lie at the same end, as ages in tens do:
    nothing narrower holds, but where unevenness was measured.
    Source: docs/proofs/cut_parts.md.
    """
    values, variances = shown
    least, even, most = ends
    low = least.values - least.errors
    high = np.maximum(most.values, least.values) + most.errors
    if known is not None:
        half_width = even.errors + known
        low = np.maximum(low, even.values - half_width)
        high = np.maximum(np.minimum(high, even.values + half_width), low)
    noise = np.maximum(np.maximum(least.errors, most.errors), even.errors)
    return Estimates.between(values, variances, (low, high), noise)
