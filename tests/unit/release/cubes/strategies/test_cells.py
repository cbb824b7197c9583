import numpy as np
import pytest

from mechanisms.scales.noises import GAUSSIAN, LAPLACE
from privacy.losses import Loss
from release.contract.errors import ReleaseRefusedError
from release.contract.models import Roll
from release.cubes.models.registry import MODELS
from release.cubes.strategies.cells import Cells
from tests.support.noise.meters import cube_of, domain_of, epsilon, run

IMAGE = np.arange(12).reshape(3, 4)
BY_ROW = Roll((np.arange(3), np.zeros(4, dtype=np.int64)), (3, 1))


def test_without_noise_every_sum_is_exact():
    model, _ = run(Cells(), cube_of(IMAGE), epsilon("0.5"), factor=0)
    assert np.array_equal(model.estimates(), IMAGE.ravel())
    assert np.array_equal(model.roll(BY_ROW).values, IMAGE.sum(axis=1))


def test_the_model_is_rebuilt_from_its_facts_and_tables():
    model, _ = run(Cells(), cube_of(IMAGE, bound=3), epsilon("0.5"))
    again = MODELS[model.kind](model.domain, model.facts(), model.tables())
    for name in ("values", "variances", "half_widths"):
        assert np.array_equal(
            getattr(again.roll(BY_ROW), name), getattr(model.roll(BY_ROW), name)
        )


def test_the_scale_is_the_bound_over_epsilon():
    model, _ = run(Cells(), cube_of(IMAGE, bound=7), epsilon("0.5"))
    assert model.scale == pytest.approx(14)


@pytest.mark.statistical
def test_intervals_of_rows_cover_nineteen_times_in_twenty():
    inside, widths = 0, []
    for seed in range(2_000):
        model, _ = run(Cells(), cube_of(IMAGE), epsilon("0.3"), seed=seed)
        rows = model.roll(BY_ROW)
        inside += int((abs(rows.values - IMAGE.sum(axis=1)) <= rows.half_widths).sum())
        widths.append(rows.half_widths.max())
    # 6,000 draws: five standard deviations below 95 %, and not absurdly far above.
    assert 0.95 - 5 * 0.0028 < inside / 6_000 < 0.97 + 5 * 0.0028


def test_what_cannot_be_held_or_is_not_known_is_refused():
    with pytest.raises(ReleaseRefusedError, match="coarser"):
        Cells().parts(domain_of(10_000, 10_000), Loss(10**9), {})
    with pytest.raises(ReleaseRefusedError, match="no such parameter"):
        Cells().parts(domain_of(3), Loss(10**9), {"branching": 2})


def test_the_expected_error_is_that_of_the_noise():
    expected = Cells().expectation(domain_of(100, bound=2), epsilon("0.2"), {})
    assert expected.cell_rmse == pytest.approx(np.sqrt(2) * 10, rel=0.01)
    assert expected.total_rmse == pytest.approx(np.sqrt(2) * 100, rel=0.01)


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
@pytest.mark.parametrize("mask", [None, np.arange(12) % 3 > 0])
def test_sums_are_off_by_what_was_foreseen(noise, mask):
    loss = Loss.parse("0.3")
    model, _ = run(Cells(noise), cube_of(IMAGE, bound=3), loss, kind=noise)
    foreseen = Cells(noise).foreseen(model.domain, loss)
    assert (foreseen.kind, foreseen.scale) == (model.kind, model.scale)
    rows = Roll(BY_ROW.codes, BY_ROW.groups, mask)
    told, found = model.roll(rows), foreseen.roll(rows)
    for name in ("variances", "below", "above", "noise"):
        assert np.array_equal(getattr(told, name), getattr(found, name)), name
    assert not found.values.any()


def test_what_is_foreseen_is_in_no_file():
    foreseen = Cells().foreseen(domain_of(3, 4), Loss.parse("0.3"))
    assert (foreseen.facts(), foreseen.tables()) == ({}, {})
    assert not foreseen.estimates().any()
