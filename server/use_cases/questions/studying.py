"""Plans and asks studies: several questions for one charge."""

import json
from dataclasses import replace
from functools import partial

from budget.ledger import StoredAnswer
from privacy.losses import Loss
from server.use_cases.identity.access import Caller, Grant
from server.use_cases.losses.amounts import priced
from server.use_cases.questions.answers import charge_document
from server.use_cases.questions.asking import (
    IdempotencyKey,
    Paid,
    Planned,
    QueryService,
    Reply,
    scopes_of,
    visible_remaining,
)
from server.use_cases.questions.questions import Compiler, Question
from server.use_cases.questions.studies.documents import (
    Offered,
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

    def plan(self, caller: Caller, dataset: str, request: StudyRequest) -> Planned:
        """Price a study; touches no data and writes nothing.

        Raises:
            CuratorError: Any refusal.
        """
        planned = self._planned(caller, dataset, request)
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
            needs_confirmation=self._queries.needs_confirmation(grant, question),
        )
        return Planned(encode(document), planned.looked_at)

    def begin(
        self,
        caller: Caller,
        dataset: str,
        request: StudyRequest,
        key: IdempotencyKey | None,
    ) -> Reply | Paid:
        """Answer a study from the store for nothing, or charge it; touches no data.

        Raises:
            CuratorError: Any refusal before the charge; nothing was spent.
        """
        planned = self._planned(caller, dataset, request)
        stored = None
        if request.reuse == "allow":
            stored = self._stored(planned.grant, planned.question)
        if stored is not None:
            begun: Reply | Paid = self._given(caller, planned, key, stored)
        else:
            if not request.confirm:
                self._queries.require_confirmed(planned.grant, planned.question)
            begun = self._queries.charge(caller, planned.grant, planned.question, key)
        return replace(begun, looked_at=planned.looked_at)

    def _planned(
        self, caller: Caller, dataset: str, request: StudyRequest
    ) -> PlannedStudy:
        _, losses = self._queries.granted(caller, dataset, request.questions[0])
        pricing = partial(self._queries.priced, caller, dataset)
        return planned_study(self._compiler, request, losses, pricing)

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
        several = [self._offered(grant, one) for one in asked]
        return Offered(self._offered(grant, question), several)

    def _offered(self, grant: Grant, question: Question) -> list[FreeAnswer]:
        stored = self._stored(grant, question)
        if stored is None:
            return []
        loss = priced(grant.measure, stored.loss)
        return [{"kind": "answer", "id": stored.query_id, **loss}]

    def _given(
        self,
        caller: Caller,
        planned: PlannedStudy,
        key: IdempotencyKey | None,
        stored: StoredAnswer,
    ) -> Reply:
        """Give the stored answer to the same study again, for nothing."""
        grant, question = planned.grant, planned.question

        def shown(query_id: str) -> bytes:
            scopes = scopes_of(grant, caller, question.compiled.blocks)
            left = self._services.ledger.remaining(scopes)
            document = json.loads(stored.body)
            document["query_id"] = query_id
            document["charge"] = charge_document(grant.measure, Loss(0), reused=True)
            document["remaining"] = visible_remaining(left, grant, caller)
            return encode(document)

        return self._queries.give(
            caller, grant, question, key, (stored.query_id, shown)
        )
