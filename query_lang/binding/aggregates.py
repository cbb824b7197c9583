"""Roll-ups and windows of one unit's rows: what they compute and what is public."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from privacy.errors import SqlNotAllowedError
from privacy.schema import ColumnType, RangeDomain
from query_lang.binding.expressions import ExpressionBinder, describe
from query_lang.binding.frames import frame_of, offset_of
from query_lang.binding.results.moments import MOMENTS
from query_lang.binding.scalars.casts import truth_number
from query_lang.binding.scalars.ids import add_unit, never_null
from query_lang.binding.scope import UnitColumn
from query_lang.plans.expressions import (
    AverageRef,
    Call,
    Constant,
    Expression,
    Facts,
    FieldRef,
    Function,
)
from query_lang.plans.intervals import interval_of, range_of, shown_value, summed
from query_lang.plans.nodes import (
    FrameEnd,
    Node,
    Order,
    RollupItem,
    WindowItem,
    WindowKind,
)
from query_lang.plans.sensitivity import groups_within
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    AggregateCall,
    CountRows,
    Exists,
    FunctionCall,
    Idiom,
    InQuery,
    Name,
    OrderItem,
    WindowCall,
)
from query_lang.syntax.nodes import (
    Expression as Tree,
)
from query_lang.syntax.refusals import refuse

_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL})
_KINDS: Mapping[str, WindowKind] = {
    "count": "count",
    "sum": "sum",
    "min": "min",
    "max": "max",
    "bool_and": "bool_and",
    "bool_or": "bool_or",
    "first": "first",
    "last": "last",
    "first_value": "first",
    "last_value": "last",
    "lag": "lag",
    "lead": "lead",
}


def made_facts(kind: WindowKind, value: Facts | None, rows: int, least: int) -> Facts:
    """Return the facts of a roll-up or window over at most ``rows`` rows.

    Args:
        kind: What is computed.
        value: Of its argument.
        rows: The most rows that one unit has.
        least: The fewest rows in a group or frame: 1 or 0.
    """
    if value is None or kind in {"count", "count_distinct", "row_number"}:
        counts_rows = kind in {"count_rows", "row_number"}
        domain = RangeDomain(least if counts_rows else 0, rows)
        return Facts(ColumnType.INTEGER, nullable=False, domain=domain)
    if kind == "sum":
        bounds = interval_of(value)
        facts = replace(value, nullable=True, constant=False, domain=None)
        made = None if bounds is None else summed(bounds, rows)
        return replace(facts, domain=range_of(made, facts))
    return replace(value, nullable=True, constant=False)


def argument_of(kind: str, value: Expression) -> Expression:
    """Return what an aggregate is of: conditions are added and averaged as 1 and 0."""
    is_truth = value.facts.type is ColumnType.BOOLEAN
    return truth_number(value) if is_truth and kind in {"sum", "avg"} else value


def check_argument(kind: str, value: Expression, tree: Tree) -> None:
    """Refuse an argument of the wrong type.

    Raises:
        SqlNotAllowedError: SUM or AVG of no number, BOOL_AND of no condition.
    """
    numeric, boolean = kind in {"sum", "avg"}, kind in {"bool_and", "bool_or"}
    wrong_number = numeric and value.facts.type not in _NUMBERS
    wrong_boolean = boolean and value.facts.type is not ColumnType.BOOLEAN
    if wrong_number or wrong_boolean or _is_null(value):
        raise refuse(
            rules.AGGREGATE_ARGUMENT,
            tree.position,
            detail=f"{kind} takes {'a number' if numeric else 'a condition'}, and "
            f"{describe(tree)} is of type {value.facts.type.value}"
            if numeric or boolean
            else "NULL alone has no type",
        )


def _is_null(value: Expression) -> bool:
    return isinstance(value, Constant) and value.value is None


def orders(items: tuple[OrderItem, ...], binder: ExpressionBinder) -> tuple[Order, ...]:
    """Bind the ORDER BY of a window, FIRST or LAST; NULLS LAST unless written.

    Raises:
        SqlNotAllowedError: A term is a literal or a unit key.
    """
    bound: list[Order] = []
    for item in items:
        value = binder.value(item.expression)
        if isinstance(value, Constant):
            raise refuse(rules.ORDER_TERM, item.position)
        if item.descending and item.nulls_first is None and value.facts.nullable:
            binder.environment.warn(
                "nulls_last",
                "in ORDER BY ... DESC rows without a value come last, where PostgreSQL "
                "puts them first: write NULLS LAST if you mean that, or NULLS FIRST",
            )
        bound.append(Order(value, item.descending, bool(item.nulls_first)))
    return tuple(bound)


# -- roll-ups ------------------------------------------------------------------------


@dataclass(slots=True)
class Rollups:
    """The aggregates of one GROUP BY, each made once."""

    rows: ExpressionBinder  # over the rows that are grouped
    rows_per_unit: int
    made: dict[tuple[object, ...], tuple[RollupItem, Facts]] = field(
        default_factory=dict
    )

    def items(self) -> tuple[RollupItem, ...]:
        """Return what is to be computed."""
        return tuple(item for item, _ in self.made.values())

    def bind(self, tree: AggregateCall | CountRows) -> Expression:  # noqa: PLR0911 - an arm a form
        """Bind one aggregate of the rows of a unit's group.

        Raises:
            SqlNotAllowedError: It is no roll-up, or its argument does not fit.
        """
        if isinstance(tree, CountRows):
            return self._make("count_rows", None)
        _check_form(tree)
        if tree.name == "count" and tree.distinct:
            return self._count_distinct(tree)
        (argument,) = tree.arguments
        found = self._rows_of_unit(argument) if tree.name == "count" else None
        if found is not None:
            return found
        value = argument_of(tree.name, self._argument(argument))
        check_argument(tree.name, value, argument)
        if tree.name == "avg":
            return self._average(value, argument)
        return self._make(_KINDS[tree.name], value, orders(tree.order_by, self.rows))

    def _count_distinct(self, tree: AggregateCall) -> Expression:
        (argument,) = tree.arguments
        if isinstance(argument, Name):
            column = self.rows.scope.find(argument)
            if isinstance(column, UnitColumn):
                unit = FieldRef(column.slot, Facts(ColumnType.INTEGER))
                return self._make("count_distinct", unit)
        kept = self.rows.kept_unit(argument)
        if kept is not None:
            units = self.rows.units_where(kept, kept.unit.slot)
            return self._make("count_distinct", units)
        value = self._argument(argument)
        self.rows.environment.warn_of_other(argument, value)
        return self._make("count_distinct", value)

    def _argument(self, argument: Tree) -> Expression:
        if isinstance(argument, Name) and self.rows.scope.is_unit_key(argument):
            raise self.rows.opaque(argument)
        return self.rows.value(argument)

    def _rows_of_unit(self, argument: Tree) -> Expression | None:
        """Bind the count of rows in which a unit key, or a CASE of it, is not NULL."""
        unit = self.rows.unit_column(argument)
        if unit is not None and not unit.nullable:
            return self._make("count_rows", None)
        if unit is not None and unit.row is not None:
            return self._make("count", unit.row)
        kept = self.rows.kept_unit(argument)
        if kept is None:
            return None
        return self._make("count", self.rows.units_where(kept, kept.unit.slot))

    def _average(self, value: Expression, argument: Tree) -> Expression:
        total = self._make("sum", value, saturates=False)
        quotient = _quotient(value.facts, argument)
        self.rows.environment.averages[total.slot] = quotient
        number = self._make("count", value)
        return average_of(total, number, value.facts)

    def _make(
        self,
        kind: WindowKind,
        value: Expression | None,
        order: tuple[Order, ...] = (),
        *,
        saturates: bool = True,
    ) -> FieldRef:
        wanted = (kind, value, order, saturates)
        if wanted not in self.made:
            slot = self.rows.environment.new_slot()
            known = None if value is None else value.facts
            facts = made_facts(kind, known, self.rows_per_unit, least=1)
            item = RollupItem(slot, kind, value, order, saturates)
            self.made[wanted] = item, facts
        item, facts = self.made[wanted]
        return FieldRef(item.slot, facts)


def _quotient(facts: Facts, argument: Tree) -> str:
    """Return an average as a quotient that is held to what its values can be.

    LEAST and GREATEST leave NULL out, so CASE keeps it. What has no name is x.
    """
    x = "x"
    if isinstance(argument, Name):
        x = f"{argument.qualifier}." if argument.qualifier else ""
        x += argument.name
    quotient = f"1.0 * SUM({x}) / COUNT({x})"
    interval = interval_of(facts)
    if interval is None:
        return quotient
    ends = (Decimal(str(shown_value(step, facts))) for step in interval)
    low, high = (f"{end.normalize():f}" for end in ends)
    held = f"LEAST(GREATEST({quotient}, {low}), {high})"
    return f"CASE WHEN COUNT({x}) > 0 THEN {held} END"


def average_of(total: Expression, number: Expression, facts: Facts) -> AverageRef:
    """Return the exact average of values with some facts, as a sum and a count."""
    if not isinstance(total, FieldRef) or not isinstance(number, FieldRef):
        raise TypeError
    own = replace(
        facts,
        type=ColumnType.DECIMAL,
        nullable=True,
        constant=total.facts.constant,
        domain=None,
    )
    return AverageRef(total.slot, number.slot, facts.scale, own)


def _check_form(tree: AggregateCall) -> None:
    """Refuse aggregates that are no roll-ups, and forms that they do not have."""
    _check_stands_below(tree)
    if len(tree.arguments) != 1:
        raise refuse(rules.AGGREGATE_ARGUMENT, tree.position)
    if tree.distinct and tree.name != "count":
        raise refuse(rules.AGGREGATE_DISTINCT, tree.position)
    ordered = tree.name in {"first", "last"}
    if bool(tree.order_by) is not ordered:
        rule = rules.FIRST_LAST_ORDER if ordered else rules.ORDER_IN_CALL
        raise refuse(rule, tree.position)


def _check_stands_below(tree: AggregateCall) -> None:
    """Refuse aggregates that stand at the top only."""
    if tree.name in {"median", "quantile"}:
        detail, hint = _TOP_ONLY, _MEDIAN_OF_ONE
        raise refuse(rules.AGGREGATE_PLACE, tree.position, detail=detail, hint=hint)
    if tree.name in MOMENTS:
        detail, hint = _MOMENTS_AT_TOP, _STDDEV_OF_ONE
        raise refuse(rules.AGGREGATE_PLACE, tree.position, detail=detail, hint=hint)


_MOMENTS_AT_TOP = "variances and correlations stand at the top only"
_STDDEV_OF_ONE = (
    "of one patient compare squares, STDDEV(age) > 10 as COUNT(age) * SUM(age * age) - "
    "SUM(age) * SUM(age) > 10 * 10 * COUNT(age) * (COUNT(age) - 1); over all rows it "
    "stands at the top: SELECT STDDEV(age) FROM encounters"
)
_TOP_ONLY = "MEDIAN and QUANTILE stand at the top only"
_MEDIAN_OF_ONE = (
    "over all rows SELECT MEDIAN(age) FROM encounters; of one patient AVG(age) ... "
    "WHERE 2 * k BETWEEN n AND n + 2 GROUP BY patient_id over (SELECT patient_id, age, "
    "ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY age) AS k, COUNT(age) OVER "
    "(PARTITION BY patient_id) AS n FROM encounters WHERE age IS NOT NULL) AS r"
)


class GroupedBinder(ExpressionBinder):
    """Binds the SELECT list and HAVING of a derived table with GROUP BY."""

    def __init__(
        self,
        rows: ExpressionBinder,
        rollups: Rollups,
        keys: Mapping[Expression, FieldRef],
    ) -> None:
        super().__init__(rows.scope, rows.environment, rows.subqueries)
        self._rows = rows
        self._rollups = rollups
        self._keys = keys

    def aggregate(self, tree: AggregateCall | CountRows) -> Expression:
        """Bind an aggregate of the group's rows."""
        return self._rollups.bind(tree)

    def operand(self, tree: Tree) -> Expression:
        """Bind an expression over keys and aggregates."""
        if isinstance(tree, CountRows | AggregateCall | WindowCall):
            return super().operand(tree)
        if not holds_aggregate(tree):
            return self._grouped(self._rows.operand(tree), tree)
        if isinstance(tree, Exists | InQuery):
            raise _beside_groups(tree)
        return super().operand(tree)

    def _grouped(self, bound: Expression, tree: Tree) -> Expression:
        """Return an expression over rows as one over keys."""
        if bound in self._keys:
            return self._keys[bound]
        if isinstance(bound, Constant):
            return bound
        if isinstance(bound, Call):
            operands = tuple(self._grouped(item, tree) for item in bound.operands)
            return replace(bound, operands=operands)
        if not isinstance(bound, FieldRef | AverageRef):
            raise _beside_groups(tree)
        shown = describe(tree)
        raise refuse(
            rules.NOT_GROUPED,
            tree.position,
            detail=f"{shown} is selected but not grouped by",
            hint=f"add {shown} to GROUP BY, or roll it up: MIN({shown})",
        )

    def unit_comparison(
        self,
        operator: Function,  # noqa: ARG002 - the base class's signature
        left: Tree,
        right: Tree,
    ) -> Expression | None:
        """Refuse unit keys: after GROUP BY there is but the group's own."""
        for side in (left, right):
            if self.unit_column(side) is not None:
                raise self.opaque(side)
        return None


def _beside_groups(tree: Tree) -> SqlNotAllowedError:
    """Return the refusal of a subquery over groups, which has a place over them."""
    return refuse(
        rules.SUBQUERY_PLACE,
        tree.position,
        detail="beside GROUP BY, IN (SELECT ...) and EXISTS stand in WHERE and in "
        "aggregates",
        hint="group in a derived table, and ask them of its rows: FROM (SELECT "
        "patient_id, department, COUNT(*) AS n ... GROUP BY patient_id, department) "
        "AS g",
    )


def holds_aggregate(tree: object) -> bool:
    """Whether a parsed expression holds an aggregate."""
    if isinstance(tree, AggregateCall | CountRows):
        return True
    if isinstance(tree, tuple):
        return any(holds_aggregate(part) for part in tree)
    parts = getattr(type(tree), "__dataclass_fields__", {})
    return any(holds_aggregate(getattr(tree, name)) for name in parts)


# -- windows -----------------------------------------------------------------


def _reads_its_end(function: object) -> bool:
    """Whether a window function is of all rows to the end of its frame."""
    if isinstance(function, FunctionCall):
        return function.name == "last_value"
    return isinstance(function, AggregateCall | CountRows)


class WindowBinder(ExpressionBinder):
    """Binds the SELECT list of a derived table without GROUP BY."""

    rows_per_unit: int = 1

    def __init__(self, rows: ExpressionBinder, node: Node) -> None:
        super().__init__(rows.scope, rows.environment, rows.subqueries)
        self._rows = rows
        self._node = node
        self.rows_per_unit = node.rows_per_unit
        self.items: dict[tuple[object, ...], WindowItem] = {}
        self.numberings: dict[int, int] = {}  # the most partitions of each

    def aggregate(self, tree: AggregateCall | CountRows) -> Expression:
        """Refuse an aggregate without GROUP BY."""
        raise refuse(
            rules.AGGREGATE_PLACE,
            tree.position,
            detail="below the top, an aggregate needs GROUP BY unit key",
            hint=f"GROUP BY {self.scope.unit_name()}",
        )

    def window(self, tree: WindowCall) -> Expression:
        """Bind one window function.

        Raises:
            SqlNotAllowedError: It is not partitioned by the unit key, or its form is
                not in the language.
        """
        partition = self._partition(tree)
        order = orders(tree.order_by, self._rows)
        start, end = frame_of(tree)
        shape = (partition, order, start, end)
        function = tree.function
        if tree.frame is None and order and _reads_its_end(function):
            self.environment.warn(
                "window_rows",
                "without a frame, a window ends at the current row: rows that are "
                "equal in its ORDER BY come one after the other, where other systems "
                "take them together",
            )
        if isinstance(function, CountRows):
            return self._make("count_rows", None, shape)
        if isinstance(function, FunctionCall):
            return self._numbered(tree, function, shape)
        if isinstance(function, Idiom):
            raise refuse(rules.CONSTRUCT, tree.position)
        _check_window_form(function)
        value = self._rows.value(function.arguments[0])
        value = argument_of(function.name, value)
        check_argument(function.name, value, function.arguments[0])
        if function.name == "avg":
            total = self._make("sum", value, shape, saturates=False)
            number = self._make("count", value, shape)
            return average_of(total, number, value.facts)
        return self._make(_KINDS[function.name], value, shape)

    def _partition(self, tree: WindowCall) -> tuple[Expression, ...]:
        others: list[Expression] = []
        units = 0
        for part in tree.partition_by:
            column = self.scope.find(part) if isinstance(part, Name) else None
            if isinstance(column, UnitColumn):
                if column.nullable:
                    raise refuse(rules.NULLABLE_UNIT_KEY, part.position)
                units += 1
            else:
                value = self._rows.value(part)
                self.environment.warn_of_other(part, value)
                others.append(value)
        known = never_null(self._node)
        unit = None if units else self.scope.unit_by_key(tree.partition_by, known)
        if unit is not None:
            self.environment.warn_of_unit(unit, "a window is partitioned")
        elif not units:
            named = [part for part in tree.partition_by if isinstance(part, Name)]
            is_alone = len(self.scope.relations) == 1  # no table in front is needed
            more = [
                n.name if is_alone or not n.qualifier else f"{n.qualifier}.{n.name}"
                for n in named
            ]
            keys = ", ".join([self.scope.unit_name(), *more])
            hint = f"add it: OVER (PARTITION BY {keys} ORDER BY ...)"
            by, place = f"PARTITION BY {keys}", (self.scope, self.environment)
            hint = add_unit(tree.partition_by, *place, by, each=None) or hint
            raise refuse(rules.WINDOW_PARTITION, tree.position, hint=hint)
        return tuple(others)

    def _numbered(
        self, tree: WindowCall, function: FunctionCall, shape: "_Shape"
    ) -> Expression:
        partition, order, start, end = shape
        if function.name in {"rank", "dense_rank"}:
            raise refuse(rules.RANK, tree.position)
        if function.name == "row_number":
            if function.arguments or tree.frame is not None:
                raise refuse(rules.WINDOW_FORM, tree.position)
            made = self._make("row_number", None, (partition, order, start, end))
            self.numberings[made.slot] = groups_within(self._node, partition)
            return made
        kind = _KINDS[function.name]
        offset = 0
        most = 2 if kind in {"lag", "lead"} else 1
        if not 1 <= len(function.arguments) <= most:
            raise refuse(rules.WINDOW_FORM, tree.position)
        if kind in {"lag", "lead"}:
            if tree.frame is not None:
                raise refuse(rules.WINDOW_FORM, tree.position)
            offset = offset_of(function)
        value = self._rows.value(function.arguments[0])
        check_argument(kind, value, function.arguments[0])
        return self._make(kind, value, shape, offset=offset)

    def _make(
        self,
        kind: WindowKind,
        value: Expression | None,
        shape: "_Shape",
        *,
        offset: int = 0,
        saturates: bool = True,
    ) -> FieldRef:
        partition, order, start, end = shape
        wanted = (kind, value, shape, offset, saturates)
        if wanted not in self.items:
            slot = self.environment.new_slot()
            self.items[wanted] = WindowItem(
                slot, kind, value, partition, order, start, end, offset, saturates
            )
        known = None if value is None else value.facts
        least = 1 if _holds_current(start, end) else 0
        facts = made_facts(kind, known, self.rows_per_unit, least)
        item = self.items[wanted]
        return FieldRef(item.slot, replace(facts, constant=item.is_constant))


_Shape = tuple[tuple[Expression, ...], tuple[Order, ...], FrameEnd, FrameEnd]


def _holds_current(start: FrameEnd, end: FrameEnd) -> bool:
    begins = start.offset is None or start.offset <= 0
    return begins and (end.offset is None or end.offset >= 0)


def _check_window_form(tree: AggregateCall) -> None:
    _check_stands_below(tree)
    if tree.distinct or tree.order_by or len(tree.arguments) != 1:
        raise refuse(rules.WINDOW_FORM, tree.position)
