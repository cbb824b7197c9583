"""Ends of how often runs begin at all places, from how often at sampled ones."""

import numpy as np
import pytest

from release.contract.intervals import WEIGHTED_QUANTILE
from release.sequences.estimation.bands import Bands
from release.sequences.estimation.sample_ends import SampleEnds, least_periods

SHORT, LONG, PLACES, LONGEST = 90, 10, 2, 8
"""Ninety sequences of two symbols, ten of eight, two places of each looked at."""

COUNTS = np.array([[0, SHORT, 0, 0, 0, 0, 0, LONG]])
SYMBOL = (1, 1)


def ends_of(scale):
    return SampleEnds(Bands(LONGEST, COUNTS, scale), PLACES)


SURE = ends_of(0.0)


def test_a_run_of_long_sequences_alone_stands_at_many_places_for_one_sampled():
    most, _ = SURE.most(0, SYMBOL, np.array([10.0, 20.0]))
    assert most.tolist() == [10 * LONGEST / PLACES, LONG * LONGEST]


def test_more_than_long_sequences_hold_stands_in_short_ones():
    most, _ = SURE.most(0, SYMBOL, np.array([21.0, 200.0]))
    every = SHORT * PLACES + LONG * LONGEST
    assert most.tolist() == [LONG * LONGEST + 1, every]


def test_a_run_may_be_in_short_sequences_alone_until_they_are_full():
    least, _ = SURE.least(0, SYMBOL, np.array([30.0, 180.0, 190.0, 200.0]))
    every = SHORT * PLACES + LONG * LONGEST
    assert least.tolist() == [30, 180, 180 + 10 * LONGEST / PLACES, every]


def test_the_ends_lie_around_what_even_places_would_say():
    sampled = np.linspace(0, 200, 41)
    (least, _), (most, _) = (end(0, SYMBOL, sampled) for end in (SURE.least, SURE.most))
    even = sampled * (SHORT * PLACES + LONG * LONGEST) / 200
    assert (sampled <= least).all()
    assert (least <= even + 1e-9).all()
    assert (even <= most + 1e-9).all()


def test_a_run_that_cannot_begin_within_itself_has_less_room():
    pair = np.array([10.0])
    apart, _ = SURE.most(0, (2, 2), pair)  # at four of eight places: one sampled
    even, _ = SURE.most(0, (2, 1), pair)
    assert apart == LONG * LONGEST / 2
    assert even == 10 * LONGEST / PLACES


def test_noise_of_lengths_leaves_room_for_long_sequences_that_it_may_hide():
    hidden = np.array([[0, SHORT, 0, 0, 0, 0, 0, 0]])
    noisy = SampleEnds(Bands(LONGEST, hidden, 3.0), PLACES)
    most, more = noisy.most(0, SYMBOL, np.array([4.0]))
    assert most == 4
    assert more == 4 * LONGEST / PLACES - 4
    assert WEIGHTED_QUANTILE * np.sqrt(2) * 3.0 * PLACES > 4  # so many may be longest


def test_where_every_place_is_sampled_nothing_is_open():
    whole = SampleEnds(Bands(LONGEST, COUNTS, 3.0), LONGEST)
    sampled = np.array([5.0, 50.0])
    for end in (whole.least, whole.most):
        found, more = end(0, SYMBOL, sampled)
        assert found.tolist() == sampled.tolist()
        assert more.tolist() == [0, 0]
    assert whole.in_long(0) == 0


@pytest.mark.parametrize(
    ("run", "period"),
    [
        ((3,), 1),
        ((3, 3), 1),
        ((3, 4), 2),
        ((3, 4, 3), 2),
        ((3, 4, 4), 3),
        ((3, 3, 4, 3, 3), 3),
    ],
)
def test_a_run_begins_again_after_its_least_period(run, period):
    assert least_periods(np.array([run])).tolist() == [period]
