"""Periods of time: each unit's rows of a period rolled up to one symbol.

A roll-up by the unit key and the period's number, as a derived table of the language
would be (docs/proofs/rollup.md, window.md); its average compares exactly.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal

from privacy.errors import CuratorError, QueryError
from privacy.schema import ColumnType, RangeDomain, ValuesDomain
from query_lang.binding.aggregates import made_facts
from query_lang.binding.environment import Environment
from query_lang.binding.expressions import ExpressionBinder
from query_lang.plans.expressions import (
    AverageRef,
    Call,
    CompareAverage,
    Constant,
    Expression,
    Facts,
    FieldRef,
    Function,
    truth_of,
)
from query_lang.plans.intervals import MAX_DAY, MAX_INTEGER, MIN_DAY, MIN_INTEGER
from query_lang.plans.nodes import (
    Compute,
    Filter,
    FrameEnd,
    Identity,
    Node,
    Order,
    Rollup,
    RollupItem,
    Windowed,
    WindowItem,
    WindowKind,
)
from query_lang.plans.sensitivity import groups_within
from query_lang.specs.axes import ResolvedAxis, column_tree

Take = Literal["average", "sum", "count", "max", "min", "last"]
PeriodUnit = Literal["day", "month", "step"]

MAX_EVERY: Final = 1_000_000
_MAX_CUTS: Final = 199
_LONGEST_CUT: Final = 40
_LARGEST_POWER: Final = 18
_DECIMALS: Final = 9
"""Of a cut: what an average compares with exactly."""

_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL})
_DAYS = MAX_DAY - MIN_DAY
_MONTHS = 12 * 9_999
_WHOLE = Facts(ColumnType.INTEGER, nullable=False)
_KINDS: Final[dict[Take, WindowKind]] = {
    "sum": "sum",
    "count": "count_rows",
    "max": "max",
    "min": "min",
    "last": "last",
}


class PeriodsRefusedError(CuratorError):
    """Periods do not fit the columns that they are asked of."""

    code = "refused"


@dataclass(frozen=True, slots=True)
class Periods:
    """Equal periods, and what becomes of a unit's rows in each.

    Attributes:
        every: How many days, calendar months or steps a period is long.
        unit: Of ``every``; steps are of a whole number.
        start: Where the first period begins; None: at each unit's first row.
        take: What is made of the rows.
        of: The column that it is made of; None where rows are counted.
        bins: The first value of each bin but the first, ascending, as text.
        name: As readers call the symbols.
    """

    every: int
    unit: PeriodUnit
    start: date | int | None
    take: Take
    of: str | None
    bins: tuple[str, ...]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class ResolvedPeriods:
    """One row a period of each unit that has rows in it.

    Attributes:
        axis: The bins; NULL last, for periods without rows too.
        node: The rows.
        symbol: Slot of the bin.
        place: The period's number, from 0.
        group: Slot of the split's value, or None.
    """

    axis: ResolvedAxis
    node: Node
    symbol: int
    place: FieldRef
    group: int | None


def bind_periods(
    periods: Periods,
    below: tuple[Node, Expression, Expression | None],
    rows: ExpressionBinder,
) -> ResolvedPeriods:
    """Bind periods over ordered rows.

    Args:
        periods: As asked for.
        below: The rows, their order and, where there is one, the split.
        rows: Binds columns over them.

    Raises:
        PeriodsRefusedError: They do not fit the order's type, or the column's.
    """
    node, order, split = below
    environment = rows.environment
    labels, cuts = _bins(periods)
    value = _value(periods, rows)
    node, number = _numbered(periods, node, order, environment)
    place = FieldRef(environment.new_slot(), _WHOLE)
    keys: list[tuple[int, Expression]] = [(place.slot, number)]
    group = None
    if split is not None:
        group = environment.new_slot()
        keys.append((group, split))
    items, made = _items(periods.take, value, order, environment, node.rows_per_unit)
    groups = groups_within(node, [key for _, key in keys])
    least = _least(node, environment)
    rolled = Rollup(node, tuple(keys), items, least, groups)
    symbol = environment.new_slot()
    binned = _binned(made, labels, cuts)
    axis = ResolvedAxis(
        name=periods.name or (periods.of or "visits").rpartition(".")[2],
        text=_text(periods),
        expression=binned,
        ordered=True,
        labels=(),
        size=len(labels) + 1,
    )
    node = Compute(rolled, ((symbol, binned),))
    return ResolvedPeriods(axis, node, symbol, place, group)


def _text(periods: Periods) -> str:
    taken = "COUNT(*)" if periods.of is None else f"{periods.take}({periods.of})"
    plural = "" if periods.every == 1 else "s"
    start = "each unit's first row" if periods.start is None else str(periods.start)
    return f"{taken} by {periods.every} {periods.unit}{plural} from {start}"


# -- which period a row lies in ---------------------------------------------------


def _numbered(
    periods: Periods, node: Node, order: Expression, environment: Environment
) -> tuple[Node, Expression]:
    """Return the rows from the start on, and the number of a row's period."""
    if not 1 <= periods.every <= MAX_EVERY:
        message = f"a period is 1 to {MAX_EVERY} long"
        raise PeriodsRefusedError(message)
    moment = _moment(periods.unit, order)
    start: Expression
    if periods.start is None:
        slot = environment.new_slot()
        whole = FrameEnd(None)
        first = WindowItem(slot, "min", moment, (), (), whole, whole)
        node = Windowed(node, (first,))
        start = FieldRef(slot, replace(moment.facts, nullable=False))
    else:
        start = _fixed_start(periods.start, moment)
        node = Filter(node, truth_of(Function.GE, (moment, start)))
    return node, _steps(periods, start, moment)


def _moment(unit: PeriodUnit, order: Expression) -> Expression:
    kind = order.facts.type
    if (kind is ColumnType.INTEGER) is not (unit == "step"):
        message = (
            "every is a whole number where the order is one, and days, months or years "
            "where it is a date or a timestamp"
        )
        raise PeriodsRefusedError(message)
    if kind is not ColumnType.TIMESTAMP:
        return order
    facts = Facts(ColumnType.DATE, nullable=order.facts.nullable)
    return Call(Function.DATE_OF, (order,), facts)


def _fixed_start(start: date | int, moment: Expression) -> Constant:
    if isinstance(start, date) is not (moment.facts.type is ColumnType.DATE):
        message = "start is 'first', or a value of the order's own type"
        raise PeriodsRefusedError(message)
    if isinstance(start, int) and not MIN_INTEGER <= start <= MAX_INTEGER:
        message = "start is a whole number of 64 bits"
        raise PeriodsRefusedError(message)
    return Constant(start, Facts(moment.facts.type, nullable=False))


def _steps(periods: Periods, start: Expression, moment: Expression) -> Expression:
    """Return the number of the period, from 0; ``start`` is never after ``moment``."""
    if periods.unit == "day":
        between, most = Function.DAYS_BETWEEN, _DAYS
    elif periods.unit == "month":
        between, most = Function.MONTHS_BETWEEN, _MONTHS
    else:
        wide = replace(_WHOLE, domain=None)
        gone = Call(Function.SUBTRACT, (moment, start), wide)
        return Call(Function.DIVIDE, (gone, Constant(periods.every, _WHOLE)), wide)
    known = replace(_WHOLE, domain=RangeDomain(0, most))
    gone = Call(between, (start, moment), known)
    return Call(Function.DIVIDE, (gone, Constant(periods.every, _WHOLE)), known)


# -- what becomes of its rows -----------------------------------------------------


def _value(periods: Periods, rows: ExpressionBinder) -> Expression | None:
    if (periods.of is None) is not (periods.take == "count"):
        message = "count is of rows, and has no 'of'; what else is taken is of a column"
        raise PeriodsRefusedError(message)
    if periods.of is None:
        return None
    try:
        value = rows.value(column_tree(periods.of))
    except QueryError as error:  # its own line and column are of our text
        message = f"of: {error.detail}: {error.hint}"
        raise PeriodsRefusedError(message) from None
    except ValueError as error:
        message = f"of: {error}"
        raise PeriodsRefusedError(message) from None
    if value.facts.type not in _NUMBERS:
        message = f"of: {periods.of} is no number"
        raise PeriodsRefusedError(message)
    return value


def _items(
    take: Take,
    value: Expression | None,
    order: Expression,
    environment: Environment,
    rows: int,
) -> tuple[tuple[RollupItem, ...], FieldRef | AverageRef]:
    slot = environment.new_slot()
    if take == "average" and value is not None:
        number = environment.new_slot()
        items = (
            RollupItem(slot, "sum", value, saturates=False),
            RollupItem(number, "count", value),
        )
        facts = Facts(ColumnType.DECIMAL, value.facts.scale)
        return items, AverageRef(slot, number, value.facts.scale, facts)
    kind = _KINDS[take]
    facts = made_facts(kind, None if value is None else value.facts, rows, least=1)
    ordered = (Order(order, descending=False, nulls_first=False),)
    item = RollupItem(slot, kind, value, ordered if kind == "last" else ())
    return (item,), FieldRef(slot, facts)


def _least(node: Node, environment: Environment) -> Identity:
    own = node.identity
    return Identity(
        *(
            tuple(environment.new_slot() for _ in slots)
            for slots in (own.hashes, own.parts, own.public_rows)
        )
    )


# -- bins -------------------------------------------------------------------------


def _bins(periods: Periods) -> tuple[tuple[str, ...], tuple[Fraction, ...]]:
    """Return labels and cuts."""
    cuts = tuple(_cut(text) for text in periods.bins)
    ascending = all(low < high for low, high in itertools.pairwise(cuts))
    if not 1 <= len(cuts) <= _MAX_CUTS or not ascending:
        message = f"bins are 1 to {_MAX_CUTS} first values, ascending"
        raise PeriodsRefusedError(message)
    shown = [f"{Decimal(text).normalize():f}" for text in periods.bins]
    between = (f"{low}-<{high}" for low, high in itertools.pairwise(shown))
    return (f"<{shown[0]}", *between, f">={shown[-1]}"), cuts


def _cut(text: str) -> Fraction:
    message = f"bins begin with numbers of at most {_DECIMALS} decimals"
    try:
        number = Decimal(text[: _LONGEST_CUT + 1])
    except ArithmeticError:
        raise PeriodsRefusedError(message) from None
    usable = number.is_finite() and abs(number.adjusted()) <= _LARGEST_POWER
    if not usable or len(text) > _LONGEST_CUT:
        raise PeriodsRefusedError(message)
    if 10**_DECIMALS % Fraction(number).denominator:
        raise PeriodsRefusedError(message)
    return Fraction(number)


def _binned(
    value: FieldRef | AverageRef, labels: Sequence[str], cuts: Sequence[Fraction]
) -> Expression:
    """Return the label of the bin that a value lies in; NULL for NULL."""
    facts = Facts(ColumnType.TEXT, domain=ValuesDomain(tuple(labels)))
    label = [Constant(text, replace(facts, nullable=False)) for text in labels]
    arms: list[Expression] = []
    for cut, shown in zip(cuts, label, strict=False):
        arms += (_compared(Function.LT, value, cut), shown)
    arms += (_compared(Function.GE, value, cuts[-1]), label[-1])
    return Call(Function.CASE, (*arms, Constant(None, facts)), facts)


def _compared(
    function: Function, value: FieldRef | AverageRef, cut: Fraction
) -> Expression:
    if isinstance(value, AverageRef):
        steps = cut * 10**value.scale
        held = max(Fraction(MIN_INTEGER - 1), min(Fraction(MAX_INTEGER + 1), steps))
        facts = Facts(ColumnType.BOOLEAN)
        return CompareAverage(function, value, held.numerator, held.denominator, facts)
    written = cut.numerator if cut.denominator == 1 else _decimal(cut)
    number = Constant(written, Facts(ColumnType.DECIMAL, _DECIMALS, nullable=False))
    return truth_of(function, (value, number))


def _decimal(cut: Fraction) -> Decimal:
    return Decimal(int(cut * 10**_DECIMALS)).scaleb(-_DECIMALS)
