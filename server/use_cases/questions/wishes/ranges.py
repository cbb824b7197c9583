"""What one query may spend, and what of a question is priced."""

from dataclasses import dataclass
from fractions import Fraction

from privacy.errors import InvalidLossError
from privacy.events import VectorSensitivity
from privacy.losses import Loss
from privacy.measures import PURE, Measure
from query_lang.plans.compiled import CompiledQuery
from server.use_cases.questions.requests import Accuracy, loss_of


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


def vectors_of(
    compiled: CompiledQuery,
) -> tuple[list[VectorSensitivity], list[Fraction]]:
    """Return the sensitivity and the weight of each measure."""
    measures = compiled.measures
    return [m.sensitivity for m in measures], [m.weight for m in measures]


def needs_more(losses: LossRange, wish: Accuracy, nearest: str) -> InvalidLossError:
    """Return why an accuracy is refused that costs more than may be spent.

    Args:
        losses: That one query may spend.
        wish: The accuracy.
        nearest: What the most that may be spent brings.
    """
    reason = f"this accuracy needs more than {losses.maximum}, "
    reason += f"{_most_allowed(losses, wish)}; {nearest}"
    return InvalidLossError(text=str(losses.maximum), reason=reason)


def _most_allowed(losses: LossRange, wish: Accuracy) -> str:
    """Say whose limit the most is that an accuracy may cost."""
    if wish.at_most is None:
        return "the most that one query may spend"
    paid = loss_of(wish.at_most) < losses.maximum
    return f"the most that you allow{' with what was paid before' if paid else ''}"
