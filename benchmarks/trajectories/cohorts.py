"""Made-up patients with the numbers that Tamersoy's thesis prints of its own.

Its data are not public. Records of codes with repeats follow section III.3 (means),
trajectories table 3 (records, pairs, codes and ages a record); that diseases come
together and stay for years is ours.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

REPEATED = ("250", "272", "401", "724")
"""The codes of chapter III and of the small cohorts."""
POPULATION_MEANS = (2.2, 1.3, 2.5, 0.9)
"""How often each is repeated in the population, on average (section III.3)."""
SAMPLE_MEANS = (3.5, 2.3, 4.4, 2.0)
"""The same in the sample."""

GROUPS = (
    "401.1 401.9 272.0 272.4 278.00 414.01 427.31 428.0",
    "250.00 250.02 250.60 272.4 401.9 585.9 362.01",
    "724.2 724.5 723.1 719.46 715.90 715.96 729.5",
    "461.9 462 465.9 466.0 473.9 477.9 493.90",
    "530.81 564.00 558.9 789.00 787.91 535.50",
    "311 300.00 780.52 296.20 305.1",
    "599.0 600.00 788.41 627.2 733.00 V72.31",
    "244.9 285.9 280.9 780.79 786.50 786.2",
)
"""Frequent codes that come together, the most frequent first: 50 in all."""

COMMON = ["401.1", "272.4", "250.00", "724.2", "530.81", "311"]
"""Codes that whoever is ill may have, too."""


@dataclass(frozen=True)
class Numbers:
    """What is known of a cohort (table 3).

    Attributes:
        name: As the thesis has it.
        records: How many.
        codes: A record, on average.
        ages: A record, on average.
        pairs: A record, on average.
        repeats: How probable a code is in each further year of a record; chosen so
            that pairs are met.
        few: Whether the codes are the four of chapter III.
    """

    name: str
    records: int
    codes: float
    ages: float
    pairs: float
    repeats: float
    few: bool


ILL = 0.09
"""How probable each disease of chapter III is in the population."""
ILL_IN_SAMPLE = 0.2
"""The same in the sample. The thesis prints means alone; these two are chosen so that a
cap of 3 is about enough at k = 5, as its small losses there suggest."""

COMMONNESS = 0.4
"""How often a code is drawn of the common ones."""

COHORTS = (
    Numbers("D50 Pop", 27639, 5.88, 3.10, 9.32, 0.22, few=False),
    Numbers("D4 Pop", 16052, 1.65, 2.78, 4.05, 0.76, few=True),
    Numbers("D4 Smp", 1896, 1.96, 4.04, 6.39, 0.70, few=True),
)


def draw_trajectories(numbers: Numbers, seed: int = 1) -> list[list[tuple[str, int]]]:
    """Return records of codes with ages in years, each in order."""
    draw = random.Random(seed)
    return [_record(numbers, draw) for _ in range(numbers.records)]


def _record(numbers: Numbers, draw: random.Random) -> list[tuple[str, int]]:
    """Draw a patient: some diseases of a group or two, over some years."""
    years = _geometric(numbers.ages, draw)
    first = min(102 - years, max(1, round(draw.gauss(58, 13))))
    ages = [first + year for year in range(max(1, years))]
    found = set()
    for code in _codes(numbers, draw):
        start = draw.choice(ages)
        found.add((code, start))
        later = [age for age in ages if age != start]
        found.update((code, age) for age in later if draw.random() < numbers.repeats)
    for age in ages:
        if all(age != other for _, other in found):
            found.add((draw.choice(sorted(found))[0], age))
    return sorted(found, key=lambda pair: (pair[1], pair[0]))


def _codes(numbers: Numbers, draw: random.Random) -> Sequence[str]:
    if numbers.few:
        count = min(4, _geometric(numbers.codes, draw))
        return sorted(draw.sample(REPEATED, count))
    count = min(30, _geometric(numbers.codes, draw))
    mine = draw.sample([group.split() for group in GROUPS], 2)
    found: set[str] = set()
    while len(found) < count:
        group = mine[0] if draw.random() < 0.6 else mine[1]
        if draw.random() < 0.25 or found.issuperset(mine[0] + mine[1]):
            group = draw.choice(GROUPS).split()
        if draw.random() < COMMONNESS:
            group = COMMON
        weights = [1 / (place + 1) ** 1.3 for place in range(len(group))]
        found.update(draw.choices(group, weights))
    return sorted(found)


def _geometric(mean: float, draw: random.Random) -> int:
    """Draw a number from 1 with this mean, mostly small."""
    return 1 + int(draw.expovariate(1) * (mean - 0.5)) if mean > 1 else 1


def draw_repeats(
    means: Sequence[float], records: int, draw: random.Random, ill: float = ILL
) -> list[list[str]]:
    """Return records of the four codes; who is ill is often seen (gamma, Poisson).

    Args:
        means: How often each code is repeated, on average over the records.
        records: How many; each has one code at least.
        draw: Where from.
        ill: How probable each of the four diseases is, before those without any are
            left out. Few have several: the thesis has to censor at k = 5.
    """
    known = 1 - (1 - ill) ** len(means)
    found = []
    while len(found) < records:
        counts = [
            _poisson(mean * known / ill * draw.gammavariate(0.8, 1 / 0.8), draw)
            if draw.random() < ill
            else 0
            for mean in means
        ]
        if any(counts):
            pairs = zip(REPEATED, counts, strict=True)
            found.append([code for code, count in pairs for _ in range(count)])
    return found


def _poisson(mean: float, draw: random.Random) -> int:
    """Draw a count by the exponential times between events."""
    count, time = 0, draw.expovariate(1)
    while time < mean:
        count += 1
        time += draw.expovariate(1)
    return count
