"""Expressions as DuckDB SQL: one rendering each, total for every row.

No rendering rests on a guard to stay total (CONTRACT 1): what could overflow is
computed wide and clamped by value; a CASE around it decides about NULL only, since
LEAST and GREATEST pass over NULL. What an operator needs more than once is computed
once, below, under a name of its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from privacy.schema import ColumnType, Hierarchy, HierarchyDomain, Scalar
from query_lang.plans.expressions import (
    AverageRef,
    Call,
    CompareAverage,
    Constant,
    ExistsInQuery,
    Expression,
    FieldRef,
    Function,
    UnitInQuery,
    UnitsEqual,
    ValueInQuery,
)
from query_lang.plans.intervals import (
    MAX_DAY,
    MIN_DAY,
    grid_value,
    interval_of,
)
from query_lang.plans.literals import NUMBERS
from query_lang.rendering.comparisons import StoredComparison, compare_on_grid
from query_lang.rendering.duckdb import dates, numbers
from query_lang.rendering.duckdb.casts import (
    decimal_text_sql,
    read_text_sql,
    rounded,
)
from query_lang.rendering.duckdb.levels import level_sql
from query_lang.rendering.duckdb.scalars import texts
from query_lang.rendering.duckdb.wide import END, clamped, unless_any_null, wide
from query_lang.rendering.fragments import Fragment, for_each_row, listed
from query_lang.rendering.integer_widths import fits, is_small
from query_lang.rendering.keyed_hashes import is_text
from query_lang.syntax import rules
from query_lang.syntax.nodes import ComparisonOperator, Position
from query_lang.syntax.refusals import refuse

MAX_REPEATED = 32 * 1024
"""The longest text that may be repeated where it cannot be named."""

_EPOCH = "DATE '1970-01-01'"
_FAR = MAX_DAY - MIN_DAY + 1  # moves any date out of years 1 to 9999
SQL_TYPES: Mapping[ColumnType, str] = {
    ColumnType.INTEGER: "BIGINT",
    ColumnType.DECIMAL: "BIGINT",
    ColumnType.DATE: "DATE",
    ColumnType.TIMESTAMP: "TIMESTAMP",
    ColumnType.TEXT: "VARCHAR",
    ColumnType.BOOLEAN: "BOOLEAN",
}
_COMPARISONS: Mapping[Function, ComparisonOperator] = {
    Function.EQ: "=",
    Function.NE: "<>",
    Function.LT: "<",
    Function.LE: "<=",
    Function.GT: ">",
    Function.GE: ">=",
}
_SIGNS: Mapping[Function, str] = {
    Function.ADD: "+",
    Function.SUBTRACT: "-",
    Function.MULTIPLY: "*",
}
_TEXT_TESTS: Mapping[Function, str] = {
    Function.PREFIX: "starts_with",
    Function.SUFFIX: "suffix",
    Function.INFIX: "contains",
}


def slot_name(slot: int) -> str:
    """Return the SQL name of a slot."""
    return f"s{slot}"


class Subqueries(Protocol):
    """Renders the subqueries of expressions."""

    def value(
        self,
        expression: UnitInQuery | ValueInQuery | ExistsInQuery,
        outer: "ExpressionRenderer",
    ) -> Fragment:
        """Return the truth of a subquery for each row that ``outer`` renders."""

    def marked(
        self,
        marks: Mapping[ExistsInQuery, str],
        source: Fragment,
        slots: frozenset[int],
    ) -> Fragment:
        """Return a relation with a column for each EXISTS: whether it holds."""


@dataclass(frozen=True, slots=True)
class RenderContext:
    """What rendering one query carries along.

    Attributes:
        own: The dataset's own hierarchies.
        position: Where the query begins, for refusals.
        subqueries: Renders IN (SELECT ...) and EXISTS.
    """

    own: Mapping[str, Hierarchy]
    position: Position
    subqueries: "Subqueries"


@dataclass(slots=True)
class _Named:
    name: str
    fragment: Fragment
    level: int


@dataclass(slots=True)
class ExpressionRenderer:
    """Renders the expressions over one relation's rows.

    Attributes:
        context: Of the query.
        allowed: Slots that may be read: the relation's, or those of a join's sides.
        names: Whether what is needed twice can be computed below (``wrapped``).
    """

    context: RenderContext
    allowed: frozenset[int]
    names: bool = True
    _named: dict[Expression, _Named] = field(default_factory=dict)
    _marks: dict[ExistsInQuery, str] = field(default_factory=dict)
    _depth: int = 0  # of the deepest name read since it was last set to 0

    def wrapped(self, source: Fragment) -> Fragment:
        """Return a relation in which everything that was named is computed."""
        if self._marks:
            subqueries = self.context.subqueries
            source = subqueries.marked(self._marks, source, self.allowed)
        deepest = max((named.level for named in self._named.values()), default=0)
        for level in range(1, deepest + 1):
            made = [
                named.fragment + Fragment(f" AS {named.name}")
                for named in self._named.values()
                if named.level == level
            ]
            source = (
                Fragment("(SELECT *, ") + listed(made) + Fragment(" FROM ") + source
            ) + Fragment(")")
        return source

    # -- naming ---------------------------------------------------------------

    def named(self, expression: Expression) -> Fragment:
        """Render what is needed more than once: short, and the same each time."""
        if isinstance(expression, FieldRef | Constant):
            return self.render(expression)
        if not self.names:
            found = self.render(expression)
            if len(found.sql) > MAX_REPEATED:
                raise refuse(rules.TOO_COMPLEX, self.context.position)
            return found
        if expression not in self._named:
            outside, self._depth = self._depth, 0
            fragment = self.render(expression)
            name = f"t{len(self._named)}"
            self._named[expression] = _Named(name, fragment, self._depth + 1)
            self._depth = outside
        named = self._named[expression]
        self._depth = max(self._depth, named.level)
        return Fragment(named.name)

    def marked(self, exists: ExistsInQuery) -> Fragment:
        """Return the name of a column that tells whether EXISTS holds for the row."""
        if not self.names:  # pragma: no cover - conditions of joins hold no subquery
            raise TypeError
        return Fragment(self._marks.setdefault(exists, f"m{len(self._marks)}"))

    # -- one expression -------------------------------------------------------

    def render(self, expression: Expression) -> Fragment:  # noqa: PLR0911 - an arm a form
        """Return the SQL of an expression; it yields a value or NULL, never an error.

        Raises:
            SqlNotAllowedError: Rule ``too_complex``: the text would be too long.
        """
        match expression:
            case FieldRef(slot):
                return self._slot(slot)
            case Constant(value):
                return self.constant(value, expression)
            case Call():
                return self._call(expression)
            case UnitsEqual(left, right):
                equal = Fragment("(") + self._slot(left) + Fragment(" = ")
                return equal + self._slot(right) + Fragment(")")
            case CompareAverage():
                return self._average(expression)
            case AverageRef():  # pragma: no cover - binding lets none through
                raise TypeError
            case _:
                return self.context.subqueries.value(expression, self)

    def _slot(self, slot: int) -> Fragment:
        if slot not in self.allowed:
            message = f"slot {slot} is not among the rows here"
            raise AssertionError(message)
        return Fragment(slot_name(slot))

    def constant(self, value: Scalar | None, expression: Expression) -> Fragment:
        """Return a literal as a parameter in the stored representation."""
        facts = expression.facts
        kind = SQL_TYPES[facts.type]
        if value is None:
            return Fragment(f"CAST(NULL AS {kind})")
        stored = grid_value(value, facts.scale) if facts.type in NUMBERS else value
        return Fragment(f"CAST(? AS {kind})", (stored,))

    def _call(self, call: Call) -> Fragment:
        function = call.function
        if function in _COMPARISONS:
            return self.comparison(function, *call.operands)
        return _RENDERERS[function](self, call)

    # -- comparisons ----------------------------------------------------------

    def comparison(
        self, function: Function, left: Expression, right: Expression
    ) -> Fragment:
        """Compare two values; numbers exactly, whatever their scales."""
        operator = _COMPARISONS[function]
        if left.facts.type in NUMBERS and isinstance(right, Constant):
            return self._on_grid(operator, left, right.value)
        if left.facts.type in NUMBERS:
            scale = max(left.facts.scale, right.facts.scale)
            sides = self.scaled(left, scale), self.scaled(right, scale)
        else:
            sides = self.render(left), self.render(right)
        return _in_brackets(sides[0] + Fragment(f" {operator} ") + sides[1])

    def _on_grid(
        self, operator: ComparisonOperator, left: Expression, value: Scalar | None
    ) -> Fragment:
        if not isinstance(value, int | Decimal):  # pragma: no cover - binding holds it
            raise TypeError
        found = compare_on_grid(operator, value, left.facts.scale)
        own = self.render(left)
        if isinstance(found, StoredComparison):
            compared = own + Fragment(f" {found.operator} ?", (found.value,))
            return _in_brackets(compared)
        return _unless_null(own, truth=found)

    def scaled(self, expression: Expression, scale: int) -> Fragment:
        """Return a number on a finer grid, in 128 bits, which cannot overflow."""
        missing = scale - expression.facts.scale
        own = self.render(expression)
        if missing == 0:
            return own
        return (
            Fragment("(CAST(")
            + own
            + Fragment(f" AS HUGEINT) * CAST({10**missing} AS HUGEINT))")
        )

    def alike(self, one: Expression, other: Expression) -> tuple[Fragment, Fragment]:
        """Return two values that are equated, of one type: equal ones are the same."""
        if is_text(one.facts):
            return self.render(one), self.render(other)
        if one.facts.type in NUMBERS:
            scale = max(one.facts.scale, other.facts.scale)
            sides, kind = (
                (self.scaled(one, scale), self.scaled(other, scale)),
                "HUGEINT",
            )
        else:
            sides = self.render(one), self.render(other)
            kind = SQL_TYPES[one.facts.type]
        end = Fragment(f" AS {kind})")
        return Fragment("CAST(") + sides[0] + end, Fragment("CAST(") + sides[1] + end

    def _between(self, call: Call) -> Fragment:
        value, low, high = call.operands
        if not isinstance(value, FieldRef | Constant) and self.names:
            self.named(value)
        own = _Renamed(value, self.named(value))
        least = self._compare_named(Function.GE, own, low)
        most = self._compare_named(Function.LE, own, high)
        return _in_brackets(least + Fragment(" AND ") + most)

    def _compare_named(
        self, function: Function, own: "_Renamed", other: Expression
    ) -> Fragment:
        """Compare what has a name with another value."""
        operator = _COMPARISONS[function]
        facts = own.expression.facts
        if facts.type in NUMBERS and isinstance(other, Constant):
            if not isinstance(other.value, int | Decimal):  # pragma: no cover
                raise TypeError
            found = compare_on_grid(operator, other.value, facts.scale)
            if isinstance(found, StoredComparison):
                mark = Fragment(f" {found.operator} ?", (found.value,))
                return _in_brackets(own.fragment + mark)
            return _unless_null(own.fragment, truth=found)
        if facts.type in NUMBERS and facts.scale != other.facts.scale:
            scale = max(facts.scale, other.facts.scale)
            wide = Fragment("(CAST(") + own.fragment
            left = wide + Fragment(
                f" AS HUGEINT) * CAST({10 ** (scale - facts.scale)} AS HUGEINT))"
            )
            right = self.scaled(other, scale)
        else:
            left, right = own.fragment, self.render(other)
        return _in_brackets(left + Fragment(f" {operator} ") + right)

    def _in(self, call: Call) -> Fragment:
        value, *items = call.operands
        stored: list[Scalar] = []
        for item in items:
            if not isinstance(item, Constant) or item.value is None:
                raise TypeError  # pragma: no cover - binding holds it
            if value.facts.type not in NUMBERS:
                stored.append(item.value)
            elif isinstance(item.value, int | Decimal):
                found = compare_on_grid("=", item.value, value.facts.scale)
                if isinstance(found, StoredComparison):
                    stored.append(found.value)
        own = self.render(value)
        if not stored:
            return _unless_null(own, truth=False)
        marks = ", ".join("?" for _ in stored)
        return _in_brackets(own + Fragment(f" IN ({marks})", tuple(stored)))

    def _is_null(self, call: Call) -> Fragment:
        return _in_brackets(self.render(call.operands[0]) + Fragment(" IS NULL"))

    def _text_test(self, call: Call) -> Fragment:
        own = self.render(call.operands[0])
        test = _TEXT_TESTS[call.function]
        return Fragment(f"{test}(") + own + Fragment(", ?)", call.parameters)

    def _chain(self, call: Call) -> Fragment:
        word = f" {call.function.value.upper()} "
        return _in_brackets(listed(map(self.render, call.operands), word))

    def _not(self, call: Call) -> Fragment:
        return Fragment("(NOT ") + self.render(call.operands[0]) + Fragment(")")

    def _average(self, expression: CompareAverage) -> Fragment:
        average = expression.average
        operator = _COMPARISONS[expression.operator]
        wide = "CAST(? AS HUGEINT)"
        left = Fragment("(") + self._slot(average.sum_slot)
        left += Fragment(f" * {wide} {operator} ", (expression.denominator,))
        right = Fragment(f"{wide} * ", (expression.numerator,))
        return left + right + self._slot(average.count_slot) + Fragment(")")

    # -- integers -------------------------------------------------------------

    def _integers(self, call: Call) -> Fragment:
        """Add, subtract or multiply; beyond 64 bits the nearest end."""
        sign = _SIGNS[call.function]
        one, other = call.operands
        if fits(call):
            sides = self.render(one), self.render(other)
            return _in_brackets(sides[0] + Fragment(f" {sign} ") + sides[1])
        left, right = self.named(one), self.named(other)
        found = wide(left) + Fragment(f" {sign} ") + wide(right)
        return unless_any_null((left, right), clamped(found))

    def _divide(self, call: Call) -> Fragment:
        one, other = call.operands
        bounds = interval_of(one.facts)
        if bounds is not None and is_small(bounds):
            sides = self.render(one), self.render(other)
            return (
                Fragment("(") + sides[0] + Fragment(" // NULLIF(") + sides[1]
            ) + Fragment(", 0))")
        left, right = self.named(one), self.named(other)
        found = wide(left) + Fragment(" // NULLIF(") + wide(right) + Fragment(", 0)")
        is_zero = right + Fragment(" = 0 OR ")
        return unless_any_null((left, right), clamped(found), first=is_zero)

    def _negate(self, call: Call) -> Fragment:
        (value,) = call.operands
        bounds = interval_of(value.facts)
        if bounds is not None and is_small(bounds):
            return Fragment("(-") + self.render(value) + Fragment(")")
        own = self.named(value)
        return unless_any_null((own,), clamped(Fragment("-") + wide(own)))

    # -- dates ----------------------------------------------------------------

    def _shift(self, call: Call) -> Fragment:
        """Move a date by days; NULL outside years 1 to 9999."""
        moment, days = self.named(call.operands[0]), self.named(call.operands[1])
        sign = "+" if call.function is Function.ADD_DAYS else "-"
        held = Fragment("LEAST(GREATEST(") + days + Fragment(f", {-_FAR}), {_FAR})")
        number = Fragment("((") + moment + Fragment(f" - {_EPOCH}) {sign} ")
        number += held + Fragment(")")
        inside = days + Fragment(" IS NOT NULL AND ") + number
        inside += Fragment(f" BETWEEN {MIN_DAY} AND {MAX_DAY}")
        cut = Fragment("LEAST(GREATEST(") + number
        cut += Fragment(f", {MIN_DAY}), {MAX_DAY})")
        moved = Fragment(f"({_EPOCH} + CAST(") + cut + Fragment(" AS INTEGER))")
        return Fragment("(CASE WHEN ") + inside + Fragment(" THEN ") + moved + END

    def _days(self, call: Call) -> Fragment:
        start, end = map(self.render, call.operands)
        return _in_brackets(end + Fragment(" - ") + start)

    def _months(self, call: Call) -> Fragment:
        start, end = (_months_of(self.named(moment)) for moment in call.operands)
        return _in_brackets(end + Fragment(" - ") + start)

    def _years(self, call: Call) -> Fragment:
        start, end = map(self.render, call.operands)
        return Fragment("(year(") + end + Fragment(") - year(") + start + Fragment("))")

    def _age(self, call: Call) -> Fragment:
        birth, at = self.named(call.operands[0]), self.named(call.operands[1])
        early = _day_of_year(at) + Fragment(" < ") + _day_of_year(birth)
        years = Fragment("year(") + at + Fragment(") - year(") + birth
        years += Fragment(") - CAST(") + early + Fragment(" AS BIGINT)")
        later = at + Fragment(" >= ") + birth
        return Fragment("(CASE WHEN ") + later + Fragment(" THEN ") + years + END

    def _extract(self, call: Call) -> Fragment:
        part = str(call.parameters[0])
        return (
            Fragment(f"{dates.PARTS.get(part, part)}(")
            + self.render(call.operands[0])
            + Fragment(")")
        )

    def _date_of(self, call: Call) -> Fragment:
        own = self.render(call.operands[0])
        return Fragment("CAST(") + own + Fragment(" AS DATE)")

    def _age_months(self, call: Call) -> Fragment:
        birth, at = self.named(call.operands[0]), self.named(call.operands[1])
        return dates.age_months_sql(birth, at)

    def _add_months(self, call: Call) -> Fragment:
        moment, months = self.named(call.operands[0]), self.named(call.operands[1])
        return dates.add_months_sql(moment, months)

    def _add_microseconds(self, call: Call) -> Fragment:
        moment, number = self.named(call.operands[0]), self.named(call.operands[1])
        return dates.add_microseconds_sql(moment, number)

    def _time_between(self, call: Call) -> Fragment:
        return dates.time_between_sql(*map(self.render, call.operands))

    def _period(self, call: Call) -> Fragment:
        own = self.render(call.operands[0])
        return Fragment(f"CAST(date_trunc('{call.parameters[0]}', ") + own + _AS_DATE

    def _last_of_month(self, call: Call) -> Fragment:
        return Fragment("last_day(") + self.render(call.operands[0]) + Fragment(")")

    def _written_day(self, call: Call) -> Fragment:
        pieces = tuple(map(str, call.parameters))
        return dates.written_day_sql(self.named(call.operands[0]), pieces)

    # -- casts ----------------------------------------------------------------

    def _midnight_of(self, call: Call) -> Fragment:
        own = self.render(call.operands[0])
        return Fragment("CAST(") + own + Fragment(" AS TIMESTAMP)")

    def _cast_number(self, call: Call) -> Fragment:
        """Multiply, or divide and round half away from zero; NULL past 64 bits."""
        (value,) = call.operands
        missing = call.facts.scale - value.facts.scale
        if missing == 0:
            return self.render(value)
        if missing < 0:
            return rounded(self.named(value), 10**-missing)
        bounds = interval_of(call.facts)
        if bounds is not None and is_small(bounds) and not call.facts.nullable:
            return _in_brackets(self.render(value) + Fragment(f" * {10**missing}"))
        wide = self.scaled(value, call.facts.scale)
        return Fragment("TRY_CAST(") + wide + Fragment(" AS BIGINT)")

    def _read(self, call: Call) -> Fragment:
        return read_text_sql(self.named(call.operands[0]), call.facts)

    def _text_of(self, call: Call) -> Fragment:
        (value,) = call.operands
        if value.facts.scale:
            return decimal_text_sql(self.named(value), value.facts.scale)
        return Fragment("CAST(") + self.render(value) + Fragment(" AS VARCHAR)")

    # -- hierarchies and choices ----------------------------------------------

    def _level(self, call: Call) -> Fragment:
        operand = self.named(call.operands[0])
        if operand.parameters or not operand.sql.isidentifier():
            raise refuse(rules.TOO_COMPLEX, self.context.position)
        name, level = map(str, call.parameters)
        domain = HierarchyDomain(name)
        return Fragment(level_sql(domain, level, operand.sql, self.context.own))

    def _age_band(self, call: Call) -> Fragment:
        own = self.named(call.operands[0])
        width = call.parameters[0]
        start = Fragment("(") + own + Fragment(f" // {width}) * {width}")
        wide = Fragment("CAST(") + start + Fragment(" AS HUGEINT)")
        end = wide + Fragment(f" + {width} - 1")  # the last band is not cut
        return (
            Fragment("(CAST(")
            + start
            + Fragment(" AS VARCHAR) || '-' || CAST(")
            + end
            + Fragment(" AS VARCHAR))")
        )

    def _case(self, call: Call) -> Fragment:
        *pairs, otherwise = call.operands
        text = Fragment("(CASE")
        for condition, result in zip(pairs[::2], pairs[1::2], strict=True):
            text += Fragment(" WHEN ") + self.render(condition)
            text += Fragment(" THEN ") + self.render(result)
        return for_each_row(text + Fragment(" ELSE ") + self.render(otherwise) + END)

    def _switch(self, call: Call) -> Fragment:
        operand, *pairs, otherwise = call.operands
        own = _Renamed(operand, self.named(operand))
        text = Fragment("(CASE")
        for value, result in zip(pairs[::2], pairs[1::2], strict=True):
            text += Fragment(" WHEN ") + self._compare_named(Function.EQ, own, value)
            text += Fragment(" THEN ") + self.render(result)
        return for_each_row(text + Fragment(" ELSE ") + self.render(otherwise) + END)

    def _coalesce(self, call: Call) -> Fragment:
        items = listed(map(self.render, call.operands))
        return Fragment("COALESCE(") + items + Fragment(")")


@dataclass(frozen=True, slots=True)
class _Renamed:
    expression: Expression
    fragment: Fragment


_AS_DATE = Fragment(") AS DATE)")
_RENDERERS: Mapping[Function, Callable[[ExpressionRenderer, Call], Fragment]] = {
    Function.BETWEEN: ExpressionRenderer._between,  # noqa: SLF001 - its own table
    Function.IN: ExpressionRenderer._in,  # noqa: SLF001
    Function.IS_NULL: ExpressionRenderer._is_null,  # noqa: SLF001
    **dict.fromkeys(_TEXT_TESTS, ExpressionRenderer._text_test),  # noqa: SLF001
    Function.AND: ExpressionRenderer._chain,  # noqa: SLF001
    Function.OR: ExpressionRenderer._chain,  # noqa: SLF001
    Function.NOT: ExpressionRenderer._not,  # noqa: SLF001
    **dict.fromkeys(_SIGNS, ExpressionRenderer._integers),  # noqa: SLF001
    Function.DIVIDE: ExpressionRenderer._divide,  # noqa: SLF001
    Function.NEGATE: ExpressionRenderer._negate,  # noqa: SLF001
    Function.ADD_DAYS: ExpressionRenderer._shift,  # noqa: SLF001
    Function.SUBTRACT_DAYS: ExpressionRenderer._shift,  # noqa: SLF001
    Function.DAYS_BETWEEN: ExpressionRenderer._days,  # noqa: SLF001
    Function.MONTHS_BETWEEN: ExpressionRenderer._months,  # noqa: SLF001
    Function.YEARS_BETWEEN: ExpressionRenderer._years,  # noqa: SLF001
    Function.AGE_YEARS: ExpressionRenderer._age,  # noqa: SLF001
    Function.EXTRACT: ExpressionRenderer._extract,  # noqa: SLF001
    Function.DATE_OF: ExpressionRenderer._date_of,  # noqa: SLF001
    Function.AGE_MONTHS: ExpressionRenderer._age_months,  # noqa: SLF001
    Function.ADD_MONTHS: ExpressionRenderer._add_months,  # noqa: SLF001
    Function.ADD_MICROSECONDS: ExpressionRenderer._add_microseconds,  # noqa: SLF001
    Function.TIME_BETWEEN: ExpressionRenderer._time_between,  # noqa: SLF001
    Function.PERIOD: ExpressionRenderer._period,  # noqa: SLF001
    Function.LAST_OF_MONTH: ExpressionRenderer._last_of_month,  # noqa: SLF001
    Function.WRITTEN_DAY: ExpressionRenderer._written_day,  # noqa: SLF001
    Function.MIDNIGHT_OF: ExpressionRenderer._midnight_of,  # noqa: SLF001
    Function.CAST_NUMBER: ExpressionRenderer._cast_number,  # noqa: SLF001
    Function.READ: ExpressionRenderer._read,  # noqa: SLF001
    Function.TEXT_OF: ExpressionRenderer._text_of,  # noqa: SLF001
    Function.LEVEL: ExpressionRenderer._level,  # noqa: SLF001
    Function.AGE_BAND: ExpressionRenderer._age_band,  # noqa: SLF001
    Function.CASE: ExpressionRenderer._case,  # noqa: SLF001
    Function.SWITCH: ExpressionRenderer._switch,  # noqa: SLF001
    Function.COALESCE: ExpressionRenderer._coalesce,  # noqa: SLF001
    **numbers.RENDERERS,
    **texts.RENDERERS,
}


def _in_brackets(inner: Fragment) -> Fragment:
    return Fragment("(") + inner + Fragment(")")


def _unless_null(own: Fragment, *, truth: bool) -> Fragment:
    """Return a constant that is NULL where the operand is."""
    constant = "TRUE" if truth else "FALSE"
    test = Fragment("(CASE WHEN ") + own
    return test + Fragment(f" IS NULL THEN CAST(NULL AS BOOLEAN) ELSE {constant} END)")


def _months_of(moment: Fragment) -> Fragment:
    return (
        Fragment("(year(")
        + moment
        + Fragment(") * 12 + month(")
        + moment
        + (Fragment("))"))
    )


def _day_of_year(moment: Fragment) -> Fragment:
    return (
        Fragment("(month(")
        + moment
        + Fragment(") * 100 + day(")
        + moment
        + (Fragment("))"))
    )
