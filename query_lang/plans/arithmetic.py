"""What each operator gives for numbers: exact, on the grid, clamped to 64 bits.

Values are integers in steps of their grid. Engines give the same (CONTRACT 1); the
public domain of a result is made of these.
"""

from collections.abc import Callable, Mapping

from query_lang.plans.expressions import Call, Function
from query_lang.plans.intervals import cut_division, saturate

_Rounded = Callable[[int, int], int]


def rounded_division(dividend: int, divisor: int) -> int:
    """Divide and round half away from zero.

    >>> rounded_division(-5, 2), rounded_division(7, 3)
    (-3, 2)
    """
    quotient = (2 * abs(dividend) + abs(divisor)) // (2 * abs(divisor))
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def remainder(dividend: int, divisor: int) -> int:
    """Return what a division that is cut towards zero leaves.

    >>> remainder(-7, 3), remainder(7, -3)
    (-1, 1)
    """
    return dividend - divisor * cut_division(dividend, divisor)


def bucket(value: int, start: int, end: int, count: int) -> int:
    """Return the number of the bucket of equal widths; 0 below, ``count`` + 1 above.

    >>> [bucket(x, 0, 10, 5) for x in (-1, 0, 9, 10)]
    [0, 1, 5, 6]
    """
    if value < start:
        return 0
    return min((value - start) * count // (end - start), count) + 1


def computed(call: Call, operands: tuple[int, ...]) -> int | None:
    """Return the value of a call on numbers that are not NULL; None for NULL.

    Raises:
        KeyError: The function is none of numbers.
    """
    numbers = [int(number) for number in call.parameters if isinstance(number, int)]
    found = _VALUES[call.function](operands, numbers)
    return None if found is None else saturate(found)


def is_computed(function: Function) -> bool:
    """Whether ``computed`` knows a function."""
    return function in _VALUES


_Values = Callable[[tuple[int, ...], list[int]], int | None]


def _of_two(operate: Callable[[int, int], int]) -> _Values:
    return lambda operands, _: operate(operands[0], operands[1])


def _unless_zero(operate: Callable[[int, int], int]) -> _Values:
    return lambda operands, _: (
        operate(operands[0], operands[1]) if operands[1] else None
    )


def _to_multiples(rounded: _Rounded) -> _Values:
    return lambda operands, known: rounded(operands[0], known[0]) * known[1]


def _decimal_quotient(operands: tuple[int, ...], known: list[int]) -> int | None:
    dividend, divisor = operands
    return rounded_division(dividend * known[0], divisor) if divisor else None


_VALUES: Mapping[Function, _Values] = {
    Function.ADD: _of_two(lambda a, b: a + b),
    Function.SUBTRACT: _of_two(lambda a, b: a - b),
    Function.MULTIPLY: _of_two(lambda a, b: a * b),
    Function.DIVIDE: _unless_zero(cut_division),
    Function.DIVIDE_DECIMAL: _decimal_quotient,
    Function.MODULO: _unless_zero(remainder),
    Function.NEGATE: lambda operands, _: -operands[0],
    Function.RESCALE: lambda operands, known: operands[0] * known[0],
    Function.ABS: lambda operands, _: abs(operands[0]),
    Function.SIGN: lambda operands, _: (operands[0] > 0) - (operands[0] < 0),
    Function.FLOOR: _to_multiples(lambda a, d: a // d),
    Function.CEILING: _to_multiples(lambda a, d: -(-a // d)),
    Function.ROUND: _to_multiples(rounded_division),
    Function.TRUNCATE: _to_multiples(cut_division),
    Function.WIDTH_BUCKET: lambda operands, known: bucket(operands[0], *known),
}
