"""The discrete Gaussian mechanism: opens a seal against proof of payment."""

import math
from dataclasses import dataclass
from fractions import Fraction

from mechanisms.errors import UnpaidMeasurementError
from mechanisms.samplers.laplace import Sampler
from mechanisms.scales.calibration import MAX_SCALE
from mechanisms.scales.gaussian.calibration import gaussian_spends_at_most
from privacy.charges import Charge
from privacy.events import MeasuredVector
from privacy.sealed import Exact


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Adds integer noise; rho-zCDP under the L2 distance of the vector.

    Attributes:
        scale: Sigma, in steps of the column's grid; exact as ``Fraction(scale)``.

    Neighbouring relation: add or remove all rows of one unit.
    Source: docs/proofs/discrete_gaussian.md.

    >>> DiscreteGaussian(scale=4.0).rho(l2_squared=Fraction(2))
    Fraction(1, 16)
    """

    scale: float

    def __post_init__(self) -> None:
        """Refuse a sigma that adds no noise, or more than 64 bits hold."""
        if not (math.isfinite(self.scale) and 0 < self.scale <= MAX_SCALE):
            message = f"a sigma lies above 0 and up to 2**40, not {self.scale}"
            raise ValueError(message)

    def rho(self, *, l2_squared: Fraction) -> Fraction:
        """Return the loss at this squared distance (the privacy map), exactly.

        Neighbouring relation: add or remove all rows of one unit.
        """
        return l2_squared / (2 * Fraction(self.scale) ** 2)

    def measure(
        self,
        sealed: Exact[tuple[int, ...]],
        charge: Charge,
        vector: MeasuredVector,
        sampler: Sampler,
    ) -> list[int]:
        """Unseal a vector and return it with fresh noise, one draw for all cells.

        Args:
            sealed: Exact values, in grid steps.
            charge: Proof of payment for the whole request, as rho.
            vector: What this vector was priced at.
            sampler: Where the noise comes from.

        Raises:
            UnpaidMeasurementError: This sigma spends more than the vector's part, or
                the part is more than the charge. The seal stays closed.
        """
        if vector.loss > charge.loss or not self._spends_at_most(vector):
            raise UnpaidMeasurementError
        return sampler.discrete_gaussian(sealed.unseal(), self.scale)

    def _spends_at_most(self, vector: MeasuredVector) -> bool:
        squared = vector.sensitivity.l2_squared
        return squared > 0 and gaussian_spends_at_most(squared, self.scale, vector.loss)
