"""Trajectories are in order of age, and have names."""

import pytest

from tests.unit.upstream.trajectories.lda.thesis import AGES, CODES, figure_3a, text
from upstream.trajectories.lda.trajectories import Weights, cohort_of


def test_pairs_are_put_in_order_of_age_and_stay_as_they_came_within_one():
    cohort = cohort_of([[("401.1", 34), ("401.9", 33), ("401.1", 33)]], CODES, AGES)
    assert text(cohort.losses, cohort.trajectories[0]) == (
        "(401.9, 33) (401.1, 33) (401.1, 34)"
    )


def test_names_are_placed_again():
    cohort = figure_3a()
    for trajectory in cohort.trajectories:
        named = cohort.losses.named(trajectory)
        assert cohort.losses.placed(named) == trajectory


def test_two_pairs_merge_into_their_common_ancestors():
    losses = figure_3a().losses
    (left, right) = losses.placed([("401.1", "39"), ("401.9", "40")])
    assert losses.named([losses.merged(left, right)]) == (("401", "[39-40]"),)


@pytest.mark.parametrize("weights", [(-1, 2), (0, 0)])
def test_weights_that_weigh_nothing_are_refused(weights):
    with pytest.raises(ValueError, match="weights"):
        Weights(*weights)


def test_values_outside_the_trees_are_refused():
    with pytest.raises(KeyError):
        cohort_of([[("401.1", 99)]], CODES, AGES)
