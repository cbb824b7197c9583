"""Rounds after the tree of marginals: what they measure, cost and are fitted to."""

import json
from itertools import combinations

import numpy as np
import pytest

from release.contract.errors import ReleaseRefusedError
from release.contract.models import Roll
from release.cubes.models.registry import MODELS
from release.cubes.strategies.marginals.marginals import MarginalTables
from tests.support.noise.meters import cube_of, domain_of, epsilon, run

SHAPE = (4, 4, 3)


def of_classes(count=20_000):
    """Three dimensions that all follow one hidden class: no tree of pairs has them."""
    generator = np.random.default_rng(5)
    hidden = generator.integers(0, 3, count)
    image = np.zeros(SHAPE, dtype=int)
    columns = [
        np.where(generator.random(count) < 0.7, hidden, generator.integers(0, n, count))
        for n in SHAPE
    ]
    np.add.at(image, tuple(columns), 1)
    return image


def pair_of(axes):
    kept = tuple(np.arange(n) if a in axes else np.zeros(n, int) for a, n in places())
    return Roll(kept, tuple(n if a in axes else 1 for a, n in places()))


def places():
    return list(enumerate(SHAPE))


def farthest(model, image):
    """How far the worst pair's table is, as a share of the rows."""
    gaps = []
    for axes in combinations(range(3), 2):
        (other,) = {0, 1, 2} - set(axes)
        told = model.roll(pair_of(axes)).values
        gaps.append(np.abs(told - image.sum(axis=other).ravel()).sum() / image.sum())
    return max(gaps)


def test_a_round_adds_the_pair_that_a_tree_leaves_out():
    image = of_classes()

    tree, _ = run(MarginalTables(), cube_of(image), epsilon("1"), factor=0)
    fitted, _ = run(
        MarginalTables(), cube_of(image), epsilon("1"), {"rounds": 1}, factor=0
    )

    assert farthest(tree, image) > 0.1
    assert farthest(fitted, image) < 0.02
    assert fitted.fit.total == pytest.approx(image.sum())


def test_rounds_have_as_much_as_an_edge_of_the_tree_and_no_more_than_pairs_left():
    asked = {"one_way_share": "0.3", "rounds": 7}
    parts = MarginalTables().parts(domain_of(*SHAPE), epsilon("1"), asked)

    assert [(part.name, str(part.loss)) for part in parts] == [
        ("one_way", "0.3"),
        ("choice_1", "0.033333333"),
        ("choice_2", "0.033333333"),
        ("round_choice_1", "0.033333333"),
        ("round_pair_1", "0.2"),
        ("two_way", "0.400000001"),
    ]
    two = MarginalTables().parts(domain_of(4, 4), epsilon("1"), asked)
    assert [part.name for part in two] == ["one_way", "choice_1", "two_way"]


@pytest.mark.parametrize("rounds", [-1, 21, "3", True, 1.5])
def test_other_numbers_of_rounds_are_refused(rounds):
    with pytest.raises(ReleaseRefusedError, match="rounds is a whole number"):
        MarginalTables().parts(domain_of(*SHAPE), epsilon("1"), {"rounds": rounds})


def test_a_loss_too_small_for_rounds_is_refused_before_any_charge():
    with pytest.raises(ReleaseRefusedError):
        MarginalTables().parts(domain_of(*SHAPE), epsilon("0.00000001"), {"rounds": 1})


@pytest.mark.parametrize("bound", [1, 5])
def test_a_unit_with_all_its_rows_in_one_cell_moves_a_round_by_what_is_stated(bound):
    image = of_classes(3_000)
    more = image.copy()
    more[3, 1, 2] += bound
    asked, compared = {"rounds": 1}, 0
    for seed in range(8):
        (one, first), (other, second) = (
            run(MarginalTables(), cube_of(own, bound), epsilon("3"), asked, seed=seed)
            for own in (image, more)
        )
        if (one.drawn.pairs, one.drawn.rounds.pairs) != (
            other.drawn.pairs,
            other.drawn.rounds.pairs,
        ):
            continue
        vectors = zip(first.seen, second.seen, strict=True)
        moved = [
            (part, int(np.abs(exact - twin).sum()), l1)
            for (part, exact, l1), (_, twin, _) in vectors
        ]
        assert moved[-1] == ("round_pair_1", bound, bound)
        assert all(away == l1 for _, away, l1 in moved)
        compared += 1
    assert compared


def test_the_model_is_rebuilt_with_its_rounds():
    model, _ = run(MarginalTables(), cube_of(of_classes()), epsilon("1"), {"rounds": 1})
    facts = json.loads(json.dumps(model.facts()))

    again = MODELS[model.kind](model.domain, facts, model.tables())

    assert len(model.drawn.rounds.pairs) == 1
    for axes in combinations(range(3), 2):
        for name in ("values", "variances", "below", "above"):
            one, other = (getattr(m.roll(pair_of(axes)), name) for m in (model, again))
            assert np.array_equal(one, other)
    assert np.array_equal(again.synthetic(50), model.synthetic(50))


def test_answers_agree_and_synthetic_rows_have_the_shares_of_the_fit():
    model, _ = run(MarginalTables(), cube_of(of_classes()), epsilon("1"), {"rounds": 1})
    cells = model.estimates().reshape(SHAPE)

    assert np.all(cells >= 0)
    assert model.roll(pair_of((0, 2))).values == pytest.approx(cells.sum(1).ravel())
    drawn = np.zeros(SHAPE)
    np.add.at(drawn, tuple(model.synthetic(20_000).T), 1)
    assert np.abs(drawn / 20_000 - cells / cells.sum()).sum() / 2 < 0.01


@pytest.mark.statistical
def test_intervals_of_a_pair_of_a_round_hold():
    image = of_classes(2_000)
    held = []
    for seed in range(24):
        model, _ = run(
            MarginalTables(), cube_of(image), epsilon("1"), {"rounds": 1}, seed=seed
        )
        ((one, other),) = model.drawn.rounds.pairs
        told = model.roll(pair_of((one, other)))
        (left,) = {0, 1, 2} - {one, other}
        truth = image.sum(axis=left).ravel()
        low, high = told.values - told.below, told.values + told.above
        held.append(((low <= truth) & (truth <= high)).mean())
    # 93 % less 4.9 standard errors, were all cells of a release one draw.
    assert np.mean(held) > 0.93 - 4.9 * np.sqrt(0.93 * 0.07 / 24)
