"""Of every strategy: exact sums without noise, signed errors that cancel with it."""

import numpy as np
import pytest

from release.cubes.strategies.registry import STRATEGIES
from tests.audit.instruments.measurements import measured_by
from tests.audit.quick.test_quick_replays import CASES, LINE
from tests.audit.subjects.releases import measure
from tests.support.noise.meters import SeededSampler, cube_of
from tests.support.noise.samplers import ZeroVectorSampler

RUNS = 2_000
SMALL = np.array([[0, 0, 9, 9], [60, 3, 0, 1]])
SHOWN_ELSEWHERE = {"hb", "pthb", "dpcube", "agrid", "privtree", "marginals"}


@pytest.mark.parametrize(("strategy", "shape"), CASES)
def test_without_noise_every_published_sum_is_exact(strategy, shape):
    image = LINE.reshape(shape)
    model = measure(strategy, cube_of(image), "2", sampler=ZeroVectorSampler())
    levels = measured_by(model)
    assert levels
    for level in levels:
        noise = level.noise(image)
        if strategy == "sparse_cells":
            noise = noise[model.cells]
        assert not noise.any(), level.name


@pytest.mark.parametrize("strategy", ["sparse_cells", "auto"])
def test_without_noise_the_published_total_is_exact(strategy):
    model = measure(strategy, cube_of(LINE), "2", sampler=ZeroVectorSampler())
    total = model.total if strategy == "sparse_cells" else model.noisy_total
    assert total == LINE.sum()


def errors_of(strategy, model):
    """Return signed errors of what is published as drawn."""
    if strategy == "sparse_cells":  # of the cells, those are kept that came out high
        return [model.total - SMALL.sum()]
    return [level.noise(SMALL).sum() for level in measured_by(model)]


@pytest.mark.sampled
@pytest.mark.statistical
@pytest.mark.parametrize("strategy", sorted(set(STRATEGIES) - SHOWN_ELSEWHERE))
def test_signed_errors_of_two_thousand_runs_cancel(strategy):
    """Those of other strategies are looked at in tests/unit/release."""
    sampler, cube = SeededSampler(seed=5), cube_of(SMALL)
    runs = [
        sum(errors_of(strategy, measure(strategy, cube, "1", sampler=sampler)))
        for _ in range(RUNS)
    ]
    assert abs(np.mean(runs)) < 5.5 * np.std(runs) / np.sqrt(RUNS)
    assert np.std(runs) > 0.5
