"""Whatever is refused is refused before the charge: parts() foresees all that could."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.measuring.meter import Meter
from privacy.charges import Charge
from privacy.losses import Loss
from release.contract.errors import ReleaseRefusedError
from release.contract.models import Roll
from release.cubes.models.trees.layouts import weighted_layout
from release.cubes.strategies.registry import STRATEGIES
from release.cubes.strategies.rules import RULES, Pick, Rule, rules_of
from release.cubes.strategies.trees.bucketed import THINNEST
from tests.support.noise.meters import SeededSampler, cube_of, domain_of, epsilon

SHAPES = [(3,), (64,), (700,), (9, 8), (40, 30), (5, 4, 6)]

every = pytest.mark.parametrize("name", sorted(STRATEGIES))


def image_of(shape, height):
    image = np.zeros(shape, dtype=np.int64)
    image.ravel()[:: max(2, image.size // 9)] = height
    return image


def published(name, image, bound, loss, seed):
    """Plan, predict, then measure as after a charge; None where it was refused."""
    strategy, cube = STRATEGIES[name], cube_of(image, bound)
    try:
        parts = strategy.parts(cube.domain, loss, {})
        expected = strategy.expectation(cube.domain, loss, {})
    except ReleaseRefusedError:
        return None
    for error in (expected.cell_rmse, expected.total_rmse):
        assert error is None or math.isfinite(error)
    meter = Meter(Charge("test", loss), parts, SeededSampler(seed))
    return strategy.measure(cube, meter, {})


# Around the least epsilon that a part of any share needs for noise of 2**40.
nanos = st.integers(1, 2_000) | st.integers(0, 60).map(lambda power: 2**power // 9 + 1)
bounds = st.integers(1, 100) | st.integers(0, 70).map(lambda power: 2**power)


@pytest.mark.sampled
@every
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_parts_let_pass_is_measured_and_asked_without_refusal(name, data):
    shape = data.draw(st.sampled_from(SHAPES))
    image = image_of(shape, data.draw(st.sampled_from([0, 1, 10**4, 10**12])))
    loss, bound = Loss(data.draw(nanos)), data.draw(bounds)
    model = published(name, image, bound, loss, data.draw(st.integers(0, 9)))
    if model is not None:
        everything = tuple(np.zeros(n, dtype=int) for n in shape)
        told = model.roll(Roll(everything, (1,) * len(shape)))
        assert np.isfinite(told.half_widths).all()


def least_epsilon(name, domain):
    """The least loss, in nanos, that parts() lets pass; they let pass all above."""
    low, high = 0, 2**40
    while high - low > 1:
        middle = (low + high) // 2
        try:
            STRATEGIES[name].parts(domain, Loss(middle), {})
        except ReleaseRefusedError:
            low = middle
        else:
            high = middle
    return high


@pytest.mark.sampled
@every
def test_the_least_epsilon_that_passes_is_enough_for_every_part(name):
    tried = 0
    for shape in SHAPES:
        domain = domain_of(*shape, bound=1_000)
        least = least_epsilon(name, domain)
        if least == 2**40:
            continue
        for height in (0, 10**5, 10**12):
            model = published(name, image_of(shape, height), 1_000, Loss(least), 1)
            assert model is not None
            tried += 1
    assert tried


@every
@pytest.mark.parametrize(
    "bound", [2**40, 2**63, 10**400], ids=["2e12", "2**63", "huge"]
)
def test_a_unit_that_touches_too_much_is_refused_before_the_charge(name, bound):
    for shape in SHAPES:
        for ask in (STRATEGIES[name].parts, STRATEGIES[name].expectation):
            with pytest.raises(ReleaseRefusedError):
                ask(domain_of(*shape, bound=bound), epsilon("0.5"), {})


def test_no_level_of_any_layout_gets_less_than_was_checked():
    generator = np.random.default_rng(5)
    for leaves in (1, 2, 5, 40, 256, 257, 900, 5_000, 40_000):
        for power in (0.0, 1.0, 4.0):
            weights = np.ceil(generator.pareto(1.0, leaves) ** power + 1)
            shares = weighted_layout(weights).shares
            assert min(shares) * THINNEST >= 1
            assert sum(shares) == 1


def test_auto_refuses_what_any_of_its_rules_refuses(monkeypatch):
    """One in the middle of the table too, which neither no load nor all picks."""
    rules = RULES[1]
    thin = Pick("pthb", {"partition_share": "0.000000001"})
    between = (rules[0], Rule(1.0, thin), *rules[1:])
    monkeypatch.setitem(RULES, 1, between)
    domain = domain_of(64)
    assert thin in [rule.pick for rule in rules_of(domain)]
    with pytest.raises(ReleaseRefusedError):
        STRATEGIES["auto"].parts(domain, epsilon("0.5"), {})
