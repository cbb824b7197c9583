"""The whole way: SQL text to a query that can be priced, executed and explained."""

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from privacy.contributions import NO_BOUNDS, ContributionBounds
from privacy.errors import InvalidOptionError
from privacy.schema import ColumnType, Dataset
from query_lang.bind import bind_query
from query_lang.canonical import canonical_text
from query_lang.compiled import CompiledQuery, Measure, OutputColumn
from query_lang.derivation import derive
from query_lang.domains import check_keys
from query_lang.parse import parse_query
from query_lang.plan import Aggregate, CountRowsMeasure, KeyColumn, MeasureColumn
from query_lang.render import render_plan
from query_lang.sensitivity import measure_sensitivity
from query_lang.syntax import Select

Weights = Mapping[str, Fraction]
NO_WEIGHTS: Weights = MappingProxyType({})


def compile_query(
    sql: str,
    dataset: Dataset,
    bounds: ContributionBounds = NO_BOUNDS,
    weights: Weights | None = None,
) -> CompiledQuery:
    """Compile a query against a public schema; touches no data.

    Args:
        sql: One SELECT of the language (docs/query-language.md).
        dataset: The public schema.
        bounds: Lower contribution bounds that the request asks for.
        weights: Relative shares of the loss by measure column; others weigh 1.

    Raises:
        QueryError: The text is refused, with rule, place and hint.
        InvalidOptionError: A bound or weight does not fit.
    """
    return compile_syntax(parse_query(sql), dataset, bounds, weights)


def compile_syntax(
    tree: Select,
    dataset: Dataset,
    bounds: ContributionBounds = NO_BOUNDS,
    weights: Weights | None = None,
) -> CompiledQuery:
    """Compile a parsed query; the half of ``compile_query`` after parsing.

    Raises:
        QueryError: A name, type or form is refused.
        InvalidOptionError: A bound or weight does not fit.
    """
    bound = bind_query(tree, dataset, bounds)
    plan = bound.plan
    check_keys(plan.keys, bound.key_positions)
    shares = _vector_weights(plan, weights or NO_WEIGHTS)
    return CompiledQuery(
        columns=tuple(_output(plan, column, dataset.unit) for column in plan.columns),
        measures=_measures(plan, shares),
        rendered=render_plan(plan),
        canonical=canonical_text(plan, shares),
        derivation=derive(plan, dataset.unit),
        warnings=bound.warnings,
    )


def _output(
    plan: Aggregate, column: KeyColumn | MeasureColumn, unit: str
) -> OutputColumn:
    if isinstance(column, KeyColumn):
        kind = plan.keys[column.key].column.type
        return OutputColumn(column.name, "group", kind, None, column.key)
    counts_rows = isinstance(plan.measures[column.measure], CountRowsMeasure)
    counted = "rows" if counts_rows else unit
    return OutputColumn(
        column.name, "measure", ColumnType.INTEGER, counted, column.measure
    )


def _measures(plan: Aggregate, shares: list[Fraction]) -> tuple[Measure, ...]:
    return tuple(
        Measure(
            column=_columns_of(plan, index)[0],
            sensitivity=measure_sensitivity(plan, measure),
            weight=shares[index],
        )
        for index, measure in enumerate(plan.measures)
    )


def _columns_of(plan: Aggregate, measure: int) -> list[str]:
    return [
        column.name
        for column in plan.columns
        if isinstance(column, MeasureColumn) and column.measure == measure
    ]


def _vector_weights(plan: Aggregate, weights: Weights) -> list[Fraction]:
    """Return each vector's weight: the greatest among the columns that show it."""
    shown = [_columns_of(plan, index) for index in range(len(plan.measures))]
    if unknown := weights.keys() - {name for names in shown for name in names}:
        message = f"weights name {len(unknown)} columns that are no measures"
        raise InvalidOptionError(message)
    if any(weight <= 0 for weight in weights.values()):
        message = "weights are positive"
        raise InvalidOptionError(message)
    return [max(weights.get(name, Fraction(1)) for name in names) for names in shown]
