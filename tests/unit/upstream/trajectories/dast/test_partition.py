"""Notes are halved into clusters of a least size."""

import gzip
import json
import random
import re
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from tests.effort import rounds
from tests.unit.upstream.trajectories.dast.five_notes import TERMS
from upstream.trajectories.dast.partition import Halving, partition, purity
from upstream.trajectories.dast.terms import term_matrix

SEEDS = st.integers(0, 1_000_000)


def test_the_five_notes_are_the_clusters_of_figure_3():
    assert partition(term_matrix(TERMS, 1), Halving(2)) == [(0, 1, 2), (3, 4)]


def test_a_half_that_is_too_small_takes_the_nearest_notes():
    notes = [["a", "b"]] * 5 + [["c", "d"]]
    matrix = term_matrix(notes, 1)
    assert len(partition(matrix, Halving(2, is_repaired=False))) == 1
    repaired = partition(matrix, Halving(2))
    assert len(repaired) >= 2
    assert min(map(len, repaired)) >= 2


def test_notes_without_terms_are_clustered_all_the_same():
    clusters = partition(csr_matrix((7, 3)), Halving(3))
    assert sorted(map(len, clusters)) == [3, 4]


@pytest.mark.parametrize("choices", [{"least": 0}, {"iterations": 0}])
def test_halvings_of_nothing_are_refused(choices):
    with pytest.raises(ValueError, match="at least"):
        Halving(**choices)


def test_fewer_notes_than_a_cluster_needs_are_refused():
    with pytest.raises(ValueError, match="fewer"):
        partition(csr_matrix((2, 1)), Halving(3))


def test_purity_is_the_part_with_the_most_frequent_label():
    assert purity([(0, 1, 2), (3,)], ["a", "a", "b", "b"]) == 0.75


@settings(max_examples=rounds(2000, gate=40), deadline=None)
@given(st.integers(1, 40), st.integers(1, 6), st.booleans(), SEEDS)
def test_each_note_is_in_one_cluster_of_the_least_size(count, least, repaired, seed):
    draw = random.Random(seed)
    values = [[max(0, draw.gauss(0, 1)) for _ in range(6)] for _ in range(count)]
    matrix = csr_matrix(np.array(values))
    if count < least:
        return
    clusters = partition(matrix, Halving(least, 5, is_repaired=repaired))
    assert sorted(at for each in clusters for at in each) == list(range(count))
    assert min(map(len, clusters)) >= least
    if repaired:
        assert max(map(len, clusters)) < 2 * least


@pytest.mark.long
@pytest.mark.slow
def test_reports_of_one_specialty_are_clustered_together(test_data):
    path = test_data / "mtsamples/mtsamples.jsonl.gz"
    if not path.exists():
        pytest.skip("no mtsamples data")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        reports = [json.loads(line) for line in file]
    words = [re.findall(r"[a-z]{3,}", each["text"].lower()) for each in reports]
    matrix = term_matrix(words, most=0.25)
    start = time.process_time()
    clusters = partition(matrix, Halving(3))
    assert time.process_time() - start < 20  # under 8 s where the machine is idle
    labels = [each["specialties"][0] for each in reports]
    assert purity(clusters, labels) >= 0.74
    assert min(map(len, clusters)) >= 3
