import numpy as np
import pytest

from release.contract.errors import ReleaseRefusedError
from release.contract.models import Roll
from release.cubes.strategies.registry import STRATEGIES
from release.cubes.strategies.trees.pthb import Pthb
from tests.support.noise.meters import cube_of, domain_of, epsilon, run
from tests.support.noise.samplers import ZeroVectorSampler

SPIKE = np.zeros(4_096, dtype=int)
SPIKE[1_234] = 5_000


def test_without_noise_a_spike_is_cut_out_and_its_size_is_exact():
    model, _ = run(Pthb(), cube_of(SPIKE), epsilon("1"), sampler=ZeroVectorSampler())
    assert np.allclose(model.estimates(), SPIKE)
    assert len(model.buckets) < 40


@pytest.mark.statistical
def test_sums_of_buckets_are_unbiased_before_the_view():
    cube, errors, deviations = cube_of(SPIKE), [], []
    for seed in range(100):
        model, _ = run(Pthb(), cube, epsilon("0.5"), seed=seed)
        errors.append(model._straight.sum() - 5_000)
        deviations.append(np.sqrt(model._combined.variances[0].sum()))
    assert abs(np.mean(errors)) < 5 * np.mean(deviations) / np.sqrt(100)


def test_the_layout_sums_far_away_buckets_in_few_nodes():
    model, _ = run(Pthb(), cube_of(SPIKE), epsilon("1"), seed=1)
    assert len(model.scales) == 2
    assert len(model.values[0]) < len(model.values[1])
    assert 1 / model.scales[0] + 1 / model.scales[1] == pytest.approx(0.9)


def test_other_domains_and_fanouts_are_refused():
    for domain, parameters in [
        (domain_of(3, 3), {}),
        (domain_of(9), {"fanout": 1}),
        (domain_of(9), {"partition_share": "1"}),
        (domain_of(9), {"fan": 3}),
        (domain_of(9, bound=2**40), {}),
    ]:
        with pytest.raises(ReleaseRefusedError):
            Pthb().parts(domain, epsilon("0.001"), parameters)


def in_one_piece_and_scattered(model, codes, count):
    """The same question by ranges, and with a mask that is true everywhere."""
    everywhere = np.ones(len(codes), dtype=bool)
    ranges = model.roll(Roll((codes,), (count,)))
    return ranges, model.roll(Roll((codes,), (count,), everywhere))


@pytest.mark.parametrize("strategy", ["pthb", "hb", "dawa"])
def test_ranges_are_answered_as_any_set_of_cells_is(strategy):
    image = np.random.default_rng(7).poisson(3, 700) * (np.arange(700) % 90 < 20)
    model, _ = run(STRATEGIES[strategy], cube_of(image), epsilon("0.6"), seed=2)
    generator = np.random.default_rng(3)
    questions = [np.arange(700) // 50, np.zeros(700, dtype=int), np.arange(700)[::-1]]
    for _ in range(40):
        first, last = sorted(generator.integers(0, 701, 2))
        question = np.full(700, -1)
        question[first:last] = 0
        questions.append(question)
    for codes in questions:
        count = int(max(codes.max(), 0)) + 1
        one, other = in_one_piece_and_scattered(model, codes, count)
        assert np.allclose(one.values, other.values)
        assert np.allclose(one.variances, other.variances)
        assert np.allclose(one.half_widths, other.half_widths)
