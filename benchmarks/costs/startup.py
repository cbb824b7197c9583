"""What the first rows of one unit begin, beside what the plan's cost says of them.

Run: ``python -m benchmarks.costs.startup``. Asks each question of rows that one person
alone has, over a thousand units: with that person's rows and without. Prints the
processor time between the two, and what one unit adds and starts up by the cost; exits
1 where that is less. Statements are the same in both, and so is what planning takes.
"""

import sys
from collections.abc import Iterable

import duckdb

from benchmarks.costs.plans import CONFIG, VISITS, dataset, fill
from benchmarks.costs.timing import processor_ms
from engines.duckdb.snapshots import new_hash_key, set_hash_key
from query_lang.compile import compile_query
from query_lang.rendering.dialect import Target
from query_lang.rendering.duckdb.dialect import DUCKDB

UNITS, REPEATS = 200, 7
ONE = "visits WHERE seen = DATE '2029-12-31'"
"""Days of the others end before."""
INNER = "SELECT COUNT(*) FROM (SELECT pid, {} FROM " + ONE + ") AS x WHERE {}"


def _windows(functions: Iterable[str]) -> str:
    made = list(functions)
    named = ", ".join(f"{each} AS m{place}" for place, each in enumerate(made))
    read = " AND ".join(f"m{place} > 0" for place in range(len(made)))
    return INNER.format(named, read)


def _groups(functions: Iterable[str]) -> str:
    return _windows(functions).replace(") AS x", " GROUP BY pid) AS x")


QUESTIONS = {
    "one window": _windows(["ROW_NUMBER() OVER (PARTITION BY pid ORDER BY cost)"]),
    "a partition of 30 terms": _windows(
        [f"COUNT(*) OVER (PARTITION BY pid, {', '.join(['age'] * 30)})"]
    ),
    "an order of 30 terms": _windows(
        [f"ROW_NUMBER() OVER (PARTITION BY pid ORDER BY {', '.join(['age'] * 30)})"]
    ),
    "four partitions": _windows(
        f"COUNT(*) OVER (PARTITION BY pid, cost + {n})" for n in range(4)
    ),
    "twenty orders": _windows(
        f"LAG(cost) OVER (PARTITION BY pid ORDER BY cost + {n})" for n in range(20)
    ),
    "forty frames": _windows(
        "SUM(cost) OVER (PARTITION BY pid ORDER BY cost ROWS BETWEEN"
        f" {n} PRECEDING AND CURRENT ROW)"
        for n in range(40)
    ),
    "forty least of frames": _windows(
        "MIN(cost) OVER (PARTITION BY pid ORDER BY cost ROWS BETWEEN"
        f" {n} PRECEDING AND CURRENT ROW)"
        for n in range(40)
    ),
    "distinct of groups": _groups(f"COUNT(DISTINCT cost + {n})" for n in range(20)),
    "first of groups": _groups(f"FIRST(cost ORDER BY age + {n})" for n in range(40)),
    "sums of groups": _groups(f"SUM(paid + {n})" for n in range(80)),
    "many keys": (
        f"SELECT COUNT(*) FROM (SELECT pid, age + 1 AS k FROM {ONE} GROUP BY pid, "
        + ", ".join(f"age + {n}" for n in range(1, 60))
        + ") AS x WHERE k > 0"
    ),
    "distinct": f"SELECT {', '.join(f'COUNT(DISTINCT age + {n})' for n in range(20))} "
    f"FROM {ONE}",
    "quantiles": f"SELECT {', '.join(f'QUANTILE(age + {n}, 0.5)' for n in range(20))} "
    f"FROM {ONE}",
    "ten EXISTS": f"SELECT COUNT(*) FROM {ONE}"
    + "".join(
        f" AND EXISTS (SELECT * FROM labs WHERE labs.pid = visits.pid AND result > {n})"
        for n in range(10)
    ),
    "ten IN": f"SELECT COUNT(*) FROM {ONE}"
    + "".join(
        f" AND pid IN (SELECT pid FROM labs WHERE result > {n})" for n in range(10)
    ),
}


def main() -> None:
    """Measure every question, and say which begins more than its cost says."""
    declared = dataset(UNITS + 1)
    connection = duckdb.connect(config=CONFIG)
    set_hash_key(connection, new_hash_key())
    fill(connection, UNITS)
    rows = f"(SELECT * FROM visits WHERE pid = 7 LIMIT {VISITS})"
    person = f"SELECT * REPLACE (77777 AS pid, DATE '2029-12-31' AS seen) FROM {rows}"
    short = []
    print("question                 difference ms  added ms  started ms")
    for name, sql in QUESTIONS.items():
        asked = compile_query(sql, declared, Target(DUCKDB))
        without = processor_ms(connection, asked, REPEATS)
        connection.execute(f"INSERT INTO visits {person}")
        extra = processor_ms(connection, asked, REPEATS) - without
        connection.execute("DELETE FROM visits WHERE pid = 77777")
        cost = asked.cost
        added, started = cost.unit_steps / 1e6, cost.startup_steps / 1e6
        print(f"{name:24}{extra:14.2f}{added:10.2f}{started:12.2f}", flush=True)
        if extra > added + started:
            short.append(name)
    if short:
        sys.exit(f"more than the cost says: {', '.join(short)}")


if __name__ == "__main__":
    main()
