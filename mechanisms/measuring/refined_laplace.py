"""More precision for a request that was measured before, for what it is short of."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from mechanisms.errors import UnpaidMeasurementError
from mechanisms.samplers.laplace import Sampler
from mechanisms.samplers.refined_laplace import LEAST_GAIN
from mechanisms.scales.calibration import MAX_SCALE, MAX_SENSITIVITY, spends_at_most
from privacy.charges import Charge
from privacy.events import MeasuredVector, PriceEvent
from privacy.losses import ZERO_LOSS
from privacy.sealed import Exact


@dataclass(frozen=True, slots=True)
class Shown:
    """A request as it was measured and shown, with discrete Laplace noise.

    Attributes:
        event: With the scales that the noise was drawn at.
        vectors: What was shown, in grid steps, in the order of ``event``.
    """

    event: PriceEvent
    vectors: Sequence[Sequence[int]]


def can_refine(shown: PriceEvent, event: PriceEvent) -> bool:
    """Whether a request may be measured as ``event`` after it was as ``shown``.

    Each vector has the same sensitivity, and noise that is finer by a twentieth.
    """
    pairs = list(zip(shown.vectors, event.vectors, strict=False))
    return (
        shown.measure.is_pure
        and event.measure.is_pure
        and len(pairs) == len(shown.vectors) == len(event.vectors)
        and all(
            before.sensitivity == now.sensitivity
            and Fraction(now.scale) * LEAST_GAIN <= Fraction(before.scale)
            for before, now in pairs
        )
    )


def refine_event(
    sealed_vectors: Sequence[Exact[tuple[int, ...]]],
    shown: Shown,
    event: PriceEvent,
    charge: Charge,
    sampler: Sampler,
) -> list[list[int]]:
    """Measure a request again, so that what was shown contains the new noise.

    Both together are as private as ``event`` alone. That holds once for what was shown:
    whoever calls makes sure that nothing else refines it, and that the vectors are the
    very ones that were measured then (docs/proofs/refining.md).

    Args:
        sealed_vectors: One a vector of ``event``, in its order.
        shown: As the request was measured before.
        event: As it is measured now; it spends what ``shown`` did and the charge.
        charge: Proof of payment.
        sampler: Where the noise comes from.

    Returns:
        Noisy vectors, in grid steps, in the same order.

    Raises:
        UnpaidMeasurementError: The vectors do not match, or this spends more than both
            payments. No seal was opened.

    Neighbouring relation: add or remove all rows of one unit.
    """
    spent = sum((vector.loss for vector in event.vectors), ZERO_LOSS)
    if (
        spent > shown.event.loss + charge.loss
        or not len(sealed_vectors) == len(shown.vectors) == len(event.vectors)
        or not can_refine(shown.event, event)
        or not all(_spends_its_part(vector) for vector in event.vectors)
    ):
        raise UnpaidMeasurementError
    scales = [
        (before.scale, now.scale)
        for before, now in zip(shown.event.vectors, event.vectors, strict=True)
    ]
    return [
        sampler.refined_laplace(sealed.unseal(), numbers, *each)
        for sealed, numbers, each in zip(
            sealed_vectors, shown.vectors, scales, strict=True
        )
    ]


def _spends_its_part(vector: MeasuredVector) -> bool:
    l1 = vector.sensitivity.l1
    return (
        0 < l1 <= MAX_SENSITIVITY
        and 0 < vector.scale <= MAX_SCALE
        and spends_at_most(l1, vector.scale, vector.loss)
    )
