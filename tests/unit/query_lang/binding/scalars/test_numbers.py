"""Every result of numbers within what is said of it, whatever the operands hold."""

from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.errors import SqlNotAllowedError
from privacy.schema import ColumnType, RangeDomain, ValuesDomain
from query_lang.binding.scalars import numbers
from query_lang.plans import intervals
from query_lang.plans.arithmetic import computed
from query_lang.plans.expressions import (
    Constant,
    Facts,
    FieldRef,
    Function,
    HalfRange,
)
from query_lang.plans.intervals import (
    MAX_INTEGER,
    MIN_INTEGER,
    grid_value,
    reach_of,
    shown_value,
)
from query_lang.plans.literals import constant_facts
from query_lang.syntax.nodes import Position

PLACE = Position(1, 1)
ENDS = (MIN_INTEGER, MIN_INTEGER + 1, -11, -1, 0, 1, 7, 10, 99, MAX_INTEGER)
steps = st.sampled_from(ENDS) | st.integers(-30, 30)


@st.composite
def operands(draw):
    """Return an operand and the steps that it can have."""
    scale = draw(st.sampled_from((0, 0, 1, 3)))
    kind = ColumnType.DECIMAL if scale else ColumnType.INTEGER
    plain = Facts(kind, scale)
    form = draw(st.sampled_from(("range", "list", "half", "none", "constant")))
    found = sorted({draw(steps) for _ in range(3)})
    shown = [shown_value(step, plain) for step in found]
    if form == "constant":
        value = shown[0]
        return Constant(value, constant_facts(value, kind, scale)), found[:1]
    domain = {
        "range": RangeDomain(shown[0], shown[-1]),
        "list": ValuesDomain(tuple(shown)),
        "half": HalfRange(shown[0], None),
        "none": None,
    }[form]
    held = found
    if form == "range":
        between = {-1, 0, 1, found[0] + 1, found[-1] - 1}
        held = sorted({*found, *(s for s in between if found[0] <= s <= found[-1])})
    if form in {"half", "none"}:
        held = [step for step in ENDS if form == "none" or step >= found[0]]
    return FieldRef(draw(st.integers(1, 9)), Facts(kind, scale, domain=domain)), held


def results(call, held):
    """Yield what the engine gives for each value of each operand."""
    for row in held:
        found = result(call, row)
        if found is not None:
            yield found


def result(expression, row):
    """Return the steps of an expression over one row: slot to steps."""
    if isinstance(expression, Constant):
        return grid_value(expression.value, expression.facts.scale)
    if isinstance(expression, FieldRef):
        return row[expression.slot]
    inner = tuple(result(operand, row) for operand in expression.operands)
    return None if None in inner else computed(expression, inner)


def rows(*pairs):
    """Return rows of all combinations of what the operands can have."""
    found = [{}]
    for operand, held in pairs:
        if isinstance(operand, FieldRef):
            found = [{**row, operand.slot: step} for row in found for step in held]
    return found


def assert_inside(expression, held):
    low, high = reach_of(expression.facts)
    listed = expression.facts.domain
    known = (
        {grid_value(v, expression.facts.scale) for v in listed.values}
        if isinstance(listed, ValuesDomain)
        else None
    )
    for found in results(expression, held):
        assert low is None or low <= found, (expression, found)
        assert high is None or found <= high, (expression, found)
        assert known is None or found in known, (expression, found)


@settings(max_examples=200, deadline=None)
@given(operands(), operands(), st.sampled_from("+-*/%"))
def test_every_result_of_random_operands_lies_in_its_domain(one, other, operator):
    if isinstance(one[0], FieldRef) and one[0] == other[0]:
        return
    if isinstance(one[0], FieldRef) and isinstance(other[0], FieldRef):
        other = FieldRef(one[0].slot + 10, other[0].facts), other[1]
    try:
        found = numbers.calculated(operator, one[0], other[0], PLACE)
    except SqlNotAllowedError:
        return
    assert_inside(found, rows(one, other))


@settings(max_examples=200, deadline=None)
@given(
    operands(),
    st.sampled_from(
        (Function.FLOOR, Function.CEILING, Function.ROUND, Function.TRUNCATE)
    ),
    st.sampled_from((-18, -1, 0, 1, 2)),
)
def test_every_rounded_number_lies_in_its_domain(one, function, places):
    assert_inside(numbers.to_places(function, one[0], places), rows(one))


@settings(max_examples=200, deadline=None)
@given(operands(), st.sampled_from(("abs", "sign", "negated", "rescaled")))
def test_every_size_and_sign_lies_in_its_domain(one, name):
    value = one[0]
    made = {
        "abs": lambda: numbers._call(Function.ABS, (value,), value.facts.scale),
        "sign": lambda: numbers._call(Function.SIGN, (value,), 0),
        "negated": lambda: numbers.negated(value, PLACE),
        "rescaled": lambda: numbers.rescaled(value, value.facts.scale + 2),
    }[name]()
    assert_inside(made, rows(one))


def whole(low, high):
    return FieldRef(1, Facts(ColumnType.INTEGER, domain=RangeDomain(low, high)))


def number(value):
    kind = ColumnType.DECIMAL if isinstance(value, Decimal) else ColumnType.INTEGER
    return Constant(value, constant_facts(value, kind, 1 if kind == "decimal" else 0))


def test_few_values_beside_a_number_are_listed_one_by_one():
    tens = numbers.calculated("/", whole(0, 45), number(10), PLACE)
    assert tens.facts.domain == RangeDomain(0, 4)
    decades = numbers.calculated("*", tens, number(10), PLACE)
    assert decades.facts.domain == ValuesDomain((0, 10, 20, 30, 40))


def test_a_quotient_by_a_number_is_null_only_where_its_dividend_is():
    known = FieldRef(1, Facts(ColumnType.INTEGER, nullable=False))
    assert not numbers.calculated("/", known, number(7), PLACE).facts.nullable
    assert numbers.calculated("/", known, known, PLACE).facts.nullable


def test_a_remainder_of_what_has_no_range_lies_below_its_divisor():
    anything = FieldRef(1, Facts(ColumnType.INTEGER))
    found = numbers.calculated("%", anything, number(7), PLACE)
    assert found.facts.domain == RangeDomain(-6, 6)


def test_what_is_made_of_constants_is_a_constant():
    found = numbers.calculated("/", number(7), number(Decimal("0.3")), PLACE)
    assert found == Constant(
        Decimal("23.333333"),
        constant_facts(Decimal("23.333333"), ColumnType.DECIMAL, 6),
    )


@pytest.mark.parametrize(
    ("left", "operator", "right"), [(10, "*", 9), (0, "/", 13), (7, "/", 16)]
)
def test_more_than_18_places_are_refused(left, operator, right):
    one, other = (
        FieldRef(n, Facts(ColumnType.DECIMAL, scale))
        for n, scale in enumerate((left, right))
    )
    with pytest.raises(SqlNotAllowedError) as refused:
        numbers.calculated(operator, one, other, PLACE)
    assert refused.value.rule == "decimal_places"


def test_the_least_may_be_the_one_operand_that_is_not_null():
    low = ((0, 10), True)
    assert intervals.least([low, ((None, None), False)]) == (None, None)
    assert intervals.least([low, ((20, 30), True)]) == (0, 30)
    assert intervals.least([low, ((20, 30), False)]) == (0, 30)
    assert intervals.greatest([((None, 60), True), ((0, 0), False)]) == (0, 60)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(operands(), st.booleans()), min_size=2, max_size=3))
def test_every_least_and_greatest_lies_between_its_ends(drawn):
    facts = [reach_of(one[0].facts) for one, _ in drawn]
    known = [(reach, null) for reach, (_, null) in zip(facts, drawn, strict=True)]
    choices = [[*held, *([None] if null else [])] for (_, held), null in drawn]
    for row in product(*choices):
        there = [step for step in row if step is not None]
        for pick, bounds in ((min, intervals.least), (max, intervals.greatest)):
            low, high = bounds(known)
            assert not there or low is None or low <= pick(there)
            assert not there or high is None or pick(there) <= high


@pytest.mark.parametrize(
    ("divisor", "scale", "places"),
    [(10, 0, 1), (100, 0, 2), (100, 1, 3), (1000, 5, 6), (10**6, 0, 6), (60, 0, 6)],
)
def test_a_quotient_by_a_power_of_ten_has_as_many_places_more(divisor, scale, places):
    value = FieldRef(1, Facts(ColumnType.DECIMAL, scale, domain=RangeDomain(0, 9)))
    by = Constant(divisor, constant_facts(Decimal(divisor), ColumnType.DECIMAL))
    found = numbers.quotient(value, by, Position(1, 1))
    assert found.facts.scale == places
    exact = 7 * 10**places / (divisor * 10**scale)
    assert computed(found, (7, divisor)) == round(exact)
