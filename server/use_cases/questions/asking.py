"""Plan and ask: look up, charge, execute, measure, store; then the reply may leave.

The order is the promise (PRIVACY 5): the charge is durable and anchored before data is
touched, and the answer is stored and anchored before it is sent.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from sqlalchemy import Connection

from budget.charging.splices import Piece, Splice, joined
from budget.ledger import (
    Charged,
    ChargeRequest,
    FailedReplay,
    InFlight,
    Mismatch,
    NotRefinable,
    Refused,
    Replay,
    Scope,
    StoredAnswer,
    UncertainError,
)
from engines.contract import Execution, Filled, SealedVector
from mechanisms.measuring.events import measure_event
from mechanisms.measuring.refined_laplace import refine_event
from privacy.charges import Charge
from privacy.errors import (
    AnchorMismatchError,
    CuratorError,
    InvalidLossError,
    LedgerUnavailableError,
    QueryError,
)
from privacy.losses import Loss
from query_lang.plans.compiled import CompiledQuery
from release.contract.answers import ReleaseAnswer
from server.use_cases.identity.access import Caller, Grant, find_grant
from server.use_cases.identity.roles import PLAN, Gate
from server.use_cases.losses.amounts import priced
from server.use_cases.losses.caps import cap_scopes
from server.use_cases.losses.shares import share_of
from server.use_cases.questions.advising.ways import Adviser
from server.use_cases.questions.answers import (
    Offered,
    answer_document,
    attainable_document,
    free_pieces,
    plan_document,
    released_document,
    shown_again,
)
from server.use_cases.questions.disk_space import require_disk_space
from server.use_cases.questions.free_answer_limit import ROW_BYTES, FreeAnswerLimit
from server.use_cases.questions.measured import Drawn, Measured
from server.use_cases.questions.paid.answers import (
    NOTHING_LOOKED_AT,
    Found,
    PaidAnswers,
)
from server.use_cases.questions.paid.documents import (
    finer_document,
    made_document,
    offered,
    paid_taken,
    suffices,
)
from server.use_cases.questions.paid.finer_draws import (
    Finer,
    drawn_of,
    finer_question,
    made_finer,
)
from server.use_cases.questions.paid.refining import Earlier
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
    ASKING_A_RELEASE,
    confidence_text,
    sizes_told,
)
from server.use_cases.questions.replies import (
    Remaining,
)
from server.use_cases.questions.requests import Accuracy, QuestionRequest
from server.use_cases.questions.studies.composed import StudyQuestion, paid_tables
from server.use_cases.questions.studies.documents import (
    stored_vectors,
    study_document,
)
from server.use_cases.questions.wishes import (
    BetterKnownError,
    KnownNumbers,
    LossRange,
)
from server.use_cases.releases.offers import (
    Near,
    Offer,
    ReleaseOffers,
    free_offers,
    related_releases,
    release_taken,
)
from server.use_cases.releases.replies import FreeAnswer
from server.use_cases.services.documents import encode
from server.use_cases.services.errors import (
    ConfirmationNeededError,
    IdempotencyMismatchError,
    InProgressError,
    NotFoundError,
    OverBudgetError,
    QueryFailedError,
    UnattainableError,
)
from server.use_cases.services.services import (
    DrawnAnswer,
    Services,
    random_id,
    today,
)

_log = logging.getLogger("curator.questions")


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A caller's key with the fingerprint of its request."""

    key: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What leaves on a slot: stored bytes, or the failure that came after a charge."""

    query_id: str
    body: bytes = b""
    replayed: bool = False
    executed: Question | None = None  # None: nothing executed, slot 1
    failure: CuratorError | None = None
    is_free: bool = False  # though something was read for it: a release
    shown_again: CompiledQuery | None = None  # a text that shows stored vectors
    looked_at: tuple[int, int] = NOTHING_LOOKED_AT


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan's document, and what was looked at for what it offers."""

    body: bytes
    looked_at: tuple[int, int] = NOTHING_LOOKED_AT


_REFINED_MEANWHILE = (
    "another query adds to the same paid answer at this moment, and its noise can be "
    "drawn on once: nothing was charged; send it again"
)
_BY_NO_TEXT = ""  # in the place of the text whose document shows some vectors

Computed = Filled | Exception
"""What execution made, not taken up yet, or an error that nobody is shown."""


@dataclass(frozen=True, slots=True)
class Paid:
    """A charged question that waits for its execution."""

    charge: Charge
    question: Question
    remaining: Remaining
    execution: Execution
    looked_at: tuple[int, int] = NOTHING_LOOKED_AT  # before it was charged
    earlier: Earlier | None = None  # answers to it that it adds to
    finer: Finer | None = None  # the answer whose noise it goes on from


class QueryService:
    """Prices and answers the questions that analysts ask."""

    def __init__(
        self,
        services: Services,
        compiler: Compiler,
        offers: ReleaseOffers,
        free_answers: FreeAnswerLimit | None = None,
    ) -> None:
        self._services = services
        self._compiler = compiler
        self._offers = offers
        self._adviser = Adviser(compiler)
        tables = partial(paid_tables, compiler)
        self._paid = PaidAnswers(services, compiler, tables)
        self._free_answers = free_answers or FreeAnswerLimit()

    def check_role(self, caller: Caller) -> None:
        """Refuse callers that are not analysts; the refusal is written down.

        Raises:
            ForbiddenError: The role has no such route.
        """
        Gate(self._services.ledger).check(caller, PLAN)

    def plan(self, caller: Caller, dataset: str, request: QuestionRequest) -> Planned:
        """Price a question; touches no data and writes nothing."""
        grant, question = self._planned(caller, dataset, request)
        ledger = self._services.ledger
        stored = self._stored(grant, question)
        free: list[FreeAnswer] = []
        if stored is not None:
            free = [
                {
                    "kind": "answer",
                    "id": stored.query_id,
                    **priced(grant.measure, stored.loss),
                }
            ]
        refines, anew = None, NOTHING_LOOKED_AT
        if stored is None and request.reuse == "allow":
            question, before, anew = self._refining(grant, question, request.accuracy)
            refines = None if before is None else paid_taken(question, before)
        offers, near = self._releases(caller, grant, question)
        free += free_offers(offers)
        paid = Found(None) if stored else self._paid.find(grant, question)
        if paid.derived is not None:
            free.append(offered(question, paid.derived, request.accuracy))
        left = ledger.remaining(scopes_of(grant, caller, question.compiled.blocks))
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
                    self._adviser.ways(grant, question, request, free),
                    self._beyond(grant, question) is not None,
                    refines,
                ),
            )
        )
        looked_at = _both(paid.looked_at, anew)
        return Planned(body, _both(question.looked_at, looked_at))

    def look_up(self, caller: Caller, key: IdempotencyKey) -> Reply | None:
        """Return what this key brought before, if it came before.

        Raises:
            CuratorError: It came with another body, is in flight, or failed.
        """
        found = self._services.ledger.lookup_key(caller.name, key.key, key.fingerprint)
        return None if found is None else _settled(found)

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
        return self.answer(begun, self.compute(begun))

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
        grant, question = self._prepare(caller, dataset, request)
        looked_at = question.looked_at
        if request.reuse == "allow":
            reply, looked = self._given(caller, grant, question, request, key)
            looked_at = _both(looked_at, looked)
            if reply is not None:
                return replace(reply, looked_at=looked_at)
        before = None
        if request.reuse == "allow":
            question, before, anew = self._refining(grant, question, request.accuracy)
            looked_at = _both(looked_at, anew)
        if isinstance(before, Earlier) and question.charged == Loss(0):
            reply = self._refined(caller, grant, question, key, before)
            return replace(reply, looked_at=looked_at)
        if not request.confirm:
            self._require_confirmed(grant, question)
        paid = self._charge(caller, grant, question, key, before)
        return replace(paid, looked_at=looked_at)

    # -- what studies need of it (``studying``) ----------------------------

    def granted(
        self, caller: Caller, dataset: str, request: QuestionRequest
    ) -> tuple[Grant, LossRange]:
        """Return under which project a caller asks, and what one query may spend."""
        return self._granted(caller, dataset, request)

    def priced(
        self, caller: Caller, dataset: str, request: QuestionRequest
    ) -> tuple[Grant, Question]:
        """Price a question as if it were asked alone; touches no data.

        Raises:
            CuratorError: Any refusal of the text, its options or its loss.
        """
        return self._prepare(caller, dataset, request, adds=False)

    def needs_confirmation(self, grant: Grant, question: Question) -> bool:
        """Whether the project wants so dear a question confirmed."""
        return self._beyond(grant, question) is not None

    def require_confirmed(self, grant: Grant, question: Question) -> None:
        """Refuse what is too dear to be asked unconfirmed.

        Raises:
            ConfirmationNeededError: It is.
        """
        self._require_confirmed(grant, question)

    def charge(
        self,
        caller: Caller,
        grant: Grant,
        question: Question,
        key: IdempotencyKey | None,
    ) -> Reply | Paid:
        """Charge a question; touches no data.

        Raises:
            CuratorError: Any refusal; nothing was spent.
        """
        return self._charge(caller, grant, question, key, None)

    def give(
        self,
        caller: Caller,
        grant: Grant,
        question: Question,
        key: IdempotencyKey | None,
        source: tuple[str, Callable[[str], bytes]],
    ) -> Reply:
        """Give what was paid for, for nothing.

        Args:
            caller: Who asks.
            grant: Of the asker.
            question: That is asked.
            key: Under which it is asked.
            source: The query that paid, and what writes its answer down for an id.
        """
        self._take_showing(caller, question)
        free = self._charge_request(caller, grant, question, key, Loss(0))
        paid, shown = source
        reply = self._store_free(free, paid, shown(free.query_id))
        return replace(reply, shown_again=question.compiled)

    def _refining(
        self, grant: Grant, question: Question, wish: Accuracy | None
    ) -> tuple[Question, Earlier | Finer | None, tuple[int, int]]:
        """Price a question by what its project paid for it before.

        Returns:
            The question with its price, the answers that it adds to or goes on from,
            and what was looked at for it.
        """
        before: Earlier | Finer | None = None
        looked_at = NOTHING_LOOKED_AT
        if grant.measure.is_pure:
            finer = self._paid.finer(grant, question)
            found = None if finer is None else made_finer(question, finer)
            if finer is not None and found is not None:
                question, before, looked_at = found, finer, (0, finer.work)
        else:
            question, before, anew = self._paid.refining(grant, question, wish)
            looked_at = anew, 0
        check_most(question, wish)
        return question, before, looked_at

    def _given(
        self,
        caller: Caller,
        grant: Grant,
        question: Question,
        request: QuestionRequest,
        key: IdempotencyKey | None,
    ) -> tuple[Reply | None, tuple[int, int]]:
        """Answer from what is there already, if that may be given unpaid.

        Returns:
            The answer, and what was looked at to find it.
        """
        reply = None
        if request.prefer == "release":
            reply = self._released(caller, grant, question, key)
        reply = reply or self._reuse(caller, grant, question, key)
        if reply or not (request.prefer == "paid" or request.accuracy):
            return reply, NOTHING_LOOKED_AT
        found = self._paid.find(grant, question)
        if request.prefer == "paid" or _suffices(question, request, found):
            reply = self._derived(caller, grant, question, key, found)
        return reply, found.looked_at

    def _beyond(self, grant: Grant, question: Question) -> Loss | None:
        """Return the most that a question may cost unconfirmed, where this costs more.

        A share of the allotment, not of what is left: whatever was asked, it is the
        same question that is dear.
        """
        share = share_of(grant.project.confirm_above)
        if share is None:
            return None
        whole = self._services.ledger.limit(Scope.project(grant.project.name))
        most = Loss(int(share * (whole or Loss(0)).nano_epsilon))
        return most if question.charged > most else None

    def _require_confirmed(self, grant: Grant, question: Question) -> None:
        most = self._beyond(grant, question)
        if most is not None:
            word = grant.measure.word
            message = (
                f"this would cost {word} {question.charged}, and the project wants "
                f"what costs more than {word} {most} ({grant.project.confirm_above} of "
                "its allotment) confirmed: see the cheaper ways in its plan, or send "
                'it again with "options": {"confirm": true}'
            )
            raise ConfirmationNeededError(message)

    def _releases(
        self, caller: Caller, grant: Grant, question: Question
    ) -> tuple[list[Offer], list[Near]]:
        return self._offers.find(caller, grant, question.bound)

    def _released(
        self,
        caller: Caller,
        grant: Grant,
        question: Question,
        key: IdempotencyKey | None,
    ) -> Reply | None:
        """Answer from the best release that counts exactly what is asked, if any."""
        offers = self._releases(caller, grant, question)[0]
        answered = self._best_answer(offers)
        if answered is None:
            return None  # it is charged, or repeats a paid answer: see there
        self._free_answers.check(caller.name)
        best, answer = answered
        charge_request = self._charge_request(caller, grant, question, key, Loss(0))
        left = self._services.ledger.remaining(charge_request.scopes)
        release = release_taken(best)
        body = encode(
            released_document(
                question,
                answer,
                query_id=charge_request.query_id,
                release=release,
                remaining=visible_remaining(left, grant, caller),
            )
        )
        reply = self._store_free(charge_request, str(best.row.job), body)
        return replace(reply, executed=question, is_free=True)

    def _best_answer(
        self, offers: list[Offer], confidence: str = "0.95"
    ) -> tuple[Offer, ReleaseAnswer] | None:
        """Answer from the best release whose files are there."""
        for offer in offers:
            try:
                return offer, self._offers.answer(offer, confidence)
            except (NotFoundError, QueryError):
                continue
        return None

    def _planned(
        self, caller: Caller, dataset: str, request: QuestionRequest
    ) -> tuple[Grant, Question]:
        """Price a question; one that cannot be so accurate brings what can be.

        Raises:
            UnattainableError: No loss that one query may spend brings the accuracy.
        """
        try:
            return self._prepare(caller, dataset, request)
        except InvalidLossError as error:
            if request.accuracy is None:
                raise
            grant, losses = self._granted(caller, dataset, request)
            probe = error if isinstance(error, BetterKnownError) else None
            ways = self._adviser.instead(grant, losses, request, probe)
            raise UnattainableError(error, ways) from None

    def _prepare(
        self,
        caller: Caller,
        dataset: str,
        request: QuestionRequest,
        *,
        adds: bool = True,
    ) -> tuple[Grant, Question]:
        """Price a question.

        Args:
            caller: Who asks.
            dataset: Of what.
            request: What is asked.
            adds: Whether it may add to what was paid for it.
        """
        grant, losses = self._granted(caller, dataset, request)
        past = Past(partial(self._known, caller, grant))
        if adds and request.reuse == "allow":
            past = replace(past, paid=partial(self._paid.loss_before, grant))
        return grant, prepare(self._compiler, grant, losses, request, past)

    def _known(
        self, caller: Caller, grant: Grant, question: Question, miss: Fraction
    ) -> KnownNumbers | None:
        """Return how large numbers are at least, by paid answers and by a release."""
        half = miss / 2  # both may say so; each has its part of the misses
        paid = self._paid.known(grant, question, half)
        told = self._told_by_release(caller, grant, question, half)
        if paid is None or told is None:
            return paid or told
        return paid.and_by(told)

    def _told_by_release(
        self, caller: Caller, grant: Grant, question: Question, miss: Fraction
    ) -> KnownNumbers | None:
        confidence = confidence_text(miss)
        offers = self._releases(caller, grant, question)[0] if confidence else []
        answered = self._best_answer(offers, confidence or "")
        if answered is None:
            return None
        sizes = sizes_told(question.compiled, answered[1])
        if sizes is None:
            return None
        return KnownNumbers(*sizes, (), ASKING_A_RELEASE, release=True)

    def _granted(
        self, caller: Caller, dataset: str, request: QuestionRequest
    ) -> tuple[Grant, LossRange]:
        def read(connection: Connection) -> tuple[Grant, LossRange]:
            grant = find_grant(connection, caller, dataset, request.project)
            return grant, loss_range(connection, grant.population)

        key = ("grant", caller, dataset, request.project, today())  # for its expiry
        return self._services.catalogue.get(key, read, names_snapshot=True)

    def _reuse(
        self,
        caller: Caller,
        grant: Grant,
        question: Question,
        key: IdempotencyKey | None,
    ) -> Reply | None:
        stored = self._stored(grant, question)
        if stored is None:
            return None
        self._free_answers.check(caller.name)
        charge_request = self._charge_request(caller, grant, question, key, Loss(0))
        left = self._services.ledger.remaining(charge_request.scopes)
        remaining = visible_remaining(left, grant, caller)
        measured = Measured.read(stored.vectors)
        if measured is None or measured.shown_as == question.former:
            pieces = free_pieces(
                stored.body,
                question,
                query_id=charge_request.query_id,
                remaining=remaining,
            )
            body = joined(pieces, stored.body)
            return self._store_free(charge_request, stored.query_id, body, pieces)
        self._take_showing(caller, question)
        document = shown_again(
            question.measured_at(stored.loss),
            query_id=charge_request.query_id,
            noisy_vectors=question.normal.own_vectors(measured.vectors),
            remaining=remaining,
        )
        body = encode(document)
        reply = self._store_free(charge_request, stored.query_id, body)
        return replace(reply, shown_again=question.compiled)

    def _derived(
        self,
        caller: Caller,
        grant: Grant,
        question: Question,
        key: IdempotencyKey | None,
        found: Found,
    ) -> Reply | None:
        """Answer from what the asker's project paid for, where that gives it."""
        if found.derived is None:
            return None  # it is charged
        self._take_showing(caller, question)
        charge_request = self._charge_request(caller, grant, question, key, Loss(0))
        left = self._services.ledger.remaining(charge_request.scopes)
        document = made_document(
            question,
            found.derived,
            self._paid.vectors(found.derived),
            query_id=charge_request.query_id,
            remaining=visible_remaining(left, grant, caller),
        )
        source = found.derived.taken[0].query_id
        reply = self._store_free(charge_request, source, encode(document))
        return replace(reply, shown_again=question.compiled)

    def as_charged(
        self, grant: Grant, question: Question, text: str, price: Loss
    ) -> tuple[Question, Earlier | Finer | None]:
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

    def _refined(
        self,
        caller: Caller,
        grant: Grant,
        question: Question,
        key: IdempotencyKey | None,
        earlier: Earlier,
    ) -> Reply:
        """Answer from all that the project paid for this question, for nothing."""
        self._take_showing(caller, question)
        charge_request = self._charge_request(caller, grant, question, key, Loss(0))
        left = self._services.ledger.remaining(charge_request.scopes)
        made = earlier.alone()
        document = made_document(
            question,
            made,
            made.vectors,
            query_id=charge_request.query_id,
            remaining=visible_remaining(left, grant, caller),
        )
        source = earlier.taken[0].query_id
        reply = self._store_free(charge_request, source, encode(document))
        return replace(reply, shown_again=question.compiled)

    def _take_showing(self, caller: Caller, question: Question) -> None:
        """Count a free answer whose numbers are computed anew; others wait for it.

        Raises:
            RateLimitedError: Its asker has taken an hour's share already.
        """
        self._free_answers.check(caller.name)
        self._free_answers.take_showing(caller.name, question.compiled.showing_steps)

    def _stored(self, grant: Grant, question: Question) -> StoredAnswer | None:
        """Return the best stored answer to the same question, however it was put."""
        return self._services.ledger.find_reusable(
            question.identity,
            question.event.loss,
            project=grant.project.name,
            former=question.former,
        )

    def _store_free(
        self,
        free: ChargeRequest,
        source: str,
        body: bytes,
        pieces: Sequence[Piece] | None = None,
    ) -> Reply:
        """Write a free answer down; ``source`` was paid for, and is what it shows."""
        self._services.unreleased.hold(free.query_id)
        try:
            found = self._services.ledger.store_free(free, source, body, pieces)
        except LedgerUnavailableError:
            self._services.given_up.add(free.query_id)
            raise
        except BaseException:
            self._services.unreleased.release(free.query_id)
            raise
        if found is not None:
            self._services.unreleased.release(free.query_id)
            return _settled(found)
        stored = body if pieces is None else Splice.of(body, pieces).encode()
        kept = len(stored) + 2 * len(free.request_json.encode()) + ROW_BYTES
        self._free_answers.take(free.principal, kept)
        return Reply(free.query_id, body)

    def _charge(
        self,
        caller: Caller,
        grant: Grant,
        question: Question,
        key: IdempotencyKey | None,
        before: Earlier | Finer | None,
    ) -> Reply | Paid:
        self._services.unreadable.require(grant.snapshot)
        self._require_room()
        execution = self.execution(question)
        request = self._charge_request(caller, grant, question, key, question.charged)
        request = replace(request, refines=question.refines)
        self._services.unreleased.hold(request.query_id)
        try:
            outcome = self._services.ledger.charge(request)
        except CuratorError as error:
            known = getattr(error, "query_id", None) is not None
            if not known and not isinstance(error, UncertainError):
                self._services.unreleased.release(request.query_id)
                raise
            self._services.given_up.add(request.query_id)
            return Reply(request.query_id, executed=question, failure=error)
        if not isinstance(outcome, Charged):
            self._services.unreleased.release(request.query_id)
            if isinstance(outcome, NotRefinable):
                raise InProgressError(_REFINED_MEANWHILE)
            if isinstance(outcome, Refused):
                shown = visible_remaining(outcome.remaining, grant, caller)
                raise OverBudgetError(
                    requested=question.charged,
                    word=grant.measure.word,
                    remaining=shown,
                    attainable=attainable_document(question, shown),
                    which=_passed(question.charged, shown),
                )
            return _settled(outcome)
        remaining = visible_remaining(outcome.remaining, grant, caller)
        paid = Paid(outcome.charge, question, remaining, execution)
        return going_on(paid, before)

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

    def execution(self, question: Question) -> Execution:
        """Write a question's plan down for the engine; touches no data."""
        return self._services.engine.execution(
            question.snapshot, question.compiled.rendered
        )

    def compute(self, paid: Paid) -> Computed:
        """Run a charged question; return what it filled, or why it filled nothing.

        It touches rows, and nothing else: neither the ledger nor noise.
        """
        try:
            with self._services.executors:
                return paid.execution.run()
        except Exception as error:  # noqa: BLE001 - after the charge all failures look alike
            return error

    def answer(self, paid: Paid, computed: Computed) -> Reply:
        """Add noise and store the answer; every failure looks the same.

        Noise is drawn once (PRIVACY 5): what cannot be stored is kept, and stored later
        as it is. Whether a disk takes an answer may depend on its size, and so on what
        was drawn: a second draw would follow a choice among the first ones.
        """
        charge, question = paid.charge, paid.question
        try:
            sealed = _sealed(computed)
        except (LedgerUnavailableError, AnchorMismatchError) as error:
            self._services.given_up.add(charge.query_id)
            return _unavailable(charge, question, error)
        except Exception:  # noqa: BLE001 - after the charge all failures look alike
            return self.failed(charge, question)
        try:
            return self._store_drawn(paid, self._drawn(paid, sealed))
        except Exception:  # noqa: BLE001 - after the charge all failures look alike
            return self.failed(charge, question, is_drawn=True)

    def _store_drawn(self, paid: Paid, drawn: DrawnAnswer) -> Reply:
        charge, question = paid.charge, paid.question
        try:
            stored = self._services.ledger.store_answer(
                charge, drawn.body, drawn.measured
            )
        except (LedgerUnavailableError, AnchorMismatchError) as error:
            self._keep(charge, drawn)
            return _unavailable(charge, question, error)
        return Reply(charge.query_id, stored, executed=question)

    def _drawn(self, paid: Paid, sealed: tuple[SealedVector, ...]) -> DrawnAnswer:
        if paid.finer is not None:
            return self._drawn_finer(paid, paid.finer, sealed)
        question = paid.question
        if isinstance(question, StudyQuestion):
            return self._drawn_study(paid, question, sealed)
        event = question.measured_at(paid.charge.loss).event
        noisy = measure_event(sealed, event, paid.charge, self._services.sampler)
        if paid.earlier is None:
            shown_as = question.former
            document = answer_document(
                question,
                query_id=paid.charge.query_id,
                noisy_vectors=noisy,
                remaining=paid.remaining,
            )
        else:
            shown_as = _BY_NO_TEXT  # its document shows more than its own draw
            made = paid.earlier.with_draw(event, noisy)
            document = made_document(
                question,
                made,
                made.vectors,
                query_id=paid.charge.query_id,
                remaining=paid.remaining,
            )
        measured = Measured(
            shown_as,
            question.normal.normal_vectors(noisy),
            self._drawn_of(question) if event.measure.is_pure else None,
        )
        return DrawnAnswer(encode(document), measured.encode())

    def _drawn_study(
        self, paid: Paid, study: StudyQuestion, sealed: tuple[SealedVector, ...]
    ) -> DrawnAnswer:
        """Add noise to all tables of a study, and make its answers of them."""
        noisy = measure_event(sealed, study.event, paid.charge, self._services.sampler)
        document = study_document(
            study,
            query_id=paid.charge.query_id,
            noisy_vectors=noisy,
            remaining=paid.remaining,
        )
        measured = Measured(_BY_NO_TEXT, stored_vectors(study.of, noisy))
        return DrawnAnswer(encode(document), measured.encode())

    def _drawn_finer(
        self, paid: Paid, finer: Finer, sealed: tuple[SealedVector, ...]
    ) -> DrawnAnswer:
        question, sampler = paid.question, self._services.sampler
        noisy = refine_event(sealed, finer.shown, question.event, paid.charge, sampler)
        document = finer_document(
            question,
            finer,
            query_id=paid.charge.query_id,
            noisy_vectors=noisy,
            remaining=paid.remaining,
        )
        vectors = question.normal.normal_vectors(noisy)
        measured = Measured(_BY_NO_TEXT, vectors, self._drawn_of(question))
        return DrawnAnswer(encode(document), measured.encode())

    def _drawn_of(self, question: Question) -> Drawn:
        return drawn_of(question, self._services.engine.version)

    def failed(
        self,
        charge: Charge,
        question: Question | None = None,
        *,
        is_drawn: bool = False,
    ) -> Reply:
        """End a charge without an answer; the charge stays.

        Args:
            charge: That ends.
            question: That was executed.
            is_drawn: Whether it fails after its draw: then nothing is drawn again,
                though the failure cannot be written now.
        """
        try:
            self._services.ledger.fail(charge.query_id)
        except (LedgerUnavailableError, AnchorMismatchError) as error:
            if is_drawn:
                self._keep(charge, None)
            else:
                self._services.given_up.add(charge.query_id)
            return _unavailable(charge, question, error)
        failure = QueryFailedError(charge.query_id)
        return Reply(charge.query_id, executed=question, failure=failure)

    def _keep(self, charge: Charge, drawn: DrawnAnswer | None) -> None:
        """Keep what was drawn; note it, for processes that come after this one."""
        self._services.kept.keep(charge, drawn)
        try:
            self._services.ledger.note_drawn(charge.query_id)
        except (LedgerUnavailableError, AnchorMismatchError):
            _log.error("an answer that waits to be stored could not be noted")

    def store_kept(self, query_id: str) -> bool:
        """Store what was drawn and kept, as it is; whether the question has ended."""
        found, ledger = self._services.kept.find(query_id), self._services.ledger
        if found is None:
            return True
        charge, drawn = found
        try:
            record = ledger.query(query_id)
            if record is None or record.state != "running":
                ledger.catch_up()  # it ended before: anchored before it shows
            elif drawn is None:
                ledger.fail(query_id)
            else:
                ledger.store_answer(charge, drawn.body, drawn.measured)
        except CuratorError:
            self._keep(charge, drawn)
            return False
        except Exception:  # noqa: BLE001 - after the charge all failures look alike
            self._services.kept.keep(charge, None)
            return False
        self._services.kept.drop(query_id)
        return True

    def _charge_request(
        self,
        caller: Caller,
        grant: Grant,
        question: Question,
        key: IdempotencyKey | None,
        loss: Loss,
    ) -> ChargeRequest:
        return ChargeRequest(
            query_id=random_id("q"),
            principal=caller.name,
            project=grant.project.name,
            population=grant.population,
            dataset=grant.dataset,
            snapshot=grant.snapshot,
            scopes=scopes_of(grant, caller, question.compiled.blocks),
            loss=loss,
            question=question.identity,
            private_history=grant.project.private_history,
            idempotency_key=None if key is None else key.key,
            fingerprint=None if key is None else key.fingerprint,
            request_json=question.text,
        )


def going_on(paid: Paid, before: Earlier | Finer | None) -> Paid:
    """Return a charged question with the paid answers that it adds to."""
    if isinstance(before, Finer):
        return replace(paid, finer=before)
    return replace(paid, earlier=before)


def _sealed(computed: Computed) -> tuple[SealedVector, ...]:
    """Return what execution filled, sealed; raise why it filled nothing."""
    if isinstance(computed, Exception):
        raise computed
    return computed.sealed()


def _unavailable(
    charge: Charge, question: Question | None, error: CuratorError
) -> Reply:
    """Say that a charge waits for its end, which recovery brings."""
    failure = LedgerUnavailableError(str(error), query_id=charge.query_id)
    return Reply(charge.query_id, executed=question, failure=failure)


def _suffices(question: Question, request: QuestionRequest, found: Found) -> bool:
    """Whether what was paid is as accurate as is wished for."""
    derived = found.derived
    return derived is not None and suffices(question, derived, request.accuracy)


def _both(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


def scopes_of(grant: Grant, caller: Caller, blocks: Sequence[str]) -> tuple[Scope, ...]:
    """Return every limit that a charge under this grant debits.

    Args:
        grant: Of the asker.
        caller: Who asks.
        blocks: Whose units the question can touch; empty where there are none.
    """
    return (
        *cap_scopes(grant.population, blocks),
        Scope.project(grant.project.name),
        Scope.principal(grant.project.name, caller.name),
    )


def visible_remaining(
    left: Mapping[Scope, Loss | None], grant: Grant, caller: Caller
) -> Remaining:
    """Return what remains of the limits that an analyst may see."""
    project = left.get(Scope.project(grant.project.name))
    principal = left.get(Scope.principal(grant.project.name, caller.name))
    return {
        "project": None if project is None else str(project),
        "principal": None if principal is None else str(principal),
    }


def _passed(loss: Loss, shown: Remaining) -> str:
    """Name the limit that is passed: one that is shown, or the one that is not."""
    texts = (shown["project"], shown["principal"])
    left = [Loss.parse(text) for text in texts if text is not None]
    if any(loss > one for one in left):
        return "what remains"
    return "what remains of a limit that is not shown to you"


def _settled(found: Replay | InFlight | Mismatch | FailedReplay) -> Reply:
    """Turn what a key already brought into a reply."""
    match found:
        case Replay(query_id, body):
            return Reply(query_id, body, replayed=True)
        case FailedReplay(query_id):
            raise QueryFailedError(query_id)
        case InFlight():
            message = "the first request with this Idempotency-Key is being answered"
            raise InProgressError(message)
        case Mismatch():
            message = "this Idempotency-Key came before with another request"
            raise IdempotencyMismatchError(message)
