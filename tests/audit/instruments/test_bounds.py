import math

import numpy as np
import pytest

from tests.audit.instruments.bounds import (
    Hits,
    NoiseBins,
    area_under_curve,
    below,
    game_bound,
    game_p_value,
    noise_p_value,
    probability_of_bound_above,
    quantile,
    threshold_event,
)


def test_a_deterministic_leak_at_100_an_arm_bounds_the_loss_from_below():
    # notes: 2.54 for a single pair of bounds at 0.001; here four directions share it
    assert 2.3 < Hits(100, 0, 100).lower_bound(1e-3) < 2.6


def test_the_bound_does_not_depend_on_which_arm_or_side_shows_the_event():
    bounds = {
        round(hits.lower_bound(1e-3), 12)
        for hits in (
            Hits(70, 30, 100),
            Hits(30, 70, 100),
        )
    }

    assert len(bounds) == 1
    assert Hits(5, 50, 100).lower_bound(1e-3) == pytest.approx(
        Hits(95, 50, 100).lower_bound(1e-3)
    )


def test_equal_arms_show_nothing():
    assert Hits(50, 50, 100).lower_bound(1e-3) == 0


def test_the_threshold_event_shows_the_whole_loss():
    event = threshold_event(shift=2, scale=2)
    spread = threshold_event(shift=1, scale=2, cells=2)

    assert math.log(event.present / event.absent) == pytest.approx(1)
    assert math.log(spread.present / spread.absent) == pytest.approx(1)


def test_the_bound_of_a_correct_server_exceeds_its_loss_less_often_than_alpha():
    event = threshold_event(shift=1, scale=1)

    assert probability_of_bound_above(event, 2_000, 1.0, alpha=1e-2) < 1e-2


def test_the_probability_of_a_verdict_falls_with_the_level():
    event = threshold_event(shift=1, scale=1)

    probabilities = [
        probability_of_bound_above(event, 500, level) for level in (0.2, 0.6, 1.0)
    ]

    assert probabilities == sorted(probabilities, reverse=True)
    assert probabilities[0] > 0.99


def test_the_area_counts_wins_and_half_of_the_ties():
    assert area_under_curve([2, 2, 4], [1, 2, 3]) == pytest.approx((1 + 1 + 3 + 1) / 9)
    assert area_under_curve([1, 2], [3, 4]) == 0


def test_guessing_right_always_is_beyond_every_budget():
    assert game_bound(1) == pytest.approx(0.7311, abs=1e-4)
    assert game_p_value(45, 45, 1) < 1e-6
    assert game_p_value(73, 100, 1) > 0.4
    assert game_p_value(0, 100, 1) == 1


@pytest.mark.parametrize("scale", [0.4, 1.0, 20.0])
def test_the_distribution_of_noise_sums_the_weights_of_its_integers(scale):
    weights = {z: math.exp(-abs(z) / scale) for z in range(-900, 900)}
    total = sum(weights.values())

    for edge in (-7, -1, 0, 1, 2, 9):
        mass = sum(weight for z, weight in weights.items() if z < edge) / total
        assert below(edge, scale) == pytest.approx(mass, abs=1e-12)


@pytest.mark.parametrize("probability", [0.001, 0.2, 0.4999, 0.5, 0.8, 0.999])
def test_a_quantile_is_the_least_edge_that_holds_enough(probability):
    edge = quantile(probability, 3.0)

    assert below(edge, 3.0) >= probability > below(edge - 1, 3.0)


def test_bins_expect_enough_samples_and_count_every_integer():
    bins = NoiseBins.of(600, 3.0)

    assert min(bins.probabilities(3.0)) * 600 >= 40
    assert sum(bins.probabilities(3.0)) == pytest.approx(1)
    assert sum(bins.count([-99, bins.edges[0], 0, 99])) == 4
    assert bins.count([bins.edges[0]])[1] == 1


def test_too_few_samples_are_refused():
    with pytest.raises(ValueError, match="too few"):
        noise_p_value([0] * 50, 1.0)


def test_noise_of_the_right_shape_passes_and_of_half_the_scale_does_not():
    middles = (np.arange(600) + 0.5) / 600
    right = [quantile(p, 3.0) - 1 for p in middles]
    wrong = [quantile(p, 1.5) - 1 for p in middles]

    assert noise_p_value(right, 3.0) > 0.5
    assert noise_p_value(wrong, 3.0) < 1e-7
