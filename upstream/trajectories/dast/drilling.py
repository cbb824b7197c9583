"""Drill-down: lists become single values where the whole data set stays k-safe.

Source: Li and Qin 2017, section 4.3 and figure 11. As printed it rolls back once, and
can end unsafe: who is rolled back relied on others of the cluster that are not. Here
records are rolled back until every profile is held by k records again, clusters and
records are then tried one by one, and attributes anew until nothing changes.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from upstream.trajectories.dast.enumeration import (
    Clusters,
    Record,
    Row,
    enumerate_values,
)
from upstream.trajectories.dast.refining import Refining
from upstream.trajectories.dast.safety import (
    ProfileCodes,
    ProfileCounts,
    is_dataset_safe,
)

Flags = NDArray[np.bool_]


def drill_down(
    records: Sequence[Record],
    clusters: Clusters,
    k: int,
    order: Sequence[int] | None = None,
) -> list[Row]:
    """Return rows that are dataset-level k-safe, with as many single values as found.

    Args:
        records: The true values.
        clusters: Of k records at least.
        k: How many records each profile is of.
        order: In which attributes are drilled; fewest distinct values first unless it
            is said, and the first of several.

    Raises:
        ValueError: A cluster has fewer than k records, or not each record is in one.
        RuntimeError: The end is not k-safe, which would be a fault of this module.
    """
    if min(map(len, clusters), default=k) < k:
        message = "a cluster has fewer than k records"
        raise ValueError(message)
    rows = enumerate_values(records, clusters)
    owners = np.zeros(len(records), dtype=np.int64)
    for number, cluster in enumerate(clusters):
        owners[list(cluster)] = number
    before: list[Row] = []
    while rows != before:
        before = rows
        for attribute in drilling_order(records) if order is None else order:
            rows = _Drilling(records, rows, attribute).settled(owners, k)
            further = Refining(records, rows, k)
            further.refine(clusters, attribute)
            rows = further.rows
    if not is_dataset_safe(rows, k):
        message = "the drill-down is not k-safe"
        raise RuntimeError(message)
    return rows


def drilling_order(records: Sequence[Record]) -> list[int]:
    """Return the attributes, those of the fewest distinct values first."""
    distinct = [len(set(column)) for column in zip(*records, strict=True)]
    return sorted(range(len(distinct)), key=lambda attribute: distinct[attribute])


class _Drilling:
    """One attribute of which all lists become single values, or stay lists."""

    def __init__(
        self, records: Sequence[Record], rows: Sequence[Row], attribute: int
    ) -> None:
        self._lists = list(rows)
        self._singles = [
            (*row[:attribute], frozenset((record[attribute],)), *row[attribute + 1 :])
            for record, row in zip(records, rows, strict=True)
        ]
        self._codes = ProfileCodes(rows)
        self._before = ProfileCounts(rows, self._codes)
        pairs = zip(self._lists, self._singles, strict=True)
        self._is_drilled: Flags = np.array([a != b for a, b in pairs], dtype=np.bool_)

    def settled(self, owners: NDArray[np.int64], k: int) -> list[Row]:
        """Return the rows when as many records are rolled back as safety needs.

        Args:
            owners: By record, its cluster.
            k: How many records each profile is of.
        """
        while True:
            rows = self._rows()
            counts = ProfileCounts(rows, self._codes)
            rare = counts.rare(k)
            if not len(rare):
                return rows
            self._is_drilled &= ~self._rolled_back(counts.having(rare), rare, owners)

    def _rows(self) -> list[Row]:
        found = zip(self._is_drilled, self._singles, self._lists, strict=True)
        return [single if is_drilled else own for is_drilled, single, own in found]

    def _rolled_back(
        self, unsafe: Flags, rare: NDArray[np.int64], owners: NDArray[np.int64]
    ) -> Flags:
        """Return which drilled records become lists again; at least one does.

        Unsafe ones themselves; if they are lists all, those whose lists had a rare
        profile, of the same clusters before others. Lists were safe before, so then
        some of these are drilled.
        """
        found = unsafe & self._is_drilled
        if found.any():
            return found
        helping = self._before.having(rare) & self._is_drilled
        near = helping & np.isin(owners, owners[unsafe])
        return near if near.any() else helping
