"""The top of a query: keys, measured vectors, output columns, HAVING and ORDER BY."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from math import prod

from privacy.errors import QueryError
from privacy.schema import ColumnType, HierarchyDomain, Scalar
from query_lang.binding.aggregates import argument_of, holds_aggregate
from query_lang.binding.expressions import (
    UNNAMED,
    ExpressionBinder,
    KeptUnit,
    describe,
)
from query_lang.binding.having import HavingBinder
from query_lang.binding.names import call_of_texts, output_names
from query_lang.binding.queries import item_at, key_tree
from query_lang.binding.results.answer_windows import (
    MAX_WINDOW_ROWS,
    AnswerWindowBinder,
)
from query_lang.binding.results.computed import ComputedBinder, is_computed
from query_lang.binding.results.dependent_keys import (
    MOST_KEYS,
    Pairs,
    Trying,
    Written,
    chained,
    following,
    in_order,
)
from query_lang.binding.results.moments import MOMENTS, written_out
from query_lang.binding.results.reachable_cells import (
    listed_where,
    reachable_cells,
    reachable_values,
)
from query_lang.binding.results.totals import TotalsBinder
from query_lang.binding.scalars.narrowing import Conditions, listed_by, narrowed_by
from query_lang.binding.scope import UnitColumn
from query_lang.plans.compiled import (
    AverageShown,
    Bins,
    ComputedShown,
    DependentShown,
    KeyShown,
    NamedTotal,
    NoisyCondition,
    NoisyTruth,
    NumberShown,
    OrderTerm,
    Presentation,
    QuantileShown,
    Shown,
    WindowShown,
    leaves,
    row_count,
    windows_in,
)
from query_lang.plans.domains import check_key, key_values, value_count
from query_lang.plans.expressions import (
    AverageRef,
    Call,
    Constant,
    Expression,
    Facts,
    FieldRef,
)
from query_lang.plans.intervals import Interval, day, measured_interval, reach_of
from query_lang.plans.literals import LITERALS, NUMBERS, small_number
from query_lang.plans.nodes import (
    Aggregate,
    CountDistinctMeasure,
    CountRowsMeasure,
    CountUnitsMeasure,
    CountValuesMeasure,
    HistogramMeasure,
    Item,
    Key,
    MeasureKind,
    PlanColumn,
    SumMeasure,
)
from query_lang.showing.chosen_rows import is_chosen_by_noise
from query_lang.showing.noisy_conditions import shown_in_presentation
from query_lang.syntax import rules
from query_lang.syntax.logic import All
from query_lang.syntax.nodes import (
    AggregateCall,
    CountRows,
    Name,
    NumberLiteral,
    Position,
    Select,
    SelectItem,
    TableName,
    WindowCall,
)
from query_lang.syntax.nodes import (
    Expression as Tree,
)
from query_lang.syntax.refusals import refuse

DEFAULT_BINS, MOST_BINS = 64, 1_024
MOST_VECTORS = 256
_COUNT_FACTS = Facts(ColumnType.INTEGER, nullable=False)


_EMPTY_GROUPS = (
    "AVG and MIN of groups are over every group that there can be: one without rows is "
    "0 here (and noise), and no group in SQL"
)
_EMPTY_CELLS = (
    "cells in which WHERE can leave no row come back, with noise alone, and windows "
    "are over them too; LIMIT, also of a large number, leaves them out"
)


@dataclass(frozen=True, slots=True)
class Top:
    """What the top of a plan needs.

    Attributes:
        items: Keys and arguments to compute below the measures.
        keys: In the order of GROUP BY.
        key_positions: Where GROUP BY names each.
        measures: The distinct vectors.
        columns: In the order of SELECT.
        presentation: HAVING, ORDER BY, LIMIT.
        measure_positions: Where the text first asks for each vector.
    """

    items: tuple[Item, ...]
    keys: tuple[Key, ...]
    key_positions: tuple[Position, ...]
    measures: tuple[MeasureKind, ...]
    columns: tuple[PlanColumn, ...]
    presentation: Presentation
    measure_positions: tuple[Position, ...] = ()


@dataclass(slots=True)
class TopBinder:
    """Binds the SELECT at the top over the rows of its FROM and WHERE."""

    rows: ExpressionBinder
    tree: Select
    owner: int  # slot of the unit key that owns the rows
    rows_per_unit: int
    slots: dict[Expression, int] = field(default_factory=dict)
    keys: dict[Expression, Key] = field(default_factory=dict)
    measures: dict[MeasureKind, int] = field(default_factory=dict)
    facts: dict[Shown, Facts] = field(default_factory=dict)
    names: dict[str, Shown] = field(default_factory=dict)
    conditions: Conditions = field(default_factory=Conditions)  # that hold everywhere
    moments: dict[tuple[object, ...], Shown] = field(default_factory=dict)
    ordered: set[str] = field(default_factory=set)  # keys whose order was looked at
    in_having: bool = False
    meant: list[Tree] = field(default_factory=list)  # what each key is in the text
    sets: tuple[tuple[int, ...], ...] = ()  # the keys of each grouping set
    measured_at: list[Position] = field(default_factory=list)
    dependent: dict[Expression, DependentShown] = field(default_factory=dict)
    written: Written = field(default_factory=dict)  # literals of a UNION ALL's parts
    trying: Trying = field(default_factory=Trying)
    place: Position | None = None  # of the aggregate that is looked at

    def bind(self) -> Top:
        """Return keys, measures, columns and what is done to noisy values.

        Raises:
            QueryError: A key, output or condition breaks a rule of the language.
        """
        tree = self.tree
        if tree.distinct:
            raise refuse(rules.DISTINCT, tree.position)
        places = self._bind_keys()
        self._check_items()
        names = output_names(tree.items)
        columns = [
            self._column(name, item)
            for name, item in zip(names, tree.items, strict=True)
        ]
        if not self.measures:
            hint = f"add COUNT(*) or COUNT(DISTINCT {self.rows.scope.unit_name()})"
            raise refuse(rules.AGGREGATE_NEEDED, tree.position, hint=hint)
        if not tree.hides_keys:
            self._check_all_selected(columns, places)
        self._warn_of_empty_cells(columns)
        presentation = Presentation(
            self._having(),
            tuple(self._order_terms()),
            tree.limit,
            None if tree.kept is None else self._having_binder().bind(tree.kept),
            self.sets,
        )
        return Top(
            items=tuple(
                (slot, value)
                for value, slot in self.slots.items()
                if not isinstance(value, FieldRef)
            ),
            keys=tuple(self._named_keys(columns)),
            key_positions=tuple(places),
            measures=tuple(self.measures),
            columns=tuple(columns),
            presentation=presentation,
            measure_positions=tuple(self.measured_at),
        )

    def _warn_of_empty_cells(self, columns: Sequence[PlanColumn]) -> None:
        """Say where cells come back that WHERE leaves empty, or count as groups."""
        if self.tree.hides_keys and self._reads_empty_groups(columns):
            self.rows.environment.warn("empty_cells", _EMPTY_GROUPS)
        narrower = any(key.reached != key.values for key in self.keys.values())
        if narrower and not self._chooses_rows():
            self.rows.environment.warn("empty_cells", _EMPTY_CELLS)

    def _reads_empty_groups(self, columns: Sequence[PlanColumn]) -> bool:
        """Whether a group without rows, whose numbers are 0, changes what is shown."""
        sums = [kind for kind in self.measures if isinstance(kind, SumMeasure)]
        telling = {"avg", "min"} | (
            {"max"} if any(s.lower < 0 for s in sums) else set()
        )
        windows = (each for c in columns for each in windows_in(c.shown))
        return any(window.name in telling for window in windows)

    def _having(self) -> NoisyCondition | None:
        """Return HAVING; where LIMIT or QUALIFY choose rows, of those WHERE leaves."""
        said = self.tree.having
        found = [] if said is None else [self._condition(said)]
        if self._chooses_rows():
            found += reachable_cells(self.keys.values(), with_totals=bool(self.sets))
        return All(tuple(found)) if len(found) > 1 else next(iter(found), None)

    def _chooses_rows(self) -> bool:
        return self.tree.limit is not None or self.tree.kept is not None

    # -- keys -----------------------------------------------------------------

    def _bind_keys(self) -> list[Position]:  # noqa: C901 - what is grouped by, once
        places: list[Position] = []
        numbers: list[int] = []  # which key each of GROUP BY is
        found: dict[Expression, tuple[Tree, str, Facts, Position]] = {}
        for written in self.tree.group_by:
            meant = key_tree(written, self.tree, self.rows.scope)
            if isinstance(meant, AggregateCall | CountRows):
                raise refuse(
                    rules.GROUP_BY_FORM,
                    written.position,
                    detail="GROUP BY points at an aggregate",
                )
            value = self.rows.value(meant)
            if isinstance(value, Constant):
                raise refuse(rules.GROUP_BY_FORM, written.position)
            if value in found:
                numbers.append(list(found).index(value))
                continue
            numbers.append(len(found))
            name = self._key_name(meant)
            facts = listed_by(self.conditions, value)
            facts = listed_where(meant, facts, value, self.conditions, self.rows)
            check_key(facts, name, written.position, self._listing(meant))
            found[value] = meant, name, facts, written.position
        is_plain = not self.tree.sets and len(found) <= MOST_KEYS
        follow = self._following(found) if is_plain else {}
        for value, (meant, name, facts, place) in found.items():
            if value in follow:
                continue
            self.keys[value] = Key(self._slot(value), name, facts, key_values(facts))
            self.meant.append(meant)
            places.append(place)
        for value, (one, pairs) in follow.items():
            self._add_dependent(value, one, pairs, found[value][2])
        left = reachable_values(
            self.keys, self.meant, self.conditions, self.rows, self.trying
        )
        for value, values in left.items():
            self.keys[value] = replace(self.keys[value], left=values)
        self.sets = tuple(
            tuple(sorted({numbers[place] for place in each})) for each in self.tree.sets
        )
        return places

    def _following(
        self, found: Mapping[Expression, tuple[Tree, str, Facts, Position]]
    ) -> dict[Expression, tuple[Expression, Pairs]]:
        """Return the keys that follow from another one, the later of two alike.

        None of them follows from one that follows itself: a year from its month, and
        the era of the year from the month, too.
        """
        follow: dict[Expression, tuple[Expression, Pairs]] = {}
        keys = list(found)
        for value in reversed(keys):
            others = [key for key in keys if key != value and key not in follow]
            for one in others:
                values = key_values(found[one][2])
                pairs = following(one, values, value, self.written, self.trying)
                if pairs is not None:
                    self._follow_from(one, values, value, pairs, follow)
                    break
        return follow

    def _follow_from(
        self,
        one: Expression,
        values: Sequence[Scalar | None],
        value: Expression,
        pairs: Pairs,
        follow: dict[Expression, tuple[Expression, Pairs]],
    ) -> None:
        """Note that a value follows from a key, and so what follows from the value."""
        for later, (key, known) in list(follow.items()):
            if key == value:
                own = following(one, values, later, self.written, self.trying)
                follow[later] = one, own or chained(pairs, known)
        follow[value] = one, pairs

    def _add_dependent(
        self, value: Expression, one: Expression, pairs: Pairs, facts: Facts
    ) -> DependentShown:
        listed = tuple(dict.fromkeys(other for _, other in pairs))
        if facts.type is not ColumnType.TEXT:  # which goes by its list alone
            listed = in_order(listed)
        elif value_count(facts) is not None:
            listed = key_values(facts)
        shown = DependentShown(list(self.keys).index(one), pairs, listed)
        self.dependent[value] = shown
        self.facts[shown] = facts
        return shown

    def _listing(self, key: Tree) -> str | None:
        """Return how a key gets a list: of a public table, or without a hierarchy."""
        known = self.rows.environment.dataset.tables
        if isinstance(key, Name) and (table := self._public_table(key)):
            name = f"{key.qualifier}.{key.name}" if key.qualifier else key.name
            return (
                f"your custodian declares a domain for {table}.{key.name}; or name the "
                f"values in WHERE, {name} IN ('a', 'b'), or in CASE"
            )
        found = (c.domain for table in known.values() for c in table.columns)
        if any(isinstance(domain, HierarchyDomain) for domain in found):
            return None
        call = call_of_texts(key)
        shown, values = (call, "'a', 'b'") if call else ("code", "'E11.9', 'I10'")
        return (
            f"name the values in WHERE, {shown} IN ({values}), or in CASE, CASE WHEN "
            f"{shown} IN ({values}) THEN {shown} ELSE 'rest' END; or group by a column "
            "that has a list. Which values there are is not shown: for the most "
            "frequent of all, a custodian declares their list"
        )

    def _public_table(self, name: Name) -> str | None:
        """Return the public table of FROM that a column is of, if it is of one."""
        known = self.rows.environment.dataset.tables
        sources = (self.tree.source, *(join.source for join in self.tree.joins))
        for source in sources:
            if not isinstance(source, TableName) or source.name not in known:
                continue
            table = known[source.name]
            has_it = any(column.name == name.name for column in table.columns)
            is_meant = name.qualifier in {None, source.alias or source.name}
            if table.is_public and has_it and is_meant:
                return table.name
        return None

    def _named_keys(self, columns: list[PlanColumn]) -> Iterator[Key]:
        """Yield the keys under the names that the answer shows them by.

        However GROUP BY points at a key, it is the same question.
        """
        names = {
            column.shown.index: column.name
            for column in reversed(columns)
            if isinstance(column.shown, KeyShown | NamedTotal | DependentShown)
        }
        for index, key in enumerate(self.keys.values()):
            yield replace(key, name=names.get(index, key.name))

    def _key_name(self, tree: Tree) -> str:
        aliased = (i.alias for i in self.tree.items if i.expression == tree and i.alias)
        return next(aliased, describe(tree))

    def _slot(self, value: Expression) -> int:
        if isinstance(value, FieldRef):
            return self.slots.setdefault(value, value.slot)
        if value not in self.slots:
            self.slots[value] = self.rows.environment.new_slot()
        return self.slots[value]

    def _check_items(self) -> None:
        for item in self.tree.items:
            if isinstance(item.expression, LITERALS):
                raise refuse(rules.LITERAL_SELECTED, item.position)
            windowed = isinstance(item.expression, WindowCall)
            if windowed and not is_computed(item.expression):
                raise refuse(rules.WINDOW_PLACE, item.position)

    def _column(self, name: str, item: SelectItem) -> PlanColumn:
        tree = item.expression
        if isinstance(tree, AggregateCall | CountRows):
            shown = self.measure(tree)
            function: str = "count" if isinstance(tree, CountRows) else tree.name
        elif is_computed(tree):
            shown, function = self._computed(tree), "computed"
        else:
            shown = self._of_totals(tree) or self._key(tree, item.alias)
            function = ""
        if item.alias is not None or not isinstance(shown, KeyShown):
            self.names.setdefault(name, shown)
        return PlanColumn(name, shown, self.facts[shown], function)

    def _of_totals(self, tree: Tree) -> Shown | None:
        """Return what stands beside totals alone: GROUPING, and their names."""
        if self.sets and self._is_key(tree):
            return None
        warn = self.rows.environment.warn
        return TotalsBinder(self.sets, self._key, self.facts, warn).bind(tree)

    def _is_key(self, tree: Tree) -> bool:
        """Whether an expression is a key as it stands."""
        apart = self.rows.environment.apart()
        rows = ExpressionBinder(self.rows.scope, apart, self.rows.subqueries)
        try:
            return rows.value(tree) in self.keys
        except QueryError:  # GROUPING is no value of a row
            return False

    def _key(self, tree: Tree, alias: str | None = None) -> Shown:
        """Return the key that an expression is; its alias may stand in GROUP BY.

        Raises:
            SqlNotAllowedError: It is none.
        """
        value = self.rows.value(tree)
        if value in self.dependent:
            return self.dependent[value]
        if value not in self.keys:
            shown = describe(tree)
            named = alias or (shown if isinstance(tree, Name) else UNNAMED)
            hint = _grouping_hint([key.name for key in self.keys.values()], named)
            if named == UNNAMED and value.facts.type in NUMBERS:
                hint += "; or take an aggregate of it, as in AVG(discharged - admitted)"
            raise refuse(
                rules.NOT_GROUPED if isinstance(tree, Name) else rules.SELECT_ITEM,
                tree.position,
                detail=f"{shown} is not a key of GROUP BY",
                hint=hint,
            )
        found = KeyShown(list(self.keys).index(value))
        self.facts[found] = self.keys[value].facts
        return found

    def _check_all_selected(
        self, columns: list[PlanColumn], places: list[Position]
    ) -> None:
        shown = {
            KeyShown(column.shown.index)
            if isinstance(column.shown, NamedTotal | DependentShown)
            else column.shown
            for column in columns
        }
        for index, (key, place) in enumerate(
            zip(self.keys.values(), places, strict=True)
        ):
            if KeyShown(index) not in shown:
                raise refuse(
                    rules.KEY_NOT_SELECTED,
                    place,
                    detail=f"the key {key.name} is not selected",
                    hint=f"add {key.name} to the SELECT list",
                )

    # -- measures -------------------------------------------------------------

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

    def _not_at_top(self, tree: AggregateCall) -> QueryError:
        """Return the refusal of an aggregate that would show single rows."""
        if tree.name in {"min", "max"}:
            return refuse(rules.MIN_MAX, tree.position)
        if tree.name not in {"bool_or", "bool_and"}:
            return refuse(rules.AGGREGATE, tree.position)
        unit = self.rows.scope.unit_name()
        hint = (
            f"COUNT(DISTINCT CASE WHEN abnormal THEN {unit} END) counts those "
            "for whom it holds in some row; BOOL_OR, BOOL_AND stand in roll-ups"
        )
        return refuse(rules.AGGREGATE, tree.position, hint=hint)

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
        if found == len(self.measured_at):
            self.measured_at.append(self.place or self.tree.position)
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
            kind: MeasureKind = CountValuesMeasure(self._slot(value))
            return self._number(kind, _COUNT_FACTS)
        size = value_count(value.facts)
        if size == 0:
            raise refuse(rules.ZERO_SENSITIVITY, argument.position)
        self.rows.environment.warn_of_other(argument, value)
        distinct = CountDistinctMeasure(self._slot(value), size, value.facts)
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
        return self._number(CountValuesMeasure(self._slot(unit.row)), _COUNT_FACTS)

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
            return self._number(CountValuesMeasure(self._slot(value)), _COUNT_FACTS)
        return self._number(CountUnitsMeasure(self._slot(value), True), _COUNT_FACTS)  # noqa: FBT003 - fields in their order

    def _sum(self, tree: AggregateCall) -> Shown:
        value, bounds = self._bounded(tree)
        if bounds == (0, 0):
            raise refuse(rules.ZERO_SENSITIVITY, tree.position)
        slot, scale = self._slot(value), value.facts.scale
        total = SumMeasure(slot, *bounds, scale)
        facts = Facts(value.facts.type, scale, nullable=False)
        if tree.name == "sum":
            return self._number(total, facts)
        sum_vector = self._vector(total)
        number = self._vector(CountValuesMeasure(slot))
        shown = AverageShown(sum_vector, number, *bounds)
        self.facts[shown] = Facts(ColumnType.DECIMAL, 6)
        return shown

    def _bounded(self, tree: AggregateCall) -> tuple[Expression, Interval]:
        """Bind the argument of SUM or AVG and return its public bounds."""
        if len(tree.arguments) != 1:
            raise refuse(rules.AGGREGATE_ARGUMENT, tree.position)
        value = argument_of(tree.name, self._argument(tree))
        bounds = measured_interval(narrowed_by(self.conditions, value))
        if bounds == (0, 0):  # nothing would be moved: what is declared stays
            bounds = measured_interval(value.facts)
        if value.facts.type not in NUMBERS:
            raise refuse(rules.AGGREGATE_ARGUMENT, tree.position)
        if bounds is None:
            raise _unbounded(value.facts, tree.arguments[0])
        return value, bounds

    def _spread(self, tree: AggregateCall) -> tuple[Expression, Interval]:
        """Bind an argument of a variance; of a single value, what is declared stays."""
        value, bounds = self._bounded(tree)
        is_one = bounds[0] == bounds[1]
        return value, (measured_interval(value.facts) if is_one else None) or bounds

    def _quantile(self, tree: AggregateCall) -> Shown:
        fraction, most = _quantile_parameters(tree)
        value = self._argument(tree)
        kind = value.facts.type
        declared = measured_interval(value.facts)
        bounds = declared or measured_interval(narrowed_by(self.conditions, value))
        if kind not in NUMBERS | {ColumnType.DATE}:
            raise refuse(rules.AGGREGATE_ARGUMENT, tree.position)
        if bounds is None:
            raise _unbounded(value.facts, tree.arguments[0])
        low, high = bounds
        dates = kind is ColumnType.DATE
        values = high - low + 1
        each = kind is ColumnType.INTEGER and values <= most
        bins = Bins(
            low,
            high,
            values if each else most,
            each,
            0 if dates else value.facts.scale,
            dates,
        )
        if not each:
            self._warn_of_bins(bins, describe(tree.arguments[0]))
        vector = self._vector(HistogramMeasure(self._slot(value), bins, dates))
        each_own = sum(isinstance(kind, HistogramMeasure) for kind in self.measures)
        self.rows.environment.sizes.check_repeated(each_own, tree.position)
        shown = QuantileShown(vector, fraction, bins)
        scale = 0 if dates else value.facts.scale
        self.facts[shown] = Facts(kind if dates else ColumnType.DECIMAL, scale)
        return shown

    def _warn_of_bins(self, bins: Bins, name: str) -> None:
        """Say how wide the bins are: what lies within one is not told apart."""
        low, high = (_bin_end(end, bins) for end in (bins.lower, bins.upper))
        width = Fraction(bins.upper - bins.lower, bins.count * 10**bins.scale)
        self.rows.environment.warn(
            "quantile_bins",
            f"{name} is read from {bins.count} bins of {float(width):.4g}"
            f"{' days' * bins.of_days} between {low} and {high}, and lies anywhere in "
            "one: name the range that matters, LEAST(GREATEST(x, a), b), or more bins",
        )

    # -- what is computed of results ------------------------------------------

    def _moments(self, tree: AggregateCall) -> Shown:
        """Return a variance or correlation: computed of counts and sums.

        What is written out here was typed by nobody, so nobody is warned of its forms.
        """
        called = tree.name, *map(self.rows.value, tree.arguments)
        if called not in self.moments:
            binder = replace(self._computed_binder(), warn=lambda *_: None)
            self.moments[called] = binder.bind(written_out(tree, self._spread))
        return self.moments[called]

    def _computed(self, tree: Tree) -> Shown:
        return self._computed_binder().bind(tree)

    def _computed_binder(self) -> ComputedBinder:
        warn = self.rows.environment.warn
        return ComputedBinder(self._shown, self.facts, self._least, warn, self._window)

    def _window(self, tree: WindowCall) -> Shown:
        operand = self._computed_binder().bind
        windows = AnswerWindowBinder(
            self._shown, operand, self.facts, self._rows_of, self._warn_of_order
        )
        return windows.bind(tree)

    def _rows_of(self, tree: WindowCall) -> NoisyCondition | None:
        """Return HAVING, which says which rows a window is over: by keys alone.

        Raises:
            SqlNotAllowedError: There are no groups, too many, or noise chooses rows.
        """
        if not self.keys or self.in_having:
            raise refuse(rules.WINDOW_PLACE, tree.position)
        sizes = [len(key.values) for key in self.keys.values()]
        if (row_count(self.sets, sizes) or prod(sizes)) > MAX_WINDOW_ROWS:
            raise refuse(rules.ANSWER_WINDOW_SIZE, tree.position)
        having = self._having()
        if having is not None and is_chosen_by_noise(Presentation(having)):
            raise refuse(rules.ANSWER_WINDOW_ROWS, tree.position)
        return having

    def _least(self, shown: NumberShown) -> Fraction | None:
        """Return the least that a vector's exact values have where they are not 0."""
        kind = list(self.measures)[shown.vector]
        if not isinstance(kind, SumMeasure):
            return Fraction(1)
        return Fraction(0) if kind.lower >= 0 else None

    # -- HAVING and ORDER BY --------------------------------------------------

    def _condition(self, tree: Tree) -> NoisyCondition:
        self.in_having = True
        found = self._having_binder().bind(tree)
        self.in_having = False
        return found

    def _having_binder(self) -> HavingBinder:
        return HavingBinder(self._shown, self.facts, self._boolean_key)

    def _boolean_key(self, tree: Tree) -> NoisyTruth | None:
        """Return the condition that a key is: GROUP BY age >= 60 AS senior."""
        if isinstance(tree, Name) or holds_aggregate(tree):
            return None
        try:
            value = self.rows.value(tree)
        except QueryError:  # it speaks of aliases, or is refused below
            return None
        if value not in self.keys:
            return None
        return NoisyTruth(KeyShown(list(self.keys).index(value)))

    def _shown(self, tree: Tree) -> Shown:
        """Return the key or aggregate that an expression of HAVING or ORDER BY is."""
        if isinstance(tree, AggregateCall | CountRows):
            return self.measure(tree)
        if isinstance(tree, Name) and not self.rows.scope.has_column(tree):
            aliased = self.names.get(tree.name)
            if aliased is not None:
                return aliased
        if is_computed(tree):
            return self._computed(tree)
        if isinstance(tree, WindowCall):
            raise refuse(rules.WINDOW_PLACE, tree.position)
        return self._of_totals(tree) or self._operand_key(tree)

    def _operand_key(self, tree: Tree) -> Shown:
        bound = self.rows.operand(tree)
        if isinstance(bound, Call) and bound not in {*self.keys, *self.dependent}:
            follows = self._follows(bound)
            if follows is not None:
                return follows
        known = {*self.keys, *self.dependent}
        if isinstance(bound, Call | Constant) and bound not in known:
            raise refuse(rules.HAVING_FORM, tree.position)
        if isinstance(bound, AverageRef):
            raise refuse(rules.AVERAGE_OPAQUE, tree.position)
        return self._key(tree)

    def _follows(self, value: Expression) -> DependentShown | None:
        """Return what is computed of one key, as a weight of a stratum."""
        for one, key in self.keys.items():
            pairs = following(one, key.values, value, self.written, self.trying)
            if pairs is not None and not self.sets:
                return self._add_dependent(value, one, pairs, value.facts)
        return None

    def _order_terms(self) -> list[OrderTerm]:
        terms: list[OrderTerm] = []
        for item in self.tree.order_by:
            tree = item.expression
            if isinstance(tree, NumberLiteral):
                tree = item_at(tree, self.tree, "ORDER BY").expression
            shown = self._shown(tree)
            self._warn_of_order(shown)
            self._warn_of_name(tree, shown)
            terms.append(OrderTerm(shown, item.descending, bool(item.nulls_first)))
        return terms

    def _warn_of_name(self, tree: Tree, shown: Shown) -> None:
        """Say where a name of ORDER BY is a column, and in SQL what is selected."""
        if not isinstance(tree, Name) or tree.qualifier is not None:
            return
        if self.names.get(tree.name, shown) != shown:
            self.rows.environment.warn(
                "column_before_alias",
                f"ORDER BY {tree.name} is the column, not what is selected AS "
                f"{tree.name}, which other systems take: write its place, ORDER BY 1",
            )

    def _warn_of_order(self, shown: Shown) -> None:
        """Say where a key is ordered as it is declared, not by its values."""
        found = self._listed_as(shown)
        if found is None or found[0] in self.ordered or self.tree.hides_keys:
            return
        name, listed = found
        self.ordered.add(name)
        values = [v for v in listed if v is not None]
        if values != sorted(values):
            first = ", ".join(str(value) for value in values[:4])
            self.rows.environment.warn(
                "declared_order",
                f"ORDER BY {name} follows the declared list: {first}"
                f"{', ...' * (len(values) > 4)}",  # noqa: PLR2004 - enough to see it
            )

    def _listed_as(self, shown: Shown) -> tuple[str, tuple[Scalar | None, ...]] | None:
        """Return the name and the list that a key is ordered by; None of others."""
        if isinstance(shown, KeyShown):
            key = list(self.keys.values())[shown.index]
            return key.name, key.values
        if not isinstance(shown, DependentShown):
            return None
        named = (name for name, each in self.names.items() if each == shown)
        return next(named, UNNAMED), shown.listed


def _bin_end(end: int, bins: Bins) -> str:
    if bins.of_days:
        return str(day(end))
    return f"{Decimal(end).scaleb(-bins.scale):f}"


def _unbounded(facts: Facts, tree: Tree) -> QueryError:
    """Return the refusal of a value without bounds; says which end is known."""
    low, high = reach_of(facts)
    missing, hint = "no declared bounds", None
    if low is not None:
        missing, hint = (
            "a least value and no greatest one",
            "write LEAST(..., 60) of it",
        )
    elif high is not None:
        missing = "a greatest value and no least one"
        hint = "write GREATEST(..., 0) of it"
    detail = f"{describe(tree)} has {missing}"
    return refuse(rules.NO_BOUNDS, tree.position, detail=detail, hint=hint)


def _quantile_parameters(tree: AggregateCall) -> tuple[Fraction, int]:
    """Return q and the number of bins asked for."""
    wanted = tree.arguments[1:]
    if tree.name == "median":
        fraction, bins = Fraction(1, 2), wanted
    else:
        fraction, bins = _fraction(tree), wanted[1:]
    if len(bins) > (0 if tree.name == "median" else 1) or not tree.arguments:
        raise refuse(rules.QUANTILE, tree.position)
    return fraction, _bins(bins[0], tree) if bins else DEFAULT_BINS


def _fraction(tree: AggregateCall) -> Fraction:
    written = tree.arguments[1] if len(tree.arguments) > 1 else None
    if not isinstance(written, NumberLiteral) or len(written.text) > 40:  # noqa: PLR2004 - more digits say nothing
        raise refuse(rules.QUANTILE, tree.position)
    fraction = Fraction(written.text)
    if not 0 < fraction < 1:
        raise refuse(rules.QUANTILE, tree.position)
    return fraction


def _bins(written: Tree, tree: AggregateCall) -> int:
    found = small_number(written, MOST_BINS)
    if found is None or found < 2:  # noqa: PLR2004 - one bin tells nothing
        raise refuse(rules.QUANTILE, tree.position)
    return found


def _grouping_hint(known: list[str], shown: str) -> str:  # noqa: PLR0911 - an arm a case
    """Say how what is shown becomes a key; what has no name cannot be written out."""
    if shown == UNNAMED and known:
        return "add the same expression to GROUP BY, or select one that stands there"
    if shown == UNNAMED:
        return "add GROUP BY with the same expression, or with its name after AS"
    if shown in known:
        return f"{shown} is a column, which goes before the alias: name the alias anew"
    if UNNAMED in known:
        return f"add {shown} to GROUP BY"
    return f"add GROUP BY {', '.join([*known, shown])}"


def weights_of(
    plan: Aggregate, columns: Mapping[str, Shown], weights: Mapping[str, Fraction]
) -> list[Fraction]:
    """Return each vector's weight (CONTRACT 3).

    Without weights all vectors weigh the same. With them, a column that none names
    weighs 1, and so does what HAVING and ORDER BY alone speak of; the two vectors of an
    average share its weight; a vector that several show takes the greatest.

    Args:
        plan: Whose vectors are weighed.
        columns: The measure columns, by name.
        weights: By name of a column; positive.
    """
    if not weights:
        return [Fraction(1)] * len(plan.measures)
    one = Fraction(1)
    shown = [(each, weights.get(name, one)) for name, each in columns.items()]
    named = set(columns.values())
    beside = shown_in_presentation(plan.presentation)
    shown += [(each, one) for each in beside if each not in named]
    shares: list[list[Fraction]] = [[] for _ in plan.measures]
    for each, weight in shown:
        vectors = vectors_of(each)
        for vector in vectors:
            shares[vector].append(weight / len(vectors))
    return [max(share) for share in shares]


def vectors_of(shown: Shown) -> tuple[int, ...]:
    """Return the vectors that a shown value needs."""
    match shown:
        case NumberShown(vector) | QuantileShown(vector):
            return (vector,)
        case AverageShown(total, number):
            return (total, number)
        case ComputedShown() | WindowShown():
            found = (vector for leaf in leaves(shown) for vector in vectors_of(leaf))
            return tuple(dict.fromkeys(found))
        case _:
            return ()
