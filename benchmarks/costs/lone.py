"""What a unit of many rows among units of few adds to joins, beside what is told.

Run: ``python -m benchmarks.costs.lone [--rows 1000]``. A join that is not an inner one
asks its condition of one pair of each row at a time, as long as any row meets more: of
one unit that has far more rows than others, of one row at a time. Prints the processor
time that one person's rows add to EXISTS and to LEFT JOIN for each condition, and what
the plan's cost says that one unit adds; exits 1 where that is less.
"""

import argparse
import sys
from datetime import date

import duckdb

from benchmarks.costs.plans import CONFIG
from benchmarks.costs.timing import processor_ms
from engines.duckdb.snapshots import new_hash_key, set_hash_key
from privacy.schema import Column, ColumnType, Dataset, RangeDomain, Table
from query_lang.compile import compile_query
from query_lang.rendering.dialect import Target
from query_lang.rendering.duckdb.dialect import DUCKDB

UNITS, FEW, REPEATS = 500, 3, 9
_EXISTS = (
    "SELECT COUNT(*) FROM people AS p WHERE EXISTS"
    " (SELECT * FROM visits AS v WHERE v.pid = p.pid AND {})"
)
_ANTI = _EXISTS.replace("WHERE EXISTS", "WHERE NOT EXISTS")
_OUTER = (
    "SELECT COUNT(DISTINCT p.pid) FROM people AS p LEFT JOIN visits AS v"
    " ON v.pid = p.pid AND {} WHERE v.x IS NULL"
)
_ITEMS = ", ".join(map(str, range(1, 91)))
_ARMS = " OR ".join(f"v.x = p.a - {5_000 + each}" for each in range(8))
_CASES = " ".join(f"WHEN v.x = p.a + {each} THEN {each}" for each in range(5))
CONDITIONS = {
    "columns compared": "v.x < p.a",
    "ninety items of one side": f"CASE WHEN p.a IN ({_ITEMS}) THEN 1 ELSE 2 END = 7",
    "a constant in disguise": (
        f"CASE WHEN p.a IN ({_ITEMS}) THEN 1 ELSE 2 END = "
        "CASE WHEN v.x > 5 AND 1 = 2 THEN 5 ELSE 7 END"
    ),
    "ten constants": " AND ".join(f"p.a <> {each + 50}" for each in range(10)),
    "a difference": "v.x - p.a < 0",
    "ten items": "v.x - p.a IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)",
    "ninety items": f"v.x - p.a IN ({_ITEMS})",
    "eight ORs": f"({_ARMS})",
    "five arms": f"CASE {_CASES} ELSE 9 END = 77",
    "COALESCE": "COALESCE(v.x, p.a) = -2",
    "days between": "DATE_DIFF('day', p.d, v.e) < -5000",
    "months between": "DATE_DIFF('month', p.d, v.e) < -5000",
    "years between": "DATE_DIFF('year', p.d, v.e) < -5000",
    "age": "AGE_YEARS(p.d, v.e) > 200",
    "age in a range": "AGE_YEARS(p.d, v.e) BETWEEN 200 AND 203",
    "years taken": "EXTRACT(YEAR FROM v.e) - EXTRACT(YEAR FROM p.d) > 100",
    "days added": "p.d + v.x < DATE '1990-01-01'",
    "months of days added": "DATE_DIFF('month', p.d + v.x, v.e) < -5000",
    "five numbers added": "((v.x + p.a) + v.y) + (p.b + v.y) < -7",
    "wide difference": "v.w - p.a < -9",
    "wide product": "((v.w * p.a) * v.w) < -7",
    "wide division": "v.w / NULLIF(p.a + v.w, 0) < -9000",
    "five wide steps": "((((v.w + p.a) * v.w) + p.a) * v.w) + p.a < -7",
}


def declared(rows: int) -> Dataset:
    """Return what is asked: a row a person, and up to so many visits."""

    def number(name: str) -> Column:
        return Column(name, ColumnType.INTEGER, domain=RangeDomain(0, 10**6))

    pid = Column("pid", ColumnType.INTEGER, nullable=False)
    columns = pid, number("a"), number("b"), Column("d", ColumnType.DATE)
    people = Table("people", columns, "pid", 1, ("pid",), max_rows=UNITS)
    columns = (
        *(pid, number("x"), number("y"), Column("e", ColumnType.DATE)),
        Column("w", ColumnType.INTEGER),
    )
    most = UNITS * FEW + rows
    visits = Table("visits", columns, "pid", rows, max_rows=most)
    day, tables = date(2026, 1, 1), {"people": people, "visits": visits}
    return Dataset("d", "p", "patient", day, tables, {}, UNITS)


def filled(rows: int, first: int) -> duckdb.DuckDBPyConnection:
    """Return a connection with persons from the first on; person 0 has all rows."""
    connection = duckdb.connect(config=CONFIG)
    set_hash_key(connection, new_hash_key())
    connection.execute(
        "CREATE TABLE people AS SELECT (hash(u) >> 1)::BIGINT AS unit_key,"
        " (hash(u, 1) >> 1)::BIGINT AS row_hash, 1::BIGINT AS row_rank, u AS pid,"
        " u % 7 AS a, u % 11 AS b, DATE '2020-01-01' + (u % 900)::INTEGER AS d"
        f" FROM range({first}, {UNITS}) AS one(u) ORDER BY 1"
    )
    connection.execute(
        "CREATE TABLE visits AS SELECT (hash(u) >> 1)::BIGINT AS unit_key,"
        " (hash(u, r) >> 1)::BIGINT AS row_hash, r + 1 AS row_rank, u AS pid,"
        " 1000 + (hash(u, r, 3) % 1000)::BIGINT AS x,"
        " (hash(u, r, 4) % 1000)::BIGINT AS y,"
        " DATE '2020-01-01' + (hash(u, r, 5) % 900)::INTEGER AS e,"
        " 1000 + (hash(u, r, 6) % 1000)::BIGINT AS w"
        f" FROM range({first}, {UNITS}) AS one(u), range({rows}) AS two(r)"
        f" WHERE u = 0 OR r < {FEW} ORDER BY 1, 3"
    )
    return connection


def main() -> None:
    """Measure every condition, and say which takes more than its cost says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000)
    rows = parser.parse_args().rows
    schema, short = declared(rows), []
    whole, others = filled(rows, 0), filled(rows, 1)
    print("condition                 join    added ms  told ms")
    for name, condition in CONDITIONS.items():
        for kind, form in (("EXISTS", _EXISTS), ("NOT", _ANTI), ("LEFT", _OUTER)):
            asked = compile_query(form.format(condition), schema, Target(DUCKDB))
            added = processor_ms(whole, asked, REPEATS) - processor_ms(
                others, asked, REPEATS
            )
            told = asked.cost.unit_steps / 1e6
            print(f"{name:24}{kind:>8}{added:12.2f}{told:9.2f}", flush=True)
            if added > told:
                short.append(f"{name} ({kind})")
    if short:
        sys.exit(f"more than the cost says: {', '.join(short)}")


if __name__ == "__main__":
    main()
