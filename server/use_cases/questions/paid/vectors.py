"""What a charge paid for, as later questions of its project use it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

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

    def as_asked(self, question: Question) -> "PaidVectors":
        """Return this with measures and cells in the order of another text.

        Args:
            question: Of the same normal form: its text may name keys and measures in
                another order, and its numbers are read in that.
        """
        vectors = list(self.event.vectors)
        orders = question.normal.measure_order(), self.question.normal.measure_order()
        for asked, paid in zip(*orders, strict=True):
            vectors[asked] = self.event.vectors[paid]
        event = replace(self.event, vectors=tuple(vectors))
        return replace(self, question=question, event=event)


def loss_of_all(taken: Sequence[PaidVectors]) -> Loss:
    """Return what was paid for several answers."""
    return Loss(sum(paid.loss.nano_epsilon for paid in taken))
