"""Warnings where weeks, or days of a week, are counted otherwise in other systems.

Here a week begins on Monday, and its number is the ISO one, as in PostgreSQL. What says
so by its own word, ``ISOWEEK`` or ``WEEK(SUNDAY)``, has no warning.
"""

from collections.abc import Mapping
from typing import Final

from query_lang.binding.environment import Environment
from query_lang.syntax.nodes import Extract, FunctionCall, Name, StringLiteral

WEEK_START: Final = "week_start"
DAY_NUMBERS: Final = "day_numbers"
_ISO: Final = "weeks are ISO weeks here, from Monday on"
_NUMBERS: Final = (
    f"{_ISO}, as EXTRACT(ISOWEEK FROM d) says; MySQL and BigQuery count from the first "
    "Sunday of a year: DIV(EXTRACT(DOY FROM d) + 6 - EXTRACT(DOW FROM d), 7)"
)
_SQL_SERVER: Final = (
    f"{_ISO}, as DATEPART(iso_week, d) says; SQL Server begins them on Sundays, the "
    "first on 1 January: DIV(EXTRACT(DOY FROM d) + 12 - EXTRACT(DOW FROM d), 7)"
)
_BEGINS: Final = (
    "weeks begin on Mondays here, as DATETRUNC(iso_week, d) says; in SQL Server on "
    "Sundays: DATE_TRUNC(d, WEEK(SUNDAY))"
)
_CROSSED: Final = (
    "the Mondays between two days are counted here, as DATE_DIFF(b, a, WEEK(MONDAY)) "
    "says; SQL Server counts Sundays: DATE_DIFF(b, a, WEEK(SUNDAY))"
)
_DAYS: Final = (
    "DAYOFWEEK is 1 on Sundays here, as in MySQL, BigQuery and Spark; in Snowflake and "
    "DuckDB it is 0 on Sundays: EXTRACT(DOW FROM d)"
)
_OF_UNITS: Mapping[str, str] = {
    "datepart": _SQL_SERVER,
    "datetrunc": _BEGINS,
    "datediff": _CROSSED,
}
_WEEKS: Final = frozenset(("week", "weeks", "wk", "ww"))


def warn_of_weeks(tree: FunctionCall | Extract, environment: Environment) -> None:
    """Note where the same text counts other weeks or days elsewhere."""
    name = f"extract {tree.part}" if isinstance(tree, Extract) else tree.name
    if name in {"week", "extract week"}:
        environment.warn(WEEK_START, _NUMBERS)
    if name in {"dayofweek", "extract dayofweek"} or _unit(tree) == "dayofweek":
        environment.warn(DAY_NUMBERS, _DAYS)
    if name in _OF_UNITS and _unit(tree) in _WEEKS:
        environment.warn(WEEK_START, _OF_UNITS[name])


def _unit(tree: FunctionCall | Extract) -> str | None:
    """Return the unit that a call begins with, in small letters."""
    match tree:
        case FunctionCall(_, (Name(unit, None), *_)):
            return unit
        case FunctionCall(_, (StringLiteral(unit), *_)):
            return unit.lower()
        case _:
            return None
