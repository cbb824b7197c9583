"""What comparisons of two values of a row say of their difference."""

from datetime import date, timedelta

from hypothesis import example, given, settings
from hypothesis import strategies as st

from privacy.schema import ColumnType, RangeDomain
from query_lang.binding.dates import parts, shifts
from query_lang.binding.scalars.casts import date_of
from query_lang.binding.scalars.differences import bounds_of, difference_of
from query_lang.binding.sizes import Tries
from query_lang.plans.dates import calendar
from query_lang.plans.expressions import (
    Constant,
    Facts,
    FieldRef,
    Function,
    truth_of,
)
from query_lang.plans.intervals import MAX_INTEGER, MIN_INTEGER
from query_lang.plans.literals import constant_facts
from tests.effort import rounds

DAYS = st.dates(date(2019, 12, 1), date(2024, 12, 31))
BEGINNING = calendar.moment_of(calendar.MIN_MOMENT)
MOMENTS = st.datetimes(calendar.moment_of(0), calendar.moment_of(5 * calendar.DAY))
COMPARED = {
    Function.LT: lambda a, b: a < b,
    Function.LE: lambda a, b: a <= b,
    Function.GT: lambda a, b: a > b,
    Function.GE: lambda a, b: a >= b,
    Function.EQ: lambda a, b: a == b,
}


def number(value):
    return Constant(value, constant_facts(value, ColumnType.INTEGER))


def moved(value, day, days, months):
    """Return an expression some months and days later, and what it is."""
    later = calendar.months_added(day, months) + timedelta(days)  # within the calendar
    made = value
    if months:
        made = shifts._by(Function.ADD_MONTHS, made, number(months))
    if days:
        made = shifts.by_days(Function.ADD_DAYS, made, number(days))
    return made, later


def counts(first, last):
    """Return everything that is counted from one day to another, by its expression."""
    x, y = (FieldRef(slot, Facts(ColumnType.DATE)) for slot in (1, 2))
    months = (last.year - first.year) * 12 + last.month - first.month
    completed = months - (last.day < first.day)  # where the first comes first
    apart = (last - first).days
    yield parts.days_between(x, y), apart
    yield parts.months_between(x, y), months
    yield parts.years_between(x, y), last.year - first.year
    yield parts.units_between(x, y, calendar.HOUR), 24 * apart
    if apart >= 0:
        yield parts.age_in_months(x, y), completed
        yield parts.age_in_years(x, y), completed // 12


def lies(value, found, condition, *, holds):
    tries = Tries()
    difference = difference_of(value, tries)
    low, high = bounds_of(difference, condition, tries, holds=holds, sure=True)
    assert low is None or low <= found
    assert high is None or found <= high
    return low, high


@settings(max_examples=rounds(4_000, 400))
@given(
    DAYS,
    DAYS,
    st.tuples(st.integers(-40, 40), st.integers(-26, 26)),
    st.tuples(st.integers(-40, 40), st.integers(-26, 26)),
    st.sampled_from(list(COMPARED)),
)
@example(date(2023, 1, 31), date(2023, 3, 1), (0, 1), (0, 0), Function.LE)
@example(date(2020, 2, 29), date(2021, 2, 28), (0, 12), (0, 0), Function.EQ)
def test_a_difference_lies_where_comparisons_say(first, last, one, other, operator):
    x, y = (FieldRef(slot, Facts(ColumnType.DATE)) for slot in (1, 2))
    (left, a), (right, b) = moved(x, first, *one), moved(y, last, *other)
    for sides in ((left, right, a, b), (right, left, b, a)):
        condition, holds = truth_of(operator, sides[:2]), COMPARED[operator](*sides[2:])
        for value, found in counts(first, last):
            lies(value, found, condition, holds=holds)


@settings(max_examples=rounds(2_000, 200))
@given(
    MOMENTS,
    MOMENTS,
    st.integers(-3 * calendar.DAY, 3 * calendar.DAY),
    st.sampled_from(list(COMPARED)),
)
def test_so_do_differences_of_moments_and_of_their_days(first, last, micros, operator):
    x, y = (FieldRef(slot, Facts(ColumnType.TIMESTAMP)) for slot in (1, 2))
    later = shifts._by(Function.ADD_MICROSECONDS, x, number(micros))
    condition = truth_of(operator, (y, later))
    holds = COMPARED[operator](last, first + timedelta(microseconds=micros))
    between = (last - first) // timedelta(microseconds=1)
    hours = [(each - BEGINNING) // timedelta(hours=1) for each in (first, last)]
    found = {
        shifts.time_between(x, y, ColumnType.DECIMAL): between,
        parts.days_between(date_of(x), date_of(y)): (last.date() - first.date()).days,
        parts.units_between(x, y, calendar.HOUR): hours[1] - hours[0],
    }
    for value, steps in found.items():
        lies(value, steps, condition, holds=holds)


def test_days_that_are_compared_bound_what_lies_between_closely():
    x, y = (FieldRef(slot, Facts(ColumnType.DATE)) for slot in (1, 2))
    value = parts.days_between(x, y)
    later, _ = moved(x, date(2024, 1, 1), 90, 0)
    within = truth_of(Function.BETWEEN, (y, x, later))
    assert lies(value, 90, within, holds=True) == (0, 90)
    less = truth_of(Function.LT, (y, later))
    assert lies(value, 89, less, holds=True) == (None, 89)
    assert lies(value, 90, less, holds=False) == (90, None)
    tries = Tries()
    unknown = bounds_of(
        difference_of(value, tries), less, tries, holds=False, sure=False
    )
    assert unknown == (None, None)


def test_what_may_saturate_is_a_value_of_its_own():
    """``a >= b + 5`` holds of the greatest b, though a is no more than b."""
    for most, expected in ((MAX_INTEGER, (None, None)), (100, (5, None))):
        facts = Facts(ColumnType.INTEGER, domain=RangeDomain(MIN_INTEGER + 9, most))
        a, b = (FieldRef(slot, facts) for slot in (1, 2))
        more = parts.added(b, 5)
        condition = truth_of(Function.GE, (a, more))
        assert lies(parts.less(a, b), 5, condition, holds=True) == expected
