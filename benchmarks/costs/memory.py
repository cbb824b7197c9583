"""The least memory that plans need on DuckDB, beside what is predicted.

Run: ``python -m benchmarks.costs.memory [--only TEXT] [--threads 2] [--units 50]``.
Asks each form with one, some and many of what it repeats: without a row that any part
of it reads, with the rows of one person, and with all rows. Finds the least memory
limit, in whole MiB, under which each is answered without room on disk, as executors
run; prints it beside the bytes of the cost, and exits 1 where it is more, or where one
person makes more of a difference than the cost says.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb

from benchmarks.costs.plans import CONFIG, VISITS, dataset, fill
from engines.duckdb.snapshots import new_hash_key, set_hash_key
from privacy.errors import SqlNotAllowedError
from query_lang.compile import compile_query
from query_lang.plans.compiled import CompiledQuery
from query_lang.rendering.dialect import Target
from query_lang.rendering.duckdb.dialect import DUCKDB
from upstream.ingestion.ingestion import STORED_PLAIN

MOST: Final = 2_048
"""Beyond so many MiB no plan of so few units should go."""

ONE: Final = "visits WHERE seen = DATE '2029-12-31'"
"""Days of the others end before."""

MANY: Final = (1, 8, 24)
Form = Callable[[int], str]


def _values(expression: str, tail: str = "") -> Form:
    """Return a form that computes an expression over a person's rows many times."""
    return lambda many: (
        "SELECT COUNT(*) FROM (SELECT pid, "
        + ", ".join(f"{expression.format(n=n)} AS m{n}" for n in range(many))
        + f" FROM {ONE}{tail}) AS x WHERE "
        + " AND ".join(f"m{n} IS NOT NULL" for n in range(many))
    )


def _union(part: str) -> Form:
    return lambda many: (
        "SELECT COUNT(*) FROM ("
        + " UNION ALL ".join(part.format(n=n + 200) for n in range(many))
        + ") AS x WHERE c IS NOT NULL"
    )


def _conditions(word: str, table: str, condition: str) -> Form:
    return lambda many: (
        f"SELECT COUNT(*) FROM {table} WHERE "
        + f" {word} ".join(condition.format(n=n + 200) for n in range(many))
    )


def _joins(first: str, join: str, tail: str = "") -> Form:
    return lambda many: (
        f"SELECT COUNT(*) FROM {first} "
        + " ".join(join.format(n=n + 200) for n in range(many))
        + tail
    )


def _shown(expression: str, tail: str) -> Form:
    return lambda many: (
        "SELECT " + ", ".join(expression.format(n=n) for n in range(many)) + tail
    )


_GROUPED = " GROUP BY pid"
_WINDOW = "OVER (PARTITION BY pid ORDER BY "
_EXISTS = "EXISTS (SELECT * FROM visits v WHERE v.pid = l.pid AND v.seen = DATE"
_ROLLED = f"(SELECT pid, MAX(age) AS a FROM {ONE} AND age <> {{n}} GROUP BY pid)"
_IN = f"pid IN (SELECT pid FROM {ONE} AND age <> {{n}})"

FORMS: Final[Mapping[str, Form]] = {
    "distinct": _shown("COUNT(DISTINCT age + {n})", f" FROM {ONE}"),
    "distinct by age": _shown(
        "COUNT(DISTINCT CASE WHEN cost > {n} THEN ward END)",
        f", age FROM {ONE} GROUP BY age",
    ),
    "distinct of joins": _shown(
        "COUNT(DISTINCT CASE WHEN v.cost > {n} THEN v.age ELSE l.result END)",
        " FROM visits v JOIN labs l ON v.pid = l.pid WHERE v.note <> l.remark"
        " AND v.seen = DATE '2029-12-31'",
    ),
    "sums": _shown("SUM(age + {n})", f" FROM {ONE}"),
    "quantiles": _shown("QUANTILE(age + {n}, 0.5)", f" FROM {ONE}"),
    "distinct of people": _values("COUNT(DISTINCT cost + {n})", _GROUPED),
    "distinct texts of people": _values(
        "COUNT(DISTINCT CASE WHEN age >= {n} THEN note END)", _GROUPED
    ),
    "sums of people": _values("SUM(cost + {n})", _GROUPED),
    "greatest texts": _values("MAX(CASE WHEN age >= {n} THEN note END)", _GROUPED),
    "first of orders": _values("FIRST(note ORDER BY age + {n})", _GROUPED),
    "one order": _values(f"SUM(age + {{n}}) {_WINDOW}cost)"),
    "orders": _values(f"LAG(cost) {_WINDOW}cost + {{n}})"),
    "orders of texts": _values(f"LAG(note) {_WINDOW}cost + {{n}})"),
    "partitions": _values("COUNT(*) OVER (PARTITION BY pid, cost + {n})"),
    "frames": _values(
        f"MIN(cost) {_WINDOW}cost ROWS BETWEEN {{n}} PRECEDING AND CURRENT ROW)"
    ),
    "union of groups": _union(
        f"SELECT pid, note AS c FROM {ONE} AND age <> {{n}} GROUP BY pid, note"
    ),
    "union of distinct": _union(
        f"SELECT pid, COUNT(DISTINCT age) AS c FROM {ONE} AND age <> {{n}} GROUP BY pid"
    ),
    "union of windows": _union(
        f"SELECT pid, ROW_NUMBER() {_WINDOW}cost) AS c FROM {ONE} AND age <> {{n}}"
    ),
    "union of windows on texts": _union(
        f"SELECT pid, LAG(note) {_WINDOW}cost) AS c FROM {ONE} AND age <> {{n}}"
    ),
    "IN or IN": _conditions("OR", "labs", _IN),
    "IN and IN": _conditions("AND", "labs", _IN),
    "public IN": _conditions(
        "OR", "visits", "item IN (SELECT code FROM codes WHERE number <> {n})"
    ),
    "EXISTS and": _conditions(
        "AND", "labs l", f"{_EXISTS} '2029-12-31' AND v.age <> l.result + {{n}})"
    ),
    "EXISTS or": _conditions(
        "OR", "labs l", f"{_EXISTS} '2029-12-31' AND v.age <> l.result + {{n}})"
    ),
    "EXISTS with texts": _conditions(
        "OR",
        "labs l",
        f"{_EXISTS} '2029-12-31' AND v.note <> l.remark AND v.age <> {{n}})",
    ),
    "EXISTS in EXISTS": _conditions(
        "OR",
        "labs l",
        f"{_EXISTS} '2029-12-31' AND v.age <> {{n}} AND EXISTS (SELECT * FROM people p"
        " WHERE p.pid = v.pid AND p.born > v.seen AND p.born <> l.taken))",
    ),
    "EXISTS over joins": _conditions(
        "OR",
        "labs l JOIN people q ON q.pid = l.pid",
        f"{_EXISTS} '2029-12-31' AND v.note <> l.remark AND v.age <> {{n}})",
    ),
    "joins": _joins("people r", f"JOIN {_ROLLED} AS v{{n}} ON v{{n}}.pid = r.pid"),
    "left joins": _joins(
        "people r", f"LEFT JOIN {_ROLLED} AS v{{n}} ON v{{n}}.pid = r.pid"
    ),
    "joins of texts": _joins(
        "people r",
        f"JOIN (SELECT pid, MAX(note) AS a FROM {ONE} AND age <> {{n}} GROUP BY pid)"
        " AS v{n} ON v{n}.pid = r.pid AND v{n}.a <> r.sex",
    ),
    "public joins": _joins(
        "visits r",
        "JOIN codes AS v{n} ON v{n}.code = r.item",
        " WHERE seen = DATE '2029-12-31'",
    ),
}


@dataclass(frozen=True, slots=True)
class Needed:
    """The least MiB of each kind of data, and what was predicted."""

    name: str
    without: int
    one: int
    every: int
    asked: CompiledQuery

    @property
    def is_beyond(self) -> bool:
        """Whether more was needed, or one person made more of it, than predicted."""
        cost = self.asked.cost
        own = cost.unit_memory_bytes + cost.startup_memory_bytes
        most = max(self.without, self.one, self.every) * 2**20
        more = (self.one - self.without - 1) * 2**20  # each is rounded up
        return most > cost.memory_bytes or more > own

    def line(self) -> str:
        """Return it as a row of a table."""
        cost = self.asked.cost
        told = (
            f"{cost.memory_bytes / 2**20:.0f} | {cost.startup_memory_bytes / 2**20:.0f}"
        )
        mark = " | more" if self.is_beyond else " |"
        return (
            f"| {self.name} | {self.without} | {self.one} | {self.every} | {told}{mark}"
        )


def needed(
    paths: tuple[Path, Path], units: int, threads: int, only: str
) -> Iterator[Needed]:
    """Yield what each form needs."""
    declared = dataset(units)
    for name, form in FORMS.items():
        for many in MANY if only in name else ():
            text = form(many)
            try:
                asked = compile_query(text, declared, Target(DUCKDB))
            except SqlNotAllowedError as error:
                print(f"| {name}: {many} | {error} |", flush=True)
                break
            every = compile_query(
                text.replace("seen = DATE", "seen <> DATE"), declared, Target(DUCKDB)
            )
            found = [
                least(path, question, threads)
                for path, question in zip(
                    (*paths, paths[1]), (asked, asked, every), strict=True
                )
            ]
            yield Needed(f"{name}: {many}", found[0], found[1], found[2], asked)


def least(path: Path, asked: CompiledQuery, threads: int) -> int:
    """Return the least memory limit, in MiB, that a plan does not meet."""
    low, high = 1, MOST
    while low < high:
        middle = (low + high) // 2
        if _suffices(path, asked, threads, middle):
            high = middle
        else:
            low = middle + 1
    return low


def _suffices(path: Path, asked: CompiledQuery, threads: int, limit: int) -> bool:
    config = {**CONFIG, "threads": str(threads), "memory_limit": f"{limit}MiB"}
    with duckdb.connect(path, read_only=True, config=config) as connection:
        set_hash_key(connection, new_hash_key())
        try:
            for statement in asked.rendered.statements:
                connection.execute(statement.sql, list(statement.parameters)).fetchall()
        except duckdb.OutOfMemoryException:
            return False
    return True


def _made(folder: Path, units: int) -> tuple[Path, Path]:
    """Return a snapshot without one person, and with."""
    rows = f"(SELECT * FROM visits WHERE pid = 7 LIMIT {VISITS})"
    person = (
        "SELECT * REPLACE (77777 AS pid, 77777 AS unit_key, DATE '2029-12-31' AS seen)"
    )
    for arm in range(2):
        path, config = folder / f"{arm}.duckdb", {**CONFIG, **STORED_PLAIN}
        with duckdb.connect(path, config=config) as connection:
            fill(connection, units - 1)
            if arm:
                connection.execute(f"INSERT INTO visits {person} FROM {rows}")
    return folder / "0.duckdb", folder / "1.duckdb"


def main() -> None:
    """Measure every form, print, and exit 1 where a prediction is passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    print("| form | MiB without | with one | with all | predicted | of it started |")
    print("|---|---:|---:|---:|---:|---:|")
    beyond = []
    with tempfile.TemporaryDirectory() as folder:
        paths = _made(Path(folder), asked.units)
        for each in needed(paths, asked.units, asked.threads, asked.only):
            print(each.line(), flush=True)
            if each.is_beyond:
                beyond.append(each.name)
    if beyond:
        sys.exit(f"more than predicted: {', '.join(beyond)}")


if __name__ == "__main__":
    main()
