"""Whether a published cube answers a query, exactly what it asks or not at all.

Both are plans of the language over one snapshot. The cube answers where it counts the
same things of the same rows: the query's source is the cube's own, the cube's filters
are among the query's, and all else that the query reads follows from dimensions.
Plans are compared as the identity of questions compares them (canonical.py): slots
stand for columns, so equal texts of FROM, whatever their names, are equal here.
"""

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from query_lang.binding.bind import ResolvedQuery
from query_lang.compile import output_columns
from query_lang.plans.canonical import plan_to_json
from query_lang.plans.column_numbers import shape_of
from query_lang.plans.expressions import (
    TRUTH,
    Call,
    Constant,
    Expression,
    Facts,
    FieldRef,
    conjuncts,
)
from query_lang.plans.nodes import (
    Aggregate,
    BoundContributions,
    CountRowsMeasure,
    CountUnitsMeasure,
    CountValuesMeasure,
    MeasureKind,
    Node,
    PublicJoin,
    Scan,
    SumMeasure,
    UnitJoin,
)
from release.cubes.questions.binding.absent_values import absent_values
from release.cubes.questions.binding.cube import PublishedCube
from release.cubes.questions.binding.question import (
    AxisSlot,
    CubeQuestion,
    PlanParts,
    take_apart,
)

What = Literal["source", "bounds", "filter", "counting", "dimension", "snapshot"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which a release is not what a query asks."""

    what: What
    detail: str


def match(
    asked: ResolvedQuery, counted: Aggregate, cube: PublishedCube
) -> CubeQuestion | list[Difference]:
    """Return the question that a cube answers in a query's place, or what differs.

    Args:
        asked: The query.
        counted: The plan of what the cube counts; its keys are the dimensions.
        cube: Public facts of the release.
    """
    question, own = take_apart(_unbounded(asked.plan)), take_apart(_unbounded(counted))
    differences = [
        *_bound_differences((asked.plan, question), (counted, own)),
        *_source_differences(question, own),
        *_counting_differences(asked.plan, counted, cube),
    ]
    axes = _Axes(counted, own, cube)
    conditions, filters = _conditions(question, own, axes)
    computed = {
        slot: axes.turned(_expression(slot, question)) for slot in _slots(asked.plan)
    }
    differences += filters
    turned = [one for one in computed.values() if one is not None]
    if any(absent_values([*conditions, *turned])):
        detail = "the query names a value that a dimension does not have"
        differences.append(Difference("dimension", detail))
    if asked.plan.presentation.sets:
        detail = "the query has totals (ROLLUP, CUBE, GROUPING SETS)"
        differences.append(Difference("dimension", detail))
    if None in computed.values():
        detail = "a group or number of the query follows from no dimension"
        differences.append(Difference("dimension", detail))
    if differences:
        return differences
    return CubeQuestion(
        slots=axes.slots,
        conditions=tuple(conditions),
        keys=asked.plan.keys,
        computed={slot: found for slot, found in computed.items() if found},
        measures=asked.plan.measures,
        columns=output_columns(asked.plan, cube.unit),
        presentation=asked.plan.presentation,
        warnings=asked.warnings,
        position=asked.position,
    )


def _same(one: Node, other: Node) -> bool:
    """Whether two sources are equal, their slots too: conditions read those."""
    return plan_to_json(one) == plan_to_json(other)


def _text(value: Expression | None) -> str:
    """Return what is equal for equal expressions, however subqueries are numbered."""
    return json.dumps(plan_to_json(shape_of(value) if value else None))


# -- rows -----------------------------------------------------------------------


def _unbounded(plan: Aggregate) -> Aggregate:
    """Return a plan without the bounds at its top."""
    if isinstance(plan.child, BoundContributions):
        return replace(plan, child=plan.child.child)
    return plan


def _bound_differences(
    asked: tuple[Aggregate, PlanParts], counted: tuple[Aggregate, PlanParts]
) -> list[Difference]:
    """Say where other rows are left out by number: the source is compared apart."""
    ours, theirs = _rows_left(*asked), _rows_left(*counted)
    if ours == theirs:
        return []
    one_alone = ours is None or theirs is None
    detail = "bounds leave out rows of one of the two" if one_alone else _OTHER_ROWS
    return [Difference("bounds", detail)]


_OTHER_ROWS = (
    "bounds leave out other rows of the two: which ones follows from the bounds, WHERE "
    "and, for max_groups_per_unit, GROUP BY"
)


def _rows_left(plan: Aggregate, parts: PlanParts) -> Hashable:
    """Return what decides, over one source, which rows bounds leave; None: no bound.

    The first rows of each unit that the conditions keep stay, in the order of their
    hashes: neither keys nor what is counted matter, but for a bound on groups.
    """
    bound = plan.child
    if not isinstance(bound, BoundContributions):
        return None
    keys = {_text(_expression(key.slot, parts)) for key in plan.keys}
    return (
        bound.max_rows,
        bound.max_groups,
        frozenset(_text(part) for part in _parts(parts.conditions)),
        frozenset(keys if bound.max_groups else ()),
    )


def _source_differences(question: PlanParts, own: PlanParts) -> list[Difference]:
    if _same(question.source, own.source):
        return []
    if _same(_whole(question.source), _whole(own.source)):
        detail = "one of the two takes fewer rows of each unit from a table"
        return [Difference("bounds", detail)]
    detail = "the query reads other tables, or bounds or joins them in another way"
    return [Difference("source", detail)]


def _whole(node: Node) -> Node:
    """Return tables, or a join of them, without the bounds that a request gave."""
    match node:
        case Scan():
            return replace(node, max_rows=None)
        case UnitJoin(left, right):
            return replace(node, left=_whole(left), right=_whole(right))
        case PublicJoin(left):
            return replace(node, left=_whole(left))
        case _:
            return node


def _conditions(
    question: PlanParts, own: PlanParts, axes: "_Axes"
) -> tuple[list[Expression], list[Difference]]:
    """Return the query's further conditions, over dimensions, and what differs."""
    asked = _parts(question.conditions)
    counted = {_text(part) for part in _parts(own.conditions)}
    differences = []
    if counted - {_text(part) for part in asked}:
        detail = "the release leaves out rows that the query counts"
        differences.append(Difference("filter", detail))
    further = [axes.turned(part) for part in asked if _text(part) not in counted]
    kept = [part for part in further if part is not None]
    if len(kept) < len(further):
        detail = "a condition of the query follows from no dimension"
        differences.append(Difference("filter", detail))
    return kept, differences


def _parts(conditions: Iterable[Expression]) -> list[Expression]:
    return [part for condition in conditions for part in conjuncts(condition)]


# -- what is counted --------------------------------------------------------------


def _counting_differences(
    asked: Aggregate, counted: Aggregate, cube: PublishedCube
) -> list[Difference]:
    rows_are_units = _unbounded(counted).child.rows_per_unit == 1
    counts_rows = cube.counts == "rows" or rows_are_units
    counts_units = cube.counts == "units" or rows_are_units
    owner = _unbounded(counted).child.owner
    found = []
    for measure in asked.measures:
        if isinstance(measure, CountUnitsMeasure):
            plain = measure.slot == owner and not measure.nullable
            if not (plain and counts_units):
                found.append(Difference("counting", _NOT_UNITS))
        elif not isinstance(measure, _OF_ROWS):
            found.append(Difference("counting", _NO_COUNT))
        elif not counts_rows:
            found.append(Difference("counting", _NOT_ROWS))
    return list(dict.fromkeys(found))


_OF_ROWS = (CountRowsMeasure, CountValuesMeasure, SumMeasure)
_NOT_ROWS = "the release counts units once a cell, not rows"
_NOT_UNITS = "the release does not count units as the query does"
_NO_COUNT = "the query asks for more than counts, sums and averages"


# -- expressions -------------------------------------------------------------------


def _slots(plan: Aggregate) -> list[int]:
    """Return the slots of keys and of what is counted or added up."""
    measured = [slot for measure in plan.measures for slot in _slot_of(measure)]
    return [*(key.slot for key in plan.keys), *measured]


def _slot_of(measure: MeasureKind) -> Sequence[int]:
    if isinstance(measure, CountRowsMeasure | CountUnitsMeasure):
        return ()
    return (measure.slot,)


def _expression(slot: int, parts: PlanParts) -> Expression:
    return parts.computed.get(slot, FieldRef(slot, TRUTH))  # facts are not compared


@dataclass(slots=True)
class _Axes:
    """The dimensions of a cube as slots of expressions.

    Attributes:
        slots: One a dimension, and one for each dimension's members that is read.
    """

    counted: Aggregate
    own: PlanParts
    cube: PublishedCube
    slots: dict[int, AxisSlot] = field(default_factory=dict)
    _known: Mapping[str, FieldRef] = field(init=False)
    _members: Mapping[str, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        known: dict[str, FieldRef] = {}
        members: dict[str, list[int]] = {}
        for axis, key in enumerate(self.counted.keys):
            expression = _expression(key.slot, self.own)
            known[_text(expression)] = FieldRef(2 * axis, key.facts)
            if key.name in self.cube.views and isinstance(expression, Call):
                members.setdefault(_text(_argument(expression)), []).append(axis)
        self._known, self._members = known, members

    def turned(self, expression: Expression) -> Expression | None:
        """Return an expression over dimensions, or None where it follows from none."""
        found = self._known.get(_text(expression))
        if found is not None:
            return self._dimension(found)
        match expression:
            case Constant():
                return expression
            case Call():
                return self._wider(expression) or self._rebuilt(expression)
            case _:
                return None

    def _rebuilt(self, call: Call) -> Expression | None:
        """Return a call whose operands all follow from dimensions."""
        operands = [self.turned(operand) for operand in call.operands]
        whole = tuple(operand for operand in operands if operand is not None)
        return replace(call, operands=whole) if len(whole) == len(operands) else None

    def _dimension(self, reference: FieldRef) -> FieldRef:
        axis = reference.slot // 2
        key = self.counted.keys[axis]
        facts = key.facts
        own = AxisSlot(f"{key.name}#counted", axis, key.values, facts.type, facts.scale)
        self.slots[reference.slot] = own
        return reference

    def _wider(self, call: Call) -> Expression | None:
        """Return a call over the members of a dimension that says enough."""
        for axis in self._members.get(_text(_argument(call)), []):
            name = self.counted.keys[axis].name
            view, own = self.cube.views[name], self.cube.hierarchies
            if view.allows(call.function, call.parameters, own):
                values = self.cube.domain.dimensions[axis].values
                members = view.members(values, own)
                slot = 2 * axis + 1
                self.slots[slot] = AxisSlot(f"{name}#member", axis, members, view.type)
                facts = Facts(view.type, domain=view.domain(members))
                return replace(call, operands=(FieldRef(slot, facts),))
        return None


def _argument(call: Call) -> Expression | None:
    """Return the operand that is no constant, where there is one alone."""
    varying = [one for one in call.operands if not isinstance(one, Constant)]
    return varying[0] if len(varying) == 1 else None
