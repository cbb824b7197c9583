"""Copies of tables: who counts, what is measured, and in which order rows stand."""

import csv
import io
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from tests.effort import rounds
from tests.unit.upstream.anonymization import checker
from upstream.anonymization.copies.choosing import choices
from upstream.anonymization.copies.given import Method, given_table, made_table
from upstream.anonymization.copies.measuring import measures_of, risks_as_is
from upstream.anonymization.copies.publishing import published_rows, write_rows
from upstream.anonymization.declared.columns import QuasiIdentifier
from upstream.anonymization.declared.principles import SensitiveSpec
from upstream.anonymization.errors import UnreachableError

SPECS = TypeAdapter(dict[str, QuasiIdentifier])
AGE = {"age": {"kind": "number", "widths": [10, 20]}}


def table(values, told, *, patients=None, sensitive=None, method=None):
    """Return a table in codes."""
    method = method or Method()
    told = SPECS.validate_python(told)
    asked = {
        name: SensitiveSpec.model_validate(one)
        for name, one in (sensitive or {}).items()
    }
    return given_table(values, (told, asked), patients, (method, None)), method


def test_k_counts_patients_and_not_their_rows():
    values = {"sex": ["F", "F", "F", "M", "M", "M"]}
    patients = ["p1", "p1", "p2", "p3", "p3", "p3"]
    given_, method = table(values, {"sex": {"kind": "category"}}, patients=patients)
    assert (given_.rows, given_.people) == (6, 3)
    assert measures_of(given_, made_table(given_, 2, method).table, 2).classes == 1
    alone, method = table(values, {"sex": {"kind": "category"}})
    assert measures_of(alone, made_table(alone, 2, method).table, 2).classes == 2
    with pytest.raises(UnreachableError, match="4-anonymity of patients"):
        made_table(given_, 4, method)


def test_who_knows_all_rows_of_a_patient_may_find_him():
    values = {"age": ["20", "21", "40", "41", "22", "23"]}
    patients = ["p1", "p2", "p1", "p3", "p4", "p5"]
    given_, method = table(values, {"age": {"kind": "number"}}, patients=patients)
    measured = measures_of(given_, made_table(given_, 2, method).table, 2)
    assert measured.prosecutor == 1 / 2
    assert measured.together == 1.0


def test_homogeneous_classes_are_counted_by_their_rows():
    values = {"age": ["20", "21", "40", "41", "42"], "ill": ["a", "a", "a", "b", "b"]}
    given_, method = table(values, {"age": {"kind": "number"}}, sensitive={"ill": {}})
    measured = measures_of(given_, made_table(given_, 2, method).table, 2)
    assert measured.homogeneous == {"ill": 2 / 5}
    asked, method = table(
        values, {"age": {"kind": "number"}}, sensitive={"ill": {"distinct": 2}}
    )
    again = measures_of(asked, made_table(asked, 2, method).table, 2)
    assert (again.homogeneous, again.classes) == ({"ill": 0.0}, 1)


DIED = {
    "age": [*map(str, range(70, 75)), "70", *map(str, range(30, 35))],
    "end": ["died"] * 5 + ["moved"] + ["home"] * 4 + ["moved"],
}
WHO = [*"abcde", "a", *"fghij"]
"""Five who died, one of whom had moved before; five others."""


@pytest.mark.parametrize(
    "asked",
    [
        {"distinct": 2},
        {"entropy": 1.1},
        {"recursive": {"c": 9, "l": 2}},
        {"close": 0.7},
    ],
)
@pytest.mark.parametrize("name", ["mondrian", "incognito"])
def test_no_class_has_a_value_that_all_its_patients_have(asked, name):
    plain, method = table(
        DIED, AGE, patients=WHO, sensitive={"end": {}}, method=Method(name)
    )
    measured = measures_of(plain, made_table(plain, 5, method).table, 5)
    assert measured.homogeneous == {"end": 6 / 11}
    given_, method = table(
        DIED, AGE, patients=WHO, sensitive={"end": asked}, method=Method(name)
    )
    measured = measures_of(given_, made_table(given_, 5, method).table, 5)
    assert (measured.homogeneous, measured.classes) == ({"end": 0.0}, 1)


def test_patients_who_were_all_everywhere_cannot_be_told_apart_by_it():
    values = {"age": ["1", "1", "2", "2"], "end": ["home", "died", "home", "died"]}
    given_, method = table(
        values,
        {"age": {"kind": "number"}},
        patients=[*"ppqq"],
        sensitive={"end": {"distinct": 2}},
    )
    with pytest.raises(UnreachableError, match="distinct 2-diversity of end"):
        made_table(given_, 2, method)


def test_precision_is_of_numbers_alone():
    values = {"age": [str(age) for age in range(60)], "sex": ["F", "M"] * 30}
    told = {"age": {"kind": "number"}, "sex": {"kind": "category"}}
    given_, method = table(values, told)
    found = [one.measures.precision for one in choices(given_, method, 2, (2, 10, 50))]
    assert all(set(one) == {"age"} for one in found)
    assert found[0]["age"] > found[1]["age"] > found[2]["age"] > 0


def test_choices_leave_out_what_no_table_reaches_but_not_what_was_asked():
    given_, method = table({"age": ["1", "2", "3"]}, {"age": {"kind": "number"}})
    assert [(one.k, one.measures is None) for one in choices(given_, method, 5)] == [
        *((2, False), (3, False), (5, True))
    ]


def test_incognito_says_levels_and_leaves_rows_out():
    values = {"age": ["21", "22", "23", "24", "71"]}
    method = Method("incognito", suppression=Fraction(1, 5))
    given_, method = table(values, AGE, method=method)
    made = made_table(given_, 2, method)
    assert made.levels == {"age": 1}
    header, rows = published_rows(made.table, {"note": list("abcde")})
    assert (header, rows) == (
        ["age", "note"],
        [("20-29", each) for each in "abcd"],
    )
    assert measures_of(given_, made.table, 2).suppressed == 1


def test_rows_are_in_the_order_of_what_they_say():
    values = {"age": ["9", "1", "5", None]}
    given_, method = table(values, {"age": {"kind": "number"}})
    made = made_table(given_, 4, method)
    header, rows = published_rows(made.table, {"drug": ["z", None, "a", "m,\n"]})
    file = io.StringIO()
    write_rows(file, header, rows)
    assert list(csv.reader(io.StringIO(file.getvalue()))) == [
        *(["age", "drug"], ["*", ""], ["*", "a"], ["*", "m,\n"], ["*", "z"])
    ]


def test_risks_as_is_are_of_the_raw_values():
    given_, _ = table({"age": ["1", "1", "2"]}, {"age": {"kind": "number"}})
    assert (risks_as_is(given_).unique, risks_as_is(given_).prosecutor) == (1 / 3, 1.0)


def test_risks_as_is_are_of_patients_where_they_have_several_rows():
    values = {"age": ["1", "1", "1", "2"]}
    given_, _ = table(
        values, {"age": {"kind": "number"}}, patients=["p1", "p1", "p1", "p2"]
    )
    assert (risks_as_is(given_).prosecutor, risks_as_is(given_).marketer) == (1.0, 1.0)


def test_a_column_without_any_number_is_measured_without_precision():
    told = {"age": {"kind": "number", "widths": [5]}}
    given_, method = table({"age": [None] * 4}, told)
    made = made_table(given_, 2, method).table
    assert measures_of(given_, made, 2).precision == {}


ROWS = st.lists(
    st.tuples(
        st.sampled_from("pqrstuv"),
        st.none() | st.integers(0, 30),
        st.sampled_from("FM"),
        st.sampled_from("xyz"),
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=rounds(2_000, 60), deadline=None)
@given(ROWS, st.integers(2, 4), st.sampled_from(["mondrian", "incognito"]))
def test_every_published_class_has_k_patients_and_l_values(rows, k, name):
    patients, ages, sexes, ills = zip(*rows, strict=True)
    values = {
        "age": [None if age is None else str(age) for age in ages],
        "sex": sexes,
        "ill": ills,
    }
    told = {**AGE, "sex": {"kind": "category"}}
    given_, method = table(
        values,
        told,
        patients=patients,
        sensitive={"ill": {"distinct": 2}},
        method=Method(name),
    )
    try:
        made = made_table(given_, k, method).table
    except UnreachableError:
        own = list(zip(patients, ills, strict=True))
        is_diverse = checker.is_distinct_of_patients(own, 2)
        assert len(set(patients)) < k or not is_diverse
        return
    published = {}
    looks = zip(made.values("age"), made.values("sex"), strict=True)
    for look, row in zip(looks, np.flatnonzero(made.is_published), strict=True):
        published.setdefault(look, []).append(row)
    for held in published.values():
        assert len({patients[row] for row in held}) >= k
        own = [(patients[row], ills[row]) for row in held]
        assert checker.is_distinct_of_patients(own, 2)
    _same_as_counted(measures_of(given_, made, k), patients, published)


def _same_as_counted(measured, patients, published):
    """Compare risks with what sets say."""
    people = [{patients[row] for row in held} for held in published.values()]
    assert measured.prosecutor == 1 / min(map(len, people))
    if measured.together is not None:
        fewest = len(set(patients))
        for one in set(patients):
            fitting = [held for held in people if one in held]
            fewest = min(fewest, len(set.intersection(*fitting)))
        assert measured.together == 1 / fewest
        assert any(len(a & b) for a, b in combinations([*people, *people], 2))
