"""Bound expressions to terms. Proof: docs/proofs/normal_form.md."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from query_lang.normalising.cases import case, coalesce
from query_lang.normalising.comparisons import between, compared, like, one_of
from query_lang.normalising.conditions import Conditions, chain
from query_lang.normalising.numbers import computed_sum
from query_lang.normalising.terms import (
    Term,
    condition_facts,
    constant,
    read_as,
    scalar_parameter,
    term,
    truth,
)
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

_COMPARISONS: Final = frozenset(
    {Function.EQ, Function.NE, Function.LT, Function.LE, Function.GT, Function.GE}
)
_LIKES: Final = frozenset({Function.PREFIX, Function.SUFFIX, Function.INFIX})
_COMMUTATIVE: Final = frozenset(
    {Function.ADD, Function.MULTIPLY, Function.LEAST, Function.GREATEST}
)
_SUMS: Final = frozenset(
    {
        Function.ADD,
        Function.SUBTRACT,
        Function.MULTIPLY,
        Function.NEGATE,
        Function.ADD_DAYS,
        Function.SUBTRACT_DAYS,
        Function.DAYS_BETWEEN,
    }
)


class Subqueries(Protocol):
    """Reads IN (SELECT ...) and EXISTS over the rows around them."""

    def exists(self, expression: ExistsInQuery, around: "TermReader") -> Term:
        """Return EXISTS as a term."""
        ...

    def unit_in(self, expression: UnitInQuery, around: "TermReader") -> Term:
        """Return ``unit IN (SELECT unit ...)`` as a term."""
        ...

    def value_in(self, expression: ValueInQuery, around: "TermReader") -> Term:
        """Return ``value IN (SELECT item FROM public ...)`` as a term."""
        ...


class TermReader:
    """Reads the expressions over one relation's rows.

    Args:
        columns: What each slot is.
        subqueries: Reads what is in brackets.
        conditions: Shared by the whole question.
        outer: Of the rows around a subquery.
    """

    def __init__(
        self,
        columns: Mapping[int, Term],
        subqueries: Subqueries,
        conditions: Conditions,
        outer: "TermReader | None" = None,
    ) -> None:
        self.columns = columns
        self.conditions = conditions
        self._subqueries = subqueries
        self._outer = outer

    def slot(self, slot: int) -> Term:
        """Return what a slot is; one of the rows around is marked as such."""
        own = self.columns.get(slot)
        if own is not None:
            return own
        if self._outer is None:
            message = f"slot {slot} is made by no node below"
            raise AssertionError(message)
        around = self._outer.slot(slot)
        return term("outer", (around,), around.facts)

    def read(self, expression: Expression) -> Term:  # noqa: C901, PLR0911, PLR0912 - an arm a form
        """Return an expression as a term."""
        match expression:
            case FieldRef(slot, facts):
                found = self.slot(slot)
                is_stored = found.head in {"column", "matched", "outer"}
                return read_as(found, facts) if is_stored else found
            case Constant(value, facts):
                if isinstance(value, bool):
                    return truth(holds=value)
                return constant(value, facts)
            case Call():
                return self._call(expression)
            case UnitsEqual(left, right):
                return units_equal(self.slot(left), self.slot(right))
            case AverageRef(total, number):
                parts = self.slot(total), self.slot(number)
                return term("ratio", parts, expression.facts, expression.scale)
            case CompareAverage():
                return self._average(expression)
            case ExistsInQuery():
                return self._subqueries.exists(expression, self)
            case UnitInQuery():
                return self._subqueries.unit_in(expression, self)
            case ValueInQuery():
                return self._subqueries.value_in(expression, self)

    def holds(self, expression: Expression) -> Term:
        """Return a condition of which it matters alone whether it is TRUE."""
        return self.conditions.holding(self.read(expression))

    def _average(self, expression: CompareAverage) -> Term:
        average = expression.average
        parts = self.slot(average.sum_slot), self.slot(average.count_slot)
        ends = str(expression.numerator), str(expression.denominator)
        operator = str(expression.operator)
        return term("average", parts, expression.facts, operator, *ends)

    def _call(self, call: Call) -> Term:  # noqa: PLR0911 - an arm a form
        parts = [self.read(operand) for operand in call.operands]
        match call.function:
            case Function.AND | Function.OR:
                return chain(str(call.function), parts)
            case Function.NOT:
                return self.conditions.negated(parts[0])
            case Function.IS_NULL:
                return self.conditions.is_null(parts[0])
            case Function.CASE:
                branches = list(zip(parts[:-1:2], parts[1::2], strict=True))
                return case(branches, parts[-1], call.facts, self.conditions)
            case Function.SWITCH:
                return self._switch(parts, call)
            case Function.COALESCE:
                return coalesce(parts, call.facts, self.conditions)
            case _:
                return self._of_values(call, parts)

    def _switch(self, parts: Sequence[Term], call: Call) -> Term:
        operand, *rest = parts
        branches = [
            (compared(Function.EQ, operand, value, self.conditions), result)
            for value, result in zip(rest[:-1:2], rest[1::2], strict=True)
        ]
        return case(branches, rest[-1], call.facts, self.conditions)

    def _of_values(self, call: Call, parts: Sequence[Term]) -> Term:  # noqa: PLR0911 - an arm a form
        function = call.function
        if function in _COMPARISONS:
            return compared(function, parts[0], parts[1], self.conditions)
        if function is Function.BETWEEN:
            return between(parts[0], parts[1], parts[2], self.conditions)
        if function is Function.IN:
            return one_of(parts[0], parts[1:], self.conditions)
        if function in _LIKES:
            return like(function, parts[0], str(call.parameters[0]))
        found = computed_sum(function, parts, call.facts) if function in _SUMS else None
        return found or _computed(call, parts)


def _computed(call: Call, parts: Sequence[Term]) -> Term:
    """Return a function of values that has no other form."""
    ordered = list(parts)
    if call.function in _COMMUTATIVE:
        ordered.sort(key=lambda part: part.key)
    shown = [scalar_parameter(parameter) for parameter in call.parameters]
    return term(str(call.function), ordered, call.facts, *shown)


def units_equal(left: Term, right: Term) -> Term:
    """Return whether two unit keys are equal; NULL where one is missing."""
    if left.key == right.key and not left.facts.nullable:
        return truth(holds=True)
    parts = sorted((left, right), key=lambda part: part.key)
    return term("units_equal", parts, condition_facts(*parts))
