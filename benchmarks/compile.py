"""Compile time of texts never seen before, part by part, and of remembered plans.

Run: ``python -m benchmarks.compile [--rounds 200]``. Each text is new each time: a
number in it changes. ``in one process`` is parsing and the rest without a child;
``new text`` is what a server does: the parser child's round trip, then binding,
rendering and the rest; ``remembered`` is the same text again. Prints a Markdown table
in milliseconds: the median, and the fastest tenth, which other work on the machine
disturbs least.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Mapping

from benchmarks.clinic import COHORTS, DATASET, FIVE
from privacy.contributions import NO_BOUNDS
from query_lang.binding.bind import bind_query
from query_lang.compile import compile_query
from query_lang.plans.canonical import canonical_text
from query_lang.reading.parse import parse_query
from query_lang.rendering.dialect import Target
from query_lang.rendering.duckdb.dialect import DUCKDB
from query_lang.showing.derivation import derive
from query_lang.syntax.nodes import Query
from query_lang.syntax.wire import from_json, to_json
from server.children.parser_process import ParserPool
from server.use_cases.questions.questions import Compiler, Schema
from server.use_cases.questions.requests import QuestionRequest

TEXTS: Mapping[str, str] = {
    "one table": "SELECT sex, COUNT(*) AS patients FROM patients"
    " WHERE age >= 50 AND zip3 IN ('101', '102', '103') GROUP BY sex",
    "join of two": f"{FIVE[-1].asked} HAVING COUNT(*) > 50",
    **{
        each.name: each.asked.replace("'E11%'", "'E1150%'").replace(" >= 2", " >= 50")
        for each in COHORTS
    },
}
"""Each has a 50 that another number takes the place of."""

Laps = dict[str, list[float]]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    print("| text | part | median, ms | fastest tenth, ms |\n|---|---|---:|---:|")
    pool = ParserPool()
    try:
        for name, text in TEXTS.items():
            for part, found in measured(text, pool, rounds).items():
                tenth = statistics.quantiles(found, n=10)[0]
                median = statistics.median(found)
                print(f"| {name} | {part} | {median * 1e3:.3f} | {tenth * 1e3:.3f} |")
    finally:
        pool.close()


def measured(text: str, pool: ParserPool, rounds: int) -> Laps:
    """Return the seconds of each part in each round."""
    target, schema, laps = Target(DUCKDB), Schema("s", DATASET), Laps()
    compiler = Compiler(pool.parse, target)
    for number in range(rounds):
        request = asked(text.replace("50", str(1_000 + number)))
        for part in ("new text", "remembered"):
            lap(laps, part, lambda: compiler.compile(request.sql, schema, request))  # noqa: B023 - called at once
        other = text.replace("50", str(1_000_000 + number))
        lap(laps, "in one process", lambda: compile_query(other, DATASET, target))  # noqa: B023
        parts(laps, other, pool)
    return laps


def parts(laps: Laps, sql: str, pool: ParserPool) -> None:
    """Time each part of compiling one text."""
    tree: Query = lap(laps, "parse", lambda: parse_query(sql))
    lap(laps, "parse in the child", lambda: pool.parse(sql))
    written = lap(laps, "tree to JSON", lambda: json.dumps(to_json(tree)))
    lap(laps, "JSON to tree", lambda: from_json(json.loads(written)))
    bound = lap(laps, "bind", lambda: bind_query(tree, DATASET, NO_BOUNDS))
    plan, at = bound.plan, tree.select.position
    lap(laps, "render", lambda: DUCKDB.query(plan, DATASET.hierarchies, at))
    lap(laps, "canonical", lambda: canonical_text(plan, [1] * len(plan.measures)))
    lap(laps, "derive", lambda: derive(plan, DATASET.unit))


def lap(laps: Laps, part: str, call: Callable[[], object]):
    """Run one part, note how long it took, and return what it returns."""
    start = time.perf_counter()
    value = call()
    laps.setdefault(part, []).append(time.perf_counter() - start)
    return value


def asked(sql: str) -> QuestionRequest:
    """Return a request for one text."""
    return QuestionRequest(
        sql=sql,
        epsilon="1",
        accuracy=None,
        project=None,
        reuse="never",
        weights=(),
        bounds=NO_BOUNDS,
    )


if __name__ == "__main__":
    main()
