"""Are vectors of noise what they say? Fixed sizes and alpha; wrong scales must fail."""

import os
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from mechanisms.measuring.meter import Meter, Part
from mechanisms.samplers.binomial import binomial, fair_heads
from mechanisms.samplers.enclosures import Rational
from mechanisms.samplers.laplace import OpenDPSampler
from mechanisms.samplers.skips import skip
from mechanisms.samplers.vectors import OsVectorSampler
from privacy.charges import Charge
from privacy.counts import SparseCounts
from privacy.losses import Loss
from privacy.sealed import Exact
from tests.statistical.laws import (
    alike,
    cdf,
    counted,
    edges,
    fits,
    laplace_probabilities,
    tail,
)
from tests.support.noise.samplers import ScaledVectorSampler

pytestmark = pytest.mark.statistical

SAMPLER = OsVectorSampler()
DRAWS = 300_000
SCALES = [0.1, 0.5, 2.0, 10.000000000000002, 1000.0, 1e6, 2.0**40]


def looks_like(sampler, scale, law_scale=None):
    cuts = edges(law_scale or scale)
    drawn = sampler.discrete_laplace(DRAWS, Fraction(scale))
    return fits(counted(drawn, cuts), laplace_probabilities(law_scale or scale, cuts))


@pytest.mark.parametrize("scale", SCALES)
def test_vectors_of_noise_have_the_stated_distribution(scale):
    assert looks_like(SAMPLER, scale)


@pytest.mark.parametrize("factor", [0.5, 0.95, 1.05, 1.5])
@pytest.mark.parametrize("scale", [0.5, 10.000000000000002, 1e6])
def test_vectors_of_the_wrong_scale_are_found(factor, scale):
    assert not looks_like(ScaledVectorSampler(factor), scale)


def noise_of_opendp(size, scale):
    return np.array(OpenDPSampler().discrete_laplace([0] * size, scale))


@pytest.mark.sampled
@pytest.mark.parametrize("scale", [0.5, 10.000000000000002, 1000.0])
def test_vectors_of_noise_look_like_opendps(scale):
    theirs = counted(noise_of_opendp(30_000, scale), cuts := edges(scale))
    ours = counted(SAMPLER.discrete_laplace(DRAWS, Fraction(scale)), cuts)
    halved = counted(SAMPLER.discrete_laplace(DRAWS, Fraction(scale) / 2), cuts)
    assert alike(ours, theirs)
    assert not alike(halved, theirs)


@pytest.mark.parametrize("scale", [0.5, 1000.0])
def test_mean_and_variance_are_those_of_the_law(scale):
    drawn = SAMPLER.discrete_laplace(DRAWS, Fraction(scale)).astype(float)
    a = np.exp(-1 / scale)
    variance = 2 * a / (1 - a) ** 2
    assert abs(drawn.mean()) < 6 * (variance / DRAWS) ** 0.5
    fourth = (drawn**4).mean()
    assert abs((drawn**2).mean() - variance) < 6 * (fourth / DRAWS) ** 0.5


@pytest.mark.parametrize("lag", [1, 2, 2**16])
@pytest.mark.parametrize("scale", [2.0, 1000.0])
def test_the_noise_of_one_cell_tells_nothing_of_anothers(scale, lag):
    drawn = SAMPLER.discrete_laplace(DRAWS, Fraction(scale))
    cuts = edges(scale, bins=8)
    cells = np.searchsorted(cuts, drawn)
    pairs = cells[:-lag] * (len(cuts) + 1) + cells[lag:]
    pairs = pairs[:lag] if lag == 2**16 else pairs[:: 2 * lag]  # none share a cell
    probabilities = laplace_probabilities(scale, cuts)
    seen = np.bincount(pairs, minlength=len(probabilities) ** 2)
    assert fits(seen, np.outer(probabilities, probabilities).ravel())


def test_two_vectors_have_nothing_in_common():
    one, other = (SAMPLER.discrete_laplace(DRAWS, Fraction(1000)) for _ in range(2))
    correlation = np.corrcoef(one, other)[0, 1]
    assert abs(correlation) < 6 / DRAWS**0.5


def test_the_digits_of_a_draw_tell_nothing_of_one_another():
    drawn = SAMPLER.tail_geometric(DRAWS, Fraction(3000))
    ratio = np.exp(-1 / 3000)
    low, high = drawn & 255, np.minimum(drawn >> 8, 40)
    weights = ratio ** np.arange(256)
    per_low = (weights / weights.sum()).reshape(32, 8).sum(axis=1)
    per_high = (1 - ratio**256) * ratio ** (256 * np.arange(40))
    per_high = np.append(per_high, 1 - per_high.sum())
    seen = np.bincount((low // 8) * 41 + high, minlength=32 * 41)
    assert fits(seen, np.outer(per_low, per_high).ravel())


def test_what_lies_beyond_a_threshold_is_geometric():
    beyond = SAMPLER.tail_geometric(DRAWS, Fraction(4))
    kept = SAMPLER.discrete_laplace(8 * DRAWS, Fraction(4))
    kept = kept[kept >= 3] - 3
    limit = 60
    assert alike(
        np.bincount(np.minimum(beyond, limit), minlength=limit + 1),
        np.bincount(np.minimum(kept, limit), minlength=limit + 1),
    )


@pytest.mark.parametrize(
    "probability", [Fraction(1, 2), Fraction(1, 50), Fraction(9, 10)]
)
def test_each_set_of_cells_passes_as_often_as_if_each_were_tested(probability):
    blocks = 100_000
    passed = np.zeros(6 * blocks, dtype=np.int64)
    passed[skip(6 * blocks, Rational(probability), os.urandom)] = 1
    patterns = passed.reshape(-1, 6) @ (1 << np.arange(6))
    sizes = np.array([pattern.bit_count() for pattern in range(64)])
    share = float(probability)
    stated = share**sizes * (1 - share) ** (6 - sizes)
    assert fits(np.bincount(patterns, minlength=64), stated)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("trials", "probability", "draws"),
    [
        (7, Fraction(1, 3), 20_000),
        (1000, Fraction(1, 10**3), 10_000),
        (300_000, Fraction(2, 7), 300),
        pytest.param(10**12, Fraction(1, 10**6), 150, marks=pytest.mark.long),
    ],
)
def test_a_binomial_number_has_its_law(trials, probability, draws):
    drawn = [binomial(trials, Rational(probability), os.urandom) for _ in range(draws)]
    law = binom(trials, float(probability))
    cuts = np.unique(law.ppf(np.linspace(0.02, 0.98, min(15, draws // 30))))
    probabilities = np.diff(np.concatenate([[0.0], law.cdf(cuts), [1.0]]))
    assert fits(counted(drawn, cuts), probabilities)
    skewed = binom(trials, float(probability) * 0.8)
    wrong = np.diff(np.concatenate([[0.0], skewed.cdf(cuts), [1.0]]))
    assert not fits(counted(drawn, cuts), np.maximum(wrong, 1e-12))


def test_heads_of_many_coins_have_their_law():
    coins = 2**17 + 1
    drawn = [fair_heads(coins, os.urandom) for _ in range(800)]
    law = binom(coins, 0.5)
    cuts = np.unique(law.ppf(np.linspace(0.02, 0.98, 20)))
    probabilities = np.diff(np.concatenate([[0.0], law.cdf(cuts), [1.0]]))
    assert fits(counted(drawn, cuts), probabilities)
    wider = binom(int(coins * 1.4**2), 0.5)
    moved = wider.cdf(cuts + wider.mean() - law.mean())
    wrong = np.diff(np.concatenate([[0.0], moved, [1.0]]))
    assert not fits(counted(drawn, cuts), wrong)


def choices(sampler, draws=10_000):
    scores = np.array([0, 3, 3, 7, -40])
    chosen = [sampler.choose(scores, Fraction(4)) for _ in range(draws)]
    weights = np.exp(scores / 4)
    return np.bincount(chosen, minlength=5), weights / weights.sum()


def test_a_place_is_chosen_in_proportion_to_its_weight():
    assert fits(*choices(SAMPLER))


def test_choices_of_the_wrong_scale_are_found():
    assert not fits(*choices(ScaledVectorSampler(0.5)))


# Through the meter, as strategies draw.

ONE = Loss.parse("0.5")


def meter(sampler=SAMPLER):
    return Meter(Charge("r_test", ONE), [Part("all", ONE)], sampler)


COUNTS = np.array([0, 4, 0, 1, 9, 0])
THRESHOLD = 5
BLOCKS = 60_000


def measured_sparsely(counts=COUNTS, sampler=SAMPLER, *, keep_zeros=False):
    """Return each cell's noisy count, or 0 where it was not kept; a row a block."""
    everywhere = np.tile(counts, BLOCKS)
    cells = np.arange(len(everywhere)) if keep_zeros else np.flatnonzero(everywhere)
    sealed = Exact(SparseCounts(cells, everywhere[cells]))
    noisy = meter(sampler).sparse_counts("all", sealed, len(everywhere), 1, THRESHOLD)
    assert (np.diff(noisy.cells) > 0).all()
    assert (noisy.values >= THRESHOLD).all()
    full = np.zeros(len(everywhere), dtype=np.int64)
    full[noisy.cells] = noisy.values
    return full.reshape(BLOCKS, -1), noisy


def measured_densely(counts=COUNTS):
    noisy = meter().counts("all", Exact(np.tile(counts, BLOCKS)), 1).values
    return np.where(noisy >= THRESHOLD, noisy, 0).reshape(BLOCKS, -1)


def set_counts(rows):
    return np.bincount((rows > 0) @ (1 << np.arange(rows.shape[1])), minlength=64)


def set_probabilities(scale):
    passes = tail(scale, THRESHOLD - COUNTS)
    return [
        np.prod([p if kept >> i & 1 else 1 - p for i, p in enumerate(passes)])
        for kept in range(64)
    ]


def test_each_set_of_cells_is_kept_as_often_as_if_all_had_got_noise():
    sparsely, noisy = measured_sparsely()
    assert fits(set_counts(sparsely), set_probabilities(noisy.scale))
    assert alike(set_counts(sparsely), set_counts(measured_densely()))


def test_sparse_counts_of_the_wrong_scale_are_found():
    sparsely, noisy = measured_sparsely(sampler=ScaledVectorSampler(0.5))
    assert not fits(set_counts(sparsely), set_probabilities(noisy.scale))


@pytest.mark.parametrize("cell", range(6))
def test_each_kept_count_is_distributed_as_if_all_had_got_noise(cell):
    sparsely, noisy = measured_sparsely()
    cuts = np.arange(THRESHOLD - 1, THRESHOLD + 12)
    probabilities = np.diff(
        np.concatenate([[0.0], cdf(noisy.scale, cuts - COUNTS[cell]), [1.0]])
    )
    kept = sparsely[:, cell]
    assert fits(counted(np.where(kept > 0, kept, -1), cuts), probabilities)


def test_nothing_tells_a_sampled_cell_from_one_that_was_measured_at_zero():
    sampled, of_sampled = measured_sparsely(np.zeros(6, dtype=np.int64))
    measured, of_real = measured_sparsely(np.zeros(6, dtype=np.int64), keep_zeros=True)
    cuts = np.arange(THRESHOLD, THRESHOLD + 12)
    assert alike(
        counted(sampled[sampled > 0], cuts), counted(measured[measured > 0], cuts)
    )
    assert alike(set_counts(sampled), set_counts(measured))
    for one, other in (
        (of_sampled.cells, of_real.cells),
        (of_sampled.values, of_real.values),
    ):
        assert one.dtype == other.dtype
        assert one.strides == other.strides
        assert one.flags.c_contiguous
        assert other.flags.c_contiguous
    gaps = [np.minimum(np.diff(noisy.cells), 60) for noisy in (of_sampled, of_real)]
    assert alike(*(np.bincount(gap, minlength=61) for gap in gaps))


def test_a_halved_scale_is_found_through_the_meter():
    zeros = Exact(np.zeros(DRAWS, dtype=np.int64))
    honest, halved = (
        meter(sampler).counts("all", zeros, 1)
        for sampler in (SAMPLER, ScaledVectorSampler(0.5))
    )
    cuts = edges(honest.scale)
    probabilities = laplace_probabilities(honest.scale, cuts)
    assert fits(counted(honest.values, cuts), probabilities)
    assert not fits(counted(halved.values, cuts), probabilities)


@pytest.mark.parametrize(("count", "depth"), [(0, 0), (9, 2), (40, 3), (200, 1)])
def test_nodes_are_cut_as_often_as_the_proof_says(count, depth):
    tests = meter().biased_tests("all", 2, 1)
    nodes = 50_000
    cuts = tests.cuts(Exact(np.full(nodes, count)), np.full(nodes, depth))
    biased = max(count - depth * tests.delta, -tests.delta)
    probability = float(tail(tests.scale, 1 - biased))
    spread = (nodes * probability * (1 - probability)) ** 0.5
    assert abs(cuts.sum() - nodes * probability) < 6 * spread + 1
