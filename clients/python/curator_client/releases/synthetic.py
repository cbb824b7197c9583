"""Made-up rows with the frequencies of a published cube."""

from __future__ import annotations

import random
from itertools import accumulate
from typing import TYPE_CHECKING

from curator_client.tables.exports import optional

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


def likely_counts(estimates: Sequence[float]) -> list[float]:
    """Return counts that are not negative, as near to the estimates as can be.

    Their sum is the estimates' own; where noise made that negative, each counts by
    itself. Noise that is cut at 0 in every empty cell would add up to strangers: here
    the same amount is taken from all cells instead, until what is left has that sum.

    >>> likely_counts([10, 2, -4])
    [8.0, 0.0, 0.0]
    """
    total = sum(estimates)
    if total <= 0:
        return [max(float(value), 0.0) for value in estimates]
    taken, above = 0.0, 0.0
    for place, value in enumerate(sorted(estimates, reverse=True), 1):
        above += value
        if value <= (above - total) / place:
            break
        taken = (above - total) / place
    return [max(float(value) - taken, 0.0) for value in estimates]


def synthetic_rows(
    cells: pd.DataFrame, dimensions: list[str], n: int | None, seed: int | None
) -> pd.DataFrame:
    """Return made-up rows, drawn from the cells' estimates alone."""
    optional("pandas", "synthetic()")
    estimates = cells["estimate"].tolist()
    weights = likely_counts(estimates)
    wanted = round(sum(estimates)) if n is None else n
    if wanted <= 0 or not any(weights):
        return cells[dimensions].iloc[:0].reset_index(drop=True)
    drawn = random.Random(seed).choices(  # noqa: S311 - rows that are made up
        range(len(weights)), cum_weights=list(accumulate(weights)), k=wanted
    )
    return cells[dimensions].iloc[drawn].reset_index(drop=True)
