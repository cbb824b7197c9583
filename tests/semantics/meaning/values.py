"""Scalars by CONTRACT 1: NULL is None, integers saturate, dates stay in 0001-9999."""

from datetime import date, datetime, timedelta
from fractions import Fraction

LEAST, GREATEST = -(2**63), 2**63 - 1
FIRST_DAY, LAST_DAY = date.min, date.max

COMPARE = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def strict(function):
    """Return a function that is NULL as soon as an argument is."""

    def of_values(*values):
        return None if None in values else function(*values)

    return of_values


# -- logic ---------------------------------------------------------------------


def negation(truth):
    return None if truth is None else not truth


def conjunction(truths):
    seen_null = False
    for truth in truths:
        if truth is False:
            return False
        seen_null = seen_null or truth is None
    return None if seen_null else True


def disjunction(truths):
    return negation(conjunction(negation(truth) for truth in truths))


def member(value, values):
    """``value IN (values)``; also over the rows of a subquery, where values are NULL.

    Of an empty list the answer is FALSE, even for NULL, as in SQL.
    """
    return disjunction(
        None if value is None or other is None else value == other for other in values
    )


# -- integers ------------------------------------------------------------------


def saturated(number):
    return max(LEAST, min(GREATEST, number))


# -- dates ---------------------------------------------------------------------


def day_number(day):
    return day.toordinal()


def shifted(day, days):
    """``d + n``: NULL outside years 0001-9999."""
    number = day.toordinal() + days
    inside = FIRST_DAY.toordinal() <= number <= LAST_DAY.toordinal()
    return date.fromordinal(number) if inside else None


def boundaries(part, a, b):
    """DATE_DIFF: boundaries crossed from a to b."""
    if part == "day":
        return b.toordinal() - a.toordinal()
    if part == "month":
        return (b.year - a.year) * 12 + b.month - a.month
    return b.year - a.year


def completed_years(birth, at):
    """age_years: NULL when ``at`` comes before ``birth``."""
    if at < birth:
        return None
    early = (at.month, at.day) < (birth.month, birth.day)
    return at.year - birth.year - early


PARTS = {
    "year": lambda d: d.year,
    "quarter": lambda d: (d.month + 2) // 3,
    "month": lambda d: d.month,
    "day": lambda d: d.day,
    "isodow": lambda d: d.isoweekday(),
    "hour": lambda d: d.hour,
}


def band(value, width):
    """age_band: '20-29', aligned at 0."""
    lower = value // width * width
    return f"{lower}-{lower + width - 1}"


def as_date(moment):
    return moment.date() if isinstance(moment, datetime) else moment


def as_timestamp(day):
    """A day alone beside a timestamp means its midnight."""
    if isinstance(day, datetime) or not isinstance(day, date):
        return day
    return datetime.combine(day, datetime.min.time())


# -- text ----------------------------------------------------------------------


def like(text, pattern):
    """Exactly 'x%', '%x' and '%x%'."""
    if pattern.startswith("%") and pattern.endswith("%"):
        return pattern[1:-1] in text
    if pattern.startswith("%"):
        return text.endswith(pattern[1:])
    return text.startswith(pattern[:-1])


# -- grids ---------------------------------------------------------------------


def to_grid(value, scale):
    """Return a number as an integer of 10**-scale steps, a date as days from 1970."""
    if isinstance(value, date):
        return (value - date(1970, 1, 1)) // timedelta(days=1)
    steps = Fraction(value) * 10**scale
    if steps.denominator != 1:
        message = f"{value} is off the grid of {scale} decimals"
        raise ValueError(message)
    return int(steps)
