"""How precisely ranges of a published column are queried.

A row whose value is published as [40-50] is returned for age > 45, since it may be
meant: recall is 1, and precision is the share of the returned rows that are meant.

Source: Gardner 2012 (HIDE), section 5.1.2. It draws "age > n and age < n", which no age
fulfils as it is printed; here a query has one bound, or two that are not the same.
"""

from dataclasses import dataclass

import numpy as np

from upstream.anonymization.arrays import Flags, Floats, Ints
from upstream.anonymization.columns.tables import AnonymizedTable

_CLOSEST = 2  # between bounds that are this far apart lies a whole number


@dataclass(frozen=True, slots=True, eq=False)
class RangeQueries:
    """Queries for values strictly between two bounds, in the unit of the column.

    Attributes:
        above: By query: the lower bound; minus infinity for none.
        below: The upper one, larger than the lower one; infinity for none.
    """

    above: Floats
    below: Floats


@dataclass(frozen=True, slots=True)
class Precision:
    """How well queries are answered.

    Attributes:
        precision: The mean over queries of the meant among the returned rows; queries
            that return nothing are left out. NaN where all are.
        recall: The mean over queries of the returned among the meant rows, likewise;
            1 unless rows are suppressed.
        queries: How many return something.
    """

    precision: float
    recall: float
    queries: int


def draw_queries(
    number: int, low: int, high: int, random: np.random.Generator
) -> RangeQueries:
    """Return queries drawn at random: above n, below n, or between n and m.

    Args:
        number: How many; each kind is as likely.
        low: The least bound, in the unit of the column.
        high: The largest, more than one above it.
        random: Where they are drawn from.

    Raises:
        ValueError: There is no whole number between the bounds.
    """
    if high - low < _CLOSEST:
        message = f"no whole number lies between {low} and {high}: widen the bounds"
        raise ValueError(message)
    kinds = random.integers(3, size=number)
    one = random.integers(low, high + 1 - _CLOSEST, size=number)
    other = random.integers(one + _CLOSEST, high + 1)
    single = random.integers(low, high + 1, size=number)
    above = np.select([kinds == 0, kinds == 1], [single, -np.inf], one)
    below = np.select([kinds == 0, kinds == 1], [np.inf, single], other)
    return RangeQueries(above, below)


def query_precision(
    table: AnonymizedTable, column: str, values: Floats, queries: RangeQueries
) -> Precision:
    """Return how precisely queries of a published column are answered.

    A missing value is never meant; a row that publishes "*" is always returned.

    Args:
        table: Where the column is published as ranges of numbers.
        column: Its name.
        values: By row of the table: the true number, NaN where it is missing.
        queries: What is asked.

    Raises:
        ValueError: The column is not published as numbers.
    """
    place = table.columns.index(column)
    shown = table.is_published
    lower = table.lower[place][table.classes[shown]]
    upper = table.upper[place][table.classes[shown]]
    known = ~np.isnan(lower)
    if known.sum() < np.sum(~np.isnan(values[shown])):
        message = f"{column} is not published as numbers"
        raise ValueError(message)
    returned = _within(lower[known], upper[known], queries)
    meant_shown = _of_values(values[shown], queries)
    meant = _of_values(values, queries)
    return Precision(
        _mean_share(meant_shown, returned, returned > 0),
        _mean_share(meant_shown, meant, meant > 0),
        int((returned > 0).sum()),
    )


def _of_values(values: Floats, queries: RangeQueries) -> Ints:
    """Return how many true values each query means."""
    known = values[~np.isnan(values)]
    return _within(known, known, queries)


def _within(lower: Floats, upper: Floats, queries: RangeQueries) -> Ints:
    """Return how many ranges each query meets.

    A range is missed that ends at or before the lower bound or begins at or after the
    upper one; no range is both.
    """
    before = np.searchsorted(np.sort(upper), queries.above, side="right")
    after = len(lower) - np.searchsorted(np.sort(lower), queries.below, side="left")
    found: Ints = len(lower) - before - after
    return found


def _mean_share(part: Ints, whole: Ints, where: Flags) -> float:
    """Return the mean of shares, NaN of none."""
    return float(np.mean(part[where] / whole[where])) if where.any() else float("nan")
