"""Engine time of our statements against plain DuckDB on the same snapshot.

Run: ``python -m benchmarks.engine [--rows 10000 100000 1000000] [--seconds 2]``.
Prints a Markdown table of ratios taken in this run:

- ours / plain: our rendering through the engine, against hand-written SQL on a
  connection with DuckDB's defaults;
- CPU: the same, in processor time, which a busy machine disturbs less;
- rendering: our statement against the hand-written SQL, both without rewriting by the
  statistics of stored values, as the engine runs (engines/duckdb/snapshots.py);
- blind: the hand-written SQL without that rewriting against itself with it.

``~`` marks rows where other work disturbed too many runs.
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import duckdb

from benchmarks.clean import Timing, interleaved
from benchmarks.clinic import COHORTS, DATASET, FIVE, FIVE_BOUNDED, Comparison
from benchmarks.clinic_rows import write_snapshot
from engines.duckdb.engine import DuckDbEngine
from engines.duckdb.snapshots import BLIND, LOCKED, SnapshotLimits
from query_lang.compile import compile_query
from query_lang.plans.rendered import RenderedPlan
from query_lang.rendering.dialect import Target
from query_lang.rendering.duckdb.dialect import DUCKDB

SIZES = (10_000, 100_000, 1_000_000)
SNAPSHOT = "clinic"
HEADER = (
    "| question | rows | ours, ms | plain, ms | ratio | CPU | rendering | blind |"
    "\n|---|---:|---:|---:|---:|---:|---:|---:|"
)


@dataclass(frozen=True, slots=True)
class EnginesCompared:
    """One snapshot, opened by the engine and by two plain connections.

    Attributes:
        engine: With the settings that the server uses.
        plain: A connection with DuckDB's defaults, and as many threads and bytes.
        blind: As ``plain``, without rewriting by statistics.
    """

    engine: DuckDbEngine
    plain: duckdb.DuckDBPyConnection
    blind: duckdb.DuckDBPyConnection


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--only", default="", help="questions that begin so")
    parser.add_argument("--folder", type=Path, default=None, help="keep snapshots here")
    arguments = parser.parse_args()
    questions = [
        question
        for question in (*FIVE, *FIVE_BOUNDED, *COHORTS)
        if question.name.startswith(arguments.only)
    ]
    print(HEADER, flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        for rows in arguments.rows:
            for line in compared(folder, rows, questions, arguments.seconds):
                print(line, flush=True)


def compared(
    folder: Path, rows: int, questions: list[Comparison], seconds: float
) -> Iterator[str]:
    """Yield a line of the table for each question at one size."""
    with ExitStack() as stack:
        engines = opened(folder / str(rows), rows, stack)
        for question in questions:
            figures = measured(engines, question, seconds)
            yield f"| {question.name} | {rows:,} | {figures}"


def opened(folder: Path, rows: int, stack: ExitStack) -> EnginesCompared:
    """Write the snapshot if it is new, and open it three times.

    DuckDB opens one file with one configuration in a process, so the plain connections
    have links of their own to it.
    """
    path = folder / f"{SNAPSHOT}.duckdb"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_snapshot(path, rows)
    engine = DuckDbEngine(folder)
    stack.callback(engine.close)
    found = []
    for name, more in (("plain", {}), ("blind", {**LOCKED, **BLIND})):
        link = folder / f"{name}.duckdb"
        if not link.exists():
            os.link(path, link)
        found.append(stack.enter_context(plainly(link, more)))
    return EnginesCompared(engine, *found)


def plainly(path: Path, more: dict[str, str]) -> duckdb.DuckDBPyConnection:
    """Open a snapshot with the engine's public limits and these settings alone."""
    limits = SnapshotLimits()
    config = {"memory_limit": limits.memory_limit, "threads": str(limits.threads)}
    return duckdb.connect(path, read_only=True, config={**config, **more})


def measured(engines: EnginesCompared, question: Comparison, seconds: float) -> str:
    """Return the measured cells of one question's line."""
    plan = compile_query(
        question.asked, DATASET, Target(DUCKDB), question.bounds
    ).rendered
    check_same_rows(engines, question, plan)
    (statement,) = plan.statements
    parameters = list(statement.parameters)
    calls: dict[str, Callable[[], object]] = {
        "ours": lambda: engines.engine.execute(SNAPSHOT, plan),
        "plain": lambda: engines.plain.execute(question.plain).fetchall(),
        "blind": lambda: engines.blind.execute(question.plain).fetchall(),
        "bare": lambda: engines.blind.execute(statement.sql, parameters).fetchall(),
    }
    return cells(interleaved(calls, seconds=seconds))


def cells(timings: dict[str, Timing]) -> str:
    """Write the figures of one line."""
    ours, plain = timings["ours"], timings["plain"]
    blind, bare = timings["blind"], timings["bare"]
    mark = " ~" if any(timing.disturbed for timing in timings.values()) else ""
    ratios = (
        f"**{ours.wall / plain.wall:.2f}**{mark}",
        f"{ours.cpu / plain.cpu:.2f}",
        f"{bare.wall / blind.wall:.2f}",
        f"{blind.wall / plain.wall:.2f}",
    )
    times = (f"{ours.wall * 1e3:.2f}", f"{plain.wall * 1e3:.2f}")
    return " | ".join((*times, *ratios)) + " |"


def check_same_rows(
    engines: EnginesCompared, question: Comparison, plan: RenderedPlan
) -> None:
    """Hold that the hand-written SQL gives the rows that ours gives.

    Raises:
        AssertionError: It does not, so their times compare nothing.
    """
    (statement,) = plan.statements
    ours = engines.blind.execute(statement.sql, list(statement.parameters)).fetchall()
    if sorted(ours) != sorted(engines.plain.execute(question.plain).fetchall()):
        message = f"{question.name}: two different questions"
        raise AssertionError(message)


if __name__ == "__main__":
    main()
