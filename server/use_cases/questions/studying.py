"""Plans and asks studies: several questions for one charge."""

import json

from budget.ledger import StoredAnswer
from privacy.losses import Loss
from server.use_cases.identity.access import Caller, Grant
from server.use_cases.losses.amounts import priced
from server.use_cases.questions.answers import charge_document
from server.use_cases.questions.asking.limits import scopes_of, visible_remaining
from server.use_cases.questions.asking.service import QueryService
from server.use_cases.questions.asking.submissions import (
    IdempotencyKey,
    Paid,
    Reply,
    Submission,
)
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.questions import Compiler, Question
from server.use_cases.questions.replies import Remaining
from server.use_cases.questions.requests import QuestionRequest
from server.use_cases.questions.studies.composed import StudyQuestion
from server.use_cases.questions.studies.documents import (
    Offered,
    given_again,
    is_as_sure,
    study_plan_document,
)
from server.use_cases.questions.studies.planning import PlannedStudy, planned_study
from server.use_cases.questions.studies.requests import StudyRequest
from server.use_cases.releases.replies import FreeAnswer
from server.use_cases.services.documents import encode
from server.use_cases.services.services import Services


class StudyService:
    """Prices and answers several questions at once.

    Args:
        services: The parts.
        compiler: Of texts.
        queries: Charges, executes and answers them as one question.
    """

    def __init__(
        self, services: Services, compiler: Compiler, queries: QueryService
    ) -> None:
        self._services = services
        self._compiler = compiler
        self._queries = queries

    def plan(
        self, caller: Caller, dataset: str, request: StudyRequest, looked_at: LookedAt
    ) -> bytes:
        """Price a study; touches no data and writes nothing.

        Args:
            caller: Who asks.
            dataset: Of what.
            request: What is asked.
            looked_at: Counts what it takes, whatever becomes of it.

        Raises:
            CuratorError: Any refusal.
        """
        planned = self._planned(caller, dataset, request, looked_at)
        grant, question = planned.grant, planned.question
        scopes = scopes_of(grant, caller, question.compiled.blocks)
        left = self._services.ledger.remaining(scopes)
        document = study_plan_document(
            question,
            affordable=all(
                loss is None or question.charged <= loss for loss in left.values()
            ),
            remaining=visible_remaining(left, grant, caller),
            offered=self._all_offered(planned, request),
            needs_confirmation=self._queries.pricing.needs_confirmation(
                grant, question
            ),
        )
        return encode(document)

    def begin(
        self,
        caller: Caller,
        dataset: str,
        request: StudyRequest,
        key: IdempotencyKey | None,
        looked_at: LookedAt,
    ) -> Reply | Paid:
        """Answer a study from the store for nothing, or charge it; touches no data.

        Args:
            caller: Who asks.
            dataset: Of what.
            request: What is asked.
            key: Under which it is asked.
            looked_at: Counts what it takes, whatever becomes of it.

        Raises:
            CuratorError: Any refusal before the charge; nothing was spent.
        """
        planned = self._planned(caller, dataset, request, looked_at)
        grant, question = planned.grant, planned.question
        asked = Submission(caller, grant, question, key, looked_at.require_turn)
        stored = None
        if request.reuse == "allow":
            stored = self._stored_study(planned.grant, planned.question)
        if stored is not None:
            return self._given(asked, stored)
        if not request.confirm:
            self._queries.pricing.require_confirmed(planned.grant, planned.question)
        return self._queries.charging.charge(asked)

    def _planned(
        self, caller: Caller, dataset: str, request: StudyRequest, looked_at: LookedAt
    ) -> PlannedStudy:
        prices = self._queries.pricing
        _, losses = prices.granted(caller, dataset, request.questions[0])

        def pricing(one: QuestionRequest) -> tuple[Grant, Question]:
            looked_at.begin_another()
            return prices.priced(caller, dataset, one, looked_at, adds=False)

        return planned_study(self._compiler, request, losses, pricing, looked_at)

    def _stored_study(
        self, grant: Grant, question: StudyQuestion
    ) -> StoredAnswer | None:
        """Return the stored answer to a study that is as sure as this one would be."""
        found = self._stored(grant, question)
        if found is None or not is_as_sure(json.loads(found.body), question.of):
            return None
        return found

    def _stored(self, grant: Grant, question: Question) -> StoredAnswer | None:
        return self._services.ledger.find_reusable(
            question.identity,
            question.charged,
            project=grant.project.name,
            former=question.former,
        )

    def _all_offered(self, planned: PlannedStudy, request: StudyRequest) -> Offered:
        """Return what is stored of a study, and of each of its questions."""
        grant, question = planned.grant, planned.question
        asked = [one.question for one in question.of.asked]
        if request.reuse == "never":
            return Offered([], [[] for _ in asked])
        several = [_offered(grant, self._stored(grant, one)) for one in asked]
        return Offered(_offered(grant, self._stored_study(grant, question)), several)

    def _given(self, asked: Submission, stored: StoredAnswer) -> Reply:
        """Give the stored answer to the same study again, for nothing."""

        def written(query_id: str, remaining: Remaining) -> bytes:
            charge = charge_document(asked.grant.measure, Loss(0), reused=True)
            document = json.loads(stored.body)
            return encode(given_again(document, query_id, remaining, charge))

        return self._queries.giving.shown(asked, stored.query_id, written)


def _offered(grant: Grant, stored: StoredAnswer | None) -> list[FreeAnswer]:
    if stored is None:
        return []
    loss = priced(grant.measure, stored.loss)
    return [{"kind": "answer", "id": stored.query_id, **loss}]
