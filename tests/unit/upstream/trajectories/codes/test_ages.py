"""Ages generalise to intervals of 2, 4 and 8 years."""

import pytest

from upstream.trajectories.codes.ages import age_tree


def lca(tree, left, right):
    return tree.name(tree.lca(tree.node(left), tree.node(right)))


def test_figure_5_is_drawn():
    tree = age_tree(33, 40)
    assert tree.name(0) == "[33-40]"
    assert lca(tree, "33", "34") == "[33-34]"
    assert lca(tree, "[33-34]", "36") == "[33-36]"
    assert lca(tree, "36", "37") == "[33-40]"
    assert tree.levels == ("8 years", "4 years", "2 years", "1 year")


def test_the_tree_of_the_evaluation_has_eight_levels():
    tree = age_tree(1, 128, (2, 4, 8, 16, 32, 64, 128))
    assert tree.size == 128
    assert len(tree.names) == 255
    assert len(tree.levels) == 8


def test_several_widest_intervals_have_a_root_above_and_the_last_may_be_short():
    tree = age_tree(0, 10, (2, 4))
    assert tree.name(0) == "[0-10]"
    assert lca(tree, "8", "10") == "[8-10]"
    assert tree.leaf_names(tree.node("[10-10]")) == ("10",)


@pytest.mark.parametrize(
    ("ages", "widths"), [((5, 5), (2,)), ((0, 9), (2, 3)), ((0, 9), (1,))]
)
def test_ages_that_make_no_tree_are_refused(ages, widths):
    with pytest.raises(ValueError, match=r"ages|widths"):
        age_tree(*ages, widths)
