"""Distances from one trajectory to many at once: the losses of their alignments.

Trajectories of one length stand in one array, a column each, so that dynamic
programming takes a step for all of them. What is kept is not the loss but what is
saved against suppressing everything: then suppressing costs nothing, and a step is the
largest of three neighbours. In single precision: this only chooses whom to align.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from upstream.trajectories.lda.trajectories import Losses, Pair, Trajectory

Aligner = Literal["a-gs", "baseline"]
_Floats = NDArray[np.float32]
_Ids = NDArray[np.int64]
_KEPT_ROWS = 4096  # of gains, one a distinct pair
_COLUMNS = 4096  # that are scanned at once, so that they stay in the cache
_FEW_COLUMNS = 200  # below them numpy's own loop over rows is faster, measured
_FIRST = 64  # that are aligned before any is passed over
_SLACK = 1e-4  # by which sums in single precision may be wrong


@dataclass(slots=True)
class _Bucket:
    """Trajectories of one length.

    Attributes:
        pairs: Ids of pairs; a column for each trajectory.
        members: By column, the number of the trajectory.
        whole: By column, what suppressing all of it loses.
    """

    pairs: _Ids
    members: _Ids
    whole: _Floats

    def parts(self) -> Iterator["_Bucket"]:
        """Yield some columns after another."""
        for start in range(0, len(self.members), _COLUMNS):
            yield self.of(slice(start, start + _COLUMNS))

    def of(self, columns: slice | _Ids | NDArray[np.bool_]) -> "_Bucket":
        """Return some columns."""
        pairs = np.ascontiguousarray(self.pairs[:, columns])
        return _Bucket(pairs, self.members[columns], self.whole[columns])


@dataclass(frozen=True, slots=True)
class _Scan:
    """A trajectory that is compared with many.

    Attributes:
        whole: What suppressing all of it loses.
        gains: For each of its pairs, by distinct pair of the others, what generalising
            both saves against suppressing both.
    """

    whole: np.float32
    gains: Sequence[_Floats]


class Pool:
    """Distinct trajectories that are still to be clustered, by their numbers from 0."""

    def __init__(
        self, trajectories: Sequence[Trajectory], losses: Losses, aligner: Aligner
    ) -> None:
        self._losses = losses
        self._is_baseline = aligner == "baseline"
        self._weights = (
            (1.0, 1.0)
            if self._is_baseline
            else (losses.weights.code, losses.weights.age)
        )
        ids: dict[Pair, int] = {}
        rows = [[ids.setdefault(p, len(ids)) for p in each] for each in trajectories]
        places = np.array(list(ids), dtype=np.int64).reshape(-1, 2)
        self._codes, self._ages = places[:, 0], places[:, 1]
        self._suppressing = self._weighted(
            losses.code.suppressing[self._codes], losses.age.suppressing[self._ages]
        )
        self._gains: dict[Pair, tuple[_Floats, _Floats]] = {}
        self._size = len(rows)
        self._is_left = np.ones(self._size, dtype=np.bool_)
        self._buckets: dict[int, _Bucket] = {}
        for length in sorted({len(row) for row in rows}):
            own = [at for at, row in enumerate(rows) if len(row) == length]
            pairs = np.array([rows[at] for at in own], dtype=np.int64)
            columns = np.ascontiguousarray(pairs.reshape(len(own), length).T)
            whole = self._suppressing[columns].sum(axis=0, dtype=np.float32)
            members = np.array(own, dtype=np.int64)
            self._buckets[length] = _Bucket(columns, members, whole)

    def remove(self, number: int) -> None:
        """Leave a trajectory out from now on."""
        self._is_left[number] = False

    def distances(self, x: Trajectory, members: int = 1) -> NDArray[np.float32]:
        """Return the loss of aligning x with each; infinite with those that are gone.

        Loss: the sum of ILM and ALM, weighted for A-GS and not for Baseline.

        Args:
            x: A trajectory, perhaps of an alignment.
            members: How many records x stands for.
        """
        found = np.full(self._size, np.inf, dtype=np.float32)
        scan = self._scan(x, members)
        for bucket in self._buckets.values():
            self._compact(bucket)
            for part in bucket.parts():
                found[part.members] = self._aligned(scan, part)
        found[~self._is_left] = np.inf
        return found

    def nearest(self, x: Trajectory, members: int = 1) -> int:
        """Return the trajectory with the least loss, the first of several.

        Args:
            x: A trajectory, perhaps of an alignment.
            members: How many records x stands for.

        Raises:
            ValueError: None is left.
        """
        if not self._is_left.any():
            message = "no trajectory is left"
            raise ValueError(message)
        if self._is_baseline:
            return int(np.argmin(self.distances(x, members)))
        scan = self._scan(x, members)
        bounds = self._bounds(scan)
        best = self._best_of(scan, self._lowest(bounds))
        rest = np.flatnonzero(bounds <= best[0] + _SLACK)
        return self._best_of(scan, rest)[1]

    def _scan(self, x: Trajectory, members: int) -> _Scan:
        whole = np.float32(members * sum(self._suppressed(pair) for pair in x))
        return _Scan(whole, [self._gain(pair, members) for pair in x])

    def _lowest(self, bounds: _Floats) -> _Ids:
        """Return the trajectories whose bounds are lowest."""
        if len(bounds) <= _FIRST:
            return np.flatnonzero(np.isfinite(bounds))
        lowest = np.argpartition(bounds, _FIRST)[:_FIRST]
        return np.asarray(lowest[np.isfinite(bounds[lowest])], dtype=np.int64)

    def _bounds(self, scan: _Scan) -> _Floats:
        """Return what an alignment with each loses at least.

        A pair of the other trajectory saves no more than with the best of x for it,
        and no more pairs save than x has.
        """
        found = np.full(self._size, np.inf, dtype=np.float32)
        best = np.zeros(len(self._codes), dtype=np.float32)
        for gain in scan.gains:
            np.maximum(best, gain, out=best)
        ours = sum(float(gain.max(initial=0)) for gain in scan.gains)
        for length, bucket in self._buckets.items():
            self._compact(bucket)
            if not len(bucket.members):
                continue
            saved = best[bucket.pairs].sum(axis=0)
            if length > len(scan.gains):
                np.minimum(saved, ours, out=saved)
            found[bucket.members] = scan.whole + bucket.whole - saved
        found[~self._is_left] = np.inf
        return found

    def _best_of(self, scan: _Scan, chosen: _Ids) -> tuple[float, int]:
        """Return the least loss among some, and the first that has it."""
        is_chosen = np.zeros(self._size, dtype=np.bool_)
        is_chosen[chosen] = True
        best = (np.inf, self._size)
        for bucket in self._buckets.values():
            columns = np.flatnonzero(is_chosen[bucket.members])
            if len(columns):
                part = bucket.of(columns)
                lost = self._aligned(scan, part)
                at = int(np.argmin(lost))
                best = min(best, (float(lost[at]), int(part.members[at])))
        return best

    def _aligned(self, scan: _Scan, bucket: _Bucket) -> _Floats:
        """Return the losses of aligning x with trajectories of one length."""
        saved = _in_step if self._is_baseline else _saved
        lost = scan.whole + bucket.whole - saved(scan.gains, bucket.pairs)
        return np.asarray(lost)

    def _suppressed(self, pair: Pair) -> float:
        """Return what is lost if a pair is suppressed."""
        code, age = self._losses.code.suppressing, self._losses.age.suppressing
        w, v = self._weights
        return float(w * code[pair[0]] + v * age[pair[1]])

    def _gain(self, pair: Pair, members: int) -> _Floats:
        """Return, by distinct pair, what generalising saves against suppressing."""
        found = self._gains.get(pair)
        if found is None:
            if len(self._gains) >= _KEPT_ROWS:
                self._gains.clear()
            code, age = self._losses.code.meeting, self._losses.age.meeting
            ours = self._weighted(code[pair[0]][self._codes], age[pair[1]][self._ages])
            theirs = self._weighted(
                code[:, pair[0]][self._codes], age[:, pair[1]][self._ages]
            )
            ours = np.float32(self._suppressed(pair)) - ours
            found = (ours, self._suppressing - theirs)
            self._gains[pair] = found
        return np.asarray(np.float32(members) * found[0] + found[1])

    def _weighted(self, code: NDArray[np.float64], age: NDArray[np.float64]) -> _Floats:
        w, v = self._weights
        return (w * code + v * age).astype(np.float32)

    def _compact(self, bucket: _Bucket) -> None:
        """Drop the columns of trajectories that are gone, once they are a fifth."""
        is_left = self._is_left[bucket.members]
        if is_left.sum() < 0.8 * len(is_left):
            kept = bucket.of(is_left)
            bucket.pairs, bucket.members = kept.pairs, kept.members
            bucket.whole = kept.whole


def _saved(gains: Sequence[_Floats], pairs: _Ids) -> _Floats:
    """Return the most that A-GS saves, by column."""
    rows, columns = pairs.shape
    best = np.zeros((rows + 1, columns), dtype=np.float32)
    for gain in gains:
        step = gain.take(pairs)
        step += best[:-1]
        np.maximum(step, best[1:], out=step)
        if columns < _FEW_COLUMNS:
            np.maximum.accumulate(step, axis=0, out=best[1:])
            continue
        for row in range(rows):  # whole rows at once are faster, if they are long
            np.maximum(step[row], best[row], out=best[row + 1])
    return np.asarray(best[-1])


def _in_step(gains: Sequence[_Floats], pairs: _Ids) -> _Floats:
    """Return what Baseline saves, by column; below 0 where suppressing were better."""
    total = np.zeros(pairs.shape[1], dtype=np.float32)
    for gain, row in zip(gains, pairs, strict=False):
        total += gain.take(row)
    return total
