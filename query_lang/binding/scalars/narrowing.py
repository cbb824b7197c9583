"""What a condition says of a value: bounds of it in the branches of a CASE."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import ceil, floor
from typing import Final

from privacy.schema import ColumnType, Scalar, ValuesDomain
from query_lang.binding.scalars.differences import bounds_of, difference_of, is_apart
from query_lang.binding.sizes import Tries
from query_lang.plans.dates import calendar
from query_lang.plans.domains import MAX_CELLS, key_values, value_count
from query_lang.plans.expressions import (
    Call,
    Constant,
    Expression,
    Facts,
    FieldRef,
    Function,
)
from query_lang.plans.intervals import (
    MAX_DAY,
    MAX_INTEGER,
    MIN_DAY,
    MIN_INTEGER,
    UNKNOWN,
    Reach,
    grid_value,
    joined,
    met,
)
from query_lang.syntax.text_values import write_value

TIMESTAMP = ColumnType.TIMESTAMP
ON_A_GRID = frozenset(
    {ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.DATE, TIMESTAMP}
)
"""Types whose values are whole numbers of steps: of a moment, microseconds."""
_TYPE_ENDS = {
    ColumnType.DATE: (MIN_DAY, MAX_DAY),
    TIMESTAMP: (calendar.MIN_MOMENT, calendar.MAX_MOMENT),
}
_NEGATED = {
    Function.LT: Function.GE,
    Function.LE: Function.GT,
    Function.GT: Function.LE,
    Function.GE: Function.LT,
}


def narrowed(
    conditions: Sequence[Expression], results: Sequence[Expression], tries: Tries
) -> list[Facts | None]:
    """Return what is known of each result where its branch is taken.

    Of a result that is not NULL and that a condition compares with literals: its own
    condition is true, those before are not, and of such a value a comparison is never
    unknown. None: no value can lie there. A text that has no list gets that of the
    literals that it equals one of. Lists beyond what may be tried stay whole.

    Args:
        conditions: Of the branches, in order.
        results: Of the branches, then of ELSE.
        tries: That are left.
    """
    found: list[Facts | None] = []
    read: dict[int, list[Reach | None]] = {}  # what conditions say where they are false
    for place, result in enumerate(results):
        facts = result.facts
        own = conditions[place : place + 1]
        if isinstance(result, Constant):
            found.append(facts)
            continue
        if facts.type is ColumnType.TEXT:
            found.append(_text_where(result, conditions[:place], own, tries))
        written = _written_in(result)
        number = result if written is None else written
        if number.facts.type not in ON_A_GRID:
            found += [] if facts.type is ColumnType.TEXT else [facts]
            continue
        value = Value(number, tries)
        known = read.setdefault(value.number, [])
        for condition in conditions[len(known) : place]:
            known.append(bounds_where(value, condition, holds=False))
        near = facts_within(
            number.facts, [*known, *(bounds_where(value, c, holds=True) for c in own)]
        )
        found.append(
            near if written is None else _as_written(found.pop(), written, near)
        )
    return found


def _written_in(result: Expression) -> Expression | None:
    """Return the number or day that a text of a list writes: ``n::text``."""
    if not isinstance(result, Call) or result.function is not Function.TEXT_OF:
        return None
    (value,) = result.operands
    listed = isinstance(result.facts.domain, ValuesDomain)
    return value if listed and value.facts.type in ON_A_GRID else None


def _as_written(
    facts: Facts | None, value: Expression, near: Facts | None
) -> Facts | None:
    """Return what is known of the text of a number or day, by what is known of that.

    Args:
        facts: What conditions on the text leave of it.
        value: What it writes.
        near: What conditions on that leave of it.
    """
    if near is None or facts is None:
        return None
    if near.domain == value.facts.domain or not isinstance(facts.domain, ValuesDomain):
        return facts
    scale = near.scale if near.type is ColumnType.DECIMAL else 0
    listed = key_values(replace(near, nullable=False))
    texts = {write_value(each, scale) for each in listed if each is not None}
    left = tuple(text for text in facts.domain.all_values() if text in texts)
    return replace(facts, domain=ValuesDomain(left)) if left else None


class Value:
    """A value that conditions are asked about, known wherever it is written again.

    Args:
        expression: The value.
        tries: Number expressions.
        by_parts: Whether conditions on its day, period or year say something of it.
        differs: Whether comparisons of the two values do of which it is the difference.
    """

    def __init__(
        self,
        expression: Expression,
        tries: Tries,
        *,
        by_parts: bool = False,
        differs: bool = False,
    ) -> None:
        self.facts = expression.facts
        self.by_parts = by_parts
        self.number = tries.number(expression)
        self.difference = difference_of(expression, tries) if differs else None
        self.tries = tries

    def is_it(self, expression: Expression) -> bool:
        """Whether an expression is this value, as ``is_same_value`` has it."""
        return self.tries.number(expression) == self.number


def parts_of(condition: Expression) -> int:
    """Return how many comparisons a condition joins."""
    if isinstance(condition, Call) and condition.function in JOINING:
        return sum(map(parts_of, condition.operands))
    return 1


# -- conditions that hold for every row ------------------------------------------


class Conditions:
    """What holds for every row, found by the values that it compares with literals.

    So what a text says is read once, however many values are asked about.

    Attributes:
        tries: Number expressions.
        plain: The conditions.
        made: What slots are made of that they read.
    """

    def __init__(
        self,
        conditions: Sequence[Expression] = (),
        tries: Tries | None = None,
        made: Mapping[int, Expression] | None = None,
    ) -> None:
        self.tries = tries or Tries()
        self.plain, self.made = tuple(conditions), made or {}
        self._sizes: dict[int, int] = {}  # of what slots are made of
        self._of: dict[int, list[Expression]] = {}
        for condition in conditions:
            for number in {*map(self.tries.number, compared_in(condition))}:
                self._of.setdefault(number, []).append(condition)
        self._bounds: dict[Expression, Facts] = {}

    def __bool__(self) -> bool:
        """Whether anything is compared."""
        return bool(self._of)

    @cached_property
    def all(self) -> Sequence[Expression]:
        """All of them, as ``spelled_out`` writes them."""
        return [self.spelled_out(condition) for condition in self.plain]

    def spelled_out(self, value: Expression) -> Expression:
        """Return a value over columns, where derived tables compute what it reads.

        As it is where that would be long: each table may double the one below.
        """
        if not self.made or self._size(value) > _MOST_SPELLED:
            return value
        return self._spelled(value)

    def _spelled(self, value: Expression) -> Expression:
        if isinstance(value, FieldRef) and value.slot in self.made:
            return self._spelled(self.made[value.slot])
        if not isinstance(value, Call):
            return value
        return replace(value, operands=tuple(map(self._spelled, value.operands)))

    def _size(self, value: Expression) -> int:
        if isinstance(value, FieldRef) and value.slot in self.made:
            if value.slot not in self._sizes:
                self._sizes[value.slot] = self._size(self.made[value.slot])
            return self._sizes[value.slot]
        operands = value.operands if isinstance(value, Call) else ()
        return 1 + sum(map(self._size, operands))

    def of(self, value: Expression) -> Sequence[Expression]:
        """Return those that say something of a value."""
        return self._of.get(self.tries.number(value), ())

    def bounds(self, value: Expression) -> Facts:
        """Return what is known of a number or day, as ``bounds_where`` has it."""
        found = self._bounds.get(value)
        if found is None:
            meant = Value(value, self.tries, by_parts=True)
            known = [bounds_where(meant, c, holds=True) for c in self.of(value)]
            found = self._bounds[value] = (
                facts_within(value.facts, known) or value.facts
            )
        return found


_MOST_SPELLED: Final = 1_000
"""Nodes of a value over columns: trying each value of its column reads all of them."""


def compared_in(condition: Expression) -> Iterator[Expression]:
    """Yield the values that a condition may compare, and what they are made of."""
    if not isinstance(condition, Call):
        return
    if condition.function in JOINING:
        for operand in condition.operands:
            yield from compared_in(operand)
    elif condition.operands:
        value = condition.operands[0]
        yield value
        while isinstance(value, Call) and value.function in _RISING:
            value = value.operands[0]
            yield value


JOINING = frozenset({Function.NOT, Function.AND, Function.OR})


def _compared_bounds(conditions: Conditions, value: Expression) -> Facts:
    """Return what is known of a value that is not NULL where all conditions are true.

    What is declared stays where nothing is said of it, or where no value can be.
    """
    if value.facts.type not in ON_A_GRID or isinstance(value, Constant):
        return value.facts
    return conditions.bounds(value)


def left_by(conditions: Conditions, value: Expression) -> Facts:
    """Return what conditions leave of a value, in rows for which all are true.

    A value that they bound is not NULL there: a comparison with NULL is never true.
    """
    facts = value.facts
    said = conditions.of(value)
    if not said:
        return facts
    if facts.type is ColumnType.TEXT:
        found = _text_where(value, (), said, conditions.tries) or facts
    else:
        found = _compared_bounds(conditions, value)
    return facts if found.domain == facts.domain else replace(found, nullable=False)


def listed_by(conditions: Conditions, value: Expression) -> Facts:
    """Return the facts of a key: of one without cells, those that conditions list.

    Where a condition is true the value is not NULL. What is declared stays as it is;
    nobody declared the days between two dates, which have as many cells as the two
    domains leave.
    """
    facts = value.facts
    count = value_count(facts)
    if count is not None and count <= MAX_CELLS and not _is_of_two(conditions, value):
        return facts
    if facts.type is ColumnType.TEXT:
        found = _listed_text(conditions, value)
    else:
        found = _compared_bounds(conditions, value)
    said = found.domain != facts.domain and value_count(found) is not None
    return replace(found, nullable=False) if said else facts


def _is_of_two(conditions: Conditions, value: Expression) -> bool:
    made = conditions.made.get(value.slot) if isinstance(value, FieldRef) else None
    return is_apart(value if made is None else made)


def named_by(conditions: Conditions, value: Expression) -> Facts:
    """Return the facts of a column of a derived table, with the texts that WHERE names.

    Of texts that nobody declared alone; what is declared stays as it is.
    """
    facts = value.facts
    if facts.type is not ColumnType.TEXT or facts.domain is not None or not conditions:
        return facts
    return listed_by(conditions, value)


def _listed_text(conditions: Conditions, value: Expression) -> Facts:
    said, tries = conditions.of(value), conditions.tries
    listed = _listed_in(Value(value, tries), said)
    left = () if listed is None else _texts_left(value, listed, ((), said), tries)
    return replace(value.facts, domain=ValuesDomain(left)) if left else value.facts


# -- texts ---------------------------------------------------------------------


_MOST_LOOKED_THROUGH: Final = 10_000
"""Texts of a list that a pattern is tried on to say that it matches none."""


def matches_none(
    condition: Expression,
    value: Expression,
    tries: Tries,
    count: Callable[[int], None] = lambda _: None,
) -> bool:
    """Whether a condition is true for no value of the list that a text has.

    Args:
        condition: About the text.
        value: The text.
        tries: That are left.
        count: Is told how many values are tried.
    """
    domain = value.facts.domain
    if not isinstance(domain, ValuesDomain):
        return False
    listed, _ = tries.listed(domain)
    if not listed or len(listed) > _MOST_LOOKED_THROUGH:
        return False
    before = tries.left_over
    left = _texts_left(value, listed, ((), (condition,)), tries)
    count(before - tries.left_over)
    return left == ()


def _text_where(
    result: Expression,
    before: Sequence[Expression],
    own: Sequence[Expression],
    tries: Tries,
) -> Facts | None:
    facts, domain = result.facts, result.facts.domain
    listed = _candidates(result, own, tries)
    if listed is None:
        return facts
    values = _texts_left(result, listed, (before, own), tries)
    if values is None:
        return facts
    if isinstance(domain, ValuesDomain) and len(values) == len(domain.all_values()):
        return facts
    return replace(facts, domain=ValuesDomain(values)) if values else None


def _candidates(
    result: Expression, own: Sequence[Expression], tries: Tries
) -> tuple[Scalar, ...] | None:
    """Return the texts that a result may be: of its list, and of what it equals."""
    named = _listed_in(Value(result, tries), own)
    if not isinstance(result.facts.domain, ValuesDomain):
        return named
    listed, places = tries.listed(result.facts.domain)
    if named is None:
        return listed
    return tuple(
        listed[place] for place in sorted({places[v] for v in named if v in places})
    )


def _texts_left(
    target: Expression,
    listed: tuple[Scalar, ...],
    conditions: tuple[Sequence[Expression], Sequence[Expression]],
    tries: Tries,
) -> tuple[str, ...] | None:
    """Return the texts that conditions leave; None where too many would be tried.

    Args:
        target: The value.
        listed: What it may be.
        conditions: Those of which none may surely hold, and those that may all hold.
        tries: That are left.
    """
    value = Value(target, tries)
    none_of, all_of = conditions

    def kept(condition: Expression, unwanted: bool) -> Callable[[str], bool]:  # noqa: FBT001 - what a condition may not be
        test = _test(value, condition)
        if test is None:
            return lambda _: True
        return lambda text: test(text) is not unwanted

    steps = [(c, True, parts_of, kept) for c in none_of]
    steps += [(c, False, parts_of, kept) for c in all_of]
    return tries.left(value.number, listed, steps)


def _listed_in(
    value: Value, conditions: Sequence[Expression]
) -> tuple[Scalar, ...] | None:
    """Return the literals of which a text is one, by the first that says so."""
    options = (_equals_one_of(value, condition) for condition in conditions)
    return next((option for option in options if option is not None), None)


def _equals_one_of(  # noqa: PLR0911 - an arm a form
    value: Value, condition: Expression
) -> tuple[Scalar, ...] | None:
    """Return the literals of which a text is one where a condition is true."""
    if not isinstance(condition, Call):
        return None
    match condition.function:
        case Function.EQ | Function.IN if value.is_it(condition.operands[0]):
            items = condition.operands[1:]
            values = [i.value for i in items if isinstance(i, Constant)]
            known = tuple(value for value in values if value is not None)
            return known if len(known) == len(items) else None
        case Function.AND:
            parts = (_equals_one_of(value, c) for c in condition.operands)
            return next((part for part in parts if part is not None), None)
        case Function.OR:
            options = [_equals_one_of(value, c) for c in condition.operands]
            listed = [option for option in options if option is not None]
            if len(listed) != len(options):
                return None
            return tuple(dict.fromkeys(chain.from_iterable(listed)))
        case _:
            return None


_Test = Callable[[str], bool | None]
"""Whether a condition holds where a text is this; None: it may, or not."""


def _test(value: Value, condition: Expression) -> _Test | None:  # noqa: PLR0911 - an arm a form
    """Return what a condition says of each text; None if nothing of any.

    What does not depend on the text is looked at here, once.
    """
    if not isinstance(condition, Call):
        return None
    match condition.function:
        case Function.NOT:
            inner = _test(value, condition.operands[0])
            return None if inner is None else _denied(inner)
        case Function.AND | Function.OR:
            found = [_test(value, c) for c in condition.operands]
            tests = [test for test in found if test is not None]
            unknown = len(tests) < len(found)
            decides = condition.function is Function.OR
            return _joined(tests, decides=decides, unknown=unknown) if tests else None
        case Function.EQ | Function.IN | Function.NE if value.is_it(
            condition.operands[0]
        ):
            items = condition.operands[1:]
            known = frozenset(i.value for i in items if isinstance(i, Constant))
            if not all(isinstance(item, Constant) for item in items):
                return None
            among = condition.function is not Function.NE
            return lambda text: (text in known) is among
        case Function.PREFIX | Function.SUFFIX | Function.INFIX if value.is_it(
            condition.operands[0]
        ):
            test, part = _TESTS[condition.function], str(condition.parameters[0])
            return lambda text: test(text, part)
        case _:
            return None


def _denied(test: _Test) -> _Test:
    def denied(text: str) -> bool | None:
        found = test(text)
        return None if found is None else not found

    return denied


def _joined(tests: Sequence[_Test], *, decides: bool, unknown: bool) -> _Test:
    """Return AND or OR of tests: what one of them decides, else what all say."""

    def joined_tests(text: str) -> bool | None:
        is_unknown = unknown
        for test in tests:
            found = test(text)
            if found is decides:
                return decides
            is_unknown = is_unknown or found is None
        return None if is_unknown else not decides

    return joined_tests


_TESTS: Mapping[Function, Callable[[str, str], bool]] = {
    Function.PREFIX: str.startswith,
    Function.SUFFIX: str.endswith,
    Function.INFIX: str.__contains__,
}


# -- numbers and dates ---------------------------------------------------------


def facts_within(  # noqa: PLR0911 - an arm a form
    facts: Facts, known: Sequence[Reach | None]
) -> Facts | None:
    """Return what is known of a value that lies within bounds; None if none does."""
    reach = _of_all(known)
    if reach == UNKNOWN:
        return facts
    ends = _TYPE_ENDS.get(facts.type, (MIN_INTEGER, MAX_INTEGER))
    if reach is None or met(reach, ends) is None:
        return None
    reach = _within_ends(reach, ends)
    if isinstance(facts.domain, ValuesDomain):
        values = tuple(v for v in facts.domain.values if _holds(reach, v, facts))
        return replace(facts, domain=ValuesDomain(values)) if values else None
    both = met(reach, calendar.reach_of(facts))
    if both is None:
        return None
    return replace(facts, domain=calendar.domain_of(both, facts))


def _within_ends(reach: Reach, ends: tuple[int, int]) -> Reach:
    """Return a reach without the ends that no bound may have: they say nothing.

    Where rows reach beyond 64 bits of their grid, engines compute with what they are
    given: a bound there could make them fail, by the rows.
    """
    (low, high), (least, most) = reach, ends
    return (
        low if low is not None and low >= least else None,
        high if high is not None and high <= most else None,
    )


def _holds(reach: Reach, value: Scalar, facts: Facts) -> bool:
    step = floor(_step(value, facts))
    low, high = reach
    return (low is None or low <= step) and (high is None or step <= high)


def bounds_where(
    value: Value, condition: Expression, *, holds: bool, sure: bool | None = None
) -> Reach | None:
    """Return bounds of a value that is not NULL where a condition is true, or is not.

    None: it is nowhere there. Conditions that say nothing of it leave it unbounded,
    whichever of the three they are.

    Args:
        value: Which it is.
        condition: What may say something of it.
        holds: Whether the condition is true.
        sure: Whether it is known; where it is not true it can be unknown, as long as
            nothing else is said.
    """
    sure = holds if sure is None else sure
    if not isinstance(condition, Call):
        return UNKNOWN
    operands = condition.operands
    match condition.function:
        case Function.NOT:
            return bounds_where(value, operands[0], holds=not holds, sure=sure)
        case Function.AND | Function.OR:
            parts = [bounds_where(value, c, holds=holds, sure=sure) for c in operands]
            all_of_them = (condition.function is Function.AND) is holds
            return _of_all(parts) if all_of_them else _of_any(parts)
        case _:
            return _compared(value, condition, holds=holds, sure=sure)


def _of_all(parts: Sequence[Reach | None]) -> Reach | None:
    reach: Reach | None = UNKNOWN
    for each in parts:
        reach = None if reach is None or each is None else met(reach, each)
    return reach


def _of_any(parts: Sequence[Reach | None]) -> Reach | None:
    known = [each for each in parts if each is not None]
    return joined(known) if known else None


def _compared(  # noqa: PLR0911 - an arm a form
    value: Value, condition: Call, *, holds: bool, sure: bool
) -> Reach:
    if condition.function not in _COMPARING:  # another call's operands are no bounds
        return UNKNOWN
    first, *others = condition.operands
    literals = [other.value for other in others if isinstance(other, Constant)]
    if len(literals) != len(others):
        difference = value.difference
        if difference is None:
            return UNKNOWN
        return bounds_of(difference, condition, value.tries, holds=holds, sure=sure)
    if not _is_of(value, first):
        return UNKNOWN
    steps = [_step(literal, first.facts) for literal in literals]
    function = condition.function
    reach = UNKNOWN
    if function in _NEGATED:
        reach = _half(function if holds else _NEGATED[function], steps[0])
    elif holds and function in _LISTING:
        reach = ceil(min(steps)), floor(max(steps))
    elif holds and function is Function.BETWEEN:
        reach = ceil(steps[0]), floor(steps[1])
    return _below(value, first, reach)


_RISING = frozenset({Function.DATE_OF, Function.EXTRACT, Function.PERIOD})
"""Functions of days and moments of which some never fall as what they are of rises."""
_LONGEST = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}


def _is_of(value: Value, tree: Expression) -> bool:
    """Whether an expression is a value, or the day, the period or the year of it."""
    while not value.is_it(tree):
        if not value.by_parts or not isinstance(tree, Call):
            return False
        if tree.function not in _RISING:
            return False
        if tree.function is Function.EXTRACT and tree.parameters != ("year",):
            return False
        tree = tree.operands[0]
    return True


def _below(value: Value, tree: Expression, reach: Reach) -> Reach:
    """Return bounds of a value by those of the day, the period or the year of it."""
    while isinstance(tree, Call) and not value.is_it(tree):
        low, high = reach
        operand = tree.operands[0]
        if tree.function is Function.EXTRACT:
            low = None if low is None else _day(low, 1, 1)
            high = None if high is None else _day(high, 12, 31)
        if tree.function is Function.PERIOD and high is not None:
            high += _LONGEST[str(tree.parameters[0])] - 1
        if operand.facts.type is TIMESTAMP:
            low = None if low is None else low * calendar.DAY
            high = None if high is None else (high + 1) * calendar.DAY - 1
        tree, reach = operand, (low, high)
    return reach


def _day(year: int, month: int, number: int) -> int:
    """Return a day of a year; of one outside the calendar, of its next."""
    return grid_value(date(min(max(year, 1), 9_999), month, number))


_LISTING = frozenset((Function.EQ, Function.IN))
_COMPARING = frozenset((*_NEGATED, *_LISTING, Function.BETWEEN))


def _step(value: Scalar | None, facts: Facts) -> Fraction:
    if isinstance(value, int | Decimal):
        return Fraction(value) * Fraction(10**facts.scale)
    if isinstance(value, datetime):
        return Fraction(calendar.microseconds_of(value))
    if value is None:  # pragma: no cover - binding refuses NULL there
        raise TypeError
    return Fraction(grid_value(value))


def _half(function: Function, step: Fraction) -> Reach:
    match function:
        case Function.LT:
            return None, ceil(step) - 1
        case Function.LE:
            return None, floor(step)
        case Function.GT:
            return floor(step) + 1, None
        case _:
            return ceil(step), None
