import numpy as np
import pytest

from privacy.counts import SparseCounts
from privacy.sealed import Exact
from release.contract.errors import ReleaseRefusedError
from release.contract.models import Roll
from release.contract.sealed_cube import SealedCube
from release.cubes.models.registry import MODELS
from release.cubes.questions.answering import WHOLE_KINDS
from release.cubes.questions.evaluating.measuring import INDEPENDENT_KINDS
from release.cubes.strategies.sparse_cells import SparseCells, threshold
from tests.support.noise.meters import cube_of, domain_of, epsilon, run
from tests.support.noise.samplers import ZeroVectorSampler

HUGE = (1_000, 1_000, 1_000, 1_000)


def huge_cube(rows):
    cells, counts = np.unique(rows, return_counts=True)
    return SealedCube(domain_of(*HUGE), Exact(SparseCounts(cells, counts)))


def test_without_noise_cells_at_the_threshold_are_exact_and_others_nothing():
    image = np.array([[0, 400] + [0] * 999, [1, 399] + [0] * 999])
    model, _ = run(
        SparseCells(), cube_of(image), epsilon("1"), sampler=ZeroVectorSampler()
    )
    assert model.cells.tolist() == [1, 1_002]
    assert model.estimates().sum() == 799


def test_a_million_million_cells_are_kept_and_asked_in_time_with_the_rows():
    rows = np.random.default_rng(2).integers(0, 10**12, 2_000).repeat(60)
    cube = huge_cube(rows)
    model, _ = run(SparseCells(), cube, epsilon("1"), sampler=None, seed=1)
    assert 1_900 < len(model.cells) < 2_100
    whole = Roll(tuple(np.zeros(1_000, dtype=int) for _ in HUGE), (1,) * 4)
    answer = model.roll(whole)
    assert abs(answer.values[0] - 120_000) <= answer.half_widths[0]
    assert answer.half_widths[0] < 6_000
    with pytest.raises(ValueError, match="1000000000000"):
        model.estimates()


def test_the_threshold_lets_as_many_empty_cells_pass_as_was_asked():
    domain = domain_of(*HUGE)
    for false in (1, 10, 1_000):
        for scale in (0.5, 10.0, 200.0):
            least = threshold(domain, scale, {"false_cells": false})
            a = np.exp(-1 / scale)
            assert domain.size * a**least / (1 + a) <= false * 1.000001
            assert domain.size * a ** (least - 1) / (1 + a) > false * 0.999999


@pytest.mark.statistical
def test_intervals_hold_what_was_left_out():
    """Many cells below the threshold, some near it, some above."""
    image = np.zeros((40, 500), dtype=int)
    image[:, :5], image[:, 5:8], image[:, 8:10] = 3, 60, 200
    by_row = Roll((np.arange(40), np.zeros(500, dtype=int)), (40, 1))
    inside = []
    for seed in range(200):
        model, _ = run(SparseCells(), cube_of(image), epsilon("0.1"), seed=seed)
        answer = model.roll(by_row)
        inside.append(abs(answer.values - 595) <= answer.half_widths)
    assert np.mean(inside) > 0.95


@pytest.mark.statistical
def test_intervals_hold_single_low_cells_though_empty_ones_pass():
    """False cells add to the kept sum: what is missing must not shrink by them."""
    cells = np.arange(5) * 200_001
    cube = SealedCube(
        domain_of(1_000, 1_000), Exact(SparseCounts(cells, cells * 0 + 8))
    )
    ones = Roll((np.full(1_000, -1), np.arange(1_000)), (1, 1_000))
    inside = []
    for seed in range(100):
        model, _ = run(SparseCells(), cube, epsilon("1"), seed=seed)
        for cell in cells.tolist():
            row = np.full(1_000, -1)
            row[cell // 1_000] = 0
            found = model.roll(Roll((row, ones.codes[1]), ones.groups))
            place = cell % 1_000
            inside.append(abs(found.values[place] - 8) <= found.half_widths[place])
    assert np.mean(inside) > 0.9


def test_domains_and_parameters_off_the_range_are_refused():
    for domain, parameters in [
        (domain_of(*HUGE, 2), {}),
        (domain_of(9), {"false_cells": 0}),
        (domain_of(9), {"total_share": "0"}),
        (domain_of(9), {"threshold": 3}),
    ]:
        with pytest.raises(ReleaseRefusedError):
            SparseCells().parts(domain, epsilon("1"), parameters)


def test_models_that_questions_treat_apart_are_called_by_their_names():
    model, _ = run(SparseCells(), cube_of(np.eye(4, dtype=int)), epsilon("1"))
    assert model.kind in WHOLE_KINDS
    assert set(MODELS) >= WHOLE_KINDS | INDEPENDENT_KINDS
