import numpy as np
import pytest

from release.cubes.models.trees.hierarchy import (
    Hierarchy,
    Weights,
    answer_variances,
    combine,
    least_squares,
)
from release.cubes.models.trees.isotonic import isotonic, monotone_counts
from release.cubes.models.trees.layouts import (
    box_fanouts,
    line_fanouts,
    weighted_layout,
)
from release.cubes.models.trees.orders import block_tree, even_tree, hilbert_order


def level_sums(tree, leaves):
    """Return every level's sums, from the top, of values of the leaves."""
    sums = [leaves]
    for starts in reversed(tree.starts):
        sums.insert(0, np.add.reduceat(sums[0], starts))
    return sums


def random_tree(generator):
    leaves = int(generator.integers(1, 40))
    starts, width = [], leaves
    for _ in range(int(generator.integers(0, 4))):
        cuts = np.flatnonzero(generator.random(width) < 0.4)
        starts.insert(0, np.union1d([0], cuts))
        width = len(starts[0])
    return Hierarchy(tuple(starts), leaves)


def design(tree):
    """One row a node: which leaves it sums."""
    return np.vstack(
        [np.array(rows) for rows in zip(*level_columns(tree), strict=True)]
    )


def level_columns(tree):
    for leaf in range(tree.leaves):
        unit = np.zeros(tree.leaves)
        unit[leaf] = 1
        yield np.concatenate(level_sums(tree, unit))


def test_two_passes_solve_the_normal_equations_and_their_variances():
    generator = np.random.default_rng(5)
    for _ in range(60):
        tree = random_tree(generator)
        spreads = generator.uniform(0.2, 5, len(tree.widths))
        weights = np.repeat(1 / spreads, tree.widths)
        rows = design(tree)
        values = generator.normal(size=len(rows)) * 10
        inverse = np.linalg.inv(rows.T @ (weights[:, None] * rows))
        levels = np.split(values, np.cumsum(tree.widths)[:-1])
        combined = combine(tree, levels, spreads)
        fitted = least_squares(tree, combined)
        assert np.allclose(fitted, inverse @ rows.T @ (weights * values))
        groups = generator.integers(-1, 3, tree.leaves)
        slopes = generator.uniform(-1, 1, tree.leaves)
        kept = np.flatnonzero(groups >= 0)
        asked = Weights(kept, groups[kept], slopes[kept], 3)
        for group, variance in enumerate(answer_variances(tree, combined, asked)):
            own = np.where(groups == group, slopes, 0.0)
            assert variance == pytest.approx(own @ inverse @ own)


def test_a_single_group_has_the_same_variance_as_among_others():
    tree = even_tree(30, (4, 3, 3))
    combined = combine(tree, [np.zeros(w) for w in tree.widths], [3.0, 2.0, 1.0])
    slopes = np.linspace(0.1, 1, 30)
    alone = Weights(np.arange(30), np.zeros(30, dtype=int), slopes, 1)
    among = Weights(np.arange(30), np.ones(30, dtype=int), slopes, 2)
    assert np.allclose(
        answer_variances(tree, combined, alone)[0],
        answer_variances(tree, combined, among)[1],
    )


def test_isotonic_fits_are_nearest_and_monotone():
    generator = np.random.default_rng(2)
    for _ in range(50):
        values = generator.normal(size=12).cumsum()
        weights = generator.uniform(0.5, 2, 12)
        fit = isotonic(values, weights)
        assert (np.diff(fit) >= -1e-12).all()
        # Nearest among many monotone rivals, and blocks keep their weighted means.
        for _ in range(30):
            rival = np.sort(fit + generator.normal(size=12))
            assert weights @ (values - fit) ** 2 <= weights @ (values - rival) ** 2
        assert weights @ fit == pytest.approx(weights @ values)
    climb = np.concatenate([np.arange(200.0), [-(10.0**6)]])
    assert np.allclose(isotonic(climb, np.ones(201)), climb.mean())
    assert monotone_counts(np.array([-3.0, 2.0, 4.0]), np.ones(3)).min() >= 0


@pytest.mark.parametrize("shape", [(4, 4), (5, 9), (1, 7), (64, 64), (33, 2)])
def test_a_hilbert_curve_visits_every_cell_and_steps_to_neighbours_in_a_square(shape):
    order = hilbert_order(shape)
    assert sorted(order) == list(range(shape[0] * shape[1]))
    steps = np.abs(np.diff(np.array(np.unravel_index(order, shape)))).sum(axis=0)
    if shape in {(4, 4), (64, 64)}:
        assert steps.max() == 1


def test_blocks_are_nested_and_hold_each_cell_once():
    order, tree = block_tree((7, 10), ((2, 3), (2, 2), (2, 2)))
    assert sorted(order) == list(range(70))
    assert tree.widths == (2 * 3, 4 * 5, 70)
    places = np.array(np.unravel_index(order, (7, 10)))
    lowest = np.split(np.arange(70), tree.starts[1][1:])
    for block in lowest:
        rows, columns = places[:, block]
        assert np.ptp(rows) < 2
        assert np.ptp(columns) < 2
    line, straight = block_tree((12,), ((3,), (4,)))
    assert line is None
    assert straight.widths == (3, 12)


@pytest.mark.parametrize("leaves", [1, 2, 3, 7, 64, 100, 4_096, 99_991])
def test_fanouts_reach_every_leaf(leaves):
    fanouts = line_fanouts(leaves)
    assert np.prod(fanouts) >= leaves
    assert even_tree(leaves, fanouts).widths[0] <= fanouts[0]
    for cuts in zip(*box_fanouts((leaves, 50)), strict=True):
        assert np.prod(cuts) >= min(leaves, 50)


def test_a_weighted_layout_gathers_small_buckets_and_divides_the_loss_exactly():
    sizes = np.array([1.0] * 20 + [1_000, 2_000, 1_000])
    layout = weighted_layout(sizes)
    assert sum(layout.shares) == 1
    assert layout.tree.starts[0].tolist()[:2] in ([0, 20], [0, 21])
    assert weighted_layout(np.array([5.0])).shares == (1,)
    many = weighted_layout(np.ones(300))
    assert len(many.shares) == 3
    assert sum(many.shares) == 1
