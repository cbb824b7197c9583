"""Noise is added to what was measured, and the answer made of it.

Noise is drawn once a charge (PRIVACY 5); what each draw was of is kept beside it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engines.contract import SealedVector
from mechanisms.measuring.events import measure_event
from mechanisms.measuring.refined_laplace import refine_event
from mechanisms.samplers.laplace import Sampler
from server.use_cases.questions.answers import answer_document
from server.use_cases.questions.asking.submissions import Paid
from server.use_cases.questions.measured import Drawn, Measured
from server.use_cases.questions.paid.documents import finer_document, made_document
from server.use_cases.questions.paid.finer_draws import Finer, drawn_of
from server.use_cases.questions.paid.refining import Earlier
from server.use_cases.questions.questions import Question
from server.use_cases.questions.studies.composed import StudyQuestion
from server.use_cases.questions.studies.documents import (
    stored_vectors,
    study_document,
)
from server.use_cases.services.documents import encode
from server.use_cases.services.services import DrawnAnswer

_BY_NO_TEXT = ""  # in the place of the text whose document shows some vectors
Sealed = Sequence[SealedVector]


@dataclass(frozen=True, slots=True)
class Drawing:
    """Draws the noise of charged questions.

    Attributes:
        sampler: Where noise comes from.
        engine: Name and version of what measured.
    """

    sampler: Sampler
    engine: str

    def drawn(self, paid: Paid, sealed: Sealed) -> DrawnAnswer:
        """Return a charged question's answer, and the vectors behind it."""
        if isinstance(paid.question, StudyQuestion):
            return self._study(paid, paid.question, sealed)
        match paid.before:
            case Finer():
                return self._finer(paid, paid.before, sealed)
            case Earlier():
                return self._added(paid, paid.before, sealed)
            case None:
                return self._fresh(paid, sealed)

    def _fresh(self, paid: Paid, sealed: Sealed) -> DrawnAnswer:
        question = paid.question
        event = question.measured_at(paid.charge.loss).event
        noisy = measure_event(sealed, event, paid.charge, self.sampler)
        document = answer_document(
            question,
            query_id=paid.charge.query_id,
            noisy_vectors=noisy,
            remaining=paid.remaining,
        )
        vectors = question.normal.normal_vectors(noisy)
        drawn = self._drawn_of(question) if event.measure.is_pure else None
        return _stored(document, Measured(question.former, vectors, drawn))

    def _added(self, paid: Paid, earlier: Earlier, sealed: Sealed) -> DrawnAnswer:
        """Show a draw with those before it; its own numbers are kept."""
        question = paid.question
        event = question.measured_at(paid.charge.loss).event
        noisy = measure_event(sealed, event, paid.charge, self.sampler)
        made = earlier.with_draw(event, noisy)
        document = made_document(
            question,
            made,
            made.vectors,
            query_id=paid.charge.query_id,
            remaining=paid.remaining,
        )
        vectors = question.normal.normal_vectors(noisy)
        return _stored(document, Measured(_BY_NO_TEXT, vectors))

    def _finer(self, paid: Paid, finer: Finer, sealed: Sealed) -> DrawnAnswer:
        """Draw given what was shown."""
        question = paid.question
        shown, charge = finer.shown, paid.charge
        noisy = refine_event(sealed, shown, question.event, charge, self.sampler)
        document = finer_document(
            question,
            finer,
            query_id=charge.query_id,
            noisy_vectors=noisy,
            remaining=paid.remaining,
        )
        vectors = question.normal.normal_vectors(noisy)
        drawn = self._drawn_of(question)
        return _stored(document, Measured(_BY_NO_TEXT, vectors, drawn))

    def _study(self, paid: Paid, study: StudyQuestion, sealed: Sealed) -> DrawnAnswer:
        """Add noise to all tables of a study, and make its answers of them."""
        noisy = measure_event(sealed, study.event, paid.charge, self.sampler)
        document = study_document(
            study,
            query_id=paid.charge.query_id,
            noisy_vectors=noisy,
            remaining=paid.remaining,
        )
        vectors = stored_vectors(study.of, noisy)
        return _stored(document, Measured(_BY_NO_TEXT, vectors))

    def _drawn_of(self, question: Question) -> Drawn:
        return drawn_of(question, self.engine)


def _stored(document: Mapping[str, object], measured: Measured) -> DrawnAnswer:
    return DrawnAnswer(encode(document), measured.encode())
