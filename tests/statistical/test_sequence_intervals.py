"""Intervals of sequence releases hold what made-up logs of many shapes say.

The quick tier has fixed logs, seeds and sizes, so that it cannot fail by chance. Full
counts: ``python -m tests.statistical.sequence_coverage --units 20000 --releases 20``.
"""

from functools import cache

import pytest

from tests.statistical.sequence_coverage import PROMISED, Questions, Tally, coverage
from tests.statistical.sequence_logs import SHAPES, made

UNITS, RELEASES = 600, 2
STRATEGIES = ("prefix_tree", "ngram")
EPSILONS = ("0.3", "2")
ONE_SHAPE = 0.75


@cache
def questions(shape, *, whole=False):
    return Questions(*made(shape, UNITS), whole=whole)


@cache
def held(shape, strategy):
    found = {}
    for epsilon in EPSILONS:
        own = coverage(questions(shape), strategy, epsilon, range(RELEASES))
        for kind, tally in own.items():
            found.setdefault(kind, Tally()).join(tally)
    return found


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_intervals_hold_what_sequences_of_all_shapes_say(strategy):
    """Shape by shape one release in four may miss; all of them together may not."""
    every, short = {}, {}
    for shape in SHAPES:
        for kind, tally in held(shape, strategy).items():
            every.setdefault(kind, Tally()).join(tally)
            if tally.share < ONE_SHAPE:
                short[shape, kind] = tally.share
    short |= {kind: own.share for kind, own in every.items() if own.share < PROMISED}
    assert not short


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_interval_ends_below_nothing_or_before_it_begins(strategy):
    for shape in ("tiny", "mixed"):
        own = questions(shape)
        found = coverage(own, strategy, "0.05", range(RELEASES))
        assert not sum(tally.impossible for tally in found.values())


def test_runs_in_whole_sequences_are_not_what_is_told():
    """The instrument sees it: far more runs stand past the twelfth symbol."""
    own = questions("long", whole=True)
    found = coverage(own, "prefix_tree", "2", range(RELEASES))
    assert found["runs, top"].share < 0.5
