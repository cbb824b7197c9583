"""Branches miss what noise took from them, and what a chain of short runs forgot."""

from dataclasses import replace

import numpy as np
import pytest

from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.sequence_domain import SequenceDomain
from release.sequences.questions.browsing import TOGETHER, branch, half_widths
from release.sequences.questions.counts import everybody
from release.sequences.questions.levels import LevelledTree
from tests.unit.release.sequences.asked_sequences import (
    LETTERS,
    REST,
    SEX,
    path_of,
    tree_of,
)

DOMAIN = SequenceDomain(LETTERS, 3)
SPLIT = SequenceDomain(LETTERS, 3, SEX)
A, B, C, END = 0, 1, 2, 3
MANY, ENDED, BESIDE, FURTHER, HIDDEN = 900.0, 100.0, 40.0, 30.0, 20.0
OFF = WEIGHTED_QUANTILE * 2
"""Half-width of each node by itself."""


def opened(domain=DOMAIN, doubtful=(), **columns):
    """Open a tree: most go a, b, c; some end after a; a, a and a, b, a lie beside."""
    leaves = {}
    for group in range(domain.groups):
        leaves |= {
            (group, (A, B, C), ""): MANY,
            (group, (A,), ""): ENDED,
            (group, (A, A, A), ""): BESIDE,
            (group, (A, B, A), ""): FURTHER,
            (group, (A, B), REST): HIDDEN,
            (group, (B, B, B), ""): BESIDE,
        }
    told = tree_of(domain, leaves)
    paths = [path_of(told, node) for node in range(len(told.counts))]
    doubts = np.array([told.counts[i] * (p in doubtful) for i, p in enumerate(paths)])
    return LevelledTree(domain, replace(told, doubts=doubts, **columns))


def half_width(tree, path, group=None):
    """Return the half-width of a path, which its parent says of it, too."""
    *above, last = path
    kinds = {END: "end", DOMAIN.rest: "rest"}
    (step,) = [
        child
        for child in branch(tree, tuple(above), group).children
        if child.kind == kinds.get(last, "symbol")
        and child.symbol == (LETTERS.values[last] if last < END else None)
    ]
    itself = branch(tree, path, group).count
    assert itself == step.count
    return step.count.half_width


def wide(domain=DOMAIN):
    """Return variances so that there may be many more units than are told."""
    variances = np.full(len(opened(domain)), 4.0)
    variances[: domain.groups] = 1e6
    return variances


def summed(arms, lean=TOGETHER):
    """Return how far off as many nodes are together, of which each is by 1."""
    return np.sqrt((1 - lean) * arms + lean * arms**2)


NOISE = {(A, A), (A, A, A), (A, B, A)}


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        ((A,), 0),
        ((A, B), BESIDE),
        ((A, B, C), BESIDE + FURTHER),
        ((A, END), BESIDE),
        ((B, B), 0),
    ],
)
def test_what_noise_kept_beside_each_step_may_be_the_paths(path, taken):
    alone = half_width(opened(variances=wide()), path)
    beside = half_width(opened(doubtful=NOISE, variances=wide()), path)
    assert beside == pytest.approx(alone + taken)


def test_first_symbols_take_from_nobody():
    tree = opened(doubtful={(B,)}, variances=wide())
    assert half_width(tree, (A, B)) == pytest.approx(OFF)


def test_of_all_values_of_a_split_it_is_added_up_and_not_its_squares():
    tree = opened(SPLIT, NOISE, variances=wide(SPLIT))
    arms = SPLIT.groups
    one, every = (half_width(tree, (A, B, C), group) for group in (0, None))
    assert one == pytest.approx(OFF + BESIDE + FURTHER)
    assert every == pytest.approx(summed(arms) * OFF + arms * (BESIDE + FURTHER))


def test_it_is_no_more_than_all_units():
    tree = opened(doubtful=NOISE)
    count = branch(tree, (A, B, C), None).count
    assert count.value + count.half_width <= everybody(tree)


def test_errors_that_lean_the_same_way_are_added_in_part():
    arms = SPLIT.groups
    apart = half_width(opened(SPLIT), (A, B, C))
    leaning = half_width(opened(SPLIT, lean=0.5), (A, B, C))
    together = half_width(opened(SPLIT, lean=1.0), (A, B, C))
    assert apart == pytest.approx(summed(arms) * OFF)
    assert leaning == pytest.approx(summed(arms, 0.5) * OFF)
    assert together == pytest.approx(arms * OFF)
    assert half_width(opened(SPLIT, lean=0.5), (A, B, C), 0) == pytest.approx(OFF)


def test_upper_ends_of_parts_are_held_in_all_values_of_a_split():
    mosts = opened(SPLIT).counts + 50
    tree = opened(SPLIT, mosts=mosts, variances=wide(SPLIT))
    assert half_width(tree, (A, END), 1) == pytest.approx(50)
    assert half_width(tree, (A, END)) == pytest.approx(50 * SPLIT.groups)
    lower = opened(SPLIT, mosts=np.zeros(len(mosts)))
    assert half_width(lower, (A, END), 1) == pytest.approx(OFF)


def test_a_rest_is_as_far_off_as_its_path_and_the_steps_beside_it_are_together():
    variances = wide()
    plain = half_width(opened(variances=variances), (A, B, DOMAIN.rest))
    assert plain == pytest.approx(np.sqrt(3) * OFF)
    noisy = half_width(opened(doubtful=NOISE, variances=variances), (A, B, DOMAIN.rest))
    assert noisy == pytest.approx(np.sqrt(2) * OFF + FURTHER + BESIDE)


@pytest.mark.parametrize("doubtful", [(), NOISE, {(A,), (A, B)}])
def test_each_node_by_itself_is_as_far_off_as_a_branch_says(doubtful):
    tree = opened(SPLIT, doubtful, mosts=opened(SPLIT).counts + 7.0)
    widths = half_widths(tree)
    for node in range(SPLIT.groups, len(tree)):
        path, place = [], node
        while place >= SPLIT.groups:
            path.insert(0, int(tree.symbols[place]))
            place = int(tree.parents[place])
        group = int(tree.groups[node])
        assert half_width(tree, tuple(path), group) == pytest.approx(widths[node])
