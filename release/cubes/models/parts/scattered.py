"""Which groups take values here and there, as a list of values does, or weekends.

A list may follow what hides inside every part that it cuts: people say ages in tens,
and stay away at weekends. A range or a single value cuts parts at its ends alone.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from release.contract.models import IntArray, Roll
from release.cubes.models.parts.rolling import cell_groups

Scattered = NDArray[np.bool_]
"""(groups,), C order over the dimensions' groups."""


def scattered_groups(shape: Sequence[int], roll: Roll) -> Scattered:
    """Return which groups of a roll have gaps along a dimension.

    >>> line = Roll((np.array([0, -1, 0, 1, 1]),), (2,))
    >>> scattered_groups((5,), line)
    array([ True, False])
    """
    if roll.mask is not None:
        return _of_cells(np.asarray(cell_groups(roll)).reshape(shape), roll)
    found = np.zeros(1, dtype=np.bool_)
    for codes, count in zip(roll.codes, roll.groups, strict=True):
        own = np.bincount(_begun(codes, axis=0), minlength=count) > 1
        found = np.logical_or.outer(found, own).ravel()
    return found


def _of_cells(groups: IntArray, roll: Roll) -> Scattered:
    count = int(np.prod(roll.groups, dtype=object))
    found = np.zeros(count, dtype=np.bool_)
    for axis, length in enumerate(groups.shape):
        lines = np.moveaxis(groups, axis, -1).reshape(-1, length)
        begun = np.bincount(_begun(lines, axis=1), minlength=count)
        line, place = np.nonzero(lines >= 0)
        met = np.unique(line * count + lines[line, place])
        found |= begun > np.bincount(met % count, minlength=count)
    return found


def scattered_sums(groups: Scattered, sums: IntArray, count: int) -> Scattered:
    """Return which sums take a scattered group; sum ``sums[g]`` takes group g."""
    return np.bincount(sums, weights=groups, minlength=count) > 0


def _begun(codes: IntArray, *, axis: int) -> IntArray:
    """Return the group of each run of neighbours along an axis."""
    before = np.roll(codes, 1, axis)
    first = np.zeros(codes.shape[axis], dtype=np.bool_)
    first[:1] = True
    begun: IntArray = codes[((codes != before) | first) & (codes >= 0)]
    return begun
