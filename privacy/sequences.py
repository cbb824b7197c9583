"""Raw sequences as arrays; they travel sealed, from engines to mechanisms."""

from dataclasses import dataclass
from typing import Final

from privacy.counts import IntArray

PHASES: Final = 16
"""Ways to sample the places of a sequence, for each place that the first may be."""


@dataclass(frozen=True, slots=True)
class SequenceCounts:
    """The distinct sequences of a snapshot, one a unit, and how many units have each.

    A unit's sequence is cut to the public maximal length h. One of fewer than h symbols
    has ended; one of h symbols may go on: nobody looks further.

    Attributes:
        symbols: All sequences' symbols, one after the other; codes 0..|alphabet|-1.
        starts: Where each sequence begins in ``symbols``, and where the last one ends:
            one more than there are sequences, ascending from 0.
        groups: For each sequence, the place of its unit's value among those of the
            dimension that splits the release; 0 where nothing does.
        counts: How many units have it, positive.
        phases: For each sequence of n symbols a number from 0 to ``PHASES`` * n - 1,
            which says at which of its places its units are sampled. A unit's is its
            stored keyed hash, modulo that; units that differ in it are apart here.

    Neighbouring relation: add or remove all rows of one unit: one sequence's count
    moves by 1, and no other.
    """

    symbols: IntArray
    starts: IntArray
    groups: IntArray
    counts: IntArray
    phases: IntArray
