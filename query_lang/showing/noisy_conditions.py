"""HAVING on noisy values: three-valued, over what cells show."""

import operator
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal

from privacy.schema import Scalar
from query_lang.plans.compiled import (
    AverageShown,
    CompiledQuery,
    ComputedShown,
    DependentShown,
    GroupingShown,
    KeyShown,
    LiteralShown,
    NamedTotal,
    NoisyAtom,
    NoisyComparison,
    NoisyCondition,
    NoisyConstant,
    NoisyIn,
    NoisyIsNull,
    NoisyTruth,
    NumberShown,
    Presentation,
    QuantileShown,
    Shown,
    WindowShown,
)
from query_lang.showing.cells import CellValues
from query_lang.syntax.logic import Logic, atoms
from query_lang.syntax.nodes import ComparisonOperator

_SHOWN = (
    KeyShown,
    GroupingShown,
    NamedTotal,
    DependentShown,
    NumberShown,
    AverageShown,
    QuantileShown,
    LiteralShown,
    ComputedShown,
    WindowShown,
)
_Comparable = tuple[int | Decimal, str]
Truths = list[bool | None]
_OPERATORS: Mapping[ComparisonOperator, Callable[[_Comparable, _Comparable], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def truths(condition: NoisyCondition, values: CellValues) -> Truths:
    """Return whether a condition holds, one truth a cell; None is SQL's unknown.

    Args:
        condition: Of HAVING.
        values: What all cells show.
    """

    def judge(atom: NoisyAtom) -> Truths:
        return _atom_truths(atom, values)

    return Logic[NoisyAtom, Truths](judge, _not, _both).evaluate(condition)


def _atom_truths(atom: NoisyAtom, values: CellValues) -> Truths:  # noqa: PLR0911 - an arm a form
    match atom:
        case NoisyComparison():
            return _comparisons(atom, values)
        case NoisyIn():
            return _memberships(atom, values)
        case NoisyIsNull(shown):
            return [value is None for value in values.column(shown)]
        case NoisyConstant(truth):
            return [truth] * len(values.cells)
        case NoisyTruth(shown):
            found = values.column(shown)
            return [None if value is None else bool(value) for value in found]


def _not(found: Truths) -> Truths:
    return [None if truth is None else not truth for truth in found]


def _both(left: Truths, right: Truths) -> Truths:
    """Return AND: a FALSE decides, else an unknown does."""
    return [
        False if False in (one, other) else None if None in (one, other) else True
        for one, other in zip(left, right, strict=True)
    ]


def _comparisons(condition: NoisyComparison, values: CellValues) -> Truths:
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


def _memberships(condition: NoisyIn, values: CellValues) -> Truths:
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
    """Yield everything shown that columns and the presentation speak of."""
    yield from (column.shown for column in compiled.columns)
    yield from shown_in_presentation(compiled.presentation)


def shown_in_presentation(presentation: Presentation) -> Iterator[Shown]:
    """Yield everything shown that HAVING, QUALIFY and ORDER BY speak of."""
    yield from (term.value for term in presentation.order)
    for condition in (presentation.having, presentation.kept):
        if condition is not None:
            yield from shown_in(condition)


def shown_in(condition: NoisyCondition) -> Iterator[Shown]:
    """Yield everything shown that a condition speaks of."""
    joined: Iterator[NoisyAtom] = atoms(condition)
    for atom in joined:
        match atom:
            case NoisyComparison(_, left, right):
                yield from (side for side in (left, right) if isinstance(side, _SHOWN))
            case NoisyIn(shown, _) | NoisyIsNull(shown) | NoisyTruth(shown):
                yield shown
            case NoisyConstant():
                pass
