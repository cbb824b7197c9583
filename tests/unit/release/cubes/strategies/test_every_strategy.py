"""What holds of all strategies alike; each is run on domains that fit it."""

from pathlib import Path

import numpy as np
import pytest

from release.contract.errors import ReleaseRefusedError
from release.contract.models import Roll
from release.cubes.models.registry import MODELS
from release.cubes.strategies.registry import STRATEGIES
from tests.support.noise.meters import cube_of, domain_of, epsilon, run

LINE = np.concatenate([np.zeros(30), np.full(20, 9), [300, 4], np.arange(12)])
PLANE = np.zeros((9, 8))
PLANE[2:5, 3:7] = 11
PLANE[8, 0] = 250
IMAGES = {"line": LINE.astype(int), "plane": PLANE.astype(int)}


def fits(name, image):
    try:
        STRATEGIES[name].parts(domain_of(*image.shape), epsilon("1"), {})
    except ReleaseRefusedError:
        return False
    return True


CASES = [
    pytest.param(name, image, id=f"{name}-{shape}")
    for name in STRATEGIES
    for shape, image in IMAGES.items()
    if fits(name, image)
]


def questions(shape):
    """By a range of the first dimension; by each value of it; the whole."""
    first, rest = shape[0], [np.zeros(n, dtype=int) for n in shape[1:]]
    ones = (1,) * len(rest)
    part = np.where((np.arange(first) >= 2) & (np.arange(first) < first - 1), 0, -1)
    return [
        Roll((part, *rest), (1, *ones)),
        Roll((np.arange(first), *rest), (first, *ones)),
        Roll((np.zeros(first, dtype=int), *rest), (1, *ones)),
    ]


def truths(image):
    by_first = image.reshape(len(image), -1).sum(axis=1)
    return [by_first[2:-1].sum(keepdims=True), by_first, by_first.sum(keepdims=True)]


def test_every_strategy_is_tried_on_something():
    assert {case.values[0] for case in CASES} == set(STRATEGIES)


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "image"), CASES)
def test_parts_sum_exactly_to_the_charge(name, image):
    generator = np.random.default_rng(1)
    for _ in range(200):
        loss = epsilon(f"0.{int(generator.integers(10**6, 10**9)):09}")
        parts = STRATEGIES[name].parts(domain_of(*image.shape, bound=7), loss, {})
        assert sum(part.loss.nano_epsilon for part in parts) == loss.nano_epsilon
        assert len({part.name for part in parts}) == len(parts)


@pytest.mark.parametrize(("name", "image"), CASES)
def test_a_model_is_rebuilt_from_its_facts_and_tables(name, image):
    model, _ = run(STRATEGIES[name], cube_of(image, bound=2), epsilon("0.7"), seed=3)
    again = MODELS[model.kind](model.domain, model.facts(), model.tables())
    for question in questions(image.shape):
        for column in ("values", "variances", "half_widths"):
            first = getattr(model.roll(question), column)
            assert np.array_equal(first, getattr(again.roll(question), column)), column
    assert np.array_equal(model.estimates(), again.estimates())


@pytest.mark.parametrize(("name", "image"), CASES)
def test_parts_of_an_answer_sum_to_the_whole_and_to_the_cells(name, image):
    model, _ = run(STRATEGIES[name], cube_of(image), epsilon("0.7"), seed=4)
    part, by_first, whole = (model.roll(q).values for q in questions(image.shape))
    assert by_first.sum() == pytest.approx(whole[0])
    assert by_first[2:-1].sum() == pytest.approx(part[0])
    cells = model.estimates().reshape(len(image), -1)
    assert np.allclose(cells.sum(axis=1), by_first)


@pytest.mark.sampled
@pytest.mark.statistical
@pytest.mark.parametrize(("name", "image"), CASES)
def test_intervals_cover_the_truth(name, image):
    cube, asked, rounds = cube_of(image), questions(image.shape), 100
    inside = [[] for _ in asked]
    for seed in range(rounds):
        model, _ = run(STRATEGIES[name], cube, epsilon("0.8"), seed=seed)
        for seen, question, truth in zip(inside, asked, truths(image), strict=True):
            answer = model.roll(question)
            seen.append((abs(answer.values - truth) <= answer.half_widths).mean())
    # 95 % less five standard errors of 100 runs.
    for seen in inside:
        assert np.mean(seen) >= 0.95 - 5 * 0.0218, [np.mean(s) for s in inside]


def neighbour(image, bound, generator):
    """The same cube and one unit more, which touches up to ``bound`` cells."""
    more = image.copy().ravel()
    touched = generator.choice(more.size, int(generator.integers(1, bound + 1)))
    np.add.at(more, touched, 1)
    return more.reshape(image.shape)


def apart(first, second):
    if isinstance(first, dict):
        keys = set(first) | set(second)
        return sum(abs(int(first.get(k, 0)) - int(second.get(k, 0))) for k in keys)
    return int(np.abs(first - second).sum())


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "image"), CASES)
def test_one_unit_moves_no_vector_by_more_than_the_stated_l1(name, image):
    """The noise is frozen; vectors over other partitions are not compared."""
    generator = np.random.default_rng(8)
    compared, most = 0, 0
    for seed in range(60):
        bound = int(generator.integers(1, 5))
        one = cube_of(image, bound)
        other = cube_of(neighbour(image, bound, generator), bound)
        first, heard = run(STRATEGIES[name], one, epsilon("2"), seed=seed)
        second, again = run(STRATEGIES[name], other, epsilon("2"), seed=seed)
        for (part, exact, l1), (twin, moved, _) in zip(
            heard.seen, again.seen, strict=False
        ):
            if part != twin or (len(exact) != len(moved) and name != "sparse_cells"):
                break
            if not same_partition(first, second):
                break
            compared += 1
            most = max(most, apart(exact, moved) / l1)
            assert apart(exact, moved) <= l1, part
    assert compared > 10
    assert most == 1, "the bound is attained"


def same_partition(first, second):
    one, other = getattr(first, "inner", first), getattr(second, "inner", second)
    shapes = [chosen(one), chosen(other)]
    return len(shapes[0]) == len(shapes[1]) and all(
        map(np.array_equal, shapes[0], shapes[1])
    )


def chosen(model):
    """What a model's noisy values made it measure, besides public facts."""
    if hasattr(model, "pieces"):
        parents = [level.parents for level in model.levels]
        return [*parents, model.pieces.lower, model.pieces.upper]
    if hasattr(model, "drawn"):
        return [model.drawn.pairs, *model.drawn.bins]
    buckets = getattr(model, "buckets", None)
    return [] if buckets is None else [buckets]


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_every_strategy_has_a_proof_that_names_its_neighbours(name):
    page = Path(__file__).parents[5] / "docs" / "proofs" / f"{name}.md"
    text = page.read_text("utf-8")
    assert "ADD_REMOVE_UNIT" in text
    assert "∎" in text
