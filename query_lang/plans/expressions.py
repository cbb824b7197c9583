"""Bound expressions: typed, total functions of one row, and what is public of them.

An expression yields a value or NULL for every row and cannot raise. Rows are tuples of
numbered slots; a slot is made by one node of the plan and keeps its number above it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeGuard

from privacy.schema import ColumnType, Domain, Scalar

if TYPE_CHECKING:  # plans hold expressions, and subqueries hold plans
    from query_lang.plans.nodes import Node, PublicNode


@dataclass(frozen=True, slots=True)
class HalfRange:
    """Every value from ``minimum`` up, or up to ``maximum``: one of them is None."""

    minimum: Scalar | None = None
    maximum: Scalar | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What is publicly known of an expression's values.

    Attributes:
        type: Of every value that is not NULL.
        scale: Decimals of a DECIMAL, held as an integer in steps of its last place.
        nullable: False only where declaration and plan show that it is never NULL.
        constant: Whether all rows of one unit have the same value (PRIVACY 3).
        domain: Holds every value that is not NULL; None where nothing is known.
        longest: The most bytes of a text's UTF-8; None where it is not known.
    """

    type: ColumnType
    scale: int = 0
    nullable: bool = True
    constant: bool = False
    domain: Domain | HalfRange | None = None
    longest: int | None = None


TRUTH = Facts(ColumnType.BOOLEAN)


@dataclass(frozen=True, slots=True)
class FieldRef:
    """The value of a slot."""

    slot: int
    facts: Facts


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal; a number is an int where it is whole, else a Decimal."""

    value: Scalar | None
    facts: Facts


class Function(StrEnum):
    """What a call computes; operands in the order given.

    ``case``: condition, result, ..., otherwise; ``switch``: operand, then value,
    result, ..., otherwise.
    """

    EQ = "="
    NE = "<>"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    BETWEEN = "between"
    IN = "in"
    IS_NULL = "is_null"
    PREFIX = "prefix"
    SUFFIX = "suffix"
    INFIX = "infix"
    MATCHES = "matches"  # all of a text; parameter: the pattern, as written by patterns
    UPPER = "upper"  # ASCII alone
    LOWER = "lower"
    SUBSTRING = "substring"  # parameters: the first code point, from 1, and how many
    RIGHT = "right"
    TRIM = "trim"  # blanks, U+0020, alone
    LTRIM = "ltrim"
    RTRIM = "rtrim"
    REPLACE = "replace"  # parameters: what is looked for, and what is put there
    LENGTH = "length"  # in code points
    STRPOS = "strpos"  # of the first code point of the parameter, 0 where it is not
    CONCAT = "concat"  # NULL where one is
    AND = "and"
    OR = "or"
    NOT = "not"
    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    DIVIDE = "divide"  # cut towards zero; NULL by 0
    NEGATE = "negate"
    LEAST = "least"  # of those that are not NULL
    GREATEST = "greatest"
    RESCALE = "rescale"  # the same number in steps of 10**-parameter
    DIVIDE_DECIMAL = "divide_decimal"  # rounded half away from zero; NULL by 0
    MODULO = "modulo"  # with the sign of the dividend; NULL by 0
    ABS = "abs"
    SIGN = "sign"
    FLOOR = "floor"  # to whole multiples of what the parameters say
    CEILING = "ceiling"
    ROUND = "round"  # half away from zero
    TRUNCATE = "truncate"
    WIDTH_BUCKET = "width_bucket"  # parameters: from, to, number of buckets
    ADD_DAYS = "add_days"
    SUBTRACT_DAYS = "subtract_days"
    DAYS_BETWEEN = "days_between"  # from the first to the second
    MONTHS_BETWEEN = "months_between"
    YEARS_BETWEEN = "years_between"
    AGE_YEARS = "age_years"
    AGE_MONTHS = "age_months"
    ADD_MONTHS = "add_months"
    ADD_MICROSECONDS = "add_microseconds"
    TIME_BETWEEN = "time_between"  # microseconds from the first to the second
    PERIOD = "period"  # the first day of a day's period
    LAST_OF_MONTH = "last_of_month"
    WRITTEN_DAY = "written_day"
    EXTRACT = "extract"
    DATE_OF = "date_of"
    MIDNIGHT_OF = "midnight_of"
    CAST_NUMBER = "cast_number"
    READ = "read"  # what a text says, NULL where it says nothing
    TEXT_OF = "text_of"
    LEVEL = "level"
    AGE_BAND = "age_band"
    CASE = "case"
    SWITCH = "switch"
    COALESCE = "coalesce"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of other expressions; ``parameters`` are public and fixed."""

    function: Function
    operands: tuple["Expression", ...]
    facts: Facts
    parameters: tuple[Scalar, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitsEqual:
    """Two unit keys of one row: equal, or NULL where one is missing."""

    left: int
    right: int
    facts: Facts


@dataclass(frozen=True, slots=True)
class AverageRef:
    """An exact ratio ``sum / count``, NULL where the count is 0.

    It can be compared with a literal and nothing else; ``scale`` is the sum's.
    """

    sum_slot: int
    count_slot: int
    scale: int
    facts: Facts


@dataclass(frozen=True, slots=True)
class CompareAverage:
    """``average operator numerator / denominator``, on the grid of the sum.

    By cross-multiplication: ``sum * denominator operator numerator * count``. The
    numerator is at most 2**63 times the denominator, which is at most 10**9; sums stay
    below 2**63 * 10**9: all within 128 bits.
    """

    operator: Function
    average: AverageRef
    numerator: int
    denominator: int
    facts: Facts


@dataclass(frozen=True, slots=True)
class UnitInQuery:
    """``unit IN (SELECT unit ...)``: a private plan, never NULL.

    Proof: docs/proofs/subqueries.md.
    """

    unit: FieldRef
    query: "Node"
    facts: Facts


@dataclass(frozen=True, slots=True)
class ValueInQuery:
    """``value IN (SELECT item FROM public ...)``, in three-valued logic."""

    value: "Expression"
    query: "PublicNode"
    item: "Expression"
    facts: Facts


@dataclass(frozen=True, slots=True)
class ExistsInQuery:
    """``EXISTS (SELECT ... )``; conditions may read outer slots.

    Proof: docs/proofs/subqueries.md.

    Attributes:
        query: Private, tied to the outer row by ``ties``, or public without ties.
        ties: Pairs of an inner and an outer slot of unit keys, all equal.
        condition: Of inner and outer slots, or None.
        outer: The outer slots that ties and condition read, sorted.
    """

    query: "Node | PublicNode"
    ties: tuple[tuple[int, int], ...]
    condition: "Expression | None"
    outer: tuple[int, ...]
    facts: Facts


Expression = (
    FieldRef
    | Constant
    | Call
    | UnitsEqual
    | AverageRef
    | CompareAverage
    | UnitInQuery
    | ValueInQuery
    | ExistsInQuery
)


def slots_read(expression: Expression) -> frozenset[int]:
    """Return the slots of the row that an expression reads, inner ones left out."""
    return frozenset(_read(expression))


def _read(expression: Expression) -> Iterator[int]:  # noqa: C901, PLR0912 - an arm a form
    match expression:
        case FieldRef(slot):
            yield slot
        case Constant():
            return
        case Call(_, operands):
            for operand in operands:
                yield from _read(operand)
        case UnitsEqual(left, right):
            yield from (left, right)
        case AverageRef(sum_slot, count_slot):
            yield from (sum_slot, count_slot)
        case CompareAverage(_, average):
            yield from _read(average)
        case UnitInQuery(unit):
            yield from _read(unit)
        case ValueInQuery(value):
            yield from _read(value)
        case ExistsInQuery():
            yield from expression.outer


def is_same_value(one: Expression, other: Expression) -> bool:
    """Whether two expressions have one value in every row, as far as it is written.

    What is known of it may differ, but for type and scale, which it is computed in:
    WHERE is bound before it is known to hold.
    """
    match one, other:
        case FieldRef(slot), FieldRef(twin):
            return slot == twin
        case Call(function, operands, _, parameters), Call(same, others, _, also):
            made, meant = one.facts, other.facts
            return (
                (function, parameters, len(operands)) == (same, also, len(others))
                and (made.type, made.scale) == (meant.type, meant.scale)
                and all(map(is_same_value, operands, others))
            )
        case _:
            return one == other


def holds_subquery(expression: Expression) -> bool:
    """Whether an expression holds IN (SELECT ...) or EXISTS."""
    match expression:
        case UnitInQuery() | ValueInQuery() | ExistsInQuery():
            return True
        case Call(_, operands):
            return any(holds_subquery(operand) for operand in operands)
        case _:
            return False


def is_equality(expression: Expression) -> TypeGuard[Call]:
    """Whether rows can be looked up by it: one with a subquery is tested on pairs."""
    equates = isinstance(expression, Call) and expression.function is Function.EQ
    return equates and not holds_subquery(expression)


def conjuncts(expression: Expression) -> tuple[Expression, ...]:
    """Return the top-level conjuncts of a condition."""
    if isinstance(expression, Call) and expression.function is Function.AND:
        return tuple(part for item in expression.operands for part in conjuncts(item))
    return (expression,)


def truth_of(function: Function, operands: tuple[Expression, ...]) -> Call:
    """Return a boolean call: NULL only where an operand can be."""
    facts = Facts(
        ColumnType.BOOLEAN,
        nullable=any(operand.facts.nullable for operand in operands),
        constant=all(operand.facts.constant for operand in operands),
    )
    return Call(function, operands, facts)


def truth_constant(*, truth: bool) -> Constant:
    """Return a condition that holds for every row, or for none."""
    return Constant(truth, Facts(ColumnType.BOOLEAN, nullable=False, constant=True))


def is_constant_truth(expression: Expression, *, truth: bool) -> bool:
    """Whether a condition is TRUE (or FALSE) whatever the row."""
    return isinstance(expression, Constant) and expression.value is truth


def without_neutral(
    items: Iterable[Expression], *, neutral: bool
) -> tuple[Expression, ...]:
    """Return the members of a chain that can change its truth.

    Args:
        items: Joined by AND where ``neutral`` is TRUE, by OR where it is FALSE.
        neutral: What leaves the others as they are; its opposite decides alone, in
            three-valued logic too: ``unknown AND FALSE`` is FALSE.
    """
    kept = tuple(item for item in items if not is_constant_truth(item, truth=neutral))
    if any(is_constant_truth(item, truth=not neutral) for item in kept):
        return (truth_constant(truth=not neutral),)
    return kept or (truth_constant(truth=neutral),)


def restricting(items: Iterable[Expression]) -> tuple[Expression, ...]:
    """Return the conjuncts that can drop a row: all but TRUE."""
    return tuple(item for item in items if not is_constant_truth(item, truth=True))


def conjunction(items: tuple[Expression, ...]) -> Expression:
    """Return the condition that all items hold; one item is itself."""
    items = without_neutral(items, neutral=True)
    if len(items) == 1:
        return items[0]
    return truth_of(Function.AND, items)
