"""Which values a key has wherever WHERE holds, by trying all values of its one column.

``icd_category(code)`` after ``WHERE icd_chapter(code) = 'IX'``: both are of one column,
so each code that is listed says whether WHERE can be true of it, and what the key is.
Proof: docs/proofs/count_distinct.md.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Final

from privacy.schema import HierarchyDomain, RangeDomain, Scalar
from query_lang import hierarchies
from query_lang.binding.results.day_parts import part_of
from query_lang.binding.results.dependent_keys import MOST_DAYS, Trying
from query_lang.binding.results.spans import Span, days_within, of_span, spans_of
from query_lang.binding.results.values_at import (
    FORMS,
    UnknownError,
    is_day,
    is_number,
    kind_of,
)
from query_lang.binding.scalars.narrowing import ON_A_GRID, Conditions, left_by
from query_lang.binding.sizes import Tries
from query_lang.confining.truths import Truths
from query_lang.hierarchies import OwnHierarchies
from query_lang.plans import arithmetic
from query_lang.plans.dates.calendar import moment_bounds
from query_lang.plans.domains import key_values, value_count
from query_lang.plans.expressions import (
    Call,
    Constant,
    Expression,
    Facts,
    FieldRef,
    Function,
    slots_read,
)
from query_lang.plans.intervals import Interval, grid_value, midnight, shown_value
from query_lang.plans.scalars import texts


@dataclass(frozen=True, slots=True)
class _Code:
    """All texts that are read as one listed code; of no code at all, without levels.

    Attributes:
        domain: The hierarchy.
        listed: What they begin with, as ``hierarchies`` compares codes.
        levels: What lies around it, by the name of the level.
    """

    domain: HierarchyDomain
    listed: str | None
    levels: Mapping[str, str | None]


_Tried = Scalar | Span | _Code | None

_CHARACTERS_OF_A_STEP: Final = 32
"""That are read or written in the time that a part without texts takes."""


def tried_values(
    key: Expression,
    values: Sequence[Scalar | None],
    conditions: Conditions,
    own: OwnHierarchies,
    trying: Trying,
) -> frozenset[Scalar | None] | None:
    """Return all values that a key can have in rows for which all conditions are true.

    None where nothing is known: it is of several columns, of one without a short list
    of values, or of a function that only an engine computes; and no condition speaks of
    the key itself.

    Args:
        key: Of GROUP BY.
        values: Of its cells.
        conditions: That hold for every row.
        own: Hierarchies of files.
        trying: Is told what is tried, and may end it.
    """
    value = conditions.spelled_out(key)
    slots = slots_read(value)
    said = [c for c in conditions.all if slots & slots_read(c)]
    if not said:
        return None
    steps = sum(_steps(each)[0] for each in (value, *said))
    column = _column(value) if len(slots) == 1 else None
    found = None
    if column is not None:
        facts = _left(column, conditions)
        many = _how_many(facts, own)
        reading = _Reading(column, own)
        tried = _values_of(facts, own) if many is not None else iter(())
        is_known = many is not None and reading.knows(value, next(tried, None))
        if many is not None and is_known and trying.takes(many * steps):
            found = reading.left(value, said, _values_of(facts, own))
    if found is None and isinstance(value, Call):
        found = _by_itself(value, values, said, conditions.tries, trying)
    return found


def values_left(
    column: FieldRef,
    values: Sequence[Scalar | None],
    conditions: Conditions,
    own: OwnHierarchies,
    trying: Trying,
) -> frozenset[Scalar | None] | None:
    """Return at which of some values of a column all conditions may be true.

    Whatever else they speak of is not known. None where no condition speaks of the
    column, where it holds codes, which several texts can mean, or where too much
    would be tried.

    Args:
        column: Of rows; it may have other values, too.
        values: Of it, as rows hold them.
        conditions: That hold for every row.
        own: Hierarchies of files.
        trying: Is told what is tried, and may end it.
    """
    said = [c for c in conditions.all if column.slot in slots_read(c)]
    steps = sum(_steps(each)[0] for each in said)
    is_read = isinstance(column.facts.domain, HierarchyDomain)
    if not said or is_read or not trying.takes(len(values) * steps):
        return None
    return _Reading(column, own).left(column, said, values)


def _by_itself(
    key: Call,
    values: Sequence[Scalar | None],
    said: Sequence[Expression],
    tries: Tries,
    trying: Trying,
) -> frozenset[Scalar | None] | None:
    """Return the values of a key that conditions leave where they speak of the key.

    Whatever else they speak of is not known: ``hour >= 22 OR hour < 6``.
    """
    steps = sum(_steps(each)[0] for each in said)
    if not trying.takes(steps):
        return None
    number = tries.number(key)
    same = [
        part
        for part in chain.from_iterable(map(_calls, said))
        if tries.number(part) == number
    ]
    if not same or not trying.takes(len(values) * steps):
        return None
    return _Reading(None, {}, (key, *same)).left(key, said, values)


def _calls(tree: Expression) -> Iterator[Call]:
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Call):
            yield part
            waiting += part.operands


def _steps(tree: Expression) -> tuple[int, int]:
    """Return how many parts are read at each value, and of how many characters.

    A part is read once; what is made of long texts takes as many more steps.
    """
    if not isinstance(tree, Call):
        value = tree.value if isinstance(tree, Constant) else None
        return 1, len(value) if isinstance(value, str) else 0
    is_looked_up = tree.function is Function.IN and _listed(tree) is not None
    parts = tree.operands[:1] if is_looked_up else tree.operands
    read = [_steps(part) for part in parts]
    said = sum(len(each) for each in tree.parameters if isinstance(each, str))
    characters = said + sum(many for _, many in read)
    own = 1 + characters // _CHARACTERS_OF_A_STEP
    return own + sum(steps for steps, _ in read), characters


def _column(tree: Expression) -> FieldRef | None:
    """Return the column that a value is of."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, FieldRef):
            return part
        waiting += part.operands if isinstance(part, Call) else ()
    return None


def _left(column: FieldRef, conditions: Conditions) -> Facts:
    """Return what WHERE leaves of a column: of codes and texts all are tried."""
    facts = column.facts
    return left_by(conditions, column) if facts.type in ON_A_GRID else facts


def _how_many(facts: Facts, own: OwnHierarchies) -> int | None:
    """Return how many values of a column are to try; None: too many, or unknown."""
    if isinstance(facts.domain, HierarchyDomain):
        return hierarchies.code_count(facts.domain, own)
    moments = _moments(facts)
    count = value_count(facts) if moments is None else days_within(moments)
    return count if count is not None and count <= MOST_DAYS else None


def _moments(facts: Facts) -> Interval | None:
    """Return the first and last of moments that are not listed one by one."""
    is_range = isinstance(facts.domain, RangeDomain)
    return moment_bounds(facts) if is_range else None


def _values_of(facts: Facts, own: OwnHierarchies) -> Iterator[_Tried]:
    """Yield each value that a column can have, or its moments of a day; NULL last."""
    moments = _moments(facts)
    if isinstance(facts.domain, HierarchyDomain):
        yield from _codes(facts.domain, own)
        yield from (_Code(facts.domain, None, {}), None)
    elif moments is not None:
        yield from spans_of(moments)
        yield from (None,) * facts.nullable
    else:
        yield from key_values(facts)


def _codes(domain: HierarchyDomain, own: OwnHierarchies) -> Iterator[_Code]:
    names = hierarchies.levels_of(domain, own)
    for code, row in hierarchies.listed_codes(domain, own):
        yield _Code(domain, code, dict(zip(names, row, strict=True)))


class _Reading:
    """What expressions of one value are at each that it may have.

    Args:
        column: That is tried; None: what is tried is no column.
        own: Hierarchies of files.
        same: Parts of expressions that are the value.
    """

    def __init__(
        self,
        column: FieldRef | None,
        own: OwnHierarchies,
        same: Sequence[Expression] = (),
    ) -> None:
        self._slot = None if column is None else column.slot
        self._own, self._same = own, {id(each) for each in same}
        self._lists: dict[int, _Listed | None] = {}  # of IN, by its identity
        self._codes: dict[int, frozenset[str | None] | None] = {}
        self._starts: dict[tuple[str, str], str] = {}
        self._known: dict[int, _Tried | UnknownError] = {}  # at one value

    def knows(self, key: Expression, value: _Tried) -> bool:
        """Whether it is known what a key is at a value."""
        self._known = {}
        try:
            self._plain(key, value)
        except UnknownError:
            return False
        return True

    def left(
        self, key: Expression, conditions: Sequence[Expression], tried: Iterable[_Tried]
    ) -> frozenset[Scalar | None] | None:
        """Return what a key is at values at which all conditions may be true."""
        found = set[Scalar | None]()
        for value in tried:
            self._known = {}
            if not all(self._truths(each, value).true for each in conditions):
                continue
            try:
                found.add(self._plain(key, value))
            except UnknownError:
                return None
        return frozenset(found)

    def _truths(self, condition: Expression, value: _Tried) -> Truths:
        """Return which of the three a condition may be, in the lowest bits."""
        if isinstance(condition, Call):
            parts = condition.operands
            match condition.function:
                case Function.NOT:
                    return self._truths(parts[0], value).denied()
                case Function.AND | Function.OR:
                    return self._chain(condition, value)
                case _:
                    pass
        try:
            found = self.at(condition, value)
        except UnknownError:
            return _ANYTHING
        return Truths(int(found is True), int(found is False), int(found is None))

    def _chain(self, call: Call, value: _Tried) -> Truths:
        is_all = call.function is Function.AND
        found = Truths(int(is_all), int(not is_all), 0)
        for part in call.operands:
            other = self._truths(part, value)
            found = found.both(other) if is_all else found.either(other)
        return found

    def at(self, tree: Expression, value: _Tried) -> _Tried:
        """Return what an expression is at a value; None is NULL.

        Raises:
            UnknownError: It reads more of the row, or nothing here computes it.
        """
        match tree:
            case Constant():
                return tree.value
            case FieldRef(slot) if slot == self._slot:
                return value
            case Call() if id(tree) in self._same:
                return value
            case Call():
                return self._remembered(tree, value)
            case _:
                raise UnknownError

    def _remembered(self, call: Call, value: _Tried) -> _Tried:
        """Return what a call is, read once at a value however often it is asked."""
        if id(call) not in self._known:
            try:
                self._known[id(call)] = self._called(call, value)
            except UnknownError as error:
                self._known[id(call)] = error
        found = self._known[id(call)]
        if isinstance(found, UnknownError):
            raise found
        return found

    def _called(self, call: Call, value: _Tried) -> _Tried:  # noqa: PLR0911 - an arm a kind
        first = self.at(call.operands[0], value)
        if call.function is Function.IS_NULL:
            return first is None
        if isinstance(first, _Code):
            return self._of_code(call, first)
        if isinstance(first, Span):
            return of_span(call, first)
        listed = self._listed(call) if call.function is Function.IN else None
        if listed is not None:
            return listed.holds(first)
        if call.function in FORMS and call.function is not Function.RESCALE:
            return FORMS[call.function](call, lambda each: self._plain(each, value))
        operands = [self._plain(each, value) for each in call.operands]
        return _computed(call, operands)

    def _plain(self, tree: Expression, value: _Tried) -> Scalar | None:
        """Return what an expression is where its value is known.

        Raises:
            UnknownError: It is not, as a code's is not: it is written in several ways.
        """
        found = self.at(tree, value)
        if isinstance(found, _Code | Span):
            raise UnknownError
        return found

    def _listed(self, call: Call) -> "_Listed | None":
        """Return the literals of a list, made once: it is asked at each value."""
        if id(call) not in self._lists:
            self._lists[id(call)] = _listed(call)
        return self._lists[id(call)]

    # -- codes, of which only what they begin with is known ---------------------

    def _of_code(self, call: Call, code: _Code) -> _Tried:
        match call.function:
            case Function.LEVEL:
                return code.levels.get(str(call.parameters[1]))
            case Function.UPPER | Function.LOWER:
                return code
            case Function.PREFIX if code.listed is not None:
                if self._begins(code.domain, code.listed, str(call.parameters[0])):
                    raise UnknownError
                return False
            case Function.EQ | Function.IN | Function.NE:
                codes = self._codes_of(call, code.domain)
                if codes is None or code.listed in codes:
                    raise UnknownError
                return call.function is Function.NE
            case _:
                raise UnknownError

    def _codes_of(
        self, call: Call, domain: HierarchyDomain
    ) -> frozenset[str | None] | None:
        """Return what literals begin with; None among them: one is no code.

        None where that is not known: of what is no text, and of other letters than
        ASCII's, as engines differ in which of those are alike.
        """
        if id(call) not in self._codes:
            listed = self._listed(call)
            values = [] if listed is None or listed.has_null else listed.values
            literals = [each for each in values if isinstance(each, str)]
            known = 0 < len(literals) == len(values) and all(map(str.isascii, literals))
            listed_as = hierarchies.listed_as(domain, self._own)
            found = frozenset(map(listed_as, literals))
            self._codes[id(call)] = found if known else None
        return self._codes[id(call)]

    def _begins(self, domain: HierarchyDomain, listed: str, part: str) -> bool:
        """Whether texts of a code may start so: a category is followed by more.

        Raises:
            UnknownError: Engines differ in which letters are alike.
        """
        if not part.isascii():
            raise UnknownError
        if (domain.name, part) not in self._starts:
            is_own = domain.name in self._own
            start = hierarchies.normal_code(part) if is_own else part.upper()
            self._starts[domain.name, part] = start
        start = self._starts[domain.name, part]
        return listed.startswith(
            start if domain.name in self._own else start[: len(listed)]
        )


@dataclass(frozen=True, slots=True)
class _Listed:
    """Literals of a list, which are looked up.

    Attributes:
        values: But NULL; equal numbers are one, whatever their decimals.
        kind: That all of them have.
        has_null: Whether NULL is among them.
    """

    values: frozenset[Scalar]
    kind: type
    has_null: bool

    def holds(self, value: Scalar | None) -> bool | None:
        """Whether a value is listed; None where a NULL lets that be unknown.

        Raises:
            UnknownError: It is of another kind.
        """
        if value is None:
            return None
        if kind_of(value) is not self.kind:
            raise UnknownError
        return True if value in self.values else None if self.has_null else False


def _listed(call: Call) -> _Listed | None:
    """Return the literals of a list; None if it has others, or several kinds."""
    others = call.operands[1:]
    items = [each.value for each in others if isinstance(each, Constant)]
    values = frozenset(each for each in items if each is not None)
    if len(items) < len(others):
        return None
    try:
        kinds = {kind_of(each) for each in values}
    except UnknownError:
        return None
    if len(kinds) != 1 or kinds == {datetime}:  # moments are read one by one
        return None
    return _Listed(values, kinds.pop(), None in items)


_ANYTHING: Final = Truths(1, 1, 1)


def _computed(call: Call, operands: list[Scalar | None]) -> Scalar | None:
    """Return a function of values; NULL where one of them is.

    Raises:
        UnknownError: Nothing here computes it.
    """
    known = [each for each in operands if each is not None]
    compute = _computing(call)
    if call.function in _EXTREMES:
        return compute(call, known) if known else None
    return compute(call, known) if len(known) == len(operands) else None


_Compute = Callable[[Call, list[Scalar]], Scalar | None]


def _computing(call: Call) -> _Compute:
    if part_of(call) is not None:
        return _part
    if call.function in _OWN:
        return _OWN[call.function]
    if arithmetic.is_computed(call.function):
        return _number
    if texts.is_computed(call.function):
        return _text
    raise UnknownError


def _part(call: Call, operands: list[Scalar]) -> Scalar | None:
    part, found = part_of(call), operands[0]
    day = found.date() if isinstance(found, datetime) else found
    if part is None or not is_day(day):
        raise UnknownError
    return part.of(day)


def _number(call: Call, operands: list[Scalar]) -> Scalar | None:
    """Return the value of a function of numbers, which computes in steps of grids."""
    if not all(map(is_number, operands)):
        raise UnknownError
    scales = [each.facts.scale for each in call.operands]
    steps = tuple(map(grid_value, operands, scales))
    found = arithmetic.computed(call, steps)
    return None if found is None else shown_value(found, call.facts)


def _text(call: Call, operands: list[Scalar]) -> Scalar:
    found = [each for each in operands if isinstance(each, str)]
    if len(found) < len(operands):
        raise UnknownError
    return texts.computed(call.function, call.parameters, tuple(found))


def _band(call: Call, operands: list[Scalar]) -> Scalar:
    (age,), (width,) = operands, call.parameters
    if not isinstance(age, int) or not isinstance(
        width, int
    ):  # pragma: no cover - bound
        raise UnknownError
    first = age // width * width
    return f"{first}-{first + width - 1}"


def _extreme(call: Call, operands: list[Scalar]) -> Scalar:
    """Return the least or the greatest number of those that are not NULL."""
    numbers = [each for each in operands if is_number(each)]
    if len(numbers) < len(operands):
        raise UnknownError
    return min(numbers) if call.function is Function.LEAST else max(numbers)


def _tested(test: Callable[[str, str], bool]) -> _Compute:
    def tested(call: Call, operands: list[Scalar]) -> bool:
        if not isinstance(operands[0], str):  # pragma: no cover - bound so
            raise UnknownError
        return test(operands[0], str(call.parameters[0]))

    return tested


def _day_of(_: Call, operands: list[Scalar]) -> Scalar:
    (moment,) = operands
    if not isinstance(moment, datetime):
        raise UnknownError
    return moment.date()


def _midnight_of(_: Call, operands: list[Scalar]) -> Scalar:
    (day,) = operands
    if not is_day(day):
        raise UnknownError
    return midnight(day)


def _unknown(_: Call, __: list[Scalar]) -> Scalar:
    raise UnknownError


_EXTREMES: Final = frozenset({Function.LEAST, Function.GREATEST})
_OWN: Final[Mapping[Function, _Compute]] = {
    Function.AGE_BAND: _band,
    Function.DATE_OF: _day_of,
    Function.MIDNIGHT_OF: _midnight_of,
    **dict.fromkeys(  # of NULL they are NULL, and of others not known here
        (Function.EXTRACT, Function.ADD_MICROSECONDS, Function.TIME_BETWEEN), _unknown
    ),
    Function.LEAST: _extreme,
    Function.GREATEST: _extreme,
    Function.LEVEL: lambda *_: None,  # of what is NULL: of codes it is read before
    Function.PREFIX: _tested(str.startswith),
    Function.SUFFIX: _tested(str.endswith),
    Function.INFIX: _tested(str.__contains__),
}
