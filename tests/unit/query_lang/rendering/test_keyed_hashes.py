"""Hash tables that chosen values could crowd are keyed, and nothing else changes."""

import random
import re
import time
from collections import Counter
from dataclasses import replace
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
from query_lang.costs import constants as c
from query_lang.costs.plans import aggregate_costs
from query_lang.plans.expressions import Facts
from query_lang.reading.parse import parse_query
from query_lang.rendering import keyed_hashes
from query_lang.specs.axes import Axis
from query_lang.specs.cubes import CubeRequest
from query_lang.specs.sequences import SequenceRequest
from tests.support.compiling import compile_cube, compile_query, compile_sequences

UNITS = 30
KEYED = "getvariable('hash_key')"
NUMBER = ColumnType.INTEGER
DAYS = RangeDomain(date(2000, 1, 1), date(2009, 12, 31))


def dataset(rows, codes=50):
    """Return tables of so many rows a unit, and of so many public codes."""
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
    listed = Table("codes", (code, number), key=("code",), max_rows=codes)
    tables = {"visits": visits, "codes": listed}
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
    JOIN.format("v.few = w.few"),
    JOIN.format("v.ward = w.ward AND v.sure = w.sure"),
    EXISTS.format("", "w.few = v.x"),
    GROUP.format("few"),
    GROUP.format("ward, few, sure"),
    VALUES.format("ward"),
)
"""Looked up beside a unit key."""

CASE = "CASE WHEN few < 4 THEN {} WHEN few < 8 THEN {} END"
RUN = (-8_000_000_000_000_001, 7_000_000_000_000_001)
"""Two numbers: whose hashes end alike is told by the engine's function alone."""
OTHERS = (
    f"SELECT pid, {CASE.format(*RUN)} AS h FROM visits WHERE ward = 'a'"
    f" UNION ALL SELECT pid, {RUN[1]} + few * 0 AS h FROM visits"
)
CELLS = (
    f"SELECT {CASE.format(*RUN)} AS h, COUNT(*) FROM visits GROUP BY h",
    f"SELECT {CASE.format(0, 1)} AS h, COUNT(*) FROM visits GROUP BY h",
    f"SELECT COUNT(DISTINCT {CASE.format(*RUN)}) FROM visits",
    f"SELECT COUNT(DISTINCT h), COUNT(DISTINCT COALESCE(h, 5)) FROM ({OTHERS}) AS u",
    (
        f"SELECT h, MEDIAN(few) FROM ({OTHERS}) u JOIN visits v ON u.pid = v.pid"
        " GROUP BY h"
    ),
    (
        f"WITH u AS ({OTHERS}), w AS (SELECT pid, h, ROW_NUMBER() OVER (PARTITION BY"
        " pid ORDER BY h) AS n FROM u) SELECT h, COUNT(*) FROM w WHERE n < 9 GROUP BY h"
    ),
    (
        "SELECT CASE WHEN few < 4 THEN 'young' ELSE 'old' END AS age, COUNT(*)"
        " FROM visits GROUP BY age"
    ),
    "SELECT COALESCE(ward, 'c') AS w, COUNT(*) FROM visits GROUP BY w",
    "SELECT COALESCE(sure, TRUE) AS s, COUNT(*) FROM visits GROUP BY s",
    "SELECT few, COUNT(*) FROM visits GROUP BY few",
    "SELECT ward, sure, COUNT(*) FROM visits GROUP BY ward, sure",
    "SELECT COUNT(DISTINCT few) FROM visits",
    "SELECT COUNT(DISTINCT y) FROM visits",
    "SELECT ward, COUNT(DISTINCT day) FROM visits GROUP BY ward",
    "SELECT y, COUNT(DISTINCT pid) FROM visits GROUP BY y",
    "SELECT ward, few, MEDIAN(y) FROM visits GROUP BY ward, few",
)
"""Looked up among the rows of all units."""

PUBLIC = (
    "SELECT COUNT(*) FROM visits v JOIN codes o ON o.code = v.x AND o.number + 1 = v.y",
    (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT * FROM codes o WHERE"
        " CASE WHEN o.code > 3 THEN o.number ELSE 5 END = v.y)"
    ),
)
"""Looked up among what a text computes of public columns."""
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
    (
        "SELECT sure, COUNT(*) FROM (SELECT pid, sure FROM visits WHERE few > 3"
        " UNION ALL SELECT pid, sure FROM visits) AS u GROUP BY sure"
    ),
    (
        "WITH r AS (SELECT pid, ward, x FROM visits WHERE few > 1) SELECT r.ward,"
        " COUNT(*) FROM r JOIN visits v ON v.pid = r.pid AND v.x > r.x GROUP BY 1"
    ),
    "SELECT COUNT(DISTINCT ward) FROM visits",
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


@pytest.mark.parametrize("sql", CELLS)
def test_cells_are_looked_up_by_keyed_hashes_however_few_rows_a_unit_has(sql):
    """One row that is a cell's first can stand in the way of everybody's."""
    assert KEYED in texts(sql, 1)


@pytest.mark.parametrize("sql", PUBLIC)
def test_what_a_text_computes_of_public_columns_is_looked_up_by_them_too(sql):
    assert texts(sql, 1).count(KEYED) == 2


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM visits v JOIN codes o ON o.code = v.x{}",
        "SELECT COUNT(*) FROM visits v LEFT JOIN codes o ON o.code = v.x{}",
        (
            "SELECT COUNT(*) FROM visits v WHERE EXISTS"
            " (SELECT * FROM codes o WHERE o.code = v.x{})"
        ),
    ],
)
def test_rows_that_a_condition_lets_through_of_many_public_ones_are_looked_up_so_too(
    sql,
):
    for condition, codes, keyed in (
        ("", 100_000, False),
        (" AND o.number > 3", 100_000, True),
        (" AND o.number > 3", 8_000, False),
    ):
        compiled = compile_query(sql.format(condition), dataset(1, codes))
        written = "; ".join(each.sql for each in compiled.rendered.statements)
        assert (KEYED in written) is keyed, (condition, codes)


def test_a_few_public_texts_are_numbered_and_many_are_digested():
    most = keyed_hashes.LISTED_TEXTS - 1
    for many, numbered in ((1, True), (most, True), (most + 1, False)):
        arms = "".join(f"WHEN y = {n} THEN 'text {n}' " for n in range(many))
        sql = f"SELECT CASE {arms}ELSE '' END AS t, COUNT(*) FROM visits GROUP BY t"
        assert ("list_position([?,?" in texts(sql, 1)) is numbered
        assert ("md5(" in texts(sql, 1)) is not numbered


def test_sequences_and_what_they_are_made_of_are_looked_up_by_keyed_hashes():
    request = SequenceRequest("visits", "day", Axis("few"), 5, Axis("ward"))
    schema = dataset(50)
    visits = schema.tables["visits"]
    columns = tuple(
        replace(column, constant_in_unit=column.name == "ward")
        for column in visits.columns
    )
    tables = {"visits": replace(visits, columns=columns)}
    made = compile_sequences(request, replace(schema, tables=tables))
    sql = made.statement.sql
    assert sql.count(KEYED) == 2 + 2 + 1  # symbols, splits; the sequence itself
    assert sql.endswith(
        f"GROUP BY split, sequence, phase, hash(md5({KEYED}||sequence))"
    )


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


def test_cubes_are_keyed_too():
    schema = dataset(50)
    for axes, keyed in (((Axis("few"),), True), ((Axis("ward"),), False)):
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
        for module in ("rendering.keyed_hashes", "costs.hashes"):
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


def test_rows_of_equal_values_share_a_place_in_a_run(monkeypatch):
    sql = JOIN.format("v.few = CASE WHEN w.x > 3 THEN 1 ELSE 2 END")
    assert keyed_hashes.longest_run(500, [Facts(NUMBER, domain=RangeDomain(1, 4))]) == 5
    assert keyed_hashes.longest_run(3, [Facts(NUMBER, domain=RangeDomain(1, 4))]) == 3
    assert keyed_hashes.longest_run(500, [Facts(NUMBER)]) == 500
    assert change(monkeypatch, sql, "joins", MANY) == 2 * MANY * (2 * c.RUN_STEPS)


def whole_steps(sql, schema=None):
    schema = schema or dataset(1)
    plan = bind_query(parse_query(sql), schema, ContributionBounds()).plan
    (meter,) = aggregate_costs(plan, schema, ["SELECT 1"]).meters
    return meter.by_construct["IN (SELECT ...)"][0].whole


def test_what_is_looked_up_among_computed_public_values_walks_past_a_run_of_them(
    monkeypatch,
):
    sql = "SELECT COUNT(*) FROM visits WHERE x IN (SELECT {} FROM codes)"
    asked = [sql.format("number"), sql.format("COALESCE(number, 7)")]
    found = [whole_steps(each) for each in asked]
    monkeypatch.setattr("query_lang.costs.hashes.may_crowd", lambda *_: False)
    without = [whole_steps(each) for each in asked]
    assert found[0] == without[0]
    assert found[1] - without[1] == (UNITS + 50) * 50 * c.RUN_STEPS


def test_what_conditions_let_through_of_many_public_rows_counts_a_run_of_a_place():
    sql = "SELECT COUNT(*) FROM visits WHERE x IN (SELECT number FROM codes{})"
    many = dataset(3, 100_000)
    every, some = (whole_steps(sql.format(c), many) for c in ("", " WHERE code > 3"))
    looked_up = UNITS * 3 * (100_000 // 4_096 + 1) * c.RUN_STEPS
    assert some - every >= looked_up


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
        connection.execute(
            "CREATE TABLE codes AS SELECT n AS code, n % 3 AS number, n AS _row"
            " FROM range(50) AS every(n)"
        )
        yield connection


def answer(connection, sql):
    statements = compile_query(sql, dataset(50)).rendered.statements
    return [
        Counter(connection.execute(each.sql, list(each.parameters)).fetchall())
        for each in statements
    ]


@pytest.mark.parametrize("sql", [*NUMBERS, *TEXTS, *CELLS, *PUBLIC])
def test_keyed_hashes_change_no_result(connection, monkeypatch, sql):
    keyed = answer(connection, sql)
    assert any(any(any(row) for row in rows) for rows in keyed)
    monkeypatch.setattr(keyed_hashes, "may_crowd", lambda *_: False)
    assert KEYED not in texts(sql, 50)
    assert answer(connection, sql) == keyed


def test_a_long_list_is_compared_item_by_item_and_stands_in_no_table(connection):
    sql = f"SELECT COUNT(*) FROM visits WHERE x IN ({', '.join(map(str, range(250)))})"
    (statement,) = compile_query(sql, dataset(50)).rendered.statements
    asked = f"EXPLAIN {statement.sql}", list(statement.parameters)
    ((_, shown),) = connection.execute(*asked).fetchall()
    assert "JOIN" not in shown.upper()


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


def walked_behind(connection, place):
    """Return the places that a stranger's row walks past, behind those of a patient."""
    numbers = [chosen(each) for each in range(1, AHEAD + 2)]
    places = connection.execute(
        f"SELECT {place} % {PLACES} FROM (SELECT unnest(?::BIGINT[]) AS h)", [numbers]
    ).fetchall()
    *ahead, (own,) = places
    taken, start = set(), own
    for (first,) in ahead:
        free = first
        while free in taken:
            free = (free + 1) % PLACES
        taken.add(free)
    while own in taken:
        own = (own + 1) % PLACES
    return (own - start) % PLACES


AHEAD = 45


def test_a_strangers_row_walks_past_no_run_of_constants_that_a_patient_put_first(
    connection,
):
    """The cells' own hash, and the one by which the statement groups."""
    sql = f"SELECT {CASE.format(*RUN)} AS h, COUNT(*) FROM visits GROUP BY h"
    names, keyed = re.search(r"GROUP BY (s\d+), (hash.*)$", texts(sql, 1)).groups()
    assert walked_behind(connection, "hash(h)") == AHEAD
    keyed = re.sub(rf"\b{names}\b", "h", keyed)
    assert walked_behind(connection, f"hash(h, {keyed})") < 3


@pytest.fixture(scope="module")
def behind():
    """Return a patient's rows in a small table, and strangers' in a large one."""
    with duckdb.connect(config={"threads": "1", **BLIND}) as connection:
        for name, first, many in (("icu", 0, AHEAD), ("wards", 1, 100_000)):
            connection.execute(
                f"CREATE TABLE {name} AS SELECT {first} + r // 50 AS unit_key, r AS"
                " row_hash, r % 50 + 1 AS row_rank, r * 7 % 50 AS seq FROM"
                f" range({many}) AS rows(r)"
            )
        set_hash_key(connection, new_hash_key())
        yield connection


def of_icu(many):
    """Return a question in which constants that collide come from the small table."""
    values = [chosen(each) for each in range(1, AHEAD + 3)]
    arms = " ".join(f"WHEN {seq} THEN {values[seq]}" for seq in range(AHEAD))
    counted = ", ".join(f"COUNT(DISTINCT COALESCE(h, {n}))" for n in range(many))
    return (
        f"SELECT {counted} FROM (SELECT pid, seq, h FROM (SELECT pid, seq, CASE seq"
        f" {arms} END AS h FROM icu UNION ALL SELECT pid, seq, CASE WHEN seq < 25 THEN"
        f" {values[-2]} ELSE {values[-1]} END AS h FROM wards) AS u"
        " GROUP BY pid, seq, h) AS r"
    )


@pytest.mark.long
def test_strangers_rows_take_no_longer_behind_a_patient_of_chosen_constants(
    behind, monkeypatch
):
    columns = (
        Column("pid", NUMBER, nullable=False),
        Column("seq", NUMBER, domain=RangeDomain(0, 49)),
    )
    tables = {name: Table(name, columns, "pid", 50) for name in ("icu", "wards")}
    day = date(2026, 1, 1)
    schema = Dataset("d", "p", "patient", day, tables, {}, 2_001)
    keyed = compile_query(of_icu(28), schema)
    with monkeypatch.context() as patched:
        patched.setattr(keyed_hashes, "may_crowd", lambda *_: False)
        plain = compile_query(of_icu(28), schema)
    found = [least(behind, made.rendered.statements) for made in (keyed, plain)]
    assert found[1] > 2 * found[0]
    assert found[0] < keyed.cost.steps / 1e9


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
    return least(connection, compile_query(sql, dataset(1_000)).rendered.statements)


def least(connection, statements):
    found = []
    for _ in range(5):
        start = time.process_time()
        for each in statements:
            connection.execute(each.sql, list(each.parameters)).fetchall()
        found.append(time.process_time() - start)
    return min(found)


@pytest.mark.long
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
