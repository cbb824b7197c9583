"""What a question costs: under which project, with what is known, after what was paid.

Nothing here touches rows, and nothing is written.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial

from sqlalchemy import Connection

from budget.ledger import Scope, StoredAnswer
from privacy.errors import InvalidLossError, QueryError
from privacy.losses import Loss
from release.contract.answers import ReleaseAnswer
from server.use_cases.identity.access import Caller, Grant, find_grant
from server.use_cases.losses.shares import share_of
from server.use_cases.questions.advising.announced_ways import AnnouncedWays
from server.use_cases.questions.advising.ways import Adviser
from server.use_cases.questions.asking.submissions import Before
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.paid.answers import PaidAnswers
from server.use_cases.questions.paid.finer_draws import finer_question, made_finer
from server.use_cases.questions.questions import (
    Compiler,
    Past,
    Question,
    check_most,
    finer_than,
    loss_range,
    prepare,
    refined_by,
)
from server.use_cases.questions.released_numbers import (
    confidence_text,
    sizes_told,
)
from server.use_cases.questions.requests import Accuracy, QuestionRequest
from server.use_cases.questions.wishes.prices import BetterKnownError, KnownNumbers
from server.use_cases.questions.wishes.ranges import LossRange
from server.use_cases.releases.foreseen import ForeseenReleases
from server.use_cases.releases.offers import Near, Offer, ReleaseOffers
from server.use_cases.services.errors import (
    ConfirmationNeededError,
    NotFoundError,
    UnattainableError,
)
from server.use_cases.services.services import Services, today


class Pricing:
    """Prices questions.

    Args:
        services: The parts.
        compiler: Of texts.
        offers: Releases that may answer, or say how large numbers are.
        paid: What projects paid for before.
    """

    def __init__(
        self,
        services: Services,
        compiler: Compiler,
        offers: ReleaseOffers,
        paid: PaidAnswers,
    ) -> None:
        self._services = services
        self._compiler = compiler
        self._offers = offers
        self._paid = paid
        self.adviser = Adviser(compiler)
        foreseen = ForeseenReleases(services, offers.open_releases)
        self.announced = AnnouncedWays(foreseen)

    def granted(
        self, caller: Caller, dataset: str, request: QuestionRequest
    ) -> tuple[Grant, LossRange]:
        """Return under which project a caller asks, and what one query may spend.

        Raises:
            CuratorError: The caller may not ask it.
        """

        def read(connection: Connection) -> tuple[Grant, LossRange]:
            grant = find_grant(connection, caller, dataset, request.project)
            return grant, loss_range(connection, grant.population)

        key = ("grant", caller, dataset, request.project, today())  # for its expiry
        return self._services.catalogue.get(key, read, names_snapshot=True)

    def priced(
        self,
        caller: Caller,
        dataset: str,
        request: QuestionRequest,
        looked_at: LookedAt,
        *,
        adds: bool = True,
    ) -> tuple[Grant, Question]:
        """Price a question.

        Args:
            caller: Who asks.
            dataset: Of what.
            request: What is asked.
            looked_at: Counts what it takes.
            adds: Whether it may add to what was paid for it.

        Raises:
            CuratorError: Any refusal of the text, its options or its loss.
        """
        grant, losses = self.granted(caller, dataset, request)
        past = Past(partial(self._known, caller, grant, looked_at))
        if adds and request.reuse == "allow":
            paid = partial(self._paid.loss_before, grant, looked_at)
            past = replace(past, paid=paid)
        return grant, prepare(
            self._compiler, grant, losses, request, past, looked_at=looked_at
        )

    def planned(
        self,
        caller: Caller,
        dataset: str,
        request: QuestionRequest,
        looked_at: LookedAt,
    ) -> tuple[Grant, Question]:
        """Price a question; one that cannot be so accurate brings what can be.

        Raises:
            UnattainableError: No loss that one query may spend brings the accuracy.
        """
        try:
            return self.priced(caller, dataset, request, looked_at)
        except InvalidLossError as error:
            if request.accuracy is None:
                raise
            grant, losses = self.granted(caller, dataset, request)
            probe = error if isinstance(error, BetterKnownError) else None
            ways = self.adviser.instead(grant, losses, request, looked_at, probe)
            at_all = self.adviser.asked_for(grant, losses, request, losses.maximum)
            later = self.announced.find(
                caller, grant, at_all, request.accuracy, looked_at
            )
            raise UnattainableError(error, [*ways, *later]) from None

    # -- after what was paid ------------------------------------------------------

    def stored(self, grant: Grant, question: Question) -> StoredAnswer | None:
        """Return the best stored answer to the same question, however it was put."""
        return self._services.ledger.find_reusable(
            question.identity,
            question.event.loss,
            project=grant.project.name,
            former=question.former,
        )

    def after(
        self,
        grant: Grant,
        question: Question,
        wish: Accuracy | None,
        looked_at: LookedAt,
    ) -> tuple[Question, Before | None]:
        """Price a question by what its project paid for it before.

        Returns:
            The question with its price, and the answers that it adds to or goes on
            from.
        """
        before: Before | None = None
        if grant.measure.is_pure:
            finer = self._paid.finer(grant, question, looked_at)
            found = None if finer is None else made_finer(question, finer)
            if found is not None:
                question, before = found, finer
        else:
            question, before = self._paid.refining(grant, question, wish, looked_at)
        check_most(question, wish)
        return question, before

    def as_charged(
        self, grant: Grant, question: Question, text: str, price: Loss
    ) -> tuple[Question, Before | None]:
        """Return a charged question as it was, with the paid answers it adds to.

        Args:
            grant: Of its asker.
            question: As ``question_of_charge`` reads it.
            text: Of the charge.
            price: That was charged.

        Raises:
            LookupError: One of them cannot be read now.
        """
        goes_on = finer_than(text)
        if goes_on is not None:
            finer = self._paid.finer_named(question, goes_on[0])
            return finer_question(question, finer, price, question.event), finer
        named = refined_by(text)
        if not named:
            return question, None
        return question, self._paid.earlier(self._paid.named(grant, question, named))

    # -- what is known of its numbers ---------------------------------------------

    def releases(
        self, caller: Caller, grant: Grant, question: Question
    ) -> tuple[list[Offer], list[Near]]:
        """Return the releases that answer a question, the best first, and near ones."""
        return self._offers.find(caller, grant, question.bound)

    def released(
        self, offers: list[Offer], confidence: str = "0.95"
    ) -> tuple[Offer, ReleaseAnswer] | None:
        """Answer from the best release whose files are there."""
        for offer in offers:
            try:
                return offer, self._offers.answer(offer, confidence)
            except (NotFoundError, QueryError):
                continue
        return None

    def _known(
        self,
        caller: Caller,
        grant: Grant,
        looked_at: LookedAt,
        question: Question,
        miss: Fraction,
    ) -> KnownNumbers | None:
        """Return how large numbers are at least, by paid answers and by a release."""
        half = miss / 2  # both may say so; each has its part of the misses
        paid = self._paid.known(grant, question, half, looked_at)
        told = self._told_by_release(caller, grant, looked_at, question, half)
        if paid is None or told is None:
            return paid or told
        return paid.and_by(told)

    def _told_by_release(
        self,
        caller: Caller,
        grant: Grant,
        looked_at: LookedAt,
        question: Question,
        miss: Fraction,
    ) -> KnownNumbers | None:
        confidence = confidence_text(miss)
        offers = self.releases(caller, grant, question)[0] if confidence else []
        answered = self.released(offers, confidence or "")
        if answered is None:
            return None
        cells = len(question.compiled.rendered.cells)
        looked_at.add_release(str(answered[0].row.id), cells)
        sizes = sizes_told(question.compiled, answered[1])
        if sizes is None:
            return None
        return KnownNumbers(*sizes, (), release=True)

    # -- what is too dear ---------------------------------------------------------

    def needs_confirmation(self, grant: Grant, question: Question) -> bool:
        """Whether the project wants so dear a question confirmed."""
        return self._beyond(grant, question) is not None

    def require_confirmed(self, grant: Grant, question: Question) -> None:
        """Refuse what is too dear to be asked unconfirmed.

        Raises:
            ConfirmationNeededError: It is.
        """
        most = self._beyond(grant, question)
        if most is not None:
            word = grant.measure.word
            of_it = ""
            if question.charged != question.event.loss:
                of_it = f" ({question.charged} more than was paid for it)"
            message = (
                f"this would cost {word} {question.event.loss}{of_it}, and the project "
                f"wants what costs more than {word} {most} "
                f"({grant.project.confirm_above} of its allotment) confirmed: see the "
                "cheaper ways in its plan, or send it again with "
                '"options": {"confirm": true}'
            )
            raise ConfirmationNeededError(message)

    def _beyond(self, grant: Grant, question: Question) -> Loss | None:
        """Return the most that a question may cost unconfirmed, where this costs more.

        A share of the allotment, not of what is left: whatever was asked, it is the
        same question that is dear. With what was paid before for its numbers: else dear
        precision could be bought in small steps. What costs nothing is never dear.
        """
        if question.charged == Loss(0):
            return None
        share = share_of(grant.project.confirm_above)
        if share is None:
            return None
        whole = self._services.ledger.limit(Scope.project(grant.project.name))
        most = Loss(int(share * (whole or Loss(0)).nano_epsilon))
        return most if question.event.loss > most else None
