"""How large bound expressions are, each part counted as often as it is repeated.

An operand that a form repeats is one object in several places, so that a short text can
stand for a tree that nothing could walk: ``POWER(POWER(x, 4), 4)`` has x sixteen times.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final

from privacy.schema import ColumnType, Domain, Scalar, ValuesDomain
from query_lang.plans.dates import calendar
from query_lang.plans.domains import combined, value_count
from query_lang.plans.expressions import (
    Call,
    Constant,
    ExistsInQuery,
    Expression,
    Facts,
    FieldRef,
    Function,
    HalfRange,
    ValueInQuery,
)
from query_lang.plans.intervals import day_bounds
from query_lang.syntax import rules
from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import refuse

MOST_BOUND: Final = 5_000
"""Nodes of all expressions of a query. A text of 2,000 tokens has fewer than 4,000
unless forms that repeat their operands stand in each other."""
MOST_REREAD: Final = 10_000
"""Nodes that the statements of a query read, each by itself: a third of a second."""


MOST_LISTED: Final = 100_000
"""Values of all lists that the functions of a query make and read: each computes them
from the declared ones, a few microseconds a value."""
MOST_MAPPED: Final = 1_000
"""The most values that a result's domain is listed for, one by one."""
_LISTED_IN_A_STEP = 20  # values that take as long as binding an expression
_DAY_TEXT_STEPS = 5  # of other values that take as long as the text of a day


MOST_TRIED: Final = 50_000
"""Texts of lists times comparisons, in a query: what is beyond stays whole."""


_Listed = tuple[tuple[Scalar, ...], Mapping[Scalar, int]]

Step = tuple[
    Expression,
    bool,
    Callable[[Expression], int],
    Callable[[Expression, bool], Callable[[str], bool]],
]
"""A condition, what it may not be, how many comparisons it joins, and its test."""


class Tries:
    """How many texts may still be tried on conditions while a query is bound.

    What was tried, or was too much, is remembered: bound again it is the same.
    """

    def __init__(self) -> None:
        self._left = MOST_TRIED
        self._known: dict[int, tuple[str, ...] | None] = {}
        self._met: dict[int, tuple[int, Expression]] = {}
        self._numbers: dict[Hashable, int] = {}
        self._lists: dict[int, tuple[_Listed, ValuesDomain]] = {}
        self._texts: dict[int, tuple[int, tuple[str, ...], tuple[Scalar, ...]]] = {}

    @property
    def left_over(self) -> int:
        """Return how many texts may still be tried."""
        return self._left

    def listed(self, domain: ValuesDomain) -> _Listed:
        """Return the values of a list, the same object each time, and their places."""
        met = self._lists.get(id(domain))
        if met is None:
            values = domain.all_values()
            places = {value: place for place, value in enumerate(values)}
            met = self._lists[id(domain)] = (values, places), domain  # which is kept
        return met[0]

    def _as_texts(self, listed: tuple[Scalar, ...]) -> tuple[int, tuple[str, ...]]:
        met = self._texts.get(id(listed))
        if met is None:
            texts = tuple(dict.fromkeys(map(str, listed)))
            met = self._texts[id(listed)] = self._number(texts), texts, listed
        return met[:2]

    def number(self, expression: Expression) -> int:
        """Return a number that expressions share if ``is_same_value`` of them."""
        met = self._met.get(id(expression))
        if met is None:
            met = self._number(self._shape(expression)), expression  # which is kept
            self._met[id(expression)] = met
        return met[0]

    def _number(self, what: Hashable) -> int:
        return self._numbers.setdefault(what, len(self._numbers))

    def _shape(self, expression: Expression) -> Hashable:
        match expression:
            case FieldRef(slot):
                return FieldRef, slot
            case Call(function, operands, facts, parameters):
                made = facts.type, facts.scale, parameters
                return function, *made, *map(self.number, operands)
            case _:
                return expression

    def left(
        self, value: int, listed: tuple[Scalar, ...], steps: Sequence[Step]
    ) -> tuple[str, ...] | None:
        """Return which texts conditions leave; None where too many would be tried.

        Args:
            value: The number of the value that they are of.
            listed: The texts.
            steps: The conditions, one after the other.
        """
        number, texts = self._as_texts(listed)
        place = self._number((value, number))
        left: tuple[str, ...] | None = texts
        for condition, unwanted, parts, keeps in steps:
            if left is None:
                return None
            place = self._number((place, self.number(condition), unwanted))
            if place not in self._known:
                many = len(left) * parts(condition)
                fits = many <= self._left
                self._left -= many if fits else 0
                self._known[place] = None
                if fits:
                    kept = filter(keeps(condition, unwanted), left)
                    self._known[place] = tuple(kept)
            left = self._known[place]
        return left


_VALUES_IN_A_STEP: Final = 4
"""Of keys, in a step: 25 microseconds each, until the plan is rendered."""
_TRIED_IN_A_STEP: Final = 25
"""Of values that are tried, 4 microseconds each, in a step."""


class Sizes:
    """Counts the nodes of the expressions of one query while they are bound."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, Expression]] = {}
        self._combined: dict[Hashable, tuple[Domain | HalfRange | None, object]] = {}
        self._total = 0
        self._listed = 0
        self._bound = 0
        self._tried = 0

    @property
    def steps(self) -> int:
        """Return how much was done so far: expressions bound, and values listed."""
        tried = self._tried // _TRIED_IN_A_STEP
        return self._bound + self._listed // _LISTED_IN_A_STEP + tried

    def add_items(self, items: int) -> None:
        """Count the literals of a list: few letters, or none, may stand for many."""
        self._bound += items

    def add_values(self, values: int) -> None:
        """Count the values of a key: whatever follows goes through all of them."""
        self._bound += values // _VALUES_IN_A_STEP

    def add_tried(self, steps: int) -> None:
        """Count what was tried of the values of keys."""
        self._tried += steps

    def check(self, expression: Expression, position: Position, *, whole: bool) -> None:
        """Count an expression that was just bound; its operands were counted before.

        Args:
            expression: What was bound.
            position: Of its text.
            whole: Whether it is no operand of another.

        Raises:
            SqlNotAllowedError: Rule ``too_complex``.
        """
        self._bound += 1
        size = self._size(expression)
        if whole:
            self._total += size
        if max(size, self._total) > MOST_BOUND:
            raise refuse(
                rules.TOO_COMPLEX, position, detail="this stands for too long a text"
            )

    def check_listed(self, expression: Expression, position: Position) -> bool:
        """Count the values of the lists that an expression made and read.

        Args:
            expression: What was bound.
            position: Of its text.

        Returns:
            Whether it made or read any.

        Raises:
            SqlNotAllowedError: Rule ``too_complex``.
        """
        if not isinstance(expression, Call) or expression.function in _COUNTED_APART:
            return False
        domain, operands = expression.facts.domain, expression.operands
        if any(operand.facts.domain is domain for operand in operands):
            return False  # what is known of it: nothing was computed
        made = _listed(expression)
        if expression.function is Function.WRITTEN_DAY:
            made = _DAY_TEXT_STEPS * max(made, _days_walked(expression))
        read = sum(map(_listed, operands))
        values = made + read + _mapped(expression)
        self._count_listed(values, position)
        return values > 0

    def combined(
        self, parts: Sequence[Facts], position: Position
    ) -> Domain | HalfRange | None:
        """Return the domain of a value that comes from any of these, found once.

        Args:
            parts: What is known of each.
            position: Of what yields one of them.

        Raises:
            SqlNotAllowedError: Rule ``too_complex``: too many values were listed.
        """
        domains = [part.domain for part in parts]
        of = tuple(id(d) if isinstance(d, ValuesDomain) else d for d in domains)
        key = parts[0].type, parts[0].scale, of
        if key not in self._combined:
            found = combined(parts, lambda many: self._count_listed(many, position))
            self._combined[key] = found, domains  # kept, or another could have an id
        return self._combined[key][0]

    def _count_listed(self, values: int, position: Position) -> None:
        self._listed += values
        if self._listed > MOST_LISTED:
            raise refuse(
                rules.TOO_COMPLEX,
                position,
                detail="functions and CASE over columns with long lists of values, or "
                f"many days, make lists with more than {MOST_LISTED:,} values in all",
                hint="write fewer different functions of such columns, or name one "
                "in a derived table and use its name",
            )

    def check_repeated(self, times: int, position: Position) -> None:
        """Refuse so many statements over expressions that each of them reads again.

        Args:
            times: How many statements there are.
            position: Of what makes one more.

        Raises:
            SqlNotAllowedError: Rule ``too_complex``.
        """
        if times > 1 and times * self._total > MOST_REREAD:
            raise refuse(
                rules.TOO_COMPLEX,
                position,
                detail=f"{times} quantiles read all conditions again, each by itself",
                hint="ask for fewer quantiles at once, or prepare rows in fewer words",
            )

    def _size(self, expression: Expression) -> int:
        match expression:
            case Call(_, parts):
                operands = parts
            case ValueInQuery(value, _, item):
                operands = (value, item)
            case ExistsInQuery(_, _, condition) if condition is not None:
                operands = (condition,)
            case _:
                return 1
        found = self._known.get(id(expression))
        if found is None:
            size = 1 + sum(self._size(operand) for operand in operands)
            found = size, expression  # kept, or another could have its id
            self._known[id(expression)] = found
        return found[0]


_COUNTED_APART = frozenset(
    {Function.AND, Function.OR, Function.NOT, Function.EQ, Function.NE, Function.LT}
    | {Function.LE, Function.GT, Function.GE, Function.BETWEEN, Function.IN}
    | {Function.IS_NULL, Function.PREFIX, Function.SUFFIX, Function.INFIX}
    | {Function.CASE, Function.SWITCH, Function.COALESCE}
)
"""What lists nothing, or one of several, whose values ``combined`` counts."""


def _mapped(call: Call) -> int:
    """Return how many whole numbers of a range the results of arithmetic are made of.

    As ``binding.scalars.numbers`` maps them: where one operand varies.
    """
    varied = [each for each in call.operands if not isinstance(each, Constant)]
    if len(varied) != 1 or isinstance(varied[0].facts.domain, ValuesDomain):
        return 0
    if varied[0].facts.type not in {ColumnType.INTEGER, ColumnType.DECIMAL}:
        return 0
    count = value_count(varied[0].facts)
    return count if count is not None and count <= MOST_MAPPED else 0


def _days_walked(call: Call) -> int:
    """Return how many days are written to list the texts of days that there are."""
    days = day_bounds(call.operands[0].facts)
    if days is None or call.facts.domain is None:
        return 0
    unit = calendar.written_period(tuple(map(str, call.parameters)))
    return 1 + calendar.periods_within(days, unit)


def _listed(expression: Expression) -> int:
    domain = expression.facts.domain
    return len(domain.all_values()) if isinstance(domain, ValuesDomain) else 0
