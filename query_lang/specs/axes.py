"""Dimensions of a cube: a column, a level of it, bands or bins, as expressions.

Each is written as an expression of the language and bound like one, so that it is
total and its values are public.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from privacy.errors import CuratorError, QueryError
from privacy.schema import ColumnType, HierarchyDomain, Scalar
from query_lang import hierarchies
from query_lang.binding.expressions import ExpressionBinder
from query_lang.plans.domains import cell_count
from query_lang.plans.expressions import Expression, Facts
from query_lang.plans.intervals import Interval, day, measured_interval
from query_lang.reading.parse import parse_query
from query_lang.syntax.nodes import Expression as Tree

MAX_VALUES: Final = 1_000_000
MAX_BINS: Final = 200
_LONGEST_CUT: Final = 100
_LARGEST_POWER: Final = 40
"""Of ten: whole numbers beyond would cost more the longer their exponent is."""

_COLUMN = re.compile(r"(?:[a-z][a-z0-9_]{0,62}\.)?([a-z][a-z0-9_]{0,62})")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_PARTS: Final[Mapping[str, str]] = {
    "year": "YEAR",
    "quarter_of_year": "QUARTER",
    "month_of_year": "MONTH",
    "day_of_month": "DAY",
    "weekday": "ISODOW",
    "hour": "HOUR",
}
_MOMENTS = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})
_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL})
_MONTHS = 12

_DAY_0 = date(1970, 1, 1)


class AxisRefusedError(CuratorError):
    """A dimension cannot be one; ``place`` is its number from 0, None: all of them."""

    code = "refused"

    def __init__(self, place: int | None, message: str) -> None:
        self.place = place
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Axis:
    """A dimension as it is asked for; at most one of level, bands and bins.

    Attributes:
        column: Its name, qualified (``e.code``) where several relations are read.
        name: As readers will call it; the column's own where None.
        level: Of a hierarchy (``chapter``, ``block``, ``category``, an own one), or a
            part of a date (``month``, ``year``, ``weekday``, ...).
        bands: The width of age bands.
        bins: How many equal bins, or the first value of each bin but the first,
            as text: numbers, or ISO dates.
    """

    column: str
    name: str | None = None
    level: str | None = None
    bands: int | None = None
    bins: int | tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ResolvedAxis:
    """A dimension as it is counted.

    Attributes:
        name: As readers call it.
        text: The expression in the language.
        expression: It, bound.
        ordered: Whether neighbours are near each other.
        labels: What the values are shown as, where that is not they themselves.
        size: How many values, NULL counted.
    """

    name: str
    text: str
    expression: Expression
    ordered: bool
    labels: tuple[str, ...]
    size: int

    def shown(self, values: Sequence[Scalar | None]) -> tuple[Scalar | None, ...]:
        """Return the values as readers see them, NULL last where it was."""
        if not self.labels:
            return tuple(values)
        return (*self.labels, *([None] if values[-1] is None else []))


def bind_axis(axis: Axis, place: int, rows: ExpressionBinder) -> ResolvedAxis:
    """Bind one dimension over the rows of a FROM.

    Raises:
        AxisRefusedError: It names no column, or asks of it what its type has not, or
            has no public values, or more than a million, or a rule of the language
            refuses it.
    """
    column = _COLUMN.fullmatch(axis.column)
    name = axis.name or (column[1] if column else "")
    if column is None or _NAME.fullmatch(name) is None:
        raise AxisRefusedError(place, "a column's name, or table.column, is needed")
    if sum(asked is not None for asked in (axis.level, axis.bands, axis.bins)) > 1:
        raise AxisRefusedError(place, "give one of level, bands and bins")
    try:
        facts = rows.value(_tree(axis.column)).facts
        written = _written(axis, facts, rows)
        bound = rows.value(_tree(written.text))
    except QueryError as error:  # its own line and column are of our text
        raise AxisRefusedError(place, f"{error.detail}: {error.hint}") from None
    except ValueError as error:
        raise AxisRefusedError(place, str(error)) from None
    size = cell_count(bound.facts)
    if not size:
        message = (
            f"{name} has no declared list of values or small range: declare one, or "
            "ask for a level, bands or bins"
        )
        raise AxisRefusedError(place, message)
    if size > MAX_VALUES:
        message = f"{name} has {size} values: a dimension has at most {MAX_VALUES}"
        raise AxisRefusedError(place, message)
    return ResolvedAxis(
        name, written.text, bound, written.ordered, written.labels, size
    )


@dataclass(frozen=True, slots=True)
class _Written:
    text: str
    ordered: bool
    labels: tuple[str, ...] = ()


def column_tree(column: str) -> Tree:
    """Return a column's name, perhaps qualified, as the language reads it.

    Raises:
        ValueError: It is no such name.
    """
    if _COLUMN.fullmatch(column) is None:
        message = "a column's name, or table.column, is needed"
        raise ValueError(message)
    return _tree(column)


def _tree(expression: str) -> Tree:
    """Parse an expression: it has come through our own words and checked names."""
    item = parse_query(f"SELECT {expression} FROM cube").select.items[0]  # noqa: S608 - as above
    return item.expression


def _written(axis: Axis, facts: Facts, rows: ExpressionBinder) -> _Written:
    if axis.level is not None:
        return _of_level(axis.column, axis.level, facts, rows)
    if axis.bands is not None:
        if facts.type is not ColumnType.INTEGER or axis.bands < 1:
            message = "bands are of whole numbers, and at least 1 wide"
            raise ValueError(message)
        return _Written(f"age_band({axis.column}, {axis.bands})", ordered=True)
    if axis.bins is not None:
        return _of_bins(axis.column, axis.bins, facts)
    return _Written(axis.column, facts.type in _NUMBERS | _MOMENTS)


def _of_level(
    column: str, level: str, facts: Facts, rows: ExpressionBinder
) -> _Written:
    if isinstance(facts.domain, HierarchyDomain):
        own = rows.environment.dataset.hierarchies
        known = hierarchies.levels_of(facts.domain, own)
        if level not in known:
            message = f"{column} has the levels {', '.join(known)}"
            raise ValueError(message)
        if facts.domain.name in own:
            return _Written(f"level({column}, '{level}')", ordered=False)
        return _Written(f"icd_{level}({column})", ordered=False)
    if facts.type not in _MOMENTS:
        message = f"{column} has no levels: it is neither a hierarchy nor a date"
        raise ValueError(message)
    if level in _PARTS:
        return _Written(f"EXTRACT({_PARTS[level]} FROM {column})", ordered=True)
    if level == "month":
        return _of_months(column, facts)
    known = ("month", *_PARTS)
    message = f"the levels of a date are {', '.join(known)}"
    raise ValueError(message)


def _of_months(column: str, facts: Facts) -> _Written:
    """Write calendar months as months since the first one, shown as YYYY-MM."""
    bounds = measured_interval(facts)
    if bounds is None:
        message = f"{column} has no declared first and last day"
        raise ValueError(message)
    if facts.type is ColumnType.TIMESTAMP:
        message = f"month is a level of dates; {column} is a timestamp"
        raise ValueError(message)
    first, last = day(bounds[0]), day(bounds[1])
    labels = tuple(
        f"{number // _MONTHS:04d}-{number % _MONTHS + 1:02d}"
        for number in range(_month(first), _month(last) + 1)
    )
    text = f"DATE_DIFF('month', DATE '{first.isoformat()}', {column})"
    return _Written(text, ordered=True, labels=labels)


def _month(moment: date) -> int:
    return moment.year * _MONTHS + moment.month - 1


# -- bins ---------------------------------------------------------------------


def _of_bins(column: str, bins: int | tuple[str, ...], facts: Facts) -> _Written:
    kind = facts.type
    bounds = measured_interval(facts)
    if kind not in _NUMBERS | {ColumnType.DATE} or bounds is None:
        message = f"bins need numbers or dates with declared bounds: {column} has none"
        raise ValueError(message)
    steps = (
        _equal_steps(bins, bounds)
        if isinstance(bins, int)
        else [_step(cut, facts) for cut in bins]
    )
    _check_steps(steps, bounds)
    starts = [bounds[0], *steps]
    ends = [*(step - 1 for step in steps), bounds[1]]
    label = _labeller(facts)
    labels = [label(low, high) for low, high in zip(starts, ends, strict=True)]
    return _Written(_case(column, steps, labels, facts), ordered=True)


def _equal_steps(bins: int, bounds: Interval) -> list[int]:
    low, high = bounds
    width = high - low + 1
    count = min(bins, width, MAX_BINS + 1)
    return [low + -(-place * width // count) for place in range(1, count)]


def _check_steps(steps: Sequence[int], bounds: Interval) -> None:
    if not 1 <= len(steps) < MAX_BINS:
        message = f"give 2 to {MAX_BINS} bins"
        raise ValueError(message)
    inside = bounds[0] < steps[0] and steps[-1] <= bounds[1]
    if not inside or sorted(set(steps)) != list(steps):
        message = "bins' first values ascend, within the declared bounds"
        raise ValueError(message)


def _step(cut: str, facts: Facts) -> int:
    """Return a cut on the column's grid (days since 1970-01-01 for dates)."""
    if facts.type is ColumnType.DATE:
        return (date.fromisoformat(cut) - _DAY_0).days
    scaled = _scaled(cut, _scale(facts))
    if scaled is None or scaled != int(scaled):
        message = "bins of numbers begin with numbers on the column's grid"
        raise ValueError(message)
    return int(scaled)


def _scaled(cut: str, scale: int) -> Decimal | None:
    """Return a number in steps of a grid; None where it is beyond every column's."""
    try:
        number = Decimal(cut[: _LONGEST_CUT + 1])
        usable = number.is_finite() and abs(number.adjusted()) <= _LARGEST_POWER
        return number.scaleb(scale) if usable and len(cut) <= _LONGEST_CUT else None
    except ArithmeticError:
        return None


def _scale(facts: Facts) -> int:
    return facts.scale if facts.type is ColumnType.DECIMAL else 0


def _labeller(facts: Facts) -> Callable[[int, int], str]:
    def label(low: int, high: int) -> str:
        first, last = _literal(low, facts), _literal(high, facts)
        if low == high:
            return first
        plain = facts.type is ColumnType.INTEGER and low >= 0
        return f"{first}-{last}" if plain else f"{first}..{last}"

    return label


def _literal(step: int, facts: Facts) -> str:
    if facts.type is ColumnType.DATE:
        return (_DAY_0 + timedelta(days=step)).isoformat()
    return f"{Decimal(step).scaleb(-_scale(facts)):f}"


def _case(
    column: str, steps: Sequence[int], labels: Sequence[str], facts: Facts
) -> str:
    prefix, suffix = ("DATE '", "'") if facts.type is ColumnType.DATE else ("", "")
    arms = [
        f"WHEN {column} < {prefix}{_literal(step, facts)}{suffix} THEN '{label}'"
        for step, label in zip(steps, labels, strict=False)
    ]
    last = f"{prefix}{_literal(steps[-1], facts)}{suffix}"
    end = f"WHEN {column} >= {last} THEN '{labels[-1]}'"
    if not facts.nullable:
        end = f"ELSE '{labels[-1]}'"
    return f"CASE {' '.join([*arms, end])} END"
