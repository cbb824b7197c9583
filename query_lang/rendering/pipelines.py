"""Where rows of several parts come to one hash table, for rendering and cost alike.

The engine fills a table of its own for each part of a UNION ALL, and puts all groups of
all of them together once two have rows: 30 ns a group, for every unit's groups, where a
single row of one unit is the only one of its part. So rows of such parts are gathered
before they are grouped: what that takes is as much for every row, whoever's it is.
Proof: docs/proofs/plan_cost.md.
"""

from collections.abc import Iterable

from query_lang.plans.nodes import (
    Aggregate,
    Compute,
    CountDistinctMeasure,
    CountUnitsMeasure,
    Filter,
    HistogramMeasure,
    MeasureKind,
    Node,
    PublicJoin,
    Union,
    UnitJoin,
)
from query_lang.rendering.placed_filters import join_sides

_KEPT = CountUnitsMeasure | CountDistinctMeasure | HistogramMeasure


def is_grouped(plan: Aggregate, measures: Iterable[MeasureKind]) -> bool:
    """Whether a statement at the top keeps groups or distinct values in a table."""
    return bool(plan.keys) or any(isinstance(measure, _KEPT) for measure in measures)


def comes_in_parts(node: Node) -> bool:
    """Whether a relation's rows come from several parts, with nothing between."""
    match node:
        case Filter(below) | Compute(below) | PublicJoin(below):
            return comes_in_parts(below)
        case UnitJoin():
            return comes_in_parts(join_sides(node).probed)
        case _:
            return isinstance(node, Union)
