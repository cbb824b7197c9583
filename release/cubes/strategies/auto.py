"""Picks a strategy by a fixed public rule of the domain and a noisy total."""

from collections.abc import Mapping
from typing import Final

from mechanisms.measuring.meter import Meter, Part
from mechanisms.scales.conversions.pure import pure_loss_floor
from mechanisms.scales.noises import GAUSSIAN, LAPLACE, Noise
from privacy.losses import Loss
from release.contract.domain import CubeDomain
from release.contract.models import CubeModel
from release.contract.parameters import (
    divide,
    refuse_too_small,
    refuse_unknown,
    share,
)
from release.contract.sealed_cube import SealedCube
from release.contract.strategies import Expectation, Parameters
from release.cubes.models.picked import PickedModel
from release.cubes.strategies.contract import CubeStrategy
from release.cubes.strategies.rules import Gains, Rule, pick, rules_of, weighed

TOTAL_SHARE: Final = "0.02"


class Auto:
    """Spends a small part on the total, and the rest as the picked strategy does.

    Source: docs/proofs/auto.md.
    """

    name = "auto"

    def __init__(
        self,
        strategies: Mapping[str, CubeStrategy],
        gains: Gains | None = None,
    ) -> None:
        """Pick among strategies.

        Args:
            strategies: By name.
            gains: How much less some of them err than at the epsilon that a rho pays
                for; None where losses are pure.
        """
        self._strategies = strategies
        self._gains = gains

    @property
    def noise(self) -> Noise:
        """Of the total."""
        return LAPLACE if self._gains is None else GAUSSIAN

    def _rules(self, domain: CubeDomain, rest: Loss) -> tuple[Rule, ...]:
        if self._gains is None:
            return rules_of(domain)
        return weighed(rules_of(domain, is_rho=True), self._gains, domain, rest)

    def parts(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return the part of the total, and the rest."""
        refuse_unknown(parameters, ["total_share"])
        total = share(parameters, "total_share", TOTAL_SHARE)
        total_part, rest = divide(loss, [("total", total), ("rest", 1 - total)])
        refuse_too_small(domain.bound, total_part.loss, self.noise)
        for rule in self._rules(
            domain, rest.loss
        ):  # any may be picked once the total is drawn
            own = self._strategies[rule.pick.strategy]
            own.parts(domain, rest.loss, rule.pick.parameters)
        return total_part, rest

    def expectation(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return what is expected of the pick, where public facts decide it."""
        _, rest = self.parts(domain, loss, parameters)
        rules = self._rules(domain, rest.loss)
        least, most = rules[0].pick, rules[-1].pick
        if len(rules) == 1:
            own = self._strategies[least.strategy]
            return own.expectation(domain, rest.loss, least.parameters)
        return Expectation(
            cell_rmse=None,
            total_rmse=None,
            words=f"From {least.strategy} for few counts to {most.strategy} for many.",
        )

    def measure(
        self, cube: SealedCube, meter: Meter, parameters: Parameters
    ) -> CubeModel:
        """Count all, pick, measure. Neighbours: add or remove all rows of one unit."""
        refuse_unknown(parameters, ["total_share"])
        domain = cube.domain
        total = meter.counts("total", cube.marginal(()), domain.bound)
        rest = meter.left("rest")
        noisy_total = int(total.values[0])
        epsilon = rest if self._gains is None else pure_loss_floor(rest)
        load = max(0, noisy_total) * float(epsilon.epsilon) / domain.bound
        picked = pick(domain, load, self._rules(domain, rest))
        strategy = self._strategies[picked.strategy]
        shares = strategy.parts(domain, rest, picked.parameters)
        inner = meter.divide("rest", shares)
        return PickedModel(
            inner=strategy.measure(cube, inner, picked.parameters),
            strategy=picked.strategy,
            parameters=picked.parameters,
            noisy_total=noisy_total,
            total_scale=total.scale,
        )
