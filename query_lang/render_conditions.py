"""Conditions as DuckDB SQL: total for every row, exact for numbers of any scale."""

from decimal import Decimal

from privacy.schema import Scalar
from query_lang.comparisons import StoredComparison, compare_on_grid
from query_lang.fragments import Fragment, identifier, listed
from query_lang.literals import NUMBERS
from query_lang.predicates import (
    BooleanColumn,
    ColumnRef,
    CompareColumns,
    CompareLiteral,
    Conjunction,
    Disjunction,
    InValues,
    Negation,
    NullTest,
    Predicate,
)
from query_lang.syntax import ComparisonOperator


def render_condition(predicate: Predicate) -> Fragment:
    """Return the SQL of a condition; it yields TRUE, FALSE or NULL, never an error."""
    match predicate:
        case Conjunction(items):
            return _in_brackets(listed(map(render_condition, items), " AND "))
        case Disjunction(items):
            return _in_brackets(listed(map(render_condition, items), " OR "))
        case Negation(item):
            return Fragment("(NOT ") + render_condition(item) + Fragment(")")
        case _:
            return _test(predicate)


def _test(
    predicate: CompareLiteral | CompareColumns | InValues | NullTest | BooleanColumn,
) -> Fragment:
    match predicate:
        case CompareLiteral(operator, ref, value):
            rendered = _literal_comparison(operator, ref, value)
        case CompareColumns(operator, left, right):
            rendered = _column_comparison(operator, left, right)
        case InValues(ref, values):
            rendered = _membership(ref, values)
        case NullTest(ref):
            rendered = Fragment(f"({_name(ref)} IS NULL)")
        case _:
            rendered = Fragment(_name(predicate.column))
    return rendered


def _in_brackets(inner: Fragment) -> Fragment:
    return Fragment("(") + inner + Fragment(")")


def _name(ref: ColumnRef) -> str:
    return identifier(ref.column.name)


def _literal_comparison(
    operator: ComparisonOperator, ref: ColumnRef, value: Scalar
) -> Fragment:
    if ref.column.type not in NUMBERS:
        return Fragment(f"({_name(ref)} {operator} ?)", (value,))
    found = compare_on_grid(operator, _number(value), ref.column)
    if isinstance(found, StoredComparison):
        return Fragment(f"({_name(ref)} {found.operator} ?)", (found.value,))
    return _unless_null(ref, truth=found)


def _unless_null(ref: ColumnRef, *, truth: bool) -> Fragment:
    """Return a constant that is NULL where the column is."""
    constant = "TRUE" if truth else "FALSE"
    return Fragment(
        f"(CASE WHEN {_name(ref)} IS NULL THEN CAST(NULL AS BOOLEAN) "
        f"ELSE {constant} END)"
    )


def _membership(ref: ColumnRef, values: tuple[Scalar, ...]) -> Fragment:
    stored = _stored_values(ref, values)
    if not stored:
        return _unless_null(ref, truth=False)
    marks = ", ".join("?" for _ in stored)
    return Fragment(f"({_name(ref)} IN ({marks}))", stored)


def _stored_values(ref: ColumnRef, values: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """Return what is stored for each value; what no row can hold is left out."""
    if ref.column.type not in NUMBERS:
        return values
    found = [compare_on_grid("=", _number(value), ref.column) for value in values]
    return tuple(f.value for f in found if isinstance(f, StoredComparison))


def _number(value: Scalar) -> int | Decimal:
    if isinstance(value, int | Decimal):
        return value
    message = "a number stands beside a number"  # binding holds this
    raise TypeError(message)


def _column_comparison(
    operator: ComparisonOperator, left: ColumnRef, right: ColumnRef
) -> Fragment:
    """Compare two columns; numbers of two scales in 128 bits, which cannot overflow."""
    scale = max(left.column.scale, right.column.scale)
    return Fragment(f"({_scaled(left, scale)} {operator} {_scaled(right, scale)})")


def _scaled(ref: ColumnRef, scale: int) -> str:
    missing = scale - ref.column.scale
    if missing == 0:
        return _name(ref)
    return f"CAST({_name(ref)} AS HUGEINT) * CAST({10**missing} AS HUGEINT)"
