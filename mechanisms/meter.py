"""A release's parts of its one charge: each is spent once, and their sum is paid."""

from collections.abc import Sequence
from dataclasses import dataclass

from mechanisms.calibration import laplace_scale, spends_at_most
from mechanisms.errors import UnpaidMeasurementError
from privacy.charges import Charge
from privacy.losses import ZERO_LOSS, Loss

__all__ = ["Meter", "Part", "laplace_scale", "spends_at_most"]


@dataclass(frozen=True, slots=True)
class Part:
    """A named share of a release's loss."""

    name: str
    loss: Loss


class Meter:
    """Lets each part of a paid loss be spent once.

    Raises:
        UnpaidMeasurementError: The parts are more than the charge, or two have a name.
    """

    def __init__(self, charge: Charge, parts: Sequence[Part]) -> None:
        names = [part.name for part in parts]
        spent = sum((part.loss for part in parts), ZERO_LOSS)
        if spent > charge.loss or len(set(names)) < len(names):
            raise UnpaidMeasurementError
        self._left = {part.name: part.loss for part in parts}
