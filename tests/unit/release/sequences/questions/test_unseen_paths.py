"""A path of all values of a split holds those whose own tree was cut on the way."""

import numpy as np
import pytest

from privacy.schema import ColumnType
from release.contract.domain import Dimension
from release.contract.sequence_domain import SequenceDomain
from release.sequences.estimation.paths import PathTree
from release.sequences.questions.browsing import branch
from release.sequences.questions.counts import everybody
from release.sequences.questions.levels import LevelledTree

MANY, FEW = 900.0, 40.0
REST = 4
"""The code of what is not known; 3 is the end."""


def opened(small, variance=1.0):
    """Open a tree of two arms: many go 0, 1, 2; the tree of the other is given.

    Args:
        small: Of each of its nodes below the root, the place of the node above (0: the
            root), the symbol and the count.
        variance: Of each node.
    """
    rows = [(-1, -1, 0, MANY), (-1, -1, 1, FEW)]
    rows += [(0, 0, 0, MANY - 100), (0, REST, 0, 100.0)]
    rows += [(2, 1, 0, MANY - 200), (2, REST, 0, 100.0)]
    rows += [(4, 2, 0, MANY - 300), (4, REST, 0, 100.0)]
    places = [1]
    for above, symbol, count in small:
        places.append(len(rows))
        rows.append((places[above], symbol, 1, count))
    alphabet = Dimension("symbol", ColumnType.INTEGER, (0, 1, 2))
    arms = Dimension("arm", ColumnType.INTEGER, (0, 1), constant=True)
    parents, symbols, groups, counts = map(np.array, zip(*rows, strict=True))
    depths = np.zeros(len(rows), dtype=np.int64)
    for node, above in enumerate(parents.tolist()):
        depths[node] = 0 if above < 0 else depths[above] + 1
    spread = np.full(len(rows), variance)
    domain = SequenceDomain(alphabet, 3, arms)
    return LevelledTree(
        domain, PathTree(groups, parents, symbols, depths, counts, spread)
    )


LOST = {
    "at the first step": [(0, REST, FEW)],
    "later": [(0, 0, FEW), (1, REST, FEW)],
    "in a node with nothing below": [(0, 0, FEW)],
}
"""Trees of the small arm, none of which has the path 0, 1."""


@pytest.mark.parametrize("small", LOST.values(), ids=LOST)
def test_a_path_may_be_more_where_one_arm_lost_it(small):
    tree = opened(small)
    for path in ((0, 1), (0, 1, 2)):
        both, one = branch(tree, path, None), branch(tree, path, 0)
        assert both.count.value == one.count.value
        assert FEW <= both.count.half_width - one.count.half_width < 2 * FEW
    kinds = zip(
        branch(tree, (0, 1), None).children,
        branch(tree, (0, 1), 0).children,
        strict=True,
    )
    for both, one in kinds:
        assert FEW <= both.count.half_width - one.count.half_width < 2 * FEW
        assert both.kind == one.kind


@pytest.mark.parametrize("small", LOST.values(), ids=LOST)
def test_a_path_says_of_itself_what_it_says_as_a_child(small):
    tree = opened(small)
    for arm in (None, 0, 1):
        for path in ((), (0,), (0, 1)):
            for child in branch(tree, path, arm).children:
                if child.kind == "symbol":
                    itself = branch(tree, (*path, child.symbol), arm).count
                    assert itself == child.count


def test_those_whom_an_arm_shows_are_not_missed_as_well():
    tree = opened([(0, 0, FEW), (1, 1, FEW), (2, 2, FEW)])
    for path in ((0,), (0, 1), (0, 1, 2)):
        assert branch(tree, path, None).count.half_width < FEW


def test_what_an_arm_may_have_unseen_is_no_more_than_all_units():
    tree = opened(LOST["at the first step"], variance=500.0**2)
    seen = branch(tree, (0, 1, 2), None).count
    assert seen.value + seen.half_width <= everybody(tree)


def test_a_path_that_no_arm_has_is_not_known():
    assert branch(opened([(0, REST, FEW)]), (1,), None).count is None
