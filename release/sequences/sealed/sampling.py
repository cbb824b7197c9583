"""At which places a unit is looked at, where it may be at a few of its places only.

A sample is a function of the unit's own length and phase, which comes from its stored
keyed hash. Over all phases each place of a sequence is in it equally often: so late
places count as much as early ones.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from privacy.counts import IntArray
from privacy.sequences import PHASES

_Words = NDArray[np.uint64]

_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)


def sampled_places(
    lengths: IntArray, phases: IntArray, most: int
) -> tuple[IntArray, IntArray]:
    """Return the places at which each sequence is looked at, ``most`` at the most.

    A sequence of so many symbols or fewer is looked at everywhere. Of a longer one the
    places are the first of a fixed order of all, which the phase chooses and turns; so
    those of a smaller ``most`` are among those of a larger one.

    Args:
        lengths: Of the sequences, 0 or more.
        phases: From 0 to ``PHASES`` times the length, less 1.
        most: Places of one sequence.

    Returns:
        For each place, which sequence it is of (ascending), and the place, from 0.
    """
    sizes = np.minimum(lengths, most)
    owners = np.repeat(np.arange(len(lengths)), sizes)
    places = np.arange(len(owners)) - (np.cumsum(sizes) - sizes)[owners]
    long = np.flatnonzero(lengths > most)
    if not len(long) or most < 1:
        return owners, places
    turns, ways = np.divmod(phases[long], PHASES)
    kinds, own = np.unique(lengths[long] * PHASES + ways, return_inverse=True)
    orders = np.array([_order(*divmod(int(kind), PHASES), most) for kind in kinds])
    chosen = (orders[own] + turns[:, None]) % lengths[long][:, None]
    places[lengths[owners] > most] = chosen.ravel()
    return owners, places


def _order(length: int, way: int, most: int) -> IntArray:
    """Return the first places of a fixed order of all; numbers in no pattern."""
    seed = np.uint64((length * PHASES + way) * (length + 1))
    words = _mixed(seed + np.arange(length, dtype=np.uint64))
    return np.asarray(np.argsort(words, kind="stable")[:most], dtype=np.int64)


def _mixed(words: _Words) -> _Words:
    """Return words in no pattern (splitmix64)."""
    mixed = (words + np.uint64(1)) * _STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
