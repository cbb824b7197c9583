"""What copies of the same patients tell together: their classes' intersections.

Who knows what they publish of a patient, all his rows, knows that he is one of those
who are in all of his classes; k-anonymity of each copy says nothing about how many.

Source: Ganta, Kasiviswanathan and Smith 2008 (composition attacks).
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
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
        patients: By row that is published: whose it is, as the source names him, or
            his key where it does not.
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

    A name of a source and a key that a linkage gave are of one patient where a copy has
    both in one row, so that a copy that has keys alone and one that has names alone are
    compared by a third that has both. Where no name is in two, nothing is known: the
    sources may name them otherwise.

    >>> both = np.array([1, 2, 3], np.uint64)
    >>> left, right = np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> intersection_of(Members(both, left), Members(both, right)).fewest_together
    1
    """
    one_of = _joined(copies)
    classes = [_by_patient(_named(one, one_of), one.classes) for one in copies]
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


def _joined(copies: Sequence[Members]) -> dict[int, int]:
    """Return for each name or key that was joined to others the one of all of them."""
    one_of: dict[int, int] = {}

    def found(name: int) -> int:
        while (other := one_of.get(name, name)) != name:
            one_of[name] = one_of.get(other, other)
            name = other
        return name

    for copy in copies:
        if copy.keys is not None:
            pairs = np.unique(np.stack([copy.patients, copy.keys]), axis=1)
            for name, key in zip(*pairs.tolist(), strict=True):
                first, second = found(name), found(key)
                one_of[max(first, second)] = min(first, second)
    return {name: found(name) for name in one_of}


def _named(copy: Members, one_of: Mapping[int, int]) -> Patients:
    """Return whose each row is, by one name a patient."""
    names, places = np.unique(copy.patients, return_inverse=True)
    told = [one_of.get(name, name) for name in names.tolist()]
    return np.array(told, np.uint64)[places]


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
