"""What two copies of the same patients tell together: their classes' intersections.

Who knows what both publish of a patient, all his rows, knows that he is one of those
who are in all of his classes; k-anonymity of each copy says nothing about how many.

Source: Ganta, Kasiviswanathan and Smith 2008 (composition attacks).
"""

from collections import defaultdict
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
        patients: By row that is published: whose it is, as the source names him.
        classes: By row: its class.
        keys: By row: the same as a linkage found; None where none was asked.
    """

    patients: Patients
    classes: Ints
    keys: Patients | None = None


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
    """Return what two copies tell together, to who knows all rows of a patient.

    Patients are compared as linkages found them, where both copies were linked. Where
    no name is in both, nothing is known: the sources may name them otherwise.

    >>> both = np.array([1, 2, 3], np.uint64)
    >>> left, right = np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> intersection_of(Members(both, left), Members(both, right)).fewest_together
    1
    """
    ours, theirs = one.patients, other.patients
    if one.keys is not None and other.keys is not None:
        ours, theirs = one.keys, other.keys
    our_classes = _by_patient(ours, one.classes)
    their_classes = _by_patient(theirs, other.classes)
    both = our_classes.keys() & their_classes.keys()
    if not both:
        return Intersection(None, None, None)
    our_people, their_people = _by_class(our_classes), _by_class(their_classes)
    known: dict[tuple[frozenset[int], frozenset[int]], int] = {}
    fitting: list[int] = []
    for patient in both:
        held = our_classes[patient], their_classes[patient]
        if held not in known:
            people = [our_people[one] for one in held[0]]
            people += [their_people[one] for one in held[1]]
            known[held] = len(set.intersection(*sorted(people, key=len)))
        fitting.append(known[held])
    risk = sum(1 / each for each in fitting) / len(fitting)
    return Intersection(len(both), min(fitting), round(risk, 4))


def _by_patient(patients: Patients, classes: Ints) -> dict[int, frozenset[int]]:
    """Return each patient's classes."""
    order = np.argsort(patients, kind="stable")
    names, starts = np.unique(patients[order], return_index=True)
    parts = np.split(classes[order], starts)[1:]  # none is before the first patient
    told = zip(names.tolist(), parts, strict=True)
    return {patient: frozenset(part.tolist()) for patient, part in told}


def _by_class(classes: dict[int, frozenset[int]]) -> dict[int, set[int]]:
    """Return each class's patients."""
    found: dict[int, set[int]] = defaultdict(set)
    for patient, held in classes.items():
        for one in held:
            found[one].add(patient)
    return found
