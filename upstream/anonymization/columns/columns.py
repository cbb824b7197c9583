"""A quasi-identifier: a column of codes, and what ranges of codes are published as."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from privacy.wording import counted
from upstream.anonymization.arrays import Codes, Flags, Floats, Ints, Text
from upstream.anonymization.columns.ordered import OrderedValues
from upstream.anonymization.errors import HierarchyError
from upstream.anonymization.hierarchies.hierarchy import Hierarchy
from upstream.errors import Problem


class Domain(Protocol):
    """The values of a column, by codes from 0; a class publishes a range of them."""

    @property
    def size(self) -> int:
        """Return how many codes there are."""
        ...

    @property
    def is_divisible(self) -> bool:
        """Whether relaxed cuts may part rows of one value."""
        ...

    def losses(self, low: Codes, high: Codes) -> Floats:
        """Return LM's loss of publishing the range from low to high, from 0 to 1."""
        ...

    def penalties(self, low: Codes, high: Codes) -> Floats:
        """Return the normalized certainty penalty of it, from 0 to 1."""
        ...

    def is_cut(
        self, low: Codes, high: Codes, left: Codes, right: Codes
    ) -> Flags | Ints:
        """Whether the range may be cut between two codes in it that follow."""
        ...

    def texts(self, low: Codes, high: Codes) -> tuple[Text, ...]:
        """Return what is published."""
        ...

    def bounds(self, low: Codes, high: Codes) -> tuple[Floats, Floats]:
        """Return the least and the largest number that is published."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A quasi-identifier of the table.

    Attributes:
        name: Of the column.
        domain: Its values.
        codes: By row: which value.
    """

    name: str
    domain: Domain
    codes: Codes


@dataclass(frozen=True, slots=True, eq=False)
class HierarchyColumn:
    """A quasi-identifier with a hierarchy; a ``Column`` that Incognito can take.

    Attributes:
        name: Of the column.
        domain: Its hierarchy.
        codes: By row: which leaf.
    """

    name: str
    domain: Hierarchy
    codes: Codes


def number_column(name: str, values: Sequence[float | None]) -> Column:
    """Return a column of numbers, cut and published as ranges; None is missing.

    Raises:
        ValueError: A number is NaN or infinite.
    """
    known = np.array([v for v in values if v is not None], dtype=np.float64)
    if not np.isfinite(known).all():
        message = f"{name}: a number is not finite: write None for a missing one"
        raise ValueError(message)
    numbers, found = np.unique(known, return_inverse=True)
    missing = np.array([v is None for v in values], dtype=bool)
    codes = np.full(len(values), len(numbers))
    codes[~missing] = found
    texts = tuple(_number(number) for number in numbers.tolist())
    domain = OrderedValues(texts, numbers, has_missing=bool(missing.any()))
    return Column(name, domain, _narrow(codes, domain.size))


def ordered_column(name: str, values: Sequence[Text], order: Sequence[str]) -> Column:
    """Return a column of categories in an order, cut and published as ranges.

    Args:
        name: Of the column.
        values: By row; None is missing.
        order: All categories.

    Raises:
        HierarchyError: Values are not in the order.
    """
    positions = np.arange(len(order), dtype=np.float64)
    domain = OrderedValues(tuple(order), positions, has_missing=None in values)
    return Column(name, domain, _coded(name, values, (*order, None)))


def category_column(name: str, values: Sequence[Text]) -> Column:
    """Return a column of categories without order or hierarchy; None is missing.

    They are cut in falling order of their rows, and published as lists: "{A, B}".
    """
    counts = Counter(value for value in values if value is not None)
    order = sorted(counts, key=lambda value: (-counts[value], value))
    column = ordered_column(name, values, order)
    positions = np.arange(len(order), dtype=np.float64)
    domain = OrderedValues(
        tuple(order), positions, has_missing=None in values, is_listed=True
    )
    return replace(column, domain=domain)


def hierarchy_column(
    name: str,
    values: Sequence[Text],
    hierarchy: Hierarchy,
    *,
    by_frequency: bool = True,
) -> HierarchyColumn:
    """Return a column of values that are generalized along a hierarchy.

    Args:
        name: Of the column.
        values: By row; None is missing.
        hierarchy: With a path for every value.
        by_frequency: Whether children are put in falling order of rows: Mondrian then
            cuts off the largest first. Nothing else depends on it.

    Raises:
        HierarchyError: Values have no path.
    """
    if None in values:
        hierarchy = hierarchy.with_missing()
    codes = _coded(name, values, hierarchy.labels[0])
    if by_frequency:
        counts = np.bincount(codes, minlength=hierarchy.size)
        ordered = hierarchy.by_frequency(counts)
        place = {label: code for code, label in enumerate(ordered.labels[0])}
        codes = np.array([place[label] for label in hierarchy.labels[0]])[codes]
        hierarchy = ordered
    return HierarchyColumn(name, hierarchy, _narrow(codes, hierarchy.size))


def _coded(name: str, values: Sequence[Text], known: Sequence[Text]) -> Codes:
    """Return the place of each value among those that are known."""
    place = {value: code for code, value in enumerate(known)}
    codes = np.array([place.get(value, -1) for value in values], dtype=np.int64)
    lost = np.flatnonzero(codes < 0)
    if len(lost):
        sentence = (
            f"{counted(len(lost), 'value')} without a path or a place in the order "
            f"(the first is in row {lost[0] + 1}): add what is missing"
        )
        raise HierarchyError((Problem(name, None, None, sentence),))
    return _narrow(codes, len(known))


def _narrow(codes: Codes, size: int) -> Codes:
    """Return codes in as few bytes as they need: sorting and gathering is faster."""
    return codes.astype(np.int16 if size <= np.iinfo(np.int16).max else np.int32)


def _number(number: float) -> str:
    """Return a number as it is published."""
    return str(int(number)) if number.is_integer() else repr(number)
