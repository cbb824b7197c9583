"""The discrete Laplace mechanism: opens a seal against proof of payment."""

import math
from dataclasses import dataclass
from fractions import Fraction

from mechanisms.errors import UnpaidMeasurementError
from mechanisms.samplers.laplace import Sampler
from mechanisms.scales.calibration import MAX_SCALE, MAX_SENSITIVITY, spends_at_most
from privacy.charges import Charge
from privacy.events import MeasuredVector
from privacy.sealed import Exact


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """Adds integer noise; pure epsilon-DP under the L1 distance of the vector.

    Attributes:
        scale: In steps of the column's grid; exact as ``Fraction(scale)``.

    Neighbouring relation: add or remove all rows of one unit.
    Source: docs/proofs/discrete_laplace.md.

    >>> DiscreteLaplace(scale=8.0).epsilon(l1_sensitivity=Fraction(2))
    Fraction(1, 4)
    """

    scale: float

    def __post_init__(self) -> None:
        """Refuse a scale that adds no noise, or more than 64 bits hold."""
        if not (math.isfinite(self.scale) and 0 < self.scale <= MAX_SCALE):
            message = f"a noise scale lies above 0 and up to 2**40, not {self.scale}"
            raise ValueError(message)

    def epsilon(self, *, l1_sensitivity: Fraction) -> Fraction:
        """Return the privacy loss at this distance (the privacy map), exactly.

        Neighbouring relation: add or remove all rows of one unit.
        """
        return l1_sensitivity / Fraction(self.scale)

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
            charge: Proof of payment for the whole request.
            vector: What this vector was priced at.
            sampler: Where the noise comes from.

        Raises:
            UnpaidMeasurementError: This scale spends more than the vector's part, or
                the part is more than the charge. The seal stays closed.
        """
        if vector.loss > charge.loss or not self._spends_at_most(vector):
            raise UnpaidMeasurementError
        return sampler.discrete_laplace(sealed.unseal(), self.scale)

    def _spends_at_most(self, vector: MeasuredVector) -> bool:
        l1 = vector.sensitivity.l1
        return 0 < l1 <= MAX_SENSITIVITY and spends_at_most(l1, self.scale, vector.loss)
