"""Weights of terms by notes."""

import numpy as np
import pytest

from upstream.trajectories.dast.terms import term_matrix


def test_notes_have_length_1_and_empty_ones_stay_empty():
    found = term_matrix([["a", "b"], ["a", "b", "b"], [], ["c"]])
    lengths = np.sqrt(found.multiply(found).sum(axis=1)).ravel().tolist()
    assert found.shape == (4, 2)
    assert np.ravel(lengths) == pytest.approx([1, 1, 0, 0])


def test_terms_of_too_few_and_too_many_notes_are_left_out():
    notes = [["a", "b"], ["a", "b"], ["a", "c"], ["a"]]
    assert term_matrix(notes, least=2, most=0.5).shape == (4, 1)


def test_seldom_terms_weigh_more_and_repeats_less_than_twice():
    rows = term_matrix([["a", "b"], ["a", "a", "c"], ["a"], ["b"], ["c"]], 1).toarray()
    a, b, _ = rows[0]
    assert b > a
    assert rows[1][0] / rows[1][2] < 2 * a / b
