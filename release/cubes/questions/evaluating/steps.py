"""What parts of a question to a release take, in steps, from public facts.

A step is at most one nanosecond of one thread on the machine that
``python -m benchmarks.releases.steps`` was run on, with room to spare: see the table in
docs/releases-speed.md. Nothing here knows what was evaluated before.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from privacy.schema import ColumnType, Hierarchy
from query_lang.costs.constants import NUMBER_BYTES
from query_lang.costs.expressions import ExpressionCost, text_width
from query_lang.plans.expressions import Call, Expression, slots_read
from query_lang.plans.nodes import Aggregate
from release.contract.models import IntArray
from release.cubes.questions.binding.question import AxisSlot, take_apart

QUESTION_STEPS: Final = 20_000_000
"""Any question: bound, and the first use of an engine."""

STATEMENT_STEPS: Final = 4_000_000
"""A statement of the engine, and the tables of values that it may have to make."""

PART_STEPS: Final = 200_000
"""A part of an expression: rendered, parsed, and bound."""

VALUE_STEPS: Final = 1_000
"""A value that a table of values holds."""

COMBINATION_STEPS: Final = 150
"""A combination of values, joined and placed."""

TRUTH_STEPS: Final = 60
"""A truth, taken from the engine."""

FOUND_STEPS: Final = 2_500
"""A value, taken from the engine into Python and laid out."""

LOOKED_UP_STEPS: Final = 30_000
"""A comparison that is looked up, beside its truths."""

JOINED_STEPS: Final = 10
"""A truth, joined with another by AND or OR."""

SHOWN_STEPS: Final = 7_000
"""A value that an answer shows, with its interval."""

ADDED_STEPS: Final = 40
"""A number that a sum adds up."""

TRIED_STEPS: Final = 2_500
"""A number that an average adds up, again for each end that is tried."""

MET_STEPS: Final = 4_500
"""A pair of a box that was measured together and a group that it meets, in a roll."""

ORDERED_STEPS: Final = 700
"""A cell of a model that lays its cells out in an order, in a roll."""

GROUP_STEPS: Final = 12_000
"""A group of a roll over such a model of one dimension."""

LAID_STEPS: Final = 15
"""A pair of a value and a group of one dimension, of a model of marginals."""

JOINT_STEPS: Final = 700
"""A group of several dimensions together, of a model of marginals."""

WEIGHED_ROW_STEPS: Final = 30
"""A row that a fit weighs, a dimension, in a roll."""

PASSED_STEPS: Final = 1_000
"""A pair of a part and a sum, each time that a weighted sum's ends are worked out."""

MATCHING_STEPS: Final = 2_000_000
"""Comparing a query's source and what it counts with those of one release."""

WRITTEN_STEPS: Final = 100_000
"""A part of an expression, written out to be compared."""

_MOST_PASSED: Final = 800_000
"""Pairs of a part and a sum that halving an average's interval passes over."""

_SUMMED, _GATHERED = 6, 35
_MASKED = 2


def halvings(entries: int) -> int:
    """Return how often each end of averages is halved, the less the more it takes."""
    return min(max(_MOST_PASSED // max(1, entries), 4), 18)


def passes(entries: int) -> int:
    """Return how often averages' ends pass over pairs of a part and a sum, at most."""
    return 4 + 2 * halvings(entries)


def _width(own: AxisSlot) -> int:
    if own.type is not ColumnType.TEXT:
        return NUMBER_BYTES
    texts = (str(value) for value in own.values if value is not None)
    return text_width(max((len(t.encode("utf-8")) for t in texts), default=0))


def evaluation_steps(
    expression: Expression,
    size: int,
    slots: Mapping[int, AxisSlot],
    own: Mapping[str, Hierarchy],
) -> int:
    """Return what the engine takes to evaluate an expression, unfetched.

    Args:
        expression: Free of subqueries.
        size: How many combinations of values it is evaluated on.
        slots: That it may read.
        own: Hierarchies of files.
    """
    widths = {slot: _width(slots[slot]) for slot in slots_read(expression)}
    cost = ExpressionCost(widths, own)
    cost.add(expression)
    each = COMBINATION_STEPS + cost.steps + sum(widths.values())
    return STATEMENT_STEPS + PART_STEPS * _parts(expression) + size * each


def pairs_steps(own: AxisSlot) -> int:
    """Return what comparing each of a slot's values with each takes."""
    each = COMBINATION_STEPS + 2 * _width(own) + TRUTH_STEPS
    return STATEMENT_STEPS + len(own.values) ** 2 * each


def roll_steps(codes: Sequence[IntArray], groups: Sequence[int], *, masks: int) -> int:
    """Return what a roll takes a cell: more where a dimension's values are picked.

    Args:
        codes: As of a ``Roll``.
        groups: As of a ``Roll``.
        masks: How many there are.
    """
    picked = any(map(_is_picked, codes, groups))
    each = _GATHERED if picked else _SUMMED
    return each * (_MASKED if masks else 1) + masks


def _is_picked(codes: IntArray, count: int) -> bool:
    """Whether a dimension is neither summed over nor kept whole."""
    if count == 1:
        return bool(codes.any())
    return not np.array_equal(codes, np.arange(count))


def _parts(expression: Expression) -> int:
    if not isinstance(expression, Call):
        return 1
    return 1 + sum(map(_parts, expression.operands))


def matching_steps(plan: Aggregate) -> int:
    """Return what comparing a query's plan with that of one release takes.

    Each part of an expression is written out once for each part that it stands in.
    """
    parts = take_apart(plan)
    return MATCHING_STEPS + sum(
        WRITTEN_STEPS * _nested(expression)[1]
        for expression in (*parts.conditions, *parts.computed.values())
    )


def _nested(expression: Expression) -> tuple[int, int]:
    """Return how many parts an expression has, and those of each part together."""
    if not isinstance(expression, Call):
        return 1, 1
    found = [_nested(operand) for operand in expression.operands]
    parts = 1 + sum(own for own, _ in found)
    return parts, parts + sum(whole for _, whole in found)
