"""A non-negative matrix as the product of two of rank 2, by multiplicative updates.

Source: Lee and Seung 2001; Xu, Liu and Gong 2003, section 3. Nothing is drawn: the
factors begin from the two documents that differ most, so the same notes are always
clustered alike. Run with ``OMP_NUM_THREADS=1``: the products are small, and threads
that wait for each other make them slower.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from upstream.model_libraries import library

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Factor = NDArray[np.float64]
_RANK = 2
_TINY = 1e-12
_BLEND = 0.5  # of the mean in the first factors: none of them is 0 for good then


@dataclass(frozen=True, slots=True)
class Factors:
    """Documents by terms, approximately ``documents @ terms.T``.

    Attributes:
        documents: Documents by 2: how much each belongs to either concept.
        terms: Terms by 2, each column of length 1.
    """

    documents: Factor
    terms: Factor


def factorise(matrix: "csr_matrix", iterations: int = 50) -> Factors:
    """Return two factors of rank 2 that approximate a matrix.

    Args:
        matrix: Documents by terms, without negative values.
        iterations: How often both factors are updated; Li and Qin 2017 take 50.

    Raises:
        ValueError: There are fewer than two documents.
    """
    if matrix.shape[0] < _RANK:
        message = "two concepts need two documents"
        raise ValueError(message)
    terms = _first_terms(matrix)
    documents = np.asarray(matrix @ terms) + _TINY
    turned = library("scipy.sparse").csr_matrix(matrix.T)
    for _ in range(iterations):
        documents *= (matrix @ terms) / (documents @ (terms.T @ terms) + _TINY)
        above = turned @ documents
        terms *= above / (terms @ (documents.T @ documents) + _TINY)
        lengths = np.sqrt((terms**2).sum(axis=0)) + _TINY
        documents, terms = documents * lengths, terms / lengths  # neither overflows
    return Factors(documents, terms)


def _first_terms(matrix: "csr_matrix") -> Factor:
    """Return the terms of the two documents that differ most, blended with the mean.

    The first is the one that is least like the mean, the second least like the first.
    """
    mean = np.asarray(matrix.mean(axis=0)).ravel()
    first = int(np.argmin(_likeness(matrix, mean)))
    one = matrix[first].toarray().ravel()
    second = int(np.argmin(_likeness(matrix, one) - _likeness(matrix, mean)))
    other = matrix[second].toarray().ravel()
    return np.stack([one, other], axis=1) + _BLEND * mean[:, None] + _TINY


def _likeness(matrix: "csr_matrix", to: Factor) -> Factor:
    return np.asarray(matrix @ to)
