"""Conditions on row numbers: how many rows of one unit they leave.

Proof: docs/proofs/numbering.md.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from query_lang.binding.scope import Relation, ValueColumn
from query_lang.plans.expressions import (
    Call,
    Constant,
    Expression,
    FieldRef,
    Function,
    conjuncts,
)


def numberings(relation: Relation) -> dict[int, int]:
    """Return the row numbers of a relation: slots, and the partitions of one unit."""
    return {
        column.slot: column.numbering
        for column in relation.columns.values()
        if isinstance(column, ValueColumn) and column.numbering
    }


def rows_held(condition: Expression, numbers: Mapping[int, int]) -> int | None:
    """Return the most rows of one unit that a condition leaves; None if unsaid.

    Args:
        condition: Of WHERE.
        numbers: Slots of row numbers, and the most partitions of a unit's rows.
    """
    if not numbers:
        return None
    stated = tuple(_stated(condition))
    found = [
        (_numbers_left(stated, slot), partitions)
        for slot, partitions in numbers.items()
    ]
    return min((n * times for n, times in found if n is not None), default=None)


def is_held_to_one(condition: Expression, slot: int) -> bool:
    """Whether a condition leaves one of the numbers 1, 2, ... of a row number."""
    return _numbers_left(tuple(_stated(condition)), slot) == 1


def _stated(condition: Expression) -> Iterator[Expression]:
    """Yield the top-level conjuncts; NOT of NOT, and of a comparison, is what it says.

    A row is kept where a condition is TRUE: then none of its parts is NULL.
    """
    for part in conjuncts(condition):
        inner = _negated(part)
        twice = None if inner is None else _negated(inner)
        if twice is not None:
            yield from _stated(twice)
        elif isinstance(inner, Call) and inner.function in _CONTRARY:
            yield replace(inner, function=_CONTRARY[inner.function])
        else:
            yield part


_CONTRARY: Mapping[Function, Function] = {
    Function.EQ: Function.NE,
    Function.NE: Function.EQ,
    Function.LT: Function.GE,
    Function.LE: Function.GT,
    Function.GT: Function.LE,
    Function.GE: Function.LT,
}


def _negated(condition: Expression) -> Expression | None:
    """Return c of ``NOT c``."""
    if isinstance(condition, Call) and condition.function is Function.NOT:
        return condition.operands[0]
    return None


def _numbers_left(stated: tuple[Expression, ...], slot: int) -> int | None:
    """Return how many of the numbers 1, 2, ... comparisons leave, at least one."""
    low, high = 1, None
    listed: set[int] | None = None
    for condition in stated:
        function, values = _compared(condition, slot)
        if function in _LISTING:
            listed = {*values} if listed is None else listed & {*values}
        elif function in _LOWEST:
            low = max(low, values[0] + _LOWEST[function])
        elif function in _HIGHEST:
            most = values[0] + _HIGHEST[function]
            high = most if high is None else min(high, most)
    if listed is not None:
        kept = [n for n in listed if low <= n and (high is None or n <= high)]
        return max(1, len(kept))
    return None if high is None else max(1, high - low + 1)


_LISTING: Final = frozenset({Function.EQ, Function.IN})
_LOWEST: Final = {Function.GE: 0, Function.GT: 1}
_HIGHEST: Final = {Function.LE: 0, Function.LT: -1}


def _compared(condition: Expression, slot: int) -> tuple[Function | None, list[int]]:
    """Return a comparison of a row number with whole numbers; None of anything else."""
    if not isinstance(condition, Call) or len(condition.operands) < 2:  # noqa: PLR2004 - a comparison
        return None, []
    number, *others = condition.operands
    if not isinstance(number, FieldRef) or number.slot != slot:
        return None, []
    values = [other.value for other in others if isinstance(other, Constant)]
    whole = [value for value in values if isinstance(value, int)]
    return (condition.function, whole) if len(whole) == len(others) else (None, [])
