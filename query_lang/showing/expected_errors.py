"""Expected errors of averages and quantiles, known before anything is asked.

It depends on how many rows a cell counts, which nobody knows before asking. So it is
said for round numbers of rows, from the noise and public declarations alone, and as the
worst case of whatever the rows may be (docs/proofs/presentation.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from query_lang.plans.compiled import (
    AverageShown,
    CompiledQuery,
    ComputedShown,
    KeyShown,
    NamedTotal,
    NumberShown,
    QuantileShown,
)
from query_lang.showing.arithmetic import decimal_steps
from query_lang.showing.computed.intervals import NoiseLaw, sum_half_width
from query_lang.showing.confidence import HalfWidth
from query_lang.showing.decimals import decimal_of
from query_lang.showing.totals import cells_added
from query_lang.showing.values import SHOWN_DIGITS

ROUND_COUNTS: Final = (100, 1_000, 10_000, 100_000)
"""Values that are not NULL, in one cell, after bounds and filters."""

_PARTS_OF_AVERAGE: Final = 2


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """The largest error of one column of an answer, at a confidence.

    Attributes:
        column: Its name.
        of: ``value``: the shown average lies within so much of the exact one.
            ``share``: for a fraction q and so much as s, at least q - s of the exact
            values lie up to the end of the bin of the shown quantile, and at most
            q + s before that bin. The bin itself may hold none of them.
        half_widths: One for each of ``ROUND_COUNTS``; None where noise may decide all.
    """

    column: str
    of: Literal["value", "share"]
    half_widths: tuple[str | None, ...]


def expected_errors(
    compiled: CompiledQuery, noise: NoiseLaw, confidence: Fraction
) -> list[ExpectedError]:
    """Return what can be said of each average and quantile before its answer.

    Of what is computed, it is the half-width of sums and differences, which is the same
    however many rows there are; of the rest, nothing.

    Args:
        compiled: The query.
        noise: Of the measures, by their index.
        confidence: Of each column's statement by itself, below 1.

    Source: union bound over the noisy parts; docs/proofs/presentation.md.
    """
    found: list[ExpectedError] = []
    half_width = noise.half_width
    for column in compiled.columns:
        shown = column.shown
        if isinstance(shown, AverageShown):
            scale = compiled.measures[shown.sum_vector].scale
            widths = _of_average(shown, scale, half_width, confidence)
            found.append(ExpectedError(column.name, "value", _texts(widths)))
        elif isinstance(shown, QuantileShown):
            each = 1 - (1 - confidence) / shown.bins.count
            width = half_width(shown.vector, each)
            errors = [share_error(n, width, shown.bins.count) for n in ROUND_COUNTS]
            found.append(ExpectedError(column.name, "share", _texts(errors)))
        elif isinstance(shown, ComputedShown):
            found += _of_computed(column.name, shown, compiled, noise, 1 - confidence)
    return found


@dataclass(frozen=True, slots=True)
class ExpectedTotals:
    """How noisy the rows of one grouping set are, at a confidence.

    Attributes:
        keys: Names of the columns that show its keys.
        added: How many cells each of its rows adds up.
        half_widths: By column, of counts, sums, and sums and differences of them.
    """

    keys: tuple[str, ...]
    added: int
    half_widths: dict[str, str]


def expected_totals(
    compiled: CompiledQuery, noise: NoiseLaw, confidence: Fraction
) -> list[ExpectedTotals]:
    """Return how noisy each grouping set of an answer with totals is, in their order.

    Args:
        compiled: The query.
        noise: Of the measures, by their index.
        confidence: Of each half-width by itself, below 1.

    Source: docs/proofs/grouping_sets.md.
    """
    sets = compiled.presentation.sets
    found: list[ExpectedTotals] = []
    for kept, added in zip(sets, cells_added(sets, compiled.key_places), strict=True):
        widths: dict[str, str] = {}
        for column in compiled.columns:
            shown = column.shown
            if isinstance(shown, NumberShown | ComputedShown):
                width = sum_half_width(
                    shown, compiled.measures, noise, 1 - confidence, added
                )
                if width is not None:
                    digits = _digits(shown, compiled)
                    widths[column.name] = f"{decimal_steps(width, digits, up=True):f}"
        names = tuple(
            column.name
            for column in compiled.columns
            if isinstance(column.shown, KeyShown | NamedTotal)
            and column.shown.index in kept
        )
        found.append(ExpectedTotals(names, added, widths))
    return found


def _digits(shown: NumberShown | ComputedShown, compiled: CompiledQuery) -> int:
    if isinstance(shown, ComputedShown):
        return shown.digits
    return compiled.measures[shown.vector].scale


def _of_computed(
    name: str,
    shown: ComputedShown,
    compiled: CompiledQuery,
    noise: NoiseLaw,
    miss: Fraction,
) -> list[ExpectedError]:
    width = sum_half_width(shown, compiled.measures, noise, miss)
    if width is None:
        return []
    text = f"{decimal_steps(width, shown.digits, up=True):f}"
    return [ExpectedError(name, "value", (text,) * len(ROUND_COUNTS))]


def _of_average(
    shown: AverageShown, scale: int, half_width: HalfWidth, confidence: Fraction
) -> list[Fraction | None]:
    """Return half-widths in the column's unit."""
    each = 1 - (1 - confidence) / _PARTS_OF_AVERAGE
    widths = half_width(shown.sum_vector, each), half_width(shown.count_vector, each)
    bounds = shown.lower, shown.upper
    errors = (average_error(n, widths, bounds) for n in ROUND_COUNTS)
    return [None if each is None else each / 10**scale for each in errors]


def average_error(
    counted: int, widths: tuple[int, int], bounds: tuple[int, int]
) -> Fraction | None:
    """Return the largest error of an average while the noise stays within its widths.

    Args:
        counted: How many values there are.
        widths: Half-widths of their noisy sum and count.
        bounds: Least and greatest value, in steps of the sum's grid.

    Returns:
        Steps of the sum's grid; None where the bounds alone say as much.

    >>> average_error(100, (50, 10), (0, 20))
    Fraction(25, 9)
    """
    of_sum, of_count = widths
    if counted <= of_count:
        return None
    greatest = max(abs(bounds[0]), abs(bounds[1]))
    error = Fraction(of_sum + greatest * of_count, counted - of_count)
    return error if error < bounds[1] - bounds[0] else None


def share_error(counted: int, width: int, bins: int) -> Fraction | None:
    """Return the largest error of the share of values up to any bin, as a share.

    Args:
        counted: How many values there are.
        width: Half-width of each bin's noisy count, within which all stay.
        bins: How many there are.

    Returns:
        A share below 1; None where nothing can be said.

    >>> share_error(1_000, 1, 64)
    Fraction(8, 117)
    """
    noise = bins * width
    return Fraction(noise, counted - noise) if counted > 2 * noise else None


def _texts(widths: Sequence[Fraction | None]) -> tuple[str | None, ...]:
    """Round up, and by one step more: what is shown was rounded, too."""
    return tuple(
        None
        if width is None
        else f"{decimal_of(math.ceil(width * 10**SHOWN_DIGITS) + 1, SHOWN_DIGITS):f}"
        for width in widths
    )
