"""Counts from anonymized trajectories: figure 3c's example, and every combination."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from tests.effort import rounds
from tests.unit.upstream.trajectories.lda.random_cohorts import cohorts
from tests.unit.upstream.trajectories.lda.thesis import figure_3a
from upstream.trajectories.lda.clustering import clusters_of
from upstream.trajectories.lda.queries import (
    average_relative_error,
    expected_answers,
    frequent_queries,
    true_answers,
)


def query(losses, *pairs):
    return frozenset(losses.placed(pairs))


def test_one_patient_is_counted_at_39_before_and_after():
    cohort = figure_3a()
    asked = [query(cohort.losses, ("401.1", "39"))]
    true = true_answers(cohort.trajectories, asked)
    expected = expected_answers(cohort, clusters_of(cohort, 2), asked)
    assert (true, expected) == ([1], [1])
    assert average_relative_error(true, expected) == 0


def test_one_published_pair_is_not_two_of_a_query():
    """[39-40] of the fifth and the sixth is 39 or 40, so never both."""
    cohort = figure_3a()
    asked = [query(cohort.losses, ("401.1", "39"), ("401.1", "40"))]
    clusters = clusters_of(cohort, 2)
    assert expected_answers(cohort, clusters, asked) == pytest.approx([0])


def test_frequent_combinations_are_asked():
    cohort = figure_3a()
    asked = frequent_queries(cohort.trajectories, 2 / 6, 2)
    singles = [each for each in asked if len(each) == 1]
    true = true_answers(cohort.trajectories, asked)
    assert len(singles) == 5
    assert (true >= 2).all()
    assert query(cohort.losses, ("401.1", "33"), ("401.1", "35")) in asked
    assert frequent_queries(cohort.trajectories, 1.0, 2) == []


def test_a_query_that_nobody_answers_has_no_relative_error():
    with pytest.raises(ValueError, match="answer"):
        average_relative_error(np.array([0.0]), np.array([1.0]))
    with pytest.raises(ValueError, match="answer"):
        average_relative_error(np.array([]), np.array([]))


def counted(cohort, clusters, asked):
    """Return the expected count, going through all that trajectories may be."""
    losses, total = cohort.losses, 0.0
    wanted = {*losses.named(sorted(asked))}
    for cluster in clusters:
        options = [
            list(
                product(
                    losses.code.tree.leaf_names(losses.code.tree.node(code)),
                    losses.age.tree.leaf_names(losses.age.tree.node(age)),
                )
            )
            for code, age in losses.named(cluster.trajectory)
        ]
        worlds = [wanted <= set(world) for world in product(*options)]
        total += len(cluster.members) * sum(worlds) / len(worlds)
    return total


@settings(max_examples=rounds(200, gate=15), deadline=None)
@given(cohorts(least=3, most=5))
def test_expected_counts_are_those_of_all_possible_worlds(cohort):
    clusters = clusters_of(cohort, 2)
    short = [each for each in clusters if len(each.trajectory) <= 2]
    asked = frequent_queries(cohort.trajectories, 0.01, 2)[:6]
    for one, expected in zip(
        asked, expected_answers(cohort, short, asked), strict=True
    ):
        assert counted(cohort, short, one) == pytest.approx(expected)


def test_whoever_is_asked_nothing_is_everybody():
    cohort = figure_3a()
    asked = [frozenset()]
    assert true_answers(cohort.trajectories, asked) == [6]
    assert expected_answers(cohort, clusters_of(cohort, 2), asked) == [6]
