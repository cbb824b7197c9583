"""k-safety: how many records each profile of a record may be of.

Source: Li and Qin 2017, definitions 2 to 4 and constraint (2b).
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from upstream.trajectories.dast.enumeration import (
    Clusters,
    Record,
    Row,
    profile_size,
)

Codes = NDArray[np.int64]
MOST_PROFILES = 50_000_000
"""More profiles than this, of all distinct rows together, are not counted."""


class ProfileCodes:
    """Profiles as numbers: values of each attribute are the digits."""

    def __init__(self, rows: Sequence[Row]) -> None:
        attributes = len(rows[0]) if rows else 0
        self._digits: list[dict[str, int]] = []
        for attribute in range(attributes):
            values = sorted(set().union(*(row[attribute] for row in set(rows))))
            self._digits.append({value: digit for digit, value in enumerate(values)})
        sizes = [len(digits) for digits in self._digits]
        if prod(sizes) >= 2**62:
            message = "the quasi-identifiers have too many values: take coarser grains"
            raise ValueError(message)
        self._places = [prod(sizes[at + 1 :]) for at in range(attributes)]

    def of_row(self, row: Row) -> Codes:
        """Return all profiles of a row."""
        found = np.zeros(1, dtype=np.int64)
        for values, digits, place in zip(row, self._digits, self._places, strict=True):
            own = np.array([digits[value] for value in values], dtype=np.int64)
            found = (found[:, None] + own[None, :] * place).ravel()
        return found

    def of_record(self, record: Record) -> int:
        """Return the profile of a record's own values, or -1 if no row has them."""
        total = 0
        for value, digits, place in zip(
            record, self._digits, self._places, strict=True
        ):
            if value not in digits:
                return -1
            total += digits[value] * place
        return total


class ProfileCounts:
    """How many records have each profile; equal rows are counted once, by weight."""

    def __init__(self, rows: Sequence[Row], codes: ProfileCodes) -> None:
        kinds: dict[Row, int] = {}
        self.kinds = np.array(
            [kinds.setdefault(row, len(kinds)) for row in rows], dtype=np.int64
        )
        if sum(map(profile_size, kinds)) > MOST_PROFILES:
            message = "lists are too long: take coarser grains or smaller clusters"
            raise ValueError(message)
        weights = np.bincount(self.kinds, minlength=len(kinds))
        parts = [codes.of_row(row) for row in kinds]
        lengths = np.array([len(part) for part in parts], dtype=np.int64)
        self._all = np.concatenate([np.empty(0, dtype=np.int64), *parts])
        self._starts = np.cumsum(lengths) - lengths
        self.profiles, inverse = np.unique(self._all, return_inverse=True)
        self.counts = np.bincount(
            inverse, np.repeat(weights, lengths), len(self.profiles)
        ).astype(np.int64)

    def rare(self, k: int) -> Codes:
        """Return the profiles that fewer than k records have."""
        return np.asarray(self.profiles[self.counts < k])

    def having(self, profiles: Codes) -> NDArray[np.bool_]:
        """Return which records have one of some profiles."""
        if not len(self._starts):
            return np.zeros(len(self.kinds), dtype=np.bool_)
        hit = np.isin(self._all, profiles)
        return np.asarray(np.logical_or.reduceat(hit, self._starts)[self.kinds])

    def count(self, profile: int) -> int:
        """Return how many records have a profile."""
        at = int(np.searchsorted(self.profiles, profile))
        is_known = at < len(self.profiles) and self.profiles[at] == profile
        return int(self.counts[at]) if is_known else 0


def is_cluster_safe(rows: Sequence[Row], clusters: Clusters, k: int) -> bool:
    """Whether each cluster has k records, all with the same profiles (definition 3)."""
    return all(
        len(cluster) >= k and len({rows[at] for at in cluster}) == 1
        for cluster in clusters
    )


def is_dataset_safe(rows: Sequence[Row], k: int) -> bool:
    """Whether k records have each profile that a record has (definition 4)."""
    return least_profile_count(rows) >= k if rows else True


def least_profile_count(rows: Sequence[Row]) -> int:
    """Return how many records have the rarest profile, 0 if there is no record."""
    counts = ProfileCounts(rows, ProfileCodes(rows)).counts
    return int(counts.min(initial=len(rows)))


def average_risk(records: Sequence[Record], rows: Sequence[Row]) -> float:
    """Return the average re-identification risk, from 0 to 1 (equation 6).

    The risk of a record is 1 / (1 + n): n others may, as published, have its values.
    """
    return float(np.mean([1 / count for count in _candidates(records, rows)]))


def unique_share(records: Sequence[Record], rows: Sequence[Row]) -> float:
    """Return which part of the records has values that no other may have (table 3)."""
    return float(np.mean([count == 1 for count in _candidates(records, rows)]))


def _candidates(records: Sequence[Record], rows: Sequence[Row]) -> list[int]:
    """Return, by record, how many records its true values may be of, itself too.

    Raises:
        ValueError: There is no record.
    """
    if not records:
        message = "there is no record"
        raise ValueError(message)
    codes = ProfileCodes(rows)
    counts = ProfileCounts(rows, codes)
    return [max(1, counts.count(codes.of_record(record))) for record in records]
