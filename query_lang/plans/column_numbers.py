"""Column numbers of a plan given anew: what differs by them alone is the same plan.

A column that a node makes has a number, its slot. Binding numbers slots as it goes, so
an expression that holds a subquery gets other numbers each time that it is written.
Those that its own nodes make are bound in it, as the variable of a quantifier is; the
slots of the rows around it are free.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from privacy.schema import Table
from query_lang.plans.compiled import Presentation
from query_lang.plans.expressions import (
    AverageRef,
    ExistsInQuery,
    Expression,
    Facts,
    FieldRef,
    UnitsEqual,
)
from query_lang.plans.nodes import (
    BoundContributions,
    Compute,
    CountDistinctMeasure,
    CountUnitsMeasure,
    CountValuesMeasure,
    HistogramMeasure,
    Identity,
    Key,
    PlanColumn,
    PublicScan,
    Rollup,
    RollupItem,
    Scan,
    SumMeasure,
    Union,
    UnitJoin,
    WindowItem,
)

_READ: Mapping[type, tuple[str, ...]] = {
    FieldRef: ("slot",),
    UnitsEqual: ("left", "right"),
    AverageRef: ("sum_slot", "count_slot"),
    ExistsInQuery: ("ties", "outer"),
    UnitJoin: ("left_unit", "right_unit"),
    BoundContributions: ("keys",),
    CountValuesMeasure: ("slot",),
    CountUnitsMeasure: ("slot",),
    CountDistinctMeasure: ("slot",),
    SumMeasure: ("slot",),
    HistogramMeasure: ("slot",),
}
"""The fields of each kind that hold slots which another node makes."""

_MADE: Mapping[type, tuple[str, ...]] = {
    Scan: ("owner", "hash_slot", "first_slot"),
    PublicScan: ("row_slot", "first_slot"),
    WindowItem: ("slot",),
    RollupItem: ("slot",),
    Identity: ("hashes", "parts", "public_rows"),
    Union: ("columns", "owner", "part"),
}
"""The fields of each kind that hold slots which it makes itself."""

_ITEMS: Mapping[type, str] = {Compute: "items", Rollup: "keys"}
"""The fields that hold pairs of a slot that is made and what it is made from."""

_HOLDS_NONE = (Table, Facts, PlanColumn, Presentation)
"""What speaks of no slot, however much it holds."""

_BOUND = -(2**40)  # far below any slot: numbers of what is bound in an expression

_Value = TypeVar("_Value")


def with_ranked_slots(plan: _Value) -> _Value:
    """Return a plan whose slots are numbered from 0, in their present order."""
    made = sorted(_made(plan))
    if made == list(range(len(made))):
        return plan
    ranks = {slot: rank for rank, slot in enumerate(made)}
    return _renumbered(plan, ranks.__getitem__)


def shape_of(expression: Expression) -> Expression:
    """Return an expression that is equal for all that differ by bound slots alone.

    It is for comparing, not for running. Facts are part of it: a column of the rows
    around a subquery may be nullable in one place and not in another.
    """
    ranks = {slot: rank for rank, slot in enumerate(sorted(_made(expression)))}
    return _renumbered(
        expression, lambda slot: _BOUND + ranks[slot] if slot in ranks else slot
    )


def _made(value: object) -> set[int]:
    """Return the slots that the nodes within a value make."""
    found: set[int] = set()
    for part in _parts(value):
        for name in _MADE.get(type(part), ()):
            found.update(_numbers(getattr(part, name)))
        if isinstance(part, Scan | PublicScan):
            found.update(part.slots)
        if type(part) in _ITEMS:
            found.update(slot for slot, _ in getattr(part, _ITEMS[type(part)]))
    return found


def _parts(value: object) -> Iterator[object]:
    """Yield every node, expression and item within a value."""
    if isinstance(value, tuple):
        for item in value:
            yield from _parts(item)
    elif is_dataclass(value) and not isinstance(value, (*_HOLDS_NONE, Key)):
        yield value
        for field in fields(value):
            yield from _parts(getattr(value, field.name))


def _numbers(value: object) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _numbers(item)


def _renumbered(value: _Value, number: Callable[[int], int]) -> _Value:
    """Return a value in which every slot has the number that it is given."""
    if isinstance(value, Key):  # its cells hold none, and may be many
        return cast("_Value", replace(value, slot=number(value.slot)))
    if isinstance(value, tuple):
        items = tuple(_renumbered(item, number) for item in value)
        return cast("_Value", items)
    if not is_dataclass(value) or isinstance(value, (*_HOLDS_NONE, type)):
        return value
    changed = {
        field.name: _renumbered(getattr(value, field.name), number)
        for field in fields(value)
    }
    kind = type(value)
    for name in (*_READ.get(kind, ()), *_MADE.get(kind, ())):
        changed[name] = _mapped(getattr(value, name), number)
    if kind in _ITEMS:
        name = _ITEMS[kind]
        changed[name] = tuple((number(slot), item) for slot, item in changed[name])
    if kind is ExistsInQuery:
        changed["outer"] = tuple(sorted(changed["outer"]))
    return replace(value, **changed)


def _mapped(value: object, number: Callable[[int], int]) -> object:
    if isinstance(value, tuple):
        return tuple(_mapped(item, number) for item in value)
    return number(value) if isinstance(value, int) else value
