"""What steps of questions to releases take by the clock, at the most.

Run: ``python -m benchmarks.releases.steps [--runs 3]``.
Prints, for questions that are near a limit each, the steps that are counted, processor
milliseconds of one thread (the least of some runs, each on a release that was asked
nothing before), and nanoseconds a step: none may take more than one.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from datetime import date
from typing import Final

import numpy as np

from privacy.schema import ColumnType
from query_lang.reading.parse import parse_query
from release.contract.domain import CubeDomain, Dimension
from release.cubes.models.cells import CellsModel
from release.cubes.questions.answering import AskedCube
from release.cubes.questions.binding.binding import CubeBinder
from release.cubes.questions.binding.cube import PublishedCube
from release.cubes.questions.evaluating.effort import MAX_STEPS, Effort
from release.cubes.questions.evaluating.evaluation import PublicValues
from release.cubes.questions.evaluating.measuring import Measurer

_SIDES: Final = {"s": 2, "t": 500, "a": 450, "b": 450, "c": 40, "d": 200}
_DEEP: Final = " + ".join(f"(a * {n} + b) / NULLIF(b - {n}, 0)" for n in range(3))
_TEXTS: Final = " OR ".join(f"t LIKE '%{n}9%'" for n in range(30))
_ARMS: Final = " ".join(f"WHEN a < {n} AND b < {n} THEN {n}" for n in range(0, 400, 50))
_SETS: Final = ", ".join(str(n) for n in range(1, 449, 2))
QUESTIONS: Final = {
    "everything": ("abc", "SELECT COUNT(*) AS n FROM cube"),
    "many small statements": (
        "ab",
        "SELECT COUNT(*) AS n FROM cube WHERE "
        + " AND ".join(f"a + {n} > b" for n in range(4)),
    ),
    "arithmetic on 202,500": (
        "ab",
        f"SELECT COUNT(*) AS n FROM cube WHERE {_DEEP} > 3",
    ),
    "30 LIKEs on 500 texts": ("st", f"SELECT COUNT(*) AS n FROM cube WHERE {_TEXTS}"),
    "texts with texts": ("st", "SELECT COUNT(*) AS n FROM cube WHERE t > 'text 17'"),
    "values of two dimensions": (
        "ab",
        "SELECT SUM(CASE WHEN a < b THEN 1 ELSE 0 END) AS n FROM cube",
    ),
    "8 arms on 202,500": (
        "ab",
        f"SELECT SUM(CASE {_ARMS} ELSE 0 END) AS n FROM cube",
    ),
    "a set of every second value": (
        "abc",
        f"SELECT COUNT(*) AS n FROM cube WHERE a IN ({_SETS}) AND b IN ({_SETS})",
    ),
    "OR, 8,100,000 cells": (
        "abc",
        "SELECT COUNT(*) AS n FROM cube WHERE a < 3 OR b < 9",
    ),
    "OR of sets, 8,100,000 cells": (
        "abc",
        f"SELECT c, COUNT(*) AS n FROM cube WHERE a IN ({_SETS}) OR b < 9 GROUP BY c",
    ),
    "8,000 rows": ("cd", "SELECT c, d, COUNT(*) AS n FROM cube GROUP BY c, d"),
    "an average of 450 values": ("ab", "SELECT a, AVG(b) AS n FROM cube GROUP BY a"),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    sys.stdout.write("| question | steps | ms | ns a step |\n|---|---|---|---|\n")
    for line in _lines(runs):
        sys.stdout.write(line)
        sys.stdout.flush()


def _lines(runs: int) -> Iterator[str]:
    for name, (sides, sql) in QUESTIONS.items():
        steps = counted_steps(sides, sql)
        if steps > MAX_STEPS:
            yield f"| {name} | {steps:,} | refused | |\n"
            continue
        taken = min(_taken(sides, sql) for _ in range(runs))
        yield f"| {name} | {steps:,} | {taken / 1e6:,.0f} | {taken / steps:.2f} |\n"


def counted_steps(sides: str, sql: str) -> int:
    """Return the steps that a question is counted for."""
    cube, _ = _cube(sides)
    question = CubeBinder(cube).bind(parse_query(sql))
    values, effort = PublicValues(cube), Effort(question.position, 10**12)
    measurer = Measurer(question, cube, values, effort)
    further = measurer.further_steps()  # evaluates what sums and counts read
    steps = effort.spent + further
    values.close()
    return steps


def _taken(sides: str, sql: str) -> int:
    """Return the nanoseconds of a processor for answering a question, asked first."""
    tree = parse_query(sql)
    asked = AskedCube(*_cube(sides))
    begun = time.thread_time_ns()
    asked.ask(tree)
    taken = time.thread_time_ns() - begun
    asked.close()
    return taken


def _cube(sides: str) -> tuple[PublishedCube, CellsModel]:
    dimensions = tuple(map(_dimension, sides))
    domain = CubeDomain(dimensions, 1)
    cube = PublishedCube(
        id="rel_1",
        name="cube",
        domain=domain,
        counts="rows",
        unit="patient",
        unit_column="patient_id",
        snapshot_date=date(2024, 1, 1),
    )
    return cube, CellsModel(domain, np.arange(domain.size) % 50, 1.0)


def _dimension(name: str) -> Dimension:
    side = _SIDES[name]
    if name in "st":
        texts = tuple(f"text {n} {'long ' * 30}" for n in range(side))
        return Dimension(name, ColumnType.TEXT, texts)
    return Dimension(name, ColumnType.INTEGER, tuple(range(side)), ordered=True)


if __name__ == "__main__":
    main()
