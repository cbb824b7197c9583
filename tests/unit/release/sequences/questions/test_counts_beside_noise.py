"""What noise kept beside a group, and what one threshold hid, may be the group's."""

from dataclasses import replace

import numpy as np
import pytest

from privacy.schema import ColumnType
from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.sequence_domain import SequenceDomain
from release.sequences.questions.counting import count, grouped
from release.sequences.questions.levels import LevelledTree
from release.sequences.questions.question import (
    KeyColumn,
    LengthIn,
    LengthKey,
    StartsWith,
    SymbolIn,
    SymbolKey,
)
from tests.unit.release.sequences.asked_sequences import LETTERS, REST, path_of, tree_of

DOMAIN = SequenceDomain(LETTERS, 2)
ONE = LengthIn(frozenset({1}))
LENGTHS = KeyColumn(LengthKey(), (0, 1, 2), ColumnType.INTEGER)
SECOND = KeyColumn(SymbolKey(2), ("a", "b", "c", None), ColumnType.TEXT)
ENDED, TWO, HIDDEN = 40.0, 60.0, 50.0


def tree(doubtful=(), of_root=4.0):
    """40 units end after a, 60 have a and b; of 50 no symbol is known."""
    leaves = {(0, (0,), ""): ENDED, (0, (0, 1), ""): TWO, (0, (), REST): HIDDEN}
    told = tree_of(DOMAIN, leaves)
    paths = [path_of(told, node) for node in range(len(told.counts))]
    doubts = np.array([told.counts[i] * (p in doubtful) for i, p in enumerate(paths)])
    variances = told.variances.copy()
    variances[0] = of_root
    return LevelledTree(DOMAIN, replace(told, doubts=doubts, variances=variances))


def counted(levelled, condition, *keys):
    return count(levelled, grouped(levelled, condition, keys))


def test_a_doubtful_node_beside_a_group_is_added_to_what_the_group_may_have():
    free = {"of_root": 40_000.0}
    assert counted(tree(**free), ONE).spare.tolist() == [0.0]
    assert counted(tree({(0, 1)}, **free), ONE).spare == pytest.approx([TWO], rel=0.01)
    by_length = counted(tree({(0, 1)}, **free), None, LENGTHS)
    assert by_length.values.tolist() == [0.0, ENDED, TWO]
    assert by_length.spare == pytest.approx([0.0, TWO, 0.0], rel=0.01)
    by_symbol = counted(tree({(0, 1)}, **free), None, SECOND)
    assert by_symbol.spare == pytest.approx([TWO, 0.0, TWO, TWO], rel=0.01)


def test_it_is_not_added_where_it_belongs_or_its_parent_never_led_there():
    levelled = tree({(0, 1)}, of_root=40_000.0)
    assert counted(levelled, StartsWith((0,))).spare.tolist() == [0.0]
    assert counted(levelled, StartsWith((0, 1))).spare.tolist() == [0.0]
    assert counted(levelled, StartsWith((1,))).spare.tolist() == [0.0]
    firsts = tree({(0,)}, of_root=40_000.0)
    assert counted(firsts, StartsWith((1,))).spare.tolist() == [0.0]


def test_no_group_may_have_more_than_there_are():
    told = counted(tree({(0, 1)}), ONE)
    most = ENDED + TWO + HIDDEN + WEIGHTED_QUANTILE * 2
    end = told.values + told.undecided + told.reach + told.spare
    assert end[0] == pytest.approx(most)


@pytest.mark.parametrize(
    ("condition", "keys", "is_wide"),
    [
        (ONE, (), True),
        (None, (LENGTHS,), True),
        (None, (SECOND,), True),
        (SymbolIn(1, frozenset({1})), (), False),
        (StartsWith((1,)), (), False),
    ],
)
def test_what_first_symbols_hide_may_be_all_of_a_group_unless_they_are_told_apart(
    condition, keys, is_wide
):
    groups = grouped(tree(of_root=40_000.0), condition, keys)
    told = count(tree(of_root=40_000.0), groups)
    wide = WEIGHTED_QUANTILE * 200
    assert (told.reach.max() >= wide) == is_wide
