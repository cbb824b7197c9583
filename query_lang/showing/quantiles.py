"""Quantiles of noisy histograms over publicly fixed bins."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from query_lang.plans.compiled import Bins


def quantile(
    noisy_counts: Sequence[int], bins: Bins, fraction: Fraction
) -> Fraction | None:
    """Return where the running count reaches ``fraction`` of the total.

    Negative counts become 0. The answer lies in the first bin whose running count
    reaches ``fraction`` times the total, linear inside it; where a bin is one value it
    is that value.

    Args:
        noisy_counts: One a bin, in order.
        bins: What the counts are counts of.
        fraction: Strictly between 0 and 1.

    Returns:
        In steps of the column's grid, exact, between ``bins.lower`` and ``bins.upper``;
        None where the total is below 1.

    Raises:
        ValueError: Not one count a bin.

    Source: CONTRACT 3; post-processing of noisy counts, docs/proofs/presentation.md.

    >>> quantile([2, -5, 6, 0], Bins(0, 40, 4, one_per_value=False), Fraction(1, 2))
    Fraction(70, 3)
    """
    if len(noisy_counts) != bins.count:
        message = f"{len(noisy_counts)} counts for {bins.count} bins"
        raise ValueError(message)
    counts = [max(0, count) for count in noisy_counts]
    wanted = fraction * sum(counts)
    if wanted <= 0:
        return None
    running = list(accumulate(counts))
    found = next(i for i, reached in enumerate(running) if reached >= wanted)
    before = running[found] - counts[found]
    return _inside(bins, found, (wanted - before) / counts[found])


def _inside(bins: Bins, index: int, part: Fraction) -> Fraction:
    """Return the point of a bin that ``part`` of its count lies below."""
    if bins.one_per_value:
        return Fraction(bins.lower + index)
    return bins.lower + (index + part) * Fraction(bins.upper - bins.lower, bins.count)
