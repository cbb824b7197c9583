"""What a condition can be in each block, against every combination of truths."""

from itertools import product

import pytest

from privacy.schema import ColumnType
from query_lang.confining.truths import Conditions, Truths
from query_lang.plans.expressions import (
    Call,
    Constant,
    Facts,
    FieldRef,
    Function,
    truth_of,
)

TEXT = Facts(ColumnType.TEXT)
THREE = (True, False, None)
SLOT = FieldRef(7, TEXT)


def bits(true, false, null):
    return Truths(int(true), int(false), int(null))


def possible(truths):
    """Return the truths that one block's bits allow."""
    named = zip(THREE, (truths.true, truths.false, truths.null), strict=True)
    return {truth for truth, allowed in named if allowed}


def and_of(one, other):
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


SETS = [bits(*allowed) for allowed in product((0, 1), repeat=3) if any(allowed)]


@pytest.mark.parametrize("one", SETS)
@pytest.mark.parametrize("other", SETS)
def test_and_or_and_not_are_exactly_those_of_three_valued_logic(one, other):
    pairs = list(product(possible(one), possible(other)))
    denied = {True: False, False: True, None: None}
    assert possible(one.both(other)) == {and_of(*pair) for pair in pairs}
    assert possible(one.either(other)) == {
        denied[and_of(denied[a], denied[b])] for a, b in pairs
    }
    assert possible(one.denied()) == {denied[a] for a in possible(one)}


def truths(condition, *, nullable):
    reading = Conditions(("a", "b"), lambda *_: (0, {}))
    return reading.truths(condition, {SLOT.slot: nullable})


def test_a_slot_that_may_be_null_may_make_any_test_null():
    test = truth_of(Function.EQ, (SLOT, Constant("a", TEXT)))
    assert truths(test, nullable=False) == Truths(0b01, 0b10, 0)
    assert truths(test, nullable=True) == Truths(0b01, 0b10, 0b11)


def test_is_null_is_never_true_of_a_slot_that_is_never_null():
    missing = truth_of(Function.IS_NULL, (SLOT,))
    assert truths(missing, nullable=False) == Truths(0, 0b11, 0)
    assert truths(missing, nullable=True) == Truths(0b11, 0b11, 0)


@pytest.mark.parametrize(
    "test",
    [
        truth_of(Function.EQ, (SLOT, FieldRef(8, TEXT))),
        truth_of(Function.EQ, (FieldRef(8, TEXT), Constant("a", TEXT))),
        truth_of(Function.EQ, (SLOT, Constant(1, Facts(ColumnType.INTEGER)))),
        truth_of(Function.IN, (SLOT, Constant("a", TEXT), Constant(None, TEXT))),
        Call(Function.MATCHES, (SLOT,), TEXT, ("a.*",)),
        Call(Function.SWITCH, (SLOT, Constant("a", TEXT), Constant("b", TEXT)), TEXT),
        FieldRef(9, Facts(ColumnType.BOOLEAN)),
    ],
)
def test_what_is_not_understood_may_be_anything(test):
    assert truths(test, nullable=False) == Truths(0b11, 0b11, 0b11)
