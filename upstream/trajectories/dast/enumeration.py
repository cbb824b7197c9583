"""Value enumeration: each quasi-identifier becomes the list of its cluster's values.

Source: Li and Qin 2017, section 4.3, definitions 1 to 3 and objective (2a).
"""

from collections.abc import Sequence
from math import prod

Record = tuple[str, ...]
"""The true grain value of each quasi-identifier of a note."""

Row = tuple[frozenset[str], ...]
"""What is published instead: for each quasi-identifier the values it may be."""

Clusters = Sequence[Sequence[int]]
"""Numbers of records from 0, each in one cluster."""


def enumerate_values(records: Sequence[Record], clusters: Clusters) -> list[Row]:
    """Return the rows of records whose values are listed by cluster.

    Raises:
        ValueError: A record is in no cluster or in two, or has other attributes.
    """
    if sorted(at for each in clusters for at in each) != list(range(len(records))):
        message = "each record is in one cluster"
        raise ValueError(message)
    if len({len(record) for record in records}) > 1:
        message = "all records have the same quasi-identifiers"
        raise ValueError(message)
    rows: list[Row] = [()] * len(records)
    for cluster in clusters:
        columns = zip(*(records[at] for at in cluster), strict=True)
        shared = tuple(frozenset(column) for column in columns)
        for at in cluster:
            rows[at] = shared
    return rows


def exact_rows(records: Sequence[Record]) -> list[Row]:
    """Return the rows of records that are published as they are."""
    return [tuple(frozenset((value,)) for value in record) for record in records]


def profile_size(row: Row) -> int:
    """Return how many combinations of values a row allows."""
    return prod(map(len, row))


def total_profile_size(rows: Sequence[Row], clusters: Clusters) -> float:
    """Return objective (2a): the sum over clusters of the profile size of a record.

    Where records of a cluster differ, as after a partial drill-down, their mean.
    """
    return sum(
        sum(profile_size(rows[at]) for at in cluster) / len(cluster)
        for cluster in clusters
    )
