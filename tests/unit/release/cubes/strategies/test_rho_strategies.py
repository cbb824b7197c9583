"""What holds of all strategies of cubes where a release is paid in rho."""

import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.measuring.meter import Part
from mechanisms.samplers.vectors import OsVectorSampler
from mechanisms.scales.conversions.pure import pure_loss_floor
from mechanisms.scales.gaussian.calibration import gaussian_scale
from mechanisms.scales.noises import GAUSSIAN
from privacy.losses import Loss
from release.contract.errors import ReleaseRefusedError
from release.contract.models import Roll
from release.cubes.models.registry import MODELS
from release.cubes.strategies.registry import RHO_STRATEGIES, STRATEGIES
from tests.support.noise.meters import cube_of, domain_of, run
from tests.support.noise.samplers import ScaledVectorSampler

LINE = np.concatenate([np.zeros(30), np.full(20, 9), [300, 4], np.arange(12)])
PLANE = np.zeros((9, 8))
PLANE[2:5, 3:7] = 11
PLANE[8, 0] = 250
IMAGES = {"line": LINE.astype(int), "plane": PLANE.astype(int)}
RHO = Loss.parse("0.2")
DRAWN = sorted({"cells", "hb", "marginals"})
"""Those that draw Gaussian noise."""


def fits(name, image):
    try:
        RHO_STRATEGIES[name].parts(domain_of(*image.shape), RHO, {})
    except ReleaseRefusedError:
        return False
    return True


CASES = [
    pytest.param(name, image, id=f"{name}-{shape}")
    for name in RHO_STRATEGIES
    for shape, image in IMAGES.items()
    if fits(name, image)
]
GAUSSIAN_CASES = [case for case in CASES if case.values[0] in DRAWN]


def measured(name, cube, **more):
    return run(RHO_STRATEGIES[name], cube, RHO, kind=GAUSSIAN, **more)


def questions(shape):
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


def test_the_same_names_spend_epsilon_and_rho():
    assert list(RHO_STRATEGIES) == list(STRATEGIES)
    assert {case.values[0] for case in CASES} == set(STRATEGIES)


@pytest.mark.parametrize(("name", "image"), CASES)
def test_a_model_is_rebuilt_and_parts_sum_to_the_rho(name, image):
    model, _ = measured(name, cube_of(image, bound=2, in_cell=1), seed=3)
    again = MODELS[model.kind](model.domain, model.facts(), model.tables())
    for question in questions(image.shape):
        for column in ("values", "variances", "half_widths"):
            first = getattr(model.roll(question), column)
            assert np.array_equal(first, getattr(again.roll(question), column)), column


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_each_says_which_noise_it_draws(name):
    shapes = [image.shape for image in IMAGES.values()]
    shape = next(s for s in shapes if fits(name, np.zeros(s)))
    told = RHO_STRATEGIES[name].expectation(domain_of(*shape), RHO, {}).words
    is_laplace = name not in {*DRAWN, "auto"}
    assert ("Laplace noise" in told) == is_laplace
    if is_laplace:
        assert f"epsilon {pure_loss_floor(RHO)}" in told
        whole = RHO_STRATEGIES[name].parts(domain_of(*shape), RHO, {})
        assert whole == (Part("pure", RHO),)


def test_cells_of_people_pay_the_root_of_how_many_they_are_in():
    cube = cube_of(LINE.astype(int), bound=9, in_cell=1)
    model, _ = measured("cells", cube)
    assert model.scale == gaussian_scale(Fraction(9), RHO)
    rows, _ = measured("cells", cube_of(LINE.astype(int), bound=9))
    assert rows.scale == gaussian_scale(Fraction(81), RHO)


def test_levels_of_a_tree_pay_for_what_adds_up_in_their_nodes():
    cube = cube_of(LINE.astype(int), bound=9, in_cell=1)
    model, heard = measured("hb", cube)
    fanout = -(-len(LINE) // model.tree.widths[0])
    assert fanout >= 2
    assert heard.squares[-1] > 9  # the top: drawn last, from the leaves upwards
    assert heard.squares[0] == 9
    spent = sum(
        Fraction(square) / (2 * Fraction(scale) ** 2)
        for square, scale in zip(heard.squares[::-1], model.scales, strict=True)
    )
    assert RHO.epsilon * Fraction(999, 1000) < spent <= RHO.epsilon


def neighbour(image, bound, generator):
    """The same cube and one unit more, that is in cells next to each other."""
    more = image.copy().ravel()
    count = min(int(generator.integers(1, bound + 1)), more.size)
    start = int(generator.integers(0, more.size - count + 1))
    order = np.arange(start, start + count)
    if generator.random() < 0.5:
        order = generator.choice(more.size, count, replace=False)
    more[order] += 1
    return more.reshape(image.shape)


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "image"), GAUSSIAN_CASES)
def test_one_unit_moves_no_vector_by_more_than_the_stated_l2(name, image):
    """The noise is frozen; vectors over other choices are not compared."""
    generator = np.random.default_rng(8)
    compared, most = 0, 0.0
    for seed in range(60):
        bound = int(generator.integers(1, 5))
        one = cube_of(image, bound, 1)
        other = cube_of(neighbour(image, bound, generator), bound, 1)
        _, heard = measured(name, one, seed=seed)
        _, again = measured(name, other, seed=seed)
        for (part, exact, _), (twin, moved, _), square in zip(
            heard.seen, again.seen, heard.squares, strict=False
        ):
            if part != twin or len(exact) != len(moved):
                break
            compared += 1
            apart = int(np.square(exact - moved).sum())
            most = max(most, apart / square)
            assert apart <= square, part
            if name == "marginals" and part == "one_way":
                break  # what follows may have been chosen otherwise
    assert compared > 10
    assert most == 1, "the bound is attained"


def spreads(name, image, sampler, runs=60):
    """Return errors of the first dimension's values, over their stated deviations."""
    cube, found = cube_of(image), []
    question = questions(image.shape)[1]
    for _ in range(runs):
        model, _ = measured(name, cube, sampler=sampler)
        if name == "marginals":  # its draws: what is shown is nowhere negative
            drawn = model.drawn
            found.append((drawn.one_way[0] - truths(image)[1]) / drawn.one_scale)
            continue
        if name == "hb":  # the least-squares fit itself, before its monotone view
            errors = model._straight.reshape(image.shape) - image
            by_first = errors.reshape(len(image), -1).sum(axis=1)
            answer = model.roll(question)
        else:
            answer = model.roll(question)
            by_first = answer.values - truths(image)[1]
        found.append(by_first / np.sqrt(answer.variances))
    return np.array(found)


@pytest.mark.statistical
@pytest.mark.parametrize("name", DRAWN)
def test_errors_are_as_wide_as_stated_and_halved_noise_is_found(name):
    image = PLANE.astype(int)[:, :4]
    stated = np.square(spreads(name, image, OsVectorSampler())).mean()
    halved = np.square(spreads(name, image, ScaledVectorSampler("0.5"))).mean()
    # 540 squares of about normal numbers, in part alike: more than five deviations
    assert 0.5 < stated < 1.6
    assert halved < 0.45


@pytest.mark.sampled
@pytest.mark.statistical
@pytest.mark.parametrize(("name", "image"), GAUSSIAN_CASES)
def test_intervals_cover_the_truth_and_no_more_than_they_must(name, image):
    cube, asked, rounds = cube_of(image), questions(image.shape), 100
    inside = [[] for _ in asked]
    for _ in range(rounds):
        model, _ = measured(name, cube, sampler=OsVectorSampler())
        for seen, question, truth in zip(inside, asked, truths(image), strict=True):
            answer = model.roll(question)
            seen.append((abs(answer.values - truth) <= answer.half_widths).mean())
    # 95 % less five standard errors of 100 runs
    for seen in inside:
        assert np.mean(seen) >= 0.95 - 5 * 0.0218, [np.mean(s) for s in inside]


@pytest.mark.parametrize("name", DRAWN)
def test_gaussian_noise_is_less_than_the_laplace_noise_of_the_same_price(name):
    domain = domain_of(40, bound=4, in_cell=1)
    rho = RHO_STRATEGIES[name].expectation(domain, RHO, {})
    pure = STRATEGIES[name].expectation(domain, pure_loss_floor(RHO), {})
    assert rho.total_rmse < pure.total_rmse * 0.8
    assert not math.isnan(rho.total_rmse)


def test_a_rho_too_small_for_any_noise_is_refused_before_a_charge():
    for name in DRAWN:
        with pytest.raises(ReleaseRefusedError, match="small"):
            RHO_STRATEGIES[name].parts(domain_of(50, bound=2**31), Loss(1), {})
    with pytest.raises(ReleaseRefusedError):
        RHO_STRATEGIES["dawa"].parts(domain_of(50, bound=2**31), Loss(1), {})
