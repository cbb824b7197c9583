"""HAVING on noisy values: three-valued, over what cells show."""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal

from privacy.schema import Scalar
from query_lang.plans.compiled import (
    AverageShown,
    CompiledQuery,
    KeyShown,
    NoisyAnd,
    NoisyComparison,
    NoisyCondition,
    NoisyConstant,
    NoisyIn,
    NoisyIsNull,
    NoisyNot,
    NoisyOr,
    NoisyTruth,
    NumberShown,
    Presentation,
    QuantileShown,
    Shown,
)
from query_lang.showing.values import CellValues
from query_lang.syntax.nodes import ComparisonOperator

_SHOWN = (KeyShown, NumberShown, AverageShown, QuantileShown)
_Comparable = tuple[int | Decimal, str]
_OPERATORS: Mapping[ComparisonOperator, Callable[[_Comparable, _Comparable], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def truths(condition: NoisyCondition, values: CellValues) -> list[bool | None]:
    """Return whether a condition holds, one truth a cell; None is SQL's unknown.

    Args:
        condition: Of HAVING.
        values: What all cells show.
    """
    match condition:
        case NoisyNot(item):
            return [_not(found) for found in truths(item, values)]
        case NoisyAnd(items):
            rows = zip(*(truths(item, values) for item in items), strict=True)
            return [_all(row) for row in rows]
        case NoisyOr(items):
            nots = tuple(NoisyNot(item) for item in items)
            return truths(NoisyNot(NoisyAnd(nots)), values)
        case _:
            return _simple_truths(condition, values)


def _simple_truths(  # noqa: PLR0911 - an arm a form
    condition: NoisyComparison | NoisyIn | NoisyIsNull | NoisyTruth | NoisyConstant,
    values: CellValues,
) -> list[bool | None]:
    match condition:
        case NoisyComparison():
            return _comparisons(condition, values)
        case NoisyIn():
            return _memberships(condition, values)
        case NoisyIsNull(shown):
            return [value is None for value in values.column(shown)]
        case NoisyConstant(truth):
            return [truth] * len(values.cells)
        case NoisyTruth(shown):
            found = values.column(shown)
            return [None if value is None else bool(value) for value in found]


def _not(found: bool | None) -> bool | None:  # noqa: FBT001 - a truth is no flag
    return None if found is None else not found


def _all(found: Sequence[bool | None]) -> bool | None:
    """Return AND: a FALSE decides, else an unknown does."""
    if False in found:
        return False
    return None if None in found else True


def _comparisons(condition: NoisyComparison, values: CellValues) -> list[bool | None]:
    holds = _OPERATORS[condition.operator]
    left, right = (_side(s, values) for s in (condition.left, condition.right))
    return [
        None if one is None or other is None else holds(one, other)
        for one, other in zip(left, right, strict=True)
    ]


def _side(side: Shown | Scalar, values: CellValues) -> list[_Comparable | None]:
    if isinstance(side, _SHOWN):
        found = values.column(side)
        return [None if value is None else _comparable(value) for value in found]
    return [_comparable(side)] * len(values.cells)


def _memberships(condition: NoisyIn, values: CellValues) -> list[bool | None]:
    listed = {_comparable(value) for value in condition.values}
    found = _side(condition.value, values)
    return [None if value is None else value in listed for value in found]


def _comparable(value: Scalar) -> _Comparable:
    """Return a value that compares as its own kind does; one kind meets one kind.

    Numbers compare exactly, text by code points, days and times by their ISO text.
    """
    if isinstance(value, int | Decimal):  # a bool is an int
        return value, ""
    return 0, value.isoformat() if isinstance(value, date) else value


def all_shown(compiled: CompiledQuery) -> Iterator[Shown]:
    """Yield everything shown that columns, HAVING and ORDER BY speak of."""
    yield from (column.shown for column in compiled.columns)
    yield from shown_in_presentation(compiled.presentation)


def shown_in_presentation(presentation: Presentation) -> Iterator[Shown]:
    """Yield everything shown that HAVING and ORDER BY speak of."""
    yield from (term.value for term in presentation.order)
    if presentation.having is not None:
        yield from shown_in(presentation.having)


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
        case NoisyConstant():
            return
