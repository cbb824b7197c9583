"""Scalars by CONTRACT 1: NULL is None, integers saturate, dates stay in 0001-9999."""

import re
from datetime import date, datetime, timedelta
from decimal import Decimal
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


def week_of(day):
    """The number of a day's week from Monday; day 1 of year 1 is a Monday."""
    return (day.toordinal() - 1) // 7


def crossed(part, a, b):
    """DATE_DIFF of dates or timestamps: beginnings of units between them."""
    if part in UNITS:
        first, last = (microseconds(as_timestamp(x)) // UNITS[part] for x in (a, b))
        return last - first
    a, b = as_date(a), as_date(b)
    if part == "week":
        return week_of(b) - week_of(a)
    if part == "quarter":
        return (b.year * 4 + PARTS["quarter"](b)) - (a.year * 4 + PARTS["quarter"](a))
    return boundaries(part, a, b)


UNITS = {"hour": 3_600 * 10**6, "minute": 60 * 10**6, "second": 10**6}


def microseconds(moment):
    """Microseconds since the first moment of year 1."""
    return (moment - datetime.min) // timedelta(microseconds=1)  # noqa: DTZ901 - no zone


def elapsed(part, a, b):
    """TIMESTAMPDIFF: whole units from a to b; years and months only forwards."""
    if part in {"year", "month", "quarter"}:
        a, b = as_date(a), as_date(b)
        if part == "year":
            return completed_years(a, b)
        months = completed_months(a, b)
        return months if part == "month" or months is None else months // 3
    lengths = {**UNITS, "day": 24 * UNITS["hour"], "week": 168 * UNITS["hour"]}
    first, last = microseconds(as_timestamp(a)), microseconds(as_timestamp(b))
    whole = abs(last - first) // lengths[part]
    return whole if first <= last else -whole


def completed_months(birth, at):
    """Whole months of a calendar from one day to another; NULL backwards."""
    if at < birth:
        return None
    months = 12 * (at.year - birth.year) + at.month - birth.month
    return months - 1 if at.day < birth.day else months


def moved_months(day, months):
    """A day's namesake so many months later, the month's last day if it has none."""
    number = day.year * 12 + (day.month - 1) + months
    year, month = number // 12, number % 12 + 1
    if not 1 <= year <= 9999:
        return None
    for wanted in range(day.day, 27, -1):
        try:
            return date(year, month, wanted)
        except ValueError:
            continue
    return date(year, month, day.day)


def moved(moment, months, days, micros):
    """A date or timestamp later by months, then days, then microseconds."""
    is_day = not isinstance(moment, datetime)
    time = timedelta(0) if is_day else moment - as_timestamp(moment.date())
    day = moved_months(as_date(moment), months) if months else as_date(moment)
    day = None if day is None else shifted(day, days)
    if day is None:
        return None
    if is_day and not micros:
        return day
    number = microseconds(as_timestamp(day)) + time // timedelta(microseconds=1)
    number += micros
    if not 0 <= number <= microseconds(datetime.max):  # noqa: DTZ901 - no zone
        return None
    return datetime.min + timedelta(microseconds=number)  # noqa: DTZ901 - no zone


def period(part, moment):
    """DATE_TRUNC: the first day; None where that day is before year 1."""
    day = as_date(moment)
    if part == "sunday week":
        back = day.toordinal() - day.isoweekday() % 7
        return date.fromordinal(back) if back >= 1 else None
    if part == "week":
        return date.fromordinal(week_of(day) * 7 + 1)
    months = {"month": 1, "quarter": 3, "year": 12}.get(part)
    if months is None:
        return day
    return date(day.year, (day.month - 1) // months * months + 1, 1)


def month_end(moment):
    first = period("month", moment)
    return max(first + timedelta(days=n) for n in range(31) if _in_month(first, n))


def _in_month(first, days):
    number = first.toordinal() + days
    inside = number <= LAST_DAY.toordinal()
    return inside and date.fromordinal(number).month == first.month


FIELDS = {
    "YYYY": lambda d: d.strftime("%Y").rjust(4, "0"),
    "MM": lambda d: d.strftime("%m"),
    "DD": lambda d: d.strftime("%d"),
    "Q": lambda d: str(PARTS["quarter"](d)),
    "IYYY": lambda d: str(d.isocalendar().year).rjust(4, "0"),
    "IW": lambda d: str(d.isocalendar().week).rjust(2, "0"),
    "Day": lambda d: f"{d:%A}".ljust(9),
    "day": lambda d: f"{d:%A}".ljust(9).lower(),
    "FMDay": lambda d: f"{d:%A}",
    "FMDAY": lambda d: f"{d:%A}".upper(),
    "Dy": lambda d: f"{d:%a}",
    "MONTH": lambda d: f"{d:%B}".ljust(9).upper(),
    "FMMonth": lambda d: f"{d:%B}",
    "Mon": lambda d: f"{d:%b}",
    "mon": lambda d: f"{d:%b}".lower(),
}
_FIELD = re.compile("|".join(('"[^"]*"', *sorted(FIELDS, key=len, reverse=True))))


def day_text(moment, pattern):
    """TO_CHAR of a day by PostgreSQL's fields."""
    day = as_date(moment)

    def piece(found):
        text = found[0]
        return text.strip('"') if text.startswith('"') else FIELDS[text](day)

    return _FIELD.sub(piece, pattern)


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
    "minute": lambda d: d.minute,
    "second": lambda d: d.second,
    "dow": lambda d: d.isoweekday() % 7,
    "dayofweek": lambda d: d.isoweekday() % 7 + 1,
    "doy": lambda d: d.timetuple().tm_yday,
    "week": lambda d: d.isocalendar().week,
    "isoyear": lambda d: d.isocalendar().year,
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


def seconds(micros):
    return Decimal(micros).scaleb(-6)


# -- text ----------------------------------------------------------------------


# -- casts ---------------------------------------------------------------------

NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{0,9})?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?)?"
)
_WORDS = {
    word: truth
    for truth, words in (
        (True, ("t", "true", "y", "yes", "on", "1")),
        (False, ("f", "false", "n", "no", "off", "0")),
    )
    for plain in words
    for word in (plain, plain.upper(), plain.title())
}


def cast(value, own_scale, kind, scale):  # noqa: PLR0911 - one return a kind
    """Return a value as another type, None where it has none.

    Args:
        value: That is not None.
        own_scale: Its decimals, if it is a number.
        kind: The type that is made.
        scale: Decimals of the number that is made.
    """
    if isinstance(value, str):
        return _read(value, kind, scale)
    if kind == "text":
        return _written(value, own_scale)
    if kind == "boolean":
        return bool(value)
    if kind == "date":
        return as_date(value)
    if kind == "timestamp":
        return as_timestamp(value)
    return on_grid(Fraction(value), kind, scale)


def on_grid(exact, kind, scale):
    """Round half away from zero to the grid; None where 64 bits hold no such step."""
    steps = exact * 10**scale
    down = abs(steps).numerator // abs(steps).denominator
    whole = down + (abs(steps) - down >= Fraction(1, 2))
    whole = -whole if steps < 0 else whole
    if not LEAST <= whole <= GREATEST:
        return None
    return whole if kind == "integer" else Decimal(whole).scaleb(-scale)


def nearest(made, end):
    """Return a cast end of a range; where it has none, the last number that has."""
    found = made(end)
    if found is not None:
        return found
    step = made(type(end)(0))
    bound = GREATEST if end > 0 else LEAST
    exponent = step.as_tuple().exponent if isinstance(step, Decimal) else 0
    return Decimal(bound).scaleb(exponent)


def _read(text, kind, scale):  # noqa: PLR0911 - one return a kind
    if kind == "text":
        return text
    if kind == "boolean":
        return _WORDS.get(text)
    if kind == "integer":
        whole = re.fullmatch("[+-]?[0-9]{1,30}", text)
        return on_grid(Fraction(text), kind, 0) if whole else None
    if kind == "decimal":
        number = NUMBER.fullmatch(text)
        return on_grid(Fraction(text), kind, scale) if number else None
    form = _DAY if kind == "date" else _MOMENT
    if not form.fullmatch(text):
        return None
    try:
        found = datetime.fromisoformat(_padded(text))
    except ValueError:
        return None
    return found.date() if kind == "date" else found


def _padded(text):
    whole, point, places = text.partition(".")
    return whole + point + places.ljust(6, "0") if point else whole


def _written(value, scale):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        places = f".{value:%f}".rstrip("0")
        return f"{value.date().isoformat()} {value:%H:%M:%S}{places.rstrip('.')}"
    if isinstance(value, date):
        return value.isoformat()
    return f"{Decimal(value):.{scale}f}"  # of an int it would be a double


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
