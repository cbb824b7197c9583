"""What cells show: the values that rows, HAVING and ORDER BY all speak of."""

import math
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from query_lang.plans.compiled import (
    AverageShown,
    CompiledQuery,
    ComputedShown,
    DependentShown,
    GroupingShown,
    KeyShown,
    LiteralShown,
    NamedTotal,
    NumberShown,
    QuantileShown,
    Shown,
    WindowShown,
)
from query_lang.showing.arithmetic import Number, exact_column, shown_number
from query_lang.showing.cells import ShownValue
from query_lang.showing.decimals import decimal_of, round_half_even
from query_lang.showing.quantiles import quantile
from query_lang.showing.totals import answer_rows
from query_lang.showing.windows import window_numbers

SHOWN_DIGITS: Final = 6
"""Digits after the point of averages and quantiles."""

_DAY_ZERO = date(1970, 1, 1)


class ShownValues:
    """Noisy vectors laid over the cells of a query, and over its totals.

    An average or quantile is the *shown* one, rounded to six digits, and what is
    computed is rounded to its own: a comparison in HAVING says of the answer's rows
    what the reader sees there. Within an expression a window is exact.
    """

    def __init__(
        self, compiled: CompiledQuery, noisy_vectors: Sequence[Sequence[int]]
    ) -> None:
        """Take the vectors of one answer.

        Raises:
            ValueError: They do not fit the cells.
        """
        self.rows = answer_rows(compiled)
        self.cells = self.rows.cells
        self._measures = compiled.measures
        self._found: dict[Shown, tuple[ShownValue, ...]] = {}
        self._windows: dict[WindowShown, list[Number]] = {}
        cells = len(compiled.rendered.cells)
        lengths = [cells * measure.size for measure in compiled.measures]
        if [len(vector) for vector in noisy_vectors] != lengths:
            message = "the vectors do not fit the cells"
            raise ValueError(message)
        self.vectors = [
            self.rows.added(vector, measure.size)
            for vector, measure in zip(noisy_vectors, compiled.measures, strict=True)
        ]

    def column(self, shown: Shown) -> tuple[ShownValue, ...]:
        """Return one value a cell, in declared order."""
        if shown not in self._found:
            self._found[shown] = self._column(shown)
        return self._found[shown]

    def numbers(self, shown: Shown) -> list[Number]:
        """Return one exact number a cell, before it is rounded to be shown."""
        if not isinstance(shown, WindowShown):
            return exact_column(shown, self._operand, len(self.cells))
        if shown not in self._windows:
            self._windows[shown] = window_numbers(shown, self)
        return self._windows[shown]

    def _operand(self, shown: Shown) -> Sequence[ShownValue] | list[Number]:
        if isinstance(shown, WindowShown):
            return self.numbers(shown)
        return self.column(shown)

    def _column(self, shown: Shown) -> tuple[ShownValue, ...]:  # noqa: PLR0911 - an arm a form
        if isinstance(shown, ComputedShown | LiteralShown | WindowShown):
            digits = 0 if isinstance(shown, LiteralShown) else shown.digits
            return tuple(shown_number(one, digits) for one in self.numbers(shown))
        if isinstance(shown, GroupingShown):
            return tuple(self.rows.grouping(shown))
        if isinstance(shown, NamedTotal):
            return tuple(self.rows.named(shown))
        if isinstance(shown, DependentShown):
            follows = dict(shown.pairs)
            return tuple(follows.get(cell[shown.index]) for cell in self.cells)
        return tuple(self._value(shown, cell) for cell in range(len(self.cells)))

    def _value(
        self, shown: KeyShown | NumberShown | AverageShown | QuantileShown, cell: int
    ) -> ShownValue:
        match shown:
            case KeyShown(index):
                return self.cells[cell][index]
            case NumberShown(vector):
                return self._number(vector, cell)
            case AverageShown():
                return self._average(shown, cell)
            case QuantileShown():
                return self._quantile(shown, cell)

    def _number(self, vector: int, cell: int) -> int | Decimal:
        """Return a count or sum in its column's unit."""
        steps, scale = self.vectors[vector][cell], self._measures[vector].scale
        return decimal_of(steps, scale) if scale else steps

    def _average(self, shown: AverageShown, cell: int) -> Decimal | None:
        count = self.vectors[shown.count_vector][cell]
        if count < 1:
            return None
        steps = self.vectors[shown.sum_vector][cell]
        steps = min(max(steps, shown.lower * count), shown.upper * count)
        scale = self._measures[shown.sum_vector].scale
        return round_half_even(steps, count * 10**scale, SHOWN_DIGITS)

    def _quantile(self, shown: QuantileShown, cell: int) -> ShownValue:
        bins = shown.bins
        first = cell * bins.count
        counts = self.vectors[shown.vector][first : first + bins.count]
        found = quantile(counts, bins, shown.fraction)
        if found is None:
            return None
        if bins.of_days:
            return _DAY_ZERO + timedelta(days=math.floor(found))
        return round_half_even(
            found.numerator, found.denominator * 10**bins.scale, SHOWN_DIGITS
        )
