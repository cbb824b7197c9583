"""Two copies of the same patients, compared with sets."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from server.use_cases.anonymization.intersection import Members, intersection_of

ROWS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=40)


def members(rows):
    patients = np.array([one for one, _ in rows], np.uint64) * np.uint64(2**60)
    return Members(patients, np.array([held for _, held in rows], np.int64))


@given(ROWS, ROWS)
def test_the_fewest_are_those_in_both_classes(one, other):
    found = intersection_of(members(one), members(other))
    both = {p for p, _ in one} & {p for p, _ in other}
    assert found.patients_in_both == len(both)
    if not both:
        assert (found.fewest_together, found.average_risk) == (None, None)
        return
    worst = [
        min(
            len(
                {p for p, held in one if held == a}
                & {p for p, held in other if held == b}
            )
            for a in {held for p, held in one if p == patient}
            for b in {held for p, held in other if p == patient}
        )
        for patient in both
    ]
    assert found.fewest_together == min(worst)
    assert found.average_risk == round(sum(1 / each for each in worst) / len(both), 4)


def test_two_2_anonymous_copies_tell_everybody_apart():
    rows, columns = [(0, 0), (1, 0), (2, 1), (3, 1)], [(0, 0), (1, 1), (2, 0), (3, 1)]
    found = intersection_of(members(rows), members(columns))
    assert (found.fewest_together, found.average_risk) == (1, 1.0)
