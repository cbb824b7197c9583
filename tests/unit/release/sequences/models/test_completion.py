"""The parts that complete a tree: posteriors, shares, chains, sums of runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from release.sequences.estimation.consistency import (
    Hidden,
    NoisyLevel,
    share_out,
    upward,
)
from release.sequences.estimation.grams import GramSums
from release.sequences.estimation.markov import Chain, order_for, smoothed
from release.sequences.estimation.posterior import (
    MIXTURE,
    Unseen,
    kept_surplus,
    seen,
)

COUNTS = (np.arange(400_000) + 0.5) / 100
"""Where integrals are taken by hand."""


def prior(expected):
    return sum(
        weight / (expected * factor) * np.exp(-COUNTS / (expected * factor))
        for weight, factor in MIXTURE
    )


@pytest.mark.parametrize("value", [1.0, 30.0, 400.0])
@pytest.mark.parametrize("expected", [0.5, 10.0, 12.0, 200.0])
def test_what_is_likely_of_a_noisy_count_is_its_posterior_mean(value, expected):
    law = prior(expected) * np.exp(-abs(COUNTS - value) / 10)
    mean = (COUNTS * law).sum() / law.sum()
    spread = (COUNTS**2 * law).sum() / law.sum() - mean**2
    told = seen(*(np.array([number]) for number in (value, expected, 10.0)))
    assert told.means[0] == pytest.approx(mean, rel=0.01, abs=0.01)
    assert told.variances[0] == pytest.approx(min(spread, 200), rel=0.03, abs=0.1)


@pytest.mark.parametrize("factor", [0.99999, 1.0, 1.0001])
def test_priors_as_steep_as_the_noise_are_no_exception(factor):
    """A prior of nearly the noise's rate: formulas divide by what is apart."""
    expected = 10.0 / MIXTURE[0][1] * factor
    law = prior(expected) * np.exp(-abs(COUNTS - 60) / 10)
    mean = (COUNTS * law).sum() / law.sum()
    told = seen(*(np.array([number]) for number in (60.0, expected, 10.0)))
    assert told.means[0] == pytest.approx(mean, rel=0.01)


def test_a_part_of_a_whole_may_be_any_whatever_was_expected():
    """A count far above what was expected is believed where the whole allows it."""
    told = [
        float(seen(*(np.array([n]) for n in (80.0, 0.01, 10.0, *whole))).means[0])
        for whole in ((), (400.0,))
    ]
    assert told[0] < 10
    assert told[1] > 55


@pytest.mark.parametrize("expected", [0.5, 10.0, 200.0])
def test_what_is_likely_of_a_count_below_the_threshold_is_its_posterior_mean(expected):
    tails = 0.5 * np.exp(-abs(28 - COUNTS) / 10)
    law = prior(expected) * np.where(COUNTS > 28, tails, 1 - tails)
    mean = (COUNTS * law).sum() / law.sum()
    told = Unseen.of(28, 10.0).likely(np.array([expected]))
    assert told.means[0] == pytest.approx(mean, rel=0.03)


def test_extreme_counts_and_scales_have_finite_likely_values():
    values = np.array([1.0, 1e9, 1e18, 3.0, 1.0])
    expected = np.array([0.0, 1e-9, 1e18, 1e12, 5.0])
    scales = np.array([1e-9, 1e-3, 1e12, 1e-9, 1e12])
    told = seen(values, expected, scales)
    assert np.isfinite(told.means).all()
    assert np.isfinite(told.variances).all()
    table = Unseen.of(10**6, 1e-9).likely(expected)
    assert np.isfinite(table.means).all()


@given(
    st.lists(
        st.lists(st.floats(0, 1e6), min_size=3, max_size=3), min_size=1, max_size=5
    ),
    st.integers(0, 1_000),
)
def test_shares_are_not_negative_and_sum_to_the_total(rows, seed):
    estimates = np.array(rows)
    dice = np.random.default_rng(seed)
    totals = dice.choice([0.0, 1e-3, 5.0, 1e7], len(rows))
    counts = share_out(estimates, dice.random(estimates.shape) * 9, totals)
    assert (counts >= 0).all()
    assert counts.sum(axis=1) == pytest.approx(totals, rel=1e-9, abs=1e-9)


def test_the_surer_child_moves_less():
    counts = share_out(np.array([[10.0, 10.0]]), np.array([[1.0, 3.0]]), np.array([24]))
    assert counts[0] == pytest.approx([11, 13])


@pytest.mark.parametrize("count", [0.0, 12.0, 18.0, 40.0])
def test_cells_are_kept_above_the_threshold_by_as_much_as_their_count_says(count):
    noise = (np.arange(-200_000, 200_000) + 0.5) / 1_000
    law = np.exp(-abs(noise) / 6)
    kept = np.where(count + noise >= 18, count + noise - 18 + 6, 0.0)
    mean = (kept * law).sum() / law.sum()
    assert kept_surplus(np.array([count]), 18, 6.0)[0] == pytest.approx(mean, rel=1e-3)


def _alike(missing, groups):
    """Return counts of nodes whose children say so much less; half-known, all alike."""
    size = len(missing)
    level = NoisyLevel(np.array(groups), np.full(size, 40.0), np.full(size, 80.0))
    nothing = np.zeros(0, dtype=np.int64)
    below = NoisyLevel(nothing, np.zeros(0), np.zeros(0))
    hidden = Hidden(np.arange(size), 40.0 - np.array(missing), np.full(size, 100.0))
    return upward([level, below], [hidden])[0]


def test_what_all_nodes_of_a_group_miss_alike_is_taken_off_the_chain():
    """Twenty nodes that each lose 20: the chain is off, not twenty draws."""
    alike = _alike([20.0] * 20, [0] * 20)
    assert 40 * 20 - alike.values.sum() < 20
    apart = _alike([20.0, -20.0] * 10, [0] * 20)
    moved = 20 * 80 / (80 + 80 + 100)
    assert apart.values == pytest.approx([40 - moved * 1.3, 40 + moved * 1.3] * 10, 0.2)


def test_what_one_group_misses_alike_says_nothing_of_another():
    both = _alike([20.0] * 20 + [0.0] * 20, [0] * 20 + [1] * 20)
    assert both.values[20:] == pytest.approx(40.0)
    alone = _alike([20.0] * 20, [0] * 20)
    assert both.values[:20] == pytest.approx(alone.values)


def test_nodes_joined_with_what_errs_alike_are_as_sure_as_their_sum_says():
    """Errors by simulation: of each node, and of all nodes of a group together."""
    dice, size, rounds = np.random.default_rng(7), 12, 4_000
    errors = np.zeros((rounds, size))
    for number in range(rounds):
        alike = 10 * (dice.normal(size=size) + dice.normal())
        drawn = dice.normal(0, np.sqrt(80), size)
        level = NoisyLevel(np.zeros(size, dtype=int), drawn, np.full(size, 80.0))
        below = NoisyLevel(np.zeros(0, dtype=int), np.zeros(0), np.zeros(0))
        hidden = Hidden(np.arange(size), alike, np.full(size, 100.0))
        (joined, _) = upward([level, below], [hidden])
        errors[number] = joined.values
    of_sum = joined.variances.sum() + np.square(joined.leaning.sum())
    assert errors.var(axis=0) == pytest.approx(joined.errors, rel=0.15)
    assert errors.sum(axis=1).var() == pytest.approx(of_sum, rel=0.15)


def test_a_chain_goes_on_by_its_probabilities_and_who_ends_is_gone():
    probabilities = np.array([[0.5, 0.2, 0.3], [0.1, 0.6, 0.3], [0.4, 0.4, 0.2]])
    flow = Chain(1, probabilities).onward(np.array([10.0, 0.0, 6.0]))
    assert flow == pytest.approx([10 * 0.5 + 6 * 0.4, 10 * 0.2 + 6 * 0.4, 0.0])


def test_little_seen_memories_are_drawn_towards_shorter_ones():
    counts = np.zeros((3, 3))
    counts[0], counts[1] = [90, 0, 10], [0, 0, 0]
    chain = smoothed(1, counts, 10.0)
    assert chain.probabilities[0, 0] == pytest.approx(
        (90 + 10 * (90 + 10 / 3) / 110) / 110
    )
    assert chain.probabilities[1] == pytest.approx(
        [(90 + 10 / 3) / 110, (10 / 3) / 110, (10 + 10 / 3) / 110]
    )


def test_larger_alphabets_have_shorter_memories():
    assert [order_for(symbols) for symbols in (2, 17, 1_000, 10_000)] == [2, 2, 1, 0]


def test_runs_are_summed_over_nodes_that_end_so():
    # paths: (), 0, 1, 00, 01, 000
    grams = GramSums(
        parents=np.array([-1, 0, 0, 1, 1, 3]),
        symbols=np.array([-1, 0, 1, 0, 1, 0]),
        depths=np.array([0, 1, 1, 2, 2, 3]),
        base=3,
        values=np.array([[9.0, 6, 3, 4, 2, 1]]),
    )
    assert grams.sums(np.array([[0], [1], [2]]))[-1].tolist() == [[11.0, 5.0, 0.0]]
    assert grams.sums(np.array([[0, 0], [0, 1], [1, 0]]))[-1].tolist() == [
        [5.0, 2.0, 0.0]
    ]
    assert grams.sums(np.array([[0, 0, 0, 0]]))[:, 0, 0].tolist() == [11, 5, 1, 0]
