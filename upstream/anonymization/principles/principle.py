"""The one protocol of principles, and several at once.

All are checked on what is published: rows with the same quasi-identifiers are one
class. A missing value is a value of its own category, among quasi-identifiers and
sensitive values alike; it is never a wildcard.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import numpy as np

from upstream.anonymization.arrays import Codes, Flags, Ints, Text
from upstream.anonymization.columns.classes import Classes


@dataclass(frozen=True, slots=True, eq=False)
class Sensitive:
    """A sensitive column of the table.

    Attributes:
        name: Of the column.
        codes: By row of the table: its value, from 0; in the order of the values where
            a principle needs one.
        size: How many values there are.
    """

    name: str
    codes: Codes
    size: int


class Principle(Protocol):
    """What every class of a published table must have."""

    @property
    def is_monotone(self) -> bool:
        """Whether two classes that have it still have it as one class."""
        ...

    @property
    def monotone(self) -> "Principle":
        """Return what of it two classes that have it still have as one: all, or less.

        What lacks that lacks the principle, and so do all tables that tell more.
        """
        ...

    @property
    def is_absorbing(self) -> bool:
        """Whether a class that has it keeps it, whatever is joined to it.

        Only then do fewer rows have to be suppressed the more a table is generalized.
        """
        ...

    @property
    def least_size(self) -> int:
        """Return a number of rows below which no class has it."""
        ...

    @property
    def sensitive(self) -> Sequence[Sensitive]:
        """Return the sensitive columns that it looks at."""
        ...

    def holds(self, classes: Classes) -> Flags:
        """Return by class whether it has the principle."""
        ...


@dataclass(frozen=True, slots=True)
class AllOf:
    """Several principles at once.

    Attributes:
        principles: At least one.
    """

    principles: tuple[Principle, ...]

    @property
    def is_monotone(self) -> bool:
        """Whether all are."""
        return all(each.is_monotone for each in self.principles)

    @property
    def monotone(self) -> Principle:
        """Return what of each is monotone."""
        return AllOf(tuple(each.monotone for each in self.principles))

    @property
    def is_absorbing(self) -> bool:
        """Whether all are."""
        return all(each.is_absorbing for each in self.principles)

    @property
    def least_size(self) -> int:
        """Return the largest."""
        return max(each.least_size for each in self.principles)

    @property
    def sensitive(self) -> Sequence[Sensitive]:
        """Return all sensitive columns, each once."""
        found = (column for each in self.principles for column in each.sensitive)
        return list({id(column): column for column in found}.values())

    def holds(self, classes: Classes) -> Flags:
        """Return by class whether it has all of them."""
        return reduce(np.logical_and, [each.holds(classes) for each in self.principles])

    def __str__(self) -> str:
        return " and ".join(str(each) for each in self.principles)


def sensitive_column(
    name: str, values: Sequence[Text], order: Sequence[str] | None = None
) -> Sensitive:
    """Return a sensitive column; a missing value comes last, as a value of its own.

    Args:
        name: Of the column.
        values: By row; None is missing.
        order: The values in order; by their texts, if None.

    Raises:
        ValueError: A value is not in the order.
    """
    known: list[Text] = list(order or sorted({v for v in values if v is not None}))
    if None in values:
        known.append(None)
    place = {value: code for code, value in enumerate(known)}
    codes = np.array([place.get(value, -1) for value in values], dtype=np.int32)
    if (codes < 0).any():
        message = f"{name}: values are missing from the order: name all of them"
        raise ValueError(message)
    return Sensitive(name, codes, len(known))


def floors_of(numerator: int, denominator: int, factors: Ints) -> Ints:
    """Return the whole part of numerator/denominator times each factor, exactly.

    Python's whole numbers have no largest one; each distinct factor is taken once.
    """
    distinct, places = np.unique(factors, return_inverse=True)
    products = [numerator * factor // denominator for factor in distinct.tolist()]
    limit = np.iinfo(np.int64).max
    return np.array([min(each, limit) for each in products], np.int64)[places]
