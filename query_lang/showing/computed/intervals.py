"""Intervals of what is computed of noisy numbers, from public scales and what is shown.

A value is taken apart into ratios of sums of noisy numbers, each of which has an
interval of its own (Fieller's, or that of a sum); what is computed of them further lies
where interval arithmetic says. Parts share the chance of a miss
(docs/proofs/computed.md).
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from query_lang.plans.compiled import (
    Measure,
    Operation,
    PublicShown,
    QuantileShown,
    Shown,
    WindowShown,
    leaves,
    windows_in,
)
from query_lang.showing.arithmetic import Number
from query_lang.showing.computed.bounds import (
    ANYTHING,
    Bounds,
    computed_bounds,
    power,
    quotient,
    times,
    within,
)
from query_lang.showing.computed.linear_fractions import OWN, Affine, FractionReader
from query_lang.showing.computed.nulls import extreme_bounds, is_held
from query_lang.showing.computed.readings import (
    Answer,
    CellReader,
    Chosen,
    Combined,
    Extreme,
    Fixed,
    Guarded,
    Inverse,
    Part,
    Product,
    Ratio,
    RatioDraws,
    Reading,
    Source,
    Tree,
)
from query_lang.showing.values import ShownValues
from query_lang.showing.windows import EXTREMES, Window, windows


@dataclass(frozen=True, slots=True)
class NoisyRatio:
    """A ratio of noisy sums; ``limits`` are what is publicly known of the exact one."""

    value: Fraction
    denominator: Fraction
    draws: tuple[RatioDraws, ...]
    limits: Bounds


class NoiseLaw(Protocol):
    """What is known of the noise of an answer's vectors: public scales alone."""

    def half_width(self, vector: int, confidence: Fraction) -> int:
        """Return the half-width of one value of a vector, in grid steps."""
        ...

    def sum_half_widths(
        self, sums: Sequence[Sequence[tuple[Fraction, int, int]]], miss: Fraction
    ) -> Sequence[Fraction]:
        """Return that of sums: weights, vectors and how many draws of each."""
        ...

    def ratio_bounds(
        self, ratios: Sequence[NoisyRatio], miss: Fraction
    ) -> Sequence[Bounds]:
        """Return an interval of each ratio, which misses with at most ``miss``."""
        ...


@dataclass(frozen=True, slots=True)
class _Placed:
    """A part of a cell's value, and which of them it is."""

    cell: int
    place: int
    source: Source


_Told = tuple[Bounds, bool]  # where a value lies, and whether it is sure not to be NULL
_OfAKind = Callable[[Sequence[_Placed], Fraction], Iterator[tuple[_Placed, Bounds]]]


def _ratios_in(parts: Sequence[_Placed]) -> Iterator[tuple[_Placed, Ratio]]:
    for part in parts:
        if isinstance(part.source, Ratio):
            yield part, part.source


@dataclass(frozen=True, slots=True)
class ComputedIntervals:
    """Makes the intervals of computed columns of one answer.

    Attributes:
        measures: Of the vectors.
        vectors: Noisy, in grid steps, of cells.
        values: What anything shows, one value a cell.
        noise: Of the vectors.
        quantile: The interval of a quantile in a cell, at a confidence, or None.
    """

    measures: Sequence[Measure]
    vectors: Sequence[Sequence[int]]
    values: ShownValues
    noise: NoiseLaw
    quantile: Callable[[QuantileShown, int, Fraction], Bounds | None]
    _columns: dict[Shown, list[Number]] = field(default_factory=dict)
    _frames: dict[WindowShown, dict[int, Sequence[int]]] = field(default_factory=dict)
    _totals: dict[tuple[int, tuple[int, ...]], Affine | None] = field(
        default_factory=dict
    )
    _sums: dict[int, tuple[Affine, Fraction]] = field(default_factory=dict)
    _rows: dict[tuple[WindowShown, Fraction], dict[int, _Told]] = field(
        default_factory=dict
    )

    def bounds(
        self, shown: Shown, cells: Sequence[int], miss: Fraction
    ) -> list[Bounds | None]:
        """Return where the exact values of some cells lie, if there are any.

        Args:
            shown: A computed value.
            cells: Whose.
            miss: The chance that an interval by itself may miss.

        Returns:
            One a cell; None where NULL is shown, or a number that has no noise.
        """
        if isinstance(shown, WindowShown) and shown.operand is None:
            return self._ranks(shown, cells, miss)
        values = self._values(shown)
        held = [cell for cell in cells if values[cell] is not None]
        read = self._readings(shown, held)
        found = self._of_parts(read, miss)
        return [self._of_cell(cell, read, found) for cell in cells]

    def _readings(
        self, shown: Shown, cells: Sequence[int], *, is_null_told: bool = False
    ) -> dict[int, Reading]:
        """Take a value apart in each cell; where no key is in it, once for all."""

        def reading(cell: int) -> Reading:
            reader = CellReader(self._answer, cell)
            return reader.reading(shown, is_null_told=is_null_told)

        is_apart = any(isinstance(leaf, PublicShown) for leaf in leaves(shown))
        if is_apart or self.values.rows.members is not None or any(windows_in(shown)):
            return {cell: reading(cell) for cell in cells}
        return dict.fromkeys(cells, reading(OWN))

    @property
    def _answer(self) -> Answer:
        cells = len(self.values.cells)
        return Answer(
            self.measures,
            cells,
            self._values,
            self._frame,
            self._totals,
            self.values.rows.members,
        )

    def _ranks(
        self, shown: WindowShown, cells: Sequence[int], miss: Fraction
    ) -> list[Bounds | None]:
        """Return ranks between those that are sure before and after; all hold at once.

        A row is before another for sure where their intervals do not meet.
        """
        found: dict[int, Bounds] = {}
        every = windows(shown, self.values)
        told = self._order_bounds(shown, every, miss)
        for window in every:
            held = {cell: told[cell] for cell in window.cells}
            lows = sorted(low for low, _ in held.values())
            highs = sorted(high for _, high in held.values())
            for cell, (low, high) in held.items():
                below = bisect_left(highs, low)
                above = len(lows) - bisect_right(lows, high)
                first, last = (
                    (above, below) if shown.order[0].descending else (below, above)
                )
                if shown.name == "dense_rank":
                    first = min(first, 1)
                found[cell] = Fraction(first + 1), Fraction(len(window.cells) - last)
        return [found.get(cell) for cell in cells]

    def _order_bounds(
        self, shown: WindowShown, every: Sequence[Window], miss: Fraction
    ) -> dict[int, Bounds]:
        """Return where the one number that rows are ordered by lies in each cell.

        Those of a window hold at once. All windows are read in one go, at the chance
        of the largest: window by window, what they share was read for each again.
        Where it may be NULL in truth, it may stand at either end.
        """
        cells = [cell for window in every for cell in window.cells]
        if len(shown.order) > 1:
            return dict.fromkeys(cells, ANYTHING)
        value = shown.order[0].value
        read = self._readings(value, cells, is_null_told=True)
        found = self._of_parts(read, miss / _most_cells(every))
        told: dict[int, Bounds] = {}
        for cell in cells:
            is_sure = self._is_sure(read[cell].guarded, found[cell], cell)
            bounds = self._of_cell(cell, read, found) if is_sure else None
            told[cell] = bounds or ANYTHING
        return told

    def _frame(self, shown: WindowShown, cell: int) -> Sequence[int]:
        """Return the cells that a window reads in a cell."""
        if shown not in self._frames:
            self._frames[shown] = {
                at: window.frame(shown, place)
                for window in windows(shown, self.values)
                for place, at in enumerate(window.cells)
            }
        return self._frames[shown].get(cell, ())

    def _of_cell(
        self,
        cell: int,
        read: Mapping[int, "Reading"],
        found: Mapping[int, Sequence[Bounds]],
    ) -> Bounds | None:
        if cell not in read:
            return None
        bounds = self._evaluate(read[cell].guarded.tree, found[cell], cell)
        return None if bounds is None else within(bounds, read[cell].limits)

    def _values(self, shown: Shown) -> list[Number]:
        if shown not in self._columns:
            self._columns[shown] = self.values.numbers(shown)
        return self._columns[shown]

    # -- parts ------------------------------------------------------------------

    def _of_parts(
        self, read: Mapping[int, "Reading"], miss: Fraction
    ) -> dict[int, list[Bounds]]:
        """Return the intervals of all parts; those of a cell share its chance."""
        found: dict[int, list[Bounds]] = {
            cell: [ANYTHING] * len(reading.parts) for cell, reading in read.items()
        }
        shares: dict[Fraction, list[_Placed]] = {}
        for cell, reading in read.items():
            each = miss / max(1, len(reading.parts))
            placed = (_Placed(cell, *one) for one in enumerate(reading.parts))
            shares.setdefault(each, []).extend(placed)
        for each, parts in shares.items():
            for of_a_kind in self._kinds:
                for part, bounds in of_a_kind(parts, each):
                    found[part.cell][part.place] = bounds
        return found

    @property
    def _kinds(self) -> Sequence[_OfAKind]:
        return self._of_quantiles, self._of_sums, self._of_ratios, self._of_extremes

    def _of_extremes(
        self, parts: Sequence["_Placed"], miss: Fraction
    ) -> Iterator[tuple["_Placed", Bounds]]:
        """Yield where the greatest or least of a frame lies: its rows hold at once.

        The exact value may be another row's than the noisy one.
        """
        for part in parts:
            if not isinstance(part.source, Extreme):
                continue
            shown = part.source.window
            if (shown, miss) not in self._rows:
                self._rows[shown, miss] = dict(self._rows_of(shown, miss))
            held = self._rows[shown, miss]
            frame = self._frame(shown, part.cell)
            told = [held[cell] for cell in frame if cell in held]
            if told:
                bounds = extreme_bounds(EXTREMES[shown.name], told)
                yield part, within(bounds, part.source.limits)

    def _rows_of(
        self, shown: WindowShown, miss: Fraction
    ) -> Iterator[tuple[int, "_Told"]]:
        """Yield where what a window takes of each of its rows lies, all at once.

        At the chance of the largest window, as ranks. Rows where it is NULL whatever
        was drawn are left out.
        """
        if shown.operand is None:
            return
        every = windows(shown, self.values)
        cells = [cell for window in every for cell in window.cells]
        read = self._readings(shown.operand, cells, is_null_told=True)
        found = self._of_parts(read, miss / _most_cells(every))
        for cell in cells:
            guarded = read[cell].guarded
            if not self._is_null(guarded, cell):
                bounds = self._bounds_of(guarded.tree, found[cell], cell)
                is_sure = self._is_sure(guarded, found[cell], cell)
                yield cell, (within(bounds, read[cell].limits), is_sure)

    def _of_quantiles(
        self, parts: Sequence["_Placed"], miss: Fraction
    ) -> Iterator[tuple["_Placed", Bounds]]:
        for part in parts:
            if isinstance(part.source, QuantileShown):
                told = self.quantile(part.source, part.cell, 1 - miss)
                yield part, told or ANYTHING

    def _of_sums(
        self, parts: Sequence["_Placed"], miss: Fraction
    ) -> Iterator[tuple["_Placed", Bounds]]:
        """Yield intervals of sums; cells whose noise is alike share a reading."""
        sums = [(part, one) for part, one in _ratios_in(parts) if one.is_sum]
        distinct = {id(one): one for _, one in sums}
        noise = [_draws_in(one.fraction.over) for one in distinct.values()]
        found = self.noise.sum_half_widths(noise, miss)
        widths = dict(zip(distinct, found, strict=True))
        for part, one in sums:
            value, width = self._value(one.fraction.over, part.cell), widths[id(one)]
            yield part, within((value - width, value + width), one.limits)

    def _of_ratios(
        self, parts: Sequence["_Placed"], miss: Fraction
    ) -> Iterator[tuple["_Placed", Bounds]]:
        listed = [
            (part, noisy)
            for part, one in _ratios_in(parts)
            if not one.is_sum and (noisy := self._noisy(one, part.cell)) is not None
        ]
        found = self.noise.ratio_bounds([noisy for _, noisy in listed], miss)
        for (part, _), bounds in zip(listed, found, strict=True):
            yield part, bounds

    def _noisy(self, part: Ratio, cell: int) -> NoisyRatio | None:
        denominator = self._value(part.fraction.under, cell)
        if denominator == 0:
            return None
        value = self._value(part.fraction.over, cell) / denominator
        return NoisyRatio(value, denominator, part.draws, part.limits)

    def _value(self, affine: Affine, cell: int) -> Fraction:
        known = self._sums.get(id(affine))
        if known is not None:
            return known[1]
        sums: dict[int, int] = {}  # by their denominators: few, so that this is fast
        for (vector, at), weight in affine.terms.items():
            value = self.vectors[vector][cell if at == OWN else at]
            below = weight.denominator
            sums[below] = sums.get(below, 0) + weight.numerator * value
        noisy = (Fraction(top, below) for below, top in sums.items())
        total = sum(noisy, affine.constant)
        if all(at != OWN for _, at in affine.terms):
            self._sums[id(affine)] = affine, total  # it lives as long as its place here
        return total

    # -- trees ----------------------------------------------------------------------

    def _evaluate(  # noqa: PLR0911 - an arm a form
        self, tree: Tree, found: Sequence[Bounds], cell: int
    ) -> Bounds | None:
        """Return the interval of a tree; None where what it shows has no noise."""
        match tree:
            case Part(place):
                return found[place]
            case Fixed():
                return None
            case Product(factors):
                whole: Bounds = (Fraction(1), Fraction(1))
                for factor, number in Counter(factors).items():
                    bounds = self._bounds_of(factor, found, cell)
                    whole = times(whole, power(bounds, number))
                return whole
            case Combined(shown, operands):
                parts = [self._bounds_of(each, found, cell) for each in operands]
                return computed_bounds(shown, parts)
            case Chosen():
                return self._chosen(tree, found, cell)
            case Inverse(shown, under):
                one = Fraction(1), Fraction(1)
                below = self._bounds_of(under, found, cell)
                return quotient(one, below, is_positive=shown.least is not None)
            case _:
                return ANYTHING

    def _bounds_of(self, tree: Tree, found: Sequence[Bounds], cell: int) -> Bounds:
        if isinstance(tree, Fixed):
            return tree.value, tree.value
        bounds = self._evaluate(tree, found, cell)
        if bounds is None and isinstance(tree, Chosen):  # a key, or a literal
            value = self._values(tree.shown)[cell]
            return ANYTHING if value is None else (value, value)
        return bounds or ANYTHING

    def _chosen(
        self, tree: Chosen, found: Sequence[Bounds], cell: int
    ) -> Bounds | None:
        """Return where the first operand lies that is not NULL, or the extreme one.

        Which operands are NULL in truth is not what the noisy numbers show: one that
        may be NULL is taken with what comes if it is, and if it is not.
        """
        operation = tree.shown.operation
        told: list[tuple[Guarded, bool]] = []
        for each in tree.operands:
            if self._is_null(each, cell):
                continue
            told.append((each, self._is_sure(each, found, cell)))
            if operation is Operation.COALESCE and told[-1][1]:
                break
        if len(told) == 1:
            return self._evaluate(told[0][0].tree, found, cell)
        parts = [
            (self._bounds_of(each.tree, found, cell), is_sure) for each, is_sure in told
        ]
        return extreme_bounds(operation, parts) if parts else None

    def _is_null(self, guarded: Guarded, cell: int) -> bool:
        """Whether a value is NULL whatever was drawn: keys and literals decide."""
        return guarded.guards == () and self._values(guarded.shown)[cell] is None

    def _is_sure(self, guarded: Guarded, found: Sequence[Bounds], cell: int) -> bool:
        """Whether a value is not NULL in truth where all parts' intervals hold."""
        if guarded.guards is None or self._values(guarded.shown)[cell] is None:
            return False
        return all(
            is_held(guard, self._bounds_of(tree, found, cell))
            for guard, tree in guarded.guards
        )


def _most_cells(every: Sequence[Window]) -> int:
    """Return how many cells the largest window has, at least 1."""
    return max((len(window.cells) for window in every), default=1)


def sum_half_width(
    shown: Shown,
    measures: Sequence[Measure],
    noise: NoiseLaw,
    miss: Fraction,
    added: int = 1,
) -> Fraction | None:
    """Return the half-width of a weighted sum of counts and sums, known beforehand.

    It is the same in all cells. None of all else: it depends on what is measured, or on
    keys.

    Args:
        shown: What is computed, or a number.
        measures: Of the vectors.
        noise: Of them.
        miss: The chance that it does not hold.
        added: How many cells are added up in a row.
    """
    scales = tuple(measure.scale for measure in measures)
    fraction = FractionReader(OWN, scales, lambda *_: None).read(shown)
    if fraction is None or fraction.is_constant or not fraction.under.is_constant:
        return None
    draws = [(w, vector, n * added) for w, vector, n in _draws_in(fraction.over)]
    (width,) = noise.sum_half_widths([draws], miss)
    return width / abs(fraction.under.constant)


def _draws_in(over: Affine) -> list[tuple[Fraction, int, int]]:
    """Return the noise in a sum: weights, vectors and how many draws of each."""
    alike: Counter[tuple[Fraction, int]] = Counter()
    for (top, below, vector), count in over.kinds.items():
        alike[Fraction(abs(top), below), vector] += count
    return sorted((*kind, count) for kind, count in alike.items())
