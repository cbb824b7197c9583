"""What conditions say of a value, against three-valued logic on every value."""

from dataclasses import replace
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.schema import ColumnType, RangeDomain
from query_lang.binding.scalars.narrowing import narrowed
from query_lang.binding.sizes import MOST_TRIED, Tries
from query_lang.plans.expressions import (
    Call,
    Constant,
    Facts,
    FieldRef,
    Function,
    truth_of,
)
from query_lang.plans.intervals import reach_of
from query_lang.plans.literals import constant_facts

X = FieldRef(1, Facts(ColumnType.INTEGER, domain=RangeDomain(-6, 6)))
OTHER = FieldRef(2, Facts(ColumnType.BOOLEAN))
VALUES = range(-6, 7)
_TESTS = {
    Function.EQ: lambda a, b: a == b,
    Function.NE: lambda a, b: a != b,
    Function.LT: lambda a, b: a < b,
    Function.LE: lambda a, b: a <= b,
    Function.GT: lambda a, b: a > b,
    Function.GE: lambda a, b: a >= b,
}
numbers = st.sampled_from((-9, -3, 0, 2, Decimal("0.5"), Decimal("-2.5"), 6, 9))


def constant(value):
    kind = ColumnType.DECIMAL if isinstance(value, Decimal) else ColumnType.INTEGER
    return Constant(value, constant_facts(value, kind, 1))


atoms = st.one_of(
    st.builds(
        lambda f, v: truth_of(f, (X, constant(v))),
        st.sampled_from(sorted(_TESTS)),
        numbers,
    ),
    st.builds(
        lambda a, b: truth_of(Function.BETWEEN, (X, constant(a), constant(b))),
        numbers,
        numbers,
    ),
    st.builds(
        lambda vs: truth_of(Function.IN, (X, *map(constant, vs))),
        st.lists(numbers, min_size=1, max_size=3),
    ),
    st.just(OTHER),
)
conditions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(lambda c: truth_of(Function.NOT, (c,)), inner),
        st.builds(
            lambda f, cs: truth_of(f, tuple(cs)),
            st.sampled_from((Function.AND, Function.OR)),
            st.lists(inner, min_size=2, max_size=3),
        ),
    ),
    max_leaves=6,
)


def truth(condition, x, other):  # noqa: C901, PLR0911 - a return a form
    """Return TRUE, FALSE or None of a condition."""
    if condition is OTHER:
        return other
    if not isinstance(condition, Call):
        raise TypeError
    if condition.function in {Function.AND, Function.OR, Function.NOT}:
        parts = [truth(c, x, other) for c in condition.operands]
        if condition.function is Function.NOT:
            return None if parts[0] is None else not parts[0]
        decisive = condition.function is Function.OR
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if x is None:
        return None
    values = [c.value for c in condition.operands[1:]]
    if condition.function is Function.BETWEEN:
        return values[0] <= x <= values[1]
    if condition.function is Function.IN:
        return x in values
    return _TESTS[condition.function](x, values[0])


@settings(max_examples=500, deadline=None)
@given(st.lists(conditions, min_size=1, max_size=3))
def test_a_value_lies_where_conditions_say(branches):
    told = narrowed(branches, [X] * (len(branches) + 1), Tries())
    for x in VALUES:
        for other in (True, False, None):
            taken = [truth(branch, x, other) is True for branch in branches]
            place = taken.index(True) if True in taken else len(branches)
            assert told[place] is not None, "a value lies where none can"
            low, high = reach_of(told[place])
            assert low <= x <= high


def test_a_branch_after_another_has_what_that_one_left():
    above = truth_of(Function.GT, (X, constant(3)))
    below = truth_of(Function.LT, (X, constant(0)))
    sixty, zero = constant(3), constant(0)
    told = narrowed([above, below], [sixty, zero, X], Tries())
    assert told[2].domain == RangeDomain(0, 3)


def test_a_branch_that_nothing_can_enter_says_so():
    above = truth_of(Function.GT, (X, constant(9)))
    assert narrowed([above], [X, X], Tries()) == [None, X.facts]


def test_texts_are_tried_so_often_and_no_more():
    tries, value = Tries(), Tries().number(X)
    texts = tuple(map(str, range(MOST_TRIED // 4)))
    asked = [replace(X, slot=slot) for slot in range(100, 108)]  # all differ

    def keeps(_condition, _unwanted):
        return bool

    def tried(condition):
        step = condition, False, lambda _: 1, keeps
        return tries.left(value, texts, [step])

    found = [tried(condition) for condition in asked]
    assert [each is not None for each in found] == [True] * 4 + [False] * 4
    assert tried(asked[0]) is not None  # what was tried is remembered
    assert tried(asked[-1]) is None  # and so is what was too much
