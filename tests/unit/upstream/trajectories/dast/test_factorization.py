"""Two concepts are found, always the same ones."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from upstream.trajectories.dast.factorization import factorise

BLOCKS = csr_matrix(
    np.array([[1, 1, 0, 0], [1, 0.9, 0, 0], [0, 0, 1, 1], [0, 0.1, 1, 0.8]])
)


def test_two_blocks_are_two_concepts():
    found = factorise(BLOCKS)
    first = found.documents[:, 0] > found.documents[:, 1]
    assert first[0] == first[1] != first[2] == first[3]
    error = BLOCKS.toarray() - found.documents @ found.terms.T
    assert np.abs(error).max() < 0.15


def test_factors_are_not_negative_and_of_length_1():
    found = factorise(BLOCKS)
    assert (found.documents >= 0).all()
    assert (found.terms >= 0).all()
    assert np.sqrt((found.terms**2).sum(axis=0)) == pytest.approx([1, 1])


def test_more_updates_never_fit_worse():
    def error(iterations):
        found = factorise(BLOCKS, iterations)
        return float(((BLOCKS - found.documents @ found.terms.T) ** 2).sum())

    errors = [error(iterations) for iterations in (1, 2, 5, 20, 80)]
    assert errors == sorted(errors, reverse=True)


def test_the_same_notes_have_the_same_factors():
    one, other = factorise(BLOCKS), factorise(BLOCKS)
    assert (one.documents == other.documents).all()


def test_one_document_has_no_two_concepts():
    with pytest.raises(ValueError, match="two"):
        factorise(BLOCKS[:1])
