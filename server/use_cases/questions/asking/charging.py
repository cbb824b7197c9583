"""Charges questions: durable and anchored before their rows are touched (PRIVACY 5)."""

from dataclasses import replace

from budget.ledger import (
    Charged,
    ChargeRequest,
    FailedReplay,
    InFlight,
    Mismatch,
    NotRefinable,
    Refused,
    Replay,
    UncertainError,
)
from privacy.errors import CuratorError, LedgerUnavailableError
from server.use_cases.questions.answers import attainable_document
from server.use_cases.questions.asking.executing import Executing
from server.use_cases.questions.asking.limits import passed_limit, visible_remaining
from server.use_cases.questions.asking.submissions import (
    Before,
    Paid,
    Reply,
    Submission,
    settled,
)
from server.use_cases.questions.disk_space import require_disk_space
from server.use_cases.services.errors import InProgressError, OverBudgetError
from server.use_cases.services.services import Services

Uncharged = Refused | NotRefinable | Replay | InFlight | Mismatch | FailedReplay

_REFINED_MEANWHILE = (
    "another query adds to the same paid answer at this moment, and its noise can be "
    "drawn on once: nothing was charged; send it again"
)


class Charging:
    """Charges questions to every limit that they debit.

    Args:
        services: The parts.
        executing: Writes their plans down, before anything is charged.
    """

    def __init__(self, services: Services, executing: Executing) -> None:
        self._services = services
        self._executing = executing

    def charge(self, asked: Submission, before: Before | None = None) -> Reply | Paid:
        """Charge a question; touches no data.

        Args:
            asked: That is charged.
            before: Paid answers that it adds to or goes on from.

        Raises:
            CuratorError: Any refusal; nothing was spent.
        """
        question = asked.question
        asked.require_turn(question.compiled)
        self._services.unreadable.require(asked.grant.snapshot)
        self._require_room()
        execution = self._executing.execution(question)
        request = replace(asked.request(question.charged), refines=question.refines)
        outcome = self._charged(request)
        if isinstance(outcome, CuratorError):
            return Reply(request.query_id, executed=question, failure=outcome)
        if not isinstance(outcome, Charged):
            self._services.unreleased.release(request.query_id)
            return self._refused(asked, outcome)
        remaining = visible_remaining(outcome.remaining, asked.grant, asked.caller)
        return Paid(outcome.charge, question, remaining, execution, before=before)

    def _charged(self, request: ChargeRequest) -> Charged | Uncharged | CuratorError:
        """Charge; return an error after which nobody knows whether it was charged.

        Raises:
            CuratorError: Nothing was charged.
        """
        self._services.unreleased.hold(request.query_id)
        try:
            return self._services.ledger.charge(request)
        except CuratorError as error:
            known = getattr(error, "query_id", None) is not None
            if not known and not isinstance(error, UncertainError):
                self._services.unreleased.release(request.query_id)
                raise
            self._services.given_up.add(request.query_id)
            return error

    def _refused(self, asked: Submission, outcome: Uncharged) -> Reply:
        if isinstance(outcome, NotRefinable):
            raise InProgressError(_REFINED_MEANWHILE)
        if not isinstance(outcome, Refused):
            return settled(outcome)
        question = asked.question
        shown = visible_remaining(outcome.remaining, asked.grant, asked.caller)
        raise OverBudgetError(
            requested=question.charged,
            word=asked.grant.measure.word,
            remaining=shown,
            attainable=attainable_document(question, shown),
            which=passed_limit(question.charged, shown),
        )

    def _require_room(self) -> None:
        """Refuse before a charge whose answer may not find room.

        Whatever is asked: how much room there is tells nobody what to ask for next.

        Raises:
            LedgerUnavailableError: The disk is nearly full, or answers wait for it.
        """
        require_disk_space(self._services.settings)
        if self._services.kept.is_full():
            message = "answers wait to be stored: nothing is charged before they are"
            raise LedgerUnavailableError(message)
