"""Expressions: names and literals given types, every form brought to a total call."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from privacy.errors import SqlNotAllowedError
from privacy.schema import ColumnType, Scalar, ValuesDomain
from query_lang.binding.comparisons import (
    FLIPPED,
    check_comparable,
    compare_average,
    same_moments,
)
from query_lang.binding.dates import amounts, calls, shifts
from query_lang.binding.environment import Binder, Environment
from query_lang.binding.functions import (
    arithmetic,
    coalesce,
    extreme,
    hierarchy_function,
    unified,
)
from query_lang.binding.outside_domain import (
    declared_instead,
    outside_of,
)
from query_lang.binding.scalars import matching, texts
from query_lang.binding.scalars.casts import cast
from query_lang.binding.scalars.code_texts import warn_of_end, warn_of_equal
from query_lang.binding.scalars.floats import warn_of_halves
from query_lang.binding.scalars.numbers import (
    NUMBER_FUNCTIONS,
    negated,
    number_function,
    operand,
    rescaled,
)
from query_lang.binding.scope import Scope, UnitColumn
from query_lang.plans.expressions import (
    AverageRef,
    Call,
    Constant,
    Expression,
    Facts,
    FieldRef,
    Function,
    UnitsEqual,
    is_constant_truth,
    truth_constant,
    truth_of,
    without_neutral,
)
from query_lang.plans.literals import (
    LITERALS,
    Literal,
    constant_facts,
    ends_domain,
    is_outside_domain,
    literal_truth,
    lone_constant,
    typed_value,
)
from query_lang.syntax import rules
from query_lang.syntax.alike import written_alike
from query_lang.syntax.nodes import (
    AggregateCall,
    And,
    Arithmetic,
    Between,
    Case,
    CaseBranch,
    Cast,
    Comparison,
    CountRows,
    CurrentDate,
    Exists,
    Extract,
    FunctionCall,
    InList,
    InQuery,
    IsNull,
    Like,
    Name,
    Negative,
    Not,
    NullLiteral,
    NumberLiteral,
    Or,
    Position,
    Star,
    TypedLiteral,
    WindowCall,
)
from query_lang.syntax.nodes import (
    Expression as Tree,
)
from query_lang.syntax.refusals import refuse

_HIERARCHY_FUNCTIONS = frozenset(
    {"age_band", "icd_block", "icd_category", "icd_chapter", "level"}
)
_EQUATING = frozenset({Function.EQ, Function.NE})
_ENDING = frozenset({Function.LE, Function.GT})
_CHOICES = frozenset({"coalesce", "greatest", "least"})
_WINDOW_FUNCTIONS = frozenset(
    {"first_value", "lag", "last_value", "lead", "row_number"}
)
_OF_RESULTS = frozenset({"exp", "ln", "sqrt"})
_FUNCTIONS: Mapping[str, Callable[[FunctionCall, Binder], Expression]] = {
    **dict.fromkeys(calls.NAMES, calls.date_call),
    **dict.fromkeys(_HIERARCHY_FUNCTIONS, hierarchy_function),
    **dict.fromkeys(NUMBER_FUNCTIONS, number_function),
    **dict.fromkeys(texts.TEXT_FUNCTIONS, texts.text_function),
    "regexp_like": matching.regexp_like,
}


class SubqueryBinder(Protocol):
    """Binds IN (SELECT ...) and EXISTS in a scope."""

    def in_query(self, tree: InQuery, binder: "ExpressionBinder") -> Expression:
        """Bind ``value [NOT] IN (SELECT ...)``, negation left to the caller."""
        ...

    def exists(self, tree: Exists, binder: "ExpressionBinder") -> Expression:
        """Bind ``EXISTS (SELECT ...)``."""
        ...


class ExpressionBinder:
    """Binds the expressions of one scope over its rows.

    Subclasses say what aggregates and windows mean where they stand.
    """

    joins = False  # whether these are the conditions of a join

    def __init__(
        self, scope: Scope, environment: Environment, subqueries: SubqueryBinder
    ) -> None:
        self.scope = scope
        self.environment = environment
        self.subqueries = subqueries
        self._bound: dict[InQuery | Exists, Expression] = {}
        self._once: dict[int, tuple[Tree, Expression]] = {}
        self._lists: dict[Hashable, Expression] = {}
        self._depth = 0

    # -- what stands where ----------------------------------------------------

    def value(self, tree: Tree) -> Expression:
        """Bind what is used as a value: anything but a unit key or an average.

        Raises:
            UnknownColumnError: A name means no column.
            SqlNotAllowedError: A type does not fit, or a form breaks a rule.
        """
        bound = self.operand(tree)
        if isinstance(bound, AverageRef):
            raise self.environment.average_refusal(bound, tree.position)
        return bound

    def condition(self, tree: Tree) -> Expression:
        """Bind what is used as a condition.

        Raises:
            UnknownColumnError: A name means no column.
            SqlNotAllowedError: It is no condition.
        """
        if isinstance(tree, NullLiteral):
            raise refuse(rules.CONDITION, tree.position)
        bound = self.value(tree)
        if bound.facts.type is not ColumnType.BOOLEAN:
            kind = bound.facts.type.value
            raise refuse(
                rules.BOOLEAN_NEEDED,
                tree.position,
                detail=f"{describe(tree)} ({kind}) is not a condition",
            )
        return bound

    def aggregate(self, tree: AggregateCall | CountRows) -> Expression:
        """Bind an aggregate; refused in the row-wise parts of a query."""
        raise refuse(rules.AGGREGATE_PLACE, tree.position)

    def window(self, tree: WindowCall) -> Expression:
        """Bind a window function; refused outside derived tables' SELECT lists."""
        raise refuse(rules.WINDOW_PLACE, tree.position)

    def operand(self, tree: Tree) -> Expression:
        """Bind any expression; averages may come out.

        Raises:
            SqlNotAllowedError: Written out it is too long, or as ``value`` has it.
        """
        if id(tree) in self._once:
            return self._once[id(tree)][1]
        self._depth += 1
        try:
            found = self._listed(tree)
        finally:
            self._depth -= 1
        whole = self._depth == 0
        self.environment.sizes.check(found, tree.position, whole=whole)
        return found

    def _listed(self, tree: Tree) -> Expression:
        """Bind an expression; what makes or reads a list does so once in a scope."""
        key = written_alike(tree)
        if key is not None and key in self._lists:
            return self._lists[key]
        found = self._form(tree)
        lists = self.environment.sizes.check_listed(found, tree.position)
        lists = lists or isinstance(found.facts.domain, ValuesDomain)
        if key is not None and lists:
            self._lists[key] = found
        return found

    def _form(self, tree: Tree) -> Expression:  # noqa: PLR0911 - an arm a form
        match tree:
            case Name():
                return self.name(tree)
            case CurrentDate():
                today = self.environment.dataset.snapshot_date
                self.environment.warn(
                    "current_date",
                    f"CURRENT_DATE is {today} here, the day of the dataset's snapshot",
                )
                return Constant(today, constant_facts(today, ColumnType.DATE))
            case AggregateCall() | CountRows():
                return self.aggregate(tree)
            case WindowCall():
                return self.window(tree)
            case _ if isinstance(tree, LITERALS):
                return lone_constant(tree)
            case _:
                return self._operator(tree)

    def name(self, tree: Name) -> Expression:
        """Bind a name as a value."""
        return self.scope.value(tree)

    # -- conditions -----------------------------------------------------------

    def _operator(self, tree: Tree) -> Expression:  # noqa: C901, PLR0911, PLR0912 - a table of forms
        match tree:
            case And(items):
                return self._chain(items, Function.AND)
            case Or(items):
                return self._chain(items, Function.OR)
            case Not(item):
                return _negated(self.condition(item), negated=True)
            case Comparison(operator, left, right):
                return self.compare(Function(operator), left, right, tree.position)
            case Between(value, low, high, negated):
                return _negated(self._between(value, low, high), negated=negated)
            case InList(value, items, negated):
                return _negated(self._in_list(value, items), negated=negated)
            case InQuery(_, _, negated):
                return _negated(self._subquery(tree), negated=negated)
            case Exists():
                return self._subquery(tree)
            case IsNull(value, negated):
                return _negated(self._is_null(value), negated=negated)
            case Like(negated=negated):
                return _negated(matching.like(tree, self), negated=negated)
            case Star():
                raise refuse(rules.STAR, tree.position)
            case _:
                return self._computed(tree)

    def _subquery(self, tree: InQuery | Exists) -> Expression:
        """Bind a subquery; written again in the same scope it is the same."""
        found = self._bound.get(tree)
        if found is None:
            if isinstance(tree, Exists):
                found = self.subqueries.exists(tree, self)
            else:
                found = self.subqueries.in_query(tree, self)
            found = self._bound[tree] = self.environment.first_written(found)
        return found

    def _chain(self, items: tuple[Tree, ...], function: Function) -> Expression:
        """Bind a chain; brackets within it of the same kind are flattened."""
        bound: list[Expression] = []
        for item in items:
            part = self.condition(item)
            if isinstance(part, Call) and part.function is function:
                bound.extend(part.operands)
            else:
                bound.append(part)
        left = without_neutral(bound, neutral=function is Function.AND)
        return left[0] if len(left) == 1 else truth_of(function, left)

    def compare(  # noqa: PLR0911 - an arm a form
        self, operator: Function, left: Tree, right: Tree, position: Position
    ) -> Expression:
        """Bind ``left operator right``."""
        if isinstance(left, LITERALS):
            if isinstance(right, LITERALS):
                return truth_constant(truth=literal_truth(operator, left, right))
            return self.compare(FLIPPED[operator], right, left, position)
        found = self._of_lengths(operator, left, right, position)
        found = found or self.unit_comparison(operator, left, right)
        if found is not None:
            return found
        first = self.operand(left)
        if isinstance(first, AverageRef):
            return compare_average(operator, first, right)
        if isinstance(right, LITERALS):
            if isinstance(right, TypedLiteral) and right.type == "timestamp":
                first, _ = same_moments(first, lone_constant(right))
            if isinstance(first, Call) and first.function is Function.TIME_BETWEEN:
                self.environment.warn(
                    "seconds",
                    f"{describe(left)} is in seconds, for one side is a timestamp; in "
                    "days: > INTERVAL '7 days', or DATE_DIFF('day', a, b)",
                )
            literal = self.literal(right, first, left, is_end=operator is Function.LT)
            self._warn_of_code(operator, literal, first, (left, right))
            return _of_truth(operator, first, literal) or truth_of(
                operator, (first, literal)
            )
        return self._of_values(operator, first, (left, right))

    def _of_lengths(
        self, operator: Function, left: Tree, right: Tree, position: Position
    ) -> Expression | None:
        """Bind a comparison of which one side is an age, or the left an interval."""
        if isinstance(left, FunctionCall) and calls.is_age(left):
            return calls.compared_age(operator, left, right, self)
        if not (amounts.is_interval(left) or calls.is_age(right)):
            return None
        if amounts.is_interval(right) or isinstance(right, LITERALS):
            raise refuse(rules.INTERVAL, left.position)
        return self.compare(FLIPPED[operator], right, left, position)

    def _of_values(
        self, operator: Function, first: Expression, trees: tuple[Tree, Tree]
    ) -> Expression:
        left, right = trees
        if amounts.is_interval(right):
            return truth_of(operator, (first, self._amount(right, first)))
        second = self.operand(right)
        if isinstance(second, AverageRef):
            raise self.environment.average_refusal(second, right.position)
        first, second = same_moments(first, second)
        check_comparable(first, second, (describe(left), describe(right)), right)
        if isinstance(second, FieldRef):
            self.environment.warn_of_other(left, first)
        if isinstance(first, Constant):
            return truth_of(FLIPPED[operator], (second, first))
        return truth_of(operator, (first, second))

    def _amount(self, interval: Tree, beside: Expression) -> Constant:
        amount = amounts.amount_of(interval, self)
        return shifts.amount_beside(amount, beside, interval.position)

    def unit_comparison(
        self, operator: Function, left: Tree, right: Tree
    ) -> Expression | None:
        """Bind ``unit = unit``, the one comparison of unit keys."""
        sides = [self.unit_column(side) for side in (left, right)]
        first, second = sides
        if first is None and second is None:
            return None
        named = left if first is not None else right
        if first is None or second is None or operator is not Function.EQ:
            raise self.opaque(named)
        nullable = first.nullable or second.nullable
        if nullable and not self.joins:
            raise refuse(rules.NULLABLE_UNIT_KEY, named.position)
        facts = Facts(ColumnType.BOOLEAN, nullable=nullable, constant=not nullable)
        return UnitsEqual(first.slot, second.slot, facts)

    def unit_column(self, tree: Tree) -> UnitColumn | None:
        """Return the unit key that an expression names, if it does."""
        if not isinstance(tree, Name):
            return None
        column = self.scope.find(tree)
        return column if isinstance(column, UnitColumn) else None

    def opaque(self, tree: Tree) -> SqlNotAllowedError:
        """Return the refusal of a use of the unit key."""
        hint = f"count it: COUNT(DISTINCT {self.scope.unit_name()})"
        return refuse(rules.UNIT_KEY_OPAQUE, tree.position, hint=hint)

    def literal(
        self, tree: Literal, beside: Expression, shown: Tree, *, is_end: bool = False
    ) -> Constant:
        """Bind a literal in the type of the expression beside it.

        Args:
            tree: The literal.
            beside: What it is compared with.
            shown: That, as written.
            is_end: Whether it is the first value that is left out.
        """
        value = typed_value(tree, beside.facts, describe(shown))
        is_end = is_end and ends_domain(value, beside.facts)
        is_outside = is_outside_domain(value, beside.facts) and not is_end
        if is_outside:
            self._warn_of_literals([tree], value, beside, shown)
        return Constant(value, constant_facts(value, beside.facts.type))

    def _warn_of_code(
        self,
        operator: Function,
        literal: Constant,
        beside: Expression,
        trees: tuple[Tree, Tree],
    ) -> None:
        """Note a text beside a column of codes that it may mean more than, or none."""
        left, right = trees
        if operator in _EQUATING and literal.value is not None:
            literals = {literal.value: right.position}
            warn_of_equal(literals, beside, describe(left), self.environment)
        elif operator in _ENDING:
            warn_of_end(literal.value, beside, describe(left), self.environment)

    def _warn_of_literals(
        self, trees: Sequence[Tree], first: Scalar, beside: Expression, shown: Tree
    ) -> None:
        """Note literals of one list, or one, that no row of a column holds."""
        if not isinstance(beside, FieldRef) and not _is_listed_text(beside.facts):
            return
        near = self.environment.tells_outside()
        if near is None:
            return
        instead = declared_instead(first, beside.facts, is_near_wanted=near)
        said = outside_of([tree.position for tree in trees], describe(shown))
        detail = f"{said}; {_held_by_none(beside.facts, len(trees))}{instead}"
        self.environment.warn("literal_outside_domain", detail)

    def _between(self, value: Tree, low: Tree, high: Tree) -> Expression:  # noqa: PLR0911 - an arm a form
        if isinstance(value, LITERALS):
            if not isinstance(low, LITERALS) or not isinstance(high, LITERALS):
                at = value.position
                sides = ((low, value), (value, high))
                held_by = tuple(Comparison("<=", a, b, at) for a, b in sides)
                return self.condition(And(held_by, at))
            held = literal_truth(">=", value, low), literal_truth("<=", value, high)
            return truth_constant(truth=all(held))
        if self.unit_column(value) is not None:
            raise self.opaque(value)
        bound = self.operand(value)
        if isinstance(bound, AverageRef):
            least = compare_average(Function.GE, bound, low)
            most = compare_average(Function.LE, bound, high)
            return truth_of(Function.AND, (least, most))
        least, most = (self._beside(end, bound, value) for end in (low, high))
        if isinstance(most, Constant):
            self._warn_of_code(Function.LE, most, bound, (value, high))
        if isinstance(bound, FieldRef):  # the same question as two comparisons
            ends = truth_of(Function.GE, (bound, least))
            return truth_of(Function.AND, (ends, truth_of(Function.LE, (bound, most))))
        return truth_of(Function.BETWEEN, (bound, least, most))

    def _beside(self, tree: Tree, beside: Expression, shown: Tree) -> Expression:
        if isinstance(tree, LITERALS):
            return self.literal(tree, beside, shown)
        if amounts.is_interval(tree):
            return self._amount(tree, beside)
        _, found = same_moments(beside, self.value(tree))
        check_comparable(beside, found, (describe(shown), describe(tree)), tree)
        return found

    def _in_list(self, value: Tree, items: tuple[Tree, ...]) -> Expression:
        for item in items:
            if not isinstance(item, LITERALS):
                raise refuse(rules.IN_LIST_ITEM, item.position)
        listed = tuple(item for item in items if isinstance(item, LITERALS))
        if isinstance(value, LITERALS):
            found = [literal_truth("=", value, item) for item in listed]
            return truth_constant(truth=any(found))
        if self.unit_column(value) is not None:
            raise self.opaque(value)
        bound = self.value(value)
        self.environment.sizes.add_items(len(listed))
        constants: dict[object, Constant] = {}
        outside: dict[Tree, Scalar] = {}
        places: dict[Scalar, Position] = {}
        for item in listed:
            held = typed_value(item, bound.facts, describe(value))
            if held not in constants and is_outside_domain(held, bound.facts):
                outside[item] = held
            constant = Constant(held, constant_facts(held, bound.facts.type))
            constants.setdefault(held, constant)
            places.setdefault(held, item.position)
        if outside:
            first = next(iter(outside.values()))
            self._warn_of_literals([*outside], first, bound, value)
        warn_of_equal(places, bound, describe(value), self.environment)
        return truth_of(Function.IN, (bound, *constants.values()))

    def _is_null(self, value: Tree) -> Expression:
        if isinstance(value, LITERALS):
            raise refuse(rules.IS_NULL_OPERAND, value.position)
        unit = self.unit_column(value)
        if unit is not None and not unit.nullable:
            return truth_constant(truth=False)
        bound = self.value(value) if unit is None else unit.row
        if bound is None:
            raise refuse(
                rules.UNIT_KEY_OPAQUE,
                value.position,
                hint="ask whether there is a row: CASE WHEN EXISTS (SELECT * FROM ... "
                "WHERE ...) THEN 'yes' ELSE 'no' END, or NOT EXISTS",
            )
        facts = Facts(ColumnType.BOOLEAN, nullable=False, constant=bound.facts.constant)
        return Call(Function.IS_NULL, (bound,), facts)

    # -- values ---------------------------------------------------------------

    def _computed(self, tree: Tree) -> Expression:  # noqa: PLR0911 - an arm a form
        match tree:
            case Arithmetic("||", left, right):
                return texts.concatenation(left, right, self)
            case Arithmetic(operator, left, right):
                return arithmetic(operator, left, right, self)
            case Negative(value):
                return negated(self.value(value), tree.position)
            case Case():
                return self._case(tree)
            case Extract():
                return calls.extracted(tree, self)
            case Cast(value):
                return self._cast(tree, value)
            case FunctionCall():
                return self._function(tree)
            case _:
                raise refuse(rules.CONSTRUCT, tree.position)

    def _cast(self, tree: Cast, value: Tree) -> Expression:
        bound = self.value(value)
        found = cast(tree, bound)
        if found.facts.type is ColumnType.INTEGER:
            warn_of_halves(value, bound, self.environment)
        return found

    def _function(self, tree: FunctionCall) -> Expression:
        if tree.name in _WINDOW_FUNCTIONS:
            raise refuse(
                rules.WINDOW_PLACE,
                tree.position,
                detail=f"{tree.name.upper()} needs OVER (PARTITION BY unit key ...)",
            )
        if tree.name == "nullif":
            return self._nullif(tree)
        if tree.name in _OF_RESULTS:
            hint = _OF_SQUARES if tree.name == "sqrt" else None
            raise refuse(rules.RESULTS_ONLY, tree.position, hint=hint)
        if tree.name == "grouping":
            raise refuse(rules.GROUPING_SETS, tree.position)
        if tree.name in _CHOICES:
            items = [operand(item, self) for item in tree.arguments]
            if tree.name == "coalesce":
                return coalesce(items, tree, self.environment)
            return extreme(items, tree)
        bind = _FUNCTIONS.get(tree.name)
        if bind is None:
            raise refuse(rules.CONSTRUCT, tree.position)
        return bind(tree, self)

    def _nullif(self, tree: FunctionCall) -> Expression:
        """Bind ``NULLIF(a, b)``: NULL where a equals b, else a."""
        value, other = tree.arguments
        if not isinstance(value, (*LITERALS, Name)):  # NULLIF in NULLIF binds it once
            self._once[id(value)] = value, self.value(value)
        equal = Comparison("=", value, other, tree.position)
        missing = CaseBranch(equal, NullLiteral(tree.position))
        found = self._case(Case(None, (missing,), value, tree.position))
        is_whole = found.facts.type is ColumnType.INTEGER
        if is_whole and isinstance(other, NumberLiteral) and "." in other.text:
            return rescaled(found, 1)  # a decimal is compared, as elsewhere
        return found

    def kept_unit(self, tree: Tree) -> "KeptUnit | None":
        """Return the unit key that CASE gives where its conditions hold, else NULL.

        ``COUNT(DISTINCT CASE WHEN c THEN patient_id END)`` counts the units that have a
        row for which c holds. Proof: docs/proofs/count_distinct.md.
        """
        if not isinstance(tree, Case):
            return None
        otherwise = () if tree.otherwise is None else (tree.otherwise,)
        results = (*(branch.result for branch in tree.branches), *otherwise)
        named = [r for r in results if not isinstance(r, NullLiteral)]
        units = {self.unit_column(result) for result in named}
        if len(units) != 1:
            return None
        (unit,) = units
        return None if unit is None else KeptUnit(unit, tree)

    def units_where(self, kept: "KeptUnit", slot: int) -> Expression:
        """Bind the CASE of a kept unit, whose key stands in a slot."""
        tree, empty = kept.tree, Facts(ColumnType.INTEGER, constant=True)
        facts = replace(
            empty, nullable=kept.unit.nullable, constant=not kept.unit.nullable
        )
        unit = FieldRef(slot, facts)
        nothing = Constant(None, empty)

        def given(result: Tree | None) -> Expression:
            return (
                nothing if result is None or isinstance(result, NullLiteral) else unit
            )

        shown = [given(branch.result) for branch in tree.branches]
        rest = given(tree.otherwise)
        if tree.operand is not None:
            return self._switch(tree, empty, shown, rest)
        conditions = [self.condition(branch.condition) for branch in tree.branches]
        return _case_call(Function.CASE, (), conditions, shown, (empty, rest))

    def _case(self, tree: Case) -> Expression:
        results = [operand(branch.result, self) for branch in tree.branches]
        otherwise = (
            Constant(None, Facts(ColumnType.TEXT, constant=True))
            if tree.otherwise is None
            else operand(tree.otherwise, self)
        )
        positions = [branch.result.position for branch in tree.branches]
        conditions = (
            [self.condition(branch.condition) for branch in tree.branches]
            if tree.operand is None
            else []
        )
        places = [*positions, tree.position]
        facts, values = unified(
            [*results, otherwise], places, self.environment, conditions
        )
        *shown, rest = values
        if tree.operand is not None:
            return self._switch(tree, facts, shown, rest)
        return _case_call(Function.CASE, (), conditions, shown, (facts, rest))

    def _switch(
        self, tree: Case, facts: Facts, shown: list[Expression], rest: Expression
    ) -> Expression:
        """Bind ``CASE operand WHEN value THEN ...``: equality with each value."""
        operand_tree = tree.operand
        if operand_tree is None or isinstance(operand_tree, LITERALS):
            raise refuse(rules.OPERAND, tree.position)
        if self.unit_column(operand_tree) is not None:
            raise self.opaque(operand_tree)
        switched = self.value(operand_tree)
        values = [
            self._beside(branch.condition, switched, operand_tree)
            for branch in tree.branches
        ]
        return _case_call(Function.SWITCH, (switched,), values, shown, (facts, rest))


@dataclass(frozen=True, slots=True)
class KeptUnit:
    """A unit key, and the CASE that gives it or NULL."""

    unit: UnitColumn
    tree: Case


def _case_call(
    function: Function,
    first: tuple[Expression, ...],
    conditions: list[Expression],
    shown: list[Expression],
    end: tuple[Facts, Expression],
) -> Call:
    facts, rest = end
    pairs = [item for pair in zip(conditions, shown, strict=True) for item in pair]
    operands = (*first, *pairs, rest)
    constant = all(operand.facts.constant for operand in operands)
    return Call(function, operands, replace(facts, constant=constant))


def _negated(bound: Expression, *, negated: bool) -> Expression:
    if not negated:
        return bound
    for truth in (True, False):
        if is_constant_truth(bound, truth=truth):
            return truth_constant(truth=not truth)
    return _denied(bound)


def _denied(bound: Expression) -> Expression:
    """Return NOT of a condition, whose conjuncts are seen: what filters reads these."""
    if isinstance(bound, Call):
        if bound.function is Function.NOT:
            return bound.operands[0]
        if bound.function is Function.OR:
            return truth_of(Function.AND, tuple(map(_denied, bound.operands)))
    return truth_of(Function.NOT, (bound,))


def _of_truth(
    operator: Function, condition: Expression, literal: Constant
) -> Expression | None:
    """Return what ``c = TRUE`` and ``c <> FALSE`` are, c itself, and the contrary."""
    if not isinstance(literal.value, bool) or operator not in {
        Function.EQ,
        Function.NE,
    }:
        return None
    return _negated(condition, negated=literal.value is not (operator is Function.EQ))


def _is_listed_text(facts: Facts) -> bool:
    """Whether a text that is computed, ``LEFT(code, 3)``, has a list of values."""
    return facts.type is ColumnType.TEXT and isinstance(facts.domain, ValuesDomain)


def _held_by_none(facts: Facts, literals: int) -> str:
    domain, what = facts.domain, "it" if literals == 1 else "one of them"
    if isinstance(domain, ValuesDomain) and domain.other:
        return f"what is not declared was stored as 'other', so no row holds {what}"
    return f"no row holds {what}"


UNNAMED: Final = "this expression"
"""What ``describe`` calls what has no name."""


_OF_SQUARES = "compare squares: SQRT(x) > 10 is x > 10 * 10; of results SQRT(COUNT(*))"


def describe(tree: Tree) -> str:  # noqa: PLR0911 - an arm a form
    """Return a short name of an expression for people; no text but names."""
    match tree:
        case Name(name):
            return name
        case FunctionCall(name):
            return name
        case AggregateCall(name):
            return name
        case CountRows():
            return "count"
        case _:
            return UNNAMED
