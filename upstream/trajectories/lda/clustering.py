"""Clusters of at least k records, each published as one trajectory (MDAV).

Source: Tamersoy 2011, section IV.3.2, after Domingo-Ferrer and Mateo-Sanz 2002. The
most frequent trajectory is found, then the one most distant from it, and a cluster is
formed around the latter. What k records share is a cluster as it is, beforehand:
nothing of it need be lost. Copies of one trajectory are compared once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from upstream.trajectories.lda.alignment import align, align_by_index
from upstream.trajectories.lda.distances import Aligner, Pool
from upstream.trajectories.lda.trajectories import Cohort, Losses, Trajectory


@dataclass(frozen=True, slots=True)
class Way:
    """How clusters are made.

    Attributes:
        aligner: How two trajectories become one, and how far they are apart.
        counts_members: Whether what a cluster's trajectory loses counts for each of its
            records, as it does in the end. The thesis counts it once, and Baseline
            always does.
    """

    aligner: Aligner = "a-gs"
    counts_members: bool = True


@dataclass(frozen=True, slots=True)
class Member:
    """A record of a cluster.

    Attributes:
        record: Its number in the cohort.
        kept: For each published pair, which of the record's own it generalises; the
            others are suppressed.
    """

    record: int
    kept: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Records that are published alike.

    Attributes:
        trajectory: What is published of each; empty if all is suppressed.
        members: At least k.
    """

    trajectory: Trajectory
    members: tuple[Member, ...]


@dataclass
class _Growing:
    """A cluster that takes records in."""

    trajectory: Trajectory
    kept: dict[int, tuple[int, ...]] = field(default_factory=dict)  # by record

    def take(
        self, records: Sequence[int], own: Trajectory, losses: Losses, way: "Way"
    ) -> None:
        """Take in records of one trajectory."""
        if way.aligner == "baseline":
            found = align_by_index(self.trajectory, own, losses)
        else:
            members = self.members(way)
            found = align(self.trajectory, own, losses, members=members)
        self.trajectory = found.trajectory
        ours = [left for left, _ in found.matches]
        self.kept = {
            record: tuple(kept[left] for left in ours)
            for record, kept in self.kept.items()
        }
        theirs = tuple(right for _, right in found.matches)
        self.kept.update(dict.fromkeys(records, theirs))

    def members(self, way: "Way") -> int:
        """Return how many records its losses count for."""
        counts = way.counts_members and way.aligner != "baseline"
        return max(1, len(self.kept)) if counts else 1


def clusters_of(cohort: Cohort, k: int, way: Way | None = None) -> list[Cluster]:
    """Return clusters in which every record lies once, each published alike.

    Args:
        cohort: The records.
        k: How many records a cluster has at least.
        way: How they are made; A-GS that counts members unless it is said.

    Raises:
        ValueError: k is below 1, or there are fewer than k records.
    """
    records_held = len(cohort.trajectories)
    if k < 1 or records_held < k:
        message = f"k is {k}: it is at least 1, and at most {records_held}, the records"
        raise ValueError(message)
    way = way or Way()
    records: dict[Trajectory, list[int]] = {}
    for record, trajectory in enumerate(cohort.trajectories):
        records.setdefault(trajectory, []).append(record)
    shared = {own: held for own, held in records.items() if len(held) >= k}
    grown = [
        _Growing(own, dict.fromkeys(held, tuple(range(len(own)))))
        for own, held in shared.items()
    ]
    rest = {own: held for own, held in records.items() if own not in shared}
    waiting = _Waiting(rest, cohort.losses, way)
    grown.extend(waiting.clusters(k))
    for own, held in waiting.left():
        _add_to_nearest(grown, held, own, (cohort.losses, way))
    return [
        Cluster(
            each.trajectory, tuple(Member(*item) for item in sorted(each.kept.items()))
        )
        for each in grown
    ]


class _Waiting:
    """Records that are in no cluster yet, those of one trajectory together."""

    def __init__(
        self,
        records: dict[Trajectory, list[int]],
        losses: Losses,
        way: Way,
    ) -> None:
        self._own = list(records)
        self._records = list(records.values())
        self._counts = np.array([len(held) for held in self._records], dtype=np.int64)
        self._losses, self._way = losses, way
        self._pool = Pool(self._own, losses, way.aligner)
        self._anchor = -1
        self._distances: NDArray[np.float32] = np.empty(0, dtype=np.float32)

    def clusters(self, k: int) -> list[_Growing]:
        """Return clusters, until fewer than k records wait."""
        found = []
        waiting = int(self._counts.sum())
        while waiting >= k:
            start = self._most_distant()
            grown = _Growing(self._own[start])
            while len(grown.kept) < k:
                near = self._nearest(grown) if grown.kept else start
                taken = self._taken(near, k - len(grown.kept))
                grown.take(taken, self._own[near], self._losses, self._way)
            found.append(grown)
            waiting -= k
        return found

    def _nearest(self, grown: _Growing) -> int:
        return self._pool.nearest(grown.trajectory, grown.members(self._way))

    def left(self) -> list[tuple[Trajectory, list[int]]]:
        """Return the trajectories that wait, and their records."""
        pairs = zip(self._own, self._records, strict=True)
        return [(own, held) for own, held in pairs if held]

    def _most_distant(self) -> int:
        """Return the trajectory that is farthest from the most frequent one."""
        anchor = int(np.argmax(self._counts))
        if anchor != self._anchor:
            self._anchor = anchor
            self._distances = self._pool.distances(self._own[anchor])
        held = np.where(self._counts > 0, self._distances, -np.inf)
        return int(np.argmax(held))

    def _taken(self, number: int, most: int) -> list[int]:
        """Take up to so many records of a trajectory."""
        held = self._records[number]
        taken, self._records[number] = held[:most], held[most:]
        self._counts[number] = len(self._records[number])
        if not self._counts[number]:
            self._pool.remove(number)
        return taken


def _add_to_nearest(
    grown: Sequence[_Growing],
    records: Sequence[int],
    own: Trajectory,
    how: tuple[Losses, Way],
) -> None:
    """Add the records that are left to the cluster that loses least by it."""
    losses, way = how
    pool = Pool([each.trajectory for each in grown], losses, way.aligner)
    grown[pool.nearest(own)].take(records, own, losses, way)


def is_k_anonymous(published: Sequence[Sequence[object]], k: int) -> bool:
    """Whether each published trajectory is that of k records (definition 1)."""
    held: dict[tuple[object, ...], int] = {}
    for each in published:
        held[tuple(each)] = held.get(tuple(each), 0) + 1
    return min(held.values(), default=k) >= k


def published(cohort: Cohort, clusters: Sequence[Cluster]) -> list[Trajectory]:
    """Return what is published of each record, by its number."""
    found: list[Trajectory] = [()] * len(cohort.trajectories)
    for cluster in clusters:
        for member in cluster.members:
            found[member.record] = cluster.trajectory
    return found
