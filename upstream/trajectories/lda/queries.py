"""How well counts of patients are answered from anonymized trajectories.

Source: Tamersoy 2011, section IV.4.1, after LeFevre et al. 2006. A generalised pair is
each of the pairs below it with one probability, pairs apart from each other.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from upstream.trajectories.lda.clustering import Cluster
from upstream.trajectories.lda.losses import LossTable
from upstream.trajectories.lda.trajectories import Cohort, Pair, Trajectory

Query = frozenset[Pair]
"""How many trajectories have all of these pairs?"""

Answers = NDArray[np.float64]
_CLUSTERS = 2000  # whose probabilities are held at once


def frequent_queries(
    trajectories: Iterable[Trajectory], share: float = 0.01, largest: int = 2
) -> list[Query]:
    """Return the combinations of pairs that this part of the trajectories has.

    Args:
        trajectories: As they were.
        share: At least, from 0 to 1.
        largest: How many pairs a combination has at most.
    """
    held = [frozenset(each) for each in trajectories]
    least = share * len(held)
    found: list[Query] = []
    allowed = {frozenset((pair,)) for own in held for pair in own}
    for size in range(1, largest + 1):
        counts = Counter(
            chain.from_iterable(_within(own, size, allowed) for own in held)
        )
        kept = [query for query, count in counts.items() if count >= least]
        found.extend(sorted(kept, key=sorted))
        allowed = set(kept)
    return found


def _within(own: Query, size: int, allowed: set[Query]) -> Iterable[Query]:
    """Yield combinations of a size, of pairs that are in one that is frequent."""
    frequent = own & frozenset(chain.from_iterable(allowed)) if allowed else own
    return (frozenset(each) for each in combinations(sorted(frequent), size))


def true_answers(
    trajectories: Sequence[Trajectory], queries: Sequence[Query]
) -> Answers:
    """Return how many trajectories have all pairs of each query."""
    held: dict[Pair, set[int]] = {}
    for number, own in enumerate(trajectories):
        for pair in own:
            held.setdefault(pair, set()).add(number)
    empty: set[int] = set()
    everybody = set(range(len(trajectories)))
    return np.array(
        [
            len(everybody.intersection(*(held.get(pair, empty) for pair in query)))
            for query in queries
        ],
        dtype=np.float64,
    )


def expected_answers(
    cohort: Cohort, clusters: Sequence[Cluster], queries: Sequence[Query]
) -> Answers:
    """Return how many trajectories are expected to have all pairs of each query.

    That each pair of a query is one of a trajectory's is summed by inclusion and
    exclusion over those that are missing, so that one published pair is not two.
    """
    asked = sorted({pair for query in queries for pair in query})
    places = {pair: place for place, pair in enumerate(asked)}
    chosen = [[places[pair] for pair in sorted(query)] for query in queries]
    found = np.zeros(len(queries))
    filled = [each for each in clusters if each.trajectory]
    for start in range(0, len(filled), _CLUSTERS):
        part = filled[start : start + _CLUSTERS]
        odds = _probabilities(cohort, part, asked)
        sizes = np.array([len(each.members) for each in part], dtype=np.float64)
        ends = np.cumsum([len(each.trajectory) for each in part])
        starts = np.concatenate(([0], ends[:-1]))
        for at, columns in enumerate(chosen):
            found[at] += sizes @ _all_present(odds, columns, starts)
    empty = sum(len(each.members) for each in clusters if not each.trajectory)
    asks_nothing = np.array([not query for query in queries])
    return np.asarray(found + empty * asks_nothing)


def _probabilities(
    cohort: Cohort, clusters: Sequence[Cluster], asked: Sequence[Pair]
) -> Answers:
    """Return published pairs by asked pairs: how likely the former was the latter."""
    pairs = np.array(
        [pair for each in clusters for pair in each.trajectory], dtype=np.int64
    )
    wanted = np.array(asked, dtype=np.int64).reshape(-1, 2)
    code = _below(cohort.losses.code, pairs[:, 0], wanted[:, 0])
    age = _below(cohort.losses.age, pairs[:, 1], wanted[:, 1])
    return np.asarray(code * age)


def _below(
    table: LossTable, above: NDArray[np.int64], below: NDArray[np.int64]
) -> Answers:
    """Return how likely a published value was each of the asked ones."""
    leaves = table.tree.leaves[table.nodes]
    covers = table.ancestors[above[:, None], below[None, :]] == above[:, None]
    return np.asarray(covers * leaves[below][None, :] / leaves[above][:, None])


def _all_present(
    odds: Answers, columns: Sequence[int], starts: NDArray[np.int64]
) -> Answers:
    """Return, by cluster, how likely its trajectory has all of some asked pairs."""
    found = np.zeros(len(starts))
    for size in range(len(columns) + 1):
        for missing in combinations(columns, size):
            none = 1 - odds[:, list(missing)].sum(axis=1)
            found += (-1) ** size * np.multiply.reduceat(none, starts)
    return found


def average_relative_error(true: Answers, expected: Answers) -> float:
    """Return AvgRE: the mean over the queries of the error by the true answer.

    Raises:
        ValueError: There is no query, or one that nothing answers.
    """
    if not len(true) or (true <= 0).any():
        message = "an average relative error needs queries that have an answer"
        raise ValueError(message)
    return float(np.mean(np.abs(true - expected) / true))
