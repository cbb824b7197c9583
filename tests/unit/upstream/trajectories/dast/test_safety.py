"""Definitions 3 and 4, and the average risk, on the five notes."""

import pytest
from hypothesis import given, settings

from tests.effort import rounds
from tests.unit.upstream.trajectories.dast.checker import clustered, is_safe
from tests.unit.upstream.trajectories.dast.five_notes import (
    CLUSTERS,
    HOSPITAL,
    MONTH,
    RECORDS,
    drilled,
)
from upstream.trajectories.dast import safety
from upstream.trajectories.dast.enumeration import enumerate_values, exact_rows
from upstream.trajectories.dast.groupings import range_rows
from upstream.trajectories.dast.safety import (
    ProfileCodes,
    average_risk,
    is_cluster_safe,
    is_dataset_safe,
    least_profile_count,
    unique_share,
)

FIGURE_3 = enumerate_values(RECORDS, CLUSTERS)
FIGURE_9 = drilled({HOSPITAL}, FIGURE_3)
FIGURE_10 = drilled({HOSPITAL, MONTH}, FIGURE_3)


def test_figure_3_is_2_safe_and_its_first_group_3_safe():
    assert is_cluster_safe(FIGURE_3, CLUSTERS, 2)
    assert is_cluster_safe(FIGURE_3, CLUSTERS[:1], 3)
    assert not is_cluster_safe(FIGURE_3, CLUSTERS, 3)
    assert is_dataset_safe(FIGURE_3, 2)


def test_figures_9_and_10_are_not_2_safe_on_five_notes():
    rows = (FIGURE_3, FIGURE_9, FIGURE_10)
    assert [least_profile_count(each) for each in rows] == [2, 1, 1]
    assert not is_dataset_safe(FIGURE_9, 2)
    assert not is_cluster_safe(FIGURE_9, CLUSTERS, 2)


def test_the_average_risk_is_1_as_they_are_and_two_fifths_in_figures_3_and_4():
    assert average_risk(RECORDS, exact_rows(RECORDS)) == 1
    assert average_risk(RECORDS, FIGURE_3) == pytest.approx(0.4)
    months = [f"2009-{month:02}" for month in range(1, 13)]
    north, south = ("Tufts", "Mass General", "Johns Hopkins"), ("Emory", "UT")
    moved = [(*r[:1], r[1].removesuffix(" Southwestern"), *r[2:]) for r in RECORDS]
    ages = [str(age) for age in range(100)]
    domains = (months, [*north, *south], ages)
    figure_4 = range_rows(moved, [(0, 1, 4), (2, 3)], domains)
    assert figure_4[0][0] == set(months[2:7])
    assert figure_4[2][2] == set(ages[5:18])
    assert average_risk(moved, figure_4) == pytest.approx(0.4)


def test_the_share_of_unique_records_is_told():
    assert unique_share(RECORDS, exact_rows(RECORDS)) == 1
    assert unique_share(RECORDS, FIGURE_3) == 0


def test_no_record_has_no_risk():
    assert is_dataset_safe([], 3)
    with pytest.raises(ValueError, match="no record"):
        average_risk([], [])


def test_a_record_that_its_row_does_not_hold_is_counted_as_unique():
    codes = ProfileCodes([(frozenset("ab"),)])
    assert codes.of_record(("z",)) == -1
    assert average_risk([("z",)], [(frozenset("ab"),)]) == 1


def test_lists_that_are_too_long_to_count_are_refused(monkeypatch):
    monkeypatch.setattr(safety, "MOST_PROFILES", 17)
    with pytest.raises(ValueError, match="too long"):
        least_profile_count(FIGURE_3)


def test_attributes_of_too_many_values_are_refused():
    values = frozenset(map(str, range(2000)))
    with pytest.raises(ValueError, match="too many"):
        ProfileCodes([(values,) * 6])


@settings(max_examples=rounds(2000, gate=60), deadline=None)
@given(clustered())
def test_safety_is_that_of_plain_definitions(drawn):
    records, clusters, k = drawn
    rows = enumerate_values(records, clusters)
    mixed = [
        row if at % 2 else exact
        for at, (row, exact) in enumerate(zip(rows, exact_rows(records), strict=True))
    ]
    assert is_dataset_safe(rows, k)
    for least in range(1, 5):
        assert is_dataset_safe(mixed, least) == is_safe(mixed, least)
