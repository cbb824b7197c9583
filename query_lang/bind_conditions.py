"""Conditions: names and literals given types, every form brought to a predicate."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from privacy.schema import Column, ColumnType, Scalar
from query_lang import rules
from query_lang.compiled import QueryWarning
from query_lang.literals import (
    LITERALS,
    NUMBERS,
    Literal,
    is_outside_domain,
    typed_value,
)
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
from query_lang.refusals import refuse
from query_lang.rules import Rule
from query_lang.scope import Scope, column_type_words
from query_lang.syntax import (
    And,
    Between,
    Comparison,
    ComparisonOperator,
    CountDistinct,
    CountRows,
    Expression,
    InList,
    IsNull,
    Name,
    Not,
    Or,
    Position,
)

_FLIPPED: Mapping[ComparisonOperator, ComparisonOperator] = {
    "=": "=",
    "<>": "<>",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}
_MAX_SCALE_GAP = 19  # 2**63 * 10**19 fits 128 bits


@dataclass(slots=True)
class ConditionBinder:
    """Binds the conditions of one scope and notes what to warn of."""

    scope: Scope
    warnings: list[QueryWarning] = field(default_factory=list)

    def bind(self, tree: Expression) -> Predicate:
        """Return the predicate of a condition.

        Raises:
            UnknownColumnError: A name means no column.
            SqlNotAllowedError: A type does not fit, or the form is not a condition.
        """
        match tree:
            case And(items):
                return Conjunction(self._chain(items, And))
            case Or(items):
                return Disjunction(self._chain(items, Or))
            case Not(item):
                return Negation(self.bind(item))
            case _:
                return self._bind_predicate(tree)

    def _chain(
        self, items: tuple[Expression, ...], kind: type[And | Or]
    ) -> tuple[Predicate, ...]:
        """Bind a chain; brackets within it of the same kind are flattened."""
        bound: list[Predicate] = []
        for item in items:
            if isinstance(item, And | Or) and isinstance(item, kind):
                bound.extend(self._chain(item.items, kind))
            else:
                bound.append(self.bind(item))
        return tuple(bound)

    def _bind_predicate(self, tree: Expression) -> Predicate:
        bound: Predicate
        match tree:
            case Comparison(operator, left, right):
                bound = self._compare(operator, left, right)
            case Between(value, low, high, negated):
                least = self._compare(">=", value, low)
                most = self._compare("<=", value, high)
                bound = _negated(Conjunction((least, most)), negated=negated)
            case InList(value, items, negated):
                bound = _negated(self._in(value, items), negated=negated)
            case IsNull(value, negated):
                column = self._column(value, rules.IS_NULL_OPERAND)
                bound = _negated(NullTest(column), negated=negated)
            case Name():
                bound = self._boolean_column(tree)
            case _:
                raise _misplaced(tree, rules.CONDITION)
        return bound

    def _boolean_column(self, name: Name) -> Predicate:
        ref = self.scope.column(name)
        if ref.column.type is not ColumnType.BOOLEAN:
            raise refuse(
                rules.BOOLEAN_NEEDED,
                name.position,
                detail=f"{column_type_words(ref.column)} is not a condition",
            )
        return BooleanColumn(ref)

    def _in(self, value: Expression, items: tuple[Expression, ...]) -> Predicate:
        column = self._column(value, rules.OPERAND)
        values = [self._value(item, column) for item in items]
        return InValues(column, tuple(dict.fromkeys(values)))

    def _compare(
        self, operator: ComparisonOperator, left: Expression, right: Expression
    ) -> Predicate:
        if isinstance(left, LITERALS) and isinstance(right, Name):
            return self._compare(_FLIPPED[operator], right, left)
        column = self._column(left, rules.OPERAND)
        if isinstance(right, Name):
            other = self.scope.column(right)
            _check_types(column.column, other.column, right.position)
            return CompareColumns(operator, column, other)
        return CompareLiteral(operator, column, self._value(right, column))

    def _column(self, tree: Expression, rule: Rule) -> ColumnRef:
        if not isinstance(tree, Name):
            raise _misplaced(tree, rule)
        return self.scope.column(tree)

    def _value(self, tree: Expression, ref: ColumnRef) -> Scalar:
        if not isinstance(tree, LITERALS):
            raise _misplaced(tree, rules.OPERAND)
        value = typed_value(tree, ref.column)
        if is_outside_domain(value, ref.column):
            self._warn_outside(ref.column, tree)
        return value

    def _warn_outside(self, column: Column, literal: Literal) -> None:
        place = f"line {literal.position.line}, column {literal.position.column}"
        self.warnings.append(
            QueryWarning(
                "literal_outside_domain",
                f"the literal at {place} lies outside the declared domain of "
                f"{column.name}; no row holds it",
            )
        )


def _negated(predicate: Predicate, *, negated: bool) -> Predicate:
    return Negation(predicate) if negated else predicate


def _misplaced(tree: Expression, rule: Rule) -> Exception:
    aggregate = isinstance(tree, CountRows | CountDistinct)
    return refuse(rules.AGGREGATE_PLACE if aggregate else rule, tree.position)


def _check_types(left: Column, right: Column, position: Position) -> None:
    both_numbers = {left.type, right.type} <= NUMBERS
    near = abs(left.scale - right.scale) <= _MAX_SCALE_GAP
    if (left.type is not right.type and not both_numbers) or not near:
        raise refuse(
            rules.COLUMN_TYPES,
            position,
            detail=f"{column_type_words(left)} and {column_type_words(right)} "
            "do not compare",
        )
