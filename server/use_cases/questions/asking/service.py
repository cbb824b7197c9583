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
    Reply,
    Submission,
    settled,
)
from server.use_cases.questions.free_answer_limit import FreeAnswerLimit
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.paid.answers import PaidAnswers
from server.use_cases.questions.paid.documents import offered, paid_taken
from server.use_cases.questions.paid.refining import Earlier
from server.use_cases.questions.plan_replies import AnyWay
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

    def plan(
        self,
        caller: Caller,
        dataset: str,
        request: QuestionRequest,
        looked_at: LookedAt,
    ) -> bytes:
        """Price a question; touches no data and writes nothing.

        Args:
            caller: Who asks.
            dataset: Of what.
            request: What is asked.
            looked_at: Counts what it takes, whatever becomes of it.

        Raises:
            CuratorError: Any refusal.
        """
        grant, question = self.pricing.planned(caller, dataset, request, looked_at)
        free = self._stored_offers(grant, question)
        refines, derived = None, None
        if not free:
            if request.reuse == "allow":
                question, before = self.pricing.after(
                    grant, question, request.accuracy, looked_at
                )
                refines = None if before is None else paid_taken(question, before)
            derived = self._paid.find(grant, question, looked_at)
        offers, near = self.pricing.releases(caller, grant, question)
        free += free_offers(offers)
        if derived is not None:
            free.append(offered(question, derived, request.accuracy))
        ways: list[AnyWay] = [
            *self.pricing.adviser.ways(grant, question, request, free, looked_at)
        ]
        if all(one["kind"] == "paid" for one in free):
            ways += self.pricing.announced.find(
                caller, grant, question, request.accuracy, looked_at
            )
        left = self._services.ledger.remaining(
            scopes_of(grant, caller, question.compiled.blocks)
        )
        document = plan_document(
            question,
            affordable=all(
                loss is None or question.charged <= loss for loss in left.values()
            ),
            remaining=visible_remaining(left, grant, caller),
            offered=Offered(
                free,
                related_releases(near),
                ways,
                self.pricing.needs_confirmation(grant, question),
                refines,
            ),
        )
        return encode(document)

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
        begun = self.begin(caller, dataset, request, key, LookedAt())
        if isinstance(begun, Reply):
            return begun
        return self.executing.answer(begun, self.executing.compute(begun))

    def begin(
        self,
        caller: Caller,
        dataset: str,
        request: QuestionRequest,
        key: IdempotencyKey | None,
        looked_at: LookedAt,
    ) -> Reply | Paid:
        """Answer from the store for nothing, or charge; touches no data.

        Args:
            caller: Who asks.
            dataset: Of what.
            request: What is asked.
            key: Under which it is asked.
            looked_at: Counts what it takes, whatever becomes of it.

        Raises:
            CuratorError: Any refusal before the charge; nothing was spent.
        """
        grant, question = self.pricing.priced(caller, dataset, request, looked_at)
        asked = Submission(caller, grant, question, key, looked_at.require_turn)
        before = None
        if request.reuse == "allow":
            reply = self.giving.given(asked, request, looked_at)
            if reply is not None:
                return reply
            question, before = self.pricing.after(
                grant, question, request.accuracy, looked_at
            )
            asked = replace(asked, question=question)
        if isinstance(before, Earlier) and question.charged == Loss(0):
            return self.giving.added(asked, before)
        if not request.confirm:
            self.pricing.require_confirmed(grant, question)
        return self.charging.charge(asked, before)
