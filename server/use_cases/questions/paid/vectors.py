"""What a charge paid for, as later questions of its project use it."""

from collections.abc import Sequence
from dataclasses import dataclass

from privacy.events import PriceEvent
from privacy.losses import Loss
from query_lang.deriving.grids import Grid
from server.use_cases.questions.questions import Question


@dataclass(frozen=True, slots=True)
class PaidVectors:
    """A paid question whose vectors may be added up.

    Attributes:
        query_id: Of its charge.
        loss: That it paid.
        question: As it was charged.
        event: Its noise.
        grids: What each of its measures counts; None: nothing that adds up.
        before: Vectors of other tables that stand in front of its own, where its charge
            paid for several.
    """

    query_id: str
    loss: Loss
    question: Question
    event: PriceEvent
    grids: tuple[Grid | None, ...]
    before: int = 0


def loss_of_all(taken: Sequence[PaidVectors]) -> Loss:
    """Return what was paid for several answers."""
    return Loss(sum(paid.loss.nano_epsilon for paid in taken))
