"""The whole way: SQL text to a query that can be priced, executed and explained."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

from privacy.contributions import NO_BOUNDS, ContributionBounds
from privacy.errors import InvalidOptionError
from privacy.schema import ColumnType, Dataset, Scalar
from query_lang.binding.bind import ResolvedQuery, bind_query
from query_lang.binding.top.weights import vectors_of, weights_of
from query_lang.confining.touched import touched_blocks
from query_lang.costs.checks import CostCheck, check_showing
from query_lang.costs.places import place_of
from query_lang.costs.plans import aggregate_costs
from query_lang.costs.showing import showing_steps
from query_lang.plans.canonical import canonical_text
from query_lang.plans.compiled import (
    AverageShown,
    CompiledQuery,
    ComputedShown,
    DependentShown,
    GroupingShown,
    KeyPlaces,
    KeyShown,
    LiteralShown,
    Measure,
    NamedTotal,
    NumberShown,
    Operation,
    OutputColumn,
    PublicShown,
    QuantileShown,
    Shown,
    WindowShown,
)
from query_lang.plans.domains import key_bytes
from query_lang.plans.nodes import (
    Aggregate,
    CountDistinctMeasure,
    CountRowsMeasure,
    CountUnitsMeasure,
    CountValuesMeasure,
    HistogramMeasure,
    MeasureKind,
    PlanColumn,
    SumMeasure,
)
from query_lang.plans.sensitivity import measure_sensitivity
from query_lang.reading.parse import parse_query
from query_lang.rendering.dialect import Target
from query_lang.showing.arithmetic import ROUNDINGS
from query_lang.showing.derivation import derive
from query_lang.syntax.nodes import Query
from query_lang.syntax.refusals import refusing_depth

Weights = Mapping[str, Fraction]
NO_WEIGHTS: Weights = MappingProxyType({})
_KEEP_UNITS = frozenset(
    {
        *(Operation.ADD, Operation.SUBTRACT, Operation.NEGATE, Operation.ABS),
        *(Operation.LEAST, Operation.GREATEST, Operation.COALESCE, Operation.NULLIF),
        *ROUNDINGS,
    }
)


def compile_query(
    sql: str,
    dataset: Dataset,
    target: Target,
    bounds: ContributionBounds = NO_BOUNDS,
    weights: Weights | None = None,
) -> CompiledQuery:
    """Compile a query against a public schema; touches no data.

    Args:
        sql: One SELECT of the language (docs/query-language.md).
        dataset: The public schema.
        target: Which engine will run it, and what that may cost.
        bounds: Lower contribution bounds that the request asks for.
        weights: Relative shares of the loss by measure column; others weigh 1.

    Raises:
        QueryError: The text is refused, with rule, place and hint.
        InvalidOptionError: A bound or weight does not fit.
    """
    return compile_syntax(parse_query(sql), dataset, target, bounds, weights)


def compile_syntax(
    tree: Query,
    dataset: Dataset,
    target: Target,
    bounds: ContributionBounds = NO_BOUNDS,
    weights: Weights | None = None,
) -> CompiledQuery:
    """Compile a parsed query; the half of ``compile_query`` after parsing.

    Raises:
        QueryError: A name, type or form is refused.
        InvalidOptionError: A bound or weight does not fit.
    """
    with refusing_depth(tree.select.position):
        bound = bind_query(tree, dataset, bounds, target.limits.answer_numbers)
        return compile_bound(bound, tree, dataset, target, weights)


def compile_bound(
    bound: ResolvedQuery,
    tree: Query,
    dataset: Dataset,
    target: Target,
    weights: Weights | None = None,
) -> CompiledQuery:
    """Render and price a bound query; the last step of ``compile_query``.

    Raises:
        QueryError: It would cost too much.
        InvalidOptionError: A weight does not fit.
    """
    plan = bound.plan
    shares = _vector_weights(plan, weights or NO_WEIGHTS)
    rendered = target.dialect.query(plan, dataset.hierarchies, bound.position)
    check = CostCheck(target.limits, dataset)
    texts = [statement.sql for statement in rendered.statements]
    cost = check.check(
        lambda tables: aggregate_costs(plan, dataset, texts, tables),
        lambda construct: place_of(construct, tree),
    )
    columns = output_columns(plan, dataset.unit)
    measures = tuple(
        _measure(plan, measure, weight)
        for measure, weight in zip(plan.measures, shares, strict=True)
    )
    places = key_places(plan)
    showing = showing_steps(
        columns, plan.presentation, len(rendered.cells), measures, places
    )
    check_showing(showing, target.limits, bound.position)
    return CompiledQuery(
        columns=columns,
        measures=measures,
        rendered=rendered,
        canonical=canonical_text(plan, shares),
        derivation=derive(plan, dataset.unit),
        warnings=bound.warnings,
        cost=cost,
        presentation=plan.presentation,
        key_bytes=key_bytes(plan.keys, plan.columns, len(plan.presentation.sets)),
        showing_steps=showing,
        key_places=places,
        blocks=touched_blocks(plan.child, dataset),
    )


def key_places(plan: Aggregate) -> tuple[KeyPlaces, ...]:
    """Return what totals add up of each key; of an answer without them nothing."""
    if not plan.presentation.sets:
        return ()
    return tuple(
        KeyPlaces(len(key.values), _places(key.values, {*key.reached}))
        for key in plan.keys
    )


def _places(
    values: Sequence[Scalar | None], reached: set[Scalar | None]
) -> tuple[int, ...]:
    return tuple(n for n, value in enumerate(values) if value in reached)


def output_columns(plan: Aggregate, unit: str) -> tuple[OutputColumn, ...]:
    """Describe an answer's columns.

    Args:
        plan: Of the query.
        unit: The population's word for its privacy unit.
    """
    return tuple(_output(plan, column, unit) for column in plan.columns)


def _output(plan: Aggregate, column: PlanColumn, unit: str) -> OutputColumn:
    facts, shown = column.facts, column.shown
    scale = facts.scale if facts.type is ColumnType.DECIMAL else 0
    if isinstance(shown, PublicShown):
        return OutputColumn(column.name, "group", facts.type, None, scale, shown)
    counted = _unit_of(plan, shown, unit)
    return OutputColumn(column.name, "measure", facts.type, counted, scale, shown)


def _unit_of(plan: Aggregate, shown: Shown, unit: str) -> str | None:
    """Return what a number counts: rows, units, or rows per unit; None of the rest."""
    match shown:
        case NumberShown(vector):
            return _counted(plan.measures[vector], unit)
        case ComputedShown(operation, operands):
            units = [
                _unit_of(plan, each, unit)
                for each in operands
                if not isinstance(each, LiteralShown)
            ]
            return _computed_unit(
                operation, units, is_whole=len(units) == len(operands)
            )
        case WindowShown("sum" | "avg" | "lag" | "lead", operand) if operand:
            return _unit_of(plan, operand, unit)
        case (
            AverageShown()
            | QuantileShown()
            | WindowShown()
            | LiteralShown()
            | KeyShown()
            | GroupingShown()
            | NamedTotal()
            | DependentShown()
        ):
            return None


def _computed_unit(
    operation: Operation, units: Sequence[str | None], *, is_whole: bool
) -> str | None:
    """Return the unit of what is computed of numbers of units; literals have none."""
    if operation is Operation.DIVIDE:
        if not is_whole or None in units or len(set(units)) == 1:
            return None
        return " per ".join(str(each) for each in units)
    kept = operation in _KEEP_UNITS and len(set(units)) == 1
    return units[0] if kept else None


def _counted(measure: MeasureKind, unit: str) -> str | None:
    match measure:
        case CountRowsMeasure() | CountValuesMeasure():
            return "rows"
        case CountUnitsMeasure():
            return unit
        case CountDistinctMeasure() | SumMeasure() | HistogramMeasure():
            return None


def _measure(plan: Aggregate, measure: MeasureKind, weight: Fraction) -> Measure:
    sensitivity = measure_sensitivity(plan, measure)
    match measure:
        case SumMeasure(_, lower, _, scale):
            return Measure(sensitivity, weight, scale, 1, "sum", lower >= 0)
        case HistogramMeasure(_, bins):
            return Measure(sensitivity, weight, 0, bins.count)
        case CountRowsMeasure() | CountValuesMeasure():
            return Measure(sensitivity, weight)
        case CountUnitsMeasure() | CountDistinctMeasure():
            return Measure(sensitivity, weight)


def _vector_weights(plan: Aggregate, weights: Weights) -> list[Fraction]:
    """Return each vector's weight; unknown names are refused."""
    shown = {c.name: c.shown for c in plan.columns if vectors_of(c.shown)}
    if unknown := weights.keys() - shown.keys():
        known = ", ".join(shown)
        message = f"weights name {len(unknown)} that are none of the measures: {known}"
        raise InvalidOptionError(message)
    if any(weight <= 0 for weight in weights.values()):
        message = "weights are positive"
        raise InvalidOptionError(message)
    return weights_of(plan, shown, weights)
