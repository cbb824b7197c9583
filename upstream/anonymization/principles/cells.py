"""How often each sensitive value is in each class."""

from dataclasses import dataclass

import numpy as np

from upstream.anonymization.arrays import Ints
from upstream.anonymization.columns.classes import Classes
from upstream.anonymization.principles.principle import Sensitive

_DENSE = 8  # cells for each entry, up to which counting is faster than sorting


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The classes' sensitive values, without those that are not there.

    Attributes:
        classes: By cell: its class, never falling.
        values: By cell: its sensitive value, rising within a class.
        counts: By cell: how many rows.
        starts: By class: its first cell.
    """

    classes: Ints
    values: Ints
    counts: Ints
    starts: Ints


def cells_of(classes: Classes, sensitive: Sensitive) -> Cells:
    """Return the cells of classes; each class has at least one."""
    size = classes.count * sensitive.size
    key = classes.codes.astype(np.int64) * sensitive.size
    key += sensitive.codes[classes.rows]
    if size <= _DENSE * len(key):
        counts = np.bincount(key, weights=classes.weights, minlength=size)
        keys = np.flatnonzero(counts)
        counts = counts[keys]
    else:
        keys, places = np.unique(key, return_inverse=True)
        counts = np.bincount(places, weights=classes.weights)
    of_class = keys // sensitive.size
    starts = np.flatnonzero(np.diff(of_class, prepend=-1))
    return Cells(of_class, keys % sensitive.size, counts.astype(np.int64), starts)
