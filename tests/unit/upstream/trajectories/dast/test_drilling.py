"""Drill-down ends k-safe, which the printed algorithm may not."""

import pytest
from hypothesis import given, settings

from tests.effort import rounds
from tests.unit.upstream.trajectories.dast.checker import clustered, is_safe
from tests.unit.upstream.trajectories.dast.five_notes import CLUSTERS, RECORDS
from upstream.trajectories.dast import drilling
from upstream.trajectories.dast.drilling import drill_down, drilling_order
from upstream.trajectories.dast.enumeration import enumerate_values, exact_rows

UNSAFE = [("5",), ("52",), ("88",), ("88",), ("88",), ("88",)]
TWO = [(0, 1, 2), (3, 4, 5)]


def printed(records, clusters, k):
    """Drill one attribute and roll back once, as figure 11 has it."""
    lists, singles = enumerate_values(records, clusters), exact_rows(records)
    return [
        own if singles.count(single) < k else single
        for own, single in zip(lists, singles, strict=True)
    ]


def test_the_printed_algorithm_ends_unsafe():
    rows = printed(UNSAFE, TWO, 3)
    assert rows[2] == ({"88"},)
    assert not is_safe(rows, 3)


def test_a_fixed_point_rolls_back_whom_others_rely_on():
    rows = drill_down(UNSAFE, TWO, 3)
    assert rows == [({"5", "52", "88"},)] * 3 + [({"88"},)] * 3
    assert is_safe(rows, 3)


def test_a_cluster_of_k_alone_stays_listed():
    three = RECORDS[:3]
    assert drill_down(three, [(0, 1, 2)], 3) == enumerate_values(three, [(0, 1, 2)])


def test_of_the_five_notes_two_months_are_shown_if_two_are_enough():
    """The third note still lists both months, so each is of two notes."""
    rows = drill_down(RECORDS, CLUSTERS, 2)
    lists = enumerate_values(RECORDS, CLUSTERS)
    assert rows[0] == ({"2009-04"}, *lists[0][1:])
    assert rows[1] == ({"2009-03"}, *lists[1][1:])
    assert rows[2:] == lists[2:]
    assert is_safe(rows, 2)


def test_figures_9_and_10_are_reached_where_others_have_the_same_profiles():
    """Hospitals first, then months: the order of the figures, not of figure 11."""
    records = RECORDS * 3
    clusters = [
        *((at, at + 1, at + 2) for at in (0, 5, 10)),
        *((at, at + 1) for at in (3, 8, 13)),
    ]
    rows = drill_down(records, clusters, 2, order=[1])
    assert rows[0][1] == {"Tufts"}
    assert rows[0][0] == {"2009-03", "2009-04"}
    assert drill_down(records, clusters, 2) == exact_rows(records)
    threes = [*clusters[:3], (3, 4, 8), (9, 13, 14)]
    assert drill_down(records, threes, 3) == exact_rows(records)


def test_fewest_distinct_values_are_drilled_first():
    assert drilling_order(RECORDS) == [0, 1, 2]  # months are four, the others five
    assert drilling_order([("a", "x"), ("b", "x")]) == [1, 0]


def test_clusters_that_are_too_small_are_refused():
    with pytest.raises(ValueError, match="fewer than k"):
        drill_down(RECORDS, CLUSTERS, 3)


def test_no_records_are_no_rows():
    assert drill_down([], [], 3) == []


def test_an_end_that_is_not_safe_is_never_handed_out(monkeypatch):
    monkeypatch.setattr(drilling, "is_dataset_safe", lambda *_: False)
    with pytest.raises(RuntimeError, match="not k-safe"):
        drill_down(UNSAFE, TWO, 3)


@pytest.mark.long
@settings(max_examples=rounds(10_000, gate=150), deadline=None)
@given(clustered())
def test_every_drill_down_is_safe_and_truthful_and_ends(drawn):
    records, clusters, k = drawn
    rows, lists = drill_down(records, clusters, k), enumerate_values(records, clusters)
    assert is_safe(rows, k)
    for record, row, before in zip(records, rows, lists, strict=True):
        for value, values, listed in zip(record, row, before, strict=True):
            assert values in (listed, {value})
    assert drill_down(records, clusters, k) == rows


@settings(max_examples=rounds(2000, gate=40), deadline=None)
@given(clustered())
def test_nobody_who_stays_a_list_could_be_drilled_alone(drawn):
    records, clusters, k = drawn
    rows = drill_down(records, clusters, k)
    for at, row in enumerate(rows):
        for attribute, values in enumerate(row):
            own = frozenset((records[at][attribute],))
            further = (*row[:attribute], own, *row[attribute + 1 :])
            assert values == own or not is_safe(
                [*rows[:at], further, *rows[at + 1 :]], k
            )
