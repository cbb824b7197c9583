"""``+`` and ``-`` where one side is a date, a timestamp or an interval."""

from privacy.schema import ColumnType
from query_lang.binding.dates import amounts, parts, shifts
from query_lang.binding.environment import Binder
from query_lang.binding.scalars.casts import midnight_of
from query_lang.plans.expressions import Expression, Function
from query_lang.syntax import rules
from query_lang.syntax.nodes import Expression as Tree
from query_lang.syntax.refusals import refuse

INTEGER, DATE, TIMESTAMP = ColumnType.INTEGER, ColumnType.DATE, ColumnType.TIMESTAMP


def with_interval(
    operator: str, left: Tree, right: Tree, binder: Binder
) -> Expression | None:
    """Bind a date or timestamp plus or minus an interval; None where none stands.

    Raises:
        SqlNotAllowedError: Rule ``interval``: the other side is no date.
    """
    moment, by = left, right
    if operator == "+" and amounts.is_interval(left):
        moment, by = right, left
    if not amounts.is_interval(by):
        return None
    if operator not in {"+", "-"} or amounts.is_interval(moment):
        raise refuse(rules.INTERVAL, by.position)
    amount = amounts.amount_of(by, binder)
    signed = amount.multiplied(-1 if operator == "-" else 1)
    return shifts.shifted(binder.value(moment), signed, moment.position)


def of_moments(operator: str, one: Expression, other: Expression) -> Expression | None:  # noqa: PLR0911 - an arm a pair of types
    """Return a date plus or minus days, or what lies between two moments, if it is.

    Days between two dates are an integer; between timestamps, decimal seconds.
    """
    kinds = one.facts.type, other.facts.type
    if kinds == (DATE, INTEGER) and operator in {"+", "-"}:
        is_sum = operator == "+"
        function = Function.ADD_DAYS if is_sum else Function.SUBTRACT_DAYS
        return shifts.by_days(function, one, other)
    if kinds == (INTEGER, DATE) and operator == "+":
        return shifts.by_days(Function.ADD_DAYS, other, one)
    if kinds == (DATE, DATE) and operator == "-":
        return parts.days_between(other, one)
    if set(kinds) <= {DATE, TIMESTAMP} and operator == "-":
        start, end = midnight_of(other), midnight_of(one)
        return shifts.time_between(start, end, ColumnType.DECIMAL)
    return None
