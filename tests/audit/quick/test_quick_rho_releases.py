"""A release that is paid in rho shows the rho that was charged, and no more.

Whole releases of `cells`, by the real strategy, meter and sampler: each block of cells
has a patient of its own in one arm, who is in as many cells as the bound lets one be.
At most the charge, and at least 0.7 of it, by bounds that are wrong with probability
1e-6 (``test_quick_gaussian`` computes how often a verdict is wrong).
"""

import numpy as np
import pytest

from mechanisms.samplers.vectors import OsVectorSampler
from mechanisms.scales.noises import GAUSSIAN
from privacy.losses import Loss
from release.cubes.strategies.registry import RHO_STRATEGIES
from tests.audit.instruments.bounds import VERDICT_ALPHA
from tests.audit.instruments.concentrated import Statistic, rho_lower_bound
from tests.support.noise.meters import cube_of, run
from tests.support.noise.samplers import ScaledVectorSampler

pytestmark = [pytest.mark.slow, pytest.mark.statistical]

CELLS, LEAST = 1_000_000, 0.7
PAID = Loss.parse("0.5")
PATIENTS = [
    pytest.param((1, 1, 1, 1), 1, id="in-four-cells-once"),
    pytest.param((3,), None, id="three-rows-in-one-cell"),
]


def bound(moves, in_cell, sampler):
    blocks = CELLS // len(moves)
    arms = []
    for exact in (moves, (0,) * len(moves)):
        cube = cube_of(np.array(exact * blocks), sum(moves), in_cell)
        model, _ = run(
            RHO_STRATEGIES["cells"], cube, PAID, sampler=sampler, kind=GAUSSIAN
        )
        statistic = Statistic(moves, model.scale)
        arms.append(statistic.of(np.reshape(model.values, (blocks, len(moves)))))
    return rho_lower_bound(*arms, VERDICT_ALPHA)


@pytest.mark.parametrize(("moves", "in_cell"), PATIENTS)
def test_cells_show_the_rho_that_was_charged(moves, in_cell, report):
    shown, claim = bound(moves, in_cell, OsVectorSampler()), float(PAID.epsilon)
    report(f"cells, moves {moves}: rho {shown:.4f} of {claim}")
    assert LEAST * claim <= shown <= claim


@pytest.mark.parametrize("factor", ["0.5", "1.5"])
@pytest.mark.parametrize(("moves", "in_cell"), PATIENTS)
def test_cells_with_noise_of_a_wrong_scale_are_caught(moves, in_cell, factor, report):
    shown, claim = (
        bound(moves, in_cell, ScaledVectorSampler(factor)),
        float(PAID.epsilon),
    )
    report(f"cells, moves {moves}, noise x {factor}: rho {shown:.4f}: must fail")
    assert shown > claim if float(factor) < 1 else shown < LEAST * claim
