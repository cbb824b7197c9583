"""Principles hold where the papers' definitions say so, of rows and of entries."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.upstream.anonymization import checker
from upstream.anonymization.columns.classes import Classes, classes_of
from upstream.anonymization.principles.anonymity import KAnonymity
from upstream.anonymization.principles.cells import cells_of, patient_values_of
from upstream.anonymization.principles.closeness import TCloseness
from upstream.anonymization.principles.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
)
from upstream.anonymization.principles.principle import (
    AllOf,
    Sensitive,
    floors_of,
    sensitive_column,
)


def sensitive_of(*classes):
    """Return classes with these sensitive values, and the sensitive column."""
    values = [value for each in classes for value in each]
    codes = np.repeat(np.arange(len(classes)), [len(each) for each in classes])
    return classes_of(codes), sensitive_column("disease", values)


def test_classes_are_k_anonymous_by_their_rows():
    classes, _ = sensitive_of("ab", "abc")
    assert KAnonymity(3).holds(classes).tolist() == [False, True]


def test_a_class_of_one_disease_is_not_diverse():
    classes, column = sensitive_of("aaa", "aab", "abc")
    assert DistinctDiversity(column, 2).holds(classes).tolist() == [False, True, True]
    assert DistinctDiversity(column, 3).holds(classes).tolist() == [False, False, True]


def test_equally_frequent_values_have_their_own_number_as_entropy():
    classes, column = sensitive_of("abc" * 7, "aabbcc" + "a")
    assert EntropyDiversity(column, 3).holds(classes).tolist() == [True, False]
    assert EntropyDiversity(column, 2.9).holds(classes).tolist() == [True, True]


def test_recursive_diversity_is_strict():
    classes, column = sensitive_of("aabb", "aaabb", "ab", "aaaa")
    one = RecursiveDiversity(column, Fraction(1), 2)
    assert one.holds(classes).tolist() == [False, False, False, False]
    more = RecursiveDiversity(column, Fraction(3, 2), 2)
    assert more.holds(classes).tolist() == [True, False, True, False]


def test_closeness_is_as_in_the_paper():
    # Li et al. 2007, section 4.1.1: salaries 3k to 11k; {3k,4k,5k} is at .375 and
    # {6k,8k,11k} at .167 from all nine.
    salaries = [f"{number:02d}" for number in range(3, 12)]
    column = sensitive_column("salary", salaries)
    rows = np.array([0, 1, 2, 3, 5, 8])
    classes = Classes(np.array([0, 0, 0, 1, 1, 1]), 2, rows)
    ordered = TCloseness(column, Fraction(3, 8), is_ordered=True)
    assert ordered.distances(classes).tolist() == pytest.approx([0.375, 1 / 6])
    assert ordered.holds(classes).tolist() == [True, True]
    less = TCloseness(column, Fraction(374, 1000), is_ordered=True)
    assert less.holds(classes).tolist() == [False, True]
    equal = TCloseness(column, Fraction(2, 3))
    assert equal.distances(classes).tolist() == pytest.approx([2 / 3, 2 / 3])
    assert equal.holds(classes).all()


def test_a_missing_value_is_a_sensitive_value_of_its_own():
    classes, column = sensitive_of(["a", None], [None, None])
    assert column.size == 2
    assert DistinctDiversity(column, 2).holds(classes).tolist() == [True, False]


def test_several_principles_hold_at_once():
    classes, column = sensitive_of("ab", "aaa", "abc")
    both = AllOf((KAnonymity(3), DistinctDiversity(column, 2)))
    assert both.holds(classes).tolist() == [False, False, True]
    assert str(both) == "3-anonymity and distinct 2-diversity of disease"
    assert (both.least_size, both.is_monotone, both.is_absorbing) == (3, True, True)
    assert both.sensitive == [column]
    assert not AllOf((both, EntropyDiversity(column, 2))).is_absorbing


def test_principles_say_what_they_are():
    _, column = sensitive_of("ab")
    for principle, said, least in (
        (EntropyDiversity(column, 2.5), "entropy 2.5-diversity of disease", 3),
        (
            RecursiveDiversity(column, Fraction(1, 2), 3),
            "recursive (1/2, 3)-diversity of disease",
            3,
        ),
        (TCloseness(column, Fraction(1, 5)), "1/5-closeness of disease", 1),
        (
            TCloseness(column, Fraction(1, 5), is_ordered=True),
            "ordered 1/5-closeness of disease",
            1,
        ),
    ):
        assert (str(principle), principle.least_size) == (said, least)
        assert principle.is_monotone
        assert not principle.is_absorbing
        assert list(principle.sensitive) == [column]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda _: KAnonymity(0),
        lambda column: DistinctDiversity(column, 0),
        lambda column: EntropyDiversity(column, 0.5),
        lambda column: EntropyDiversity(column, float("nan")),
        lambda column: RecursiveDiversity(column, Fraction(0), 2),
        lambda column: RecursiveDiversity(column, Fraction(1), 0),
        lambda column: TCloseness(column, Fraction(-1)),
        lambda column: TCloseness(column, Fraction(3, 2)),
    ],
)
def test_parameters_that_mean_nothing_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        wrong(sensitive_column("disease", ["a"]))


def test_an_order_names_all_values():
    column = sensitive_column("stage", ["late", "early"], ["early", "late"])
    assert column.codes.tolist() == [1, 0]
    with pytest.raises(ValueError, match="name all of them"):
        sensitive_column("stage", ["late"], ["early"])


def test_cells_count_what_is_there():
    classes, column = sensitive_of("aba", "c")
    cells = cells_of(classes, column)
    assert cells.classes.tolist() == [0, 0, 1]
    assert cells.values.tolist() == [0, 1, 2]
    assert cells.counts.tolist() == [2, 1, 1]
    assert cells.starts.tolist() == [0, 2]


def test_many_sensitive_values_are_sorted_instead_of_counted():
    column = Sensitive("disease", np.array([999_999, 5, 5]), 1_000_000)
    classes = classes_of(np.array([1, 0, 1]))
    assert DistinctDiversity(column, 2).holds(classes).tolist() == [False, True]
    assert TCloseness(column, Fraction(1, 3)).holds(classes).tolist() == [True, True]


def test_products_beyond_a_machine_word_are_exact():
    assert floors_of(2, 3, np.array([4, 5, 4])).tolist() == [2, 3, 2]
    big = floors_of(10**30, 10**29 + 1, np.array([1, 10]))
    assert big.tolist() == [9, 99]


VALUES = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=9)


@settings(max_examples=150, deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=5), st.fractions(0, 1, max_denominator=9))
def test_every_principle_agrees_with_a_plain_count(groups, t):
    classes, column = sensitive_of(*groups)
    everybody = [value for group in groups for value in group]
    order = [v for v in "abc" if v in everybody] + [None] * (None in everybody)
    expected = {
        KAnonymity(3): [checker.is_anonymous(g, 3) for g in groups],
        DistinctDiversity(column, 2): [checker.is_distinct(g, 2) for g in groups],
        EntropyDiversity(column, 1.9): [checker.has_entropy(g, 1.9) for g in groups],
        RecursiveDiversity(column, 2 * t + 1, 2): [
            checker.is_recursive(g, 2 * t + 1, 2) for g in groups
        ],
        TCloseness(column, t): [checker.distance(g, everybody) <= t for g in groups],
        TCloseness(column, t, is_ordered=True): [
            checker.distance(g, everybody, order) <= t for g in groups
        ],
    }
    rolled = Counter((p, v) for p, group in enumerate(groups) for v in group)
    place = {value: row for row, value in enumerate(everybody)}
    entries = Classes(
        np.array([number for number, _ in rolled]),
        len(groups),
        np.array([place[value] for _, value in rolled]),
        np.array(list(rolled.values())),
    )
    for principle, holds in expected.items():
        assert principle.holds(classes).tolist() == holds, str(principle)
        assert principle.holds(entries).tolist() == holds, str(principle)


PAIRS = st.lists(
    st.tuples(st.sampled_from("pqrst"), st.sampled_from(["a", "b", "c", None])),
    min_size=1,
    max_size=9,
)


def patients_of(groups):
    """Return classes of these pairs of patients and values, and principles of them."""
    patients, values = zip(*(pair for group in groups for pair in group), strict=True)
    codes = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    column = sensitive_column("disease", values)
    held = patient_values_of(sensitive_column("patient", patients), column)
    return classes_of(codes), (
        DistinctDiversity(column, 2, held),
        DistinctDiversity(column, 3, held),
        EntropyDiversity(column, 2, held),
        RecursiveDiversity(column, Fraction(3, 2), 2, held),
        TCloseness(column, Fraction(1, 3), held=held),
        TCloseness(column, Fraction(1, 3), is_ordered=True, held=held),
    )


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(st.lists(PAIRS, min_size=1, max_size=5))
def test_every_principle_of_patients_agrees_with_a_plain_count(groups):
    classes, principles = patients_of(groups)
    everybody = [pair for group in groups for pair in group]
    values = {value for _, value in everybody}
    order = [v for v in "abc" if v in values] + [None] * (None in values)
    t = Fraction(1, 3)
    expected = [
        [checker.is_distinct_of_patients(g, 2) for g in groups],
        [checker.is_distinct_of_patients(g, 3) for g in groups],
        [checker.has_entropy_of_patients(g, 2) for g in groups],
        [checker.is_recursive_of_patients(g, Fraction(3, 2), 2) for g in groups],
        [checker.is_close_of_patients(g, everybody, t) for g in groups],
        [checker.is_close_of_patients(g, everybody, t, order) for g in groups],
    ]
    rolled = Counter((n, *pair) for n, group in enumerate(groups) for pair in group)
    place = {pair: row for row, pair in enumerate(everybody)}
    entries = Classes(
        np.array([number for number, *_ in rolled]),
        len(groups),
        np.array([place[who, value] for _, who, value in rolled]),
        np.array(list(rolled.values())),
    )
    for principle, holds in zip(principles, expected, strict=True):
        assert principle.holds(classes).tolist() == holds, str(principle)
        assert principle.holds(entries).tolist() == holds, str(principle)
        rows = principle.monotone.holds(classes)
        assert rows[np.flatnonzero(holds)].all(), str(principle)


@settings(max_examples=100, deadline=None)
@given(PAIRS, PAIRS)
def test_what_is_monotone_of_patients_principles_is_so(one, other):
    apart, principles = patients_of([one, other])
    joined = classes_of(np.zeros(len(one) + len(other), np.int64))
    for principle in principles:
        assert not principle.is_monotone
        assert not principle.is_absorbing
        assert principle.monotone.is_monotone
        if principle.monotone.holds(apart).all():
            assert principle.monotone.holds(joined).all(), str(principle)


def test_two_classes_without_a_value_of_all_may_have_one_together():
    apart, principles = patients_of(
        [[("p", "a"), ("q", "b")], [("p", "b"), ("q", "a")]]
    )
    joined = classes_of(np.zeros(4, np.int64))
    assert principles[0].holds(apart).tolist() == [True, True]
    assert principles[0].holds(joined).tolist() == [False]
    both = AllOf((KAnonymity(2), principles[0]))
    assert not both.is_monotone
    assert both.monotone.is_monotone
    assert both.monotone.holds(joined).all()


@pytest.mark.parametrize("place", range(4))
def test_who_has_one_row_is_counted_the_same_by_rows_and_by_patients(place):
    groups = [[(f"{n} {v}", v[0]) for v in group] for n, group in enumerate(GROUPS)]
    classes, principles = patients_of(groups)
    principle = principles[place]
    assert (principle.holds(classes) == principle.monotone.holds(classes)).all()


GROUPS = (["a1"], ["a1", "a2", "b1"], ["a1", "b1", "c1"], ["b1", "b2"], ["a1", "b1"])


@settings(max_examples=100, deadline=None)
@given(VALUES, VALUES, VALUES)
def test_principles_are_monotone_and_absorbing_as_they_say(one, other, rest):
    apart, column = sensitive_of(one, other, rest)
    codes = np.where(apart.codes == 1, 0, apart.codes)
    joined = classes_of(np.where(codes == 2, 1, codes))
    for principle in (
        *(KAnonymity(3), DistinctDiversity(column, 2), EntropyDiversity(column, 1.5)),
        RecursiveDiversity(column, Fraction(3, 2), 2),
        TCloseness(column, Fraction(1, 3)),
        TCloseness(column, Fraction(1, 3), is_ordered=True),
    ):
        before, after = principle.holds(apart)[:2], principle.holds(joined)[0]
        if before.all():
            assert after, str(principle)
        if principle.is_absorbing and before.any():
            assert after, str(principle)
