"""The aggregates at the top: which vectors are measured, and what shows them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

from privacy.errors import QueryError
from privacy.schema import ColumnType
from query_lang.binding.aggregates import argument_of
from query_lang.binding.bounds import Bounds
from query_lang.binding.expressions import ExpressionBinder, KeptUnit, describe
from query_lang.binding.results.computed import ComputedBinder
from query_lang.binding.results.moments import MOMENTS, written_out
from query_lang.binding.scalars.differences import is_apart
from query_lang.binding.scalars.numbers import to_places
from query_lang.binding.scope import UnitColumn
from query_lang.binding.top.listings import HAS_BOUNDS, MAY_FOLLOW, when_listed
from query_lang.binding.top.long_form import CHOOSING, SCALED, LongForm
from query_lang.binding.top.quantiles import (
    OF_ITS_DAY,
    bins_of,
    quantile_instead,
    quantile_of_it,
    quantile_parameters,
    width_said,
)
from query_lang.binding.top.slots import Slots
from query_lang.plans.arithmetic import rounded_division
from query_lang.plans.compiled import AverageShown, NumberShown, QuantileShown, Shown
from query_lang.plans.domains import value_count
from query_lang.plans.expressions import (
    Call,
    Constant,
    Expression,
    Facts,
    FieldRef,
    Function,
)
from query_lang.plans.intervals import Interval, measured_interval, reach_of
from query_lang.plans.literals import NUMBERS
from query_lang.plans.nodes import (
    CountDistinctMeasure,
    CountRowsMeasure,
    CountUnitsMeasure,
    CountValuesMeasure,
    HistogramMeasure,
    MeasureKind,
    SumMeasure,
)
from query_lang.syntax import rules
from query_lang.syntax.nodes import AggregateCall, CountRows, Name, Position, Select
from query_lang.syntax.nodes import Expression as Tree
from query_lang.syntax.refusals import refuse

MOST_VECTORS = 256
MOST_STEPS = 2**30
"""That what one unit adds up may reach, where it has decimals: at most half of one in a
thousand million is lost."""
_COUNT_FACTS = Facts(ColumnType.INTEGER, nullable=False)


@dataclass(slots=True)
class MeasureBinder:
    """Binds aggregates over the rows at the top; a vector is measured once.

    Attributes:
        rows: Binds what aggregates are of.
        tree: The SELECT.
        owner: Slot of the unit key that owns the rows.
        rows_per_unit: Of the rows, at most.
        slots: Of the values that are measured.
        facts: Of what is shown; aggregates add their own.
        bounds: What is known of values where the conditions of WHERE hold.
        long_form: Knows the numbers of tables in long form.
        computed: Makes what binds numbers that are computed of aggregates.
        measures: The vectors, each with its number.
        places: Where the text first asks for each vector.
        place: Of the aggregate that is looked at.
    """

    rows: ExpressionBinder
    tree: Select
    owner: int
    rows_per_unit: int
    slots: Slots
    facts: dict[Shown, Facts]
    bounds: Bounds
    long_form: LongForm
    computed: Callable[[], ComputedBinder]
    measures: dict[MeasureKind, int] = field(default_factory=dict)
    places: list[Position] = field(default_factory=list)
    place: Position | None = None
    moments: dict[tuple[object, ...], Shown] = field(default_factory=dict)
    in_moments: bool = False

    def measure(self, tree: AggregateCall | CountRows) -> Shown:
        """Return what shows an aggregate; its vectors are measured once.

        Raises:
            QueryError: Its argument has no bounds or domain, or it shows single rows.
        """
        self.place = tree.position
        if isinstance(tree, CountRows):
            return self._number(CountRowsMeasure(), _COUNT_FACTS)
        if tree.order_by or (tree.distinct and tree.name != "count"):
            rule = rules.AGGREGATE_DISTINCT if tree.distinct else rules.AGGREGATE
            raise refuse(rule, tree.position)
        binders = {
            "count": self._count,
            **dict.fromkeys(("sum", "avg"), self._sum),
            **dict.fromkeys(("median", "quantile"), self._quantile),
            **dict.fromkeys(MOMENTS, self._moments),
        }
        if tree.name not in binders:
            raise self._not_at_top(tree)
        return binders[tree.name](tree)

    def least(self, shown: NumberShown) -> Fraction | None:
        """Return the least that a vector's exact values have where they are not 0."""
        kind = list(self.measures)[shown.vector]
        if not isinstance(kind, SumMeasure):
            return Fraction(1)
        return Fraction(0) if kind.lower >= 0 else None

    def _not_at_top(self, tree: AggregateCall) -> QueryError:
        """Return the refusal of an aggregate that would show single rows."""
        if tree.name in {"min", "max"}:
            hint = self._quantile_of(tree) or quantile_of_it(tree, "x")
            for argument in tree.arguments if self.tree.group_by else ():
                hint += when_listed(argument, self.tree, self.rows, MAY_FOLLOW)
            return refuse(rules.MIN_MAX, tree.position, hint=hint)
        if tree.name not in {"bool_or", "bool_and"}:
            return refuse(rules.AGGREGATE, tree.position)
        unit = self.rows.scope.unit_name()
        hint = (
            f"COUNT(DISTINCT CASE WHEN abnormal THEN {unit} END) counts those "
            "for whom it holds in some row; BOOL_OR, BOOL_AND stand in roll-ups"
        )
        return refuse(rules.AGGREGATE, tree.position, hint=hint)

    def _quantile_of(self, tree: AggregateCall) -> str | None:
        """Return the hint with the quantile to ask for instead of a column's end."""
        if len(tree.arguments) != 1 or not isinstance(tree.arguments[0], Name):
            return None
        try:
            kind = self.rows.value(tree.arguments[0]).facts.type
        except QueryError:  # a unit key has none
            return None
        return quantile_instead(tree, kind, describe(tree.arguments[0]))

    def _number(self, kind: MeasureKind, facts: Facts) -> Shown:
        shown = NumberShown(self._vector(kind))
        self.facts[shown] = facts
        return shown

    def _vector(self, kind: MeasureKind) -> int:
        found = self.measures.setdefault(kind, len(self.measures))
        if found >= MOST_VECTORS:
            detail = f"a query measures at most {MOST_VECTORS} numbers in a group"
            hint = "ask in several queries; STDDEV is of 3, CORR of 6 numbers"
            raise refuse(
                rules.TOO_COMPLEX, self.tree.position, detail=detail, hint=hint
            )
        if found == len(self.places):
            self.places.append(self.place or self.tree.position)
        return found

    def _argument(self, tree: AggregateCall) -> Expression:
        value = self.rows.value(tree.arguments[0])
        if isinstance(value, Constant) and value.value is None:
            raise refuse(rules.NULL_LITERAL, tree.arguments[0].position)
        return value

    def _count(self, tree: AggregateCall) -> Shown:
        if len(tree.arguments) != 1:
            raise refuse(rules.COUNT_ARGUMENTS, tree.position)
        (argument,) = tree.arguments
        unit = self.rows.unit_column(argument)
        if unit is not None:
            return self._count_units(unit, tree)
        kept = self.rows.kept_unit(argument)
        if kept is not None:
            return self._count_kept_units(kept, tree)
        value = self._argument(tree)
        if isinstance(value, Constant):
            raise refuse(rules.COUNT_ARGUMENTS, argument.position)
        if not tree.distinct:
            kind: MeasureKind = CountValuesMeasure(self.slots.of(value))
            return self._number(kind, _COUNT_FACTS)
        size = value_count(value.facts)
        if size == 0:
            raise refuse(rules.ZERO_SENSITIVITY, argument.position)
        self.rows.environment.warn_of_other(argument, value)
        distinct = CountDistinctMeasure(self.slots.of(value), size, value.facts)
        return self._number(distinct, _COUNT_FACTS)

    def _count_units(self, unit: UnitColumn, tree: AggregateCall) -> Shown:
        if not tree.distinct:
            return self._count_rows_of(unit, tree)
        slot = unit.slot if unit.nullable else self.owner
        return self._number(CountUnitsMeasure(slot, unit.nullable), _COUNT_FACTS)

    def _count_rows_of(self, unit: UnitColumn, tree: AggregateCall) -> Shown:
        """Count rows in which a unit key is not NULL."""
        (argument,) = tree.arguments
        self._warn_of_rows(argument)
        if not unit.nullable:
            return self._number(CountRowsMeasure(), _COUNT_FACTS)
        if unit.row is None:
            raise self.rows.opaque(argument)
        return self._number(CountValuesMeasure(self.slots.of(unit.row)), _COUNT_FACTS)

    def _warn_of_rows(self, argument: Tree) -> None:
        if self.rows_per_unit > 1:
            unit = self.rows.environment.dataset.unit
            self.rows.environment.warn(
                "rows_counted",
                f"COUNT({describe(argument)}) counts rows; COUNT(DISTINCT "
                f"{describe(argument)}) counts each {unit} once",
            )

    def _count_kept_units(self, kept: KeptUnit, tree: AggregateCall) -> Shown:
        slot = kept.unit.slot if kept.unit.nullable else self.owner
        value = self.rows.units_where(kept, slot)
        if not tree.distinct:
            self._warn_of_rows(tree.arguments[0])
            return self._number(CountValuesMeasure(self.slots.of(value)), _COUNT_FACTS)
        return self._number(CountUnitsMeasure(self.slots.of(value), True), _COUNT_FACTS)  # noqa: FBT003 - fields in their order

    def _sum(self, tree: AggregateCall) -> Shown:
        value, bounds, _ = self._bounded(tree)
        if bounds == (0, 0):
            raise refuse(rules.ZERO_SENSITIVITY, tree.position)
        known = self.slots.of(value)  # as COUNT of it counts, too
        value, bounds, ends = self._on_coarser_grid(value, bounds)
        if not self.in_moments:
            self._warn_of_width(value, bounds)
        slot, scale = self.slots.of(value), value.facts.scale
        total = SumMeasure(slot, *bounds, scale)
        facts = Facts(value.facts.type, scale, nullable=False)
        if tree.name == "sum":
            return self._number(total, facts)
        sum_vector = self._vector(total)
        number = self._vector(CountValuesMeasure(known))
        shown = AverageShown(sum_vector, number, *ends)
        self.facts[shown] = Facts(ColumnType.DECIMAL, 6)
        return shown

    def _on_coarser_grid(
        self, value: Expression, bounds: Interval
    ) -> tuple[Expression, Interval, Interval]:
        """Return a value with no more decimals than noise leaves to see.

        Seconds between two timestamps have six, and reach over years: noise of so many
        steps is none that can be drawn. Half a step more is nothing beside it.

        Returns:
            The value, its bounds, as rounding is monotone, and the steps around them
            before, between which a mean lies.
        """
        most, places = max(map(abs, bounds)), value.facts.scale
        while places and most * self.rows_per_unit > MOST_STEPS:
            most, places = -(-most // 10), places - 1
        if places == value.facts.scale:
            return value, bounds, bounds
        divisor = 10 ** (value.facts.scale - places)
        low, high = (rounded_division(end, divisor) for end in bounds)
        around = bounds[0] // divisor, -(-bounds[1] // divisor)
        return to_places(Function.ROUND, value, places), (low, high), around

    def _bounded(self, tree: AggregateCall) -> tuple[Expression, Interval, bool]:
        """Bind the argument of SUM or AVG.

        Returns:
            What it is, its public bounds, and whether it can be NULL.
        """
        if len(tree.arguments) != 1:
            raise refuse(rules.AGGREGATE_ARGUMENT, tree.position)
        value = argument_of(tree.name, self._argument(tree))
        known = self.bounds.of(value)
        bounds = measured_interval(known)
        if bounds == (0, 0):  # nothing would be moved: what is declared stays
            bounds = measured_interval(value.facts)
        if value.facts.type not in NUMBERS:
            raise refuse(rules.AGGREGATE_ARGUMENT, tree.position)
        if bounds is None:
            argument = tree.arguments[0]
            more = when_listed(argument, self.tree, self.rows, HAS_BOUNDS)
            raise _unbounded(known, argument, more)
        return value, bounds, known.nullable

    def _warn_of_width(self, value: Expression, bounds: Interval) -> None:
        """Say where noise goes by a range that hardly any of the values need."""
        self._warn_of_reach(value, bounds)
        for told in self.long_form.told_of(value, bounds):
            self.rows.environment.warn("wide_range", told)

    def _warn_of_reach(self, value: Expression, bounds: Interval) -> None:
        """Say how far a difference of dates reaches: either may be the earlier one."""
        if not any(self._apart_in(value, bounds, set())):
            return
        steps = value.facts.scale
        low, high = (f"{Decimal(end).scaleb(-steps):,f}" for end in bounds)
        self.rows.environment.warn(
            "wide_difference",
            f"this difference of dates can be {low} to {high}, and noise goes by the "
            "farther end: name the range that matters, LEAST(GREATEST(x, 0), 60)",
        )

    def _apart_in(
        self, value: Expression, bounds: Interval | None, read: set[int]
    ) -> Iterator[bool]:
        """Yield whether the domains alone end what is how far apart two dates are.

        Args:
            value: What it may be in.
            bounds: That are known of it in this place.
            read: The slots of derived tables that were looked at.
        """
        if isinstance(value, FieldRef):
            made = self.bounds.made.get(value.slot)
            if made is not None and value.slot not in read:
                read.add(value.slot)
                yield from self._apart_in(made, bounds, read)
        elif is_apart(value):
            yield _reaches_both_ways(measured_interval(value.facts)) and _is_wide(
                value, bounds
            )
        elif isinstance(value, Call) and value.function in CHOOSING:
            for operand in value.operands:
                yield from self._apart_in(operand, bounds, read)
        elif isinstance(value, Call) and value.function in SCALED:
            for operand in value.operands if _is_wide(value, bounds) else ():
                own = measured_interval(self.bounds.of(operand))
                yield from self._apart_in(operand, own, read)

    def _spread(self, tree: AggregateCall) -> tuple[Expression, Interval, bool]:
        """Bind an argument of a variance; of a single value, what is declared stays."""
        value, bounds, nullable = self._bounded(tree)
        bounds = _of_several(value.facts, bounds)
        self._warn_of_width(value, bounds)
        return value, bounds, nullable

    def _quantile(self, tree: AggregateCall) -> Shown:
        fraction, most = quantile_parameters(tree)
        value = self._argument(tree)
        kind = value.facts.type
        known = self.bounds.of(value)
        bounds = measured_interval(known)
        if kind not in NUMBERS | {ColumnType.DATE}:
            hint = OF_ITS_DAY if kind is ColumnType.TIMESTAMP else None
            raise refuse(rules.AGGREGATE_ARGUMENT, tree.position, hint=hint)
        if bounds is None:
            raise _unbounded(known, tree.arguments[0])
        bins = bins_of(value.facts, _of_several(value.facts, bounds), most)
        if not bins.one_per_value:
            said = width_said(bins, describe(tree.arguments[0]))
            self.rows.environment.warn("quantile_bins", said)
        dates = bins.of_days
        vector = self._vector(HistogramMeasure(self.slots.of(value), bins, dates))
        each_own = sum(isinstance(kind, HistogramMeasure) for kind in self.measures)
        self.rows.environment.sizes.check_repeated(each_own, tree.position)
        shown = QuantileShown(vector, fraction, bins)
        scale = 0 if dates else value.facts.scale
        self.facts[shown] = Facts(kind if dates else ColumnType.DECIMAL, scale)
        return shown

    def _moments(self, tree: AggregateCall) -> Shown:
        """Return a variance or correlation: computed of counts and sums.

        What is written out here was typed by nobody, so nobody is warned of its forms.
        """
        called = tree.name, *map(self.rows.value, tree.arguments)
        if called not in self.moments:
            binder = replace(self.computed(), warn=lambda *_: None)
            self.in_moments = True
            self.moments[called] = binder.bind(written_out(tree, self._spread))
            self.in_moments = False
        return self.moments[called]


def _reaches_both_ways(bounds: Interval | None) -> bool:
    return bounds is not None and bounds[0] < 0 < bounds[1]


def _is_wide(value: Expression, bounds: Interval | None) -> bool:
    """Whether bounds reach both ways, or as far as if nothing had been said."""
    declared = measured_interval(value.facts)
    if bounds is None or declared is None:
        return _reaches_both_ways(bounds)
    farther = max((0, 1), key=lambda end: abs(bounds[end]))
    return _reaches_both_ways(bounds) or bounds[farther] == declared[farther]


def _of_several(facts: Facts, bounds: Interval) -> Interval:
    """Return bounds of a value; where they leave a single one, those declared."""
    if bounds[0] < bounds[1]:
        return bounds
    return measured_interval(facts) or bounds


def _unbounded(facts: Facts, tree: Tree, more: str = "") -> QueryError:
    """Return the refusal of a value without bounds; says which end is known."""
    low, high = reach_of(facts)
    missing, hint = "no declared bounds", rules.NO_BOUNDS.hint
    if low is not None:
        missing, hint = (
            "a least value and no greatest one",
            "write LEAST(..., 60) of it",
        )
    elif high is not None:
        missing = "a greatest value and no least one"
        hint = "write GREATEST(..., 0) of it"
    detail = f"{describe(tree)} has {missing}"
    return refuse(rules.NO_BOUNDS, tree.position, detail=detail, hint=hint + more)
