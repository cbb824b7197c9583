"""What enumeration is compared with: Safe Harbor, and k-anonymity by ranges.

Source: Li and Qin 2017, section 5; figures 2 (right) and 4.
"""

from collections.abc import Callable, Mapping, Sequence

from upstream.trajectories.dast.enumeration import Record, Row

Widening = Callable[[str], str]
"""What is published of a value: values that become the same are told apart no more."""


def widened_rows(records: Sequence[Record], how: Sequence[Widening]) -> list[Row]:
    """Return rows in which a value may be any that is published alike.

    Safe Harbor: months become years, ages stay, hospitals become nothing.

    Args:
        records: The true values.
        how: By attribute.
    """
    columns = list(zip(*records, strict=True))
    alike: list[Mapping[str, frozenset[str]]] = []
    for column, widen in zip(columns, how, strict=True):
        groups: dict[str, set[str]] = {}
        for value in column:
            groups.setdefault(widen(value), set()).add(value)
        alike.append({key: frozenset(values) for key, values in groups.items()})
    return [
        tuple(
            groups[widen(value)]
            for value, groups, widen in zip(record, alike, how, strict=True)
        )
        for record in records
    ]


def range_rows(
    records: Sequence[Record],
    groups: Sequence[Sequence[int]],
    domains: Sequence[Sequence[str]],
) -> list[Row]:
    """Return rows in which a value may be any from the least to the greatest.

    Args:
        records: The true values.
        groups: Of records, each in one.
        domains: By attribute, its values in order.
    """
    ranks = [{value: at for at, value in enumerate(domain)} for domain in domains]
    rows: list[Row] = [()] * len(records)
    for group in groups:
        columns = zip(*(records[at] for at in group), strict=True)
        row = []
        for column, rank, domain in zip(columns, ranks, domains, strict=True):
            held = [rank[value] for value in column]
            row.append(frozenset(domain[min(held) : max(held) + 1]))
        for at in group:
            rows[at] = tuple(row)
    return rows


def median_groups(
    records: Sequence[Record], k: int, domains: Sequence[Sequence[str]]
) -> list[list[int]]:
    """Return groups of k records at least that are near each other in their values.

    Each group is cut at the median of the attribute in which it is widest, while both
    parts have k records (Mondrian, strict).

    Raises:
        ValueError: There are fewer than k records.
    """
    if len(records) < k or k < 1:
        message = "k is at least 1, and at most the number of records"
        raise ValueError(message)
    ranks = [{value: at for at, value in enumerate(domain)} for domain in domains]
    points = [
        [rank[value] for value, rank in zip(record, ranks, strict=True)]
        for record in records
    ]
    found, waiting = [], [list(range(len(records)))]
    while waiting:
        group = waiting.pop()
        parts = _cut([points[at] for at in group], k, [len(d) for d in domains])
        if parts is None:
            found.append(group)
        else:
            waiting.extend([group[at] for at in part] for part in parts)
    return sorted(found)


def _cut(
    points: Sequence[Sequence[int]], k: int, sizes: Sequence[int]
) -> tuple[list[int], list[int]] | None:
    """Return two parts of some points, widest attribute first, or None."""
    columns = list(zip(*points, strict=True))
    widths = [
        (max(column) - min(column)) / max(1, size - 1)
        for column, size in zip(columns, sizes, strict=True)
    ]
    for attribute in sorted(range(len(widths)), key=lambda at: -widths[at]):
        column = columns[attribute]
        median = sorted(column)[len(column) // 2]
        for low in (
            [at for at, value in enumerate(column) if value < median],
            [at for at, value in enumerate(column) if value <= median],
        ):
            high = sorted(set(range(len(column))) - set(low))
            if min(len(low), len(high)) >= k:
                return low, high
    return None
