"""Columns become codes; ranges of codes say what they lost."""

import numpy as np
import pytest

from upstream.anonymization.columns.classes import (
    class_codes,
    classes_of,
    row_counts,
    runs_of,
)
from upstream.anonymization.columns.columns import (
    category_column,
    hierarchy_column,
    number_column,
    ordered_column,
)
from upstream.anonymization.errors import HierarchyError
from upstream.anonymization.hierarchies.hierarchy import hierarchy_of

SEXES = hierarchy_of("sex", [("M", "*"), ("F", "*")])


def all_of(*numbers):
    return np.array(numbers)


def test_numbers_are_published_as_ranges():
    column = number_column("age", [28, 25.5, None, 25, 28])
    assert column.codes.tolist() == [2, 1, 3, 0, 2]
    ends = all_of(0, 0, 1, 3, 1), all_of(0, 2, 2, 3, 3)
    texts = ("25", "[25-28]", "[25.5-28]", None, "*")
    assert column.domain.texts(*ends) == texts
    losses = column.domain.losses(*ends).tolist()
    assert losses == pytest.approx([0, 1, 2.5 / 3, 0, 1])
    assert column.domain.penalties(*ends).tolist() == losses
    lower, upper = column.domain.bounds(*ends)
    assert lower.tolist()[:3] == [25, 25, 25.5]
    assert upper.tolist()[:3] == [25, 28, 28]
    assert np.isnan(lower[3])
    assert (lower[4], upper[4]) == (-np.inf, np.inf)
    assert column.domain.is_divisible
    assert column.domain.is_cut(*ends, *ends).all()


def test_a_column_of_missing_values_alone_loses_nothing():
    column = number_column("age", [None, None])
    ends = column.codes[:1], column.codes[:1]
    assert column.domain.texts(*ends) == (None,)
    assert column.domain.losses(*ends).tolist() == [0]


def test_numbers_that_are_none_are_refused():
    with pytest.raises(ValueError, match="not finite"):
        number_column("age", [1, float("nan")])


def test_categories_with_an_order_are_published_as_ranges():
    column = ordered_column("pain", ["mild", "severe"], ["none", "mild", "severe"])
    assert column.codes.tolist() == [1, 2]
    assert column.domain.texts(all_of(0), all_of(1)) == ("[none-mild]",)
    assert column.domain.losses(all_of(0), all_of(1)).tolist() == [0.5]


def test_categories_without_an_order_are_published_as_lists():
    column = category_column("race", ["B", "A", "B", "C", None, "C", "B"])
    assert column.codes.tolist() == [0, 2, 0, 1, 3, 1, 0]
    ends = all_of(0, 1, 3, 0), all_of(1, 1, 3, 3)
    assert column.domain.texts(*ends) == ("{B, C}", "C", None, "*")


def test_values_without_a_path_are_counted_and_not_quoted():
    with pytest.raises(HierarchyError, match=r"2 values .*in row 2\)") as told:
        hierarchy_column("sex", ["M", "secret", "secret"], SEXES)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("by_frequency", [True, False])
def test_values_keep_their_leaf_in_whatever_order(by_frequency):
    values = ["F", "M", None, "F"]
    column = hierarchy_column("sex", values, SEXES, by_frequency=by_frequency)
    labels = column.domain.labels[0]
    assert [labels[code] for code in column.codes] == values


def test_rows_are_classes_where_all_columns_agree():
    left, right = all_of(1, 0, 1, 1), all_of(2, 2, 2, 0)
    codes, count = class_codes([left, right], [2, 3])
    assert (codes.tolist(), count) == ([2, 0, 2, 1], 3)


def test_more_combinations_than_a_number_holds_are_told_apart():
    columns = [all_of(0, 1, 0, 1)] * 9 + [all_of(0, 1, 1, 1)]
    codes, count = class_codes(columns, [10**9] * 10)
    assert (codes.tolist(), count) == ([0, 2, 1, 2], 3)


@pytest.mark.parametrize("size", [4, 10**12])
def test_runs_are_counted_or_sorted_alike(size):
    keys, counts = runs_of(all_of(3, 0, 3, 1), size)
    assert (keys.tolist(), counts.tolist()) == ([0, 1, 3], [1, 1, 2])


def test_entries_count_as_the_rows_that_they_stand_for():
    assert row_counts(all_of(0, 1, 1), all_of(5, 2, 3), 3).tolist() == [5, 5, 0]
    assert classes_of(all_of(0, 1, 1)).sizes().tolist() == [1, 2]
