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


@cache
def questions(shape, *, whole=False):
    return Questions(*made(shape, UNITS), whole=whole)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_hold_what_sequences_of_every_shape_say(shape, strategy):
    found = {}
    for epsilon in EPSILONS:
        own = coverage(questions(shape), strategy, epsilon, range(RELEASES))
        for kind, tally in own.items():
            found.setdefault(kind, Tally()).join(tally)

    # of one number a release, four are too few for 93 in 100
    least = {kind: min(PROMISED, 1 - 1 / own.total) for kind, own in found.items()}
    short = {
        kind: own.share for kind, own in found.items() if own.share < least[kind] - 1e-9
    }
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
