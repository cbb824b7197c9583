"""Figure 3 lists values; the printed profile size of its first group is wrong."""

import pytest

from tests.unit.upstream.trajectories.dast.five_notes import (
    AGE,
    CLUSTERS,
    HOSPITAL,
    MONTH,
    RECORDS,
    drilled,
)
from upstream.trajectories.dast.enumeration import (
    enumerate_values,
    exact_rows,
    profile_size,
    total_profile_size,
)

FIGURE_3 = enumerate_values(RECORDS, CLUSTERS)


def test_figure_3_is_listed():
    assert FIGURE_3[0] == (
        {"2009-03", "2009-04"},
        {"Emory", "Mass General", "Tufts"},
        {"5", "52", "88"},
    )
    assert FIGURE_3[4] == (
        {"2009-07", "2009-08"},
        {"Johns Hopkins", "UT Southwestern"},
        {"17", "64"},
    )


def test_the_first_group_has_18_profiles_where_12_are_printed():
    assert [profile_size(row) for row in FIGURE_3] == [18, 18, 18, 8, 8]


def test_the_objective_is_26_then_10_then_5():
    figure_9 = drilled({HOSPITAL}, FIGURE_3)
    figure_10 = drilled({HOSPITAL, MONTH}, FIGURE_3)
    assert [profile_size(row) for row in figure_9] == [6, 6, 6, 4, 4]
    assert [profile_size(row) for row in figure_10] == [3, 3, 3, 2, 2]
    found = [
        total_profile_size(rows, CLUSTERS) for rows in (FIGURE_3, figure_9, figure_10)
    ]
    assert found == [26, 10, 5]


def test_rows_as_they_are_have_one_profile():
    assert all(profile_size(row) == 1 for row in exact_rows(RECORDS))
    assert exact_rows(RECORDS)[0][AGE] == {"88"}


@pytest.mark.parametrize("clusters", [[(0, 1)], [(0, 1, 2), (2, 3, 4)]])
def test_a_record_in_no_cluster_or_in_two_is_refused(clusters):
    with pytest.raises(ValueError, match="one cluster"):
        enumerate_values(RECORDS, clusters)


def test_records_with_other_attributes_are_refused():
    with pytest.raises(ValueError, match="same"):
        enumerate_values([("a",), ("a", "b")], [(0, 1)])
