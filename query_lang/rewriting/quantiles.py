"""Quantiles of other dialects: all are the quantile of fixed public bins.

Whether a dialect interpolates or takes a value that occurs, here the answer lies in a
bin of the declared bounds (CONTRACT 3): no value of one row is shown.
"""

from decimal import Decimal
from typing import Final

from query_lang.syntax import rules
from query_lang.syntax.idioms import ArrayElement, OtherCall, QuantileAt, WithinGroup
from query_lang.syntax.nodes import AggregateCall, Expression, NumberLiteral
from query_lang.syntax.refusals import refuse

QUANTILES: Final = frozenset(
    {
        "APPROX_PERCENTILE",
        "APPROX_QUANTILE",
        "PERCENTILE",
        "PERCENTILE_APPROX",
        "QUANTILE_CONT",
        "QUANTILE_DISC",
    }
)
"""Calls with the value and the fraction as their arguments."""


def plain_quantile(tree: OtherCall) -> Expression:
    """Rewrite ``QUANTILE_CONT(x, q)`` and the like."""
    return AggregateCall("quantile", False, tree.arguments, (), tree.position)  # noqa: FBT003 - fields in their order


def within_group(tree: WithinGroup) -> Expression:
    """Rewrite ``PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x [DESC])``.

    NULLs are left out, so where they are ordered does not matter.

    Raises:
        SqlNotAllowedError: It has no fraction, or not one order.
    """
    if len(tree.arguments) != 1 or len(tree.order_by) != 1:
        raise refuse(rules.WITHIN_GROUP, tree.position)
    (fraction,), (order,) = tree.arguments, tree.order_by
    if order.descending:
        fraction = _from_above(fraction)
    arguments = (order.expression, fraction)
    return AggregateCall("quantile", False, arguments, (), tree.position)  # noqa: FBT003 - fields in their order


def quantile_at(tree: QuantileAt) -> Expression:
    """Rewrite ``APPROX_QUANTILES(x, n)[OFFSET(k)]``: the quantile k / n.

    Raises:
        SqlNotAllowedError: It is the least or the greatest value, or none.
    """
    at = tree.at - tree.word.endswith("ORDINAL")
    if not 0 < at < tree.parts:
        hint = "OFFSET(0) and OFFSET(n) are the values of one row: write OFFSET(1)"
        raise refuse(rules.QUANTILE, tree.position, hint=hint)
    fraction = NumberLiteral(f"{Decimal(at) / tree.parts:f}", tree.position)
    arguments = (tree.value, fraction)
    return AggregateCall("quantile", False, arguments, (), tree.position)  # noqa: FBT003 - fields in their order


def array_element(tree: ArrayElement) -> Expression:
    """Rewrite ``ARRAY_AGG(x ORDER BY y)[OFFSET(0)]``: the first of an order.

    Raises:
        SqlNotAllowedError: It is another than the first.
    """
    first = 0 if tree.word.endswith("OFFSET") else 1
    if tree.at != first or tree.limit == 0:
        hint = "the first and the last of an order are FIRST and LAST(x ORDER BY y)"
        raise refuse(rules.AGGREGATE, tree.position, hint=hint)
    return AggregateCall("first", False, (tree.value,), tree.order_by, tree.position)  # noqa: FBT003 - fields in their order


def _from_above(fraction: Expression) -> Expression:
    if not isinstance(fraction, NumberLiteral):
        return fraction  # refused by binding, as it is
    return NumberLiteral(f"{1 - Decimal(fraction.text):f}", fraction.position)
