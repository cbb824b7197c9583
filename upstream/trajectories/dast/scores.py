"""How useful published notes are: counts by month, itemsets, keyword searches.

Source: Li and Qin 2017, section 5.3, equations 7 to 10. Whoever counts needs one value
where a list is published: candidates are drawn from by the caller, so that nothing here
is random.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from upstream.trajectories.dast.enumeration import Clusters, Record, Row

Pick = Callable[[Sequence[str]], str]
"""Takes one of some values, all equally likely, as ``random.Random().choice`` does."""

Itemset = frozenset[str]


def enumerated_candidates(
    records: Sequence[Record], clusters: Clusters, rows: Sequence[Row], attribute: int
) -> list[list[str]]:
    """Return, by record, the values to draw from: its cluster's, as often as they are.

    A drilled record has its own alone.
    """
    found: list[list[str]] = [[] for _ in records]
    for cluster in clusters:
        shared = [records[at][attribute] for at in cluster]
        for at in cluster:
            allowed = rows[at][attribute]
            found[at] = [value for value in shared if value in allowed]
    return found


def uniform_candidates(rows: Sequence[Row], attribute: int) -> list[list[str]]:
    """Return, by record, the values to draw from if nothing is known of them."""
    return [sorted(row[attribute]) for row in rows]


def drawn(candidates: Iterable[Sequence[str]], pick: Pick) -> list[str]:
    """Return one value a record."""
    return [pick(values) for values in candidates]


def count_error(true: Iterable[str], published: Iterable[str]) -> float:
    """Return the mean over values of the error of their count by the count (eq. 7, 10).

    Of values that occur: for another the error has no bound.

    Raises:
        ValueError: There is no value.
    """
    before, after = Counter(true), Counter(published)
    if not before:
        message = "there is nothing to count"
        raise ValueError(message)
    errors = [abs(after[value] - count) / count for value, count in before.items()]
    return sum(errors) / len(errors)


def large_itemsets(
    baskets: Iterable[Iterable[str]], least: int, largest: int = 3
) -> dict[Itemset, int]:
    """Return the itemsets of more than ``least`` baskets, with their numbers (Apriori).

    Args:
        baskets: What goes together.
        least: The support count that an itemset exceeds.
        largest: How many items it has at most.
    """
    held: dict[str, int] = {}  # a bit a basket
    for place, basket in enumerate(baskets):
        for item in basket:
            held[item] = held.get(item, 0) | 1 << place
    kept: dict[tuple[str, ...], int] = {
        (item,): bits for item, bits in sorted(held.items()) if bits.bit_count() > least
    }
    found: dict[Itemset, int] = {}
    for _ in range(largest):
        found |= {frozenset(key): bits.bit_count() for key, bits in kept.items()}
        kept = _longer(kept, least)
    return found


def _longer(
    kept: Mapping[tuple[str, ...], int], least: int
) -> dict[tuple[str, ...], int]:
    """Return the itemsets of one item more, from those that differ in the last one."""
    beginnings: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for key, bits in kept.items():
        beginnings.setdefault(key[:-1], []).append((key[-1], bits))
    found = {}
    for beginning, ends in beginnings.items():
        for (one, ours), (other, theirs) in combinations(ends, 2):
            if (ours & theirs).bit_count() > least:
                found[*beginning, one, other] = ours & theirs
    return found


def support_error(
    large: Mapping[Itemset, int], baskets: Sequence[Iterable[str]]
) -> float:
    """Return the mean over itemsets of the error of their support by it (equation 8).

    Args:
        large: From the baskets as they were.
        baskets: As they are published.

    Raises:
        ValueError: There is no itemset.
    """
    if not large:
        message = "no itemset is large enough"
        raise ValueError(message)
    held: dict[str, int] = {}
    for place, basket in enumerate(baskets):
        for item in basket:
            held[item] = held.get(item, 0) | 1 << place
    total = 0.0
    for items, count in large.items():
        bits = (1 << len(baskets)) - 1
        for item in items:
            bits &= held.get(item, 0)
        total += abs(bits.bit_count() - count) / count
    return total / len(large)


def notes_with(words: Sequence[Iterable[str]], phrases: Iterable[str]) -> list[int]:
    """Return the notes that have every word of some phrases, in any order.

    As words, not as texts: figure 2's "pain on right side of abdomen" is found by
    "abdomen pain", as the paper has it.
    """
    wanted = {word for phrase in phrases for word in phrase.split()}
    return [at for at, own in enumerate(words) if wanted <= set(own)]


def search_score(
    words: Sequence[Iterable[str]],
    terms: Sequence[str],
    true: Sequence[str],
    published: Sequence[frozenset[str]],
) -> float:
    """Return how alike the hospitals are that searches find before and after (eq. 9).

    Each term and each two are searched; those that no note has are left out.

    Args:
        words: Of each note.
        terms: That are searched for.
        true: The hospital of each note.
        published: The hospitals that each may be of.

    Raises:
        ValueError: No search finds anything.

    Returns:
        The mean Jaccard similarity over the searches, from 0 to 1.
    """
    sets = [frozenset(own) for own in words]
    has = np.array([[term in own for term in terms] for own in sets], dtype=np.float32)
    hospitals = sorted({*true, *(each for own in published for each in own)})
    before = np.array([[h == own for h in hospitals] for own in true], dtype=np.float32)
    after = np.array(
        [[h in own for h in hospitals] for own in published], dtype=np.float32
    )
    total, searches = 0.0, 0
    for place in range(len(terms)):
        notes = has[:, place] > 0
        others = has[notes, place:]  # the term itself, and those after it
        scores = _jaccard(others.T @ before[notes] > 0, others.T @ after[notes] > 0)
        total += float(scores.sum())
        searches += len(scores)
    if not searches:
        message = "no search finds anything"
        raise ValueError(message)
    return total / searches


def _jaccard(
    before: NDArray[np.bool_], after: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return similarities of sets by rows, without rows that were empty."""
    is_found = before.any(axis=1)
    both = (before & after).sum(axis=1)[is_found]
    either = (before | after).sum(axis=1)[is_found]
    return np.asarray(both / either, dtype=np.float64)
