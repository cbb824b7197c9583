"""Copies of the same patients, compared with sets."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from server.use_cases.anonymization.intersection import (
    UNKNOWN,
    Members,
    intersection_of,
)

ROWS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=40)


def members(rows):
    patients = np.array([one for one, _ in rows], np.uint64) * np.uint64(2**60)
    return Members(patients, np.array([held for _, held in rows], np.int64))


@given(st.lists(ROWS, min_size=2, max_size=4))
def test_the_fewest_are_those_in_all_their_classes(copies):
    found = intersection_of(*map(members, copies))
    held = Counter(p for rows in copies for p in {patient for patient, _ in rows})
    both = [patient for patient, count in held.items() if count > 1]
    if not both:
        assert found == UNKNOWN
        return
    assert found.patients_in_both == len(both)
    assert found.patients_in_one == len(held) - len(both)
    fitting = [
        len(
            set.intersection(
                *(
                    {p for p, held in rows if held == own}
                    for rows in copies
                    for own in {held for p, held in rows if p == patient}
                )
            )
        )
        for patient in both
    ]
    assert found.fewest_together == min(fitting)
    assert found.average_risk == round(sum(1 / each for each in fitting) / len(both), 4)


def test_linked_copies_are_compared_by_what_the_linkage_found():
    ids = np.array([1, 2, 3, 4], np.uint64)
    keys, classes = np.array([7, 7, 8, 8], np.uint64), np.array([0, 0, 1, 1])
    linked = Members(ids, classes, keys)
    assert intersection_of(linked, Members(ids, classes)).patients_in_both == 2
    assert intersection_of(linked, linked).patients_in_both == 2


def test_a_copy_with_both_names_joins_those_with_one():
    ids = np.arange(1, 9, dtype=np.uint64)
    keys, classes = ids + np.uint64(100), np.arange(8)
    named, alike = Members(ids, classes // 4), Members(keys, classes % 4, keys)
    joining = Members(ids, classes * 0, keys)
    assert intersection_of(named, alike) == UNKNOWN
    assert intersection_of(joining, alike).fewest_together == 2
    found = intersection_of(joining, named, alike)
    assert (found.patients_in_both, found.fewest_together) == (8, 1)


def test_two_2_anonymous_copies_tell_everybody_apart():
    rows, columns = [(0, 0), (1, 0), (2, 1), (3, 1)], [(0, 0), (1, 1), (2, 0), (3, 1)]
    found = intersection_of(members(rows), members(columns))
    assert (found.fewest_together, found.average_risk) == (1, 1.0)
