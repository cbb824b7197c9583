"""Casts as DuckDB SQL: of texts, to texts, and between grids of numbers.

Every operand is a short name, so that it may stand several times. What could fail is
cut to its form first, and read by TRY_CAST, which is NULL for all else.
"""

from collections.abc import Callable, Mapping

from privacy.schema import ColumnType
from query_lang.plans.expressions import Facts
from query_lang.rendering.fragments import Fragment
from query_lang.syntax.text_values import (
    DATE_FORM,
    FALSE_WORDS,
    INTEGER_FORM,
    TIMESTAMP_FORM,
    TRUE_WORDS,
    decimal_form,
    spellings,
)

_FIRST_DAY = "DATE '0001-01-01'"  # the engine reads year 0 as 1 BC


def read_text_sql(own: Fragment, facts: Facts) -> Fragment:
    """Return what a text says as a type; NULL where it says nothing of it."""
    return _READERS[facts.type](own, facts)


def _whole(own: Fragment, form: str) -> Fragment:
    """Return the text where all of it has a form, else an empty text."""
    return Fragment("regexp_extract(") + own + Fragment(f", '^{form}$')")


def _integer(own: Fragment, _: Facts) -> Fragment:
    held = _whole(own, INTEGER_FORM)
    return Fragment("TRY_CAST(") + held + Fragment(" AS BIGINT)")


def _decimal(own: Fragment, facts: Facts) -> Fragment:
    """Read the digits without their point: the number in steps of its last place."""
    form, scale = decimal_form(facts.scale), facts.scale
    before, after = (
        Fragment("regexp_extract(") + own + Fragment(f", '^{form}$', {group})")
        for group in (1, 2)
    )
    is_number = Fragment("(CASE WHEN ") + before + Fragment(" <> '' THEN TRY_CAST((")
    digits = before + Fragment(" || rpad(") + after + Fragment(f", {scale}, '0'))")
    return is_number + digits + Fragment(" AS BIGINT) END)")


def _date(own: Fragment, _: Facts) -> Fragment:
    day = Fragment("TRY_CAST(") + _whole(own, DATE_FORM) + Fragment(" AS DATE)")
    return _since_year_one(day)


def _timestamp(own: Fragment, _: Facts) -> Fragment:
    held = _whole(own, TIMESTAMP_FORM)
    return _since_year_one(Fragment("TRY_CAST(") + held + Fragment(" AS TIMESTAMP)"))


def _since_year_one(moment: Fragment) -> Fragment:
    test = Fragment("(CASE WHEN ") + moment + Fragment(f" >= {_FIRST_DAY} THEN ")
    return test + moment + Fragment(" END)")


def _boolean(own: Fragment, _: Facts) -> Fragment:
    text = Fragment("(CASE")
    for words, truth in ((TRUE_WORDS, "TRUE"), (FALSE_WORDS, "FALSE")):
        written = spellings(words)
        marks = ", ".join("?" for _ in written)
        text += Fragment(" WHEN ") + own + Fragment(f" IN ({marks})", written)
        text += Fragment(f" THEN {truth}")
    return text + Fragment(" END)")


_READERS: Mapping[ColumnType, Callable[[Fragment, Facts], Fragment]] = {
    ColumnType.INTEGER: _integer,
    ColumnType.DECIMAL: _decimal,
    ColumnType.DATE: _date,
    ColumnType.TIMESTAMP: _timestamp,
    ColumnType.BOOLEAN: _boolean,
}


def rounded(own: Fragment, width: int) -> Fragment:
    """Return a 64-bit integer in steps of ``width``, rounded half away from zero."""
    rest, half = own + Fragment(f" % {width}"), width // 2
    more = Fragment("CASE WHEN ") + rest + Fragment(f" >= {half} THEN 1 WHEN ")
    more += rest + Fragment(f" <= {-half} THEN -1 ELSE 0 END")
    return Fragment("((") + own + Fragment(f" // {width}) + ") + more + Fragment(")")


def decimal_text_sql(own: Fragment, scale: int) -> Fragment:
    """Write a number that is held in steps of its last place."""
    width = 10**scale
    wide = Fragment("abs(CAST(") + own + Fragment(" AS HUGEINT))")
    whole = Fragment("CAST(") + wide + Fragment(f" // {width} AS VARCHAR)")
    places = Fragment("lpad(CAST(") + wide + Fragment(f" % {width} AS VARCHAR), ")
    sign = Fragment("(CASE WHEN ") + own + Fragment(" < 0 THEN '-' ELSE '' END)")
    text = sign + Fragment(" || ") + whole + Fragment(" || '.' || ") + places
    return Fragment("(") + text + Fragment(f"{scale}, '0'))")
