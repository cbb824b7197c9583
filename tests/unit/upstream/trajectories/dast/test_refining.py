"""Clusters and records are drilled one by one where that is safe."""

from tests.unit.upstream.trajectories.dast.checker import is_safe
from upstream.trajectories.dast import refining
from upstream.trajectories.dast.enumeration import enumerate_values
from upstream.trajectories.dast.refining import Refining

RECORDS = [("a",), ("b",), ("b",), ("b",), ("b",), ("b",), ("b",)]
CLUSTERS = [(0, 1, 2), (3, 4, 5, 6)]
LISTS = enumerate_values(RECORDS, CLUSTERS)


def test_a_record_is_drilled_if_what_it_loses_is_held_by_k_others():
    found = Refining(RECORDS, LISTS, 2)
    found.refine(CLUSTERS, 0)
    assert [row[0] for row in found.rows[:3]] == [{"a"}, {"b"}, {"a", "b"}]
    assert is_safe(found.rows, 2)


def test_a_cluster_is_drilled_together_where_no_record_could_be_alone():
    """Each of a, b, c would take a profile from two who still hold it."""
    records = [("a",), ("b",), ("c",)] * 3
    clusters = [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
    rows = enumerate_values(records, clusters)
    exact = [(frozenset(record),) for record in records]
    mixed = [*rows[:3], *exact[3:], (frozenset("a"),), (frozenset("b"),)]
    records = [*records, ("a",), ("b",)]
    found = Refining([*records, ("c",)], [*mixed, (frozenset("c"),)], 4)
    found.refine([clusters[0]], 0)
    assert found.rows[:3] == exact[:3]


def test_rows_of_too_many_profiles_stay_lists(monkeypatch):
    monkeypatch.setattr(refining, "LONGEST", 0)
    found = Refining(RECORDS, LISTS, 2)
    found.refine(CLUSTERS, 0)
    assert found.rows == LISTS
