"""Functions of dates by all their names: PostgreSQL's, BigQuery's, MySQL's, others'.

Where one name has several meanings, the order of what is written decides: a unit comes
first as a text (PostgreSQL, DuckDB) or a bare word (SQL Server, MySQL), and last in
BigQuery's form, whose differences are from the second to the first.
"""

from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from privacy.schema import ColumnType
from query_lang.binding.dates import amounts, parts, periods, shifts
from query_lang.binding.dates.amounts import Amount
from query_lang.binding.dates.null_ages import warn_of_null_ages
from query_lang.binding.dates.other_weeks import warn_of_weeks
from query_lang.binding.environment import Binder
from query_lang.binding.scalars.casts import date_of, midnight_of
from query_lang.plans.dates import calendar
from query_lang.plans.expressions import Constant, Expression, Function, truth_of
from query_lang.plans.literals import constant_facts
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    Arithmetic,
    Extract,
    FunctionCall,
    Name,
    NumberLiteral,
    Position,
    StringLiteral,
    TypedLiteral,
)
from query_lang.syntax.nodes import (
    Expression as Tree,
)
from query_lang.syntax.refusals import refuse
from query_lang.syntax.rules import Rule

DATE, TIMESTAMP = ColumnType.DATE, ColumnType.TIMESTAMP
_MOMENTS = frozenset({DATE, TIMESTAMP})
_TIMES: Mapping[str, int] = {
    "hour": calendar.HOUR,
    "minute": calendar.MINUTE,
    "second": calendar.SECOND,
}
_LONG: Mapping[str, str] = {
    **{f"{unit}s": unit for unit in (*periods.UNITS, *_TIMES)},
    "yyyy": "year",
    "yy": "year",
    "qq": "quarter",
    "mm": "month",
    "dd": "day",
    "wk": "week",
    "hh": "hour",
    "mi": "minute",
    "ss": "second",
    **dict.fromkeys(("ww", "isoweek", "iso_week", "isowk", "isoww"), "week"),
}


def date_call(tree: FunctionCall, binder: Binder) -> Expression:
    """Bind a function of dates.

    Raises:
        SqlNotAllowedError: The arguments do not fit.
    """
    warn_of_weeks(tree, binder.environment)
    return _CALLS[tree.name](tree, binder)


def extracted(tree: Extract, binder: Binder) -> Expression:
    """Bind ``EXTRACT(part FROM value)``, of an age too.

    Raises:
        SqlNotAllowedError: The value has no such part.
    """
    warn_of_weeks(tree, binder.environment)
    return _part(tree.part, tree.value, tree.position, binder)


def _part(name: str, of: Tree, position: Position, binder: Binder) -> Expression:
    if isinstance(of, FunctionCall) and of.name == "age":
        birth, at = _age_operands(of, binder)
        warn_of_null_ages(birth, at, binder.environment)
        return parts.part_of_age(name, birth, at, position)
    return parts.part(name, binder.value(of), position)


# -- what stands where ---------------------------------------------------------


def _word(tree: Tree) -> str | None:
    """Return a unit in small letters: a bare word, or a text in quotes."""
    match tree:
        case Name(name, None):
            found = name
        case StringLiteral(text):
            found = text.lower()
        case FunctionCall("week", (Name(name, None),)):
            found = f"week({name})"
        case _:
            return None
    return _LONG.get(found, found)


def _moment(tree: Tree, binder: Binder, rule: Rule) -> Expression:
    value = binder.value(tree)
    if isinstance(tree, StringLiteral):
        raise refuse(rule, tree.position, hint="write DATE '2024-01-31'")
    if value.facts.type not in _MOMENTS:
        raise refuse(rule, tree.position)
    return value


def _exactly(tree: FunctionCall, number: int, rule: Rule) -> Sequence[Tree]:
    if len(tree.arguments) != number:
        raise refuse(rule, tree.position)
    return tree.arguments


# -- parts ---------------------------------------------------------------------

_PART_NAMES: Mapping[str, str] = {
    **{name: name for name in ("year", "quarter", "month", "week", "day", "isodow")},
    **{name: name for name in ("dayofweek", "hour", "minute", "second", "isoyear")},
    "dayofmonth": "day",
    "dayofyear": "doy",
    "weekofyear": "week",
    "isoweek": "week",
}


def _part_call(tree: FunctionCall, binder: Binder) -> Expression:
    (of,) = _exactly(tree, 1, rules.EXTRACT_PART)
    return _part(_PART_NAMES[tree.name], of, tree.position, binder)


def _date_part(tree: FunctionCall, binder: Binder) -> Expression:
    unit, of = _exactly(tree, 2, rules.EXTRACT_PART)
    name = _word(unit)
    if name is None or name not in parts.NAMES:
        hint = _WEEKDAY_HINT if name in {"weekday", "dw", "w"} else None
        raise refuse(rules.EXTRACT_PART, unit.position, hint=hint)
    return _part(name, of, tree.position, binder)


_WEEKDAY_HINT: Final = (
    "its number depends on a setting there: DAYOFWEEK(d) is 1 on Sundays, "
    "EXTRACT(ISODOW FROM d) 1 on Mondays"
)

# -- ages and differences ------------------------------------------------------


def _age_operands(tree: FunctionCall, binder: Binder) -> tuple[Expression, Expression]:
    """Return the dates of birth and of asking of ``AGE(at, birth)``, ``AGE(birth)``."""
    found = [date_of(_moment(each, binder, rules.AGE_YEARS)) for each in tree.arguments]
    if len(found) == 1:
        return found[0], _today(binder)
    at, birth = found
    return birth, at


def _age(tree: FunctionCall, _: Binder) -> Expression:
    raise refuse(
        rules.AGE_YEARS,
        tree.position,
        detail="an age by itself is no value here",
        hint="write EXTRACT(YEAR FROM AGE(admitted, born)), or compare it: "
        "AGE(admitted, born) >= INTERVAL '18 years'",
    )


def is_age(tree: Tree) -> bool:
    """Whether an expression is an age, which is compared with whole months."""
    return isinstance(tree, FunctionCall) and tree.name == "age"


def compared_age(
    operator: Function, age: FunctionCall, beside: Tree, binder: Binder
) -> Expression:
    """Return the comparison of an age with whole months.

    Completed months are NULL where one is asked for before the birth; the age is less
    than nothing there, and so is the comparison false or true, not unknown.

    Raises:
        SqlNotAllowedError: It is neither ``>=`` nor ``<`` an interval of months.
    """
    months = _months_beside(operator, age, beside, binder)
    birth, at = _age_operands(age, binder)
    limit = Constant(months, constant_facts(months, ColumnType.INTEGER))
    found = truth_of(operator, (parts.age_in_months(birth, at), limit))
    if not parts.may_come_before(at, birth):
        return found
    if months < 0:
        raise refuse(
            rules.AGE_YEARS,
            age.position,
            detail="an age is compared with 0 months or more",
            hint="exchange the dates: AGE(born, admitted) < INTERVAL '3 months'",
        )
    if operator is Function.GE:
        born = truth_of(Function.GE, (at, birth))
        return truth_of(Function.AND, (found, born))
    return truth_of(Function.OR, (found, truth_of(Function.LT, (at, birth))))


def _months_beside(
    operator: Function, age: FunctionCall, beside: Tree, binder: Binder
) -> int:
    whole = operator in {Function.GE, Function.LT}
    amount = amounts.amount_of(beside, binder) if amounts.is_interval(beside) else None
    if not whole or amount is None or amount.days or amount.microseconds:
        raise refuse(
            rules.AGE_YEARS,
            age.position,
            detail="an age is >= or < whole years and months",
            hint="AGE(admitted, born) >= INTERVAL '18 years'; days are compared by the "
            "difference: discharged - admitted < INTERVAL '7 days'",
        )
    if amount.times is not None:
        raise refuse(rules.INTERVAL, beside.position)
    return amount.months


def _age_years(tree: FunctionCall, binder: Binder) -> Expression:
    arguments = _exactly(tree, 2, rules.AGE_YEARS)
    birth, at = (_moment(each, binder, rules.AGE_YEARS) for each in arguments)
    return parts.age_in_years(date_of(birth), date_of(at))


def _date_diff(tree: FunctionCall, binder: Binder) -> Expression:
    """Bind the boundaries crossed; the unit's place tells which date is the first."""
    arguments, rule = tree.arguments, rules.DATE_DIFF
    if len(arguments) == 2 and tree.name == "datediff":  # noqa: PLR2004 - MySQL's
        end, start = (date_of(_moment(each, binder, rule)) for each in arguments)
        return parts.days_between(start, end)
    _exactly(tree, 3, rule)
    unit = _word(arguments[0])
    is_first = isinstance(arguments[0], StringLiteral) or tree.name == "datediff"
    if is_first:
        _, one, other = arguments
    else:
        other, one, last = arguments
        unit = _bigquery_unit(last)
    start, end = (_moment(each, binder, rule) for each in (one, other))
    unit = _SUNDAY.get(unit or "", _monday_week(unit))
    return _crossed(unit, start, end, tree.position)


def _bigquery_unit(tree: Tree) -> str | None:
    """Return a unit that stands last: there a week begins on Sunday, no ISOWEEK."""
    unit, isoweek = _word(tree), isinstance(tree, Name) and tree.name == "isoweek"
    return periods.SUNDAY_WEEK if unit == "week" and not isoweek else unit


_SUNDAY: Mapping[str, str] = {"week(sunday)": periods.SUNDAY_WEEK}


def _monday_week(unit: str | None) -> str | None:
    return "week" if unit == "week(monday)" else unit


def _crossed(  # noqa: PLR0911 - an arm a unit
    unit: str | None, start: Expression, end: Expression, position: Position
) -> Expression:
    length = _TIMES.get(unit or "")
    if length is not None:
        return parts.units_between(start, end, length)
    first, last = date_of(start), date_of(end)
    match unit:
        case "day":
            return parts.days_between(first, last)
        case "week" | periods.SUNDAY_WEEK:
            begun = (periods.period(unit, each) for each in (first, last))
            return parts.weeks_between(*begun)
        case "month":
            return parts.months_between(first, last)
        case "quarter":
            return parts.quarters_between(first, last)
        case "year":
            return parts.years_between(first, last)
        case _:
            raise refuse(rules.DATE_DIFF, position)


def _elapsed(tree: FunctionCall, binder: Binder) -> Expression:
    """Bind whole units of time: MySQL's TIMESTAMPDIFF, BigQuery's TIMESTAMP_DIFF."""
    rule = rules.DATE_DIFF
    arguments = _exactly(tree, 3, rule)
    if tree.name == "timestampdiff":
        unit, one, other = arguments
    else:
        other, one, unit = arguments
    start, end = (_moment(each, binder, rule) for each in (one, other))
    name = _word(unit)
    if tree.name == "timestampdiff" and name in {"year", "month", "quarter"}:
        first, last = date_of(start), date_of(end)
        warn_of_null_ages(first, last, binder.environment)
        if name == "year":
            return parts.age_in_years(first, last)
        months = parts.age_in_months(first, last)
        return months if name == "month" else parts.divided(months, 3)
    lengths = {**_TIMES, "day": calendar.DAY, "week": 7 * calendar.DAY}
    length = lengths.get(name or "")
    if length is None:
        raise refuse(rule, tree.position)
    if start.facts.type is end.facts.type is DATE and name == "day":
        return parts.days_between(start, end)
    return parts.units_elapsed(start, end, length)


# -- periods and texts ---------------------------------------------------------


def _trunc(tree: FunctionCall, binder: Binder) -> Expression:
    first, second = _exactly(tree, 2, rules.DATE_UNIT)
    is_first = isinstance(first, StringLiteral) or tree.name == "datetrunc"
    unit, of = (first, second) if is_first else (second, first)
    name = _word(unit)
    if not isinstance(unit, StringLiteral) and not is_first:
        name = _bigquery_unit(unit)
    name = _SUNDAY.get(name or "", _monday_week(name))
    if name is None or name not in {*periods.UNITS, periods.SUNDAY_WEEK}:
        raise refuse(rules.DATE_UNIT, unit.position)
    return periods.period(name, _moment(of, binder, rules.DATE_UNIT))


def _text(tree: FunctionCall, binder: Binder) -> Expression:
    first, second = _exactly(tree, 2, rules.DATE_FORMAT)
    of, pattern = first, second
    if tree.name == "format_date" or isinstance(first, StringLiteral):
        pattern, of = first, second
    if not isinstance(pattern, StringLiteral):
        raise refuse(rules.DATE_FORMAT, pattern.position)
    others = tree.name == "date_format"
    pieces = periods.pieces_of(pattern.text, pattern.position, others=others)
    return periods.written(pieces, _moment(of, binder, rules.DATE_FORMAT))


# -- moving --------------------------------------------------------------------


def _add(tree: FunctionCall, binder: Binder) -> Expression:
    """Bind DATE_ADD and DATE_SUB: of an interval, or of days."""
    moment, by = _exactly(tree, 2, rules.INTERVAL)
    value = _moment(moment, binder, rules.INTERVAL)
    if amounts.is_interval(by):
        amount = amounts.amount_of(by, binder)
    else:
        amount = _times(Amount(days=1), by, binder)
    sign = -1 if tree.name in _SUBTRACTS else 1
    return shifts.shifted(value, amount.multiplied(sign), tree.position)


_SUBTRACTS = frozenset({"date_sub", "subdate", "datetime_sub", "timestamp_sub"})


def _times(each: Amount, number: Tree, binder: Binder) -> Amount:
    return amounts.times(each, binder.value(number), number.position)


def _dateadd(tree: FunctionCall, binder: Binder) -> Expression:
    """Bind ``DATEADD(day, 90, admitted)``."""
    unit, number, moment = _exactly(tree, 3, rules.INTERVAL)
    each = amounts.UNITS.get(_word(unit) or "")
    if each is None:
        raise refuse(rules.INTERVAL, unit.position)
    value = _moment(moment, binder, rules.INTERVAL)
    return shifts.shifted(value, _times(each, number, binder), tree.position)


def _add_months(tree: FunctionCall, binder: Binder) -> Expression:
    moment, number = _exactly(tree, 2, rules.INTERVAL)
    value = _moment(moment, binder, rules.INTERVAL)
    amount = _times(Amount(months=1), number, binder)
    return shifts.shifted(value, amount, tree.position)


def _last_day(tree: FunctionCall, binder: Binder) -> Expression:
    (of,) = _exactly(tree, 1, rules.DATE_UNIT)
    first = periods.period("month", _moment(of, binder, rules.DATE_UNIT))
    return periods.month_end(first)


# -- constants and casts -------------------------------------------------------


def _today(binder: Binder) -> Constant:
    today = binder.environment.dataset.snapshot_date
    return Constant(today, constant_facts(today, DATE))


def _as_date(tree: FunctionCall, binder: Binder) -> Expression:
    """Bind DATE(x) of what is no literal; DATE(2024, 1, 31) is read as a literal."""
    if len(tree.arguments) != 1:
        return _made(tree, binder)
    return date_of(_moment(tree.arguments[0], binder, rules.CAST))


def _as_moment(tree: FunctionCall, binder: Binder) -> Expression:
    (of,) = _exactly(tree, 1, rules.CAST)
    return midnight_of(_moment(of, binder, rules.CAST))


def _no_constant(tree: FunctionCall, _: Binder) -> Expression:
    detail = (
        "a date is made of a year, a month and a day that are written out, but for the "
        "year, which may be computed; or of a text YYYY-MM-DD"
    )
    hint = "write DATE '2024-01-31', or MAKE_DATE(birth_year, 7, 1)"
    raise refuse(rules.CAST, tree.position, detail=detail, hint=hint)


def _made(tree: FunctionCall, binder: Binder) -> Expression:
    """Bind MAKE_DATE(year, 7, 1), a day that every year has; NULL outside 1 to 9999."""
    written = [_day_or_month(each) for each in tree.arguments[1:]]
    if len(written) != 2 or not 1 <= written[1] <= _longest(written[0]):  # noqa: PLR2004
        return _no_constant(tree, binder)
    month, day = written
    place = tree.position
    first = TypedLiteral("date", f"{_SAME_YEAR}-{month:02}-{day:02}", place)
    years = Arithmetic("-", tree.arguments[0], NumberLiteral(_SAME_YEAR, place), place)
    call = FunctionCall("dateadd", (StringLiteral("year", place), years, first), place)
    return _dateadd(call, binder)


_SAME_YEAR: Final = "2001"


def _day_or_month(tree: Tree) -> int:
    text = tree.text if isinstance(tree, NumberLiteral) else ""
    return int(text) if text.isdigit() and len(text) <= 2 else 0  # noqa: PLR2004


def _longest(month: int) -> int:
    """Return the days that a month has in every year; 0 of what is no month."""
    return monthrange(int(_SAME_YEAR), month)[1] if month in range(1, 13) else 0


_Handler = Callable[[FunctionCall, Binder], Expression]
_CALLS: Mapping[str, _Handler] = {
    **dict.fromkeys(_PART_NAMES, _part_call),
    **dict.fromkeys(("date_part", "datepart"), _date_part),
    "age": _age,
    "age_years": _age_years,
    **dict.fromkeys(("date_diff", "datediff", "datetime_diff"), _date_diff),
    **dict.fromkeys(("timestampdiff", "timestamp_diff"), _elapsed),
    **dict.fromkeys(
        ("date_trunc", "datetrunc", "datetime_trunc", "timestamp_trunc"), _trunc
    ),
    **dict.fromkeys(("to_char", "date_format", "format_date", "strftime"), _text),
    **dict.fromkeys(("date_add", "adddate", "datetime_add", "timestamp_add"), _add),
    **dict.fromkeys(("date_sub", "subdate", "datetime_sub", "timestamp_sub"), _add),
    "dateadd": _dateadd,
    "add_months": _add_months,
    "last_day": _last_day,
    **dict.fromkeys(
        ("current_date", "current_timestamp", "localtimestamp", "now", "today"),
        lambda _, binder: _today(binder),
    ),
    "getdate": lambda _, binder: _today(binder),
    "date": _as_date,
    **dict.fromkeys(("datetime", "timestamp"), _as_moment),
    **dict.fromkeys(("make_date", "datefromparts"), _made),
    "to_date": _no_constant,
}
NAMES = frozenset(_CALLS)
"""Functions that are bound here."""
