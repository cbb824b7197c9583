"""Conditions on several dimensions, from what they are on each one by itself.

AND, OR and NOT are the least, the greatest and the opposite of -1 (FALSE), 0 (NULL)
and 1 (TRUE): the three-valued logic of SQL. All else is left to the engine.
"""

from collections.abc import Iterator
from math import prod

import numpy as np

from query_lang.plans.expressions import Call, Expression, Function
from release.cubes.questions.binding.question import CubeQuestion
from release.cubes.questions.evaluating.effort import Effort
from release.cubes.questions.evaluating.evaluation import PublicValues
from release.cubes.questions.evaluating.lookups import JOINS, TruthArray
from release.cubes.questions.evaluating.steps import JOINED_STEPS


class Logic:
    """Evaluates the conditions of one question.

    Raises:
        SqlNotAllowedError: From every method: too many combinations, or too many
            steps.
    """

    def __init__(
        self, question: CubeQuestion, values: PublicValues, effort: Effort
    ) -> None:
        self._question = question
        self._values = values
        self._effort = effort

    def truths(self, condition: Expression) -> TruthArray:
        """Return what a condition is, an array over the dimensions it reads."""
        several = len(self._axes(condition)) > 1
        match condition:
            case Call(function) if several and function in JOINS:
                return self._joined(condition, JOINS[function])
            case Call(Function.NOT, (operand,)) if several:
                return np.negative(self.truths(operand))
            case _:
                return self._plain(condition)

    def _joined(self, condition: Call, join: np.ufunc) -> TruthArray:
        axes = self._axes(condition)
        deeper, plain = self._parts(condition)
        cells = prod(self._sizes(axes))
        self._effort.spend(JOINED_STEPS * cells * (len(deeper) + len(plain)))
        whole: TruthArray | None = None
        parts = [(part, self.truths) for part in deeper]  # large: few held at once
        for part, evaluate in parts + [(part, self._plain) for part in plain]:
            found = self._spread(evaluate(part), self._axes(part), axes)
            if whole is None:
                whole = np.array(np.broadcast_to(found, self._sizes(axes)))
            else:
                join(whole, found, out=whole)
        if whole is None:
            raise TypeError
        return whole

    def _plain(self, condition: Expression) -> TruthArray:
        return self._values.truths(condition, self._question, self._effort)

    def _parts(self, condition: Call) -> tuple[list[Expression], list[Expression]]:
        """Return the operands to take apart further, and those for the engine.

        The engine takes all that read the same dimensions at once.
        """
        together: dict[tuple[int, ...], list[Expression]] = {}
        deeper: list[Expression] = []
        for operand in _operands(condition, condition.function):
            axes = self._axes(operand)
            if len(axes) > 1 and _is_logic(operand):
                deeper.append(operand)
            else:
                together.setdefault(axes, []).append(operand)
        plain = [
            items[0]
            if len(items) == 1
            else Call(condition.function, tuple(items), condition.facts)
            for items in together.values()
        ]
        return deeper, plain

    def _axes(self, expression: Expression) -> tuple[int, ...]:
        return self._values.axes_of((expression,), self._question)

    def _sizes(self, axes: tuple[int, ...]) -> list[int]:
        return [self._values.shape[axis] for axis in axes]

    def _spread(
        self, found: TruthArray, own: tuple[int, ...], axes: tuple[int, ...]
    ) -> TruthArray:
        sizes = [self._values.shape[axis] if axis in own else 1 for axis in axes]
        return found.reshape(sizes)


def _is_logic(expression: Expression) -> bool:
    return isinstance(expression, Call) and (
        expression.function in JOINS or expression.function is Function.NOT
    )


def _operands(expression: Expression, function: Function) -> Iterator[Expression]:
    """Yield what one operator joins, however it is bracketed."""
    if isinstance(expression, Call) and expression.function is function:
        for operand in expression.operands:
            yield from _operands(operand, function)
    else:
        yield expression
