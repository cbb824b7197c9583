"""What is believed of noisy grams: little of what noise alone may have kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from release.sequences.estimation.likely_grams import likely_children, likely_singles

SCALE, THRESHOLD = 20.0, 40


def children(counts, expected, followed=1_000.0, whole=1_000.0):
    noise = np.array([SCALE]), np.array([THRESHOLD])
    totals = np.array([followed]), np.array([whole])
    rows = np.array([counts], dtype=float), np.array([expected], dtype=float)
    return likely_children(*rows, totals, noise)[0]


def test_a_count_that_noise_alone_may_have_kept_loses_most_of_it():
    told = children([960, 41, 0, 0], [0.999, 0.0004, 0.0003, 0.0003])
    assert told[1] < 20
    assert told[0] == pytest.approx(980, abs=25)


def test_a_count_far_above_the_noise_is_believed_whatever_was_expected():
    told = children([500, 490, 0, 0], [0.97, 0.01, 0.01, 0.01])
    assert told[:2] == pytest.approx([500, 490], abs=SCALE)


def test_kept_children_are_not_raised_to_what_is_expected_to_follow():
    """A gram may be unended more often than others: the rest takes what it can."""
    told = children([500, 200, 0, 0], [0.7, 0.2, 0.05, 0.05], followed=950)
    assert told[:2] == pytest.approx([500, 200], abs=8)
    assert told[2:] == pytest.approx([THRESHOLD] * 2)


def test_children_never_sum_to_more_than_their_gram():
    told = children([700, 200, 0, 0], [0.7, 0.3, 0, 0], followed=800, whole=850)
    assert told.sum() == pytest.approx(850)


def test_single_symbols_are_drawn_towards_an_even_share_within_the_noise_alone():
    counts = np.array([[5_000.0, 60.0, 0.0]])
    places = np.array([6_000.0])
    told = likely_singles(counts, counts > 0, places, (SCALE, THRESHOLD))[0]
    assert told[0] == pytest.approx(5_000, abs=SCALE)
    assert 0 <= told[2] < told[1] < 80


@given(
    st.lists(st.floats(0, 1e6), min_size=4, max_size=4),
    st.floats(0, 1e6),
    st.floats(0, 1e6),
)
@settings(max_examples=50, deadline=None)
def test_estimates_are_never_negative_nor_more_than_their_gram(counts, one, other):
    low, high = sorted((one, other))
    counts = [count if count >= THRESHOLD else 0.0 for count in counts]
    told = children(counts, [0.4, 0.3, 0.2, 0.1], low, high)
    assert (told >= 0).all()
    assert told.sum() <= high + 1e-3
