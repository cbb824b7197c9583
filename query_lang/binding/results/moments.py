"""Variances, covariances and correlations, written out as counts and sums.

All are of the values less the middle of their public bounds, which changes none of them
and lets one unit move each sum least (docs/proofs/moments.md). What is written out is
measured, shown and given intervals as if it had been typed so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from query_lang.plans.expressions import Expression
from query_lang.plans.intervals import Interval, interval_of
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    AggregateCall,
    AggregateName,
    Arithmetic,
    ArithmeticOperator,
    Case,
    CaseBranch,
    FunctionCall,
    FunctionName,
    Idiom,
    IsNull,
    NumberLiteral,
    Position,
)
from query_lang.syntax.nodes import Expression as Tree
from query_lang.syntax.refusals import refuse

MOMENTS: Final = frozenset(
    {
        *("var_pop", "var_samp", "stddev_pop", "stddev_samp"),
        *("covar_pop", "covar_samp", "corr", "regr_slope"),
    }
)
"""Aggregates that are written out here."""

_OF_SAMPLES: Final = frozenset({"var_samp", "stddev_samp", "covar_samp"})
_ROOTS: Final = frozenset({"stddev_pop", "stddev_samp"})
_FARTHEST: Final = 2**31
"""The farthest from the middle, in steps of the grid: squares stay within 64 bits."""

_TOO_FAR: Final = "its squares pass 64 bits; bounds or decimal places are too many"

Bounded = Callable[[AggregateCall], tuple[Expression, Interval, bool]]
"""Binds the argument of SUM, or refuses it: with its bounds, and if it can be NULL."""


def written_out(call: AggregateCall, bounded: Bounded) -> Tree:
    """Return a call of one of ``MOMENTS`` as an expression of COUNT and SUM.

    Raises:
        QueryError: An argument is no number, or has no public bounds.
    """
    columns = tuple(_column(tree, bounded) for tree in call.arguments)
    return _Writer(call.position, columns).moment(call.name)


@dataclass(frozen=True, slots=True)
class Within(Idiom):
    """A value, or the nearer of two numbers where it lies beyond; NULL stays NULL.

    LEAST and GREATEST would leave NULL out. Nobody can type it.
    """

    value: Tree
    low: Tree
    high: Tree


@dataclass(frozen=True, slots=True)
class _Column:
    """An argument.

    Attributes:
        written: As it was.
        tree: The same, within its bounds where WHERE alone tells them.
        order: Puts two columns in one order, whichever is called with first.
        middle: Of its bounds, in steps of its grid.
        reach: The most that it is from there, likewise.
        scale: Decimal places of the grid.
    """

    written: Tree
    tree: Tree
    order: str
    middle: int
    reach: int
    scale: int

    @property
    def most(self) -> int:
        """Return the square of the reach, in steps of 10**-(2 * scale)."""
        return self.reach**2


def _column(tree: Tree, bounded: Bounded) -> _Column:
    """Return an argument, with no more decimals than leave its squares 64 bits."""
    call = AggregateCall("sum", False, (tree,), (), tree.position)  # noqa: FBT003 - fields in their order
    value, bounds, nullable = bounded(call)
    kept = tree
    if bounds != interval_of(value.facts):
        kept = _kept(tree, bounds, value)
        kept = _unless_null(tree, kept) if nullable else kept
    low, high = bounds
    middle = (low + high) // 2
    reach = max(high - middle, middle - low)
    if reach > _FARTHEST and value.facts.scale:
        return _column(_rounded(tree, reach, value.facts.scale), bounded)
    if reach > _FARTHEST:
        raise refuse(rules.NO_BOUNDS, tree.position, detail=_TOO_FAR)
    return _Column(tree, kept, repr(value), middle, reach, value.facts.scale)


def _rounded(tree: Tree, reach: int, scale: int) -> Tree:
    while scale and reach > _FARTHEST:
        reach, scale = -(-reach // 10) + 1, scale - 1
    places = NumberLiteral(str(scale), tree.position)
    return FunctionCall("round", (tree, places), tree.position)


def _kept(tree: Tree, bounds: Interval, value: Expression) -> Tree:
    """Return a value set within bounds that WHERE tells of it.

    Rows that are left have it within them, so it changes none; but from it the bounds
    of squares and products follow, as of what is typed so.
    """
    low, high = (_literal(end, value.facts.scale, tree.position) for end in bounds)
    least = FunctionCall("greatest", (tree, low), tree.position)
    return FunctionCall("least", (least, high), tree.position)


def _unless_null(tree: Tree, kept: Tree) -> Tree:
    """Return what is kept of a value; LEAST and GREATEST would make a bound of NULL."""
    held = IsNull(tree, negated=True, position=tree.position)
    return Case(None, (CaseBranch(held, kept),), None, tree.position)


def _literal(steps: int, scale: int, position: Position) -> NumberLiteral:
    """Return a number in steps of ``10**-scale``."""
    digits = str(abs(steps)).rjust(scale + 1, "0")
    whole, places = digits[: len(digits) - scale], digits[len(digits) - scale :]
    sign = "-" * (steps < 0)
    return NumberLiteral(f"{sign}{whole}{'.' * bool(places)}{places}", position)


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes trees over one or two columns; rows that lack either are left out."""

    position: Position
    columns: tuple[_Column, ...]

    def moment(self, name: AggregateName) -> Tree:
        """Return what an aggregate is."""
        first, last = self.columns[0], self.columns[-1]
        match name:
            case "corr":
                found = self._correlation(first, last)
            case "regr_slope":  # of the first by the second
                found = self._over(self._covariance(first, last), self._variance(last))
            case "covar_pop" | "covar_samp":
                found = self._covariance(first, last)
            case _:
                found = self._variance(first)
        if name in _OF_SAMPLES:
            found = self._times(found, self._samples())
        return self._call("sqrt", found) if name in _ROOTS else found

    # -- moments ------------------------------------------------------------------

    def _variance(self, one: _Column) -> Tree:
        """Return the variance of a population: from 0 to the square of its reach.

        ABS changes no square; it tells bounds from 0 on, where products have none.
        """
        power = self._call("power", self._centred(one), self._number(2))
        places, half = 2 * one.scale, one.most // 2
        square = self._plus(self._call("abs", power), -half, places)
        mean = self._plus(self._mean(square), half, places)
        spread = self._less(mean, self._product_of_means(one, one))
        return self._within(spread, self._number(0), self._number(one.most, places))

    def _covariance(self, one: _Column, other: _Column) -> Tree:
        first, second = self._in_order()
        product = self._times(self._centred(first), self._centred(second))
        return self._less(self._mean(product), self._product_of_means(one, other))

    def _correlation(self, one: _Column, other: _Column) -> Tree:
        product = self._times(self._variance(one), self._variance(other))
        found = self._over(self._covariance(one, other), self._call("sqrt", product))
        least = self._less(self._number(0), self._number(1))
        return self._within(found, least, self._number(1))

    def _product_of_means(self, one: _Column, other: _Column) -> Tree:
        means = (self._mean(self._centred(column)) for column in (one, other))
        return self._times(*means)

    def _mean(self, tree: Tree) -> Tree:
        return self._over(self._aggregate("sum", tree), self._count())

    def _samples(self) -> Tree:
        """Return n / (n - 1), from 1 to 2; NULL where n is 1."""
        found = self._over(self._count(), self._plus(self._count(), -1, 0))
        return self._within(found, self._number(1), self._number(2))

    # -- columns ------------------------------------------------------------------

    def _in_order(self) -> list[_Column]:
        return sorted(self.columns, key=lambda column: column.order)

    def _centred(self, column: _Column) -> Tree:
        """Return a column less its middle; NULL where the other column is."""
        return self._beside_others(
            column, self._plus(column.tree, -column.middle, column.scale)
        )

    def _count(self) -> Tree:
        """Return how many rows have all columns."""
        first, *_ = self._in_order()
        return self._aggregate("count", self._beside_others(first, first.written))

    def _beside_others(self, column: _Column, tree: Tree) -> Tree:
        for other in self.columns:
            if other is not column:
                held = IsNull(other.written, negated=True, position=tree.position)
                tree = Case(None, (CaseBranch(held, tree),), None, tree.position)
        return tree

    # -- trees --------------------------------------------------------------------

    def _aggregate(self, name: AggregateName, tree: Tree) -> Tree:
        return AggregateCall(name, False, (tree,), (), tree.position)  # noqa: FBT003 - fields in their order

    def _plus(self, tree: Tree, steps: int, scale: int) -> Tree:
        """Return what is ``steps`` of ``10**-scale`` more."""
        if steps == 0:
            return tree
        sign: ArithmeticOperator = "+" if steps > 0 else "-"
        number = self._number(abs(steps), scale)
        return Arithmetic(sign, tree, number, self.position)

    def _number(self, steps: int, scale: int = 0) -> NumberLiteral:
        return _literal(steps, scale, self.position)

    def _within(self, value: Tree, low: Tree, high: Tree) -> Tree:
        return Within(self.position, value, low, high)

    def _less(self, one: Tree, other: Tree) -> Tree:
        return Arithmetic("-", one, other, self.position)

    def _times(self, one: Tree, other: Tree) -> Tree:
        return Arithmetic("*", one, other, self.position)

    def _over(self, one: Tree, other: Tree) -> Tree:
        return Arithmetic("/", one, other, self.position)

    def _call(self, name: FunctionName, *arguments: Tree) -> Tree:
        return FunctionCall(name, arguments, self.position)
