"""``auto`` for sequences takes about the better strategy where shapes tell them apart.

A quick tier with fixed noise; ``python -m tests.statistical.sequence_picks`` is the
long one.
"""

import numpy as np
import pytest

from tests.statistical.sequence_coverage import released
from tests.statistical.sequence_logs import made
from tests.statistical.sequence_picks import measured

UNITS = 5_000
RELEASES = 3
MOST_RATIO = 1.15
MUST_BE_TREES = 1.3
"""By so much at the least n-grams err more than a tree on few ways."""

SUITS = {
    ("templates", "0.5"): "prefix_tree",
    ("templates", "1"): "prefix_tree",
    ("cyclic", "0.5"): "ngram",
    ("short", "2"): "ngram",
    ("tiny", "2"): "prefix_tree",
}


@pytest.mark.sampled
@pytest.mark.parametrize(("shape", "epsilon"), SUITS)
def test_auto_picks_what_errs_less(shape, epsilon):
    log, most = made(shape, UNITS)
    models = [released(log, most, "auto", epsilon, seed) for seed in range(RELEASES)]
    suits = SUITS[shape, epsilon]
    assert [asked.model.strategy for asked in models] == [suits] * RELEASES


def test_auto_errs_hardly_more_than_the_better_where_ways_are_few():
    log, most = made("templates", UNITS)
    errors = {}
    for strategy in ("prefix_tree", "ngram", "auto"):
        found, _ = measured(log, most, strategy, "0.5", RELEASES)
        errors[strategy] = float(np.sqrt(found.prod()))
    assert errors["auto"] <= MOST_RATIO * errors["prefix_tree"]
    assert errors["ngram"] >= MUST_BE_TREES * errors["prefix_tree"]
