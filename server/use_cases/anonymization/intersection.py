"""What two copies of the same patients tell together: their classes' intersections.

Who knows what both publish of a patient knows that he is one of the patients who are in
both of his classes; k-anonymity of each says nothing about how many these are.

Source: Ganta, Kasiviswanathan and Smith 2008 (composition attacks).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Patients = NDArray[np.uint64]
"""Keyed hashes of patients' names."""
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Which patients have rows in which classes of a copy.

    Attributes:
        patients: By row that is published: whose it is.
        classes: By row: its class.
    """

    patients: Patients
    classes: Ints


@dataclass(frozen=True, slots=True)
class Intersection:
    """What two copies tell together; None is not known, or of nobody.

    Attributes:
        patients_in_both: How many there are.
        fewest_together: The fewest patients that fit what both publish of one of them.
        average_risk: The mean over those patients of 1 over how many fit him.
    """

    patients_in_both: int | None
    fewest_together: int | None
    average_risk: float | None


def intersection_of(one: Members, other: Members) -> Intersection:
    """Return what two copies tell together; of rows of a patient the worst counts.

    >>> both = np.array([1, 2, 3], np.uint64)
    >>> left, right = np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> intersection_of(Members(both, left), Members(both, right)).fewest_together
    1
    """
    ours, theirs = _distinct(one), _distinct(other)
    begins = np.searchsorted(theirs[0], ours[0], side="left")
    counts = np.searchsorted(theirs[0], ours[0], side="right") - begins
    if not counts.sum():
        return Intersection(0, None, None)
    at = np.repeat(np.arange(len(counts)), counts)
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    patients, own = ours[0][at], ours[1][at]
    key = own * (int(theirs[1].max()) + 1) + theirs[1][begins[at] + offsets]
    _, places, sizes = np.unique(key, return_inverse=True, return_counts=True)
    fitting = sizes[places]
    starts = np.flatnonzero(np.diff(patients, prepend=patients[0] ^ np.uint64(1)))
    worst = np.minimum.reduceat(fitting, starts)
    return Intersection(
        len(worst), int(worst.min()), round(float((1 / worst).mean()), 4)
    )


def _distinct(members: Members) -> tuple[Patients, Ints]:
    """Return each patient's classes, each once, in the order of patients."""
    order = np.lexsort((members.classes, members.patients))
    patients, classes = members.patients[order], members.classes[order].astype(np.int64)
    is_new = np.ones(len(order), bool)
    is_new[1:] = (np.diff(patients) != 0) | (np.diff(classes) != 0)
    return patients[is_new], classes[is_new]
