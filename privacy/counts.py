"""Raw counts as arrays; they travel sealed, from engines to mechanisms."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SparseCounts:
    """The cells of a public domain whose count is not 0.

    Attributes:
        cells: Flat cell numbers (C order), ascending, without repeats; int64.
        counts: Their counts, positive; int64, same length.
    """

    cells: IntArray
    counts: IntArray
