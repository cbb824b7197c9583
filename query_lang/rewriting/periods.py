"""Periods that OVERLAPS compares."""

from typing import TypeGuard

from privacy.schema import ColumnType
from query_lang.syntax.idioms import Overlaps
from query_lang.syntax.nodes import (
    And,
    Arithmetic,
    Case,
    CaseBranch,
    Comparison,
    Expression,
    FunctionCall,
    Interval,
    IsNull,
    Or,
    StringLiteral,
    TypedLiteral,
)
from query_lang.syntax.text_values import read_text


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
    """Return the lesser and the greater of two moments, NULL where one of them is.

    The lesser of a moment and NULL is the moment. Two days are put in order here.
    """
    one, other = pair
    place = one.position
    if isinstance(other, Interval):
        other = Arithmetic("+", one, other, place)
    if _is_day(one) and _is_day(other):
        return (one, other) if one.text <= other.text else (other, one)
    start = FunctionCall("least", (one, other), place)
    end = FunctionCall("greatest", (one, other), place)
    known = tuple(
        IsNull(moment, negated=True, position=place)
        for moment in (one, other)
        if not isinstance(moment, StringLiteral | TypedLiteral)
    )
    if not known:
        return start, end
    are_known = known[0] if len(known) == 1 else And(known, place)
    return start, Case(None, (CaseBranch(are_known, end),), None, place)


def _is_day(moment: Expression) -> TypeGuard[TypedLiteral]:
    """Whether a moment is a literal date; texts of dates sort as they do."""
    if not isinstance(moment, TypedLiteral) or moment.type != "date":
        return False
    return read_text(moment.text, ColumnType.DATE) is not None
