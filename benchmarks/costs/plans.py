"""What plans take on DuckDB beside what is predicted: one thread, every cap full.

Run: ``python -m benchmarks.costs.plans [--units 20000] [--only TEXT]``, and for
questions with many texts (``benchmarks/costs/texts.py``) ``python -m
benchmarks.costs.plans --terms 1 4 16 --bytes 256 1024 8192 65536``. Prints, for each
question, processor time and memory of its statements beside the steps and bytes of its
cost, then the worst ratios. Exits 1 where a plan takes more than is predicted, or meets
the least limit that accepts it.
"""

import argparse
import math
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path

import duckdb

from benchmarks.costs.hash_runs import collided
from benchmarks.costs.texts import PLACES
from engines.duckdb.snapshots import BLIND, new_hash_key, set_hash_key
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
from query_lang.compile import compile_query
from query_lang.plans.compiled import CompiledQuery
from query_lang.plans.costs import MEMORY_SHARE
from query_lang.rendering.dialect import Target
from query_lang.rendering.duckdb.dialect import DUCKDB
from upstream.ingestion.ingestion import STORED_PLAIN

VISITS, LABS, CODES, OWN_CODES, NOTE_BYTES = 40, 10, 500, 200, 200
HELD_BYTES = 20 * 10**6
REPEATS = 2
TABLES = ("visits", "labs", "people", "codes")
CONFIG = {"threads": "1", "memory_limit": "12GB", "temp_directory": "", **BLIND}

CHOSEN = "(SELECT pid, age, {first} AS g, {second} AS h FROM visits) c"
QUESTIONS = {
    "count": "SELECT COUNT(*) FROM visits",
    "condition": "SELECT COUNT(*) FROM visits WHERE age >= 60 AND ward = 'w3'",
    "wide arithmetic": "SELECT COUNT(*) FROM visits WHERE paid * paid + age > 12",
    "many divisions": "SELECT COUNT(*) FROM visits WHERE {divided} > 5",
    "decimal quotients": "SELECT COUNT(*) FROM visits WHERE paid / (cost * 0.5) > 5",
    "wide remainders": "SELECT COUNT(*) FROM visits WHERE paid % (paid - 1) > 5",
    "wide rounding": (
        "SELECT COUNT(*) FROM visits WHERE ROUND(paid, -1) > TRUNC(paid / 3.0, 2)"
    ),
    "narrow rounding": "SELECT COUNT(*) FROM visits WHERE FLOOR(cost / 10.0) > 5",
    "buckets": "SELECT COUNT(*) FROM visits WHERE WIDTH_BUCKET(paid, 0, 900, 700) > 5",
    "least": (
        "SELECT SUM(LEAST(GREATEST(paid, 0), 60)), SUM(ABS(paid % 10)) FROM visits"
    ),
    "many products": "SELECT COUNT(*) FROM visits WHERE {products} > 5",
    "many months": "SELECT COUNT(*) FROM visits WHERE {months}",
    "many ages": "SELECT COUNT(*) FROM visits WHERE {ages}",
    "dates": "SELECT COUNT(*) FROM visits WHERE seen + 30 > CURRENT_DATE",
    "ages": "SELECT COUNT(*) FROM visits WHERE age_years(seen, CURRENT_DATE) > 4",
    "periods": (
        "SELECT COUNT(*) FROM visits WHERE DATE_TRUNC('month', seen) > LAST_DAY(seen)"
        " OR LAST_DAY(seen) < CURRENT_DATE"
    ),
    "later months": (
        "SELECT COUNT(*) FROM visits WHERE seen + INTERVAL '1 month' * age"
        " < CURRENT_DATE"
    ),
    "written days": (
        "SELECT COUNT(*) FROM visits WHERE TO_CHAR(seen, 'YYYY-MM') > '2010'"
    ),
    "ages in months": (
        "SELECT COUNT(*) FROM visits WHERE TIMESTAMPDIFF(MONTH, seen, CURRENT_DATE) > 9"
    ),
    "time between": (
        "SELECT COUNT(*) FROM visits WHERE seen::timestamp + INTERVAL '5 hours'"
        " - TIMESTAMP '2010-01-01' > INTERVAL '6 hours'"
    ),
    "letters": "SELECT COUNT(*) FROM visits WHERE UPPER(note) = LOWER(ward)",
    "parts": (
        "SELECT COUNT(*) FROM visits WHERE RIGHT(note, 3) = SUBSTRING(note, 9, 99)"
    ),
    "blanks": "SELECT COUNT(*) FROM visits WHERE TRIM(note) = RTRIM(ward)",
    "replaced": "SELECT COUNT(*) FROM visits WHERE REPLACE(note, 'a', 'xyz') = ward",
    "joined texts": (
        "SELECT COUNT(*) FROM visits WHERE CONCAT(note, ward) = note || icd"
    ),
    "lengths": (
        "SELECT AVG(LENGTH(note)) AS n FROM visits WHERE STRPOS(note, 'bba') > 5"
    ),
    "patterns": "SELECT COUNT(*) FROM visits WHERE note ~ '^(a|b)*a(a|b){6}$'",
    "plain patterns": "SELECT COUNT(*) FROM visits WHERE icd ~ '^E1[0-4]'",
    "code prefix": (
        "SELECT LEFT(icd, 1) AS letter, COUNT(*) AS n FROM visits GROUP BY letter"
    ),
    "prefix": "SELECT COUNT(*) FROM visits WHERE note LIKE 'ab%'",
    "suffix": "SELECT COUNT(*) FROM visits WHERE note LIKE '%ab'",
    "infix": "SELECT COUNT(*) FROM visits WHERE note LIKE '%bac%'",
    "long infix": f"SELECT COUNT(*) FROM visits WHERE note LIKE '%{'ab' * 40}c%'",
    "in list": "SELECT COUNT(*) FROM visits WHERE note IN ('a', 'b', 'c')",
    "long list": "SELECT COUNT(*) FROM visits WHERE paid IN ({many})",
    "case": (
        "SELECT CASE WHEN age < 20 THEN 'a' WHEN age < 40 THEN 'b' ELSE 'c' END AS g,"
        " COUNT(*) FROM visits GROUP BY 1"
    ),
    "age band": "SELECT age_band(age, 10), COUNT(*) FROM visits GROUP BY 1",
    "icd": "SELECT icd_chapter(icd), COUNT(*) FROM visits GROUP BY 1",
    "levels of pairs": (
        "SELECT COUNT(*) FROM visits v JOIN visits w ON v.pid = w.pid AND"
        " icd_category(v.icd) <> icd_category(w.icd)"
    ),
    "own": "SELECT level(item, 'part'), COUNT(*) FROM visits GROUP BY 1",
    "sum": "SELECT SUM(age), SUM(cost), AVG(age) FROM visits",
    "groups": "SELECT ward, age, COUNT(*), SUM(cost) FROM visits GROUP BY ward, age",
    "units": "SELECT COUNT(DISTINCT pid) FROM visits",
    "units by ward": "SELECT ward, COUNT(DISTINCT pid) FROM visits GROUP BY ward",
    "units by age": "SELECT age, COUNT(DISTINCT pid) FROM visits GROUP BY age",
    "values": "SELECT ward, COUNT(DISTINCT age) FROM visits GROUP BY ward",
    "median": "SELECT MEDIAN(age) FROM visits",
    "quantile": "SELECT QUANTILE(cost, 0.9, 1024) FROM visits",
    "two quantiles": "SELECT MEDIAN(cost), QUANTILE(age, 0.1), COUNT(*) FROM visits",
    "join": "SELECT COUNT(*) FROM visits JOIN labs USING (pid)",
    "join of one row": (
        "SELECT sex, COUNT(DISTINCT v.pid) FROM visits v JOIN people p"
        " ON v.pid = p.pid GROUP BY sex"
    ),
    "join on dates": (
        "SELECT COUNT(DISTINCT v.pid) FROM visits v JOIN labs l ON v.pid = l.pid"
        " AND l.taken BETWEEN v.seen AND v.seen + 30"
    ),
    "join, wide": (
        "SELECT SUM(v.age), SUM(l.result), COUNT(DISTINCT v.ward) FROM visits v"
        " JOIN labs l ON v.pid = l.pid WHERE v.note <> l.remark"
    ),
    "join by key": (
        "SELECT COUNT(*) FROM labs l JOIN visits v ON l.pid = v.pid"
        " AND l.visit_id = v.visit_id WHERE v.age > 3"
    ),
    "left join": (
        "SELECT COUNT(*), COUNT(l.result) FROM visits v LEFT JOIN labs l"
        " ON v.pid = l.pid AND l.taken > v.seen"
    ),
    "three tables": (
        "SELECT sex, COUNT(DISTINCT p.pid) FROM people p JOIN visits v ON v.pid = p.pid"
        " JOIN labs l ON l.pid = p.pid WHERE l.result > v.age GROUP BY sex"
    ),
    "self-join": (
        "SELECT COUNT(*) FROM labs a JOIN labs b ON a.pid = b.pid"
        " JOIN labs c ON c.pid = a.pid"
    ),
    "exists": (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS"
        " (SELECT * FROM labs l WHERE l.pid = v.pid AND l.result > 5)"
    ),
    "exists, compared": (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS"
        " (SELECT * FROM labs l WHERE l.pid = v.pid AND l.result > v.age)"
    ),
    "exists, wide": (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT * FROM labs l"
        " WHERE l.pid = v.pid AND l.result <> v.age AND l.remark <> v.note"
        " AND l.taken <> v.seen)"
    ),
    "not exists": (
        "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS"
        " (SELECT * FROM labs l WHERE l.pid = v.pid AND l.taken < v.seen)"
    ),
    "exists or": (
        "SELECT COUNT(*) FROM visits v WHERE v.age > 119 OR EXISTS"
        " (SELECT * FROM labs l WHERE l.pid = v.pid AND l.result > v.age)"
    ),
    "exists or, joined": (
        "SELECT COUNT(*) FROM visits v JOIN labs b ON v.pid = b.pid WHERE v.age > 119"
        " OR EXISTS (SELECT * FROM people p WHERE p.pid = v.pid AND p.sex <> v.note"
        " AND p.sex <> b.remark)"
    ),
    "distinct of exists": (
        "SELECT {distinct} FROM visits a JOIN labs b ON a.pid = b.pid WHERE CASE WHEN"
        " EXISTS (SELECT * FROM people p WHERE p.pid = a.pid AND p.sex <> a.note) AND"
        " b.result < 500 THEN a.seen ELSE DATE '2000-01-01' END <> DATE '2029-12-31'"
    ),
    "exists, self": (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS"
        " (SELECT * FROM visits w WHERE w.pid = v.pid AND w.age <> v.age)"
    ),
    "exists, never": (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS"
        " (SELECT * FROM labs l WHERE l.pid = v.pid AND l.result > v.age + 200)"
    ),
    "exists, never, self": (
        "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS"
        " (SELECT * FROM visits w WHERE w.pid = v.pid AND w.age > v.age + 200)"
    ),
    "exists, never, choice": (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT * FROM visits w WHERE"
        " w.pid = v.pid AND (w.age > v.age + 200 OR w.seen < v.seen - 20000))"
    ),
    "exists, never, texts": (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT * FROM visits w WHERE"
        " w.pid = v.pid AND w.note >= v.note AND w.age > v.age + 200)"
    ),
    "exists, counted": (
        "SELECT SUM(CASE WHEN EXISTS (SELECT * FROM labs l WHERE l.pid = v.pid"
        " AND l.result > v.age + 200) THEN 1 ELSE 0 END) FROM visits v"
    ),
    "exists, counted, wide": (
        "SELECT SUM(CASE WHEN EXISTS (SELECT * FROM visits w WHERE w.pid = v.pid"
        " AND w.age > v.age + 200 AND w.seen < v.seen AND w.note > v.note)"
        " THEN 1 ELSE 0 END) FROM visits v WHERE v.note <> v.ward"
    ),
    "exists, looked up": (
        "SELECT SUM(CASE WHEN EXISTS (SELECT * FROM labs l WHERE l.pid = v.pid"
        " AND l.result > 119) THEN 1 ELSE 0 END) FROM visits v"
    ),
    "exists within exists": (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT * FROM labs l WHERE"
        " l.pid = v.pid AND l.result > v.age AND EXISTS (SELECT * FROM labs m WHERE"
        " m.pid = l.pid AND m.result > v.age + 200 AND m.result > l.result))"
    ),
    "in": (
        "SELECT COUNT(*) FROM visits WHERE pid IN"
        " (SELECT pid FROM labs WHERE result > 5)"
    ),
    "cohort": (
        "SELECT sex, COUNT(*) FROM people p"
        " WHERE p.pid IN (SELECT pid FROM visits WHERE icd_block(icd) = 'E10-E14')"
        " AND p.pid NOT IN (SELECT pid FROM labs WHERE result > 90)"
        " AND EXISTS (SELECT * FROM visits v WHERE v.pid = p.pid AND v.seen > p.born)"
        " GROUP BY sex"
    ),
    "public in": (
        "SELECT COUNT(*) FROM visits WHERE item IN"
        " (SELECT code FROM codes WHERE number > 5)"
    ),
    "public exists": (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS"
        " (SELECT * FROM codes c WHERE c.code = v.item AND c.number > v.age)"
    ),
    "public pairs": (
        "SELECT COUNT(*) FROM labs l WHERE EXISTS"
        " (SELECT * FROM codes c WHERE c.number > l.result + 400)"
    ),
    "public pairs, never": (
        "SELECT COUNT(*) FROM labs l WHERE NOT EXISTS"
        " (SELECT * FROM codes c WHERE c.number > l.result + 4000)"
    ),
    "public pairs, two": (
        "SELECT COUNT(*) FROM labs l WHERE EXISTS (SELECT * FROM codes c"
        " WHERE c.number > l.result + 4000 AND c.number <> l.result)"
    ),
    "public pairs, texts": (
        "SELECT COUNT(*) FROM labs l WHERE EXISTS (SELECT * FROM codes c"
        " WHERE c.code > l.remark AND c.number > l.result + 4000)"
    ),
    "public pairs, counted": (
        "SELECT SUM(CASE WHEN EXISTS (SELECT * FROM codes c WHERE c.number >"
        " l.result + 4000) THEN 1 ELSE 0 END) FROM labs l"
    ),
    "public join": (
        "SELECT COUNT(*) FROM visits v JOIN codes c ON c.code = v.item"
        " WHERE c.number > 5"
    ),
    "roll-up": (
        "SELECT COUNT(*) FROM (SELECT pid, COUNT(*) AS n, SUM(paid) AS s, MIN(seen)"
        " AS f FROM visits GROUP BY pid) AS r WHERE n > 3 AND s > 9"
    ),
    "roll-up, keys": (
        "SELECT COUNT(*) FROM (SELECT pid, age, COUNT(*) AS n, MAX(note) AS m"
        " FROM visits GROUP BY pid, age) AS r WHERE n > 3 AND m > 'b'"
    ),
    "roll-up, distinct": (
        "SELECT COUNT(*) FROM (SELECT pid, COUNT(DISTINCT ward) AS n,"
        " COUNT(DISTINCT age) AS m FROM visits GROUP BY pid) AS r WHERE n > m"
    ),
    "roll-up, first": (
        "SELECT COUNT(*) FROM (SELECT pid, FIRST(ward ORDER BY seen) AS w, LAST(age"
        " ORDER BY seen) AS g FROM visits GROUP BY pid) AS r WHERE w = 'w3' AND g > 4"
    ),
    "distinct": (
        "SELECT COUNT(*) FROM (SELECT DISTINCT pid, ward, age FROM visits) AS r"
    ),
    "distinct, texts": (
        "SELECT COUNT(*) FROM (SELECT DISTINCT pid, note FROM visits) AS r"
    ),
    "row number": (
        "SELECT COUNT(*) FROM (SELECT pid, age, ROW_NUMBER() OVER (PARTITION BY pid"
        " ORDER BY seen) AS n FROM visits) AS r WHERE n = 1 AND age > 3"
    ),
    "lags": (
        "SELECT COUNT(*) FROM (SELECT pid, seen, LAG(seen) OVER (PARTITION BY pid"
        " ORDER BY seen) AS b, LEAD(age) OVER (PARTITION BY pid ORDER BY age) AS l,"
        " LAG(note) OVER (PARTITION BY pid ORDER BY paid) AS t FROM visits) AS r"
        " WHERE DATE_DIFF('day', b, seen) < 30 AND l > 5 AND t > 'b'"
    ),
    "sums over": (
        "SELECT COUNT(*) FROM (SELECT pid, SUM(paid) OVER (PARTITION BY pid) AS s,"
        " COUNT(*) OVER (PARTITION BY pid, ward) AS n FROM visits) AS r WHERE s > n"
    ),
    "frames": (
        "SELECT COUNT(*) FROM (SELECT pid, SUM(paid) OVER (PARTITION BY pid ORDER BY"
        " seen ROWS BETWEEN 20 PRECEDING AND 20 FOLLOWING) AS s, MAX(age) OVER"
        " (PARTITION BY pid ORDER BY seen ROWS 7 PRECEDING) AS m, COUNT(*) OVER"
        " (PARTITION BY pid ORDER BY seen) AS n FROM visits) AS r WHERE s > n + m"
    ),
    "order of texts": (
        "SELECT COUNT(*) FROM (SELECT pid, LAG(age) OVER (PARTITION BY pid ORDER BY"
        " note) AS b, COUNT(*) OVER (PARTITION BY pid, note) AS n FROM visits) AS r"
        " WHERE b > n"
    ),
    "running texts": (
        "SELECT COUNT(*) FROM (SELECT pid, MAX(note) OVER (PARTITION BY pid ORDER BY"
        " note) AS m FROM visits) AS r WHERE m > 'b'"
    ),
    "many texts over": (
        "SELECT COUNT(*) FROM (SELECT pid, {over} FROM visits) AS r WHERE {read}"
    ),
    "union": (
        "SELECT COUNT(*), SUM(n) FROM (SELECT pid, age AS n FROM visits UNION ALL"
        " SELECT pid, age FROM visits UNION ALL SELECT pid, age FROM visits) AS u"
    ),
    "reused": (
        "WITH d AS (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid)"
        " SELECT COUNT(*) FROM d AS x JOIN d AS y ON x.pid = y.pid WHERE x.n = y.n"
        " AND x.pid IN (SELECT pid FROM d WHERE n > 2)"
    ),
    "constants that collide": f"SELECT g, h, COUNT(*) FROM {CHOSEN} GROUP BY g, h",
    "constants that collide, of one": f"SELECT h, COUNT(*) FROM {CHOSEN} GROUP BY h",
    "constants that collide, distinct": f"SELECT {{coalesced}} FROM {CHOSEN}",
    "constants that collide, distinct by another": (
        f"SELECT g, {{coalesced}} FROM {CHOSEN} GROUP BY g"
    ),
    "constants that collide, rolled up": (
        "SELECT COUNT(*) FROM (SELECT pid, g, h, COUNT(DISTINCT age) AS n FROM"
        f" {CHOSEN} GROUP BY pid, g, h) AS r WHERE n > 0"
    ),
    "constants that collide, joined": (
        f"SELECT COUNT(*) FROM {CHOSEN} JOIN {CHOSEN.replace(' c', ' d')}"
        " ON c.pid = d.pid AND c.g = d.g AND c.h = d.h"
    ),
    "constants that collide, existing": (
        f"SELECT COUNT(*) FROM {CHOSEN} WHERE EXISTS (SELECT * FROM"
        f" {CHOSEN.replace(' c', ' d')} WHERE c.pid = d.pid AND c.h = d.h)"
    ),
    "constants that collide, listed": (
        "SELECT COUNT(*) FROM visits WHERE COALESCE({before}, paid) IN ({behind})"
    ),
    "young or old": (
        "SELECT CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS a, COUNT(*)"
        " FROM visits GROUP BY 1"
    ),
}


def _cases(column: str, width: int, values: list[int]) -> str:
    """Return a CASE that gives one of these for each of equal parts of a range."""
    arms = (f"WHEN {column} < {n * width} THEN {v}" for n, v in enumerate(values, 1))
    return f"CASE {' '.join(arms)} ELSE {values[0]} END"


_MANY = {
    "first": _cases("age", 4, collided(31, first=True)),
    "second": _cases("cost", 32_260, collided(31, shift=34)),
    "coalesced": ", ".join(f"COUNT(DISTINCT COALESCE(h, {n}))" for n in range(18)),
    "before": collided(251)[-1],
    "behind": ", ".join(map(str, collided(250))),
    "divided": " + ".join(f"paid / NULLIF(cost - {each}, 0)" for each in range(40)),
    "products": " + ".join(f"paid * (cost - {each})" for each in range(40)),
    "months": " OR ".join(
        f"DATE_DIFF('month', seen + {each}, CURRENT_DATE) = {400 + each}"
        for each in range(40)
    ),
    "distinct": ", ".join(
        f"COUNT(DISTINCT CASE WHEN b.result <> {200 + each} THEN b.result ELSE 7 END)"
        for each in range(19)
    ),
    "ages": " OR ".join(
        f"age_years(seen - {each}, CURRENT_DATE) = {90 + each}" for each in range(40)
    ),
}
"""Chains of expressions, each of which the engine evaluates apart."""


def dataset(units: int, note_bytes: int = NOTE_BYTES) -> Dataset:
    """Return declarations that every table meets in full."""
    days = RangeDomain(date(2000, 1, 1), date(2030, 1, 1))
    wards = ValuesDomain(tuple(f"w{number}" for number in range(12)))
    number = ColumnType.INTEGER
    pid = Column("pid", number, nullable=False)
    age = Column("age", number, domain=RangeDomain(0, 120))
    note = Column("note", ColumnType.TEXT, max_length=note_bytes)
    parts = HierarchyDomain("own")
    item = Column("item", ColumnType.TEXT, domain=parts, max_length=9)
    visits = Table(
        "visits",
        (
            pid,
            Column("visit_id", number, nullable=False),
            age,
            Column("cost", number, domain=RangeDomain(0, 10**6)),
            Column("paid", number),
            Column("seen", ColumnType.DATE, domain=days),
            Column("ward", ColumnType.TEXT, domain=wards),
            Column("icd", ColumnType.TEXT, domain=HierarchyDomain("icd10")),
            item,
            note,
        ),
        "pid",
        VISITS,
        ("visit_id",),
        max_rows=units * VISITS,
    )
    labs = Table(
        "labs",
        (
            pid,
            Column("visit_id", number, nullable=False),
            Column("result", number, domain=RangeDomain(0, 120)),
            Column("taken", ColumnType.DATE, domain=days),
            Column("remark", ColumnType.TEXT, max_length=note_bytes),
        ),
        "pid",
        LABS,
        max_rows=units * LABS,
    )
    sex = Column("sex", ColumnType.TEXT, domain=ValuesDomain(("F", "M")))
    born = Column("born", ColumnType.DATE, domain=days)
    people = Table("people", (pid, sex, born), "pid", 1, ("pid",), max_rows=units)
    code = Column("code", ColumnType.TEXT, nullable=False, max_length=9)
    codes = Table(
        "codes", (code, Column("number", number)), key=("code",), max_rows=CODES
    )
    levels = {f"C{each}": (f"part {each % 30}",) for each in range(OWN_CODES)}
    tables = {table.name: table for table in (visits, labs, people, codes)}
    own = {"own": Hierarchy("own", ("part",), levels)}
    day = date(2026, 1, 1)
    return Dataset("costs", "people", "patient", day, tables, own, units)


def fill(
    connection: duckdb.DuckDBPyConnection, units: int, note_bytes: int = NOTE_BYTES
) -> None:
    """Fill every table to its caps, ordered by unit as snapshots are."""
    stored = (
        "(hash(u) >> 1)::BIGINT AS unit_key, (hash(u, r) >> 1)::BIGINT AS row_hash,"
        " r + 1 AS row_rank, u AS pid"
    )
    number = "lpad((hash(u, r) % 1000000)::VARCHAR, 6, '0')"
    note = f"repeat('ab', {note_bytes // 2 - 4}) || {number}"
    rows = f"range({units}) AS one(u), range({{most}}) AS two(r) ORDER BY 1, 3"
    connection.execute(
        f"CREATE TABLE visits AS SELECT {stored}, r AS visit_id,"
        " (hash(r, u, 1) % 121)::BIGINT AS age, (hash(r, u, 2) % 1000001)::BIGINT AS"
        " cost, (hash(r, u, 3) >> 1)::BIGINT AS paid, DATE '2000-01-01' +"
        " (hash(r, u, 4) % 10000)::INTEGER AS seen, 'w' || (hash(r, u, 5) % 12) AS"
        " ward, 'E' || (10 + hash(r, u, 6) % 80) AS icd,"
        f" 'C' || (hash(r, u, 7) % {OWN_CODES}) AS item, {note} AS note"
        f" FROM {rows.format(most=VISITS)}"
    )
    connection.execute(
        f"CREATE TABLE labs AS SELECT {stored}, r * 4 AS visit_id,"
        " (hash(r, u, 8) % 121)::BIGINT AS result, DATE '2000-01-01' +"
        f" (hash(r, u, 9) % 10000)::INTEGER AS taken, {note} || 'x' AS remark"
        f" FROM {rows.format(most=LABS)}"
    )
    connection.execute(
        f"CREATE TABLE people AS SELECT {stored}, ['F', 'M'][1 + (u % 2)::INTEGER] AS"
        " sex, DATE '2000-01-01' + (hash(u, 10) % 9000)::INTEGER AS born"
        f" FROM {rows.format(most=1)}"
    )
    connection.execute(
        "CREATE TABLE codes AS SELECT 'C' || n AS code, n AS number, n AS _row"
        f" FROM range({CODES}) AS all_codes(n)"
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """What one question took."""

    name: str
    seconds: float
    size_bytes: int
    compiled: CompiledQuery

    def line(self) -> str:
        """Return it as a row of a table."""
        size = f"{self.size_bytes / 2**20:,.0f} | {float(self.memory_ratio):.2f}"
        time_taken = f"{self.seconds * 1e3:,.0f} | {float(self.time_ratio):.2f}"
        return f"| {self.name} | {time_taken} | {size} |"

    @property
    def time_ratio(self) -> Fraction:
        """Measured over predicted."""
        return Fraction(self.seconds) * 10**9 / self.compiled.cost.steps

    @property
    def memory_ratio(self) -> Fraction:
        """Measured over predicted."""
        return Fraction(self.size_bytes) / self.compiled.cost.memory_bytes


def measure(path: Path, name: str, compiled: CompiledQuery) -> Measured:
    """Return the least seconds and the most bytes of some runs, each in a child.

    One has the least memory with which an executor would accept the question.
    """
    least = compiled.cost.memory_bytes * MEMORY_SHARE
    limits = [*[CONFIG["memory_limit"]] * (REPEATS - 1), f"{least}B"]
    runs = [_in_child(path, compiled, limit) for limit in limits]
    seconds, sizes = min(run[0] for run in runs), max(run[1] for run in runs)
    return Measured(name, seconds, sizes, compiled)


def _in_child(path: Path, compiled: CompiledQuery, limit: str) -> tuple[float, int]:
    """Run a question in a fork, so that the peak of memory is its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, _run(path, compiled, limit).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as found:
        seconds, _, size = found.read().partition(" ")
    os.waitpid(child, 0)
    return float(seconds), int(size)


def _run(path: Path, compiled: CompiledQuery, limit: str) -> str:
    """Return the processor seconds and bytes of one run, the tables' blocks read.

    Where memory does not suffice, all that was allowed is returned as used.
    """
    connection = duckdb.connect(path, read_only=True, config=CONFIG)
    for table in TABLES:
        connection.execute(f"SELECT MIN(COLUMNS(*)) FROM {table}").fetchall()
    connection.execute(f"SET memory_limit = '{limit}'")
    set_hash_key(connection, new_hash_key())
    Path("/proc/self/clear_refs").write_text("5")
    before, start = _resident("VmRSS"), time.process_time()
    try:
        for statement in compiled.rendered.statements:
            cursor = connection.execute(statement.sql, list(statement.parameters))
            while cursor.fetchmany(10_000):
                pass
    except duckdb.OutOfMemoryException:
        return f"{math.inf} {limit.removesuffix('B')}"
    seconds = time.process_time() - start
    return f"{seconds} {max(0, _resident('VmHWM') - before)}"


def _resident(line: str) -> int:
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split(f"{line}:")[1].split()[0])


def measured(folder: Path, units: int, only: str) -> Iterator[Measured]:
    """Yield what each question takes."""
    path, declared = folder / "costs.duckdb", dataset(units)
    _filled(path, units, NOTE_BYTES)
    many = ", ".join(map(str, range(250)))
    over = ", ".join(
        f"MIN(note) OVER (PARTITION BY pid ORDER BY seen ROWS BETWEEN {each} PRECEDING"
        f" AND UNBOUNDED FOLLOWING) AS m{each}"
        for each in range(30)
    )
    read = " AND ".join(f"m{each} >= 'a'" for each in range(30))
    for name, text in QUESTIONS.items():
        if only in name:
            sql = text.format(many=many, over=over, read=read, **_MANY)
            yield measure(path, name, compile_query(sql, declared, Target(DUCKDB)))


def of_texts(folder: Path, asked: argparse.Namespace) -> Iterator[Measured]:
    """Yield what questions with many texts take, in each place that may hold them.

    Units are as many as keep a column of texts in some tens of MB, and 20 at least.
    """
    for size in asked.bytes:
        units = max(20, min(asked.units, HELD_BYTES // size // VISITS))
        path, declared = folder / f"{size}.duckdb", dataset(units, size)
        _filled(path, units, size)
        for place, question in PLACES.items():
            for many in asked.terms if asked.only in place else ():
                compiled = compile_query(question(many), declared, Target(DUCKDB))
                yield measure(path, f"{place}: {many} of {size} bytes", compiled)
        path.unlink()


def _filled(path: Path, units: int, note_bytes: int) -> None:
    """Fill a snapshot in a child: this process stays small, and forks what it is."""
    filling = multiprocessing.Process(target=_fill_file, args=(path, units, note_bytes))
    filling.start()
    filling.join()


def _fill_file(path: Path, units: int, note_bytes: int) -> None:
    with duckdb.connect(path, config={**CONFIG, **STORED_PLAIN}) as connection:
        fill(connection, units, note_bytes)


def main() -> None:
    """Measure, print, and exit 1 where a prediction is passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=int, default=20_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--terms", type=int, nargs="*", default=[])
    parser.add_argument("--bytes", type=int, nargs="*", default=[1_024])
    asked = parser.parse_args()
    print("| question | ms | of predicted | MB | of predicted |")
    print("|---|---:|---:|---:|---:|")
    found = []
    with tempfile.TemporaryDirectory() as folder:
        every = (
            of_texts(Path(folder), asked)
            if asked.terms
            else measured(Path(folder), asked.units, asked.only)
        )
        for each in every:
            found.append(each)
            print(each.line(), flush=True)
    slowest = max(found, key=lambda each: each.time_ratio)
    largest = max(found, key=lambda each: each.memory_ratio)
    print(
        f"\nworst of time: {slowest.name}, {float(slowest.time_ratio):.2f}; of memory: "
        f"{largest.name}, {float(largest.memory_ratio):.2f}"
    )
    sys.exit(int(max(slowest.time_ratio, largest.memory_ratio) > 1))


if __name__ == "__main__":
    main()
