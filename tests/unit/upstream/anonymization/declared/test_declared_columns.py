"""Declared quasi-identifiers: columns of texts become codes, or are refused."""

from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from upstream.anonymization.declared.columns import QuasiIdentifier
from upstream.anonymization.declared.values import column_of, generalized_column
from upstream.anonymization.errors import HierarchyError

SPEC = TypeAdapter(QuasiIdentifier)


def column(values, *, method=column_of, located=Path, **told):
    """Return a column of values."""
    return method("x", SPEC.validate_python(told), values, located)


def levels(values, **told):
    """Return what the first value becomes, level by level."""
    made = column(values, method=generalized_column, **told)
    leaf = np.array([made.codes[0]])
    height = made.domain.height + 1
    return [made.domain.texts_at(np.array([at]), leaf)[0] for at in range(height)]


def test_numbers_are_ranges_of_their_class():
    made = column(["25", "31.5", None, " 28 "], kind="number")
    ends = np.array([0]), np.array([2])
    assert made.domain.texts(*ends) == ("[25-31.5]",)
    assert made.codes.tolist() == [0, 2, 3, 1]


def test_numbers_of_widths_are_intervals():
    assert levels(["28", "31.0"], kind="number", widths=[5, 10]) == [
        "28",
        "25-29",
        "20-29",
        "*",
    ]


def test_days_become_months_quarters_years_and_decades():
    told = {"kind": "date", "levels": ["month", "quarter", "year", "decade"]}
    assert levels(["2024-08-03 10:30", "1999-01-31"], **told) == [
        *("2024-08-03", "2024-08", "2024-Q3", "2024", "2020-2029", "*")
    ]
    assert levels(["3.8.2024"], kind="date", format="%d.%m.%Y")[:2] == [
        *("2024-08-03", "2024-08")
    ]


def test_postcodes_lose_their_last_characters():
    assert levels(["30322", "303"], kind="prefix", lengths=[3, 1]) == [
        *("30322", "303*", "3*", "*")
    ]


def test_diagnoses_go_up_their_system():
    assert levels(["E11.9", "I10"], kind="codes", system="icd10")[1] == "E11"


def test_a_hierarchys_file_is_read_where_it_lies(tmp_path):
    (tmp_path / "towns.csv").write_text("Gent;Flanders;*\nMons;Wallonia;*\n")
    made = column(
        ["Mons", "Gent"],
        kind="hierarchy",
        file="towns.csv",
        located=lambda name: tmp_path / name,
    )
    assert set(made.domain.labels[1]) == {"Flanders", "Wallonia"}


def test_categories_are_lists_or_ranges_of_their_order():
    ends = np.array([0]), np.array([1])
    assert column(["a", "b", "a"], kind="category").domain.texts(*ends) == ("{a, b}",)
    order = column(["high", "low"], kind="category", order=["low", "mid", "high"])
    assert order.domain.texts(np.array([0]), np.array([2])) == ("[low-high]",)


@pytest.mark.parametrize("kind", ["number", "date", "category"])
def test_a_column_without_any_value_is_one_class(kind):
    told = {"widths": [5]} if kind == "number" else {}
    assert levels([None, None], kind=kind, **told)[0] is None
    assert len(set(column([None, None], kind=kind).codes.tolist())) == 1


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"kind": "number"}, "2 values are no number"),
        ({"kind": "date"}, "no day as 2026-11-05"),
        ({"kind": "category", "order": ["1"]}, "without a path or a place"),
    ],
)
def test_values_of_another_kind_are_counted_and_not_quoted(told, said):
    with pytest.raises(HierarchyError, match=said) as refused:
        column(
            ["1", "secret", "hidden", "1_0" if "date" in told["kind"] else "1"], **told
        )
    assert "secret" not in str(refused.value)
    assert "row 2" in str(refused.value) or told["kind"] == "date"


@pytest.mark.parametrize("text", ["nan", "inf", "1_000", "", "1e15"])
def test_what_python_takes_for_a_number_may_be_none(text):
    with pytest.raises(HierarchyError, match="1 value is no number"):
        column([text], kind="number")


@pytest.mark.parametrize(
    "told",
    [
        {"kind": "number", "widths": [5, 7]},
        {"kind": "number", "widths": [5, 5]},
        {"kind": "date", "levels": ["year", "month"]},
        {"kind": "date", "format": "%y-%m-%d"},
        {"kind": "prefix", "lengths": [1, 3]},
        {"kind": "category", "order": ["a", "a"]},
        {"kind": "codes", "system": "icd11"},
        {"kind": "colour"},
    ],
)
def test_what_means_nothing_is_refused(told):
    with pytest.raises(ValidationError):
        SPEC.validate_python(told)
