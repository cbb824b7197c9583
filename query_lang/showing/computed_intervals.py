"""Intervals of what is computed of noisy numbers, from public scales and what is shown.

A value is taken apart into ratios of sums of noisy numbers, each of which has an
interval of its own (Fieller's, or that of a sum); what is computed of them further lies
where interval arithmetic says. Parts share the chance of a miss
(docs/proofs/computed.md).
"""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from query_lang.plans.compiled import (
    AverageShown,
    ComputedShown,
    KeyShown,
    LiteralShown,
    Measure,
    NumberShown,
    Operation,
    QuantileShown,
    Shown,
    WindowShown,
    leaves,
    windows_in,
)
from query_lang.showing.arithmetic import Number, exact_column
from query_lang.showing.bounds import (
    ANYTHING,
    Bounds,
    computed_bounds,
    greatest,
    is_below,
    least,
    power,
    quotient,
    times,
    within,
)
from query_lang.showing.cells import CellValues
from query_lang.showing.linear_fractions import (
    ONE,
    OWN,
    Affine,
    Atom,
    FractionReader,
    LinearFraction,
    fraction_of,
)
from query_lang.showing.windows import windows


@dataclass(frozen=True, slots=True)
class RatioDraws:
    """Like draws of noise in a ratio: weights in both sums, the vector, how many."""

    above: Fraction
    below: Fraction
    vector: int
    count: int


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
class _Part:
    """One interval that a value is made of; ``place`` is its own among its cell's."""

    place: int


@dataclass(frozen=True, slots=True)
class _Fixed:
    """A number that has no noise."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class _Product:
    """What is multiplied, in parts or trees."""

    factors: tuple["_Tree", ...]


@dataclass(frozen=True, slots=True)
class _Combined:
    """A computed value of trees, each of what is shown there; of them or of 1."""

    shown: ComputedShown
    operands: tuple["_Tree", ...]


@dataclass(frozen=True, slots=True)
class _Unknown:
    """What nothing can be said of."""


@dataclass(frozen=True, slots=True)
class _Inverse:
    """1 divided by a tree."""

    shown: ComputedShown
    tree: "_Tree"


_Tree = _Part | _Fixed | _Product | _Combined | _Inverse | _Unknown


@dataclass(frozen=True, slots=True)
class _Ratio:
    """A ratio within public limits, as one part of a value, and the noise in it."""

    fraction: LinearFraction
    limits: Bounds
    draws: tuple[RatioDraws, ...]

    @property
    def is_sum(self) -> bool:
        """Whether nothing noisy is under the line."""
        return self.fraction.under.is_constant


_Source = _Ratio | QuantileShown


@dataclass(frozen=True, slots=True)
class _Placed:
    """A part of a cell's value, and which of them it is."""

    cell: int
    place: int
    source: _Source


def _ratios_in(parts: Sequence[_Placed]) -> Iterator[tuple[_Placed, _Ratio]]:
    for part in parts:
        if isinstance(part.source, _Ratio):
            yield part, part.source


@dataclass(frozen=True, slots=True)
class ComputedIntervals:
    """Makes the intervals of computed columns of one answer.

    Attributes:
        measures: Of the vectors.
        vectors: Noisy, in grid steps.
        values: What anything shows, one value a cell.
        noise: Of the vectors.
        quantile: The interval of a quantile in a cell, at a confidence, or None.
    """

    measures: Sequence[Measure]
    vectors: Sequence[Sequence[int]]
    values: CellValues
    noise: NoiseLaw
    quantile: Callable[[QuantileShown, int, Fraction], Bounds | None]
    _columns: dict[Shown, list[Number]] = field(default_factory=dict)
    _frames: dict[WindowShown, dict[int, Sequence[int]]] = field(default_factory=dict)
    totals: dict[tuple[int, tuple[int, ...]], Affine | None] = field(
        default_factory=dict
    )
    _sums: dict[int, tuple[Affine, Fraction]] = field(default_factory=dict)

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

    def _readings(self, shown: Shown, cells: Sequence[int]) -> dict[int, "_Reading"]:
        """Take a value apart in each cell; where no key is in it, once for all."""
        if any(isinstance(leaf, KeyShown) for leaf in leaves(shown)) or any(
            windows_in(shown)
        ):
            return {cell: _CellReader(self, cell).reading(shown) for cell in cells}
        alike = _CellReader(self, OWN).reading(shown)
        return dict.fromkeys(cells, alike)

    def _ranks(
        self, shown: WindowShown, cells: Sequence[int], miss: Fraction
    ) -> list[Bounds | None]:
        """Return ranks between those that are sure before and after; all hold at once.

        A row is before another for sure where their intervals do not meet.
        """
        found: dict[int, Bounds] = {}
        for window in windows(shown, self.values):
            held = self._order_bounds(shown, window.cells, miss)
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
        self, shown: WindowShown, cells: Sequence[int], miss: Fraction
    ) -> dict[int, Bounds]:
        """Return where the one number that rows are ordered by lies in each."""
        if len(shown.order) > 1:
            return dict.fromkeys(cells, ANYTHING)
        told = self.bounds(shown.order[0].value, cells, miss / max(1, len(cells)))
        return {
            cell: bounds or ANYTHING for cell, bounds in zip(cells, told, strict=True)
        }

    def frame(self, shown: WindowShown, cell: int) -> Sequence[int]:
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
        read: Mapping[int, "_Reading"],
        found: Mapping[int, Sequence[Bounds]],
    ) -> Bounds | None:
        if cell not in read:
            return None
        bounds = self._evaluate(read[cell].tree, found[cell], cell)
        return None if bounds is None else within(bounds, read[cell].limits)

    def keys(self, shown: KeyShown) -> list[Number]:
        """Return the numbers that a key is, one a cell."""
        return self._values(shown)

    def _values(self, shown: Shown) -> list[Number]:
        if shown not in self._columns:
            cells = len(self.values.cells)
            self._columns[shown] = exact_column(shown, self.values.column, cells)
        return self._columns[shown]

    # -- parts ------------------------------------------------------------------

    def _of_parts(
        self, read: Mapping[int, "_Reading"], miss: Fraction
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
            for of_a_kind in (self._of_quantiles, self._of_sums, self._of_ratios):
                for part, bounds in of_a_kind(parts, each):
                    found[part.cell][part.place] = bounds
        return found

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

    def _noisy(self, part: _Ratio, cell: int) -> NoisyRatio | None:
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
        self, tree: _Tree, found: Sequence[Bounds], cell: int
    ) -> Bounds | None:
        """Return the interval of a tree; None where what it shows has no noise."""
        match tree:
            case _Part(place):
                return found[place]
            case _Fixed():
                return None
            case _Product(factors):
                whole: Bounds = (Fraction(1), Fraction(1))
                for factor, number in Counter(factors).items():
                    bounds = self._bounds_of(factor, found, cell)
                    whole = times(whole, power(bounds, number))
                return whole
            case _Combined(shown, operands):
                return self._combined(shown, operands, found, cell)
            case _Inverse(shown, under):
                one = Fraction(1), Fraction(1)
                below = self._bounds_of(under, found, cell)
                return quotient(one, below, is_positive=shown.least is not None)
            case _:
                return ANYTHING

    def _bounds_of(self, tree: _Tree, found: Sequence[Bounds], cell: int) -> Bounds:
        if isinstance(tree, _Fixed):
            return tree.value, tree.value
        return self._evaluate(tree, found, cell) or ANYTHING

    def _combined(
        self,
        shown: ComputedShown,
        operands: Sequence[_Tree],
        found: Sequence[Bounds],
        cell: int,
    ) -> Bounds | None:
        """Return the bounds of operands that are not NULL; COALESCE shows the first."""
        pairs = zip(operands, shown.operands, strict=False)
        held = [tree for tree, each in pairs if self._values(each)[cell] is not None]
        if shown.operation is Operation.COALESCE:
            return self._evaluate(held[0], found, cell) if held else None
        return computed_bounds(
            shown, [self._bounds_of(tree, found, cell) for tree in held]
        )


def sum_half_width(
    shown: Shown, measures: Sequence[Measure], noise: NoiseLaw, miss: Fraction
) -> Fraction | None:
    """Return the half-width of a weighted sum of counts and sums, known beforehand.

    It is the same in all cells. None of all else: it depends on what is measured, or on
    keys.
    """
    scales = tuple(measure.scale for measure in measures)
    fraction = FractionReader(OWN, scales, lambda *_: None).read(shown)
    if fraction is None or fraction.is_constant or not fraction.under.is_constant:
        return None
    (width,) = noise.sum_half_widths([_draws_in(fraction.over)], miss)
    return width / abs(fraction.under.constant)


def _draws_in(over: Affine) -> list[tuple[Fraction, int, int]]:
    """Return the noise in a sum: weights, vectors and how many draws of each."""
    alike: Counter[tuple[Fraction, int]] = Counter()
    for (top, below, vector), count in over.kinds.items():
        alike[Fraction(abs(top), below), vector] += count
    return sorted((*kind, count) for kind, count in alike.items())


def _draws_of(fraction: LinearFraction) -> tuple[RatioDraws, ...]:
    """Return the noise in a ratio; what few terms share with many is told apart."""
    over, under = fraction.over, fraction.under
    is_over = len(over.terms) <= len(under.terms)
    few, many = (over, under) if is_over else (under, over)
    alone, nothing = Counter(many.kinds), Fraction(0)
    pairs: Counter[tuple[Fraction, Fraction, int]] = Counter()
    for (vector, at), weight in few.terms.items():
        other = many.terms.get((vector, at), nothing)
        if other:
            alone[other.numerator, other.denominator, vector] -= 1
        pairs[weight, other, vector] += 1
    for (top, below, vector), count in alone.items():
        if count:
            pairs[nothing, Fraction(top, below), vector] += count
    return tuple(
        RatioDraws(*((a, b) if is_over else (b, a)), vector, count)
        for (a, b, vector), count in pairs.items()
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """A value taken apart: its tree, what is publicly known of it, and its parts."""

    tree: _Tree
    limits: Bounds
    parts: tuple[_Source, ...]


@dataclass(slots=True)
class _CellReader:
    """Takes what one cell shows apart."""

    whole: ComputedIntervals
    cell: int
    parts: list[_Source] = field(default_factory=list)

    def reading(self, shown: Shown) -> "_Reading":
        """Return a value taken apart."""
        tree = self.tree(shown)
        return _Reading(tree, self.limits(shown), tuple(self.parts))

    def fraction(self, shown: Shown) -> LinearFraction | None:
        """Return what is shown as a ratio, if it is one."""
        scales = tuple(measure.scale for measure in self.whole.measures)
        frames, totals = self.whole.frame, self.whole.totals
        reader = FractionReader(self.cell, scales, self._known_at, frames, totals)
        return reader.read(shown)

    def tree(self, shown: Shown) -> _Tree:  # noqa: PLR0911 - an arm a form
        """Return how the value is made of parts, which are added to ``parts``."""
        fraction = self.fraction(shown)
        if fraction is not None:
            return self._ratio(fraction, self.limits(shown))
        match shown:
            case QuantileShown():
                return self._part(shown)
            case ComputedShown(Operation.MULTIPLY | Operation.DIVIDE):
                return self._product(shown)
            case ComputedShown(operation, operands):
                used = operands[:1] if operation is Operation.NULLIF else operands
                return _Combined(shown, tuple(self.tree(operand) for operand in used))
            case _:
                return _Unknown()

    def limits(self, shown: Shown) -> Bounds:  # noqa: PLR0911 - an arm a form
        """Return what is publicly known of the exact value."""
        match shown:
            case NumberShown(vector):
                never = self.whole.measures[vector].never_negative
                return (Fraction(0), math.inf) if never else ANYTHING
            case AverageShown(total, _, lower, upper):
                step = Fraction(1, 10 ** self.whole.measures[total].scale)
                return lower * step, upper * step
            case QuantileShown(_, _, bins):
                step = Fraction(1, 10**bins.scale)
                return bins.lower * step, bins.upper * step
            case ComputedShown(_, operands):
                return computed_bounds(shown, [self.limits(each) for each in operands])
            case WindowShown():
                return self._window_limits(shown)
            case LiteralShown(value):
                return ANYTHING if value is None else (value, value)
            case _:
                found = self._known(shown)
                return ANYTHING if found is None else (found, found)

    def _window_limits(self, shown: WindowShown) -> Bounds:
        if shown.operand is None:
            return Fraction(1), Fraction(len(self.whole.values.cells))
        low, _ = self.limits(shown.operand)
        keys = any(isinstance(leaf, KeyShown) for leaf in leaves(shown.operand))
        never = not keys and not is_below(low, Fraction(0))
        return (Fraction(0), math.inf) if never else ANYTHING

    def _known_at(self, shown: Shown, cell: int) -> Fraction | None:
        if not isinstance(shown, KeyShown):
            return None
        return self.whole.keys(shown)[cell]

    def _known(self, shown: Shown) -> Fraction | None:
        if not isinstance(shown, KeyShown):
            return None
        return self.whole.keys(shown)[self.cell]

    def _part(self, source: _Source) -> _Part:
        if source not in self.parts:
            self.parts.append(source)
        return _Part(self.parts.index(source))

    def _ratio(self, fraction: LinearFraction, limits: Bounds) -> _Tree:
        if fraction.is_constant:
            return _Fixed(fraction.over.constant / fraction.under.constant)
        draws = _draws_of(fraction)
        low, high = _fraction_limits(fraction, draws, self.whole.measures)
        limits = greatest((low, limits[0])), least((high, limits[1]))
        return self._part(_Ratio(fraction, limits, draws))

    # -- products -----------------------------------------------------------------

    def _product(self, shown: ComputedShown) -> _Tree:
        """Return a product of as few ratios as its factors make: an odds ratio has two.

        Sums over and under the line are paired, those that share noise first.
        """
        over: list[Affine] = []
        under: list[Affine] = []
        others: list[_Tree] = []
        self._factors(shown, over, under, others)
        paired: list[_Tree] = []
        for affine in over:
            mate = _mate(affine, under)
            if mate is not None:
                under.remove(mate)
            paired.append(self._paired(affine, mate or ONE))
        paired += [self._paired(ONE, affine) for affine in under]
        return _Product((*paired, *others))

    def _paired(self, over: Affine, under: Affine) -> _Tree:
        fraction = fraction_of(over, under)
        return _Unknown() if fraction is None else self._ratio(fraction, ANYTHING)

    def _factors(
        self,
        shown: Shown,
        over: list[Affine],
        under: list[Affine],
        others: list[_Tree],
    ) -> None:
        """Collect what is multiplied and divided by; ``others`` are no ratios."""
        fraction = self.fraction(shown)
        if fraction is not None:
            over.append(fraction.over)
            under.append(fraction.under)
            return
        match shown:
            case ComputedShown(Operation.MULTIPLY, (first, second)):
                self._factors(first, over, under, others)
                self._factors(second, over, under, others)
            case ComputedShown(Operation.DIVIDE, (first, second)):
                self._factors(first, over, under, others)
                inverted: list[_Tree] = []
                self._factors(second, under, over, inverted)
                others += [_Inverse(shown, tree) for tree in inverted]
            case _:
                others.append(self.tree(shown))


def _mate(affine: Affine, among: Sequence[Affine]) -> Affine | None:
    """Return the sum to divide by: one that shares noise, else the first."""
    atoms: set[Atom] = set(affine.terms)
    if not atoms:
        return next((each for each in among if each.is_constant), None)
    noisy = [each for each in among if not each.is_constant]
    sharing = (each for each in noisy if atoms & set(each.terms))
    return next(sharing, next(iter(noisy), None))


def _fraction_limits(
    fraction: LinearFraction, draws: Sequence[RatioDraws], measures: Sequence[Measure]
) -> Bounds:
    """Return what is known of a ratio of sums of what is never negative.

    Where no constant is added, it is a mean of the ratios of weights: a / (a + b) lies
    from 0 to 1.
    """
    over, under = fraction.over, fraction.under
    known = all(measures[each.vector].never_negative for each in draws)
    weights = [each.below for each in draws]
    bare = over.constant == under.constant == 0
    if known and bare and (min(weights) >= 0 or max(weights) <= 0):
        ratios = [
            quotient((each.above, each.above), (each.below, each.below))
            if each.below
            else _far(each.above, weights)
            for each in draws
        ]
        return least(low for low, _ in ratios), greatest(high for _, high in ratios)
    above = [(each.above, each.vector) for each in draws]
    below = [(each.below, each.vector) for each in draws]
    return quotient(
        _affine_limits(over.constant, above, measures),
        _affine_limits(under.constant, below, measures),
    )


def _far(top: Fraction, weights: Sequence[Fraction]) -> Bounds:
    """Return where a ratio goes that a number moves above the line alone."""
    sign = top if max(weights) > 0 else -top
    end = math.inf if sign > 0 else -math.inf
    return end, end


def _affine_limits(
    constant: Fraction,
    terms: Sequence[tuple[Fraction, int]],
    measures: Sequence[Measure],
) -> Bounds:
    """Return what is known of a sum of numbers: weights, and vectors."""
    held = [(weight, vector) for weight, vector in terms if weight]
    if not all(measures[vector].never_negative for _, vector in held):
        return ANYTHING
    low = -math.inf if any(weight < 0 for weight, _ in held) else constant
    high = math.inf if any(weight > 0 for weight, _ in held) else constant
    return low, high
