"""Intervals that may be open: what is computed of what lies within them."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Final

from query_lang.plans.compiled import ComputedShown, Operation
from query_lang.showing.arithmetic import CONTEXT, LARGEST_POWER, ROUNDINGS

End = Fraction | float
"""A number; the only floats are the infinities: an open end."""

Bounds = tuple[End, End]
"""Least and greatest value."""

ANYTHING: Final[Bounds] = (-math.inf, math.inf)
_FARTHEST: Final = Fraction(10**60)
_STEP: Final = Fraction(1, 10**40)  # relatively, far more than fifty digits err


def within(found: Bounds, limits: Bounds) -> Bounds:
    """Return an interval cut to public limits; its nearest point if none is left.

    >>> within((Fraction(-2), Fraction(5)), (Fraction(0), math.inf))
    (Fraction(0, 1), Fraction(5, 1))
    """
    return _clamped(found[0], limits), _clamped(found[1], limits)


def _clamped(end: End, limits: Bounds) -> End:
    return least((greatest((end, limits[0])), limits[1]))


def least(ends: Iterable[End]) -> End:
    """Return the lowest of ends; fractions are never made floats by comparing."""
    return min(ends, key=_order)


def greatest(ends: Iterable[End]) -> End:
    """Return the highest of ends."""
    return max(ends, key=_order)


def is_below(end: End, other: End) -> bool:
    """Whether an end lies below another."""
    return _order(end) < _order(other)


def _order(end: End) -> tuple[float, Fraction]:
    if isinstance(end, Fraction):
        return 0.0, end
    return end, Fraction(0)


def computed_bounds(shown: ComputedShown, parts: Sequence[Bounds]) -> Bounds:
    """Return where a value lies whose operands lie within ``parts``.

    Operands are taken as independent, which can only widen. What leaves NULL operands
    out is ``extreme_bounds``' (``nulls``).
    """
    if shown.operation in ROUNDINGS:
        low, high = (_rounded(end, shown) for end in parts[0])
        return low, high
    if shown.operation is Operation.DIVIDE:
        return quotient(parts[0], parts[1], is_positive=shown.least is not None)
    low, high = _BOUNDS[shown.operation](parts)
    return _cut(low), _cut(high)


def _cut(end: End) -> End:
    """Return an end, open where it is too far to compute with."""
    if isinstance(end, Fraction) and abs(end) > _FARTHEST:
        return math.inf if end > 0 else -math.inf
    return end


def _rounded(end: End, shown: ComputedShown) -> End:
    rounded = ROUNDINGS[shown.operation]
    return end if isinstance(end, float) else rounded(end, shown.digits)


def _times(one: End, other: End) -> End:
    """Return a product; 0 times what is open is 0: an end that is never reached."""
    if one == 0 or other == 0:
        return Fraction(0)
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one * other
    return math.inf if (one > 0) == (other > 0) else -math.inf


def times(one: Bounds, other: Bounds) -> Bounds:
    """Return where a product lies."""
    corners: list[End] = [_cut(_times(a, b)) for a, b in product(one, other)]
    return least(corners), greatest(corners)


def power(factor: Bounds, number: int) -> Bounds:
    """Return where a number times itself lies: never below 0 for an even number.

    >>> power((Fraction(-2), Fraction(1)), 2)
    (Fraction(0, 1), Fraction(4, 1))
    """
    whole: Bounds = (Fraction(1), Fraction(1))
    square = _absolute([factor])
    for _ in range(number // 2 * 2):
        whole = times(whole, square)
    return times(whole, factor) if number % 2 else whole


def quotient(over: Bounds, under: Bounds, *, is_positive: bool = False) -> Bounds:
    """Return where a quotient lies; its divisor is never 0.

    Args:
        over: Of the dividend.
        under: Of the divisor.
        is_positive: Whether the divisor cannot be negative.

    >>> quotient((Fraction(1), Fraction(2)), (Fraction(0), Fraction(4)))
    (Fraction(1, 4), inf)
    """
    low, high = under
    if is_positive:
        low, high = greatest((low, Fraction(0))), greatest((high, Fraction(0)))
    is_inside = low != 0 != high and _holds_zero(low, high)
    if is_inside or low == high == 0:
        return ANYTHING
    return times(over, (_inverse(high, -math.inf), _inverse(low, math.inf)))


def _inverse(end: End, at_zero: float) -> End:
    if end == 0:
        return at_zero
    return Fraction(0) if isinstance(end, float) else 1 / end


def _holds_zero(low: End, high: End) -> bool:
    return _order(low) <= _order(Fraction(0)) <= _order(high)


def _size(end: End) -> End:
    return end if _order(end) >= _order(Fraction(0)) else -end


def _absolute(parts: Sequence[Bounds]) -> Bounds:
    low, high = parts[0]
    sides = [_size(low), _size(high)]
    return (Fraction(0) if _holds_zero(low, high) else least(sides)), greatest(sides)


def _rising(
    compute: Callable[[Fraction], End],
) -> Callable[[Sequence[Bounds]], Bounds]:
    """Return the bounds of a rising function that is computed to fifty digits."""

    def bounds(parts: Sequence[Bounds]) -> Bounds:
        low, high = (
            compute(Fraction(end)) if isinstance(end, Fraction) else _AT[compute](end)
            for end in parts[0]
        )
        return _moved(low, -1), _moved(high, 1)

    return bounds


def _not_negative(
    bounds: Callable[[Sequence[Bounds]], Bounds],
) -> Callable[[Sequence[Bounds]], Bounds]:
    return lambda parts: within(bounds(parts), (Fraction(0), math.inf))


def _moved(end: End, way: int) -> End:
    if isinstance(end, float):
        return end
    return end + way * max(abs(end), _STEP) * _STEP


def _exp(value: Fraction) -> End:
    if value > LARGEST_POWER:
        return math.inf
    if value < -LARGEST_POWER:
        return Fraction(0)
    return Fraction(CONTEXT.exp(decimal(value)))


def _ln(value: Fraction) -> End:
    return Fraction(CONTEXT.ln(decimal(value))) if value > 0 else -math.inf


def _sqrt(value: Fraction) -> End:
    return Fraction(CONTEXT.sqrt(decimal(max(value, Fraction(0)))))


def decimal(value: Fraction) -> Decimal:
    """Return the nearest decimal of fifty digits."""
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


_AT: Final[Mapping[Callable[[Fraction], End], Callable[[float], End]]] = {
    _exp: lambda end: Fraction(0) if end < 0 else end,
    _ln: lambda end: end,
    _sqrt: lambda end: Fraction(0) if end < 0 else end,
}
_BOUNDS: Final[Mapping[Operation, Callable[[Sequence[Bounds]], Bounds]]] = {
    Operation.ADD: lambda p: (p[0][0] + p[1][0], p[0][1] + p[1][1]),
    Operation.SUBTRACT: lambda p: (p[0][0] - p[1][1], p[0][1] - p[1][0]),
    Operation.MULTIPLY: lambda p: times(p[0], p[1]),
    Operation.NEGATE: lambda p: (-p[0][1], -p[0][0]),
    Operation.ABS: _absolute,
    Operation.WITHIN: lambda p: within(p[0], (p[1][0], p[2][1])),
    Operation.NULLIF: lambda p: p[0],
    Operation.EXP: _not_negative(_rising(_exp)),
    Operation.LN: _rising(_ln),
    Operation.SQRT: _not_negative(_rising(_sqrt)),
}
