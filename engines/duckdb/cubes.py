"""Rows of a cube's statement to sparse counts: codes, then cell numbers."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from privacy.counts import IntArray, SparseCounts
from privacy.schema import Scalar
from privacy.sealed import SATURATION
from query_lang.specs.cubes import CubeStatement

ROWS_AT_ONCE: Final = 50_000

Rows = Sequence[tuple[Scalar | None, ...]]


def sparse_counts(statement: CubeStatement, batches: Iterable[Rows]) -> SparseCounts:
    """Return the cells that rows fill, ascending; strangers are dropped.

    Memory grows with the number of filled cells, 16 bytes each.

    Args:
        statement: Whose rows they are.
        batches: A row holds the stored value of each dimension, then the count.

    Raises:
        ValueError: Two rows fill one cell; the rendering is at fault.
    """
    codes = [
        {value: place for place, value in enumerate(stored)}
        for stored in statement.keys
    ]
    cells, counts = [_empty()], [_empty()]
    for rows in batches:
        *columns, numbers = zip(*rows, strict=True)
        flat = np.zeros(len(rows), dtype=np.int64)
        inside = np.ones(len(rows), dtype=np.bool_)
        for known, column in zip(codes, columns, strict=True):
            found = np.fromiter(
                (known.get(value, -1) for value in column), np.int64, len(rows)
            )
            inside &= found >= 0
            flat = flat * len(known) + found
        counted = np.minimum(np.array(numbers, dtype=np.int64), SATURATION)
        inside &= counted > 0
        cells.append(flat[inside])
        counts.append(counted[inside])
    return _in_order(np.concatenate(cells), np.concatenate(counts))


def _in_order(cells: IntArray, counts: IntArray) -> SparseCounts:
    order = np.argsort(cells, kind="stable")
    cells, counts = cells[order], counts[order]
    if np.any(cells[1:] == cells[:-1]):
        message = "two rows fill one cell"
        raise ValueError(message)
    return SparseCounts(cells, counts)


def _empty() -> IntArray:
    return np.zeros(0, dtype=np.int64)
