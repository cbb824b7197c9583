"""Totals are what another engine says that reads ROLLUP and the like by itself.

DuckDB is given the text as it is typed, over the plain rows; of ours the exact vectors
are shown. It leaves out groups without rows, which here are cells of zeros.
"""

import random
from decimal import Decimal

import pytest

from privacy.errors import QueryError
from query_lang.showing.presentation import present
from tests.support.compiling import compile_query
from tests.support.data.hospital import (
    ENCOUNTERS,
    HOSPITAL,
    connect,
    create_table,
    ranked,
    run,
)

KEYS = ("sex", "ward", "level", "age >= 40", "urgent")
"""Of ward and of age >= 40 there are NULLs in the data, beside those of totals."""

NUMBERS = (
    "COUNT(*) AS n, COUNT(age) AS known, SUM(age) AS years, AVG(age) AS mean, "
    "COUNT(*) FILTER (WHERE smoker) AS smokers"
)


def database(rng):
    """Return a connection to stored rows, and to the same as plain ones."""
    rows = []
    for unit in range(1, 9):
        sex = rng.choice(("f", "m", "other"))
        for number in range(rng.randint(1, 4)):
            row = {
                "unit": unit,
                "row_hash": 100 * unit + number,
                "sex": sex,
                "age": rng.choice((None, 10, 39, 40, 77)),
                "ward": rng.choice((None, "north", "south")),
                "level": rng.randint(1, 3),
                "urgent": rng.random() < 0.5,
                "smoker": rng.choice((None, True, False)),
            }
            rows.append(row)
    connection = connect()
    create_table(connection, ENCOUNTERS, ranked(rows))
    connection.execute("CREATE SCHEMA plain")
    connection.execute("CREATE TABLE plain.encounters AS FROM encounters")
    return connection


def item(rng, keys, depth=0):
    """Return a random item of GROUP BY over some keys."""
    some = rng.sample(keys, rng.randint(1, min(3, len(keys))))
    word = rng.choice(("", "ROLLUP", "CUBE", "GROUPING SETS"))
    if not word:
        return rng.choice(keys)
    if word != "GROUPING SETS":
        if len(some) == 3 and rng.random() < 0.5:
            some = [f"({some[0]}, {some[1]})", some[2]]
        return f"{word} ({', '.join(some)})"
    sets = []
    for _ in range(rng.randint(1, 3)):
        if depth == 0 and rng.random() < 0.2:
            sets.append(item(rng, keys, depth=1))
        else:
            sets.append(
                f"({', '.join(rng.sample(keys, rng.randint(0, min(2, len(keys)))))})"
            )
    return f"GROUPING SETS ({', '.join(sets)})"


def question(rng):
    """Return a random text with totals, and how many keys it selects first."""
    keys = rng.sample(KEYS, rng.randint(1, 3))
    grouped = ", ".join(item(rng, keys) for _ in range(rng.randint(1, 2)))
    used = [key for key in keys if key in grouped]
    if not used or not any(word in grouped for word in ("ROLLUP", "CUBE", "SETS")):
        return question(rng)
    names = [f"{key} AS k{place}" for place, key in enumerate(used)]
    names.append(f"GROUPING({', '.join(used)}) AS g")
    where = rng.choice(("", "WHERE level >= 2 ", "WHERE sex = 'f' AND age > 20 "))
    listed = f"{', '.join(names)}, {NUMBERS}"
    return f"FROM encounters {where}GROUP BY {grouped}", listed, len(names)


def number(value):
    return None if value is None else round(Decimal(str(value)), 6)


def told(rows, keys):
    """Return the rows that count somebody, as texts of keys and rounded numbers."""
    return sorted(
        [*map(str, row[:keys]), *map(number, row[keys:])]
        for row in rows
        if row[keys] > 0
    )


@pytest.mark.parametrize("seed", range(40))
def test_totals_are_those_of_an_engine_that_reads_the_text_itself(seed):
    rng = random.Random(seed)
    connection = database(rng)
    rest, listed, keys = question(rng)
    sql = f"SELECT {listed} {rest}"
    compiled = compile_query(sql, HOSPITAL)
    ours = present(compiled, run(connection, compiled.rendered))
    connection.execute("USE plain")
    theirs = connection.execute(sql).fetchall()
    sums = keys + 2  # of no value ours is 0
    theirs = [(*row[:sums], row[sums] or 0, *row[sums + 1 :]) for row in theirs]
    assert told(ours, keys) == told(theirs, keys), sql


@pytest.mark.parametrize(
    "keys",
    [
        "ROLLUP (urgent, urgent = TRUE)",
        "CUBE (urgent = TRUE, urgent)",
        "GROUPING SETS ((urgent, urgent = TRUE), (urgent))",
    ],
)
def test_two_keys_of_one_value_have_no_totals_each(keys):
    shown = "urgent AS a, urgent = TRUE AS b, COUNT(*) AS n"
    sql = f"SELECT {shown} FROM encounters GROUP BY {keys}"
    with pytest.raises(QueryError) as caught:
        compile_query(sql, HOSPITAL)
    assert caught.value.rule == "group_by_form"


@pytest.mark.parametrize(
    "keys",
    [
        "urgent, urgent = TRUE, ROLLUP (sex)",
        "ROLLUP ((urgent, urgent = TRUE), sex)",
        "GROUPING SETS ((urgent, urgent = TRUE, sex), (urgent, urgent = TRUE))",
    ],
)
def test_two_keys_of_one_value_that_stand_together_in_all_sets_are_one(keys):
    shown = "urgent AS a, urgent = TRUE AS b, sex, COUNT(*) AS n"
    sql = f"SELECT {shown} FROM encounters GROUP BY {keys}"
    assert compile_query(sql, HOSPITAL).columns


@pytest.mark.parametrize(
    ("key", "keys", "rows"),
    [
        ("sex", "ROLLUP (sex, e.sex)", 7),
        ("sex", "GROUPING SETS ((e.sex), (SEX), ())", 7),
        ("ABS(level)", "GROUPING SETS ((ABS(level)), (abs(e.level)), ())", 7),
    ],
)
def test_one_key_in_other_letters_or_with_its_table_is_one(key, keys, rows):
    sql = f"SELECT {key}, COUNT(*) AS n FROM encounters e GROUP BY {keys}"
    compiled = compile_query(sql, HOSPITAL)
    counted = run(database(random.Random(1)), compiled.rendered)
    assert len(present(compiled, counted)) == rows
