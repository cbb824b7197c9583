"""What one query may spend."""

from dataclasses import dataclass

from privacy.errors import InvalidLossError
from privacy.losses import Loss
from privacy.measures import PURE, Measure


@dataclass(frozen=True, slots=True)
class LossRange:
    """The losses that a population lets one query spend, and what they count."""

    minimum: Loss
    maximum: Loss
    measure: Measure = PURE

    def check(self, loss: Loss) -> Loss:
        """Return ``loss`` if it lies in the range.

        Raises:
            InvalidLossError: It does not.
        """
        if not self.minimum <= loss <= self.maximum:
            raise InvalidLossError(text=str(loss), reason=str(self))
        return loss

    def __str__(self) -> str:
        """Say it as refusals do."""
        return (
            f"one query may spend {self.measure.word} {self.minimum} to {self.maximum}"
        )
