"""Noise moves by whole steps: where most of it is 0, sums and choices still hold.

Coverages of sums are exact: the law of a sum of discrete Laplace draws by the Fourier
transform. Those of releases have bars that intervals of 95 % miss by chance less than
once in a million choices of the seeds.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.scales.half_widths import half_width
from release.contract.confidence import shared, widening
from release.contract.intervals import (
    draw_half_width,
    noise_variance,
    sum_half_widths,
)
from release.cubes.models.parts.levels import Level, fit_levels
from release.cubes.models.trees.hierarchy import Hierarchy, combine, least_squares
from release.cubes.questions.evaluating.measuring import Weighed
from tests.statistical.cube_coverage import bar, draws_of
from tests.support.data.coverages import image_of, measure

LOSSES = (0.5, 1, 2, 3, 3.5, 4, 5, 6, 8, 10)
CONFIDENCES = (0.95, 0.98, 0.99, 0.995, 0.999, 0.9999)
WEIGHTS = {
    "one": ([1], [1]),
    "few": ([1], [5]),
    "many": ([1], [400]),
    "two": ([1, 2], [1, 1]),
    "halving": ([1, 2, 4, 8], [1, 1, 1, 1]),
    "one heavy": ([1, 5], [100, 1]),
    "nearly alike": ([19, 20], [3, 2]),
    "a line": (list(range(1, 24)), [1] * 23),
    "a plane": (list(range(1, 24)), [5] * 23),
}


def law_of(weights, draws, scale):
    """Return P(|sum| <= x) for each whole x, exactly."""
    a = math.exp(-1 / scale)
    variance = noise_variance(scale) * sum(
        n * w * w for w, n in zip(weights, draws, strict=True)
    )
    reach = 14 * math.sqrt(variance) + 45 * (1 + scale) * max(weights) + 64
    size = 2 ** math.ceil(math.log2(2 * reach))
    angle = 2 * np.pi * np.arange(size) / size
    law = np.ones(size)
    for weight, count in zip(weights, draws, strict=True):
        law *= ((1 - a) ** 2 / (1 - 2 * a * np.cos(weight * angle) + a * a)) ** count
    chances = np.fft.ifft(law).real
    return np.cumsum(np.concatenate([chances[:1], 2 * chances[1 : size // 2]]))


def stated(weights, draws, scale):
    """Return what is stated of a sum of cells, weighted by their numbers."""
    each = np.array(draws)
    weighed = Weighed(
        numbers=np.array(weights, dtype=np.float64),
        counts=np.zeros((1, len(weights))),
        variances=(each * noise_variance(scale))[None, :],
        half_widths=sum_half_widths(each, scale)[None, :],
        independent=True,
    )
    return float(weighed.sums().below[0])


@pytest.mark.parametrize("bound", [1, 5])
@pytest.mark.parametrize("case", WEIGHTS, ids=str)
def test_weighted_sums_hold_at_every_confidence_and_scale(case, bound):
    weights, draws = WEIGHTS[case]
    for loss in LOSSES:
        law, width = (own(weights, draws, bound / loss) for own in (law_of, stated))
        for confidence in CONFIDENCES:
            reach = int(width * widening(confidence) + 1e-9)
            held = law[min(reach, len(law) - 1)]
            assert held >= confidence - 1e-9, (loss, confidence)


def test_one_draw_is_as_wide_as_the_exact_law_says_and_widens_by_whole_steps():
    for scale in (0.1, 0.2, 0.25, 0.28, 0.5, 1.0, 3.0, 10.0, 200.0):
        width = draw_half_width(scale)
        assert int(width) == half_width(scale, Fraction(95, 100))
        for confidence in CONFIDENCES[1:]:
            exact = half_width(scale, Fraction(str(confidence)))
            assert exact <= int(width * widening(confidence) + 1e-9) <= 1.25 * exact + 1


def test_ends_that_hold_at_once_share_the_twentieth():
    assert shared(1) == 1.0
    assert shared(3) == widening(1 - 0.05 / 3)


# -- no draw moves a fitted sum by more than its weights say ------------------------


def test_a_step_of_a_draw_moves_a_fitted_sum_by_its_range_of_weights_at_most():
    generator = np.random.default_rng(2)
    tree = Hierarchy((np.array([0, 2]), np.array([0, 3, 4, 7])), 9)
    for _ in range(20):
        variances = generator.exponential(1, 3) + 0.01
        for level, width in enumerate(tree.widths):
            for node in range(width):
                values = [np.zeros(n) for n in tree.widths]
                values[level][node] = 1.0
                moved = least_squares(tree, combine(tree, values, list(variances)))
                assert moved[moved > 0].sum() <= 1 + 1e-9
                assert moved[moved < 0].sum() >= -1 - 1e-9


def test_a_step_of_a_level_moves_cells_by_one_in_all_at_most():
    generator = np.random.default_rng(3)
    parents = [np.zeros(1, int), np.zeros(3, int), np.array([0, 0, 1, 2, 2, 2])]
    volumes = np.ones(6)
    for _ in range(20):
        scales = generator.exponential(1, 3) + 0.1

        def moved_by(drawn, scales=scales):
            levels = [
                Level(own, values, scale, len(own))
                for own, values, scale in zip(parents, drawn, scales, strict=True)
            ]
            return fit_levels(levels, volumes, shrink=False).values[-1]

        for depth, own in enumerate(parents):
            for part in range(len(own)):
                drawn = [np.zeros(len(one), int) for one in parents]
                drawn[depth][part] = 1
                moved = moved_by(drawn)
                assert moved[moved > 0].sum() <= 1 + 1e-9
                assert moved[moved < 0].sum() >= -1 - 1e-9


# -- releases -----------------------------------------------------------------------


def one_huge(shape, count):
    image = np.zeros(shape, dtype=np.int64)
    image[tuple(size // 2 for size in shape)] = count
    return image


IMAGES = {
    "uniform": image_of("uniform", (24, 20), 20_000),
    "huge": one_huge((15, 12), 20_000),
    "three": np.array([0, 0, 57]),
}


@pytest.mark.long
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("data", "strategy", "loss", "bound"),
    [
        ("uniform", "auto", "4", 1),
        ("uniform", "cells", "5", 1),
        ("uniform", "cells", "20", 5),
        ("huge", "auto", "4", 1),
        ("huge", "cells", "3.5", 1),
        ("huge", "sparse_cells", "4", 1),
        ("huge", "cells", "8", 1),
        ("three", "marginals", "4", 1),
        ("three", "privtree", "8", 1),
    ],
)
def test_sums_and_chosen_rows_hold_where_most_noise_is_0(data, strategy, loss, bound):
    runs = 40
    seen = measure(IMAGES[data], strategy, loss, bound=bound, runs=runs, boxes=2)

    for kind in ("cell", "total", "group", "sum", "having", "top"):
        if kind in seen and len(seen[kind].held) >= runs:
            least = bar(draws_of(len(seen[kind].held), runs))
            assert seen[kind].coverage >= least, kind


def test_ends_of_counts_are_whole_wherever_the_estimate_lets_them():
    seen = measure(IMAGES["three"], "hb", "1", runs=3, boxes=1)

    for width in seen["total"].widths:
        assert (2 * width) % 1 == 0
