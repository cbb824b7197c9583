"""Comparisons: which types compare, and exact averages beside literals."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from privacy.schema import ColumnType
from query_lang.binding.scalars.casts import midnight_of
from query_lang.binding.scope import type_words
from query_lang.plans.expressions import (
    AverageRef,
    CompareAverage,
    Expression,
    Facts,
    Function,
)
from query_lang.plans.intervals import MAX_INTEGER, MIN_INTEGER
from query_lang.plans.literals import LITERALS, NUMBERS, typed_value
from query_lang.syntax import rules
from query_lang.syntax.nodes import Expression as Tree
from query_lang.syntax.refusals import refuse

FLIPPED: Mapping[Function, Function] = {
    Function.EQ: Function.EQ,
    Function.NE: Function.NE,
    Function.LT: Function.GT,
    Function.LE: Function.GE,
    Function.GT: Function.LT,
    Function.GE: Function.LE,
}
MAX_SCALE_GAP = 19  # 2**63 * 10**19 fits 128 bits
MAX_AVERAGE_DENOMINATOR = 10**9


def same_moments(one: Expression, other: Expression) -> tuple[Expression, Expression]:
    """Return two values; a date beside a timestamp as its midnight."""
    if {one.facts.type, other.facts.type} == {ColumnType.DATE, ColumnType.TIMESTAMP}:
        return midnight_of(one), midnight_of(other)
    return one, other


def check_comparable(
    left: Expression, right: Expression, shown: tuple[str, str], place: Tree
) -> None:
    """Refuse a comparison of types that do not fit.

    Raises:
        SqlNotAllowedError: Rule ``column_types``.
    """
    one, other = left.facts, right.facts
    both_numbers = {one.type, other.type} <= NUMBERS
    near = abs(one.scale - other.scale) <= MAX_SCALE_GAP
    if (one.type is not other.type and not both_numbers) or not near:
        words = type_words(one, shown[0]), type_words(other, shown[1])
        raise refuse(
            rules.COLUMN_TYPES,
            place.position,
            detail=f"{words[0]} and {words[1]} do not compare",
        )


def compare_average(operator: Function, average: AverageRef, right: Tree) -> Expression:
    """Bind ``average operator literal`` as a comparison of integers.

    Raises:
        SqlNotAllowedError: No literal, or one with more than nine decimals.
    """
    if not isinstance(right, LITERALS):
        raise refuse(rules.AVERAGE_OPAQUE, right.position)
    value = typed_value(right, Facts(ColumnType.DECIMAL), "an average")
    if not isinstance(value, int | Decimal):
        raise refuse(rules.AVERAGE_OPAQUE, right.position)
    if Fraction(value).denominator > MAX_AVERAGE_DENOMINATOR:
        raise refuse(
            rules.LITERAL_RANGE,
            right.position,
            detail="beside an average, a number has at most nine decimals",
        )
    steps = Fraction(value) * 10**average.scale
    # beyond 64 bits every average lies on one side of it
    held = max(Fraction(MIN_INTEGER - 1), min(Fraction(MAX_INTEGER + 1), steps))
    facts = Facts(
        ColumnType.BOOLEAN,
        nullable=average.facts.nullable,
        constant=average.facts.constant,
    )
    return CompareAverage(operator, average, held.numerator, held.denominator, facts)
