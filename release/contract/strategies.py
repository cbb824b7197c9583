"""What every strategy of a release offers, of whatever kind the release is."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from mechanisms.measuring.meter import Meter, Part
from privacy.losses import Loss

Parameters = Mapping[str, object]
"""The parameters of one strategy, as JSON values; its own ``parts`` checks them."""


Domain_contra = TypeVar("Domain_contra", contravariant=True)
Sealed_contra = TypeVar("Sealed_contra", contravariant=True)
Model_co = TypeVar("Model_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What public facts alone say of the error.

    Attributes:
        cell_rmse: Root mean squared error of one cell, in units or rows; None where it
            depends on the data.
        total_rmse: Of the sum of all cells.
        words: One plain sentence about what the error depends on.
    """

    cell_rmse: float | None
    total_rmse: float | None
    words: str


class Strategy(Protocol[Domain_contra, Sealed_contra, Model_co]):
    """Spends a loss on what is counted under seal; stateless."""

    name: str

    def parts(
        self, domain: Domain_contra, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return how the loss divides; the parts' sum is exactly ``loss``.

        Raises:
            ReleaseRefusedError: The domain or a parameter does not fit the strategy.
        """
        ...

    def expectation(
        self, domain: Domain_contra, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return the error that public facts predict.

        Raises:
            ReleaseRefusedError: As ``parts``.
        """
        ...

    def measure(
        self, sealed: Sealed_contra, meter: Meter, parameters: Parameters, /
    ) -> Model_co:
        """Spend the meter's parts, each once, and return what may be published.

        Neighbouring relation: add or remove all rows of one unit. Proof: the page of
        the strategy's name in docs/proofs.
        """
        ...


class _Named(Protocol):
    name: str


NamedT = TypeVar("NamedT", bound=_Named)


def registered(
    plain: Iterable[NamedT], auto: Callable[[Mapping[str, NamedT]], NamedT]
) -> Mapping[str, NamedT]:
    """Return strategies by the names that specs call them, and the one that picks.

    Args:
        plain: All that can be picked.
        auto: Makes the one that picks, of those by name.
    """
    named = {strategy.name: strategy for strategy in plain}
    picking = auto(named)
    return {**named, picking.name: picking}
