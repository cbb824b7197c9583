"""What an expression of one value is at a value that it may have, without a database.

Engines give the same (CONTRACT 1). What is not known here raises ``UnknownError``.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Final, TypeGuard

from privacy.schema import Scalar
from query_lang.plans.expressions import Call, Constant, Expression, Function

Value = Scalar | None


class UnknownError(Exception):
    """What an expression is at a value is not known here."""


def nodes(tree: Expression) -> int:
    """Return how many parts an expression has, one that stands twice counted twice."""
    waiting, found = [tree], 0
    while waiting:
        part = waiting.pop()
        found += 1
        waiting += part.operands if isinstance(part, Call) else ()
    return found


def at(tree: Expression, value: Value) -> Value:
    """Return what an expression of a key is at one of its values; None is NULL.

    Raises:
        UnknownError: It compares what does not compare here.
    """
    if isinstance(tree, Constant):
        return tree.value
    if isinstance(tree, Call):
        return FORMS[tree.function](tree, lambda each: at(each, value))
    return value


Read = Callable[[Expression], Value]


def _case(tree: Call, read: Read) -> Value:
    *branches, otherwise = tree.operands
    for condition, result in zip(branches[::2], branches[1::2], strict=True):
        if read(condition) is True:
            return read(result)
    return read(otherwise)


def _switch(tree: Call, read: Read) -> Value:
    operand, *branches, otherwise = tree.operands
    value = read(operand)
    for known, result in zip(branches[::2], branches[1::2], strict=True):
        if sign_of(value, read(known)) == 0:
            return read(result)
    return read(otherwise)


def _compared(holds: Callable[[int], bool]) -> Callable[[Call, Read], Value]:
    def compared(tree: Call, read: Read) -> Value:
        left, right = tree.operands
        sign = sign_of(read(left), read(right))
        return None if sign is None else holds(sign)

    return compared


def sign_of(left: Value, right: Value) -> int | None:
    """Return -1, 0 or 1; None where one is NULL: nothing is coerced.

    Raises:
        UnknownError: They are of two kinds.
    """
    if left is None or right is None:
        return None
    if kind_of(left) is not kind_of(right):
        raise UnknownError
    return (left > right) - (left < right)  # type: ignore[operator]  # of one kind


def kind_of(value: Scalar) -> type:
    """Return what values compare with: texts, times, truths, numbers of any scale.

    Raises:
        UnknownError: It compares with nothing here.
    """
    kind = type(value)
    if kind in {str, date, datetime, bool}:
        return kind
    if is_number(value):
        return Decimal
    raise UnknownError


def is_day(value: Value) -> TypeGuard[date]:
    """Whether a value is a day, and no time of one."""
    return isinstance(value, date) and not isinstance(value, datetime)


def is_number(value: Value) -> TypeGuard[int | Decimal]:
    """Whether a value is a number."""
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _in(tree: Call, read: Read) -> Value:
    value, *items = map(read, tree.operands)
    return _any(_equal(value, item) for item in items)


def _equal(left: Value, right: Value) -> bool | None:
    sign = sign_of(left, right)
    return None if sign is None else sign == 0


def _between(tree: Call, read: Read) -> Value:
    value, low, high = map(read, tree.operands)
    above, below = sign_of(value, low), sign_of(value, high)
    ends = (
        None if above is None else above >= 0,
        None if below is None else below <= 0,
    )
    return _all(ends)


def _any(truths: Iterable[Value]) -> bool | None:
    found = list(truths)
    return True if True in found else None if None in found else False


def _all(truths: Iterable[Value]) -> bool | None:
    found = list(truths)
    return False if False in found else None if None in found else True


def _not(tree: Call, read: Read) -> Value:
    found = read(tree.operands[0])
    return None if found is None else not found


def _coalesce(tree: Call, read: Read) -> Value:
    return next((v for v in map(read, tree.operands) if v is not None), None)


FORMS: Final[Mapping[Function, Callable[[Call, Read], Value]]] = {
    Function.CASE: _case,
    Function.SWITCH: _switch,
    Function.EQ: _compared(lambda sign: sign == 0),
    Function.NE: _compared(lambda sign: sign != 0),
    Function.LT: _compared(lambda sign: sign < 0),
    Function.LE: _compared(lambda sign: sign <= 0),
    Function.GT: _compared(lambda sign: sign > 0),
    Function.GE: _compared(lambda sign: sign >= 0),
    Function.BETWEEN: _between,
    Function.IN: _in,
    Function.AND: lambda tree, read: _all(map(read, tree.operands)),
    Function.OR: lambda tree, read: _any(map(read, tree.operands)),
    Function.NOT: _not,
    Function.IS_NULL: lambda tree, read: read(tree.operands[0]) is None,
    Function.COALESCE: _coalesce,
    Function.RESCALE: lambda tree, read: read(tree.operands[0]),  # the same number
}
