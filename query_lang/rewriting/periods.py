"""Periods that OVERLAPS compares."""

from query_lang.syntax.idioms import Overlaps
from query_lang.syntax.nodes import (
    And,
    Arithmetic,
    Case,
    CaseBranch,
    Comparison,
    Expression,
    Interval,
    IsNull,
    Or,
    StringLiteral,
    TypedLiteral,
)


def overlaps(tree: Overlaps) -> Expression:
    """Rewrite OVERLAPS: of the periods from each start until before its end.

    A start after its end is the end, and a period without length is its start alone, as
    in PostgreSQL; unknown where an end is that it hangs on.
    """
    place = tree.position
    (start, end), (other_start, other_end) = map(_period, (tree.one, tree.other))

    def is_in(
        later: Expression, until: Expression, first: Expression, last: Expression
    ) -> Expression:
        """Whether a period that begins later begins before another ends.

        Of no period ``last < first`` is true: it is unknown where ``last`` is.
        """
        begins = Comparison("<", later, until, place)
        return Or((begins, Comparison("<", last, first, place)), place)

    earlier = Comparison("<", start, other_start, place)
    later = Comparison("<", other_start, start, place)
    lasting = Comparison("<=", start, end, place)
    other_lasting = Comparison("<=", other_start, other_end, place)
    at_once = Comparison("=", start, other_start, place)
    return Or(
        (
            And((earlier, is_in(other_start, end, other_start, other_end)), place),
            And((later, is_in(start, other_end, start, end)), place),
            And((at_once, lasting, other_lasting), place),
        ),
        place,
    )


def _period(pair: tuple[Expression, ...]) -> tuple[Expression, Expression]:
    """Return the lesser and the greater of two moments, NULL where one of them is."""
    one, other = pair
    place = one.position
    if isinstance(other, Interval):
        other = Arithmetic("+", one, other, place)
    turned = Comparison(">", one, other, place)
    is_other: Expression = turned
    if not isinstance(one, StringLiteral | TypedLiteral):
        is_null = IsNull(one, negated=False, position=place)
        is_other = Or((turned, is_null), place)
    start = Case(None, (CaseBranch(is_other, other),), one, place)
    ordered = Comparison("<=", one, other, place)
    branches = (CaseBranch(ordered, other), CaseBranch(turned, one))
    return start, Case(None, branches, None, place)
