"""Hash tables that one unit could crowd are keyed, and nothing else changes."""

import random
import time
from collections import Counter
from datetime import date, timedelta

import duckdb
import pytest

from engines.duckdb.snapshots import BLIND, new_hash_key, set_hash_key
from privacy.contributions import ContributionBounds
from privacy.schema import (
    Column,
    ColumnType,
    Dataset,
    RangeDomain,
    Table,
    ValuesDomain,
)
from query_lang.binding.bind import bind_query
from query_lang.compile import compile_query
from query_lang.costs import constants as c
from query_lang.costs.plans import aggregate_costs
from query_lang.reading.parse import parse_query
from query_lang.rendering import keyed_hashes
from query_lang.specs.axes import Axis
from query_lang.specs.cubes import CubeRequest, compile_cube

UNITS = 30
KEYED = "getvariable('hash_key')"
NUMBER = ColumnType.INTEGER
DAYS = RangeDomain(date(2000, 1, 1), date(2009, 12, 31))


def dataset(rows):
    """Return tables of so many rows a unit."""
    columns = (
        Column("pid", NUMBER, nullable=False),
        Column("x", NUMBER),
        Column("y", NUMBER, domain=RangeDomain(0, 9_000)),
        Column("few", NUMBER, domain=RangeDomain(0, 9)),
        Column("cost", ColumnType.DECIMAL, scale=2),
        Column("day", ColumnType.DATE, domain=DAYS),
        Column("note", ColumnType.TEXT, max_length=40),
        Column("ward", ColumnType.TEXT, domain=ValuesDomain(("a", "b"))),
        Column("sure", ColumnType.BOOLEAN),
    )
    visits = Table("visits", columns, "pid", rows)
    number = Column("number", NUMBER)
    code = Column("code", NUMBER, nullable=False)
    codes = Table("codes", (code, number), key=("code",), max_rows=50)
    tables = {"visits": visits, "codes": codes}
    return Dataset("d", "p", "patient", date(2026, 1, 1), tables, {}, UNITS)


JOIN = "SELECT COUNT(*) FROM visits v JOIN visits w ON v.pid = w.pid AND {}"
LEFT = (
    "SELECT COUNT(*), COUNT(w.y) FROM visits v LEFT JOIN visits w"
    " ON v.pid = w.pid AND {}"
)
EXISTS = (
    "SELECT COUNT(*) FROM visits v WHERE {} EXISTS"
    " (SELECT * FROM visits w WHERE w.pid = v.pid AND {})"
)
MARKED = (
    "SELECT COUNT(*) FROM visits v WHERE v.few > 8 OR EXISTS"
    " (SELECT * FROM visits w WHERE w.pid = v.pid AND {})"
)
GROUP = (
    "SELECT COUNT(*) FROM (SELECT pid, {0}, COUNT(*) AS n FROM visits"
    " GROUP BY pid, {0}) AS r WHERE n > 1"
)
DISTINCT = "SELECT COUNT(*) FROM (SELECT DISTINCT pid, {} FROM visits) AS r"
VALUES = (
    "SELECT SUM(n) FROM (SELECT pid, COUNT(DISTINCT {}) AS n FROM visits"
    " GROUP BY pid) AS r WHERE n < 1000"
)
NUMBERS = (
    JOIN.format("v.x = w.x"),
    JOIN.format("v.x = w.cost"),
    JOIN.format("v.cost = w.cost AND v.few < w.few"),
    JOIN.format("v.x + v.few = w.y"),
    JOIN.format("v.day = w.day AND v.x = w.y"),
    LEFT.format("v.x = w.x"),
    LEFT.format("w.day = v.day + 1"),
    EXISTS.format("", "w.x = v.y"),
    EXISTS.format("NOT", "w.x = v.y AND w.day = v.day"),
    MARKED.format("w.x = v.y"),
    MARKED.format(
        "w.x = v.y AND EXISTS (SELECT * FROM visits u WHERE u.pid = v.pid"
        " AND u.x = w.x AND u.y > v.few)"
    ),
    GROUP.format("x"),
    GROUP.format("day"),
    GROUP.format("x, cost, few"),
    DISTINCT.format("x"),
    VALUES.format("x"),
    VALUES.format("x + few"),
    "SELECT COUNT(DISTINCT y) FROM visits",
    "SELECT ward, COUNT(DISTINCT day) FROM visits GROUP BY ward",
    "SELECT y, COUNT(DISTINCT pid) FROM visits GROUP BY y",
    "SELECT ward, few, MEDIAN(y) FROM visits GROUP BY ward, few",
)
TEXTS = (
    JOIN.format("v.note = w.note"),
    LEFT.format("v.note = w.note AND v.x = w.x"),
    EXISTS.format("NOT", "w.note = v.note"),
    GROUP.format("note"),
    GROUP.format("note, x"),
    DISTINCT.format("ward, note"),
    VALUES.format("note"),
)
NEVER = (
    JOIN.format("v.x < w.x"),
    JOIN.format("v.few = w.few"),
    JOIN.format("v.ward = w.ward AND v.sure = w.sure"),
    EXISTS.format("", "w.few = v.x"),
    GROUP.format("few"),
    GROUP.format("ward, few, sure"),
    VALUES.format("ward"),
    "SELECT COUNT(DISTINCT few) FROM visits",
    "SELECT ward, COUNT(DISTINCT pid) FROM visits GROUP BY ward",
    "SELECT COUNT(*) FROM visits v JOIN codes o ON o.code = v.x",
    (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS"
        " (SELECT * FROM codes o WHERE o.code = v.x AND o.number = v.y)"
    ),
    "SELECT COUNT(*) FROM visits WHERE x IN (SELECT number FROM codes)",
    "SELECT COUNT(*) FROM visits v WHERE v.pid IN (SELECT pid FROM visits)",
    (
        "SELECT COUNT(*) FROM (SELECT pid, SUM(x) OVER (PARTITION BY pid, y) AS n"
        " FROM visits) AS r WHERE n > 1"
    ),
)


def texts(sql, rows):
    compiled = compile_query(sql, dataset(rows))
    return "; ".join(each.sql for each in compiled.rendered.statements)


@pytest.mark.parametrize("sql", NUMBERS)
def test_values_that_one_unit_chooses_are_looked_up_by_keyed_hashes(sql):
    assert KEYED in texts(sql, 3)
    assert KEYED not in texts(sql, 1)


@pytest.mark.parametrize("sql", TEXTS)
def test_texts_are_where_a_run_of_them_costs_more_than_digests(sql):
    assert f"md5({KEYED}||" in texts(sql, keyed_hashes.WALKED_TEXTS + 1)
    assert KEYED not in texts(sql, keyed_hashes.WALKED_TEXTS)


@pytest.mark.parametrize("sql", NEVER)
def test_what_cannot_be_chosen_or_stands_in_no_table_of_theirs_is_not(sql):
    assert KEYED not in texts(sql, 500)


def test_each_join_and_grouping_has_its_own():
    sql = (
        "SELECT COUNT(*) FROM (SELECT DISTINCT pid, x FROM visits) v JOIN (SELECT pid,"
        " x, COUNT(DISTINCT y) AS n FROM visits GROUP BY pid, x) w ON v.pid = w.pid AND"
        " v.x = w.x WHERE n > 1"
    )
    assert texts(sql, 50).count(KEYED) == 2 + 2 + 1  # groups; a join's sides; values


def test_cubes_of_many_cells_are_keyed_too():
    schema = dataset(50)
    for axes, keyed in (((Axis("y"), Axis("few")), True), ((Axis("few"),), False)):
        cube = compile_cube(CubeRequest("visits", axes, counts_units=True), schema)
        assert (KEYED in cube.statement.sql) is keyed


# -- cost ------------------------------------------------------------------------------


def unit_steps(sql, construct, rows):
    schema = dataset(rows)
    plan = bind_query(parse_query(sql), schema, ContributionBounds()).plan
    (meter,) = aggregate_costs(plan, schema, ["SELECT 1"]).meters
    return meter.by_construct[construct][0].unit


def change(monkeypatch, sql, construct, rows):
    """Return what hashes and runs add to the steps of one unit."""
    found = unit_steps(sql, construct, rows)
    with monkeypatch.context() as patched:
        for module in ("rendering.keyed_hashes", "costs.hashes", "costs.nodes"):
            patched.setattr(f"query_lang.{module}.may_crowd", lambda *_: False)
        return found - unit_steps(sql, construct, rows)


MANY = 60
EXTRA = (
    (JOIN.format("v.x = w.x"), "joins", 2 * c.KEYED_STEPS),
    (EXISTS.format("", "w.x = v.y"), "EXISTS", 2 * c.KEYED_STEPS),
    (MARKED.format("w.x = v.y"), "EXISTS", 2 * c.KEYED_STEPS),
    (
        JOIN.format("v.note = w.note"),
        "joins",
        2 * (c.KEYED_TEXT_STEPS + 56 * c.KEYED_BYTE_STEPS),
    ),
    (
        "SELECT COUNT(DISTINCT y) FROM visits",
        "COUNT(DISTINCT)",
        c.KEYED_STEPS + c.GROUP_VALUE_STEPS + c.NUMBER_BYTES // c.BYTES_A_STEP,
    ),
)


@pytest.mark.parametrize(("sql", "construct", "extra"), EXTRA)
def test_each_row_pays_for_its_keyed_hashes(monkeypatch, sql, construct, extra):
    assert change(monkeypatch, sql, construct, MANY) == MANY * extra


RUNS = (
    (JOIN.format("v.note = w.note"), "joins", 2),
    (EXISTS.format("", "w.note = v.note"), "EXISTS", 2),
    (GROUP.format("note"), "GROUP BY", 1),
    (VALUES.format("note"), "COUNT(DISTINCT)", 1),
)


@pytest.mark.parametrize(("sql", "construct", "sides"), RUNS)
def test_where_there_are_none_each_row_pays_for_a_run(
    monkeypatch, sql, construct, sides
):
    rows = keyed_hashes.WALKED_TEXTS
    assert change(monkeypatch, sql, construct, rows) == sides * rows**2 * c.RUN_STEPS


# -- results ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def connection():
    dice = random.Random(1)
    rows = []
    for unit in range(UNITS):
        for place in range(dice.randint(0, 30)):
            day = date(2000, 1, 1) + timedelta(dice.randint(0, 5))
            note = dice.choice(["", "a", "b" * 30, "é", None])
            made = [dice.randint(-3, 3), dice.randint(0, 3), dice.randint(0, 9)]
            made += [100 * dice.randint(-3, 3) + dice.choice([0, 1]), day, note]
            made += [dice.choice("ab"), dice.choice([True, False])]
            seen = [each if dice.random() < 0.8 else None for each in made]
            rows.append((unit, 31 * unit + place, place + 1, unit, *seen))
    with duckdb.connect(config={"threads": "1", **BLIND}) as connection:
        connection.execute(
            "CREATE TABLE visits (unit_key BIGINT, row_hash BIGINT, row_rank BIGINT,"
            " pid BIGINT, x BIGINT, y BIGINT, few BIGINT, cost BIGINT, day DATE,"
            " note VARCHAR, ward VARCHAR, sure BOOLEAN)"
        )
        connection.executemany(f"INSERT INTO visits VALUES ({'?, ' * 11}?)", rows)
        set_hash_key(connection, new_hash_key())
        yield connection


def answer(connection, sql):
    statements = compile_query(sql, dataset(50)).rendered.statements
    return [
        Counter(connection.execute(each.sql, list(each.parameters)).fetchall())
        for each in statements
    ]


@pytest.mark.parametrize("sql", [*NUMBERS, *TEXTS])
def test_keyed_hashes_change_no_result(connection, monkeypatch, sql):
    keyed = answer(connection, sql)
    assert any(any(any(row) for row in rows) for rows in keyed)
    monkeypatch.setattr(keyed_hashes, "may_crowd", lambda *_: False)
    assert KEYED not in texts(sql, 50)
    assert answer(connection, sql) == keyed


# -- runs ------------------------------------------------------------------------------

ROWS, PLACES = 3_000, 2**13
_PRIME, _BITS = 0xD6E8FEB86659FD93, 2**64


def chosen(place):
    """Return a number whose hash, by the engine's function turned round, ends in 0s."""
    found = place << 33
    for _ in range(2):
        found ^= found >> 32
        found = found * pow(_PRIME, -1, _BITS) % _BITS
    found ^= found >> 32
    return found - _BITS if found >= _BITS // 2 else found


def walked(connection, expression):
    """Return the places that rows of chosen values pass, on average, in a table."""
    numbers = [chosen(place) for place in range(1, ROWS + 1)]
    hashes = connection.execute(
        f"SELECT {expression} % {PLACES} FROM (SELECT unnest(?::BIGINT[]) AS x)",
        [numbers],
    ).fetchall()
    last, passed = -1, 0
    for (place,) in sorted(hashes):
        last = max(last + 1, place)
        passed += last - place
    return passed / ROWS


def test_chosen_values_fill_a_run_by_the_hash_and_none_by_the_keyed_one(connection):
    keyed = f"hash(xor(hash(x),{KEYED}))"
    for unit in (0, 123_456_789):
        assert walked(connection, f"hash({unit}::BIGINT, x)") > ROWS / 3
        assert walked(connection, f"hash({unit}::BIGINT, x, {keyed})") < 2


@pytest.fixture(scope="module")
def crowded():
    """Return rows of one unit alone, whose values were chosen."""
    with duckdb.connect(config={"threads": "1", **BLIND}) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT 7::BIGINT AS unit_key, x AS row_hash,"
            " x AS row_rank, x, x AS y, 1::BIGINT AS few, NULL::VARCHAR AS note"
            " FROM (SELECT unnest(?::BIGINT[]) AS x)",
            [[chosen(place) for place in range(1, ROWS + 1)]],
        )
        yield connection


def taken(connection, sql):
    """Return the least processor seconds of five runs."""
    statements = compile_query(sql, dataset(1_000)).rendered.statements
    found = []
    for _ in range(5):
        start = time.process_time()
        for each in statements:
            connection.execute(each.sql, list(each.parameters)).fetchall()
        found.append(time.process_time() - start)
    return min(found)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "sql",
    [
        JOIN.format("v.x = w.x"),
        EXISTS.format("", "w.x = v.x"),
        MARKED.format("w.x = v.x"),
        GROUP.format("x"),
        VALUES.format("x"),
        "SELECT COUNT(DISTINCT y) FROM visits",
        "SELECT y, COUNT(*) FROM visits GROUP BY y",
    ],
)
def test_rows_of_chosen_values_take_no_time_of_their_own(crowded, monkeypatch, sql):
    """Without keyed hashes they take twenty times as long and more."""
    set_hash_key(crowded, new_hash_key())
    keyed = taken(crowded, sql)
    monkeypatch.setattr(keyed_hashes, "may_crowd", lambda *_: False)
    assert taken(crowded, sql) > 4 * keyed
