"""What a whole plan costs: its statements one after the other, as rendered."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from privacy.schema import ColumnType, Dataset
from query_lang.costs.amounts import Amount, Meter, Relation
from query_lang.costs.constants import (
    AGGREGATE_STEPS,
    CELL_STEPS,
    CLAMP_STEPS,
    FETCHED_KEY_STEPS,
    FETCHED_ROW_BYTES,
    FETCHED_ROW_STEPS,
    FETCHED_VALUE_STEPS,
    HISTOGRAM_BIT_STEPS,
    HISTOGRAM_STEPS,
    NUMBER_BYTES,
    STATE_BYTES,
    STATEMENT_BYTES,
    STATEMENT_STEPS,
    TEXT_STEPS,
)
from query_lang.costs.hashes import hashed
from query_lang.costs.nodes import NodeCosts
from query_lang.plans.costs import CostPart, PlanCost
from query_lang.plans.expressions import Facts
from query_lang.plans.nodes import (
    Aggregate,
    CountDistinctMeasure,
    CountUnitsMeasure,
    HistogramMeasure,
    MeasureKind,
    SumMeasure,
    measured_slots,
)
from query_lang.rendering.keyed_hashes import crowds_cells
from query_lang.rendering.pipelines import is_grouped

Tables = Mapping[str, int]
ALL_ROWS: Tables = {}
_BIN = Facts(ColumnType.INTEGER)


@dataclass(frozen=True, slots=True)
class StatementCosts:
    """What each statement of a plan takes, in the order in which they run."""

    meters: tuple[Meter, ...]
    text_bytes: int

    def cost(self) -> PlanCost:
        """Return steps in all, and the bytes of the largest statement."""
        fixed = len(self.meters) * STATEMENT_STEPS + self.text_bytes * TEXT_STEPS
        steps = sum(meter.steps.whole for meter in self.meters)
        memory = max(meter.memory.whole for meter in self.meters)
        return PlanCost(
            steps=steps + fixed,
            memory_bytes=memory + STATEMENT_BYTES,
            unit_steps=sum(meter.steps.unit for meter in self.meters),
            unit_memory_bytes=max(meter.memory.unit for meter in self.meters),
            startup_steps=sum(meter.steps.startup for meter in self.meters),
            startup_memory_bytes=max(meter.memory.startup for meter in self.meters),
        )

    def scanned(self) -> tuple[str, ...]:
        """Return the names of the private tables that are read, in their order."""
        return tuple(dict.fromkeys(n for meter in self.meters for n in meter.scanned))

    def reads_once(self) -> bool:
        """Whether no statement reads two private tables, or one twice."""
        return all(len(meter.scanned) == 1 for meter in self.meters)

    def dearest(self, part: CostPart) -> str:
        """Return the construct that takes most of one part of the cost."""
        totals: dict[str, int] = {}
        kind = part.partition("_")[0]
        for meter in self.meters:
            for construct, (steps, memory) in meter.by_construct.items():
                amount = memory if "memory" in part else steps
                own = getattr(amount, kind if kind in {"unit", "startup"} else "whole")
                totals[construct] = totals.get(construct, 0) + own
        return max(totals, key=lambda construct: totals[construct])


def aggregate_costs(
    plan: Aggregate, dataset: Dataset, texts: Iterable[str], tables: Tables = ALL_ROWS
) -> StatementCosts:
    """Return what the statements of a query or cube take.

    Args:
        plan: What is measured.
        dataset: Its public sizes.
        texts: The rendered statements.
        tables: Rows of a table that each unit is taken to keep, to try a bound.
    """
    plain = [m for m in plan.measures if not isinstance(m, HistogramMeasure)]
    histograms = [m for m in plan.measures if isinstance(m, HistogramMeasure)]
    groups: list[list[MeasureKind]] = [[*plain]] if plain else []
    groups += [[measure] for measure in histograms]
    meters = tuple(_statement(plan, group, dataset, tables) for group in groups)
    return StatementCosts(meters, sum(map(len, texts)))


def _statement(
    plan: Aggregate,
    measures: Iterable[MeasureKind],
    dataset: Dataset,
    tables: Tables,
) -> Meter:
    meter = Meter(dataset.max_units, dataset.hierarchies, tables)
    costs = NodeCosts(meter)
    measures = tuple(measures)
    read = {slot for measure in measures for slot in measured_slots(plan, measure)}
    keys = [key.slot for key in plan.keys]
    wanted = frozenset(read.union(keys))
    bins = prod(m.bins.count for m in measures if isinstance(m, HistogramMeasure))
    read_rows = costs.gathered if is_grouped(plan, measures) else costs.relation
    below = read_rows(plan.child, wanted)
    cells = 2 * bins * prod(len(key.values) + 1 for key in plan.keys)
    met = bins * prod(len(key.reached) for key in plan.keys)  # others are empty
    groups = below.rows.at_most(Amount(2 * met, 2 * met))  # each thread makes its own
    given = below.rows.at_most(Amount(met, met))
    key_bytes = sum(below.widths[slot] for slot in keys)
    if keys or bins > 1:
        made = 0
        if crowds_cells(plan, bins):
            sized = [(key.facts, below.widths[key.slot]) for key in plan.keys]
            sized += [(_BIN, NUMBER_BYTES)] if bins > 1 else []
            made = hashed(meter, "GROUP BY", below.rows, sized)
        costs.grouped(below.rows, groups, len(keys) + 1 + (made > 0), key_bytes + made)
    for measure in measures:
        meter.spend("aggregates", below.rows, _measure_steps(measure))
        meter.hold("aggregates", groups, STATE_BYTES)
        if isinstance(measure, CountUnitsMeasure | CountDistinctMeasure):
            _distinct(plan, measure, (costs, below), key_bytes)
    fetched = FETCHED_ROW_STEPS + FETCHED_KEY_STEPS * (len(keys) + (bins > 1))
    meter.spend("cells", given, fetched + FETCHED_VALUE_STEPS * len(measures))
    meter.spend("cells", Amount(0, cells), CELL_STEPS)
    meter.hold("cells", given, FETCHED_ROW_BYTES + key_bytes)
    return meter


def _measure_steps(measure: MeasureKind) -> int:
    if isinstance(measure, SumMeasure):
        return AGGREGATE_STEPS + CLAMP_STEPS
    if not isinstance(measure, HistogramMeasure):
        return AGGREGATE_STEPS
    bins = measure.bins
    dividend = 0 if bins.one_per_value else (bins.upper - bins.lower) * bins.count
    divided = HISTOGRAM_BIT_STEPS * dividend.bit_length()
    return AGGREGATE_STEPS + HISTOGRAM_STEPS + divided


def _distinct(
    plan: Aggregate,
    measure: CountUnitsMeasure | CountDistinctMeasure,
    source: tuple[NodeCosts, Relation],
    key_bytes: int,
) -> None:
    if isinstance(measure, CountUnitsMeasure) and plan.child.rows_per_unit == 1:
        return
    costs, below = source
    rows, value_bytes = below.rows, below.widths[measure.slot]
    cells = prod(len(key.values) + 1 for key in plan.keys)
    most = Amount(cells, cells * costs.meter.units)
    if isinstance(measure, CountDistinctMeasure):
        most = Amount(cells * measure.possible, cells * measure.possible)
    size = key_bytes + NUMBER_BYTES + value_bytes
    if isinstance(measure, CountDistinctMeasure) and crowds_cells(
        plan, measure.possible, measure.slot
    ):
        size += costs.paired_hash(rows, (measure.facts, value_bytes))
    costs.distinct(rows, rows.at_most(most), size)
