"""Of which blocks a condition can be TRUE, FALSE or NULL; no data.

The value of a block column in a unit's rows is the unit's block, or NULL where an
outer join left it out. So a comparison of it with literals has one truth for each
block, found by trying each of them. What is not understood may be anything: that is
always safe.
Proof: docs/proofs/blocks.md.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from privacy.schema import Scalar
from query_lang.plans.expressions import (
    Call,
    Constant,
    ExistsInQuery,
    Expression,
    FieldRef,
    Function,
    UnitInQuery,
)
from query_lang.plans.nodes import Node

BlockSlots = Mapping[int, bool]
"""Slots that hold the block of their row's unit, and whether they can be NULL."""

Touching = Callable[[Node, BlockSlots], tuple[int, BlockSlots]]
"""Which blocks' units a node has rows of, and its block slots, given outer ones."""


@dataclass(frozen=True, slots=True)
class Truths:
    """For which blocks a condition can be each of the three, as sets of bits."""

    true: int
    false: int
    null: int

    def denied(self) -> "Truths":
        """Return the truths of NOT."""
        return Truths(self.false, self.true, self.null)

    def both(self, other: "Truths") -> "Truths":
        """Return the truths of AND."""
        unknown = self.null & (other.true | other.null) | other.null & self.true
        return Truths(self.true & other.true, self.false | other.false, unknown)

    def either(self, other: "Truths") -> "Truths":
        """Return the truths of OR."""
        return self.denied().both(other.denied()).denied()


_ORDERED: Final[Mapping[Function, Callable[[int], bool]]] = {
    Function.LT: lambda sign: sign < 0,
    Function.LE: lambda sign: sign <= 0,
    Function.GT: lambda sign: sign > 0,
    Function.GE: lambda sign: sign >= 0,
}
_PARTS: Final[Mapping[Function, Callable[[str, str], bool]]] = {
    Function.PREFIX: str.startswith,
    Function.SUFFIX: str.endswith,
    Function.INFIX: str.__contains__,
}


class Conditions:
    """Reads conditions for one list of blocks.

    Args:
        values: Of the blocks; a block's place is its bit.
        touching: Of the nodes of subqueries.
    """

    def __init__(self, values: Sequence[int | str], touching: Touching) -> None:
        self._values = tuple(values)
        self._touching = touching
        self.all = (1 << len(self._values)) - 1

    @property
    def anything(self) -> Truths:
        """What a condition is of which nothing is known."""
        return Truths(self.all, self.all, self.all)

    def truths(self, condition: Expression, known: BlockSlots) -> Truths:  # noqa: PLR0911 - an arm a form
        """Return what a condition of a row can be, by the block of the row's unit.

        Args:
            condition: Of slots of the row.
            known: The slots that hold the unit's block.
        """
        match condition:
            case Constant(value):
                return self._constant(value)
            case UnitInQuery(query=query):
                return self._found(self._touching(query, {})[0])
            case ExistsInQuery():
                return self._exists(condition, known)
            case Call():
                return self._call(condition, known)
            case _:
                return self.anything

    def _constant(self, value: Scalar | None) -> Truths:
        if value is None:
            return Truths(0, 0, self.all)
        return Truths(self.all if value else 0, 0 if value else self.all, 0)

    def _found(self, touched: int) -> Truths:
        """Return the truths of finding a row of the unit: in ``touched`` alone."""
        return Truths(touched, self.all, self.all)

    def _exists(self, condition: ExistsInQuery, known: BlockSlots) -> Truths:
        if not condition.ties:  # over a public table: whatever its rows are
            return self.anything
        touched, inner = self._touching(condition.query, known)  # type: ignore[arg-type] # what is tied is private
        if condition.condition is not None:
            touched &= self.truths(condition.condition, {**known, **inner}).true
        return self._found(touched)

    def _call(self, call: Call, known: BlockSlots) -> Truths:
        match call.function:
            case Function.NOT:
                return self.truths(call.operands[0], known).denied()
            case Function.AND | Function.OR:
                return self._chain(call, known)
            case _:
                return self._tested(call, known)

    def _chain(self, call: Call, known: BlockSlots) -> Truths:
        joins = call.function is Function.AND
        found = self._constant(joins)
        for operand in call.operands:
            other = self.truths(operand, known)
            found = found.both(other) if joins else found.either(other)
        return found

    def _tested(self, call: Call, known: BlockSlots) -> Truths:
        """Return the truths of a test of a block slot by literals, block by block."""
        first, *others = call.operands
        if not isinstance(first, FieldRef) or first.slot not in known:
            return self.anything
        literals = [each.value for each in others if isinstance(each, Constant)]
        if len(literals) != len(others):
            return self.anything
        if call.function is Function.IS_NULL:
            return Truths(self.all if known[first.slot] else 0, self.all, 0)
        true = false = 0
        for place, value in enumerate(self._values):
            holds = holds_of(call, value, literals)
            true |= (holds is not False) << place
            false |= (holds is not True) << place
        unknown = self.all if known[first.slot] else true & false
        return Truths(true, false, unknown)


def holds_of(
    call: Call, value: int | str, literals: Sequence[Scalar | None]
) -> bool | None:
    """Whether a test holds of a value that is not NULL; None: nobody knows here."""
    part = call.parameters[0] if call.parameters else None
    if call.function in _PARTS and isinstance(value, str) and isinstance(part, str):
        return _PARTS[call.function](value, part)
    known = [each for each in literals if _is_comparable(value, each)]
    if not known or len(known) != len(literals):
        return None
    return _compared(call.function, value, known)


def _is_comparable(value: int | str, literal: Scalar | None) -> bool:
    """Whether a literal is of the value's kind: nothing is coerced."""
    if isinstance(value, str):
        return isinstance(literal, str)
    return isinstance(literal, int | Decimal) and not isinstance(literal, bool)


def _compared(  # noqa: PLR0911 - an arm a form
    function: Function, value: int | str, literals: Sequence[Scalar | None]
) -> bool | None:
    signs = [_sign(value, literal) for literal in literals]
    match function:
        case Function.EQ | Function.IN:
            return 0 in signs
        case Function.NE:
            return 0 not in signs
        case Function.BETWEEN if len(signs) == 2:  # noqa: PLR2004 - the ends
            return signs[0] >= 0 >= signs[1]
        case _ if function in _ORDERED:
            return _ORDERED[function](signs[0])
        case _:
            return None


def _sign(value: int | str, literal: Scalar | None) -> int:
    """Return -1, 0 or 1: texts by code points, numbers exactly."""
    if isinstance(value, str) and isinstance(literal, str):
        return (value > literal) - (value < literal)
    if isinstance(value, int) and isinstance(literal, int | Decimal):
        return (value > literal) - (value < literal)
    raise TypeError  # pragma: no cover - ``_is_comparable`` saw them
