"""A hierarchy nests, covers every value, and knows how general its values are."""

import numpy as np
import pytest

from upstream.anonymization.errors import HierarchyError
from upstream.anonymization.hierarchies.hierarchy import hierarchy_of, paths_of

ZIPS = (
    *(("53710", "5371*", "537**", "*"), ("53712", "5371*", "537**", "*")),
    *(("53703", "5370*", "537**", "*"), ("60601", "6060*", "606**", "*")),
)


def all_of(*numbers):
    return np.array(numbers)


def test_leaves_under_one_value_stand_together():
    paths = [("a", "x", "*"), ("b", "y", "*"), ("c", "x", "*")]
    hierarchy = hierarchy_of("made", paths)
    assert hierarchy.labels == (("a", "c", "b"), ("x", "y"), ("*",))
    assert hierarchy.codes.tolist() == [[0, 1, 2], [0, 0, 1], [0, 0, 0]]
    assert (hierarchy.height, hierarchy.size) == (2, 3)
    assert not hierarchy.is_divisible


def test_each_leaf_keeps_its_path():
    assert set(paths_of(hierarchy_of("zip", ZIPS)).values()) == set(ZIPS)


@pytest.mark.parametrize(
    ("low", "high", "text", "loss", "penalty"),
    [
        (0, 0, "53710", 0, 0),
        (0, 1, "5371*", 1 / 3, 2 / 4),
        (0, 2, "537**", 2 / 3, 3 / 4),
        (1, 3, "*", 1, 1),
    ],
)
def test_a_range_of_leaves_is_the_lowest_value_over_them(
    low, high, text, loss, penalty
):
    hierarchy, ends = hierarchy_of("zip", ZIPS), (all_of(low), all_of(high))
    assert hierarchy.texts(*ends) == (text,)
    assert hierarchy.losses(*ends).tolist() == [loss]
    assert hierarchy.penalties(*ends).tolist() == [penalty]


def test_values_are_read_on_any_level():
    hierarchy = hierarchy_of("zip", ZIPS)
    levels, leaves = all_of(0, 1, 2, 3), all_of(2, 2, 2, 2)
    assert hierarchy.texts_at(levels, leaves) == ZIPS[2]
    assert hierarchy.covered_at(levels, leaves).tolist() == [1, 1, 3, 4]
    assert hierarchy.losses_at(levels, leaves).tolist() == [0, 0, 2 / 3, 1]
    assert hierarchy.penalties_at(levels, leaves).tolist() == [0, 0, 3 / 4, 1]
    assert hierarchy.levels_between(all_of(0, 0, 0), all_of(0, 1, 3)).tolist() == [
        *(0, 1, 3)
    ]


def test_numbers_under_values_are_their_bounds():
    hierarchy = hierarchy_of("zip", ZIPS).with_missing()
    lower, upper = hierarchy.bounds(all_of(0, 0, 4, 3), all_of(1, 2, 4, 4))
    assert lower.tolist()[:2] == [53710, 53703]
    assert upper.tolist()[:2] == [53712, 53712]
    assert np.isnan(lower[2])
    assert (lower[3], upper[3]) == (-np.inf, np.inf)
    at = hierarchy.bounds_at(all_of(1), all_of(0))
    assert [each.tolist() for each in at] == [[53710], [53712]]


def test_texts_have_no_bounds():
    with pytest.raises(ValueError, match="float"):
        hierarchy_of("sex", [("M", "*")]).bounds(all_of(0), all_of(0))


def test_cuts_part_children_of_the_lowest_value_alone():
    hierarchy = hierarchy_of("zip", ZIPS)
    low, high = all_of(0, 0, 0, 0), all_of(2, 2, 3, 1)
    left, right = all_of(0, 1, 1, 0), all_of(1, 2, 2, 1)
    assert hierarchy.is_cut(low, high, left, right).tolist() == [
        *(False, True, False, True)
    ]


def test_a_missing_value_is_its_own_category_until_the_top():
    hierarchy = hierarchy_of("zip", ZIPS).with_missing()
    path = paths_of(hierarchy)[None]
    assert path == (None, None, None, "*")
    assert hierarchy.with_missing() is hierarchy
    assert hierarchy.texts(all_of(3), all_of(4)) == ("*",)


def test_children_are_put_in_falling_order_of_rows():
    hierarchy = hierarchy_of("zip", ZIPS).with_missing()
    ordered = hierarchy.by_frequency(all_of(1, 2, 5, 9, 100))
    assert ordered.labels[0] == ("60601", "53703", "53712", "53710", None)
    assert paths_of(ordered) == paths_of(hierarchy)


@pytest.mark.parametrize(
    ("paths", "line", "told"),
    [
        ([], None, "no value"),
        ([("a", "*"), ("b", "x", "*")], 2, "3 levels, but the first path has 2"),
        ([("a", "x", "*"), ("b", "", "*")], 2, "empty"),
        ([("a", "*"), ("a", "*")], 2, "twice"),
        ([("a", "x", "p"), ("b", "x", "q")], 2, "levels must nest"),
        ([("a", "x"), ("b", "y")], None, "add a level of '*'"),
        ([()], 1, "empty"),
    ],
)
def test_what_is_no_hierarchy_is_refused_with_its_line(paths, line, told):
    with pytest.raises(HierarchyError, match="made") as refused:
        hierarchy_of("made", paths)
    (problem,) = refused.value.problems
    assert problem.line == line
    assert told in problem.sentence


def test_every_problem_is_told_at_once():
    with pytest.raises(HierarchyError) as refused:
        hierarchy_of("made", [("a", "*"), ("a", "*"), ("b", "")])
    assert [problem.line for problem in refused.value.problems] == [2, 3]
