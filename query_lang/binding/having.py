"""HAVING at the top: a parsed condition over what cells show."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from privacy.schema import ColumnType, Scalar
from query_lang.plans.compiled import (
    KeyShown,
    NoisyComparison,
    NoisyCondition,
    NoisyConstant,
    NoisyIn,
    NoisyIsNull,
    NoisyTruth,
    Shown,
)
from query_lang.plans.expressions import Facts
from query_lang.plans.literals import (
    LITERALS,
    NUMBERS,
    Literal,
    literal_truth,
    typed_value,
)
from query_lang.syntax import rules
from query_lang.syntax.logic import All, AnyOf, Negation
from query_lang.syntax.nodes import (
    And,
    Between,
    BooleanLiteral,
    Comparison,
    ComparisonOperator,
    InList,
    IsNull,
    Not,
    Or,
)
from query_lang.syntax.nodes import (
    Expression as Tree,
)
from query_lang.syntax.refusals import refuse


def _no_key(_: Tree) -> NoisyTruth | None:
    return None


@dataclass(frozen=True, slots=True)
class HavingBinder:
    """Binds conditions on noisy values; what a name shows is the caller's to say.

    Attributes:
        shown: The key or number that an expression is; refuses what is none.
        facts: The type of all that ``shown`` has returned.
        key: The truth of an expression that is a key as a whole, or None.
    """

    shown: Callable[[Tree], Shown]
    facts: Mapping[Shown, Facts]
    key: Callable[[Tree], NoisyTruth | None] = _no_key

    def bind(self, tree: Tree) -> NoisyCondition:
        """Return what a condition means.

        Raises:
            QueryError: It compares types that do not meet, or speaks of what is neither
                a key nor a number of the answer.
        """
        key = self.key(tree)
        return self._compound(tree) if key is None else key

    def _compound(self, tree: Tree) -> NoisyCondition:  # noqa: C901, PLR0911, PLR0912 - a table of forms
        match tree:
            case And(items):
                return All(tuple(self.bind(item) for item in items))
            case Or(items):
                return AnyOf(tuple(self.bind(item) for item in items))
            case Not(item):
                return Negation(self.bind(item))
            case Comparison(operator, left, right):
                return self._comparison(operator, left, right)
            case Between(value, low, high, negated):
                both: NoisyCondition = All(
                    (
                        self._comparison(">=", value, low),
                        self._comparison("<=", value, high),
                    )
                )
                return Negation(both) if negated else both
            case BooleanLiteral(truth):
                return NoisyConstant(truth)
            case InList(value, items, negated):
                found = self._in_list(value, items)
                return Negation(found) if negated else found
            case IsNull(value, negated):
                missing = NoisyIsNull(self.shown(value))
                return Negation(missing) if negated else missing
            case _:
                return self._truth(tree)

    def _in_list(self, value: Tree, items: tuple[Tree, ...]) -> NoisyCondition:
        if isinstance(value, LITERALS):
            held = [self._are_equal(value, item) for item in items]  # all are checked
            return NoisyConstant(any(held))
        shown = self.shown(value)
        return NoisyIn(shown, tuple(self._literal(item, shown) for item in items))

    def _are_equal(self, value: Literal, item: Tree) -> bool:
        if not isinstance(item, LITERALS):
            raise refuse(rules.IN_LIST_ITEM, item.position)
        return literal_truth("=", value, item)

    def _truth(self, tree: Tree) -> NoisyCondition:
        shown = self.shown(tree)
        boolean = self.facts[shown].type is ColumnType.BOOLEAN
        if not isinstance(shown, KeyShown) or not boolean:
            raise refuse(rules.HAVING_FORM, tree.position)
        return NoisyTruth(shown)

    def _comparison(
        self, operator: ComparisonOperator, left: Tree, right: Tree
    ) -> NoisyCondition:
        if isinstance(left, LITERALS):
            if isinstance(right, LITERALS):
                return NoisyConstant(literal_truth(operator, left, right))
            other = self.shown(right)
            return NoisyComparison(operator, self._literal(left, other), other)
        first = self.shown(left)
        if isinstance(right, LITERALS):
            return NoisyComparison(operator, first, self._literal(right, first))
        second = self.shown(right)
        kinds = {self.facts[first].type, self.facts[second].type}
        if len(kinds) > 1 and not kinds <= NUMBERS:
            raise refuse(rules.COLUMN_TYPES, right.position)
        return NoisyComparison(operator, first, second)

    def _literal(self, tree: Tree, beside: Shown) -> Scalar:
        if not isinstance(tree, LITERALS):
            raise refuse(rules.HAVING_FORM, tree.position)
        return typed_value(tree, self.facts[beside], "this value")
