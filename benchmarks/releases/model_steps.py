"""What steps of questions to releases take by the clock, of every strategy's model.

    python -m benchmarks.releases.model_steps --strategies hb,dpcube --runs 3

As ``benchmarks.releases.steps``, over models that a strategy made of heavy-tailed
counts with seeded noise: lines of 8,000, planes of 400 x 400, cubes of 60 x 60 x 60.
None may take more than one nanosecond a step; a question that is refused for its steps
says so.
"""

import argparse
import sys
import time
from datetime import date

import numpy as np

from privacy.errors import SqlNotAllowedError
from query_lang.reading.parse import parse_query
from release.contract.errors import ReleaseRefusedError
from release.cubes.questions import answering
from release.cubes.questions.answering import AskedCube
from release.cubes.questions.binding.cube import PublishedCube
from release.cubes.questions.evaluating.effort import Effort
from release.cubes.strategies.registry import STRATEGIES
from tests.support.noise.meters import cube_of, epsilon, run

_SET = ", ".join(str(n) for n in range(1, 399, 2))
_EITHER = "WHERE d0 < 3 OR d1 < 9"
SHAPES = {"line": (8_000,), "plane": (400, 400), "cube": (60, 60, 60)}
QUESTIONS = {
    "line": (
        "SELECT d0, COUNT(*) AS n FROM cube GROUP BY d0",
        "SELECT AVG(d0) AS n FROM cube",
        "SELECT SUM(d0) AS n FROM cube WHERE d0 < 900",
        f"SELECT COUNT(*) AS n FROM cube WHERE d0 IN ({_SET})",
    ),
    "plane": (
        "SELECT COUNT(*) AS n FROM cube",
        "SELECT d0, COUNT(*) AS n FROM cube GROUP BY d0",
        f"SELECT COUNT(*) AS n FROM cube WHERE d0 IN ({_SET}) AND d1 IN ({_SET})",
        "SELECT d0, SUM(d1) AS n FROM cube GROUP BY d0",
        "SELECT d0, AVG(d1) AS n FROM cube GROUP BY d0",
        "SELECT AVG(d1) AS n FROM cube WHERE d0 > 3",
        f"SELECT d0, COUNT(*) AS n FROM cube {_EITHER} GROUP BY d0",
    ),
    "cube": (
        "SELECT d0, d1, COUNT(*) AS n FROM cube GROUP BY d0, d1",
        "SELECT d2, AVG(d1) AS n FROM cube GROUP BY d2",
        "SELECT d0, SUM(d1) AS n FROM cube GROUP BY d0",
        f"SELECT d0, COUNT(*) AS n FROM cube {_EITHER} GROUP BY d0",
    ),
}


def made(strategy, shape, parameters):
    """Return a release's public facts and model; None where the shape does not fit."""
    weights = np.random.default_rng(1).pareto(0.8, SHAPES[shape])
    cube = cube_of(np.minimum(weights, 5_000).astype(np.int64))
    try:
        model, _ = run(STRATEGIES[strategy], cube, epsilon("1"), parameters)
    except ReleaseRefusedError:
        return None
    facts = "rows", "patient", "patient_id", date(2024, 1, 1)
    return PublishedCube("rel_1", "cube", cube.domain, *facts), model


class Counting(Effort):
    """Steps of a question, all of them."""

    most = 0

    def check_further(self, steps):
        """Remember the most steps that any question has taken, then check as ever."""
        Counting.most = max(Counting.most, self.spent + steps)
        super().check_further(steps)


def taken(asked, tree):
    """Return the nanoseconds of one thread; None where there are too many steps."""
    begun = time.thread_time_ns()
    try:
        asked.ask(tree)
    except SqlNotAllowedError as refused:
        if refused.rule != "too_long":
            raise
        return None
    return time.thread_time_ns() - begun


def lines(strategies, runs):
    """Yield a row of the table for each strategy, shape and question."""
    for strategy in strategies:
        parameters = {"rounds": 1} if strategy == "marginals" else {}
        for shape, questions in QUESTIONS.items():
            release = made(strategy, shape, parameters)
            for sql in questions if release else ():
                Counting.most = 0
                found = []
                for _ in range(runs):
                    asked = AskedCube(*release)
                    found.append(taken(asked, parse_query(sql)))
                    asked.close()
                told = f"| {strategy}, {shape} | `{sql[:60]}` | {Counting.most:,} |"
                if None in found:
                    yield f"{told} refused | |"
                else:
                    least = min(found)
                    yield f"{told} {least / 1e6:,.0f} | {least / Counting.most:.2f} |"


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    listed = {"type": lambda text: text.split(",")}
    every = [name for name in sorted(STRATEGIES) if name != "auto"]
    parser.add_argument("--strategies", default=every, **listed)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    answering.Effort = Counting
    sys.stdout.write("| model | question | steps | ms | ns a step |\n")
    sys.stdout.write("|---|---|---|---|---|\n")
    for line in lines(asked.strategies, asked.runs):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
