"""Records of repeated codes as counts, and how many people have at least as many.

Source: Tamersoy, Anonymization of longitudinal electronic medical records (2011),
section III.4. ``dis`` is read as multiset containment: a person fits a record if they
have each of its codes at least as often (plain sets and equality disagree with both
the prose and figure 1).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
_CELLS = 20_000_000  # compared at once


def codes_of(*records: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return the distinct codes of all records, lowest first."""
    return tuple(sorted({code for each in records for one in each for code in one}))


def counts_of(records: Iterable[Iterable[str]], codes: Sequence[str]) -> Counts:
    """Return how often each record has each code: records by codes.

    Raises:
        KeyError: A record has a code that is not listed.
    """
    places = {code: place for place, code in enumerate(codes)}
    rows = [Counter(record) for record in records]
    found = np.zeros((len(rows), len(codes)), dtype=np.int64)
    for row, counter in enumerate(rows):
        for code, count in counter.items():
            found[row, places[code]] = count
    return found


@dataclass(frozen=True, eq=False)
class Population:
    """The people that a record may be of, equal ones together.

    Attributes:
        profiles: Distinct people by codes: how often each has each code.
        people: How many have each profile.
    """

    profiles: Counts
    people: Counts

    @property
    def size(self) -> int:
        """How many people there are."""
        return int(self.people.sum())

    def supporters(self, records: Counts) -> Counts:
        """Return ``dis`` of each record: how many people have all that it has.

        Args:
            records: Records by codes.
        """
        distinct, places = np.unique(records, axis=0, return_inverse=True)
        found = np.empty(len(distinct), dtype=np.int64)
        for start in range(0, len(distinct), self._step):
            part = distinct[start : start + self._step]
            fits = np.ones((len(part), len(self.people)), dtype=np.bool_)
            for code in range(part.shape[1]):
                fits &= self.profiles[None, :, code] >= part[:, None, code]
            found[start : start + self._step] = fits @ self.people
        return np.asarray(found[places.ravel()])

    @property
    def _step(self) -> int:
        return max(1, _CELLS // max(1, len(self.people)))


def population_of(counts: Counts, most: Counts | None = None) -> Population:
    """Return a population.

    Args:
        counts: People by codes.
        most: By code, the most that any record will have. More make no difference
            then, and people who differ in nothing else become equal.
    """
    clipped = counts if most is None else np.minimum(counts, most)
    profiles, people = np.unique(clipped, axis=0, return_counts=True)
    return Population(profiles, np.asarray(people, dtype=np.int64))


def capped(counts: Counts, caps: Counts) -> Counts:
    """Return records in which no code appears more often than its cap."""
    return np.minimum(counts, caps)


def caps_of(caps: Mapping[str, int] | int, codes: Sequence[str]) -> Counts:
    """Return the cap of each code.

    Raises:
        KeyError: A code has none.
        ValueError: One is negative.
    """
    found = [caps if isinstance(caps, int) else caps[code] for code in codes]
    if any(cap < 0 for cap in found):
        message = "a cap is 0 or more"
        raise ValueError(message)
    return np.array(found, dtype=np.int64)
