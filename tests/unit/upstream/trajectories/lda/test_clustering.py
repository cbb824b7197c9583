"""Clusters have k records at least, and say of each what is published."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import rounds
from tests.unit.upstream.trajectories.lda.random_cohorts import cohorts
from tests.unit.upstream.trajectories.lda.thesis import AGES, CODES, figure_3a, text
from upstream.trajectories.lda.clustering import (
    Way,
    clusters_of,
    is_k_anonymous,
    published,
)
from upstream.trajectories.lda.trajectories import cohort_of


def test_figure_3a_becomes_figure_3c():
    cohort = figure_3a()
    found = published(cohort, clusters_of(cohort, 2))
    assert [text(cohort.losses, each) for each in found] == [
        "(401.1, 33) (401.1, 34) (401.1, 35)",
        "(401, 38) (401.1, 40)",
        "(401, 38) (401.1, 40)",
        "(401.1, 33) (401.1, 34) (401.1, 35)",
        "(401.1, [39-40]) (401.9, 40)",
        "(401.1, [39-40]) (401.9, 40)",
    ]


def test_what_k_records_share_loses_nothing():
    records = [[("401.1", 33)]] * 5 + [[("401.9", 40)], [("401.9", 39)]]
    cohort = cohort_of(records, CODES, AGES)
    clusters = clusters_of(cohort, 2)
    assert clusters[0].trajectory == cohort.trajectories[0]
    assert len(clusters[0].members) == 5
    assert len(clusters) == 2


def test_records_that_are_too_few_join_the_nearest_cluster():
    records = [[("401.1", 33)]] * 3 + [[("401.9", 40)]] * 3 + [[("401.9", 39)]]
    cohort = cohort_of(records, CODES, AGES)
    clusters = clusters_of(cohort, 3)
    assert sorted(len(each.members) for each in clusters) == [3, 4]
    found = published(cohort, clusters)
    assert text(cohort.losses, found[-1]) == "(401.9, [39-40])"


@pytest.mark.parametrize("k", [0, 7])
def test_a_k_that_no_cohort_can_reach_is_refused(k):
    with pytest.raises(ValueError, match="records"):
        clusters_of(figure_3a(), k)


def test_the_check_finds_what_is_not_k_anonymous():
    assert is_k_anonymous([[1], [1]], 2)
    assert not is_k_anonymous([[1], [1], [2]], 2)
    assert is_k_anonymous([], 2)


WAYS = [Way(), Way("a-gs", counts_members=False), Way("baseline")]


def names_above(tree, name):
    """Return a name and what generalises it, by a walk upwards."""
    node, found = tree.node(name), [name]
    while node:
        node = int(tree.parents[node])
        found.append(tree.name(node))
    return found


@pytest.mark.long
@settings(max_examples=rounds(10_000, gate=120), deadline=None)
@given(cohorts(least=4), st.integers(1, 4), st.sampled_from(WAYS))
def test_every_record_is_published_as_k_are_and_truthfully(cohort, k, way):
    clusters = clusters_of(cohort, k, way)
    losses = cohort.losses
    counts = Counter(losses.named(each) for each in published(cohort, clusters))
    assert min(counts.values()) >= k
    records = sorted(m.record for each in clusters for m in each.members)
    assert records == list(range(len(cohort.trajectories)))
    for cluster in clusters:
        assert len(cluster.members) >= k
        for member in cluster.members:
            assert list(member.kept) == sorted(set(member.kept))
            own = losses.named(cohort.trajectories[member.record])
            after = losses.named(cluster.trajectory)
            for at, (code, age) in zip(member.kept, after, strict=True):
                assert code in names_above(losses.code.tree, own[at][0])
                assert age in names_above(losses.age.tree, own[at][1])
