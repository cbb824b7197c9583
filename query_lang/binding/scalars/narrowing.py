"""What a condition says of a value: bounds of it in the branches of a CASE."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from math import ceil, floor

from privacy.schema import ColumnType, Scalar, ValuesDomain
from query_lang.binding.sizes import Tries
from query_lang.plans.domains import MAX_CELLS, value_count
from query_lang.plans.expressions import (
    Call,
    Constant,
    Expression,
    Facts,
    FieldRef,
    Function,
    is_same_value,
)
from query_lang.plans.intervals import (
    MAX_DAY,
    MAX_INTEGER,
    MIN_DAY,
    MIN_INTEGER,
    UNKNOWN,
    Reach,
    domain_of,
    grid_value,
    joined,
    met,
    reach_of,
)

_ON_A_GRID = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.DATE})
_TYPE_ENDS = {ColumnType.DATE: (MIN_DAY, MAX_DAY)}
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
    for place, result in enumerate(results):
        facts = result.facts
        if facts.type is ColumnType.TEXT and not isinstance(result, Constant):
            before, own = conditions[:place], conditions[place : place + 1]
            found.append(_text_where(result, before, own, tries))
            continue
        if facts.type not in _ON_A_GRID or isinstance(result, Constant):
            found.append(facts)
            continue
        known = [_where(result, c, holds=False) for c in conditions[:place]]
        known += [_where(result, c, holds=True) for c in conditions[place : place + 1]]
        found.append(_within(facts, known))
    return found


def _parts(condition: Expression) -> int:
    """Return how many comparisons a condition joins."""
    if isinstance(condition, Call) and condition.function in _JOINING:
        return sum(map(_parts, condition.operands))
    return 1


# -- conditions that hold for every row ------------------------------------------


class Conditions:
    """What holds for every row, found by the values that it compares with literals.

    So what a text says is read once, however many values are asked about.
    """

    def __init__(
        self, conditions: Sequence[Expression] = (), tries: Tries | None = None
    ) -> None:
        self.tries = tries or Tries()
        self._of: dict[_Shape, list[Expression]] = {}
        for condition in conditions:
            for shape in {*_compared_in(condition)}:
                self._of.setdefault(shape, []).append(condition)
        self._bounds: dict[Expression, Facts] = {}

    def __bool__(self) -> bool:
        """Whether anything is compared."""
        return bool(self._of)

    def of(self, value: Expression) -> Sequence[Expression]:
        """Return those that say something of a value."""
        return self._of.get(_shape(value), ())

    def bounds(self, value: Expression) -> Facts:
        """Return what is known of a number or day, as ``narrowed_by`` has it."""
        found = self._bounds.get(value)
        if found is None:
            known = [_where(value, c, holds=True) for c in self.of(value)]
            found = self._bounds[value] = _within(value.facts, known) or value.facts
        return found


_Shape = object
"""What expressions of one value share, as ``is_same_value`` has it; hashable."""


def _shape(value: Expression) -> _Shape:
    match value:
        case FieldRef(slot):
            return slot
        case Call(function, operands, _, parameters):
            return function, parameters, tuple(map(_shape, operands))
        case _:
            return value


def _compared_in(condition: Expression) -> Iterator[_Shape]:
    if not isinstance(condition, Call):
        return
    if condition.function in _JOINING:
        for operand in condition.operands:
            yield from _compared_in(operand)
    elif condition.operands:
        yield _shape(condition.operands[0])


_JOINING = frozenset({Function.NOT, Function.AND, Function.OR})


def narrowed_by(conditions: Conditions, value: Expression) -> Facts:
    """Return what is known of a value that is not NULL where all conditions are true.

    What is declared stays where nothing is said of it, or where no value can be.
    """
    facts = value.facts
    if facts.type not in _ON_A_GRID or isinstance(value, Constant):
        return facts
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
        found = narrowed_by(conditions, value)
    return facts if found.domain == facts.domain else replace(found, nullable=False)


def listed_by(conditions: Conditions, value: Expression) -> Facts:
    """Return the facts of a key: of one without cells, those that conditions list.

    Where a condition is true the value is not NULL. What is declared stays as it is.
    """
    facts = value.facts
    count = value_count(facts)
    if count is not None and count <= MAX_CELLS:
        return facts
    if facts.type is ColumnType.TEXT:
        found = _listed_text(facts, conditions.of(value), value)
    else:
        found = narrowed_by(conditions, value)
    said = found.domain != facts.domain and value_count(found) is not None
    return replace(found, nullable=False) if said else facts


def named_by(conditions: Conditions, value: Expression) -> Facts:
    """Return the facts of a column of a derived table, with the texts that WHERE names.

    Of texts that nobody declared alone; what is declared stays as it is.
    """
    facts = value.facts
    if facts.type is not ColumnType.TEXT or facts.domain is not None or not conditions:
        return facts
    return listed_by(conditions, value)


def _listed_text(
    facts: Facts, conditions: Sequence[Expression], value: Expression
) -> Facts:
    listed = _listed_in(value, conditions)
    kept = () if listed is None else _texts_left(value, listed, (), conditions)
    return replace(facts, domain=ValuesDomain(kept)) if kept else facts


# -- texts ---------------------------------------------------------------------


def _text_where(
    result: Expression,
    before: Sequence[Expression],
    own: Sequence[Expression],
    tries: Tries,
) -> Facts | None:
    facts, domain = result.facts, result.facts.domain
    listed = _candidates(result, own)
    if listed is None:
        return facts
    parts = sum(map(_parts, (*before, *own)))
    shapes = (_shape(result), *map(_shape, before), None, *map(_shape, own), listed)
    values = tries.remembered(
        shapes, len(listed) * parts, lambda: _texts_left(result, listed, before, own)
    )
    if values is None:
        return facts
    if isinstance(domain, ValuesDomain) and len(values) == len(domain.all_values()):
        return facts
    return replace(facts, domain=ValuesDomain(values)) if values else None


def _candidates(
    result: Expression, own: Sequence[Expression]
) -> tuple[Scalar, ...] | None:
    """Return the texts that a result may be: of its list, and of what it equals."""
    named = _listed_in(result, own)
    if not isinstance(result.facts.domain, ValuesDomain):
        return named
    listed = result.facts.domain.all_values()
    if named is None:
        return listed
    wanted = {*named}
    return tuple(value for value in listed if value in wanted)


def _texts_left(
    target: Expression,
    listed: Sequence[Scalar],
    before: Sequence[Expression],
    own: Sequence[Expression],
) -> tuple[str, ...]:
    """Return the texts for which ``own`` may all hold, and none before surely does."""
    return tuple(
        text
        for text in dict.fromkeys(map(str, listed))
        if all(_holds_for(target, text, c) is not False for c in own)
        and not any(_holds_for(target, text, c) for c in before)
    )


def _listed_in(
    target: Expression, conditions: Sequence[Expression]
) -> tuple[Scalar, ...] | None:
    """Return the literals of which a text is one, by the first that says so."""
    options = (_equals_one_of(target, condition) for condition in conditions)
    return next((option for option in options if option is not None), None)


def _equals_one_of(  # noqa: PLR0911 - an arm a form
    target: Expression, condition: Expression
) -> tuple[Scalar, ...] | None:
    """Return the literals of which a text is one where a condition is true."""
    if not isinstance(condition, Call):
        return None
    match condition.function:
        case Function.EQ | Function.IN if is_same_value(condition.operands[0], target):
            items = condition.operands[1:]
            values = [i.value for i in items if isinstance(i, Constant)]
            known = tuple(value for value in values if value is not None)
            return known if len(known) == len(items) else None
        case Function.AND:
            parts = (_equals_one_of(target, c) for c in condition.operands)
            return next((part for part in parts if part is not None), None)
        case Function.OR:
            options = [_equals_one_of(target, c) for c in condition.operands]
            listed = [option for option in options if option is not None]
            if len(listed) != len(options):
                return None
            return tuple(dict.fromkeys(chain.from_iterable(listed)))
        case _:
            return None


def _holds_for(  # noqa: PLR0911 - an arm a form
    target: Expression, text: str, condition: Expression
) -> bool | None:
    """Return whether a condition holds where a text is this; None: it may, or not."""
    if not isinstance(condition, Call):
        return None
    match condition.function:
        case Function.NOT:
            found = _holds_for(target, text, condition.operands[0])
            return None if found is None else not found
        case Function.AND | Function.OR:
            decides = condition.function is Function.OR
            parts = [_holds_for(target, text, c) for c in condition.operands]
            if decides in parts:
                return decides
            return None if None in parts else not decides
        case Function.EQ | Function.IN | Function.NE if is_same_value(
            condition.operands[0], target
        ):
            items = condition.operands[1:]
            known = [i.value for i in items if isinstance(i, Constant)]
            if len(known) != len(items):
                return None
            return (text in known) is (condition.function is not Function.NE)
        case Function.PREFIX | Function.SUFFIX | Function.INFIX if is_same_value(
            condition.operands[0], target
        ):
            return _TESTS[condition.function](text, str(condition.parameters[0]))
        case _:
            return None


_TESTS: Mapping[Function, Callable[[str, str], bool]] = {
    Function.PREFIX: str.startswith,
    Function.SUFFIX: str.endswith,
    Function.INFIX: str.__contains__,
}


# -- numbers and dates ---------------------------------------------------------


def _within(facts: Facts, known: Sequence[Reach | None]) -> Facts | None:
    reach = _of_all(known)
    if reach == UNKNOWN:
        return facts
    ends = _TYPE_ENDS.get(facts.type, (MIN_INTEGER, MAX_INTEGER))
    if reach is None or met(reach, ends) is None:
        return None
    reach = _within_ends(reach, ends)
    if isinstance(facts.domain, ValuesDomain):
        values = tuple(v for v in facts.domain.values if _holds(reach, v, facts.scale))
        return replace(facts, domain=ValuesDomain(values)) if values else None
    both = met(reach, reach_of(facts))
    return None if both is None else replace(facts, domain=domain_of(both, facts))


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


def _holds(reach: Reach, value: Scalar, scale: int) -> bool:
    step = grid_value(value, scale)
    low, high = reach
    return (low is None or low <= step) and (high is None or step <= high)


def _where(target: Expression, condition: Expression, *, holds: bool) -> Reach | None:
    """Return bounds of a value that is not NULL where a condition is true, or is not.

    None: it is nowhere there. Conditions that say nothing of it leave it unbounded,
    whichever of the three they are.
    """
    if not isinstance(condition, Call):
        return UNKNOWN
    match condition.function:
        case Function.NOT:
            return _where(target, condition.operands[0], holds=not holds)
        case Function.AND | Function.OR:
            parts = [_where(target, c, holds=holds) for c in condition.operands]
            all_of_them = (condition.function is Function.AND) is holds
            return _of_all(parts) if all_of_them else _of_any(parts)
        case _:
            return _compared(target, condition, holds=holds)


def _of_all(parts: Sequence[Reach | None]) -> Reach | None:
    reach: Reach | None = UNKNOWN
    for each in parts:
        reach = None if reach is None or each is None else met(reach, each)
    return reach


def _of_any(parts: Sequence[Reach | None]) -> Reach | None:
    known = [each for each in parts if each is not None]
    return joined(known) if known else None


def _compared(  # noqa: PLR0911 - an arm a form
    target: Expression, condition: Call, *, holds: bool
) -> Reach:
    first, *others = condition.operands
    values = [other.value for other in others if isinstance(other, Constant)]
    if len(values) != len(others) or not is_same_value(first, target):
        return UNKNOWN
    steps = [_step(value, target.facts) for value in values]
    function = condition.function
    if function in _NEGATED:
        return _half(function if holds else _NEGATED[function], steps[0])
    if holds and function in _LISTING:
        return ceil(min(steps)), floor(max(steps))
    if holds and function is Function.BETWEEN:
        return ceil(steps[0]), floor(steps[1])
    return UNKNOWN


_LISTING = frozenset((Function.EQ, Function.IN))


def _step(value: Scalar | None, facts: Facts) -> Fraction:
    if isinstance(value, int | Decimal):
        return Fraction(value) * Fraction(10**facts.scale)
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
