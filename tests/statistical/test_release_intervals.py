"""Intervals of answers over releases hold the truth as often as they say.

The noise is the real one, drawn through a meter. A test fails by chance less than once
in a million runs: of n intervals that hold with probability p, five standard
deviations fewer than n p may hold.
"""

from datetime import date
from math import sqrt

import numpy as np
import pytest

from mechanisms.samplers.vectors import OsVectorSampler
from query_lang.reading.parse import parse_query
from release.cubes.questions.answering import AskedCube
from release.cubes.questions.binding.cube import PublishedCube
from release.cubes.strategies.registry import STRATEGIES
from tests.effort import gate_first
from tests.support.noise.meters import cube_of, epsilon, run

pytestmark = pytest.mark.thorough

SHAPE = (40, 12)
RUNS = 40
TRUTH = np.random.default_rng(8).poisson(12, SHAPE)


def measured(strategy):
    """Return a cube, and what a strategy makes of the truth."""
    cube = cube_of(TRUTH)
    loss = epsilon("0.8")
    model, _ = run(STRATEGIES[strategy], cube, loss, sampler=OsVectorSampler())
    published = PublishedCube(
        "r", "cube", cube.domain, "rows", "patient", "patient_id", date(2024, 1, 1)
    )
    return AskedCube(published, model)


def coverage(strategy, sql, exact, confidence="0.95"):
    """Return how many intervals there were, and how many held the exact value."""
    held = total = 0
    for _ in range(RUNS):
        asked = measured(strategy)
        answer = asked.ask(parse_query(sql), confidence)
        asked.close()
        ends = answer.intervals[0].rows
        for (low, high), value in zip(ends, exact, strict=True):
            held += float(low) <= value <= float(high)
            total += 1
    return total, held


def require(total, held, confidence):
    sure = float(confidence)
    assert held >= total * sure - 5 * sqrt(total * sure * (1 - sure))


@pytest.mark.parametrize("confidence", gate_first(1, ["0.95", "0.5", "0.99"]))
def test_counts_of_cells_hold(confidence):
    sql = "SELECT d1, COUNT(*) FROM cube WHERE d0 < 7 GROUP BY d1"

    require(*coverage("cells", sql, TRUTH[:7].sum(axis=0), confidence), confidence)


def test_single_cells_hold_as_often_as_said_and_not_always():
    sql = "SELECT d0, COUNT(*) FROM cube WHERE d1 = 3 GROUP BY d0"

    total, held = coverage("cells", sql, TRUTH[:, 3])

    require(total, held, "0.95")
    assert held < total * 0.985  # one draw is exact: wider would be a fault


@pytest.mark.parametrize("confidence", gate_first(1, ["0.5", "0.95", "0.99"]))
def test_shares_hold(confidence):
    sql = (
        "SELECT d1, AVG(CASE WHEN d0 < 15 THEN 1 ELSE 0 END) AS p FROM cube GROUP BY d1"
    )
    exact = TRUTH[:15].sum(axis=0) / TRUTH.sum(axis=0)

    require(*coverage("cells", sql, exact, confidence), confidence)


def test_averages_and_sums_hold():
    numbers = np.arange(SHAPE[0])
    sums = numbers @ TRUTH

    require(
        *coverage("cells", "SELECT d1, SUM(d0) FROM cube GROUP BY d1", sums), "0.95"
    )
    averages = sums / TRUTH.sum(axis=0)
    require(
        *coverage("cells", "SELECT d1, AVG(d0) FROM cube GROUP BY d1", averages), "0.95"
    )


@pytest.mark.parametrize("strategy", ["hb", "sparse_cells"])
def test_counts_of_other_strategies_hold(strategy):
    sql = "SELECT COUNT(*) FROM cube WHERE d0 BETWEEN 3 AND 22"

    require(*coverage(strategy, sql, [TRUTH[3:23].sum()]), "0.95")
