"""What is NULL in truth where noise may show a number, and the other way round.

COALESCE, LEAST and GREATEST leave NULL out, and ranks put it last. Whether an exact
value is NULL, noisy numbers do not tell: a ratio's divisor may be 0 in truth and 3 with
noise. So it follows from intervals of what makes it NULL (docs/proofs/computed.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction
from typing import Final

from query_lang.plans.compiled import (
    AverageShown,
    ComputedShown,
    DependentShown,
    GroupingShown,
    KeyShown,
    LiteralShown,
    NumberShown,
    Operation,
    PublicShown,
    Shown,
    WindowShown,
    leaves,
)
from query_lang.showing.arithmetic import LARGEST, LARGEST_POWER, exact_column
from query_lang.showing.computed.bounds import Bounds, greatest, is_below, least

LENIENT: Final = frozenset({Operation.COALESCE, Operation.LEAST, Operation.GREATEST})
"""What leaves NULL operands out."""


class Must(Enum):
    """What must hold of a number so that what is computed of it is not NULL."""

    NOT_BE_ZERO = auto()
    BE_POSITIVE = auto()
    NOT_BE_NEGATIVE = auto()
    BE_A_POWER = auto()  # that EXP can compute
    BE_IN_RANGE = auto()


@dataclass(frozen=True, slots=True)
class Guard:
    """Something shown, and what must hold of it."""

    shown: Shown
    must: Must


_OF_ONE: Final[Mapping[Operation, Must]] = {
    Operation.LN: Must.BE_POSITIVE,
    Operation.SQRT: Must.NOT_BE_NEGATIVE,
    Operation.EXP: Must.BE_A_POWER,
}
_FAR: Final = frozenset({Operation.MULTIPLY, Operation.DIVIDE})


def guards_of(shown: Shown) -> tuple[Guard, ...] | None:  # noqa: PLR0911 - a form each
    """Return what together makes a value not NULL; None where nothing tells.

    Keys and literals may be NULL whatever was drawn, which is known of each cell.

    >>> guards_of(NumberShown(0)), len(guards_of(AverageShown(0, 1, 0, 9)))
    ((), 1)
    """
    match shown:
        case (
            NumberShown()
            | LiteralShown()
            | KeyShown()
            | GroupingShown()
            | DependentShown()
        ):
            return ()
        case AverageShown(_, number):
            return (Guard(NumberShown(number), Must.BE_POSITIVE),)
        case WindowShown(operand=operand):
            # Which rows it reads is public, so that only what it reads can be NULL.
            return () if operand is None or is_never_null(operand) else None
        case ComputedShown(operation, operands) if operation in LENIENT:
            # A key is NULL in some cells, and then another operand is taken.
            lasting = (e for e in operands if not _is_null(e) and not _has_keys(e))
            told = map(guards_of, lasting)
            known = [guards for guards in told if guards is not None]
            return min(known, key=len, default=None)
        case ComputedShown():
            return _guards_of_computed(shown)
        case _:
            return None


def _guards_of_computed(shown: ComputedShown) -> tuple[Guard, ...] | None:
    operation, operands = shown.operation, shown.operands
    used = operands[:1] if operation is Operation.NULLIF else operands
    guards: list[Guard] = []
    for each in used:
        told = guards_of(each)
        if told is None:
            return None
        guards += told
    if operation is Operation.NULLIF:
        apart = ComputedShown(Operation.SUBTRACT, operands, shown.digits)
        guards.append(Guard(apart, Must.NOT_BE_ZERO))
    elif operation in _OF_ONE:
        guards.append(Guard(operands[0], _OF_ONE[operation]))
    elif operation is Operation.DIVIDE and not _is_a_divisor(operands[1]):
        is_count = shown.least is not None
        must = Must.BE_POSITIVE if is_count else Must.NOT_BE_ZERO
        guards.append(Guard(operands[1], must))
    if operation in _FAR and not _is_near(operands):
        guards.append(Guard(shown, Must.BE_IN_RANGE))
    return tuple(dict.fromkeys(guards))


def _is_a_divisor(shown: Shown) -> bool:
    return isinstance(shown, LiteralShown) and bool(shown.value)


def _is_near(operands: Sequence[Shown]) -> bool:
    """Whether one of two numbers is a literal: no product goes far by it."""
    return any(isinstance(each, LiteralShown) for each in operands)


def _is_null(shown: Shown) -> bool:  # noqa: PLR0911 - an arm a form
    """Whether literals alone make a value NULL, whatever its numbers are."""
    match shown:
        case LiteralShown(value):
            return value is None
        case ComputedShown(operation, operands) if operation in LENIENT:
            return all(map(_is_null, operands))
        case ComputedShown(Operation.NULLIF, operands):
            return _is_null(operands[0]) or _is_null_of_literals(shown)
        case ComputedShown(_, operands):
            return any(map(_is_null, operands)) or _is_null_of_literals(shown)
        case _:
            return False


def _is_null_of_literals(shown: ComputedShown) -> bool:
    if not all(isinstance(leaf, LiteralShown) for leaf in leaves(shown)):
        return False
    return exact_column(shown, lambda _: (), 1) == [None]


def _has_keys(shown: Shown) -> bool:
    return any(isinstance(leaf, PublicShown) for leaf in leaves(shown))


def is_never_null(shown: Shown) -> bool:
    """Whether a value is not NULL whatever its numbers are.

    A key's value may be NULL, and what is computed of it.
    """
    lasts = not _is_null(shown) and not _has_keys(shown)
    return lasts and guards_of(shown) == ()


def is_held(guard: Guard, bounds: Bounds) -> bool:
    """Whether what must hold does wherever the value lies within its bounds."""
    low, high = bounds
    nothing = Fraction(0)
    holds = {
        Must.NOT_BE_ZERO: is_below(nothing, low) or is_below(high, nothing),
        Must.BE_POSITIVE: is_below(nothing, low),
        Must.NOT_BE_NEGATIVE: not is_below(low, nothing),
        Must.BE_A_POWER: not is_below(Fraction(LARGEST_POWER), high),
        Must.BE_IN_RANGE: not is_below(low, -LARGEST) and not is_below(LARGEST, high),
    }
    return holds[guard.must]


def extreme_bounds(
    operation: Operation, operands: Sequence[tuple[Bounds, bool]]
) -> Bounds:
    """Return where COALESCE, LEAST or GREATEST lies.

    Args:
        operation: Which.
        operands: Where each lies if it is not NULL, and whether it is sure not to be.

    >>> one, other = (Fraction(1), Fraction(2)), (Fraction(5), Fraction(6))
    >>> extreme_bounds(Operation.GREATEST, [(one, True), (other, False)])
    (Fraction(1, 1), Fraction(6, 1))
    """
    lows = [low for (low, _), _ in operands]
    highs = [high for (_, high), _ in operands]
    sure = [bounds for bounds, is_sure in operands if is_sure]
    low, high = least(lows), greatest(highs)
    if operation is Operation.GREATEST and sure:
        return greatest(one[0] for one in sure), high
    if operation is Operation.LEAST and sure:
        return low, least(one[1] for one in sure)
    return low, high
