"""Hostile values of every type, and sets of tables from which engines could guess.

An engine keeps the least and greatest stored value and the number of NULLs of a column,
and may rewrite a query by them: fold a CASE, drop a guard, narrow a type. So the same
rows of the suite also run where all rows are equal, where columns are all NULL, where
one value stands at an extreme, and where there is nothing at all.
"""

import random
from datetime import date, datetime
from decimal import Decimal

from privacy.schema import ColumnType
from tests.conformance.schema import CLOSING, DATASET, FIRST, GREATEST, LAST, LEAST, T

OPENING = datetime(1, 1, 1)  # noqa: DTZ001 - timestamps have no zone
LONG = "ä" * 20_000

INTEGERS = (
    *(LEAST, LEAST + 1, -(2**53) - 1, -(2**31), -10, -1, 0, 1, 2, 3, 10, 90),
    *(2**31 - 1, 2**53 + 1, GREATEST - 1, GREATEST),
)
STEPS = (LEAST, LEAST + 1, -(2**53) - 1, -1, 0, 1, 99, 100, 2**53 + 1, GREATEST)
DAYS = (
    *(FIRST, date(1, 1, 2), date(1582, 10, 15), date(1899, 12, 31), date(1900, 3, 1)),
    *(date(1969, 12, 31), date(1970, 1, 1), date(1999, 12, 31), date(2000, 2, 29)),
    *(date(2019, 2, 28), date(2020, 2, 29), date(2020, 3, 1), date(9999, 12, 30), LAST),
)
MOMENTS = (
    OPENING,
    datetime(1, 1, 1, 0, 0, 0, 1),  # noqa: DTZ001 - as above
    datetime(1969, 12, 31, 23, 59, 59, 999999),  # noqa: DTZ001 - as above
    datetime(1970, 1, 1),  # noqa: DTZ001 - as above
    datetime(2020, 2, 29, 12, 30, 0, 500000),  # noqa: DTZ001 - as above
    datetime(2020, 2, 29, 23, 59, 59, 999999),  # noqa: DTZ001 - as above
    CLOSING,
)
TEXTS = (
    *("", " ", "E11", "e11", "E11.9", "E11 ", "nan", "NaN", "inf", "-Infinity"),
    *("null", "NULL", "true", "0", "-0", "1e999", "0x1F", "%", "_", "%%", "\\", "a%b"),
    *(
        "'",
        "''",
        '"',
        ";--",
        "$1",
        "?",
        "{x}",
        "é",
        "e\u0301",
        "ß",
        "\u017f",
        "İ",
        "\u0131",
    ),
    *("東京", "\U0001f600", "a\U0001f600b", "\u202eabc", "\ufeff", "\u200d", "\uffff"),
    *("\t", "\n", "\x01", "\x7f", "\U0010ffff", "z", "Z", LONG),
)
CODES = ("A00", "a00", "E11.9", "e119", "Z99.9", "U07.1", "", "E1", "ß", "nan")
LOCALS = ("x1", "X1", "X2", "Ü1", "ü.1", "z", "", "nothing")
POOLS = {
    T.INTEGER: INTEGERS,
    T.DATE: DAYS,
    T.TIMESTAMP: MOMENTS,
    T.TEXT: TEXTS,
    T.BOOLEAN: (False, True),
}
NAMED = {
    "seq": (1, 2, 3, 4),
    "age": (0, 9, 10, 60, 119, 120),
    "days": (-3, -1, 0, 1, 14),
    "sex": ("f", "m", "other"),
    "ward": ("icu", "er", "東", "other"),
    "code": CODES,
    "local": LOCALS,
    "drug": ("met", "ins"),
    "floor": (-1, 0, 3),
    "grade": ("low", "high"),
}
PRIVATE = ("people", "marks", "events")
HASHES = (LEAST, -1, 0, GREATEST)


def pool(column):
    """Return the values that a column is filled with, NULL left out."""
    if column.type is ColumnType.DECIMAL:
        return tuple(Decimal(step).scaleb(-column.scale) for step in STEPS)
    return NAMED.get(column.name) or POOLS[column.type]


def declared(table):
    return [column for column in table.columns if column.name != table.unit_column]


def hostile(persons=16):
    """Return tables in which each pool is met whole, NULL among it, in a fixed mix."""
    rng = random.Random(7)

    def value(column, number):
        options = (*pool(column), *((None,) if column.nullable else ()))
        turn = number if number < len(options) else rng.randrange(len(options))
        return options[turn % len(options)]

    return _filled(persons, lambda table: table.max_rows_per_unit, value)


def uniform(place):
    """Return tables in which each column has one value, 0 to 2: least to greatest."""

    def value(column, _):
        options = pool(column)
        return options[(0, len(options) // 2, -1)[place]]

    return _filled(3, lambda _: 2, value)


def all_null():
    """Return tables in which whatever may be NULL is."""
    return _filled(
        3, lambda _: 2, lambda column, _: None if column.nullable else pool(column)[0]
    )


def one_null():
    """Return tables of one value each, at the greatest end, and one NULL beside it."""

    def value(column, number):
        return None if column.nullable and number == 1 else pool(column)[-1]

    return _filled(2, lambda _: 2, value)


def empty():
    return {name: [] for name in DATASET.tables}


def without_public():
    """Return the hostile rows beside empty public tables."""
    return {**hostile(6), "wards": [], "grades": []}


def _filled(persons, rows_of, value):
    """Fill private tables for some persons, and the public ones.

    ``value`` gets a column and the number of the row in its table. Keys stay unique.
    """
    tables = empty()
    for name in PRIVATE:
        table = DATASET.tables[name]
        for person in range(persons):
            if name == "events" and person % 5 == 4:
                continue  # some persons are in one table alone
            count = min(rows_of(table), table.max_rows_per_unit)
            for rank in range(1, count + 1):
                number = len(tables[name])
                row = {c.name: value(c, number) for c in declared(table)}
                if "seq" in row and count > 1:
                    row["seq"] = rank
                stored = {"unit": person - 2, "row_rank": rank, **row}
                tables[name].append({"row_hash": HASHES[rank - 1], **stored})
    tables["wards"] = [
        {"ward": ward, "floor": floor, "title": title}
        for ward, floor, title in (
            ("icu", 3, "\U0001f600"),
            ("other", None, None),
            ("東", -1, ""),
        )
    ]
    tables["grades"] = [
        {"seq": seq, "grade": grade, "points": points}
        for seq, grade, points in (
            (1, "low", LEAST),
            (1, "high", GREATEST),
            (2, None, None),
            (None, "low", 0),
        )
    ]
    return tables


TABLES = {
    "hostile": hostile(),
    "empty": empty(),
    "all equal, least": uniform(0),
    "all equal, between": uniform(1),
    "all equal, greatest": uniform(2),
    "all null": all_null(),
    "one value and one null": one_null(),
    "no public rows": without_public(),
}
