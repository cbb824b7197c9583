"""Trees of codes: ancestors, leaves, levels, and what is no tree."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.trajectories.codes.tree import tree_of

FIGURE_6 = tree_of({"401": "Any", "401.0": "401", "401.1": "401", "401.9": "401"})


def test_the_root_is_the_name_that_is_no_child():
    assert FIGURE_6.name(0) == "Any"
    assert FIGURE_6.names == ("Any", "401", "401.0", "401.1", "401.9")


def test_leaves_are_counted_in_each_subtree():
    assert [int(count) for count in FIGURE_6.leaves] == [3, 3, 1, 1, 1]
    assert FIGURE_6.size == 3


def test_the_lowest_common_ancestor_of_siblings_is_their_parent():
    one, other = FIGURE_6.node("401.1"), FIGURE_6.node("401.9")
    assert FIGURE_6.name(FIGURE_6.lca(one, other)) == "401"
    assert FIGURE_6.lca(one, one) == one
    assert FIGURE_6.lca(one, FIGURE_6.node("401")) == FIGURE_6.node("401")


def test_leaves_of_a_node_are_named():
    assert FIGURE_6.leaf_names(1) == ("401.0", "401.1", "401.9")
    assert FIGURE_6.leaf_names(2) == ("401.0",)
    chain = tree_of({"b": "a", "c": "b"})
    assert chain.leaf_names(0) == ("c",)


def test_levels_are_named_or_numbered():
    assert FIGURE_6.level(2) == "2"
    assert tree_of({"b": "a"}, ("all", "one")).level(1) == "one"


@pytest.mark.parametrize(
    "parents", [{}, {"a": "b", "c": "d"}, {"a": "b", "b": "a"}, {"a": "r", "b": "b"}]
)
def test_what_is_no_tree_is_refused(parents):
    with pytest.raises(ValueError, match="root"):
        tree_of(parents)


def test_a_tree_deeper_than_its_named_levels_is_refused():
    with pytest.raises(ValueError, match="deeper"):
        tree_of({"b": "a", "c": "b"}, ("all", "one"))


def ancestors(parents, name):
    found = [name]
    while found[-1] in parents:
        found.append(parents[found[-1]])
    return found


@given(st.lists(st.integers(0, 30), max_size=12))
def test_ancestors_are_those_of_a_walk_upwards(draws):
    parents = {str(i + 1): str(draw % (i + 1)) for i, draw in enumerate(draws)}
    parents["last"] = "0"
    tree = tree_of(parents)
    for left, right in product(tree.names, repeat=2):
        one, other = ancestors(parents, left), ancestors(parents, right)
        expected = next(name for name in one if name in other)
        assert tree.name(tree.lca(tree.node(left), tree.node(right))) == expected
        assert tree.covers(tree.node(right), tree.node(left)) == (right in one)
    nodes = np.arange(len(tree.names))
    table = tree.lcas(nodes[:, None], nodes[None, :])
    assert (table == table.T).all()
    assert (np.diag(table) == nodes).all()
