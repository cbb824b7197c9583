"""Dates as eight digits, year first; mistyped ones too, for what they resemble."""

import re

import duckdb

from upstream.extraction.normalising.dates import Order, normal_date
from upstream.linkage.tables import name_sql

_BATCH = 10_000  # distinct values that are read at once
_PLAIN = "([0-9]{4})-?([0-9]{2})-?([0-9]{2})([t ][0-9].*)?"
_TIME = re.compile(r"[t ]+\d{1,2}:\d\d.*$")
_MISTYPED = re.compile(r"\d{7,9}")
_DAY_FIRST = re.compile(r"(\d\d)(\d\d)(\d{4})")
_YEARS = range(1850, 2101)


def date_sql(text: str) -> str:
    """Return eight digits of a clean text that says year, month and day in digits.

    Other texts are looked up in what ``read_dates`` read.
    """
    return (
        f"CASE WHEN regexp_full_match({text}, '{_PLAIN}') "
        f"THEN left(replace({text}, '-', ''), 8) END"
    )


def read_dates(
    connection: duckdb.DuckDBPyConnection,
    texts: str,
    made: str,
    order: Order | None,
) -> None:
    """Make a table ``text``, ``value`` of the distinct texts that are no plain dates.

    Args:
        connection: The database.
        texts: A query of one column ``text``, cleaned.
        made: The name of the table, a temporary one.
        order: What comes first in ``3/5/2024``.
    """
    read, unread = name_sql(made), name_sql(f"{made}:unread")
    is_plain = "" if order else f" AND NOT regexp_full_match(text, '{_PLAIN}')"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {read} (text VARCHAR, value VARCHAR); "  # noqa: S608 - names are quoted
        f"CREATE OR REPLACE TEMP TABLE {unread} AS "
        "SELECT row_number() OVER (ORDER BY text) AS place, text FROM "
        f"(SELECT DISTINCT text FROM ({texts}) WHERE text IS NOT NULL{is_plain})"
    )
    after = 0
    while found := connection.execute(
        f"SELECT text FROM {unread} WHERE place > ? AND place <= ?",  # noqa: S608 - as above
        [after, after + _BATCH],
    ).fetchall():
        before = [text for (text,) in found]
        values = [date_digits(text, order) for text in before]
        connection.execute(
            f"INSERT INTO {read} SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[])",
            [before, values],
        )
        after += _BATCH
    connection.execute(f"DROP TABLE {unread}")


def date_digits(text: str, order: Order | None) -> str | None:
    """Return a clean text's date as ``19480930``, or None.

    Digits that are no date stay, since they differ from it in a digit or two.

    >>> date_digits("30/9/1948", None), date_digits("3/5/1948", None)
    ('19480930', None)
    >>> date_digits("19481330", None), date_digits("30091948", "day_first")
    ('19481330', '19480930')
    """
    text = _TIME.sub("", text)
    value = normal_date(text, order=order).value
    if value is not None:
        return value.replace("-", "")
    digits = re.sub(r"[-/. ]", "", text)
    if _MISTYPED.fullmatch(digits) is None:
        return None
    return _ordered(digits, order) if digits == text else _iso_like(text, digits)


def _iso_like(text: str, digits: str) -> str | None:
    """Return the digits of an impossible date if its year comes first."""
    return digits if re.match(r"\d{4}[-/. ]", text) else None


def _ordered(digits: str, order: Order | None) -> str:
    """Return digits with the year first, where an order says that it comes last."""
    found = _DAY_FIRST.fullmatch(digits)
    if order is None or found is None or int(digits[:4]) in _YEARS:
        return digits
    first, second, year = found.groups()
    parts = (year, second, first) if order == "day_first" else (year, first, second)
    return "".join(parts) if int(year) in _YEARS else digits
