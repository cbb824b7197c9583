"""Gaussian noise of the bare mechanism: the loss is what was charged, and no less.

At most the charge in rho, and at least 0.7 of it, by bounds that are wrong with
probability 1e-6; likewise the epsilon that rho is with a delta. Each block of cells has
a patient of its own in one arm, who attains the stated squared distance.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.measuring.events import measure_event
from mechanisms.samplers.queries import QuerySampler
from mechanisms.scales.conversions.zcdp import epsilon_ceil
from mechanisms.scales.pricing import price
from privacy.charges import Charge
from privacy.events import VectorSensitivity
from privacy.losses import Loss
from privacy.measures import zcdp
from privacy.sealed import Exact
from server.use_cases.questions.paid.refining import weights_of
from tests.audit.instruments.bounds import VERDICT_ALPHA
from tests.audit.instruments.concentrated import (
    Statistic,
    epsilon_lower_bound,
    least_bound,
    rho_lower_bound,
)
from tests.effort import gate_first
from tests.support.noise.samplers import ScaledSampler

pytestmark = [pytest.mark.slow, pytest.mark.statistical, pytest.mark.thorough]

RHO = zcdp(Loss.parse("0.000001"))
LEAST = 0.7
CELLS = 1_000_000  # an arm
LONG_CELLS = 10_000_000
DELTA = Fraction(1, 100)


@dataclass(frozen=True)
class Suite:
    """A block of cells, how far a patient moves each, and what is charged."""

    name: str
    moves: tuple[int, ...]
    charge: Loss

    def price(self):
        squared = Fraction(sum(move**2 for move in self.moves))
        sensitivity = VectorSensitivity(Fraction(sum(self.moves)), squared, squared)
        return price([sensitivity], [Fraction(1)], self.charge, RHO)

    def statistic(self):
        return Statistic(self.moves, self.price().vectors[0].scale)

    def arms(self, sampler, cells=CELLS):
        """Return the statistic of each block, with and without its patient."""
        silent = (0,) * len(self.moves)
        parts = cells // CELLS
        return [
            np.concatenate([self.measured(exact, sampler) for _ in range(parts)])
            for exact in (self.moves, silent)
        ]

    def measured(self, exact, sampler):
        """Return the statistic of each block of a vector, measured and paid once."""
        blocks = CELLS // len(exact)
        sealed, charge = Exact(exact * blocks), Charge("q_test", self.charge)
        noisy = measure_event([sealed], self.price(), charge, sampler)
        return self.statistic().of(np.reshape(noisy[0], (blocks, len(exact))))

    @property
    def claim(self):
        return float(self.charge.epsilon)


SUITES = [
    Suite("one count", (1,), Loss(500_000_000)),
    Suite("a heavy patient", (40,), Loss(50_000_000)),
    Suite("ten groups", (1,) * 10, Loss(500_000_000)),
    Suite("groups of unlike moves", (3, 1, 0, 0, 2), Loss(200_000_000)),
]
NAMED = {"ids": lambda suite: getattr(suite, "name", str(suite)).replace(" ", "-")}
SIZES = [CELLS, pytest.param(LONG_CELLS, marks=pytest.mark.long)]


@pytest.mark.parametrize("suite", SUITES, **NAMED)
def test_the_stated_noise_spends_what_is_charged(suite):
    assert 0.999999 * suite.claim < suite.statistic().rho <= suite.claim


@pytest.mark.parametrize("cells", SIZES)
@pytest.mark.parametrize("suite", gate_first(2, SUITES), **NAMED)
def test_gaussian_noise_shows_the_rho_that_was_charged(suite, cells, report):
    bound = rho_lower_bound(*suite.arms(QuerySampler(), cells), VERDICT_ALPHA)

    report(f"{suite.name}: {cells:,} cells: rho {bound:.4f} of {suite.claim}")
    assert LEAST * suite.claim <= bound <= suite.claim


@pytest.mark.parametrize("suite", SUITES, **NAMED)
def test_verdicts_on_rho_are_wrong_less_than_once_in_a_million_runs(suite):
    samples = CELLS // len(suite.moves)
    lowest = least_bound(suite.claim, samples, VERDICT_ALPHA)
    assert lowest >= LEAST * suite.claim


@pytest.mark.parametrize("factor", [0.5, 1.5])
@pytest.mark.parametrize("suite", gate_first(1, SUITES), **NAMED)
def test_gaussian_noise_of_a_wrong_scale_is_caught(suite, factor, report):
    bound = rho_lower_bound(*suite.arms(ScaledSampler(factor)), VERDICT_ALPHA)

    report(f"{suite.name}, noise x {factor}: rho {bound:.4f}: must fail")
    assert bound > suite.claim if factor < 1 else bound < LEAST * suite.claim


FINE = Suite("a fine grid", (40,), Loss(500_000_000))
THRESHOLDS = (2.318, 0.9)
"""Where normal noise of rho 1/2 spends a delta of 1/100, and where half of it shows."""


def epsilon_shown(sampler, cells=CELLS):
    arms = FINE.arms(sampler, cells)
    alpha = VERDICT_ALPHA / len(THRESHOLDS)
    return max(
        epsilon_lower_bound(*arms, threshold, float(DELTA), alpha)
        for threshold in THRESHOLDS
    )


@pytest.mark.parametrize("cells", SIZES)
def test_gaussian_noise_shows_the_epsilon_that_rho_is_with_a_delta(cells, report):
    claim = float(epsilon_ceil(FINE.charge, DELTA).epsilon)
    bound = epsilon_shown(QuerySampler(), cells)

    report(f"rho 0.5, delta 0.01: {cells:,} cells: epsilon {bound:.3f} of {claim:.3f}")
    assert LEAST * claim <= bound <= claim


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_gaussian_noise_of_a_wrong_scale_shows_another_epsilon(factor, report):
    claim = float(epsilon_ceil(FINE.charge, DELTA).epsilon)
    bound = epsilon_shown(ScaledSampler(factor))

    report(f"delta 0.01, noise x {factor}: epsilon {bound:.3f}: must fail")
    assert bound > claim if factor < 1 else bound < LEAST * claim


@dataclass(frozen=True)
class Refined:
    """One count that was asked twice, the second time for the difference."""

    first: Suite
    second: Suite
    name: str = "more precision for the difference"

    @property
    def claim(self):
        """The loss of both answers together."""
        return self.first.claim + self.second.claim

    def arms(self, sampler, cells=CELLS):
        """Return the statistic of both answers, with the patient and without.

        It follows from the mean by precision alone, which is what the second answer
        shows: the mean is sufficient.
        """
        scales = [suite.statistic().scale for suite in (self.first, self.second)]
        weights = [float(weight) for weight in weights_of(scales)]
        precision = sum(1 / scale**2 for scale in scales)
        parts = cells // CELLS
        return [
            np.concatenate(
                [
                    precision * self._means(move, weights, sampler) - self.claim
                    for _ in range(parts)
                ]
            )
            for move in (1, 0)
        ]

    def _means(self, move, weights, sampler):
        drawn = [
            weight * self._draws(suite, move, sampler)
            for suite, weight in zip((self.first, self.second), weights, strict=True)
        ]
        return drawn[0] + drawn[1]

    def _draws(self, suite, move, sampler):
        sealed, charge = Exact((move,) * CELLS), Charge("q_test", suite.charge)
        noisy = measure_event([sealed], suite.price(), charge, sampler)
        return np.asarray(noisy[0])


REFINED = Refined(
    Suite("before", (1,), Loss(200_000_000)), Suite("added", (1,), Loss(300_000_000))
)


@pytest.mark.parametrize("cells", SIZES)
def test_two_answers_show_the_rho_of_both_and_no_less(cells, report):
    bound = rho_lower_bound(*REFINED.arms(QuerySampler(), cells), VERDICT_ALPHA)

    report(f"{REFINED.name}: {cells:,} cells: rho {bound:.4f} of {REFINED.claim}")
    assert LEAST * REFINED.claim <= bound <= REFINED.claim


def test_half_the_noise_in_both_answers_is_caught(report):
    bound = rho_lower_bound(*REFINED.arms(ScaledSampler(0.5)), VERDICT_ALPHA)

    report(f"{REFINED.name}, noise x 0.5: rho {bound:.4f}: must fail")
    assert bound > REFINED.claim
