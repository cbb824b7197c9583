"""Strategies that are proved in epsilon, where a release is paid in rho."""

from typing import Generic, TypeVar

from mechanisms.measuring.meter import Meter, Part
from mechanisms.scales.conversions.pure import pure_loss_floor
from privacy.losses import Loss
from release.contract.errors import ReleaseRefusedError
from release.contract.strategies import Expectation, Parameters, Strategy

DomainT = TypeVar("DomainT")
SealedT = TypeVar("SealedT")
ModelT = TypeVar("ModelT")

WHOLE = "pure"
"""The one part: what it pays for divides into epsilons, as the strategy's page says."""


class PricedInRho(Generic[DomainT, SealedT, ModelT]):
    """Spends a rho as the most epsilon that it pays for, by Laplace noise.

    What is epsilon-DP costs epsilon tanh(epsilon/2), whatever its noise is.
    Source: docs/proofs/zcdp.md.
    """

    def __init__(self, strategy: Strategy[DomainT, SealedT, ModelT]) -> None:
        self.name = strategy.name
        self._strategy = strategy

    def parts(
        self, domain: DomainT, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return the one part; refuse what the strategy refuses of its epsilon.

        Raises:
            ReleaseRefusedError: Domain or parameters do not fit the strategy.
        """
        self._strategy.parts(domain, _epsilon(loss), parameters)
        return (Part(WHOLE, loss),)

    def expectation(
        self, domain: DomainT, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return what is expected at that epsilon, which it tells."""
        epsilon = _epsilon(loss)
        told = self._strategy.expectation(domain, epsilon, parameters)
        words = f"{told.words} Its noise is Laplace noise, of epsilon {epsilon}."
        return Expectation(told.cell_rmse, told.total_rmse, words)

    def measure(
        self, sealed: SealedT, meter: Meter, parameters: Parameters, /
    ) -> ModelT:
        """Divide the epsilon, and measure as the strategy does.

        Neighbouring relation: add or remove all rows of one unit.
        """
        domain: DomainT = sealed.domain  # type: ignore[attr-defined] # both kinds have it
        parts = self._strategy.parts(domain, _epsilon(meter.left(WHOLE)), parameters)
        return self._strategy.measure(sealed, meter.pure(WHOLE, parts), parameters)


def _epsilon(loss: Loss) -> Loss:
    epsilon = pure_loss_floor(loss)
    if epsilon == Loss(0):
        message = f"a rho of {loss} buys no epsilon"
        raise ReleaseRefusedError(message)
    return epsilon
