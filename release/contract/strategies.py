"""What every strategy of a cube release offers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from mechanisms.measuring.meter import Meter, Part
from privacy.losses import Loss
from release.contract.domain import CubeDomain
from release.contract.models import CubeModel
from release.contract.sealed_cube import SealedCube

Parameters = Mapping[str, object]
"""Of one strategy: checked by its own ``parts``; JSON values."""


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


class Strategy(Protocol):
    """Spends a loss on a cube; stateless."""

    name: str

    def parts(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return how the loss divides; the parts' sum is exactly ``loss``.

        Raises:
            ReleaseRefusedError: The domain or a parameter does not fit the strategy.
        """
        ...

    def expectation(
        self, domain: CubeDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return the error that public facts foretell.

        Raises:
            ReleaseRefusedError: As ``parts``.
        """
        ...

    def measure(
        self, cube: SealedCube, meter: Meter, parameters: Parameters
    ) -> CubeModel:
        """Spend the meter's parts, each once, and return what may be published.

        Neighbouring relation: add or remove all rows of one unit. Proof: the page of
        the strategy's name in docs/proofs.
        """
        ...
