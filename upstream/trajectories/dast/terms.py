"""Which terms each note has, weighted: the matrix that is factorised.

Source: Xu, Liu and Gong, Document clustering based on non-negative matrix
factorization (SIGIR 2003), section 3.1: frequency times inverse document frequency,
each document of length 1.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from upstream.model_libraries import library

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def term_matrix(
    documents: Iterable[Sequence[str]], least: int = 2, most: float = 1.0
) -> "csr_matrix":
    """Return documents by terms; a document without a kept term is a row of zeros.

    Terms are in alphabetical order, so the same notes give the same matrix.

    Args:
        documents: The terms of each, repeats included.
        least: How many documents a term is in at least.
        most: In which part of the documents it is at most.
    """
    counters = [Counter(document) for document in documents]
    held = Counter(term for counter in counters for term in counter)
    limit = most * len(counters)
    kept = sorted(term for term, count in held.items() if least <= count <= limit)
    columns = {term: column for column, term in enumerate(kept)}
    inverse = np.array(
        [np.log(len(counters) / held[term]) + 1 for term in kept], dtype=np.float64
    )
    rows, places, values = [], [], []
    for row, counter in enumerate(counters):
        for term in sorted(counter.keys() & columns.keys()):
            rows.append(row)
            places.append(columns[term])
            values.append((1 + np.log(counter[term])) * inverse[columns[term]])
    shape = (len(counters), len(kept))
    return _of_length_1(
        library("scipy.sparse").csr_matrix((values, (rows, places)), shape=shape)
    )


def _of_length_1(matrix: "csr_matrix") -> "csr_matrix":
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    scale = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return library("scipy.sparse").csr_matrix(matrix.multiply(scale[:, None]))
