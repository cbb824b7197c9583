"""Arithmetic on the numbers that a row shows: exact, total, and rounded once.

It reads what is shown, noisy or published, and nothing else, so it costs nothing
(docs/proofs/computed.md).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Final

from query_lang.plans.compiled import ComputedShown, LiteralShown, Operation, Shown
from query_lang.showing.decimals import decimal_of, round_half_even

Number = Fraction | None
"""An exact number; None is NULL."""

LARGEST: Final = Fraction(10**30)
"""What is computed beyond it, either way, is NULL; steps below 1 / it are 0."""

_PLACES: Final = 50
CONTEXT: Final = Context(prec=_PLACES)
"""Of logarithms, powers of e and roots: fifty digits."""

LARGEST_POWER: Final = 69
"""EXP of more passes 10**30."""


def exact_column(
    shown: Shown, column: Callable[[Shown], Sequence[object]], cells: int
) -> list[Number]:
    """Return the exact value of an operand in each cell.

    Args:
        shown: The operand.
        column: What anything but arithmetic is, one value a cell.
        cells: How many there are.
    """
    match shown:
        case LiteralShown(value):
            return [value] * cells
        case ComputedShown(_, operands):
            parts = [exact_column(part, column, cells) for part in operands]
            compute = _computing(shown)
            return [within_range(compute(row)) for row in zip(*parts, strict=True)]
        case _:
            return [_exact(value) for value in column(shown)]


def _exact(value: object) -> Number:
    return Fraction(value) if isinstance(value, int | Decimal | Fraction) else None


def shown_number(value: Number, digits: int) -> int | Decimal | None:
    """Return a number as it is shown: whole, or with so many digits, half to even.

    >>> shown_number(Fraction(1, 8), 2)
    Decimal('0.12')
    """
    if value is None:
        return None
    found = round_half_even(value.numerator, value.denominator, digits)
    return found if digits else int(found)


def within_range(value: Number) -> Number:
    """Return a number, or NULL where it is beyond what is computed with."""
    return None if value is None or abs(value) > LARGEST else value


def round_half_away(value: Fraction, digits: int) -> Fraction:
    """Round as ROUND does in SQL: half away from zero.

    >>> round_half_away(Fraction(-5, 2), 0)
    Fraction(-3, 1)
    """
    steps = Fraction(10) ** digits
    whole = math.floor(abs(value) * steps + Fraction(1, 2))
    return whole / steps if value >= 0 else -whole / steps


def _ceiling(value: Fraction, digits: int) -> Fraction:
    steps = Fraction(10) ** digits
    return math.ceil(value * steps) / steps


def _floor(value: Fraction, digits: int) -> Fraction:
    steps = Fraction(10) ** digits
    return math.floor(value * steps) / steps


def _truncate(value: Fraction, digits: int) -> Fraction:
    return _floor(value, digits) if value >= 0 else _ceiling(value, digits)


ROUNDINGS: Final[Mapping[Operation, Callable[[Fraction, int], Fraction]]] = {
    Operation.ROUND: round_half_away,
    Operation.FLOOR: _floor,
    Operation.CEILING: _ceiling,
    Operation.TRUNCATE: _truncate,
}
"""What keeps some digits of a number; each never falls where the number rises."""


def is_divisor(value: Fraction, least: Fraction | None) -> bool:
    """Whether it divides: not 0, and not below what a divisor has in truth."""
    return value != 0 and (least is None or value >= least)


_Row = Sequence[Number]
_Compute = Callable[[_Row], Number]


def _computing(shown: ComputedShown) -> _Compute:
    operation = shown.operation
    if operation is Operation.DIVIDE:
        return lambda row: _quotient(row, shown.least)
    if operation in ROUNDINGS:
        rounded = ROUNDINGS[operation]
        return lambda row: _strict(row, lambda v: rounded(v[0], shown.digits))
    if operation in _LENIENT:
        return _LENIENT[operation]
    compute = _STRICT[operation]
    return lambda row: _strict(row, compute)


def _strict(row: _Row, compute: Callable[[list[Fraction]], Number]) -> Number:
    """Compute where nothing is NULL."""
    values = [value for value in row if value is not None]
    return compute(values) if len(values) == len(row) else None


def _quotient(row: _Row, least: Fraction | None) -> Number:
    over, under = row
    if over is None or under is None or not is_divisor(under, least):
        return None
    return over / under


def _first(row: _Row) -> Number:
    return next((value for value in row if value is not None), None)


def _extreme(choose: Callable[[list[Fraction]], Fraction]) -> _Compute:
    """LEAST and GREATEST leave NULL out, as PostgreSQL does."""

    def extreme(row: _Row) -> Number:
        values = [value for value in row if value is not None]
        return choose(values) if values else None

    return extreme


def _nullif(row: _Row) -> Number:
    return None if row[0] == row[1] else row[0]


_LENIENT: Final[Mapping[Operation, _Compute]] = {
    Operation.LEAST: _extreme(min),
    Operation.GREATEST: _extreme(max),
    Operation.COALESCE: _first,
    Operation.NULLIF: _nullif,
}


def _exp(values: list[Fraction]) -> Number:
    if abs(values[0]) > LARGEST_POWER:
        return None if values[0] > 0 else Fraction(0)
    return Fraction(CONTEXT.exp(_decimal(values[0])))


def _ln(values: list[Fraction]) -> Number:
    return Fraction(CONTEXT.ln(_decimal(values[0]))) if values[0] > 0 else None


def _sqrt(values: list[Fraction]) -> Number:
    return Fraction(CONTEXT.sqrt(_decimal(values[0]))) if values[0] >= 0 else None


def _decimal(value: Fraction) -> Decimal:
    """Return the nearest decimal of fifty digits."""
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


_STRICT: Final[Mapping[Operation, Callable[[list[Fraction]], Number]]] = {
    Operation.ADD: lambda v: v[0] + v[1],
    Operation.SUBTRACT: lambda v: v[0] - v[1],
    Operation.MULTIPLY: lambda v: v[0] * v[1],
    Operation.NEGATE: lambda v: -v[0],
    Operation.ABS: lambda v: abs(v[0]),
    Operation.WITHIN: lambda v: min(max(v[0], v[1]), v[2]),
    Operation.EXP: _exp,
    Operation.LN: _ln,
    Operation.SQRT: _sqrt,
}


def decimal_steps(value: Fraction, digits: int, *, up: bool) -> Decimal:
    """Return a decimal of so many digits at or beyond a number, in one direction."""
    steps = value * 10**digits
    return decimal_of(math.ceil(steps) if up else math.floor(steps), digits)
