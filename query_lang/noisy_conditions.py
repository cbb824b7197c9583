"""HAVING on noisy values: three-valued, over what cells show."""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction

from privacy.schema import Scalar
from query_lang.compiled import (
    AverageShown,
    CompiledQuery,
    KeyShown,
    NoisyAnd,
    NoisyComparison,
    NoisyCondition,
    NoisyIn,
    NoisyIsNull,
    NoisyNot,
    NoisyOr,
    NoisyTruth,
    NumberShown,
    QuantileShown,
    Shown,
)
from query_lang.shown_values import ShownValue, ShownValues
from query_lang.syntax import ComparisonOperator

_SHOWN = (KeyShown, NumberShown, AverageShown, QuantileShown)
_Comparable = tuple[Fraction, str]
_OPERATORS: Mapping[ComparisonOperator, Callable[[_Comparable, _Comparable], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def truth(condition: NoisyCondition, values: ShownValues, cell: int) -> bool | None:
    """Return whether a condition holds for a cell; None is SQL's unknown.

    Args:
        condition: Of HAVING.
        values: What all cells show.
        cell: Position of the cell, in declared order.
    """
    match condition:
        case NoisyNot(item):
            found = truth(item, values, cell)
            return None if found is None else not found
        case NoisyAnd(items):
            return _all(truth(item, values, cell) for item in items)
        case NoisyOr(items):
            nots = (truth(NoisyNot(item), values, cell) for item in items)
            none_holds = _all(nots)
            return None if none_holds is None else not none_holds
        case _:
            return _simple(condition, values, cell)


def _simple(
    condition: NoisyComparison | NoisyIn | NoisyIsNull | NoisyTruth,
    values: ShownValues,
    cell: int,
) -> bool | None:
    match condition:
        case NoisyComparison(how, left, right):
            return _compare(how, *(_value(v, values, cell) for v in (left, right)))
        case NoisyIn(shown, listed):
            return _is_one_of(values.column(shown)[cell], listed)
        case NoisyIsNull(shown):
            return values.column(shown)[cell] is None
        case NoisyTruth(shown):
            found = values.column(shown)[cell]
            return None if found is None else bool(found)


def _all(truths: Iterable[bool | None]) -> bool | None:
    """Return AND: a FALSE decides, else an unknown does."""
    found = set(truths)
    if False in found:
        return False
    return None if None in found else True


def _value(side: Shown | Scalar, values: ShownValues, cell: int) -> ShownValue:
    return values.column(side)[cell] if isinstance(side, _SHOWN) else side


def _compare(
    how: ComparisonOperator, left: ShownValue, right: ShownValue
) -> bool | None:
    if left is None or right is None:
        return None
    return _OPERATORS[how](_comparable(left), _comparable(right))


def _is_one_of(value: ShownValue, listed: Sequence[Scalar]) -> bool | None:
    if value is None:
        return None
    return _comparable(value) in [_comparable(item) for item in listed]


def _comparable(value: Scalar | Fraction) -> _Comparable:
    """Return a value that compares as its own kind does; one kind meets one kind.

    Numbers compare exactly, text by code points, days and times by their ISO text.
    """
    if isinstance(value, int | Decimal | Fraction):  # a bool is an int
        return Fraction(value), ""
    return Fraction(0), value.isoformat() if isinstance(value, date) else value


def all_shown(compiled: CompiledQuery) -> Iterator[Shown]:
    """Yield everything shown that columns, HAVING and ORDER BY speak of."""
    yield from (column.shown for column in compiled.columns)
    yield from (term.value for term in compiled.presentation.order)
    if compiled.presentation.having is not None:
        yield from shown_in(compiled.presentation.having)


def shown_in(condition: NoisyCondition) -> Iterator[Shown]:
    """Yield everything shown that a condition speaks of."""
    match condition:
        case NoisyNot(item):
            yield from shown_in(item)
        case NoisyAnd(items) | NoisyOr(items):
            for item in items:
                yield from shown_in(item)
        case NoisyComparison(_, left, right):
            yield from (side for side in (left, right) if isinstance(side, _SHOWN))
        case NoisyIn(shown, _) | NoisyIsNull(shown) | NoisyTruth(shown):
            yield shown
