"""The identity of a question: JSON text that is equal for equal bound plans."""

import json
from collections.abc import Sequence
from fractions import Fraction

from privacy.schema import Scalar
from privacy.schema_json import JsonObject, scalar_to_json
from query_lang.plan import (
    Aggregate,
    CountRowsMeasure,
    Filter,
    KeyColumn,
    MeasureColumn,
    MeasureKind,
    Node,
    Scan,
)
from query_lang.predicates import (
    BooleanColumn,
    ColumnRef,
    CompareColumns,
    CompareLiteral,
    Conjunction,
    Disjunction,
    InValues,
    Negation,
    NullTest,
    Predicate,
)


def canonical_text(plan: Aggregate, weights: Sequence[Fraction]) -> str:
    """Return compact JSON of a plan and its weights, shares of 1, in stable order."""
    document = {**plan_to_json(plan), "weights": _shares(weights)}
    return json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=True
    )


def _shares(weights: Sequence[Fraction]) -> list[str]:
    total = sum(weights, start=Fraction(0))
    return [str(weight / total) for weight in weights]


def plan_to_json(plan: Aggregate) -> JsonObject:
    """Write a plan as an object."""
    return {
        "keys": [key.column.name for key in plan.keys],
        "measures": [_measure(measure) for measure in plan.measures],
        "columns": [_column(column) for column in plan.columns],
        "from": _node(plan.child),
    }


def _measure(measure: MeasureKind) -> str:
    return "count_rows" if isinstance(measure, CountRowsMeasure) else "count_units"


def _column(column: KeyColumn | MeasureColumn) -> JsonObject:
    if isinstance(column, KeyColumn):
        return {"name": column.name, "key": column.key}
    return {"name": column.name, "measure": column.measure}


def _node(node: Node) -> JsonObject:
    match node:
        case Scan(table, _, _, max_rows):
            return {"scan": table.name, "max_rows": max_rows}
        case Filter(child, predicate):
            return {"filter": _predicate(predicate), "from": _node(child)}
        case _:
            bound = {"max_groups": node.max_groups, "max_rows": node.max_rows}
            return {"bound": bound, "from": _node(node.child)}


def _predicate(predicate: Predicate) -> object:
    match predicate:
        case Conjunction(items):
            return {"and": [_predicate(item) for item in items]}
        case Disjunction(items):
            return {"or": [_predicate(item) for item in items]}
        case Negation(item):
            return {"not": _predicate(item)}
        case _:
            return _test(predicate)


def _test(
    predicate: CompareLiteral | CompareColumns | InValues | NullTest | BooleanColumn,
) -> object:
    written: object
    match predicate:
        case CompareLiteral(operator, ref, value):
            written = [operator, _ref(ref), {"value": _value(value)}]
        case CompareColumns(operator, left, right):
            written = [operator, _ref(left), _ref(right)]
        case InValues(ref, values):
            written = {"in": _ref(ref), "values": [_value(value) for value in values]}
        case NullTest(ref):
            written = {"is_null": _ref(ref)}
        case _:
            written = {"is": _ref(predicate.column)}
    return written


def _ref(ref: ColumnRef) -> JsonObject:
    return {"column": ref.column.name, "table": ref.table}


def _value(value: Scalar) -> object:
    return scalar_to_json(value)
