"""ICD-9-CM has the five levels of the thesis."""

import pytest

from upstream.trajectories.codes.icd9cm import LEVELS, icd9cm_tree


def lineage(tree, name):
    return [tree.name(int(node)) for node in tree.lineages[tree.node(name)]]


def test_a_code_has_a_category_a_block_and_a_chapter_above():
    tree = icd9cm_tree(["401.1"])
    assert lineage(tree, "401.1") == ["Any", "VII", "401-405", "401", "401.1"]
    assert [tree.level(tree.node(name)) for name in lineage(tree, "401.1")] == list(
        LEVELS
    )


def test_a_block_of_one_category_is_named_as_a_range():
    tree = icd9cm_tree(["338"])
    assert lineage(tree, "338")[:4] == ["Any", "VI", "338-338", "338"]


def test_siblings_meet_in_their_category_which_costs_almost_nothing():
    tree = icd9cm_tree(["401.1", "401.9"])
    met = tree.lca(tree.node("401.1"), tree.node("401.9"))
    assert tree.name(met) == "401"
    assert tree.leaves[met] / tree.size < 0.002


def test_a_tree_of_the_data_alone_has_its_codes_as_leaves():
    tree = icd9cm_tree(["250", "272", "401", "724"], is_whole=False)
    assert tree.leaf_names(0) == ("250", "272", "401", "724")
    assert tree.name(tree.lca(tree.node("250"), tree.node("272"))) == "III"
    assert tree.lca(tree.node("250"), tree.node("724")) == 0


def test_what_is_no_code_is_refused_without_being_quoted():
    with pytest.raises(ValueError, match="no code") as raised:
        icd9cm_tree(["Smith"])
    assert "Smith" not in str(raised.value)


def test_an_empty_selection_is_a_tree_of_one_code():
    assert icd9cm_tree([], is_whole=False).size == 1
