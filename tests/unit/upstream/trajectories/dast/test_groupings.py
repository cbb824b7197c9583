"""Safe Harbor and k-anonymity, as rows of what a value may be."""

import pytest
from hypothesis import given, settings

from tests.effort import rounds
from tests.unit.upstream.trajectories.dast.checker import clustered, is_safe
from tests.unit.upstream.trajectories.dast.five_notes import AGE, MONTH, RECORDS
from upstream.trajectories.dast.groupings import (
    median_groups,
    range_rows,
    widened_rows,
)


def test_safe_harbor_keeps_years_and_ages():
    how = [lambda month: month[:4], lambda _: "", lambda age: age]
    rows = widened_rows(RECORDS, how)
    assert rows[0][MONTH] == {"2009-03", "2009-04", "2009-07", "2009-08"}
    assert len(rows[0][1]) == 5
    assert rows[0][AGE] == {"88"}


def test_groups_are_cut_at_medians_and_published_as_ranges():
    records = [(value,) for value in "abcdef"]
    groups = median_groups(records, 2, ["abcdef"])
    assert groups == [[0, 1, 2], [3, 4, 5]]
    assert range_rows(records, groups, ["abcdef"])[0] == ({"a", "b", "c"},)


def test_equal_records_are_one_group():
    assert median_groups([("a",)] * 4, 2, ["a"]) == [[0, 1, 2, 3]]


def test_too_few_records_are_refused():
    with pytest.raises(ValueError, match="records"):
        median_groups([("a",)], 2, ["a"])


@settings(max_examples=rounds(1000, gate=40), deadline=None)
@given(clustered())
def test_ranges_of_groups_are_held_by_k_records(drawn):
    records, _, k = drawn
    domains = ["abcde"] * len(records[0])
    groups = median_groups(records, k, domains)
    assert sorted(at for group in groups for at in group) == list(range(len(records)))
    assert min(map(len, groups)) >= k
    assert is_safe(range_rows(records, groups, domains), k)
