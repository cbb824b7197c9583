"""What is computed, as a ratio of two sums of noisy numbers where it is one.

A vector that stands in both, as in ``a / (a + b)``, is the same noise in both.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Final

from query_lang.plans.compiled import (
    AverageShown,
    ComputedShown,
    LiteralShown,
    NumberShown,
    Operation,
    Shown,
    WindowShown,
)
from query_lang.showing.computed.nulls import guards_of
from query_lang.showing.windows import ENDS, EXTREMES

OWN: Final = -1
"""The cell that is looked at, whichever it is."""

Atom = tuple[int, int]
"""A noisy number: its vector and its cell, or ``OWN``."""

_MOST: Final = 10**30
"""Up to which weights are computed with, and from whose inverse on, but for 0."""


Kind = tuple[int, int, int]
"""Like terms of a sum: their weight's numerator and denominator, and their vector.
Whole numbers, which are hashed fast: a window reads a thousand terms, mostly alike."""


@dataclass(frozen=True)
class Affine:
    """A weighted sum of noisy numbers in grid steps, and a constant.

    A window's partition has one for all its rows: what is found of it is remembered.
    """

    terms: Mapping[Atom, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)

    @property
    def is_constant(self) -> bool:
        """Whether nothing noisy is in it."""
        return not self.terms

    def times(self, factor: Fraction) -> "Affine":
        """Return it so many times."""
        if factor == 1:
            return self
        if factor == 0:
            return Affine()
        terms = {atom: weight * factor for atom, weight in self.terms.items()}
        return Affine(terms, self.constant * factor)

    def plus(self, other: "Affine") -> "Affine":
        """Return the sum; what cancels is no longer in it."""
        terms = dict(self.terms)
        for atom, weight in other.terms.items():
            terms[atom] = terms.get(atom, Fraction(0)) + weight
        kept = {atom: weight for atom, weight in terms.items() if weight != 0}
        return Affine(kept, self.constant + other.constant)

    def multiple_of(self, other: "Affine") -> Fraction | None:
        """Return the factor that makes the other one this, if there is one."""
        if len(self.terms) != len(other.terms):
            return None
        if not self.terms:
            return None if other.constant == 0 else self.constant / other.constant
        atom = next(iter(self.terms))
        factor = self.terms[atom] / other.terms.get(atom, self.terms[atom])
        return factor if other.times(factor) == self else None

    @cached_property
    def is_in_range(self) -> bool:
        """Whether all weights can be computed with."""
        return all(map(_is_in_range, (*self.terms.values(), self.constant)))

    @cached_property
    def kinds(self) -> Counter[Kind]:
        """How many like terms there are."""
        return Counter(
            (weight.numerator, weight.denominator, vector)
            for (vector, _), weight in self.terms.items()
        )


def _is_in_range(weight: Fraction) -> bool:
    above, below = abs(weight.numerator), weight.denominator
    if above <= _MOST and below <= _MOST:
        return True  # most are: this is fast
    return above <= _MOST * below and below <= _MOST * above


ONE: Final = Affine(constant=Fraction(1))


@dataclass(frozen=True, slots=True)
class LinearFraction:
    """A weighted sum over another."""

    over: Affine
    under: Affine = ONE

    @property
    def is_constant(self) -> bool:
        """Whether nothing noisy is in it."""
        return self.over.is_constant and self.under.is_constant


def fraction_of(over: Affine, under: Affine) -> LinearFraction | None:
    """Return a ratio in its simplest form; None if nothing can be said of it."""
    in_range = over.is_in_range and under.is_in_range
    if not in_range or under == Affine():
        return None
    factor = over.multiple_of(under)
    if factor is not None:
        return LinearFraction(Affine(constant=factor))
    if under.is_constant:
        return LinearFraction(over.times(1 / under.constant))
    return LinearFraction(over, under)


Known = Callable[[Shown, int], Fraction | None]
"""The number that a key shows in a cell, if it is one."""


@dataclass(frozen=True, slots=True)
class FractionReader:
    """Reads one cell's values as ratios.

    Attributes:
        cell: Its place; ``OWN`` where it is the same in all.
        scales: Decimals of each vector.
        known: What keys show there.
        frames: The cells that a window reads there.
        members: Of a row the cells that it adds up; None where each is its own.
    """

    cell: int
    scales: tuple[int, ...]
    known: Known
    frames: Callable[[WindowShown, int], Sequence[int]] = lambda *_: ()
    totals: dict[tuple[int, tuple[int, ...]], Affine | None] = field(
        default_factory=dict
    )
    """Sums that windows read, by the identity of the window, for readers of one answer:
    a partition's rows have it in common, or each one number more than the row before.
    """
    members: Sequence[Sequence[int]] | None = None

    def read(self, shown: Shown) -> LinearFraction | None:  # noqa: PLR0911 - a form each
        """Return what is shown as a ratio of sums, or None."""
        match shown:
            case NumberShown(vector):
                return LinearFraction(self._number(vector))
            case AverageShown(total, number):
                return LinearFraction(self._number(total), self._number(number))
            case LiteralShown(value):
                return None if value is None else _constant(value)
            case ComputedShown():
                return self._computed(shown)
            case WindowShown():
                return self._window(shown)
            case _:
                found = self.known(shown, self.cell)
                return None if found is None else _constant(found)

    def _window(self, shown: WindowShown) -> LinearFraction | None:
        """Return a sum over other cells, if what they show are sums themselves.

        And are never NULL: a sum leaves NULL out, though a divisor of 0 may cancel.
        """
        cells = self.frames(shown, self.cell)
        if shown.operand is None or not cells:
            return None
        if shown.name in {"lag", "lead", *ENDS}:
            at = cells[-1] if shown.name == "last_value" else cells[0]
            return self._at(at, shown.operand)
        if shown.name in EXTREMES or guards_of(shown.operand) != ():
            return None
        total = self._total(shown, shown.operand, tuple(cells))
        share = Fraction(1, len(cells)) if shown.name == "avg" else Fraction(1)
        return None if total is None else LinearFraction(total.times(share))

    def _at(self, cell: int, shown: Shown) -> LinearFraction | None:
        return replace(self, cell=cell).read(shown)

    def _total(
        self, shown: WindowShown, operand: Shown, cells: tuple[int, ...]
    ) -> Affine | None:
        """Return the sum of what cells show, if all of them are sums themselves."""
        known = id(shown), cells
        if known not in self.totals:
            before = id(shown), cells[:-1]
            has_before = self.totals.get(before) is not None
            start = self.totals[before] if has_before else None
            added = cells[-1:] if has_before else cells
            self.totals[known] = self._summed(start or Affine(), operand, added)
        return self.totals[known]

    def _summed(
        self, start: Affine, operand: Shown, cells: Sequence[int]
    ) -> Affine | None:
        terms, constant = dict(start.terms), start.constant
        for cell in cells:
            part = self._at(cell, operand)
            if part is None or not part.under.is_constant:
                return None
            over = part.over.times(1 / part.under.constant)
            constant += over.constant
            for atom, weight in over.terms.items():
                terms[atom] = terms[atom] + weight if atom in terms else weight
        kept = {atom: weight for atom, weight in terms.items() if weight}
        return Affine(kept, constant)

    def _number(self, vector: int) -> Affine:
        weight = Fraction(1, 10 ** self.scales[vector])
        cells = (self.cell,) if self.members is None else self.members[self.cell]
        return Affine({(vector, cell): weight for cell in cells})

    def _computed(self, shown: ComputedShown) -> LinearFraction | None:
        read = _READ.get(shown.operation)
        if read is None:
            return None
        parts = [self.read(operand) for operand in shown.operands]
        held = [part for part in parts if part is not None]
        return read(held) if len(held) == len(parts) else None


def _constant(value: Fraction) -> LinearFraction:
    """Return a number that has no noise."""
    return LinearFraction(Affine(constant=value))


_Parts = list[LinearFraction]


def _sum(parts: _Parts) -> LinearFraction | None:
    first, second = parts
    factor = first.under.multiple_of(second.under)
    if factor is not None:
        return fraction_of(first.over.plus(second.over.times(factor)), first.under)
    for one, other in ((first, second), (second, first)):
        if other.is_constant:
            added = one.under.times(other.over.constant / other.under.constant)
            return fraction_of(one.over.plus(added), one.under)
    return None


def _difference(parts: _Parts) -> LinearFraction | None:
    return _sum([parts[0], _negative(parts[1])])


def _negative(part: LinearFraction) -> LinearFraction:
    return LinearFraction(part.over.times(Fraction(-1)), part.under)


def _product(parts: _Parts) -> LinearFraction | None:
    first, second = parts
    for one, other in ((first, second), (second, first)):
        if other.is_constant:
            factor = other.over.constant / other.under.constant
            return fraction_of(one.over.times(factor), one.under)
        crossed = one.over.multiple_of(other.under)
        if crossed is not None:  # a / b * (b / c)
            return fraction_of(other.over.times(crossed), one.under)
    return None


def _quotient(parts: _Parts) -> LinearFraction | None:
    first, second = parts
    if second.over.is_constant and second.over.constant == 0:
        return None
    return _product([first, LinearFraction(second.under, second.over)])


_READ: Final[Mapping[Operation, Callable[[_Parts], LinearFraction | None]]] = {
    Operation.ADD: _sum,
    Operation.SUBTRACT: _difference,
    Operation.MULTIPLY: _product,
    Operation.DIVIDE: _quotient,
    Operation.NEGATE: lambda parts: _negative(parts[0]),
}
