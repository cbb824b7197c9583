"""What is known of a value that is measured, where conditions hold for its row.

Of a value that conditions compare, their bounds; of one that is computed, what follows
of those of what it is computed of: of ``ROUND(x, 0)`` and ``x * 2`` by x, of a CASE by
each branch, in which its own condition holds and those before it do not. So bounds
that WHERE names reach whatever is made of the value. Proof: docs/proofs/sum.md.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import is_
from typing import Final

from query_lang.binding.dates import parts, shifts
from query_lang.binding.scalars import casts, numbers
from query_lang.binding.scalars.differences import (
    compared_pair,
    difference_of,
    pair_of,
)
from query_lang.binding.scalars.narrowing import (
    JOINING,
    ON_A_GRID,
    Conditions,
    Value,
    bounds_where,
    compared_in,
    facts_within,
    parts_of,
)
from query_lang.binding.sizes import MOST_MAPPED
from query_lang.plans import intervals
from query_lang.plans.arithmetic import is_computed
from query_lang.plans.dates import calendar
from query_lang.plans.domains import value_count
from query_lang.plans.expressions import (
    Call,
    Constant,
    Expression,
    Facts,
    FieldRef,
    Function,
    conjuncts,
)
from query_lang.plans.intervals import Reach, joined

_MOST_STEPS: Final = 2_000
"""Values looked at, comparisons read and values of lists compared for one query; what
is asked beyond keeps what is declared. A step takes some 20 microseconds."""
_MAPPED_IN_A_STEP: Final = 8
_NOTED_IN_A_STEP: Final = 8

_Said = tuple[Expression, bool]
"""A condition, and whether it is true, or is not."""


class Bounds:
    """What is known of values where conditions hold for every row.

    What is declared stays where nothing is said of a value, or where none can be.

    Args:
        conditions: That hold.

    Attributes:
        made: What slots of derived tables are made of.
    """

    def __init__(self, conditions: Conditions) -> None:
        self._tries, self.made = conditions.tries, conditions.made
        self._steps = _MOST_STEPS
        self._said: dict[Hashable, list[_Said]] = {}
        self._spoken: dict[int, tuple[Expression, Sequence[Hashable]]] = {}
        self._depth = 0  # of branches of CASE
        self._known: dict[int, Facts | None] = {}
        self._by_said: dict[tuple[int, tuple[tuple[int, bool], ...]], Facts | None] = {}
        for condition in chain.from_iterable(map(conjuncts, conditions.plain)):
            self._say(condition, holds=True)

    def of(self, value: Expression) -> Facts:
        """Return what is known of a value that is not NULL."""
        return self._of(value) or value.facts

    def _of(self, value: Expression) -> Facts | None:
        """Return what is known of a value; None where it can only be NULL."""
        if value.facts.type not in ON_A_GRID or isinstance(value, Constant):
            return value.facts
        self._steps -= 1
        if self._steps < 0:
            return value.facts
        number = self._tries.number(value)
        if self._depth:
            return self._found(value)
        if number not in self._known:
            self._known[number] = self._found(value)
        return self._known[number]

    def _found(self, value: Expression) -> Facts | None:
        found = self._compared(value)
        if found is None:
            return None
        made = self._computed(value)
        if made is None or made.domain == value.facts.domain:
            return None if made is None else found
        return self._within(found, [calendar.reach_of(made)])

    def _within(self, facts: Facts, reaches: Sequence[Reach | None]) -> Facts | None:
        self._steps -= _values(facts)
        return facts if self._steps < 0 else facts_within(facts, reaches)

    # -- what compares a value -----------------------------------------------------

    def _compared(self, value: Expression) -> Facts | None:
        said = self._about(value)
        if not said:
            return value.facts
        told = tuple((id(condition), holds) for condition, holds in said)
        key = self._tries.number(value), told
        if key not in self._by_said:
            self._by_said[key] = self._bounded(value, said)
        return self._by_said[key]

    def _bounded(self, value: Expression, said: Sequence[_Said]) -> Facts | None:
        """Return what conditions leave of a value; who keeps it keeps them, too."""
        self._steps -= sum(parts_of(condition) for condition, _ in said)
        meant = Value(value, self._tries, by_parts=True, differs=True)
        reaches: dict[bool, list[Reach | None]] = {True: [], False: []}
        for condition, holds in said:
            reaches[holds].append(bounds_where(meant, condition, holds=holds))
        sure = self._within(value.facts, reaches[True])
        if sure is None:
            return None
        if sure.domain != value.facts.domain and meant.difference is None:
            sure = replace(sure, nullable=False)  # comparing NULL is never true
        return self._within(sure, reaches[False])

    def _about(self, value: Expression) -> list[_Said]:
        keys: list[Hashable] = [self._tries.number(value)]
        difference = difference_of(value, self._tries)
        if difference is not None:
            keys.append(pair_of(difference.last, difference.first))
        found = {
            (id(condition), holds): (condition, holds)
            for key in keys
            for condition, holds in self._said.get(key, ())
        }
        return list(found.values())

    def _say(self, condition: Expression, *, holds: bool) -> Sequence[Hashable]:
        """Note what a condition speaks of; return it, to be taken back."""
        found = self._spoken_of(condition)
        self._steps -= len(found) // _NOTED_IN_A_STEP
        for key in found:
            self._said.setdefault(key, []).append((condition, holds))
        return found

    def _spoken_of(self, condition: Expression) -> Sequence[Hashable]:
        """Return what a condition compares, found once: branches meet it many times."""
        known = self._spoken.get(id(condition))
        if known is None:
            self._steps -= parts_of(condition) // _NOTED_IN_A_STEP
            found: set[Hashable] = set(map(self._tries.number, compared_in(condition)))
            found.update(self._pairs_in(condition))
            # The condition is kept, too: another one may not take its identity.
            known = self._spoken[id(condition)] = condition, tuple(found)
        return known[1]

    def _pairs_in(self, condition: Expression) -> set[frozenset[int]]:
        if not isinstance(condition, Call):
            return set()
        if condition.function in JOINING:
            return set().union(*map(self._pairs_in, condition.operands))
        first, *others = compared_pair(condition, self._tries) or (None,)
        return {pair_of(first, other) for other in others if first is not None}

    def _take_back(self, said: Sequence[Hashable]) -> None:
        for key in said:
            self._said[key].pop()

    # -- what a value is computed of -----------------------------------------------

    def _computed(self, value: Expression) -> Facts | None:  # noqa: PLR0911 - an arm a form
        """Return what follows of operands; what is declared where nothing does."""
        if isinstance(value, FieldRef):
            made = self.made.get(value.slot)
            return value.facts if made is None else self._of(made)
        if not isinstance(value, Call):
            return value.facts
        match value.function:
            case Function.CASE:
                return _any_of(value, self._branches(value))
            case Function.SWITCH:
                results = (*value.operands[2::2], value.operands[-1])
                return _any_of(value, map(self._result, results))
            case Function.COALESCE:
                return _any_of(value, map(self._result, value.operands))
            case Function.LEAST | Function.GREATEST:
                return self._extreme(value)
            case _:
                return self._by_operands(value)

    def _branches(self, value: Call) -> list[Facts | None]:
        """Return what is known of each branch; no more than is declared of none."""
        *branches, rest = value.operands
        found, said = [], []
        self._steps -= len(branches) // _NOTED_IN_A_STEP
        self._depth += 1
        for condition, result in zip(branches[::2], branches[1::2], strict=True):
            if self._steps < 0:
                break
            own = self._say(condition, holds=True)
            found.append(self._result(result))
            self._take_back(own)
            said.append(self._say(condition, holds=False))
        found.append(value.facts if self._steps < 0 else self._result(rest))
        for each in reversed(said):
            self._take_back(each)
        self._depth -= 1
        return found

    def _result(self, value: Expression) -> Facts | None:
        """Return what is known of what may be yielded: NULL is no value."""
        is_null = isinstance(value, Constant) and value.value is None
        return None if is_null else self._of(value)

    def _extreme(self, value: Call) -> Facts | None:
        found = [each for each in map(self._of, value.operands) if each is not None]
        if not found:
            return None
        reaches = [(calendar.reach_of(each), each.nullable) for each in found]
        is_least = value.function is Function.LEAST
        reach = intervals.least(reaches) if is_least else intervals.greatest(reaches)
        domain = calendar.domain_of(reach, value.facts)
        return value.facts if domain is None else replace(value.facts, domain=domain)

    def _by_operands(self, value: Call) -> Facts | None:
        """Return what is known of a function that is NULL where an operand is."""
        recomputed = _RECOMPUTED.get(value.function)
        if recomputed is None:
            if not is_computed(value.function):
                return value.facts
            recomputed = _as_a_number
        known = [self._of(operand) for operand in value.operands]
        found = [facts for facts in known if facts is not None]
        if len(found) < len(known):
            return None
        operands = [
            operand
            if facts.domain == operand.facts.domain
            else replace(operand, facts=facts)
            for operand, facts in zip(value.operands, found, strict=True)
        ]
        if all(map(is_, operands, value.operands)) or self._steps < 0:
            return value.facts
        self._steps -= sum(_values(each.facts) for each in operands)
        return recomputed(value, operands)


def _as_a_number(value: Call, operands: Sequence[Expression]) -> Facts:
    call = replace(value, operands=tuple(operands))
    return replace(value.facts, domain=numbers.domain_of_call(call))


def _any_of(value: Call, found: Iterable[Facts | None]) -> Facts | None:
    """Return what is known of one of several values, of those that there can be."""
    reaches = [calendar.reach_of(each) for each in found if each is not None]
    if not reaches:
        return None
    domain = calendar.domain_of(joined(reaches), value.facts)
    return value.facts if domain is None else replace(value.facts, domain=domain)


def _values(facts: Facts) -> int:
    return min(value_count(facts) or 0, MOST_MAPPED) // _MAPPED_IN_A_STEP


_Operands = Sequence[Expression]
_RECOMPUTED: Mapping[Function, Callable[[Call, _Operands], Facts]] = {
    Function.DAYS_BETWEEN: lambda _, made: parts.days_between(*made).facts,
    Function.MONTHS_BETWEEN: lambda _, made: parts.months_between(*made).facts,
    Function.YEARS_BETWEEN: lambda _, made: parts.years_between(*made).facts,
    Function.AGE_YEARS: lambda _, made: parts.age_in_years(*made).facts,
    Function.AGE_MONTHS: lambda _, made: parts.age_in_months(*made).facts,
    Function.EXTRACT: lambda call, made: parts.extracted(call, made[0]).facts,
    Function.TIME_BETWEEN: lambda call, made: (
        shifts.time_between(made[0], made[1], call.facts.type).facts
    ),
    Function.ADD_DAYS: lambda call, made: shifts.by_days(call.function, *made).facts,
    Function.SUBTRACT_DAYS: (
        lambda call, made: shifts.by_days(call.function, *made).facts
    ),
    Function.DATE_OF: lambda _, made: casts.date_of(made[0]).facts,
    Function.MIDNIGHT_OF: lambda _, made: casts.midnight_of(made[0]).facts,
    Function.CAST_NUMBER: lambda call, made: casts.as_number(call, made[0]).facts,
}
"""Functions of days and casts, bound again over operands of which more is known."""
