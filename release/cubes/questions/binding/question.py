"""A question to a cube: bound expressions over its dimensions, nothing of rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from privacy.schema import ColumnType, Scalar
from query_lang.plans.compiled import OutputColumn, Presentation, QueryWarning
from query_lang.plans.expressions import (
    AverageRef,
    Call,
    CompareAverage,
    Expression,
    Facts,
    FieldRef,
    UnitsEqual,
    holds_subquery,
)
from query_lang.plans.nodes import Aggregate, Compute, Filter, Key, MeasureKind, Node
from query_lang.syntax.nodes import Position, Query
from query_lang.syntax.refusals import refuse
from release.contract.answers import ONE_RELEASE
from release.cubes.questions.binding import rules

MAX_NODES: Final = 10_000
"""The most parts of an expression that is written in full."""


@dataclass(frozen=True, slots=True)
class AxisSlot:
    """A slot whose value is a public function of one dimension.

    Attributes:
        name: One a function and dimension.
        axis: Which dimension of the cube.
        values: The slot's value for each of the dimension's values.
        type: Of the values that are not NULL.
        scale: Decimals of their grid.
    """

    name: str
    axis: int
    values: tuple[Scalar | None, ...]
    type: ColumnType
    scale: int = 0


@dataclass(frozen=True, slots=True)
class CubeQuestion:
    """What is asked of a cube.

    Attributes:
        slots: Every slot that an expression may read.
        conditions: All must be TRUE of a cell that counts.
        keys: In the order of GROUP BY.
        computed: Expressions behind the slots of keys and measures that are none of
            the cube's own.
        measures: The distinct aggregates.
        columns: Of the answer.
        presentation: HAVING, ORDER BY, LIMIT.
        warnings: What the asker may not have meant.
        position: Where the query begins, for refusals.
        tree: As it was written, for refusals; None where it was asked of the data.
    """

    slots: Mapping[int, AxisSlot]
    conditions: tuple[Expression, ...]
    keys: tuple[Key, ...]
    computed: Mapping[int, Expression]
    measures: tuple[MeasureKind, ...]
    columns: tuple[OutputColumn, ...]
    presentation: Presentation
    warnings: tuple[QueryWarning, ...]
    position: Position
    tree: Query | None = None

    def expression(self, slot: int) -> Expression:
        """Return what a slot of a key or measure holds."""
        if slot in self.computed:
            return self.computed[slot]
        own = self.slots[slot]
        return FieldRef(slot, Facts(own.type, own.scale))


@dataclass(frozen=True, slots=True)
class PlanParts:
    """A plan taken apart: what stands over its source.

    Attributes:
        source: The first node from above that is neither filter nor computation.
        conditions: Of the filters, the lowest first.
        computed: What the computations make, by slot.

    Both read the source's own columns alone: what one computation makes of another's
    value stands there in full.
    """

    source: Node
    conditions: tuple[Expression, ...]
    computed: Mapping[int, Expression]


def take_apart(plan: Aggregate) -> PlanParts:
    """Take the filters and computations off a plan's source.

    Raises:
        SqlNotAllowedError: Rule ``much_work``; written in full, an expression is huge.
    """
    node: Node = plan.child
    conditions: list[Expression] = []
    computed: dict[int, Expression] = {}
    while True:
        match node:
            case Filter(child, condition, None):
                conditions.insert(0, condition)
                node = child
            case Compute(child, items):
                computed |= dict(items)
                node = child
            case _:
                break
    full = _Full(computed)
    return PlanParts(
        node,
        tuple(full.of(condition)[0] for condition in conditions),
        {slot: full.of(expression)[0] for slot, expression in computed.items()},
    )


class _Full:
    """Writes expressions in full: each computed column as what it is computed from."""

    def __init__(self, computed: Mapping[int, Expression]) -> None:
        self._computed = computed
        self._known: dict[int, tuple[Expression, int]] = {}

    def of(self, expression: Expression) -> tuple[Expression, int]:
        """Return an expression and how many nodes it has."""
        if isinstance(expression, FieldRef) and expression.slot in self._computed:
            slot = expression.slot
            if slot not in self._known:
                self._known[slot] = self.of(self._computed[slot])
            return self._known[slot]
        if not isinstance(expression, Call):
            return expression, 1
        operands = [self.of(operand) for operand in expression.operands]
        size = 1 + sum(nodes for _, nodes in operands)
        if size > MAX_NODES:
            raise refuse(rules.MUCH_WORK, Position(1, 1))
        inner = tuple(operand for operand, _ in operands)
        return replace(expression, operands=inner), size


def require_plain(expression: Expression, position: Position) -> None:
    """Refuse an expression that reads more than values of one row.

    Raises:
        SqlNotAllowedError: It holds a subquery or a roll-up's average.
    """
    odd = AverageRef | CompareAverage | UnitsEqual
    if holds_subquery(expression) or _holds(expression, odd):
        raise refuse(ONE_RELEASE, position)


def _holds(expression: Expression, kinds: object) -> bool:
    if isinstance(expression, kinds):  # type: ignore[arg-type]
        return True
    return isinstance(expression, Call) and any(
        _holds(operand, kinds) for operand in expression.operands
    )
