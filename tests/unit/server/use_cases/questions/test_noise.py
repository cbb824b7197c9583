from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.scales.half_widths import half_width
from mechanisms.scales.pricing import price
from privacy.losses import Loss
from privacy.schema import ColumnType
from query_lang.plans.compiled import (
    AverageShown,
    Bins,
    ComputedShown,
    NumberShown,
    Operation,
    QuantileShown,
)
from server.use_cases.questions.noise import _point_moved, noise_of
from tests.support.data.answers import WIDE, column, compiled, key, measure, number


def noise(columns, measures, epsilon="1"):
    event = price(
        [m.sensitivity for m in measures],
        [m.weight for m in measures],
        Loss.parse(epsilon),
    )
    return noise_of(compiled(columns, measures, (("a",),)), event)


def test_each_measured_column_has_one_entry_and_keys_have_none():
    assert noise([key(0), number(0)], [measure()], "0.1") == [
        {
            "column": "n",
            "mechanism": "discrete_laplace",
            "scale": "10.000000000000002",
            "l1_sensitivity": "1",
            "half_width_95": "30",
        }
    ]


def test_two_columns_of_one_vector_have_equal_noise():
    first, second = noise([number(0, "a"), number(0, "b")], [measure()])
    assert first == {**second, "column": "a"}


def test_an_average_has_a_sum_and_a_count_each_in_its_own_unit():
    sums, counts = noise(
        [column(AverageShown(0, 1, *WIDE), "mean")],
        [measure(scale=2, l1=12_050), measure()],
    )
    assert (sums["column"], sums["part"]) == ("mean", "sum")
    assert (counts["column"], counts["part"]) == ("mean", "count")
    assert (sums["l1_sensitivity"], counts["l1_sensitivity"]) == ("120.50", "1")
    assert sums["scale"] == "241.000"  # 24100.0, its point moved
    assert counts["scale"] == "2.0"


def test_a_sum_of_decimals_speaks_in_the_columns_unit():
    (entry,) = noise(
        [number(0, kind=ColumnType.DECIMAL, scale=1)], [measure(scale=1, l1=7)], "0.1"
    )
    assert entry["l1_sensitivity"] == "0.7"
    steps = half_width(float(Decimal(entry["scale"]) * 10), Fraction(95, 100))
    assert steps == 210
    assert entry["half_width_95"] == "21.0"


def test_the_noise_of_a_quantile_is_that_of_one_bin():
    bins = Bins(0, 100, 4, one_per_value=False, scale=2)
    shown = QuantileShown(0, Fraction(1, 2), bins)
    (entry,) = noise([column(shown)], [measure(size=4, l1=3)])
    assert (entry["per"], "part" in entry) == ("bin", False)
    assert (entry["scale"], entry["l1_sensitivity"]) == ("3.0", "3")


@pytest.mark.parametrize(
    ("scale", "decimals", "text"),
    [
        (10.000000000000002, 0, "10.000000000000002"),
        (10.000000000000002, 2, "0.10000000000000002"),
        (25.0, 1, "2.50"),
        (0.3, 3, "0.0003"),
        (1e-05, 0, "1e-05"),
        (1e-05, 2, "0.0000001"),
        (2.0**40, 4, "109951162.77760"),
    ],
)
def test_the_point_of_a_scale_moves_and_no_digit_changes(scale, decimals, text):
    assert _point_moved(scale, decimals) == text


@given(
    scale=st.floats(2.0**-30, 2.0**40, exclude_min=True), decimals=st.integers(1, 18)
)
def test_a_moved_scale_moves_back_to_the_same_float(scale, decimals):
    text = _point_moved(scale, decimals)
    assert set(text) <= set("0123456789.")
    assert float(Decimal(text).scaleb(decimals)) == scale


def test_what_is_computed_has_an_entry_for_each_vector_that_it_reads():
    total = NumberShown(0)
    whole = ComputedShown(Operation.ADD, (total, NumberShown(1)), 0)
    share = ComputedShown(Operation.DIVIDE, (total, whole), 6)
    found = noise([column(share, "share")], [measure(), measure()])
    assert [(e["column"], e["part"]) for e in found] == [("share", "count")] * 2
