"""Discrete Laplace noise: the only way from a sealed vector to a number."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from mechanisms.calibration import spends_at_most
from mechanisms.errors import UnpaidMeasurementError
from mechanisms.samplers import Sampler
from privacy.charges import Charge
from privacy.events import MeasuredVector, PriceEvent
from privacy.losses import Loss
from privacy.sealed import Exact


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """Add integer noise; pure epsilon-DP under the L1 distance.

    ``P(noise = z)`` is proportional to ``exp(-|z| / scale)``, over all integers.
    Proof: docs/proofs/discrete_laplace.md.
    """

    scale: float  # in grid steps, exact as Fraction(scale)

    def epsilon(self, *, l1_sensitivity: Fraction) -> Fraction:
        """Return the privacy loss at this distance (the privacy map).

        Neighbouring relation: add or remove all rows of one unit.
        """
        return l1_sensitivity / Fraction(self.scale)

    def measure(
        self,
        sealed: Exact[tuple[int, ...]],
        charge: Charge,  # noqa: ARG002 - the types allow nothing unpaid
        sampler: Sampler,
    ) -> list[int]:
        """Unseal a vector and return it with fresh noise on every entry.

        Args:
            sealed: One exact vector; saturated by the sampler, never refused.
            charge: Proof that the loss is paid; ``measure_event`` compares amounts.
            sampler: Where the noise comes from.
        """
        return sampler.discrete_laplace(sealed.unseal(), self.scale)


def measure_event(
    sealed: Sequence[Exact[tuple[int, ...]]],
    event: PriceEvent,
    charge: Charge,
    sampler: Sampler,
) -> list[list[int]]:
    """Measure every vector of a priced and charged event.

    Raises:
        UnpaidMeasurementError: The vectors would spend more than was charged; no seal
            was opened.

    Neighbouring relation: add or remove all rows of one unit.
    """
    _check_paid(event, charge)
    return [
        DiscreteLaplace(vector.scale).measure(exact, charge, sampler)
        for exact, vector in zip(sealed, event.vectors, strict=True)
    ]


def _check_paid(event: PriceEvent, charge: Charge) -> None:
    spent = sum((vector.loss.nano_epsilon for vector in event.vectors), 0)
    if Loss(spent) > charge.loss or not all(map(_keeps_to_its_part, event.vectors)):
        raise UnpaidMeasurementError


def _keeps_to_its_part(vector: MeasuredVector) -> bool:
    return spends_at_most(vector.sensitivity.l1, vector.scale, vector.loss)
