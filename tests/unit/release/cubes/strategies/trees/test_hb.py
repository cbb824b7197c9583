import numpy as np
import pytest

from release.contract.errors import ReleaseRefusedError
from release.contract.models import Roll
from release.cubes.models.registry import MODELS
from release.cubes.strategies.trees.hb import HB
from tests.support.noise.meters import cube_of, domain_of, epsilon, run

LINE = np.random.default_rng(1).poisson(20, 60)
PLANE = np.random.default_rng(2).poisson(4, (40, 40))


def ranges(*ends):
    codes = np.full(60, -1)
    codes[slice(*ends)] = 0
    return Roll((codes,), (1,))


@pytest.mark.parametrize("image", [LINE, PLANE])
def test_without_noise_every_cell_is_exact(image):
    model, _ = run(HB(), cube_of(image), epsilon("0.5"), factor=0)
    assert np.allclose(model.estimates(), image.ravel())


def test_levels_share_the_loss_equally_to_the_nano():
    loss = epsilon("1")
    parts = HB().parts(domain_of(4_096), loss, {})
    nanos = [part.loss.nano_epsilon for part in parts]
    assert sum(nanos) == loss.nano_epsilon
    assert max(nanos) - min(nanos) < len(nanos)


@pytest.mark.parametrize("image", [LINE, PLANE])
def test_the_model_is_rebuilt_from_its_facts_and_tables(image):
    model, _ = run(HB(), cube_of(image), epsilon("0.5"))
    again = MODELS[model.kind](model.domain, model.facts(), model.tables())
    assert np.array_equal(again.estimates(), model.estimates())
    codes = tuple(np.arange(n) % 3 - 1 for n in image.shape)
    roll = Roll(codes, (2,) * image.ndim)
    for name in ("values", "variances", "half_widths"):
        assert np.array_equal(
            getattr(again.roll(roll), name), getattr(model.roll(roll), name)
        )


def test_answers_agree_with_the_cells_that_they_sum():
    model, _ = run(HB(), cube_of(PLANE), epsilon("0.5"))
    cells = model.estimates().reshape(PLANE.shape)
    by_row = model.roll(Roll((np.arange(40), np.zeros(40, dtype=int)), (40, 1)))
    assert np.allclose(by_row.values, cells.sum(axis=1))


@pytest.mark.long
@pytest.mark.statistical
def test_least_squares_is_unbiased_and_has_the_variance_that_it_says():
    cube, errors = cube_of(PLANE), []
    roll = Roll((np.arange(40) // 20, np.where(np.arange(40) < 13, 0, -1)), (2, 1))
    truth = PLANE[:, :13].reshape(2, -1).sum(axis=1)
    for seed in range(2_000):
        model, _ = run(HB(), cube, epsilon("0.5"), seed=seed)
        answer = model.roll(roll)
        errors.append(answer.values - truth)
    errors, stated = np.array(errors), np.sqrt(answer.variances)
    # Means within 5 standard errors; deviations of 2,000 within 5 x 2.2 % (kurtosis 6).
    assert (np.abs(errors.mean(axis=0)) < 5 * stated / np.sqrt(2_000)).all()
    assert np.abs(errors.std(axis=0) / stated - 1).max() < 0.13
    assert np.mean(np.abs(errors) <= answer.half_widths) > 0.95 - 5 * 0.0035


@pytest.mark.statistical
def test_intervals_of_the_monotone_view_cover_and_its_error_is_less():
    cube, seen, straight, viewed = cube_of(LINE), [], [], []
    questions = [ranges(0, 30), ranges(7, 8), ranges(10, 50), ranges(0, 60)]
    truths = np.array([LINE[slice(*e)].sum() for e in [(30,), (7, 8), (10, 50), (60,)]])
    for seed in range(500):
        model, _ = run(HB(), cube, epsilon("0.2"), seed=seed)
        answers = [model.roll(question) for question in questions]
        values = np.array([a.values[0] for a in answers])
        seen.append(np.abs(values - truths) <= [a.half_widths[0] for a in answers])
        prefix = np.cumsum(LINE)
        viewed.append(np.square(np.cumsum(model._fitted) - prefix).mean())
        straight.append(np.square(np.cumsum(model._straight) - prefix).mean())
    assert (np.mean(seen, axis=0) > 0.95 - 5 * 0.0098).all()
    assert np.mean(viewed) < np.mean(straight)
    deviation = np.sqrt([a.variances[0] for a in answers])
    assert (np.array([a.half_widths[0] for a in answers]) < 6 * deviation + 1).all()


def test_more_than_two_dimensions_and_odd_branchings_are_refused():
    for domain, parameters in [
        (domain_of(2, 2, 2), {}),
        (domain_of(9), {"branching": 1}),
        (domain_of(9), {"branching": "two"}),
        (domain_of(9), {"height": 2}),
    ]:
        with pytest.raises(ReleaseRefusedError):
            HB().parts(domain, epsilon("1"), parameters)
    assert len(HB().parts(domain_of(9), epsilon("1"), {"branching": 3})) == 2


def test_the_expected_error_of_a_cell_is_the_one_of_the_model():
    model, _ = run(HB(), cube_of(PLANE, bound=3), epsilon("0.5"))
    expected = HB().expectation(model.domain, epsilon("0.5"), {})
    first = tuple(np.where(np.arange(40) == 0, 0, -1) for _ in range(2))
    assert expected.cell_rmse**2 == pytest.approx(
        model.roll(Roll(first, (1, 1))).variances[0]
    )
