"""How many operators an expression is rendered with, where nothing has a name.

An engine evaluates each for a vector of rows at once: of one row alone it takes what a
vector takes at least.
"""

from collections.abc import Mapping
from typing import Final

from privacy.schema import Hierarchy
from query_lang.plans.expressions import (
    Call,
    CompareAverage,
    Expression,
    Function,
)
from query_lang.rendering.integer_widths import fits

_OPERATORS: Final[Mapping[Function, int]] = {
    Function.BETWEEN: 2,
    Function.DIVIDE: 12,
    Function.DIVIDE_DECIMAL: 24,
    Function.MODULO: 8,
    Function.NEGATE: 2,
    Function.RESCALE: 8,
    Function.ABS: 8,
    Function.SIGN: 2,
    Function.FLOOR: 16,
    Function.CEILING: 16,
    Function.ROUND: 16,
    Function.TRUNCATE: 12,
    Function.WIDTH_BUCKET: 16,
    Function.ADD_DAYS: 10,
    Function.SUBTRACT_DAYS: 10,
    Function.MONTHS_BETWEEN: 3,
    Function.YEARS_BETWEEN: 3,
    Function.AGE_YEARS: 7,
    Function.EXTRACT: 2,
    Function.AGE_BAND: 16,
    Function.CAST_NUMBER: 8,
    Function.AGE_MONTHS: 14,
    Function.ADD_MONTHS: 40,
    Function.ADD_MICROSECONDS: 12,
    Function.TIME_BETWEEN: 3,
    Function.PERIOD: 2,
    Function.READ: 8,
    Function.TEXT_OF: 16,
}
_LEVEL: Final = 12
_AVERAGE: Final = 8
_WIDE: Final = 2
_WIDE_USES: Final = 3
_DATE_USES: Final = 2
_QUOTIENT_USES: Final = 5
_MONTH_USES: Final = 11

_WIDENED: Final = frozenset((Function.ADD, Function.SUBTRACT, Function.MULTIPLY))
_WRITTEN_AGAIN: Final = frozenset(
    (
        *(Function.ADD_DAYS, Function.SUBTRACT_DAYS, Function.MONTHS_BETWEEN),
        *(Function.AGE_YEARS, Function.AGE_BAND, Function.BETWEEN),
        *(Function.CAST_NUMBER, Function.READ, Function.TEXT_OF),
        *(Function.AGE_MONTHS, Function.ADD_MICROSECONDS),
    )
)


_WIDE_OPERANDS: Final = frozenset(
    (
        *(Function.DIVIDE, Function.NEGATE, Function.RESCALE, Function.ABS),
        *(Function.FLOOR, Function.CEILING, Function.ROUND, Function.TRUNCATE),
        *(Function.MODULO, Function.WIDTH_BUCKET),
    )
)


def operators(expression: Expression, own: Mapping[str, Hierarchy]) -> int:
    """Return how many operators are evaluated for an expression.

    Args:
        expression: Whose operands are written in full.
        own: The dataset's own hierarchies.
    """
    match expression:
        case Call():
            inner = sum(operators(operand, own) for operand in expression.operands)
            return _own(expression, own) + _uses(expression) * inner
        case CompareAverage():
            return _AVERAGE
        case _:
            return 0


def _own(call: Call, own: Mapping[str, Hierarchy]) -> int:  # noqa: PLR0911 - an arm a form
    match call.function:
        case (
            Function.IN
            | Function.AND
            | Function.OR
            | Function.COALESCE
            | Function.LEAST
            | Function.GREATEST
        ):
            return len(call.operands)
        case Function.CASE | Function.SWITCH:
            return 2 + len(call.operands)
        case Function.WRITTEN_DAY:
            return 4 * len(call.parameters)
        case Function.LEVEL:
            listed = own.get(str(call.parameters[0]))
            return _LEVEL + (len(listed.codes) if listed else 0)
        case function if function in _WIDENED:
            return 1 if fits(call) else _WIDE
        case function:
            return _OPERATORS.get(function, 1)


def _uses(call: Call) -> int:  # noqa: PLR0911 - an arm a form
    """Return how often an operand is written."""
    if call.function is Function.WRITTEN_DAY:
        return len(call.parameters)
    if call.function is Function.ADD_MONTHS:
        return _MONTH_USES
    if call.function in _WRITTEN_AGAIN:
        return _DATE_USES
    if call.function is Function.SWITCH:
        return len(call.operands) // 2
    if call.function is Function.DIVIDE_DECIMAL:
        return _QUOTIENT_USES
    is_wide = call.function in _WIDENED and not fits(call)
    is_wide |= call.function in _WIDE_OPERANDS
    return _WIDE_USES if is_wide else 1
