"""Why the sensitivities are what they are, and how to make them smaller, in words."""

from collections.abc import Iterator, Sequence
from math import prod

from privacy.events import VectorSensitivity
from privacy.wording import counted
from query_lang.plans.compiled import (
    AverageShown,
    NumberShown,
    QuantileShown,
    Shown,
    leaves,
)
from query_lang.plans.nodes import (
    Aggregate,
    BoundContributions,
    CountDistinctMeasure,
    CountRowsMeasure,
    CountUnitsMeasure,
    CountValuesMeasure,
    Filter,
    HistogramMeasure,
    MeasureKind,
    Node,
    PublicJoin,
    Rollup,
    Scan,
    SumMeasure,
    Union,
    UnitJoin,
    Windowed,
    scans_of,
)
from query_lang.plans.sensitivity import (
    groups_per_unit,
    measure_sensitivity,
    reached_cells,
    values_per_unit,
    varying_keys,
)


def derive(plan: Aggregate, unit: str) -> str:
    """Return the derivation of a plan's sensitivities, a sentence a line.

    Neighbouring relation: add or remove all rows of one unit. Public facts only.
    """
    lines = [
        *derive_rows(plan.child, unit),
        *_of_groups(plan, unit),
    ]
    names = _names(plan)
    for index, measure in enumerate(plan.measures):
        lines += _of_measure(plan, names[index], measure, unit)
    return "\n".join(lines)


def derive_rows(node: Node, unit: str) -> list[str]:
    """Return how many rows of one unit a node has, a sentence a line.

    Neighbouring relation: add or remove all rows of one unit. Public facts only.
    """
    return [
        f"Neighbours differ by all rows of one {unit}.",
        *dict.fromkeys(_of_node(node, unit)),
    ]


def _of_node(node: Node, unit: str) -> Iterator[str]:
    match node:
        case Scan():
            yield from _of_scan(node, unit)
        case UnitJoin(left, right):
            yield from _of_node(left, unit)
            yield from _of_node(right, unit)
            yield _of_join(node, unit)
        case PublicJoin(left):
            yield from _of_node(left, unit)
            yield _of_public_join(node, unit)
        case Union(parts):
            for part in parts:
                yield from _of_node(part.node, unit)
            yield (
                f"UNION ALL adds the bounds of its parts: at most "
                f"{_rows(node.rows_per_unit)} of one {unit}."
            )
        case _:
            yield from _of_node(node.child, unit)
            yield from _of_row_wise(node, unit)


def _of_row_wise(node: Node, unit: str) -> Iterator[str]:
    match node:
        case Filter(UnitJoin(), _, first) if first is not None:
            yield f"Those without a match are at most {_rows(first)} of one {unit}."
        case Filter(_, _, first) if first is not None:
            yield f"The row number keeps at most {_rows(first)} of one {unit}."
        case Filter():
            yield "WHERE keeps or drops each row by itself and adds none."
        case Windowed():
            yield f"Windows read rows of the same {unit} only and add none."
        case Rollup(keys=keys):
            yield (
                f"Grouped by more than the unit key, one {unit} keeps at most "
                f"{_rows(node.rows_per_unit)}."
                if keys
                else f"Grouped by the unit key, one {unit} keeps 1 row."
            )
        case BoundContributions():
            yield from _of_bound(node, unit)
        case _:
            pass


def _of_scan(scan: Scan, unit: str) -> Iterator[str]:
    name, most = scan.table.name, scan.declared_rows_per_unit
    yield (
        f"One {unit} has at most {_rows(most)} in {name} (declared; rows beyond "
        "that were left out when the data was loaded)."
    )
    if scan.max_rows is not None:
        yield (
            f"The request keeps the first {_rows(scan.max_rows)} of each {unit} in "
            f"{name}, before filters."
        )


def _of_join(node: UnitJoin, unit: str) -> str:
    left, right = node.left.rows_per_unit, node.right.rows_per_unit
    rows = _rows(node.rows_per_unit)
    if node.right_by_key or node.left_by_key:
        return (
            "Joined on the unit key and columns that are unique within one "
            f"{unit}, each row meets at most one: at most {rows} of one {unit}."
        )
    return (
        f"Joined on the unit key, the bounds multiply: {left} times {right}, at most "
        f"{rows} of one {unit}."
    )


def _of_public_join(node: PublicJoin, unit: str) -> str:
    name = node.right.table.name
    if node.fan_out == 1:
        return f"{name} is public, and its key is unique: joining it adds no row."
    return (
        f"{name} is public; at most {_rows(node.fan_out)} of it meet each row: at most "
        f"{_rows(node.rows_per_unit)} of one {unit}."
    )


def _of_bound(node: BoundContributions, unit: str) -> Iterator[str]:
    if node.max_groups is not None:
        yield (
            f"After filters, each {unit} keeps its first "
            f"{counted(node.max_groups, 'group')}."
        )
    if node.max_rows is not None:
        yield (
            f"After filters, each {unit} keeps its first {_rows(node.max_rows)} "
            "over all groups."
        )


def _of_groups(plan: Aggregate, unit: str) -> list[str]:
    if not plan.keys:
        return []
    names = ", ".join(key.name for key in plan.keys)
    varying = varying_keys(plan)
    if not varying:
        line = (
            f"Grouped by {names}: constant within one {unit}, "
            f"so one {unit} is in 1 group."
        )
        return [line]
    cells = prod(len(key.values) for key in varying)
    reached = reached_cells(varying)
    left = f", of which WHERE leaves {reached}" if reached < cells else ""
    vary = ", ".join(key.name for key in varying)
    line = (
        f"Grouped by {names}: {vary} may vary within one {unit} and "
        f"{_have(len(varying))} {counted(cells, 'cell')}{left}; with at most "
        f"{_rows(plan.child.rows_per_unit)}, one {unit} is in at most "
        f"{counted(groups_per_unit(plan), 'group')}."
    )
    return [line]


# -- measures ----------------------------------------------------------------


def _of_measure(
    plan: Aggregate, names: Sequence[str], measure: MeasureKind, unit: str
) -> list[str]:
    sensitivity = measure_sensitivity(plan, measure)
    named = ", ".join(dict.fromkeys(names)) or "a value of HAVING or ORDER BY"
    said = _said(plan, measure, unit)
    lines = [f"{named} = {said} {_norms(sensitivity, measure)}"]
    if sensitivity.l1 > _least(measure):
        lines.append(_advice(plan, measure, unit))
    return lines


def _names(plan: Aggregate) -> list[list[str]]:
    """Return what each vector is part of: columns, and how."""
    found: list[list[str]] = [[] for _ in plan.measures]
    for column in plan.columns:
        for leaf in leaves(column.shown):
            for vector, part in _parts(leaf):
                found[vector].append(column.name + part)
    return found


def _parts(leaf: Shown) -> list[tuple[int, str]]:
    match leaf:
        case NumberShown(vector) | QuantileShown(vector):
            return [(vector, "")]
        case AverageShown(total, number):
            return [(total, " (its sum)"), (number, " (its count)")]
        case _:
            return []


def _said(plan: Aggregate, measure: MeasureKind, unit: str) -> str:  # noqa: PLR0911 - an arm a form
    rows = _rows(plan.child.rows_per_unit)
    over = " over all groups together" if plan.keys else ""
    match measure:
        case CountRowsMeasure():
            return f"COUNT(*): one {unit} moves it by at most {rows}{over}."
        case CountValuesMeasure():
            return (
                f"COUNT of values: one {unit} moves it by at most 1 for each of at "
                f"most {rows}{over}."
            )
        case CountUnitsMeasure():
            each = (
                f"by at most 1 in each of at most "
                f"{counted(groups_per_unit(plan), 'group')}"
                if plan.keys
                else "by at most 1"
            )
            return f"COUNT(DISTINCT unit key): one {unit} moves it {each}."
        case CountDistinctMeasure(slot, values):
            found = values_per_unit(plan.child, frozenset({slot}))
            of_values = counted(found, "value")
            if values is not None and values <= found:
                of_values = counted(values, "declared value")
            return (
                f"COUNT(DISTINCT ...) of at most {of_values} of one {unit}: it moves "
                "the count by at most 1 for each of them and of its groups."
            )
        case SumMeasure(_, lower, upper):
            most = _decimal(max(abs(lower), abs(upper)), measure)
            return (
                f"SUM of values of at most {most} either way: one {unit} moves it by "
                f"at most that for each of at most {rows}{over}."
            )
        case HistogramMeasure(_, bins):
            return (
                f"a histogram of {counted(bins.count, 'bin')}: one {unit} moves it "
                f"by at most {rows} over all bins{over}."
            )


def _least(measure: MeasureKind) -> int:
    if isinstance(measure, SumMeasure):
        return max(abs(measure.lower), abs(measure.upper))
    return 1


def _advice(plan: Aggregate, measure: MeasureKind, unit: str) -> str:
    if isinstance(measure, CountUnitsMeasure | CountDistinctMeasure):
        return (
            "To make it smaller: set bounds.max_groups_per_unit, or group by fewer "
            f"keys that vary within one {unit}."
        )
    tables = ", ".join(
        f"bounds.tables.{name}"
        for name in dict.fromkeys(scan.table.name for scan in scans_of(plan.child))
    )
    if isinstance(measure, SumMeasure):
        return (
            f"To make it smaller: set bounds.max_rows_per_unit or {tables}, roll up by "
            "the unit key first, or name the range that matters, "
            "LEAST(GREATEST(x, low), high)."
        )
    return (
        f"To make it smaller: set bounds.max_rows_per_unit or {tables}, roll up by the "
        f"unit key first, or count {unit}s with COUNT(DISTINCT unit key)."
    )


def _norms(sensitivity: VectorSensitivity, measure: MeasureKind) -> str:
    scale = measure.scale if isinstance(measure, SumMeasure) else 0
    grid = f" in steps of {_decimal(1, measure)}" if scale else ""
    return (
        f"Sensitivity{grid}: L1 {sensitivity.l1}, L2 squared "
        f"{sensitivity.l2_squared}, L-infinity {sensitivity.linf}."
    )


def _decimal(steps: int, measure: MeasureKind) -> str:
    """Write grid steps in the column's unit."""
    scale = measure.scale if isinstance(measure, SumMeasure) else 0
    digits = str(steps).rjust(scale + 1, "0")
    return f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits


def _rows(count: int) -> str:
    return counted(count, "row")


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
