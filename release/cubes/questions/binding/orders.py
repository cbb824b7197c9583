"""Warnings of comparisons that go by the alphabet where a dimension has an order."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final

from privacy.schema import ColumnType
from query_lang.plans.compiled import QueryWarning
from query_lang.plans.expressions import Call, Expression, FieldRef, Function
from release.contract.domain import Dimension
from release.cubes.questions.binding.question import AxisSlot

_ORDERS: Final = frozenset(
    {Function.LT, Function.LE, Function.GT, Function.GE, Function.BETWEEN}
)


def order_warnings(
    expressions: Iterable[Expression],
    slots: Mapping[int, AxisSlot],
    dimensions: tuple[Dimension, ...],
) -> tuple[QueryWarning, ...]:
    """Warn where texts such as 90-99 and 100-109 are compared by their order.

    A text compares as a text, here as in a query; its declared order is another.

    Args:
        expressions: Of a question, in full.
        slots: That they read.
        dimensions: Of the cube.
    """
    found: dict[str, QueryWarning] = {}
    for slot in _compared(expressions):
        dimension = dimensions[slots[slot].axis]
        pair = _turned(slots[slot]) if dimension.ordered else None
        if pair is not None:
            detail = (
                f"{dimension.name} is compared as text, by which '{pair[1]}' comes "
                f"before '{pair[0]}': name the values that you mean, with IN"
            )
            found.setdefault(dimension.name, QueryWarning("text_order", detail))
    return tuple(found.values())


def _compared(expressions: Iterable[Expression]) -> Iterator[int]:
    """Yield the slots that are compared by order."""
    for expression in expressions:
        if not isinstance(expression, Call):
            continue
        if expression.function in _ORDERS:
            for operand in expression.operands:
                if isinstance(operand, FieldRef):
                    yield operand.slot
        yield from _compared(expression.operands)


def _turned(slot: AxisSlot) -> tuple[str, str] | None:
    """Return two values in their declared order, which text turns round."""
    if slot.type is not ColumnType.TEXT:
        return None
    texts = [value for value in slot.values if isinstance(value, str)]
    return next(((one, two) for one, two in pairwise(texts) if one > two), None)
