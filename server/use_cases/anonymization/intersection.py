"""What copies of the same patients tell together: their classes' intersections.

Who knows what they publish of a patient, all his rows, knows that he is one of those
who are in all of his classes; k-anonymity of each copy says nothing about how many.

Source: Ganta, Kasiviswanathan and Smith 2008 (composition attacks).
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Final

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
    """What several copies tell together; None is not known, or of nobody.

    Attributes:
        patients_in_both: How many are in two of them, or more.
        patients_in_one: How many are in one alone.
        fewest_together: The fewest patients that fit what all publish of one of them.
        average_risk: The mean over those patients of 1 over how many fit him.
    """

    patients_in_both: int | None
    patients_in_one: int | None
    fewest_together: int | None
    average_risk: float | None


UNKNOWN: Final = Intersection(None, None, None, None)


def intersection_of(*copies: Members) -> Intersection:
    """Return what copies tell together, to who knows all rows of a patient.

    Patients are compared as linkages found them, where all copies were linked. Where
    no name is in two, nothing is known: the sources may name them otherwise.

    >>> both = np.array([1, 2, 3], np.uint64)
    >>> left, right = np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> intersection_of(Members(both, left), Members(both, right)).fewest_together
    1
    """
    keys = [one.keys for one in copies if one.keys is not None]
    are_linked = len(keys) == len(copies)
    names = keys if are_linked else [one.patients for one in copies]
    classes = [
        _by_patient(of, one.classes) for of, one in zip(names, copies, strict=True)
    ]
    people = [_by_class(one) for one in classes]
    held = Counter(patient for one in classes for patient in one)
    both = [patient for patient, count in held.items() if count > 1]
    if not both:
        return UNKNOWN
    known: dict[tuple[frozenset[int] | None, ...], int] = {}
    fitting: list[int] = []
    for patient in both:
        own = tuple(one.get(patient) for one in classes)
        if own not in known:
            fit = [
                of[each]
                for of, held_in in zip(people, own, strict=True)
                for each in held_in or ()
            ]
            known[own] = len(set.intersection(*sorted(fit, key=len)))
        fitting.append(known[own])
    risk = sum(1 / each for each in fitting) / len(fitting)
    return Intersection(len(both), len(held) - len(both), min(fitting), round(risk, 4))


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
