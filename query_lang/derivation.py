"""Why the sensitivities are what they are, and how to make them smaller, in words."""

from math import prod

from privacy.events import VectorSensitivity
from query_lang.domains import cell_count
from query_lang.plan import (
    Aggregate,
    BoundContributions,
    CountRowsMeasure,
    Filter,
    MeasureColumn,
    Node,
    Scan,
    scan_of,
)
from query_lang.sensitivity import groups_per_unit, measure_sensitivity, varying_keys


def derive(plan: Aggregate, unit: str) -> str:
    """Return the derivation of a plan's sensitivities, a sentence a line.

    Neighbouring relation: add or remove all rows of one unit. Public facts only.
    """
    lines = [
        f"Neighbours differ by all rows of one {unit}.",
        *_of_node(plan.child, unit),
        *_of_groups(plan, unit),
    ]
    for index in range(len(plan.measures)):
        lines += _of_measure(plan, index, unit)
    return "\n".join(lines)


def _of_node(node: Node, unit: str) -> list[str]:
    match node:
        case Scan():
            return _of_scan(node, unit)
        case Filter(child):
            kept = "WHERE keeps or drops each row by itself and adds none."
            return [*_of_node(child, unit), kept]
        case _:
            return [*_of_node(node.child, unit), *_of_bound(node, unit)]


def _of_scan(scan: Scan, unit: str) -> list[str]:
    name, most = scan.table.name, scan.declared_rows_per_unit
    line = (
        f"One {unit} has at most {_rows(most)} in {name} (declared; rows beyond "
        "that were left out when the data was loaded)."
    )
    if scan.max_rows is None:
        return [line]
    lower = (
        f"The request keeps the first {_rows(scan.max_rows)} of each {unit} in "
        f"{name}, before filters."
    )
    return [line, lower]


def _of_bound(node: BoundContributions, unit: str) -> list[str]:
    lines: list[str] = []
    if node.max_groups is not None:
        lines.append(
            f"After filters, each {unit} keeps its first "
            f"{_counted(node.max_groups, 'group')}."
        )
    if node.max_rows is not None:
        lines.append(
            f"After filters, each {unit} keeps its first {_rows(node.max_rows)} "
            "over all groups."
        )
    return lines


def _of_groups(plan: Aggregate, unit: str) -> list[str]:
    if not plan.keys:
        return []
    names = ", ".join(key.column.name for key in plan.keys)
    varying = varying_keys(plan)
    if not varying:
        line = (
            f"Grouped by {names}: declared constant within one {unit}, "
            f"so one {unit} is in 1 group."
        )
        return [line]
    cells = prod(cell_count(key.column) or 0 for key in varying)
    vary = ", ".join(key.column.name for key in varying)
    least = groups_per_unit(plan)
    line = (
        f"Grouped by {names}: {vary} may vary within one {unit} and "
        f"{_have(len(varying))} {_counted(cells, 'cell')}; with at most "
        f"{_rows(plan.child.rows_per_unit)}, one {unit} is in at most "
        f"{_counted(least, 'group')}."
    )
    return [line]


def _of_measure(plan: Aggregate, index: int, unit: str) -> list[str]:
    measure = plan.measures[index]
    names = ", ".join(
        column.name
        for column in plan.columns
        if isinstance(column, MeasureColumn) and column.measure == index
    )
    sensitivity = measure_sensitivity(plan, measure)
    if isinstance(measure, CountRowsMeasure):
        return _of_rows(plan, names, sensitivity, unit)
    return _of_units(plan, names, sensitivity, unit)


def _of_rows(
    plan: Aggregate, names: str, sensitivity: VectorSensitivity, unit: str
) -> list[str]:
    over = " over all groups together" if plan.keys else ""
    line = (
        f"{names} = COUNT(*): one {unit} moves it by at most "
        f"{_rows(plan.child.rows_per_unit)}{over}. {_norms(sensitivity)}"
    )
    if sensitivity.l1 == 1:
        return [line]
    scan = scan_of(plan.child)
    advice = (
        "To make it smaller: set bounds.max_rows_per_unit or "
        f"bounds.tables.{scan.table.name}, or count {unit}s with "
        f"COUNT(DISTINCT {scan.unit_column})."
    )
    return [line, advice]


def _of_units(
    plan: Aggregate, names: str, sensitivity: VectorSensitivity, unit: str
) -> list[str]:
    scan = scan_of(plan.child)
    each = (
        f"by at most 1 in each of at most {_counted(groups_per_unit(plan), 'group')}"
        if plan.keys
        else "by at most 1"
    )
    line = (
        f"{names} = COUNT(DISTINCT {scan.unit_column}): one {unit} moves it {each}. "
        f"{_norms(sensitivity)}"
    )
    if sensitivity.l1 == 1:
        return [line]
    advice = (
        "To make it smaller: set bounds.max_groups_per_unit, or group by fewer keys "
        f"that vary within one {unit}."
    )
    return [line, advice]


def _norms(sensitivity: VectorSensitivity) -> str:
    return (
        f"Sensitivity: L1 {sensitivity.l1}, L2 squared {sensitivity.l2_squared}, "
        f"L-infinity {sensitivity.linf}."
    )


def _rows(count: int) -> str:
    return _counted(count, "row")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
