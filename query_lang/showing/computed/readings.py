"""Takes what a cell shows apart into ratios of sums of noisy numbers, in a tree."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from query_lang.plans.compiled import (
    AverageShown,
    ComputedShown,
    DependentShown,
    GroupingShown,
    KeyShown,
    LiteralShown,
    Measure,
    NumberShown,
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
    greatest,
    is_below,
    least,
    quotient,
)
from query_lang.showing.computed.linear_fractions import (
    ONE,
    Affine,
    Atom,
    FractionReader,
    LinearFraction,
    fraction_of,
)
from query_lang.showing.computed.nulls import (
    LENIENT,
    Guard,
    extreme_bounds,
    guards_of,
    is_never_null,
)
from query_lang.showing.windows import EXTREMES


@dataclass(frozen=True, slots=True)
class RatioDraws:
    """Like draws of noise in a ratio: weights in both sums, the vector, how many."""

    above: Fraction
    below: Fraction
    vector: int
    count: int


@dataclass(frozen=True, slots=True)
class Part:
    """One interval that a value is made of; ``place`` is its own among its cell's."""

    place: int


@dataclass(frozen=True, slots=True)
class Fixed:
    """A number that has no noise."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Product:
    """What is multiplied, in parts or trees."""

    factors: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class Combined:
    """A computed value of trees, each of what is shown there; of them or of 1."""

    shown: ComputedShown
    operands: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class Guarded:
    """A tree, and what must hold of others so that it is not NULL.

    Attributes:
        shown: What the tree is of.
        tree: Where it lies, if it is not NULL.
        guards: All of them together; None where nothing tells.
    """

    shown: Shown
    tree: "Tree"
    guards: tuple[tuple[Guard, "Tree"], ...] | None


@dataclass(frozen=True, slots=True)
class Chosen:
    """COALESCE, LEAST or GREATEST: NULL operands are left out."""

    shown: ComputedShown
    operands: tuple[Guarded, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """What nothing can be said of."""


@dataclass(frozen=True, slots=True)
class Inverse:
    """1 divided by a tree."""

    shown: ComputedShown
    tree: "Tree"


Tree = Part | Fixed | Product | Combined | Chosen | Inverse | Unknown


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio within public limits, as one part of a value, and the noise in it."""

    fraction: LinearFraction
    limits: Bounds
    draws: tuple[RatioDraws, ...]

    @property
    def is_sum(self) -> bool:
        """Whether nothing noisy is under the line."""
        return self.fraction.under.is_constant


@dataclass(frozen=True, slots=True)
class Extreme:
    """The greatest or the least of what a window reads, as one part of a value."""

    window: WindowShown
    limits: Bounds


Source = Ratio | QuantileShown | Extreme


def draws_of(fraction: LinearFraction) -> tuple[RatioDraws, ...]:
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
class Reading:
    """A value taken apart: its tree, what is publicly known of it, and its parts."""

    guarded: Guarded
    limits: Bounds
    parts: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What readings of all cells have in common.

    Attributes:
        measures: Of the vectors.
        cells: How many there are.
        keys: The number that a key is in each cell.
        frame: The cells that a window reads in a cell.
        totals: Sums that windows read.
        members: Of a row the cells that it adds up; None where each is its own.
    """

    measures: Sequence[Measure]
    cells: int
    keys: Callable[[PublicShown], Sequence[Number]]
    frame: Callable[[WindowShown, int], Sequence[int]]
    totals: dict[tuple[int, tuple[int, ...]], Affine | None]
    members: Sequence[Sequence[int]] | None = None


@dataclass(slots=True)
class CellReader:
    """Takes what one cell shows apart."""

    whole: Answer
    cell: int
    parts: list[Source] = field(default_factory=list)

    def reading(self, shown: Shown, *, is_null_told: bool = False) -> "Reading":
        """Return a value taken apart.

        Args:
            shown: The value.
            is_null_told: Whether parts are added that tell whether it is NULL.
        """
        tree = self.tree(shown)
        told = self.guarded(shown, tree) if is_null_told else Guarded(shown, tree, None)
        return Reading(told, self.limits(shown), tuple(self.parts))

    def guarded(self, shown: Shown, tree: Tree) -> Guarded:
        """Return a tree, and those of what must hold so that it is not NULL."""
        guards = guards_of(self._with_its_keys(shown))
        if guards is None:
            return Guarded(shown, tree, None)
        held = ((guard, self.tree(guard.shown)) for guard in guards)
        return Guarded(shown, tree, tuple(held))

    def _with_its_keys(self, shown: Shown) -> Shown:
        """Return a value with the numbers that its keys are in this cell."""
        match shown:
            case KeyShown() | GroupingShown() | DependentShown():
                return LiteralShown(self._known(shown))
            case ComputedShown(_, operands):
                held = tuple(self._with_its_keys(each) for each in operands)
                return replace(shown, operands=held)
            case _:
                return shown

    def fraction(self, shown: Shown) -> LinearFraction | None:
        """Return what is shown as a ratio, if it is one."""
        scales = tuple(measure.scale for measure in self.whole.measures)
        frames, totals = self.whole.frame, self.whole.totals
        members = self.whole.members
        reader = FractionReader(
            self.cell, scales, self._known_at, frames, totals, members
        )
        return reader.read(shown)

    def tree(self, shown: Shown) -> Tree:  # noqa: PLR0911 - an arm a form
        """Return how the value is made of parts, which are added to ``parts``."""
        fraction = self.fraction(shown)
        if fraction is not None:
            return self._ratio(fraction, self.limits(shown))
        match shown:
            case QuantileShown():
                return self._part(shown)
            case WindowShown(name) if name in EXTREMES and not _reads_extremes(shown):
                return self._part(Extreme(shown, self.limits(shown)))
            case ComputedShown(Operation.MULTIPLY | Operation.DIVIDE):
                return self._product(shown)
            case ComputedShown(operation, operands) if operation in LENIENT:
                told = (self.guarded(each, self.tree(each)) for each in operands)
                return Chosen(shown, tuple(told))
            case ComputedShown(operation, operands):
                used = operands[:1] if operation is Operation.NULLIF else operands
                return Combined(shown, tuple(self.tree(operand) for operand in used))
            case _:
                return Unknown()

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
            case ComputedShown(operation, operands) if operation in LENIENT:
                told = [
                    (self.limits(each), is_never_null(self._with_its_keys(each)))
                    for each in operands
                ]
                return extreme_bounds(operation, told)
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
            return Fraction(1), Fraction(self.whole.cells)
        low, _ = self.limits(shown.operand)
        keys = any(isinstance(leaf, PublicShown) for leaf in leaves(shown.operand))
        never = not keys and not is_below(low, Fraction(0))
        return (Fraction(0), math.inf) if never else ANYTHING

    def _known_at(self, shown: Shown, cell: int) -> Fraction | None:
        if not isinstance(shown, PublicShown):
            return None
        return self.whole.keys(shown)[cell]

    def _known(self, shown: Shown) -> Fraction | None:
        return self._known_at(shown, self.cell)

    def _part(self, source: Source) -> Part:
        if source not in self.parts:
            self.parts.append(source)
        return Part(self.parts.index(source))

    def _ratio(self, fraction: LinearFraction, limits: Bounds) -> Tree:
        if fraction.is_constant:
            return Fixed(fraction.over.constant / fraction.under.constant)
        draws = draws_of(fraction)
        low, high = _fraction_limits(fraction, draws, self.whole.measures)
        limits = greatest((low, limits[0])), least((high, limits[1]))
        return self._part(Ratio(fraction, limits, draws))

    # -- products -----------------------------------------------------------------

    def _product(self, shown: ComputedShown) -> Tree:
        """Return a product of as few ratios as its factors make: an odds ratio has two.

        Sums over and under the line are paired, those that share noise first.
        """
        over: list[Affine] = []
        under: list[Affine] = []
        others: list[Tree] = []
        self._factors(shown, over, under, others)
        paired: list[Tree] = []
        for affine in over:
            mate = _mate(affine, under)
            if mate is not None:
                under.remove(mate)
            paired.append(self._paired(affine, mate or ONE))
        paired += [self._paired(ONE, affine) for affine in under]
        return Product((*paired, *others))

    def _paired(self, over: Affine, under: Affine) -> Tree:
        fraction = fraction_of(over, under)
        return Unknown() if fraction is None else self._ratio(fraction, ANYTHING)

    def _factors(
        self,
        shown: Shown,
        over: list[Affine],
        under: list[Affine],
        others: list[Tree],
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
                inverted: list[Tree] = []
                self._factors(second, under, over, inverted)
                others += [Inverse(shown, tree) for tree in inverted]
            case _:
                others.append(self.tree(shown))


def _reads_extremes(shown: WindowShown) -> bool:
    """Whether a window is over another's greatest or least.

    Each level would read all rows of the one below for each of its own: nothing is said
    of such a value.
    """
    operand = shown.operand
    found = windows_in(operand) if operand is not None else ()
    return any(window.name in EXTREMES for window in found)


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
