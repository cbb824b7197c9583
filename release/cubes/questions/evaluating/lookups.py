"""Comparisons of a dimension with its own values, looked up.

The engine compares all values of a dimension with each other once. A condition with
one of them is then a row of that table, so a new range or set costs no statement.
AND, OR and NOT join rows as ``logic.py`` joins dimensions.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Final

import numpy as np
from numpy.typing import NDArray

from privacy.schema import ColumnType, Scalar
from query_lang.plans.expressions import Call, Constant, Expression, FieldRef, Function
from release.cubes.questions.binding.question import AxisSlot, CubeQuestion

TruthArray = NDArray[np.int8]
"""1 for TRUE, -1 for FALSE, 0 for NULL."""

Compare = Callable[[Function, AxisSlot], TruthArray]
"""Return a truth for each constant (row) and each of a slot's values (column)."""

MOST_VALUES: Final = 500
"""The most values of a dimension whose values are compared with each other."""

_COMPARISONS: Final = frozenset(
    {
        Function.EQ,
        Function.NE,
        Function.LT,
        Function.LE,
        Function.GT,
        Function.GE,
    }
)
_TYPES: Final = frozenset(
    {ColumnType.INTEGER, ColumnType.TEXT, ColumnType.DATE, ColumnType.BOOLEAN}
)
JOINS: Final[Mapping[Function, np.ufunc]] = {
    Function.AND: np.minimum,
    Function.OR: np.maximum,
}
"""What joins truths of -1, 0 and 1."""


class Lookups:
    """Looks up what the expressions of one question are on one dimension each."""

    def __init__(self, question: CubeQuestion, compare: Compare) -> None:
        self._question = question
        self._compare = compare

    def truths(self, condition: Expression) -> TruthArray | None:
        """Return what a condition is on the values of the one dimension it reads.

        Returns:
            None where it holds anything but comparisons with values of the dimension:
            the engine must evaluate it.
        """
        if not isinstance(condition, Call):
            return None
        match condition.function, condition.operands:
            case (Function.NOT, (operand,)):
                found = self.truths(operand)
                whole = None if found is None else -found
            case (function, operands) if function in JOINS:
                whole = _joined(JOINS[function], map(self.truths, operands))
            case (Function.IN, (FieldRef(slot), *items)):
                rows = (self._row(Function.EQ, slot, item) for item in items)
                whole = _joined(np.maximum, rows)
            case (function, (FieldRef(slot), item)) if function in _COMPARISONS:
                whole = self._row(function, slot, item)
            case _:
                whole = None
        return whole

    def numbers(self, expression: Expression) -> Sequence[int] | None:
        """Return the values of a CASE of whole constants, or None: of anything else."""
        if not isinstance(expression, Call) or expression.function is not Function.CASE:
            return None
        *branches, otherwise = expression.operands
        results = _numbers((*branches[1::2], otherwise))
        if expression.facts.type is not ColumnType.INTEGER or results is None:
            return None
        holds = []
        for condition in branches[::2]:
            found = self.truths(condition)
            if found is None:
                return None
            holds.append(found > 0)
        places = np.select(holds, list(range(len(holds))), len(holds))
        return [results[place] for place in places.tolist()]

    def _row(
        self, function: Function, slot: int, item: Expression
    ) -> TruthArray | None:
        own = self._question.slots[slot]
        if not isinstance(item, Constant) or item.value is None:
            return None
        place = _place(item.value, own)
        return None if place is None else self._compare(function, own)[place]


def _place(value: Scalar, own: AxisSlot) -> int | None:
    """Return where a constant stands among a slot's values, if it does."""
    if own.type not in _TYPES or len(own.values) > MOST_VALUES:
        return None
    try:
        return own.values.index(value)
    except ValueError:
        return None


def _joined(join: np.ufunc, parts: Iterable[TruthArray | None]) -> TruthArray | None:
    found: list[TruthArray] = []
    for part in parts:
        if part is None:
            return None
        found.append(part)
    return reduce(join, found)


def _numbers(results: Sequence[Expression]) -> list[int] | None:
    """Return whole constants, or None where something else is among them."""
    found = [
        result.value
        for result in results
        if isinstance(result, Constant) and type(result.value) is int
    ]
    return found if len(found) == len(results) else None
