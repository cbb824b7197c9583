"""Scores of usefulness: months, itemsets, searches."""

from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.upstream.trajectories.dast.five_notes import (
    CLUSTERS,
    HOSPITAL,
    MONTH,
    RECORDS,
    TERMS,
    drilled,
)
from upstream.trajectories.dast.enumeration import enumerate_values
from upstream.trajectories.dast.scores import (
    count_error,
    drawn,
    enumerated_candidates,
    large_itemsets,
    notes_with,
    search_score,
    support_error,
    uniform_candidates,
)

FIGURE_3 = enumerate_values(RECORDS, CLUSTERS)
WORDS = [[word for term in note for word in term.split()] for note in TERMS]


def test_values_are_drawn_as_often_as_a_cluster_has_them():
    found = enumerated_candidates(RECORDS, CLUSTERS, FIGURE_3, MONTH)
    assert found[0] == ["2009-04", "2009-03", "2009-04"]
    exact = drilled({MONTH}, FIGURE_3)
    assert drawn(enumerated_candidates(RECORDS, CLUSTERS, exact, MONTH), max) == [
        record[MONTH] for record in RECORDS
    ]
    assert uniform_candidates(FIGURE_3, MONTH)[0] == ["2009-03", "2009-04"]


def test_the_error_of_counts_is_the_mean_over_values():
    assert count_error("aab", "abb") == pytest.approx((1 / 2 + 1) / 2)
    assert count_error("aab", "aab") == 0
    assert count_error("a", "z") == 1
    with pytest.raises(ValueError, match="count"):
        count_error([], [])


def test_itemsets_are_large_above_the_least_support():
    baskets = ["abc", "abc", "ab", "c"]
    assert large_itemsets(baskets, 1) == {
        **{frozenset(one): count for one, count in (("a", 3), ("b", 3), ("c", 3))},
        **{frozenset(two): n for two, n in (("ab", 3), ("ac", 2), ("bc", 2))},
        frozenset("abc"): 2,
    }
    assert frozenset("abc") not in large_itemsets(baskets, 1, 2)
    assert large_itemsets(baskets, 3) == {}


@given(st.lists(st.frozensets(st.sampled_from("abcd")), max_size=8), st.integers(0, 3))
def test_itemsets_are_those_of_counting_all(baskets, least):
    expected = {}
    for size in (1, 2, 3):
        for items in map(frozenset, combinations("abcd", size)):
            count = sum(items <= basket for basket in baskets)
            if count > least:
                expected[items] = count
    assert large_itemsets(baskets, least) == expected


def test_the_error_of_supports_is_the_mean_over_itemsets():
    baskets = ["ab", "ab", "ab"]
    large = large_itemsets(baskets, 2)
    assert support_error(large, baskets) == 0
    assert support_error(large, ["ab", "ab", "a"]) == pytest.approx((0 + 1 + 1) / 9)
    with pytest.raises(ValueError, match="itemset"):
        support_error({}, baskets)


def test_abdomen_pain_and_fatigue_are_found_in_notes_4_and_5_as_words():
    """Note 4 has no phrase "abdomen pain", though the paper returns it."""
    assert notes_with(WORDS, ["abdomen pain", "fatigue"]) == [3, 4]


def test_387_terms_are_75_078_searches():
    assert 387 + comb(387, 2) == 75_078


def hospitals(rows):
    return [row[HOSPITAL] for row in rows]


def test_searches_find_the_same_hospitals_where_these_are_drilled():
    true = [record[HOSPITAL] for record in RECORDS]
    exact = hospitals(drilled({HOSPITAL}, FIGURE_3))
    terms = ["fever", "fatigue", "jaundice"]
    assert search_score(TERMS, terms, true, exact) == 1


def test_searches_are_scored_by_what_is_found_wrongly():
    true = [record[HOSPITAL] for record in RECORDS]
    listed = hospitals(FIGURE_3)
    # fever 2 of 3, fatigue 2 of 2, jaundice 1 of 2, fatigue with jaundice 1 of 2;
    # fever goes with neither
    score = search_score(TERMS, ["fever", "fatigue", "jaundice"], true, listed)
    assert score == pytest.approx((2 / 3 + 1 + 1 / 2 + 1 / 2) / 4)
    nothing = [frozenset()] * 5
    assert search_score(TERMS, ["fever"], true, nothing) == 0
    with pytest.raises(ValueError, match="search"):
        search_score(TERMS, ["measles"], true, listed)
