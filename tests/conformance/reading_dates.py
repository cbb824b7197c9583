"""Spellings of dates and intervals to the evaluator's few forms of them."""

import re
from datetime import date

from query_lang.syntax import nodes as syntax
from tests.semantics.meaning import tree

_TERM = re.compile(r"([+-]?)\s*(\d+)\s*([a-z]+)")
_LENGTHS = {  # months, days, microseconds
    "year": (12, 0, 0),
    "quarter": (3, 0, 0),
    "month": (1, 0, 0),
    "week": (0, 7, 0),
    "day": (0, 1, 0),
    "hour": (0, 0, 3_600 * 10**6),
    "minute": (0, 0, 60 * 10**6),
    "second": (0, 0, 10**6),
}
_NAMES = {"%A": "FMDay", "%a": "Dy", "%B": "FMMonth", "%b": "Mon"}
_PERCENT = {
    "%Y": "YYYY",
    "%m": "MM",
    "%d": "DD",
    "%G": "IYYY",
    "%V": "IW",
    "%Q": "Q",
    **_NAMES,
}
_PARTS = {"dayofmonth": "day", "dayofyear": "doy", "weekofyear": "week"}
PARTS = frozenset(
    (*_LENGTHS, *_PARTS, "dayofweek", "isodow", "isoweek", "isoyear", "dow", "doy")
)
_TODAY = frozenset(
    ("current_date", "current_timestamp", "localtimestamp", "now", "today", "getdate")
)


def is_interval(node):
    """Whether a node is an interval, perhaps times a number."""
    match node:
        case syntax.Interval():
            return True
        case syntax.Negative(value):
            return is_interval(value)
        case syntax.Arithmetic("*" | "+" | "-", left, right):
            return is_interval(left) or (node.operator == "*" and is_interval(right))
        case _:
            return False


def lengths_of(node, read):  # noqa: PLR0911 - one return a form
    """Return months, days, microseconds and the number they are multiplied by."""
    match node:
        case syntax.Negative(value):
            months, days, micros, times = lengths_of(value, read)
            return -months, -days, -micros, times
        case syntax.Arithmetic("*", left, right):
            one, other = (left, right) if is_interval(left) else (right, left)
            months, days, micros, _ = lengths_of(one, read)
            return months, days, micros, read(other)
        case syntax.Arithmetic(sign, left, right):
            one, other = lengths_of(left, read), lengths_of(right, read)
            step = -1 if sign == "-" else 1
            return *(
                a + step * b for a, b in zip(one[:3], other[:3], strict=True)
            ), None
    if isinstance(node.value, syntax.StringLiteral | syntax.NumberLiteral):
        return _lengths(f"{node.value.text} {node.unit or ''}")
    return *_LENGTHS[_unit(node.unit)], read(node.value)


def _lengths(text):
    total = [0, 0, 0]
    for sign, number, unit in _TERM.findall(text.lower()):
        times = int(number) * (-1 if sign == "-" else 1)
        for place, length in enumerate(_LENGTHS[_unit(unit)]):
            total[place] += times * length
    return *total, None


def _unit(text):
    return text if text in _LENGTHS else text.removesuffix("s")


def shifted(moment, interval, sign, read):
    """Return a date or timestamp moved by an interval."""
    months, days, micros, times = lengths_of(interval, read)
    lengths = (sign * months, sign * days, sign * micros)
    return tree.Call("shift", (read(moment), *lengths, times))


def length(node, read):
    """Return an interval that a difference is compared with."""
    months, days, micros, times = lengths_of(node, read)
    assert not months
    assert times is None
    return tree.Length(days, micros)


def age(node, read):
    """Return the months, and the earlier and later date of AGE(at, birth)."""
    dates = [read(each) for each in node.arguments]
    at, birth = dates if len(dates) == 2 else (tree.Today(), dates[0])
    return birth, at


def months_either_way(birth, at):
    """Return completed months; where ``at`` comes first, what is below 0."""
    after, before = (
        tree.Call("timestampdiff", ("month", *pair))
        for pair in ((birth, at), (at, birth))
    )
    return tree.Coalesce((after, tree.Arith("-", tree.Lit(-1), before)))


def age_part(part, node, read):
    """EXTRACT(YEAR | MONTH FROM AGE(...))."""
    pair = age(node, read)
    years, months = (
        tree.Call("timestampdiff", (unit, *pair)) for unit in ("year", "month")
    )
    if part == "year":
        return years
    return tree.Arith("-", months, tree.Arith("*", tree.Lit(12), years))


def call(node, read):  # noqa: C901, PLR0911, PLR0912 - one return a spelling
    """Return a function of dates in the evaluator's spelling, None for others."""
    name, arguments = node.name, node.arguments
    if name in _TODAY:
        return tree.Today()
    if name in PARTS and len(arguments) == 1:
        return part(name, arguments[0], read)
    match name:
        case "date_part" | "datepart":
            return part(_word(arguments[0]), arguments[1], read)
        case "date_trunc" | "datetrunc" | "timestamp_trunc" | "datetime_trunc":
            return _trunc(node, read)
        case "to_char" | "strftime" | "date_format" | "format_date":
            return _text(arguments, read)
        case "date_diff" | "datediff" | "datetime_diff":
            return _difference(node, read)
        case "timestampdiff":
            return tree.Call(name, (_word(arguments[0]), *map(read, arguments[1:])))
        case "timestamp_diff":
            end, start, unit = arguments
            return tree.Call("timestampdiff", (_word(unit), read(start), read(end)))
        case "date_add" | "adddate" | "timestamp_add" | "datetime_add":
            return _added(arguments, 1, read)
        case "date_sub" | "subdate" | "timestamp_sub" | "datetime_sub":
            return _added(arguments, -1, read)
        case "dateadd":
            unit, number, moment = arguments
            lengths = _LENGTHS[_word(unit)]
            return tree.Call("shift", (read(moment), *lengths, read(number)))
        case "date" | "make_date" | "datefromparts" if len(arguments) > 1:
            year, month, day = arguments
            first = date(2001, int(month.text), int(day.text))
            years = tree.Arith("-", read(year), tree.Lit(2001))
            return tree.Call("shift", (tree.Lit(first), *_LENGTHS["year"], years))
        case "date":
            return tree.Cast(read(arguments[0]), "date")
        case "timestamp" | "datetime":
            return tree.Cast(read(arguments[0]), "timestamp")
        case "last_day" | "add_months":
            return tree.Call(name, tuple(map(read, arguments)))
    return None


def part(name, of, read):
    """Return a part of a date, a difference or an age."""
    name = _PARTS.get(name, name)
    if isinstance(of, syntax.FunctionCall) and of.name == "age":
        return age_part(name, of, read)
    return tree.Extract(
        {"isoweek": "week", "dayofyear": "doy"}.get(name, name), read(of)
    )


def _word(node):
    match node:
        case syntax.Name(name):
            return _unit(name)
        case syntax.StringLiteral(text):
            return _unit(text.lower())
        case syntax.FunctionCall("week", (syntax.Name(name),)):
            return f"week of {name}"


def _trunc(node, read):
    first, second = node.arguments
    if isinstance(first, syntax.StringLiteral) or node.name == "datetrunc":
        return tree.Call("date_trunc", (_word(first), read(second)))
    unit = {
        "week": "sunday week",
        "week of sunday": "sunday week",
        "week of monday": "week",
        "isoweek": "week",
    }.get(_word(second), _word(second))
    return tree.Call("date_trunc", (unit, read(first)))


def _text(arguments, read):
    pattern, of = sorted(
        arguments, key=lambda a: not isinstance(a, syntax.StringLiteral)
    )
    text = pattern.text.replace("%F", "%Y-%m-%d")
    if "%" in text:
        text = re.sub("(?<!%)[A-Z]", r'"\g<0>"', text)
    for percent, field in _PERCENT.items():
        text = text.replace(percent, field)
    return tree.Call("to_char", (read(of), text))


def _difference(node, read):
    arguments = node.arguments
    if len(arguments) == 2:
        end, start = map(read, arguments)
        return tree.Call("date_diff", ("day", start, end))
    first, second, third = arguments
    if isinstance(first, syntax.StringLiteral) or node.name == "datediff":
        return tree.Call("date_diff", (_word(first), read(second), read(third)))
    unit, pair = _word(third), (read(second), read(first))
    if unit == "week":
        begun = (tree.Call("date_trunc", ("sunday week", each)) for each in pair)
        days = tree.Call("date_diff", ("day", *begun))
        return tree.Divide(days, tree.Lit(7))
    return tree.Call("date_diff", (unit, *pair))


def _added(arguments, sign, read):
    moment, by = arguments
    if is_interval(by):
        return shifted(moment, by, sign, read)
    return tree.Call("shift", (read(moment), 0, sign, 0, read(by)))
