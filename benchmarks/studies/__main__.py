"""What planning a study takes beside what its request counts for it.

Run: ``python -m benchmarks.studies``. Layouts from small to the largest that are looked
at: how a loss is divided over their tables, and their half-widths; CPU time of one
thread against the steps that are counted (``studies/steps.py``). Then whole plans of
slices of one table. What is counted must not be less than what it takes.
"""

import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np

from mechanisms.scales.noises import LAPLACE
from privacy.events import VectorSensitivity
from privacy.losses import NANO
from server.api.routing.backlog import comparing
from server.use_cases.identity.access import Caller
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.studies.least_squares import Fit, Layout
from server.use_cases.questions.studies.requests import StudyRequest, read_study
from server.use_cases.questions.studies.shares import Dividing
from server.use_cases.questions.studies.steps import Steps
from server.web import Server
from tests.support.installations.harness import Installation

SHAPES: Final = (
    (4, 0, 4, 2),
    (10, 4, 10, 5),
    (30, 6, 60, 6),
    (60, 20, 120, 12),
    (200, 64, 300, 20),
    (1_000, 10, 2_000, 20),
    (1_024, 64, 200, 20),
)
"""Base cells, coarser cells, numbers, questions."""

_HALF: Final = 0.3  # of the cells, that a number adds up
_MISS: Final = Fraction(5, 100)


def main() -> None:
    """Print both tables."""
    print("| cells, coarser, numbers, of | divided | counted | widths | counted |")
    print("|---" * 5 + "|")
    list(_of_layout(*SHAPES[1]))  # what is done once
    for shape in SHAPES:
        told = " | ".join(f"{1e3 * each:.1f} ms" for each in _of_layout(*shape))
        print(f"| {shape} | {told} |")
    print("\n| questions | CPU of the plan | counted | parts | price | one by one |")
    print("|---" * 6 + "|")
    for line in _plans((6, 12, 24)):
        print(line)


def _of_layout(
    base: int, coarser: int, numbers: int, questions: int
) -> Iterator[float]:
    random = np.random.default_rng(base)
    tables = min(3, coarser)
    layout = Layout(
        (random.random((coarser, base)) < _HALF).astype(float),
        tuple(n * tables // coarser for n in range(coarser)),
        tuple(
            (random.random((numbers // questions, base)) < _HALF).astype(float)
            for _ in range(questions)
        ),
    )
    one = VectorSensitivity(Fraction(1), Fraction(1), 1)
    dividing = Dividing(
        layout,
        LAPLACE,
        [one] * (1 + tables),
        random.uniform(5, 60, questions).tolist(),
        [NANO / 100] * (1 + tables),
    )
    yield from _timed(dividing.best)
    fit = Fit(layout, LAPLACE, (30.0,) * (1 + tables))

    def widths(steps: Steps) -> None:
        steps.take(layout.steps)
        fit.widths_of(range(questions), _MISS, steps)

    yield from _timed(widths)


def _timed(work: Callable[[Steps], object]) -> tuple[float, float]:
    looked_at, begun = LookedAt(), time.thread_time()
    work(Steps(looked_at))
    return time.thread_time() - begun, comparing(looked_at)


def _plans(sizes: tuple[int, ...]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        made = Installation(Path(folder)).create()
        made.load()
        made.analyst("ada", "plans")
        server = Server(made.settings)
        server.start()
        try:
            for size in sizes:
                yield _planned(server, size)
        finally:
            server.stop()
            server.services.databases.close()


def _planned(server: Server, size: int) -> str:
    looked_at, begun = LookedAt(), _cpu()
    caller = Caller("ada", "analyst")
    body = server.studies.plan(caller, "clinic", _slices(size), looked_at)
    taken, told = _cpu() - begun, json.loads(body)
    return (
        f"| {size} | {taken:.2f} s | {comparing(looked_at):.2f} s |"
        f" {len(told['parts'])} | {told['epsilon']} | {told['one_by_one']['epsilon']} |"
    )


def _slices(size: int) -> StudyRequest:
    """Return a table, and slices of it under wishes of their own."""
    table = "SELECT age, COUNT(*) AS n FROM visits GROUP BY age"
    rows = "SELECT COUNT(*) AS n FROM visits WHERE age BETWEEN {} AND {}"
    slices = [rows.format(n, n + n % 4) for n in range(20, 20 + 3 * (size - 1), 3)]
    asked = [(table, 150), *((sql, 300 + n % 7) for n, sql in enumerate(slices))]
    questions = [{"sql": sql, "accuracy": {"within": most}} for sql, most in asked]
    return read_study({"questions": questions})


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
