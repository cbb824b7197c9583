"""Conditions of any kind, joined by AND, OR and NOT in SQL's three-valued logic."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Generic, TypeAlias, TypeVar

Atom = TypeVar("Atom")
Truth = TypeVar("Truth")


@dataclass(frozen=True, slots=True)
class Negation(Generic[Atom]):
    """NOT in three-valued logic."""

    item: "Logical[Atom]"


@dataclass(frozen=True, slots=True)
class All(Generic[Atom]):
    """AND in three-valued logic, over one or more."""

    items: tuple["Logical[Atom]", ...]


@dataclass(frozen=True, slots=True)
class AnyOf(Generic[Atom]):
    """OR in three-valued logic, over one or more."""

    items: tuple["Logical[Atom]", ...]


Logical: TypeAlias = Atom | Negation[Atom] | All[Atom] | AnyOf[Atom]


@dataclass(frozen=True)  # with slots, Python 3.11 cannot make a Logic[...] of one kind
class Logic(Generic[Atom, Truth]):
    """How conditions on one kind of atoms are evaluated.

    Attributes:
        judge: What an atom is.
        negate: NOT.
        both: AND of two. OR is NOT of AND of NOT, in three-valued logic too.
    """

    judge: Callable[[Atom], Truth]
    negate: Callable[[Truth], Truth]
    both: Callable[[Truth, Truth], Truth]

    def evaluate(self, condition: Logical[Atom]) -> Truth:
        """Return what a condition is."""
        match condition:
            case Negation(item):
                return self.negate(self.evaluate(item))
            case All(items):
                return reduce(self.both, map(self.evaluate, items))
            case AnyOf(items):
                nots = (self.negate(self.evaluate(item)) for item in items)
                return self.negate(reduce(self.both, nots))
            case _:
                return self.judge(condition)


def atoms(condition: Logical[Atom]) -> Iterator[Atom]:
    """Yield what a condition joins, in the order in which it is written."""
    match condition:
        case Negation(item):
            yield from atoms(item)
        case All(items) | AnyOf(items):
            for item in items:
                yield from atoms(item)
        case _:
            yield condition
