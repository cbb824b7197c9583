"""Random costly questions, on two snapshots that differ by one unit at every cap.

Neighbouring relation: add or remove all rows of one unit. A question that is accepted
runs on both sides within a small memory; what is refused is refused before any row.
"""

from dataclasses import dataclass, replace
from datetime import date

import duckdb

from engines.duckdb.snapshots import BLIND, new_hash_key, set_hash_key
from privacy.contributions import NO_BOUNDS, ContributionBounds
from privacy.errors import SqlNotAllowedError
from privacy.schema import (
    Column,
    ColumnType,
    Dataset,
    Hierarchy,
    HierarchyDomain,
    RangeDomain,
    Table,
    ValuesDomain,
)
from query_lang.plans.costs import MEMORY_SHARE, EngineSize, cost_limits, job_limits
from query_lang.specs.axes import Axis
from query_lang.specs.cubes import CubeRequest
from query_lang.specs.periods import Periods
from query_lang.specs.sequences import SequenceRequest
from tests.support.compiling import compile_cube, compile_query, compile_sequences

SIZE = EngineSize(64, 2, 100, 10**9, 60.0)
LIMITS, JOB_LIMITS = cost_limits(SIZE), job_limits(SIZE)
VISITS, LABS, NOTE, CODES, OWN_CODES, STRANGERS = 40, 12, 1_000, 200, 800, 30
NOTES, NOTERS, LONG_NOTE = 5, 400, 2_000
MEMORY, TABLES = 128 * 10**6, 12 * 10**6
"""Far below an executor's share, far above what one unit may add to some rows."""

_NUMBER = ColumnType.INTEGER
_PID = Column("pid", _NUMBER, nullable=False)


def dataset():
    days = RangeDomain(date(2000, 1, 1), date(2030, 1, 1))
    wards = ValuesDomain(tuple(f"w{number}" for number in range(8)))
    own = HierarchyDomain("own")
    shared = (
        _PID,
        Column("age", _NUMBER, domain=RangeDomain(0, 120)),
        Column("paid", _NUMBER),
        Column("day", ColumnType.DATE, nullable=False, domain=days),
        Column("ward", ColumnType.TEXT, domain=wards),
        Column("note", ColumnType.TEXT, max_length=NOTE),
        Column("item", ColumnType.TEXT, domain=own, max_length=9),
    )
    visits = Table("visits", shared, "pid", VISITS, max_rows=2_000)
    labs = Table("labs", shared, "pid", LABS, max_rows=1_000)
    people = Table("people", shared, "pid", 1, ("pid",), max_rows=100)
    rare = Table("rare", shared, "pid", 1, ("pid",), max_rows=100)
    keys = (Column("stay", _NUMBER, nullable=False), Column("part", _NUMBER))
    stays = Table(
        "stays", (*shared, *keys), "pid", LABS, ("stay", "part"), max_rows=1_000
    )
    long = Column("note", ColumnType.TEXT, max_length=LONG_NOTE)
    notes = Table(
        "notes",
        (*shared[:5], long, shared[6], *keys),
        "pid",
        NOTES,
        max_rows=NOTES * NOTERS,
    )
    code = Column("code", ColumnType.TEXT, nullable=False, max_length=9)
    codes = Table(
        "codes", (code, Column("number", _NUMBER)), key=("code",), max_rows=CODES
    )
    every = (visits, labs, people, rare, stays, notes, codes)
    tables = {table.name: table for table in every}
    levels = {f"C{each}": (f"part {each % 30}",) for each in range(OWN_CODES)}
    hierarchies = {"own": Hierarchy("own", ("part",), levels)}
    day = date(2026, 1, 1)
    return Dataset("d", "p", "patient", day, tables, hierarchies, NOTERS)


DATASET = dataset()


def arms(strangers=STRANGERS):
    """Return two connections: with a unit at every cap, and without it."""
    return _filled(0, strangers), _filled(1, strangers)


def _filled(first, strangers):
    connection = duckdb.connect(config={"threads": "1", "memory_limit": "1GB", **BLIND})
    set_hash_key(connection, new_hash_key())
    tables = ("visits", VISITS), ("labs", LABS), ("people", 1), ("rare", 1)
    for name, most in (*tables, ("stays", LABS), ("notes", NOTES)):
        last = {"rare": 1, "notes": NOTERS}.get(name, strangers)
        few, halves = (NOTES, 990) if name == "notes" else (2, 490)
        connection.execute(
            f"CREATE TABLE {name} AS SELECT (hash(u) >> 1)::BIGINT AS unit_key,"
            f" (hash(u, r, '{name}') >> 1)::BIGINT AS row_hash, r + 1 AS row_rank,"
            " u AS pid, (hash(u, r) % 121)::BIGINT AS age, (hash(r, u) >> 2)::BIGINT"
            " AS paid, DATE '2000-01-01' + (hash(u, r, 1) % 9000)::INTEGER AS day,"
            f" 'w' || (hash(u, r, 2) % 8) AS ward, repeat('ab', {halves}) || r AS note,"
            f" 'C' || (hash(u, r, 3) % {OWN_CODES}) AS item, r // 4 AS stay,"
            f" r % 4 AS part FROM range({first}, {last}) AS one(u),"
            f" range({most}) AS two(r) WHERE u = 0 OR r < {few} ORDER BY 1, 3"
        )
    connection.execute(
        "CREATE TABLE codes AS SELECT 'C' || n AS code, n AS number, n AS _row"
        f" FROM range({CODES}) AS every(n)"
    )
    return connection


@dataclass(frozen=True)
class Costly:
    """A question, a cube or sequences with the bounds that they ask for."""

    sql: str = ""
    bounds: ContributionBounds = NO_BOUNDS
    request: object = None

    def compiled(self):
        """Return the cost and the statements; None where they are too costly."""
        try:
            match self.request:
                case None:
                    made = compile_query(self.sql, DATASET, self.bounds, limits=LIMITS)
                    return made.cost, made.rendered.statements
                case CubeRequest() as request:
                    cube = compile_cube(request, DATASET, JOB_LIMITS)
                    return cube.cost, (cube.statement,)
                case request:
                    made = compile_sequences(request, DATASET, JOB_LIMITS)
                    return made.cost, (made.statement,)
        except SqlNotAllowedError as refused:
            if refused.rule not in {"too_costly", "row_bound_too_large"}:
                raise
            return None


def costly(rng):
    """Return a random costly question."""
    kind = rng.choice(KINDS)
    return kind(rng)


def _bounds(rng):
    tables = [
        (name, rng.choice((1, 2, 2, 3, 5, 8, 20)))
        for name in ("labs", "visits")
        if rng.random() < 0.7
    ]
    rows = rng.choice((None, None, 3))
    return ContributionBounds(tuple(tables), rows)


def _table(rng):
    return rng.choice(("visits", "labs"))


def _joined(rng, most, name):
    """Return FROM of a self-join; its first item is called NAME0."""
    table = _table(rng)
    joins = "".join(
        f" {rng.choice(('JOIN', 'LEFT JOIN'))} {table} {name}{each}"
        f" ON {name}{each}.pid = {name}0.pid"
        for each in range(1, rng.randint(1, most))
    )
    return f"{table} {name}0{joins}"


def _joins(rng):
    return Costly(f"SELECT COUNT(*) FROM {_joined(rng, 13, 'a')}", _bounds(rng))


def _windows(rng):
    made = ", ".join(
        f"{rng.choice(('LAG', 'LEAD'))}(a0.{rng.choice(('age', 'note', 'paid'))},"
        f" {rng.randint(1, 9)}) OVER (PARTITION BY a0.pid ORDER BY"
        f" a0.{rng.choice(('age', 'note', 'day'))}) AS w{each}"
        for each in range(rng.randint(1, 40))
    )
    sql = (
        f"SELECT COUNT(*) FROM (SELECT a0.pid, {made} FROM {_joined(rng, 10, 'a')})"
        " AS x WHERE w0 IS NOT NULL"
    )
    return Costly(sql, _bounds(rng))


def _frames(rng):
    kind = rng.choice(("SUM", "MIN", "MAX", "COUNT"))
    wide = rng.randint(1, 2_000)
    sql = (
        f"SELECT COUNT(*) FROM (SELECT a0.pid, {kind}(a0.paid) OVER (PARTITION BY"
        f" a0.pid ORDER BY a0.day ROWS BETWEEN {wide} PRECEDING AND {wide} FOLLOWING)"
        f" AS w FROM {_joined(rng, 6, 'a')}) AS x WHERE w > 3"
    )
    return Costly(sql, _bounds(rng))


def _exists(rng):
    columns = rng.sample(("age", "paid", "day", "note", "ward"), rng.randint(1, 4))
    compared = " AND ".join(f"b0.{c} <> a0.{c}" for c in columns)
    negated = rng.choice(("", "NOT ", "a0.age > 200 OR "))
    sql = (
        f"SELECT COUNT(*) FROM {_joined(rng, 7, 'a')} WHERE {negated}EXISTS"
        f" (SELECT * FROM {_joined(rng, 7, 'b')} WHERE b0.pid = a0.pid AND {compared})"
    )
    return Costly(sql, _bounds(rng))


def _computed(rng):
    """Return a condition that computes with both rows, for one unit of many rows."""
    items = ", ".join(map(str, range(rng.randint(2, 90))))
    condition = rng.choice(
        (
            f"b.age - a.age IN ({items})",
            "DATE_DIFF('day', a.day, b.day) BETWEEN 1 AND 30",
            "DATE_DIFF('month', a.day, b.day) > 900",
            "AGE_YEARS(a.day, b.day) > 90",
            "(b.age > a.age + 200 OR b.paid - a.paid < -7)",
            "CASE WHEN b.age = a.age THEN 1 ELSE b.paid * a.age END = -3",
        )
    )
    tied = f"b.pid = a.pid AND {condition}"
    own, other = rng.choice(("people", "labs", "visits")), _table(rng)
    sql = rng.choice(
        (
            (
                f"SELECT COUNT(*) FROM {own} a WHERE EXISTS"
                f" (SELECT * FROM {other} b WHERE {tied})"
            ),
            f"SELECT COUNT(*) FROM {own} a LEFT JOIN {other} b ON {tied}",
            (
                "SELECT COUNT(CASE WHEN NOT EXISTS"
                f" (SELECT * FROM {other} b WHERE {tied}) THEN 1 END) FROM {own} a"
            ),
            (
                f"SELECT COUNT(*) FROM {own} a LEFT JOIN codes k ON"
                f" k.code = a.item AND k.number - a.age IN ({items})"
            ),
        )
    )
    return Costly(sql, _bounds(rng))


def _public(rng):
    condition = rng.choice(("k.number > a0.age", "k.code = a0.item AND k.number > 3"))
    sql = (
        f"SELECT COUNT(*) FROM {_joined(rng, 5, 'a')} WHERE EXISTS"
        f" (SELECT * FROM codes k WHERE {condition})"
    )
    return Costly(sql, _bounds(rng))


def _union(rng):
    part = f"SELECT a0.pid, a0.note AS n FROM {_joined(rng, 4, 'a')}"
    parts = " UNION ALL ".join([part] * rng.randint(2, 7))
    sql = f"SELECT COUNT(*) FROM ({parts}) AS u WHERE n LIKE '%ba%'"
    return Costly(sql, _bounds(rng))


def _reused(rng):
    table, many = _table(rng), rng.randint(1, 12)
    joins = "".join(f" JOIN d AS d{n} ON d{n}.pid = d0.pid" for n in range(1, many))
    keys = rng.choice(("", ", ward", ", age, note"))
    sql = (
        f"WITH d AS (SELECT pid{keys}, COUNT(DISTINCT paid) AS n, MAX(note) AS m,"
        f" FIRST(age ORDER BY day) AS f FROM {table} GROUP BY pid{keys})"
        f" SELECT COUNT(*) FROM d AS d0{joins} WHERE d0.n > 0 AND d0.m > 'a'"
    )
    return Costly(sql, _bounds(rng))


def _nested(rng):
    """Return columns computed of columns: a condition is moved below all of them."""
    step = rng.choice(
        (
            "CASE WHEN x > 3 THEN x ELSE x END",
            "COALESCE(x, x)",
            "CASE x WHEN 1 THEN x WHEN 2 THEN x ELSE x END",
            "CASE WHEN x BETWEEN 2 AND x THEN x ELSE 5 END",
            "x + x",
        )
    )
    start = f"SELECT a0.pid, a0.age AS x FROM {_joined(rng, 6, 'a')}"
    source = " UNION ALL ".join([start] * rng.randint(1, 3))
    for level in range(rng.randint(2, 11)):
        key = rng.random() < 0.2
        group = " GROUP BY pid, x" if key and step != "x + x" else ""
        shown = "x" if group else f"{step} AS x"
        source = f"SELECT pid, {shown} FROM ({source}) AS d{level}{group}"
    return Costly(f"SELECT COUNT(*) FROM ({source}) AS z WHERE x > 5", _bounds(rng))


def _texts(rng):
    tests = rng.choice(
        (
            "a0.note LIKE '%{}ba{}%'",
            "CASE a0.note WHEN 'a{}' THEN a0.ward WHEN 'b{}' THEN a0.note END > 'q'",
            "level(a0.item, 'part') = 'part {}'",
        )
    )
    many = rng.choice((1, 5, 40))
    tests = " OR ".join(tests.format(n, n) for n in range(many))
    return Costly(
        f"SELECT COUNT(*) FROM {_joined(rng, 4, 'a')} WHERE {tests}", _bounds(rng)
    )


def _quantiles(rng):
    parts = ", ".join(
        f"QUANTILE(a0.{rng.choice(('age', 'age + a0.age'))}, 0.{n},"
        f" {rng.choice((2, 64, 1024))}) AS q{n}"
        for n in range(1, rng.randint(2, 9))
    )
    return Costly(f"SELECT {parts} FROM {_joined(rng, 6, 'a')}", _bounds(rng))


def _distinct(rng):
    key = rng.choice(("ward", "age", "age_band(a0.age, 10)"))
    column = key if "(" in key else f"a0.{key}"
    sql = (
        f"SELECT {column} AS k, COUNT(DISTINCT a0.pid) AS n,"
        f" COUNT(DISTINCT a0.ward) AS m FROM {_joined(rng, 8, 'a')} GROUP BY {column}"
    )
    return Costly(sql, _bounds(rng))


def _cube(rng):
    axes = tuple(Axis(f"a0.{name}") for name in rng.sample(("age", "ward"), 2))
    source = _joined(rng, 10, "a")
    made = CubeRequest(source, axes, rng.random() < 0.5, None, _tables(rng))
    return Costly(request=made)


def _sequences(rng):
    bounds = _tables(rng)
    symbols = Axis("a0.ward")
    if rng.random() < 0.5:
        symbols = Periods(30, "day", None, "count", None, ("1", "5"))
    source, most = _joined(rng, 9, "a"), rng.choice((5, 1_000))
    made = SequenceRequest(source, "a0.day", symbols, most, None, None, bounds)
    return Costly(request=made)


def _texts_of_orders(rng, many):
    """Return so many texts, stored and computed, as terms of an order."""
    return ", ".join(
        rng.choice(("note", "COALESCE(note, 'k{}')", "CASE age WHEN {} THEN note END"))
        .replace("{}", str(each))
        .join(("", rng.choice((" ASC", " DESC"))))
        for each in range(many)
    )


def _orders(rng):
    """Return FIRST, LAST and windows that order and part by many long texts."""
    made = [
        _texts_of_orders(rng, rng.choice((1, 2, 8, 16)))
        for _ in range(rng.randint(1, 3))
    ]
    if rng.random() < 0.5:
        shown = ", ".join(
            f"{rng.choice(('FIRST', 'LAST'))}(note ORDER BY {terms}) AS w{each}"
            for each, terms in enumerate(made)
        )
        key = rng.choice(("", ", stay", ", stay, part"))
        rows = f"SELECT pid{key}, {shown} FROM notes GROUP BY pid{key}"
    else:
        part = _texts_of_orders(rng, rng.choice((1, 4))).replace(" ASC", "")
        part = rng.choice(("", ", " + part.replace(" DESC", "")))
        calls = ("ROW_NUMBER()", "LAG(note)", "LAG(age)")
        shown = ", ".join(
            f"{rng.choice(calls)} OVER (PARTITION BY pid{part} ORDER BY {terms})"
            f" AS w{each}"
            for each, terms in enumerate(made)
        )
        rows = f"SELECT pid, {shown} FROM notes"
    return Costly(f"SELECT COUNT(*) FROM ({rows}) AS x WHERE w0 IS NOT NULL")


def _keyed(rng):
    """Return a join by a composite key, and computed texts that are compared."""
    texts = "".join(
        f" AND COALESCE(s.note, 'k{each}') {rng.choice(('=', '<>', '>='))}"
        f" COALESCE(a0.note, 'k{each}')"
        for each in range(rng.choice((0, 1, 8)))
    )
    kind = rng.choice(("JOIN", "LEFT JOIN"))
    sql = (
        f"SELECT COUNT(*), COUNT(s.age) FROM notes a0 {kind} stays s ON s.pid = a0.pid"
        f" AND s.stay = a0.stay AND s.part = a0.part{texts}"
    )
    return Costly(sql, _bounds(rng))


def _grouped(rng):
    """Return a roll-up by computed texts, of their least, greatest and numbers."""
    many = rng.choice((1, 4, 12))
    texts = [f"COALESCE(note, 'k{each}')" for each in range(many)]
    call = rng.choice(("MIN({})", "MAX({})", "COUNT(DISTINCT {})"))
    key = rng.choice(("stay", "stay, part", ", ".join(texts)))
    shown = ", ".join(
        f"{call.replace('{}', text)} AS w{n}" for n, text in enumerate(texts)
    )
    rows = f"SELECT pid, {shown} FROM notes GROUP BY pid, {key}"
    return Costly(f"SELECT COUNT(*) FROM ({rows}) AS x WHERE w0 IS NOT NULL")


_PRIME, _BITS = 0xD6E8FEB86659FD93, 2**64


def colliding(many, shift=24, first=False):
    """Return numbers whose hashes end alike, or do with another's that follows."""
    found = []
    for place in range(1, many + 1):
        number = 0x1234 << 48 | place << shift | 0x15151
        if first:  # the engine multiplies the hash of what comes first in a key
            number = number * pow(_PRIME, -1, _BITS) % _BITS
            number ^= number >> 32
        for _ in range(2):
            number ^= number >> 32
            number = number * pow(_PRIME, -1, _BITS) % _BITS
        number ^= number >> 32
        found.append(number - _BITS if number >= _BITS // 2 else number)
    return found


def _chosen(rng):
    """Return groups, joins and values by constants of the text that collide."""
    table, many = _table(rng), rng.choice((2, 8, 31))
    first, second = colliding(many, 24, rng.random() < 0.5), colliding(many, 34)
    cases = [
        f"CASE {' '.join(f'WHEN age < {n * 4} THEN {v}' for n, v in enumerate(each))}"
        f" ELSE {each[0]} END"
        for each in (first, second)
    ]
    part = f"SELECT pid, age, {cases[0]} AS g, {cases[1]} AS h FROM {table}"
    rows = rng.choice((part, f"{part} WHERE age < 9 UNION ALL {part}"))
    values = ", ".join(
        f"COUNT(DISTINCT COALESCE(h, {n})) AS d{n}"
        for n in range(rng.choice((1, 6, 26)))
    )
    tied = "b.pid = c.pid AND b.h = c.h"
    forms = (
        f"SELECT g, h, COUNT(*) AS n FROM ({rows}) AS c GROUP BY g, h",
        f"SELECT {values} FROM ({rows}) AS c",
        f"SELECT g, {values} FROM ({rows}) AS c GROUP BY g",
        f"SELECT COUNT(*) FROM ({_rolled(rows, values)}) AS r WHERE d0 > 0",
        f"SELECT COUNT(*) FROM ({rows}) AS b JOIN ({rows}) AS c ON {tied}",
        _existing(rows, tied),
        f"SELECT COUNT(*) FROM {table} WHERE paid IN ({', '.join(map(str, first))})",
        f"SELECT COUNT(*) FROM {table} v JOIN codes k ON {_paired(first[0])}",
    )
    return Costly(rng.choice(forms), _bounds(rng))


def _rolled(rows, values):
    return f"SELECT pid, g, h, {values} FROM ({rows}) AS c GROUP BY pid, g, h"


def _existing(rows, tied):
    inner = f"SELECT * FROM ({rows}) AS c WHERE {tied}"
    return f"SELECT COUNT(*) FROM ({rows}) AS b WHERE EXISTS ({inner})"


def _paired(number):
    return f"k.code = v.item AND k.number + {number} = v.paid"


def _tables(rng):
    return replace(_bounds(rng), max_rows_per_unit=None)


TEXTS, CHOSEN = (_orders, _keyed, _grouped), _chosen
KINDS = (
    _joins,
    _windows,
    _frames,
    _exists,
    _exists,
    _computed,
    _public,
    _union,
    _reused,
    _nested,
    _texts,
    _quantiles,
    _distinct,
    _cube,
    _sequences,
    *TEXTS,
    CHOSEN,
)


def run(connection, statements, cost):
    """Return ``answered``, or the name of the engine's error.

    Memory is the least with which an executor would accept the question.
    """
    least = min(MEMORY, cost.memory_bytes * MEMORY_SHARE + TABLES)
    connection.execute(f"SET memory_limit = '{least}B'")
    try:
        for statement in statements:
            cursor = connection.execute(statement.sql, list(statement.parameters))
            while cursor.fetchmany(10_000):
                pass
    except duckdb.Error as error:
        return type(error).__name__
    return "answered"
