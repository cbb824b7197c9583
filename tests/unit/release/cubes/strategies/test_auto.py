import numpy as np
import pytest

from mechanisms.measuring.meter import Meter
from mechanisms.scales.noises import GAUSSIAN
from privacy.charges import Charge
from release.cubes.strategies.registry import RHO_STRATEGIES, STRATEGIES, gain
from release.cubes.strategies.rules import RULES, pick, rules_of, weighed
from tests.support.noise.meters import SeededSampler, cube_of, domain_of, epsilon, run

AUTO = STRATEGIES["auto"]


@pytest.mark.parametrize(
    ("records", "strategy"), [(1_000, "pthb"), (10**5, "pthb"), (10**8, "hb")]
)
def test_a_line_is_published_by_what_suits_its_noisy_total(records, strategy):
    shares = np.full(4_096, 1 / 4_096)
    image = np.random.default_rng(1).multinomial(records, shares)
    model, _ = run(AUTO, cube_of(image), epsilon("0.1"))
    assert model.strategy == strategy
    assert model.facts()["strategy"] == strategy
    assert abs(model.noisy_total - records) < 20 * model.total_scale


def test_the_choice_follows_from_the_noisy_total_alone():
    for image in (np.full(600, 3), np.full(600, 40_000)):
        model, _ = run(AUTO, cube_of(image, bound=2), epsilon("0.5"), seed=9)
        rest = AUTO.parts(model.domain, epsilon("0.5"), {})[1].loss
        load = max(0, model.noisy_total) * float(rest.epsilon) / 2
        assert pick(model.domain, load).strategy == model.strategy


def test_every_rule_names_a_strategy_that_takes_its_parameters():
    shapes = {1: (500,), 2: (50, 50), 3: (9, 9, 9)}
    assert set(RULES) == set(shapes)
    for axes, rules in RULES.items():
        loads = [rule.load_per_cell for rule in rules]
        assert loads == sorted(loads)
        assert loads[-1] == float("inf")
        for rule in rules:
            own = STRATEGIES[rule.pick.strategy]
            own.parts(domain_of(*shapes[axes]), epsilon("1"), rule.pick.parameters)


def test_small_and_huge_domains_have_picks_of_their_own():
    assert pick(domain_of(2, 3), 10.0).strategy == "cells"
    assert pick(domain_of(10_000, 10_000), 10.0).strategy == "sparse_cells"
    assert pick(domain_of(1, 1), 10.0).strategy == "cells"


def test_all_losses_that_mechanisms_spend_sum_to_the_charge():
    """Counted where they are spent: each level's scale, and the cuts' part."""
    loss = epsilon("0.5")
    domain_cube = cube_of(np.full(4_096, 10**6))
    meter = Meter(
        Charge("t", loss), AUTO.parts(domain_cube.domain, loss, {}), SeededSampler()
    )
    model = AUTO.measure(domain_cube, meter, {})
    assert model.strategy == "hb"
    spent = 1 / model.total_scale + sum(1 / scale for scale in model.inner.scales)
    assert spent == pytest.approx(0.5)


def test_what_is_expected_of_auto_names_the_range_of_its_picks():
    expected = AUTO.expectation(domain_of(4_096), epsilon("1"), {})
    assert expected.cell_rmse is None
    assert "pthb" in expected.words
    known = AUTO.expectation(domain_of(3), epsilon("1"), {})
    assert known.cell_rmse == pytest.approx(np.sqrt(2) / 0.98, rel=0.1)


def in_rho(image, rho, **more):
    return run(RHO_STRATEGIES["auto"], cube_of(image, **more), rho, kind=GAUSSIAN)[0]


def test_gaussian_noise_moves_the_choice_where_partitions_draw_laplace_noise():
    line = np.random.default_rng(1).multinomial(10**5, np.full(4_096, 1 / 4_096))
    assert run(AUTO, cube_of(line), epsilon("0.1"))[0].strategy == "pthb"
    assert in_rho(line, epsilon("0.005")).strategy == "hb"
    few, many = np.full((60, 60), 0), np.full((60, 60), 2_000)
    assert in_rho(few, epsilon("0.005")).strategy == "agrid"
    assert in_rho(many, epsilon("0.005")).strategy == "hb"


def test_the_more_cells_a_unit_is_in_the_sooner_gaussian_noise_is_picked():
    few = np.full((60, 60), 1)
    assert in_rho(few, epsilon("0.005")).strategy == "agrid"
    many = np.full((60, 60), 40)
    assert in_rho(many, epsilon("0.005"), bound=25, in_cell=1).strategy == "hb"
    rest = epsilon("0.005")
    gains = {name: gain(name, RHO_STRATEGIES) for name in ("cells", "hb")}
    ends = [
        weighed(rules_of(own, is_rho=True), gains, own, rest)[0].load_per_cell
        for own in (domain_of(60, 60), domain_of(60, 60, bound=25, in_cell=1))
    ]
    assert ends[0] > 3 * ends[1]


def test_what_gaussian_noise_gains_is_read_off_public_errors():
    own = domain_of(500, bound=16, in_cell=1)
    found = gain("cells", RHO_STRATEGIES)(own, epsilon("0.005"))
    assert found == pytest.approx(2**0.5 * 4, rel=0.05)  # tails, and the root of D
