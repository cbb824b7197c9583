"""A table as it is published: classes of rows, and their values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from upstream.anonymization.arrays import Flags, Floats, Ints, Text
from upstream.anonymization.columns.classes import Classes, class_codes
from upstream.anonymization.columns.columns import Column, HierarchyColumn

SUPPRESSED = -1
"""The class of a row that is not published."""


@dataclass(frozen=True, slots=True, eq=False)
class AnonymizedTable:
    """The quasi-identifiers of a table as they are published; it is not private.

    A row that is suppressed is in no class and is not published.

    Attributes:
        columns: Names of the quasi-identifiers.
        classes: By row: its class from 0, or ``SUPPRESSED``.
        texts: By column, by class: what is published; None is a missing value.
        lower: Shape (columns, classes): the least number that a value stands for. NaN
            for a missing value and where values are no numbers.
        upper: The largest one.
        losses: Shape (columns, classes): LM's loss of each value, from 0 to 1.
        penalties: Shape (columns, classes): its normalized certainty penalty.
    """

    columns: tuple[str, ...]
    classes: Ints
    texts: tuple[tuple[Text, ...], ...]
    lower: Floats
    upper: Floats
    losses: Floats
    penalties: Floats

    @property
    def sizes(self) -> Ints:
        """Return the rows of each class."""
        kept = self.classes[self.is_published]
        return np.bincount(kept, minlength=len(self.texts[0]))

    @property
    def is_published(self) -> Flags:
        """Return by row whether it is published."""
        return np.asarray(self.classes != SUPPRESSED)

    def published_classes(self) -> Classes:
        """Return the classes of the published rows, for principles to check."""
        rows = np.flatnonzero(self.is_published)
        return Classes(self.classes[rows], len(self.texts[0]), rows)

    def values(self, column: str) -> list[Text]:
        """Return what is published of a column, by published row in order."""
        texts = self.texts[self.columns.index(column)]
        return [texts[code] for code in self.classes[self.is_published].tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class ClassValues:
    """What classes publish of one column: the attributes of the table, by class."""

    texts: tuple[Text, ...]
    lower: Floats
    upper: Floats
    losses: Floats
    penalties: Floats


def table_of_ranges(
    columns: Sequence[Column | HierarchyColumn], classes: Ints, low: Ints, high: Ints
) -> AnonymizedTable:
    """Return a table whose classes publish ranges of codes.

    Args:
        columns: The quasi-identifiers.
        classes: By row: its class from 0, or ``SUPPRESSED``.
        low: Shape (columns, classes): the first code of each range.
        high: The last one.
    """
    values = []
    for column, one, other in zip(columns, low, high, strict=True):
        domain = column.domain
        values.append(
            ClassValues(
                domain.texts(one, other),
                *_numbers(domain.bounds, one, other),
                domain.losses(one, other),
                domain.penalties(one, other),
            )
        )
    return _table([column.name for column in columns], classes, values)


def full_domain_table(
    columns: Sequence[HierarchyColumn], node: Sequence[int], is_kept: Flags
) -> AnonymizedTable:
    """Return the table with each column on one level of its hierarchy.

    Args:
        columns: The quasi-identifiers.
        node: The level of each.
        is_kept: By row: whether it is published.
    """
    looks = [
        column.domain.codes[level][column.codes]
        for column, level in zip(columns, node, strict=True)
    ]
    classes, count = class_codes(looks, [int(each.max()) + 1 for each in looks])
    first = np.empty(count, np.int64)
    first[classes[::-1]] = np.arange(len(classes))[::-1]
    values = []
    for column, level in zip(columns, node, strict=True):
        domain, leaves = column.domain, column.codes[first]
        levels = np.full(count, level)
        values.append(
            ClassValues(
                domain.texts_at(levels, leaves),
                *_numbers(domain.bounds_at, levels, leaves),
                domain.losses_at(levels, leaves),
                domain.penalties_at(levels, leaves),
            )
        )
    published = np.where(is_kept, classes, SUPPRESSED)
    return _table([column.name for column in columns], published, values)


def _table(
    names: Sequence[str], classes: Ints, values: Sequence[ClassValues]
) -> AnonymizedTable:
    """Return the table; classes that publish the same are one, those of nobody go."""
    merged, first = _merged([each.texts for each in values], classes)
    return AnonymizedTable(
        tuple(names),
        np.append(merged, SUPPRESSED)[classes],  # the last entry is class -1
        tuple(tuple(each.texts[p] for p in first.tolist()) for each in values),
        np.array([each.lower[first] for each in values]),
        np.array([each.upper[first] for each in values]),
        np.array([each.losses[first] for each in values]),
        np.array([each.penalties[first] for each in values]),
    )


def _merged(texts: Sequence[Sequence[Text]], classes: Ints) -> tuple[Ints, Ints]:
    """Return by class the published class that it is, and a class of each of those."""
    coded, sizes = [], []
    for each in texts:
        known: dict[Text, int] = {}
        coded.append(np.array([known.setdefault(text, len(known)) for text in each]))
        sizes.append(len(known))
    looks, _ = class_codes(coded, sizes)
    used = np.unique(classes[classes != SUPPRESSED])
    merged = np.full(len(looks), SUPPRESSED)
    _, first, merged[used] = np.unique(
        looks[used], return_index=True, return_inverse=True
    )
    return merged, used[first]


def _numbers(
    bounds: Callable[[Ints, Ints], tuple[Floats, Floats]], one: Ints, other: Ints
) -> tuple[Floats, Floats]:
    """Return the numbers that values stand for; NaN where values are no numbers."""
    try:
        return bounds(one, other)
    except ValueError:
        nothing = np.full(len(one), np.nan)
        return nothing, nothing
