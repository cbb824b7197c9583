"""Greedy code censoring: a sample in which each record fits k people (k-map).

Source: Tamersoy 2011, algorithm 1 and section III.6. What is printed never ends where
a cap is 0 or above all counts: such a code has an empty set of records to censor, and
wins each round. Here caps begin at the most that a record has, and codes whose cap is
0 take no part; so each round censors something.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from upstream.trajectories.gccens.profiles import (
    Counts,
    Population,
    capped,
    caps_of,
    codes_of,
    counts_of,
    population_of,
)

Strategy = Literal["by_caps", "while_needed"]


@dataclass(frozen=True, eq=False)
class Censored:
    """A sample before and after.

    Attributes:
        codes: Lowest first.
        original: Records by codes, as they came.
        capped: The same after the caps that the custodian set.
        released: The same when each fits k people.
        supporters: By record, how many people fit what is released.
    """

    codes: tuple[str, ...]
    original: Counts
    capped: Counts
    released: Counts
    supporters: Counts

    def records(self) -> list[tuple[str, ...]]:
        """Return what is released: the codes of each record, lowest first."""
        return [
            tuple(np.repeat(np.array(self.codes, dtype=object), row))
            for row in self.released
        ]


def censor(
    sample: Iterable[Sequence[str]],
    population: Iterable[Sequence[str]],
    k: int,
    caps: Mapping[str, int] | int,
    strategy: Strategy = "by_caps",
) -> Censored:
    """Return a sample that is k-mapped to its population.

    Args:
        sample: The codes of each record, repeats included.
        population: Those of each person, the sample's among them.
        k: How many people each record must fit at least.
        caps: How often each code may appear in a record, or one number for all.
        strategy: ``by_caps`` lowers the cap of one code a round, for all records, as
            printed (fewest records first, then the lowest code). ``while_needed``
            censors only records that fit too few people, each on its own: it loses
            less, but who knows this learns that a censored record fitted fewer than
            k before.

    Raises:
        ValueError: k is below 1, or the population has fewer than k people.
        KeyError: A code has no cap.
    """
    sample, population = list(sample), list(population)
    if k < 1 or len(population) < k:
        message = (
            f"k is {k}: it is at least 1, and at most {len(population)}, the people"
        )
        raise ValueError(message)
    codes = codes_of(sample, population)
    original = counts_of(sample, codes)
    limits = caps_of(caps, codes)
    start = capped(original, limits)
    most = start.max(axis=0, initial=0)
    people = population_of(counts_of(population, codes), most)
    released = _STRATEGIES[strategy](start, people, k)
    return Censored(codes, original, start, released, people.supporters(released))


def _by_caps(records: Counts, people: Population, k: int) -> Counts:
    """Lower caps one by one until every record fits k people (steps 2 to 16)."""
    found = records.copy()
    caps = found.max(axis=0, initial=0)
    supporters = people.supporters(found)
    while (supporters < k).any():
        at_cap = found == caps
        sizes = np.where(caps > 0, at_cap.sum(axis=0), len(found) + 1)
        code = int(np.argmin(sizes))  # the first, so the lowest code, of several
        changed = at_cap[:, code]
        found[changed, code] -= 1
        caps[code] -= 1
        supporters[changed] = people.supporters(found[changed])
    return found


def _while_needed(records: Counts, people: Population, k: int) -> Counts:
    """Censor each record that fits too few, one instance after another."""
    distinct, places = np.unique(records, axis=0, return_inverse=True)
    for row in np.flatnonzero(people.supporters(distinct) < k):
        distinct[row] = _shortened(distinct[row], people, k)
    return np.asarray(distinct[places.ravel()])


def _shortened(record: Counts, people: Population, k: int) -> Counts:
    """Take away what leaves the most people, the lowest code first of several."""
    while True:
        codes = np.flatnonzero(record)
        options = np.repeat(record[None, :], len(codes), axis=0)
        options[np.arange(len(codes)), codes] -= 1
        supporters = people.supporters(options)
        best = int(np.argmax(supporters))
        record = options[best]
        if supporters[best] >= k:
            return record


_STRATEGIES = {"by_caps": _by_caps, "while_needed": _while_needed}


def is_k_map(
    released: Iterable[Sequence[str]], population: Iterable[Sequence[str]], k: int
) -> bool:
    """Whether each record fits k people at least, counted anew from the codes."""
    people = [Counter(each) for each in population]
    kinds = {tuple(sorted(record)) for record in released}
    return all(sum(Counter(kind) <= person for person in people) >= k for kind in kinds)
