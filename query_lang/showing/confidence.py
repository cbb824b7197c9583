"""Intervals of averages and quantiles, from their noisy parts by a union bound.

Given the noise, all parts lie within their half-widths with the probability that was
asked for; then the exact average or quantile of the rows that were counted lies in the
interval. They read noisy values and public facts alone and cost nothing
(docs/proofs/presentation.md).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Final

from query_lang.plans.compiled import (
    AverageShown,
    Bins,
    CompiledQuery,
    ComputedShown,
    Measure,
    NumberShown,
    OutputColumn,
    QuantileShown,
    WindowShown,
    is_noisy,
    windows_in,
)
from query_lang.showing.arithmetic import decimal_steps
from query_lang.showing.chosen_rows import is_chosen_by_noise
from query_lang.showing.computed.bounds import Bounds
from query_lang.showing.computed.intervals import ComputedIntervals, NoiseLaw
from query_lang.showing.decimals import decimal_of, decimal_text
from query_lang.showing.presentation import chosen_cells
from query_lang.showing.totals import DrawsLaw, answer_rows
from query_lang.showing.values import SHOWN_DIGITS, ShownValues

HalfWidth = Callable[[int, Fraction], int]
"""Half-width of one value of a vector, in grid steps, at a confidence."""

Ends = tuple[Fraction, Fraction]
_DAY_ZERO: Final = date(1970, 1, 1)
_AVERAGE_PARTS = 2


@dataclass(frozen=True, slots=True)
class ColumnIntervals:
    """One column's intervals, a pair of texts a row; None where the value is NULL.

    An end that is None is open: the exact value may be as far as that.
    """

    column: str
    rows: tuple[tuple[str | None, str | None] | None, ...]


def intervals_of(
    compiled: CompiledQuery,
    noisy_vectors: Sequence[Sequence[int]],
    noise: NoiseLaw,
    confidence: Fraction,
) -> list[ColumnIntervals]:
    """Return the intervals of what is no count or sum itself, row by row.

    Of an answer with totals those of counts and sums too: each row has its own noise.

    Args:
        compiled: The query.
        noisy_vectors: One a measure, on its grid.
        noise: Of the measures, by their index.
        confidence: Of each interval by itself, below 1.

    Source: union bound over the parts, docs/proofs/presentation.md; of what is computed
    docs/proofs/computed.md.
    """
    cells = chosen_cells(compiled, noisy_vectors)
    values = ShownValues(compiled, noisy_vectors)
    law = DrawsLaw(values.rows, noise.half_width, noise.sum_half_widths)
    computed = _computed_intervals(compiled, noisy_vectors, values, noise)
    found: list[ColumnIntervals] = []
    for column in compiled.columns:
        shown = column.shown
        if isinstance(shown, NumberShown) and compiled.presentation.sets:
            measure = compiled.measures[shown.vector]
            widths = [law.half_width(shown.vector, confidence, c) for c in cells]
            numbers = [values.vectors[shown.vector][c] for c in cells]
            found.append(_numbers(column, measure, numbers, widths))
        elif isinstance(shown, AverageShown):
            ends = _averages(shown, values.vectors, law, confidence)
            scale = compiled.measures[shown.sum_vector].scale
            found.append(_written(column, scale, [ends(cell) for cell in cells]))
        elif isinstance(shown, QuantileShown):
            ends = _quantiles(shown, values.vectors, law, confidence)
            scale = shown.bins.scale
            found.append(_written(column, scale, [ends(cell) for cell in cells]))
        elif isinstance(shown, ComputedShown | WindowShown) and is_noisy(shown):
            miss = 1 - confidence
            if any(windows_in(shown)) and is_chosen_by_noise(compiled.presentation):
                miss /= max(1, len(cells))  # rows share noise: all are to hold at once
            bounds = computed.bounds(shown, cells, miss)
            rows = (None if b is None else bounds_text(b, shown.digits) for b in bounds)
            found.append(ColumnIntervals(column.name, tuple(rows)))
    return found


def total_half_widths(
    compiled: CompiledQuery,
    noisy_vectors: Sequence[Sequence[int]],
    noise: NoiseLaw,
    confidence: Fraction,
) -> dict[str, list[str]]:
    """Return the half-widths of counts and sums of an answer with totals, row by row.

    By column, in its unit; of an answer without totals none: a column has one.

    Args:
        compiled: The query.
        noisy_vectors: One a measure, on its grid.
        noise: Of the measures, by their index.
        confidence: Of each half-width by itself, below 1.
    """
    if not compiled.presentation.sets:
        return {}
    rows = answer_rows(compiled)
    law = DrawsLaw(rows, noise.half_width, noise.sum_half_widths)
    cells = chosen_cells(compiled, noisy_vectors)
    found: dict[str, list[str]] = {}
    for column in compiled.columns:
        if isinstance(column.shown, NumberShown):
            vector = column.shown.vector
            scale = compiled.measures[vector].scale
            widths = [law.half_width(vector, confidence, cell) for cell in cells]
            found[column.name] = [decimal_text(width, scale) for width in widths]
    return found


def _numbers(
    column: OutputColumn,
    measure: Measure,
    numbers: Sequence[int],
    widths: Sequence[int],
) -> ColumnIntervals:
    """Return the intervals of counts and sums; a count is no less than 0 in truth."""

    def text(steps: int) -> str:
        possible = max(0, steps) if measure.never_negative else steps
        return decimal_text(possible, measure.scale)

    rows = zip(numbers, widths, strict=True)
    ends = tuple((text(n - width), text(n + width)) for n, width in rows)
    return ColumnIntervals(column.name, ends)


def _computed_intervals(
    compiled: CompiledQuery,
    vectors: Sequence[Sequence[int]],
    values: ShownValues,
    noise: NoiseLaw,
) -> ComputedIntervals:
    law = DrawsLaw(values.rows, noise.half_width, noise.sum_half_widths)

    def quantile(
        shown: QuantileShown, cell: int, confidence: Fraction
    ) -> Bounds | None:
        ends = _quantiles(shown, values.vectors, law, confidence)(cell)
        step = Fraction(1, 10**shown.bins.scale)
        return None if ends is None else (ends[0] * step, ends[1] * step)

    return ComputedIntervals(compiled.measures, vectors, values, noise, quantile)


def bounds_text(bounds: Bounds, digits: int) -> tuple[str | None, str | None]:
    """Write the ends of an interval, rounded outwards; None is an open end.

    >>> bounds_text((Fraction(1, 3), math.inf), 2)
    ('0.33', None)
    """
    low, high = (
        None if isinstance(end, float) else f"{decimal_steps(end, digits, up=up):f}"
        for end, up in zip(bounds, (False, True), strict=True)
    )
    return low, high


_EndsOfCell = Callable[[int], Ends | None]


def _averages(
    shown: AverageShown,
    vectors: Sequence[Sequence[int]],
    law: DrawsLaw,
    confidence: Fraction,
) -> _EndsOfCell:
    each = 1 - (1 - confidence) / _AVERAGE_PARTS

    def ends(cell: int) -> Ends | None:
        total, count = (
            vectors[shown.sum_vector][cell],
            vectors[shown.count_vector][cell],
        )
        if count < 1:
            return None
        bounds = shown.lower, shown.upper
        of_total = total, law.half_width(shown.sum_vector, each, cell)
        of_count = count, law.half_width(shown.count_vector, each, cell)
        return average_interval(of_total, of_count, bounds)

    return ends


def average_interval(
    total: tuple[int, int], count: tuple[int, int], bounds: tuple[int, int]
) -> Ends:
    """Return where an average lies, in steps of the sum's grid.

    Args:
        total: Noisy sum and its half-width.
        count: Noisy count and its half-width.
        bounds: Least and greatest value that an average can have.

    >>> average_interval((100, 10), (10, 0), (0, 20))
    (Fraction(9, 1), Fraction(11, 1))
    """
    low, high = map(Fraction, bounds)
    if count[0] - count[1] < 1:  # the exact count may be 0: anything may be true
        return low, high
    counts = count[0] - count[1], count[0] + count[1]
    sums = total[0] - total[1], total[0] + total[1]
    found = [Fraction(s, n) for s in sums for n in counts]
    least, most = min(found), max(found)
    return max(low, min(high, least)), max(low, min(high, most))


def _quantiles(
    shown: QuantileShown,
    vectors: Sequence[Sequence[int]],
    law: DrawsLaw,
    confidence: Fraction,
) -> _EndsOfCell:
    bins = shown.bins
    each = 1 - (1 - confidence) / bins.count

    def ends(cell: int) -> Ends | None:
        counts = vectors[shown.vector][cell * bins.count : (cell + 1) * bins.count]
        if sum(max(0, count) for count in counts) < 1:
            return None
        width = law.half_width(shown.vector, each, cell)
        return quantile_interval(counts, width, bins, shown.fraction)

    return ends


def quantile_interval(
    noisy_counts: Sequence[int], width: int, bins: Bins, fraction: Fraction
) -> Ends:
    """Return where a quantile lies, in steps of its grid.

    The share of values up to a bin is greatest where all counts up to it are as large,
    and all others as small, as the noise allows; and the other way round.

    Args:
        noisy_counts: One a bin.
        width: Half-width of each.
        bins: What the counts are counts of.
        fraction: Strictly between 0 and 1.
    """
    least = [max(0, count - width) for count in noisy_counts]
    most = [max(0, count + width) for count in noisy_counts]
    first = _reached(most, least, fraction)
    last = _reached(least, most, fraction)
    return _edge(bins, first, 0), _edge(bins, last, 1)


def _reached(below: Sequence[int], above: Sequence[int], fraction: Fraction) -> int:
    """Return the first bin up to which at least that share lies."""
    rest = sum(above)
    for place, (running, passed) in enumerate(
        zip(accumulate(below), accumulate(above), strict=True)
    ):
        if running > 0 and running >= fraction * (running + rest - passed):
            return place
    return len(below) - 1


def _edge(bins: Bins, index: int, side: int) -> Fraction:
    if bins.one_per_value:
        return Fraction(bins.lower + index)
    return bins.lower + (index + side) * Fraction(bins.upper - bins.lower, bins.count)


def _written(
    column: OutputColumn, scale: int, found: Sequence[Ends | None]
) -> ColumnIntervals:
    days = isinstance(column.shown, QuantileShown) and column.shown.bins.of_days
    write = _day_texts if days else _decimal_texts
    rows = (None if ends is None else write(ends, scale) for ends in found)
    return ColumnIntervals(column.name, tuple(rows))


def _decimal_texts(ends: Ends, scale: int) -> tuple[str, str]:
    """Write both ends in the column's unit, rounded outwards to six digits."""
    steps = [end * 10**SHOWN_DIGITS / 10**scale for end in ends]
    low: Decimal = decimal_of(math.floor(steps[0]), SHOWN_DIGITS)
    high: Decimal = decimal_of(math.ceil(steps[1]), SHOWN_DIGITS)
    return f"{low:f}", f"{high:f}"


def _day_texts(ends: Ends, _: int) -> tuple[str, str]:
    low, high = math.floor(ends[0]), math.ceil(ends[1])
    days = _DAY_ZERO + timedelta(days=low), _DAY_ZERO + timedelta(days=high)
    return days[0].isoformat(), days[1].isoformat()
