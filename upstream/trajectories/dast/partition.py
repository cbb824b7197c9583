"""Notes in clusters of a least size, by halving them again and again.

Source: Li and Qin, Anonymizing and sharing medical text records (2017), section 4.2
and figure 7.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from upstream.trajectories.dast.factorization import factorise

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Rows = NDArray[np.int64]
_HALF = 0.5  # of a note: it belongs to both concepts alike


@dataclass(frozen=True, slots=True)
class Halving:
    """How clusters are halved.

    Attributes:
        least: How many notes a cluster has at least.
        iterations: Updates of each factorization.
        is_repaired: Whether a half that is too small takes the notes that are nearest
            to it from the other one. If not, its cluster stays whole, as printed.
    """

    least: int = 3
    iterations: int = 50
    is_repaired: bool = True

    def __post_init__(self) -> None:
        if self.least < 1 or self.iterations < 1:
            message = "a cluster has one note at least, and factors an update"
            raise ValueError(message)


def partition(matrix: "csr_matrix", how: Halving) -> list[tuple[int, ...]]:
    """Return clusters of notes, each note in one of them.

    Args:
        matrix: Documents by terms (``term_matrix``).
        how: With the least size of a cluster.

    Raises:
        ValueError: There are fewer notes than a cluster has at least.
    """
    if matrix.shape[0] < how.least:
        message = "there are fewer notes than a cluster has at least"
        raise ValueError(message)
    every = np.arange(matrix.shape[0], dtype=np.int64)
    found = [tuple(map(int, rows)) for rows in _clusters(matrix, every, how)]
    return sorted(found)


def _clusters(matrix: "csr_matrix", rows: Rows, how: Halving) -> Iterator[Rows]:
    waiting = [rows]
    while waiting:
        rows = waiting.pop()
        halves = _halves(matrix, rows, how)
        if halves is None:
            yield rows
        else:
            waiting.extend(halves)


def _halves(matrix: "csr_matrix", rows: Rows, how: Halving) -> tuple[Rows, Rows] | None:
    """Return two clusters in place of one, or None where it stays whole."""
    if len(rows) < 2 * how.least:
        return None
    own = matrix[rows]
    own = own[:, np.unique(own.indices)]
    shares = _shares(own, how.iterations)
    is_second = shares < _HALF
    smaller = min(int(is_second.sum()), int((~is_second).sum()))
    if smaller < how.least:
        if not how.is_repaired:
            return None
        is_second = _repaired(shares, how.least)
    return rows[~is_second], rows[is_second]


def _shares(matrix: "csr_matrix", iterations: int) -> NDArray[np.float64]:
    """Return how much of each note belongs to the first concept, from 0 to 1."""
    if not matrix.nnz:
        return np.full(matrix.shape[0], _HALF)
    documents = factorise(matrix, iterations).documents
    total = documents.sum(axis=1)
    half = np.full(len(documents), _HALF)
    np.divide(documents[:, 0], total, out=half, where=total > 0)
    return half


def _repaired(shares: NDArray[np.float64], least: int) -> NDArray[np.bool_]:
    """Return which notes are the second half, if the smaller one has the least size."""
    order = np.argsort(shares, kind="stable")
    is_second = np.zeros(len(shares), dtype=np.bool_)
    is_few = int((shares < _HALF).sum()) < least
    is_second[order[:least] if is_few else order[:-least]] = True
    return is_second


def purity(clusters: Sequence[Sequence[int]], labels: Sequence[str]) -> float:
    """Return which part of the notes has the most frequent label of its cluster."""
    most = 0
    for cluster in clusters:
        own = [labels[note] for note in cluster]
        most += max(own.count(label) for label in set(own))
    return most / max(1, sum(map(len, clusters)))
