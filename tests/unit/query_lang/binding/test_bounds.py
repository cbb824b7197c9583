"""Bounds of values that are computed of what conditions compare."""

from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.schema import ColumnType
from query_lang.binding.bounds import Bounds
from query_lang.binding.functions import extreme
from query_lang.binding.scalars import numbers
from query_lang.binding.scalars.narrowing import Conditions
from query_lang.plans import arithmetic
from query_lang.plans.expressions import Call, Constant, Facts, FieldRef, Function
from query_lang.plans.intervals import reach_of
from query_lang.plans.literals import constant_facts
from query_lang.syntax.nodes import FunctionCall, NullLiteral, Position
from tests.effort import rounds
from tests.unit.query_lang.binding.scalars.test_narrowing import (
    VALUES,
    X,
    conditions,
    truth,
)

AT = Position(1, 1)
INTEGER = ColumnType.INTEGER


def made(value, form, number):  # noqa: PLR0911 - an arm a form
    other = Constant(number, constant_facts(number, INTEGER))
    match form:
        case "+" | "-" | "*" | "%":
            return numbers.calculated(form, value, other, AT)
        case "turned":
            return numbers.calculated("-", other, value, AT)
        case "/":
            return numbers.quotient(other, value, AT)
        case "abs":
            return numbers._call(Function.ABS, (value,), 0)
        case "own":
            return numbers.calculated("*", value, X, AT)
        case _:
            call = FunctionCall(form, (NullLiteral(AT),) * 2, AT)
            return extreme((value, other), call)


@st.composite
def computed(draw, depth=2):
    value = X
    for _ in range(draw(st.integers(0, depth))):
        form = draw(
            st.sampled_from(
                ("+", "-", "*", "%", "turned", "/", "abs", "own", "least", "greatest")
            )
        )
        value = made(value, form, draw(st.integers(-3, 4).filter(bool)))
    return value


@st.composite
def cases(draw):
    """Return a CASE over such values, or one of them."""
    branches = draw(st.lists(st.tuples(conditions, computed()), max_size=2))
    rest = draw(computed())
    if not branches:
        return rest
    operands = [part for branch in branches for part in branch]
    return Call(Function.CASE, (*operands, rest), Facts(INTEGER))


def found(value, x, other):  # noqa: PLR0911 - an arm a form
    """Return what a value is; None for NULL."""
    if isinstance(value, Constant):
        return value.value
    if isinstance(value, FieldRef):
        return x
    if value.function is Function.CASE:
        *branches, rest = value.operands
        for condition, result in zip(branches[::2], branches[1::2], strict=True):
            if truth(condition, x, other) is True:
                return found(result, x, other)
        return found(rest, x, other)
    parts = [found(operand, x, other) for operand in value.operands]
    if value.function in {Function.LEAST, Function.GREATEST}:
        known = [part for part in parts if part is not None]
        return (min if value.function is Function.LEAST else max)(known, default=None)
    return None if None in parts else arithmetic.computed(value, tuple(parts))


@settings(max_examples=rounds(4_000, 400), deadline=None)
@given(st.lists(conditions, max_size=2), cases())
def test_what_is_computed_lies_where_its_operands_let_it(where, value):
    known = Bounds(Conditions(where)).of(value)
    low, high = reach_of(known)
    for x in (*VALUES, None):
        for other in (True, False, None):
            if all(truth(condition, x, other) is True for condition in where):
                result = found(value, x, other)
                if result is not None:
                    assert low is None or low <= result
                    assert high is None or result <= high
                    continue
                assert known.nullable
