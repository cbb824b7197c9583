"""How likely rows are to be re-identified by their quasi-identifiers alone.

Nothing here says what is learnt about somebody whose row is not found (homogeneity),
nor what several releases say together.

Sources: El Emam and Dankar 2008 (prosecutor, journalist, marketer); Li and Qin 2017
(DAST), equation (6), whose average is the marketer's risk where rows lie in classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from upstream.anonymization.arrays import Floats, Ints
from upstream.anonymization.columns.classes import Classes, class_codes
from upstream.anonymization.columns.columns import Column, HierarchyColumn
from upstream.anonymization.columns.tables import AnonymizedTable


@dataclass(frozen=True, slots=True)
class Risks:
    """The risks of rows, each from 0 to 1.

    Attributes:
        prosecutor: The largest, for one who knows that somebody is in the table: 1 over
            the smallest class.
        journalist: The largest, for one who does not know it: 1 over the smallest class
            of the population; the prosecutor's where no population is given.
        marketer: The average: the share of rows that are re-identified if each is
            matched with one of its class; DAST's equation (6).
        unique: The share of rows that are alone in their class.
    """

    prosecutor: float
    journalist: float
    marketer: float
    unique: float


def risks_of(sizes: Ints, population: Ints | None = None) -> Risks:
    """Return the risks of rows in classes.

    Args:
        sizes: Rows of each class; classes without rows are left out.
        population: By class: people of the population who fall into it, at least as
            many as rows.

    Raises:
        ValueError: There is no row, or a class has fewer people than rows.

    >>> risks_of(np.array([3, 2])).marketer  # figure 4 of DAST
    0.4
    """
    people = sizes if population is None else population
    rows = int(sizes.sum())
    if not rows or (people < sizes).any():
        message = "name classes with rows, and at least as many people as rows"
        raise ValueError(message)
    there = sizes > 0
    return Risks(
        prosecutor=1 / int(sizes[there].min()),
        journalist=1 / int(people[there].min()),
        marketer=float((sizes[there] / people[there]).sum() / rows),
        unique=int((sizes == 1).sum()) / rows,
    )


def risks_after(table: AnonymizedTable) -> Risks:
    """Return the risks of the published rows; at least one row is published."""
    return risks_of(table.sizes)


def risks_before(columns: Sequence[Column | HierarchyColumn]) -> Risks:
    """Return the risks of rows if the quasi-identifiers were published as they are.

    Args:
        columns: The quasi-identifiers; at least one, with at least one row.
    """
    return risks_of(raw_classes(columns).sizes())


def raw_classes(columns: Sequence[Column | HierarchyColumn]) -> Classes:
    """Return the classes of rows that have the same values as they are.

    Args:
        columns: At least one.
    """
    sizes = [column.domain.size for column in columns]
    codes, count = class_codes([column.codes for column in columns], sizes)
    return Classes(codes, count, np.arange(len(codes)))


def row_risks(table: AnonymizedTable) -> Floats:
    """Return the risk of each published row: 1 over the rows of its class."""
    classes = table.classes[table.is_published]
    risks: Floats = 1 / table.sizes[classes]
    return risks
