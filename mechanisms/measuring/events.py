"""A priced request measured: all its vectors against one charge."""

from collections.abc import Sequence

from mechanisms.errors import UnpaidMeasurementError
from mechanisms.measuring.discrete_gaussian import DiscreteGaussian
from mechanisms.measuring.discrete_laplace import DiscreteLaplace
from mechanisms.samplers.laplace import Sampler
from privacy.charges import Charge
from privacy.events import PriceEvent
from privacy.losses import ZERO_LOSS
from privacy.sealed import Exact


def measure_event(
    sealed_vectors: Sequence[Exact[tuple[int, ...]]],
    event: PriceEvent,
    charge: Charge,
    sampler: Sampler,
) -> list[list[int]]:
    """Measure all vectors of a request against its one charge.

    Args:
        sealed_vectors: One a vector of ``event``, in its order.
        event: The priced request.
        charge: Proof of payment.
        sampler: Where the noise comes from.

    Returns:
        Noisy vectors, in grid steps, in the same order.

    Raises:
        UnpaidMeasurementError: The vectors do not match the event, or their parts sum
            to more than the charge. No seal was opened.

    Neighbouring relation: add or remove all rows of one unit. Losses of independent
    vectors add, epsilons and rhos alike (docs/proofs/privacy_filter.md, zcdp.md).
    """
    spent = sum((vector.loss for vector in event.vectors), ZERO_LOSS)
    if spent > charge.loss or len(sealed_vectors) != len(event.vectors):
        raise UnpaidMeasurementError
    mechanism = DiscreteLaplace if event.measure.is_pure else DiscreteGaussian
    return [
        mechanism(vector.scale).measure(sealed, charge, vector, sampler)
        for sealed, vector in zip(sealed_vectors, event.vectors, strict=True)
    ]
