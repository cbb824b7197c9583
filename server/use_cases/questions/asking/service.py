"""Plan and ask: look up, charge, execute, measure, store; then the reply may leave.

The order is the promise (PRIVACY 5): the charge is durable and anchored before data is
touched, and the answer is stored and anchored before it is sent.
"""

from dataclasses import replace
from functools import partial

from privacy.losses import Loss
from server.use_cases.identity.access import Caller, Grant
from server.use_cases.identity.roles import PLAN, Gate
from server.use_cases.losses.amounts import priced
from server.use_cases.questions.answers import Offered, plan_document
from server.use_cases.questions.asking.charging import Charging
from server.use_cases.questions.asking.executing import Executing
from server.use_cases.questions.asking.giving import Giving
from server.use_cases.questions.asking.limits import scopes_of, visible_remaining
from server.use_cases.questions.asking.pricing import Pricing
from server.use_cases.questions.asking.submissions import (
    IdempotencyKey,
    Paid,
    Planned,
    Reply,
    Submission,
    settled,
)
from server.use_cases.questions.free_answer_limit import FreeAnswerLimit
from server.use_cases.questions.paid.answers import Found, PaidAnswers
from server.use_cases.questions.paid.documents import offered, paid_taken
from server.use_cases.questions.paid.refining import Earlier
from server.use_cases.questions.questions import Compiler, Question
from server.use_cases.questions.requests import QuestionRequest
from server.use_cases.questions.studies.composed import paid_tables
from server.use_cases.releases.offers import (
    ReleaseOffers,
    free_offers,
    related_releases,
)
from server.use_cases.releases.replies import FreeAnswer
from server.use_cases.services.documents import encode
from server.use_cases.services.services import Services


class QueryService:
    """Prices and answers the questions that analysts ask.

    Attributes:
        pricing: What questions cost.
        giving: Answers for nothing.
        charging: Charges.
        executing: What comes after a charge.
    """

    def __init__(
        self,
        services: Services,
        compiler: Compiler,
        offers: ReleaseOffers,
        free_answers: FreeAnswerLimit | None = None,
    ) -> None:
        self._services = services
        self._paid = PaidAnswers(services, compiler, partial(paid_tables, compiler))
        self.pricing = Pricing(services, compiler, offers, self._paid)
        limit = free_answers or FreeAnswerLimit()
        self.giving = Giving(services, self.pricing, self._paid, limit)
        self.executing = Executing(services)
        self.charging = Charging(services, self.executing)

    def check_role(self, caller: Caller) -> None:
        """Refuse callers that are not analysts; the refusal is written down.

        Raises:
            ForbiddenError: The role has no such route.
        """
        Gate(self._services.ledger).check(caller, PLAN)

    def look_up(self, caller: Caller, key: IdempotencyKey) -> Reply | None:
        """Return what this key brought before, if it came before.

        Raises:
            CuratorError: It came with another body, is in flight, or failed.
        """
        found = self._services.ledger.lookup_key(caller.name, key.key, key.fingerprint)
        return None if found is None else settled(found)

    def plan(self, caller: Caller, dataset: str, request: QuestionRequest) -> Planned:
        """Price a question; touches no data and writes nothing.

        Raises:
            CuratorError: Any refusal.
        """
        grant, question = self.pricing.planned(caller, dataset, request)
        free = self._stored_offers(grant, question)
        refines, looked_at = None, question.looked_at
        found = Found(None)
        if not free:
            if request.reuse == "allow":
                question, before, anew = self.pricing.after(
                    grant, question, request.accuracy
                )
                refines = None if before is None else paid_taken(question, before)
                looked_at = looked_at.plus(anew)
            found = self._paid.find(grant, question)
        offers, near = self.pricing.releases(caller, grant, question)
        free += free_offers(offers)
        if found.derived is not None:
            free.append(offered(question, found.derived, request.accuracy))
        left = self._services.ledger.remaining(
            scopes_of(grant, caller, question.compiled.blocks)
        )
        body = encode(
            plan_document(
                question,
                affordable=all(
                    loss is None or question.charged <= loss for loss in left.values()
                ),
                remaining=visible_remaining(left, grant, caller),
                offered=Offered(
                    free,
                    related_releases(near),
                    self.pricing.adviser.ways(grant, question, request, free),
                    self.pricing.needs_confirmation(grant, question),
                    refines,
                ),
            )
        )
        return Planned(body, looked_at.plus(found.looked_at))

    def _stored_offers(self, grant: Grant, question: Question) -> list[FreeAnswer]:
        stored = self.pricing.stored(grant, question)
        if stored is None:
            return []
        loss = priced(grant.measure, stored.loss)
        return [{"kind": "answer", "id": stored.query_id, **loss}]

    def ask(
        self,
        caller: Caller,
        dataset: str,
        request: QuestionRequest,
        key: IdempotencyKey | None,
    ) -> Reply:
        """Answer a question, from the store for nothing or for a charge.

        Raises:
            CuratorError: Any refusal before the charge; nothing was spent.
        """
        begun = self.begin(caller, dataset, request, key)
        if isinstance(begun, Reply):
            return begun
        return self.executing.answer(begun, self.executing.compute(begun))

    def begin(
        self,
        caller: Caller,
        dataset: str,
        request: QuestionRequest,
        key: IdempotencyKey | None,
    ) -> Reply | Paid:
        """Answer from the store for nothing, or charge; touches no data.

        Raises:
            CuratorError: Any refusal before the charge; nothing was spent.
        """
        grant, question = self.pricing.priced(caller, dataset, request)
        asked = Submission(caller, grant, question, key)
        before, looked_at = None, question.looked_at
        if request.reuse == "allow":
            reply, looked = self.giving.given(asked, request)
            looked_at = looked_at.plus(looked)
            if reply is not None:
                return replace(reply, looked_at=looked_at)
            question, before, anew = self.pricing.after(
                grant, question, request.accuracy
            )
            asked = replace(asked, question=question)
            looked_at = looked_at.plus(anew)
        if isinstance(before, Earlier) and question.charged == Loss(0):
            return replace(self.giving.added(asked, before), looked_at=looked_at)
        if not request.confirm:
            self.pricing.require_confirmed(grant, question)
        return replace(self.charging.charge(asked, before), looked_at=looked_at)
