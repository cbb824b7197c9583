"""Distances to many trajectories at once are those of single alignments."""

import random

import numpy as np
import pytest
from hypothesis import given, settings

from tests.effort import rounds
from tests.unit.upstream.trajectories.lda.random_cohorts import CODES, cohorts
from tests.unit.upstream.trajectories.lda.thesis import AGES
from upstream.trajectories.lda import distances
from upstream.trajectories.lda.alignment import align, align_by_index
from upstream.trajectories.lda.distances import Pool
from upstream.trajectories.lda.trajectories import cohort_of

WAYS = {"a-gs": align, "baseline": align_by_index}


def single(x, others, losses, aligner):
    found = [WAYS[aligner](x, y, losses) for y in others]
    return [each.code_loss + each.age_loss for each in found]


@settings(max_examples=rounds(1000, gate=60), deadline=None)
@given(cohorts())
def test_many_distances_are_those_of_single_alignments(cohort):
    own = list(dict.fromkeys(cohort.trajectories))
    x = align(own[0], own[-1], cohort.losses).trajectory
    for aligner in WAYS:
        pool = Pool(own, cohort.losses, aligner)
        expected = single(x, own, cohort.losses, aligner)
        assert pool.distances(x) == pytest.approx(expected, abs=1e-4)
        near = pool.nearest(x)
        assert expected[near] == pytest.approx(min(expected), abs=1e-4)


@settings(max_examples=rounds(1000, gate=60), deadline=None)
@given(cohorts())
def test_what_x_loses_counts_for_each_record_that_it_stands_for(cohort):
    own = list(dict.fromkeys(cohort.trajectories))
    found = [align(own[0], y, cohort.losses, members=3) for y in own]
    expected = [each.code_loss + each.age_loss for each in found]
    pool = Pool(own, cohort.losses, "a-gs")
    assert pool.distances(own[0], 3) == pytest.approx(expected, abs=1e-4)
    assert expected[pool.nearest(own[0], 3)] == pytest.approx(min(expected), abs=1e-4)


def many(number):
    draw = random.Random(3)
    records = [
        [
            (draw.choice(["a1", "a2", "b1", "b2", "b3"]), draw.randint(33, 40))
            for _ in range(draw.randint(0, 6))
        ]
        for _ in range(number)
    ]
    cohort = cohort_of(records, CODES, AGES)
    return list(dict.fromkeys(cohort.trajectories)), cohort.losses


def test_the_nearest_of_many_is_the_least_of_all_though_most_are_passed_over():
    own, losses = many(1500)
    pool = Pool(own, losses, "a-gs")
    for x in own[:40]:
        pool.remove(own.index(x))
        lost = pool.distances(x)
        assert lost[pool.nearest(x)] == pytest.approx(lost.min(), abs=1e-5)


def test_what_is_removed_is_infinitely_far():
    own, losses = many(30)
    pool = Pool(own, losses, "a-gs")
    for number in range(len(own) - 1):
        pool.remove(number)
    assert np.isinf(pool.distances(own[0])[:-1]).all()
    assert pool.nearest(own[0]) == len(own) - 1
    pool.remove(len(own) - 1)
    with pytest.raises(ValueError, match="left"):
        pool.nearest(own[0])


def test_parts_and_few_kept_rows_change_nothing(monkeypatch):
    own, losses = many(200)
    expected = Pool(own, losses, "a-gs").distances(own[0])
    monkeypatch.setattr(distances, "_COLUMNS", 7)
    monkeypatch.setattr(distances, "_FEW_COLUMNS", 0)
    monkeypatch.setattr(distances, "_KEPT_ROWS", 1)
    found = Pool(own, losses, "a-gs").distances(own[0])
    assert found == pytest.approx(expected)
