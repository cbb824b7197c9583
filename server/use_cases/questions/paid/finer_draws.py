"""The same question at a higher epsilon, for the difference.

Where noise is discrete Laplace, finer noise is drawn given the coarser one that was
shown, so that both together are as private as the finer one alone. That needs the very
numbers that were measured then, the scales that they were drawn at, and that nothing
else draws on the same noise: the ledger refuses a second time
(docs/proofs/refining.md).
"""

import hashlib
from dataclasses import dataclass, replace
from math import ceil

from budget.ledger import Refinement
from mechanisms.measuring.refined_laplace import Shown, can_refine
from privacy.events import PriceEvent
from privacy.losses import Loss
from server.use_cases.questions.measured import Drawn, Measured
from server.use_cases.questions.questions import Question, finer_text
from server.use_cases.questions.wishes.prices import LEAST_GAIN


@dataclass(frozen=True, slots=True)
class Finer:
    """A paid answer that a charge goes on from, once.

    Attributes:
        query_id: Of the charge that paid for it.
        loss: What its numbers cost.
        shown: Its numbers, in the order of the question, and their noise.
    """

    query_id: str
    loss: Loss
    shown: Shown


def work_of_drawing_again(question: Question) -> int:
    """Return what drawing given noise takes beside a fresh draw, in compared cells.

    Reading the noise included. A number takes some microseconds
    (``python -m benchmarks.noise.refining``).
    """
    cells = len(question.compiled.rendered.cells)
    return 1 + cells * sum(m.size for m in question.compiled.measures) // 10


def drawn_of(question: Question, engine: str) -> Drawn:
    """Return what is kept of a draw, so that it can be gone on from."""
    scales = [vector.scale for vector in question.event.vectors]
    return Drawn(plan_digest(question, engine), scales)


def plan_digest(question: Question, engine: str) -> str:
    """Return what is equal for questions that measure the very same numbers.

    The statements themselves, on a snapshot that never changes, by one version of one
    engine, each measure in its own place and with its own share of the loss: two texts
    of one meaning need not have it, which costs precision and no privacy.

    Args:
        question: At any loss.
        engine: Its name and version.
    """
    measures = question.compiled.measures
    order = [*question.normal.measure_order(), *(m.weight for m in measures)]
    facts = (engine, question.snapshot, order, question.compiled.rendered)
    words = "\n".join(map(repr, facts))
    return hashlib.sha256(words.encode()).hexdigest()


def finer_of(
    query_id: str, loss: Loss, stored: bytes | None, question: Question, engine: str
) -> Finer | None:
    """Return a paid answer as a question goes on from it; None where it cannot.

    Args:
        query_id: Of the charge.
        loss: What its numbers cost.
        stored: Its vectors, as they were kept.
        question: At any loss.
        engine: That will run it: name and version.
    """
    measured = Measured.read(stored)
    if measured is None or measured.drawn is None:
        return None
    if measured.drawn.plan != plan_digest(question, engine):
        return None
    event = question.measured_at(loss).event
    if [vector.scale for vector in event.vectors] != list(measured.drawn.scales):
        return None  # another version priced it otherwise
    vectors = question.normal.own_vectors(measured.vectors)
    return Finer(query_id, loss, Shown(event, vectors))


def made_finer(question: Question, finer: Finer) -> Question | None:
    """Return a question at what it costs after what was paid; None where it cannot be.

    Args:
        question: As it costs where nothing was paid.
        finer: What was paid for it.
    """
    least = Loss(ceil(finer.loss.nano_epsilon * LEAST_GAIN))
    total = max(question.event.loss, least, finer.loss + question.losses.minimum)
    event = question.priced_at(total)
    if event is None or not can_refine(finer.shown.event, event):
        return None
    return finer_question(question, finer, total.minus_floor_zero(finer.loss), event)


def finer_question(
    question: Question, finer: Finer, price: Loss, event: PriceEvent
) -> Question:
    """Return a question that goes on from a paid answer, for a price."""
    return replace(
        question,
        event=event,
        price=price,
        text=finer_text(question.text, price, event.loss, finer.query_id),
        refines=Refinement(finer.query_id, event.loss),
    )
