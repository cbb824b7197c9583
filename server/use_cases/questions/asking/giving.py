"""Answers for nothing: what was paid for, and what releases tell.

Each is written down as what is charged is, and counts against its asker's share of an
hour.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from budget.charging.splices import Piece, Splice, joined
from budget.ledger import ChargeRequest
from privacy.errors import LedgerUnavailableError
from privacy.losses import Loss
from server.use_cases.questions.answers import (
    free_pieces,
    released_document,
    shown_again,
)
from server.use_cases.questions.asking.limits import visible_remaining
from server.use_cases.questions.asking.pricing import Pricing
from server.use_cases.questions.asking.submissions import Reply, Submission, settled
from server.use_cases.questions.free_answer_limit import ROW_BYTES, FreeAnswerLimit
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.measured import Measured
from server.use_cases.questions.paid.answers import PaidAnswers
from server.use_cases.questions.paid.derived import Derived
from server.use_cases.questions.paid.documents import made_document, suffices
from server.use_cases.questions.paid.refining import Earlier
from server.use_cases.questions.replies import Remaining
from server.use_cases.questions.requests import QuestionRequest
from server.use_cases.releases.offers import release_taken
from server.use_cases.services.documents import encode
from server.use_cases.services.services import Services


class Giving:
    """Gives answers for nothing.

    Args:
        services: The parts.
        pricing: Finds what is stored, and what releases tell.
        paid: What projects paid for before.
        limit: How many an asker may take in an hour.
    """

    def __init__(
        self,
        services: Services,
        pricing: Pricing,
        paid: PaidAnswers,
        limit: FreeAnswerLimit,
    ) -> None:
        self._services = services
        self._pricing = pricing
        self._paid = paid
        self._limit = limit

    def given(
        self, asked: Submission, request: QuestionRequest, looked_at: LookedAt
    ) -> Reply | None:
        """Answer from what is there already, if that may be given unpaid."""
        reply = None
        if request.prefer == "release":
            reply = self._released(asked)
        reply = reply or self._stored(asked)
        if reply or not (request.prefer == "paid" or request.accuracy):
            return reply
        question = asked.question
        found = self._paid.find(asked.grant, question, looked_at)
        if found is None:
            return None  # it is charged
        if request.prefer == "paid" or suffices(question, found, request.accuracy):
            return self._derived(asked, found)
        return None

    def added(self, asked: Submission, earlier: Earlier) -> Reply:
        """Answer from all that the project paid for this question."""
        made = earlier.alone()

        def written(query_id: str, remaining: Remaining) -> bytes:
            document = made_document(
                asked.question,
                made,
                made.vectors,
                query_id=query_id,
                remaining=remaining,
            )
            return encode(document)

        return self.shown(asked, earlier.taken[0].query_id, written)

    def shown(
        self,
        asked: Submission,
        source: str,
        written: Callable[[str, Remaining], bytes],
    ) -> Reply:
        """Give numbers that are computed anew of what was paid for.

        Args:
            asked: To whom.
            source: The query that paid.
            written: Writes the answer down, for an id and what remains.
        """
        self._take_showing(asked)
        free, remaining = self._begun(asked)
        reply = self._store(free, source, written(free.query_id, remaining))
        return replace(reply, shown_again=asked.question.compiled)

    def _released(self, asked: Submission) -> Reply | None:
        """Answer from the best release that counts exactly what is asked, if any."""
        question = asked.question
        offers = self._pricing.releases(asked.caller, asked.grant, question)[0]
        answered = self._pricing.released(offers)
        if answered is None:
            return None  # it is charged, or repeats a paid answer: see there
        self._limit.check(asked.caller.name)
        best, answer = answered
        free, remaining = self._begun(asked)
        document = released_document(
            question,
            answer,
            query_id=free.query_id,
            release=release_taken(best),
            remaining=remaining,
        )
        reply = self._store(free, str(best.row.job), encode(document))
        return replace(reply, executed=question, is_free=True)

    def _stored(self, asked: Submission) -> Reply | None:
        """Give the stored answer to the same question, if there is one."""
        question = asked.question
        stored = self._pricing.stored(asked.grant, question)
        if stored is None:
            return None
        measured = Measured.read(stored.vectors)
        if measured is not None and measured.shown_as != question.former:
            vectors = measured.vectors

            def written(query_id: str, remaining: Remaining) -> bytes:
                document = shown_again(
                    question.measured_at(stored.loss),
                    query_id=query_id,
                    noisy_vectors=question.normal.own_vectors(vectors),
                    remaining=remaining,
                )
                return encode(document)

            return self.shown(asked, stored.query_id, written)
        self._limit.check(asked.caller.name)
        free, remaining = self._begun(asked)
        query_id = free.query_id
        pieces = free_pieces(
            stored.body, question, query_id=query_id, remaining=remaining
        )
        body = joined(pieces, stored.body)
        return self._store(free, stored.query_id, body, pieces)

    def _derived(self, asked: Submission, derived: Derived) -> Reply:
        """Answer from what the asker's project paid for."""

        def written(query_id: str, remaining: Remaining) -> bytes:
            document = made_document(
                asked.question,
                derived,
                self._paid.vectors(derived),
                query_id=query_id,
                remaining=remaining,
            )
            return encode(document)

        return self.shown(asked, derived.taken[0].query_id, written)

    def _take_showing(self, asked: Submission) -> None:
        """Count a free answer whose numbers are computed anew; others wait for it.

        Raises:
            RateLimitedError: Its asker has taken an hour's share already.
        """
        asked.require_turn(asked.question.compiled)
        name = asked.caller.name
        self._limit.check(name)
        self._limit.take_showing(name, asked.question.compiled.showing_steps)

    def _begun(self, asked: Submission) -> tuple[ChargeRequest, Remaining]:
        """Return a free answer's entry, and what its asker has left."""
        left = self._services.ledger.remaining(asked.scopes)
        remaining = visible_remaining(left, asked.grant, asked.caller)
        return asked.request(Loss(0)), remaining

    def _store(
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
            return settled(found)
        stored = body if pieces is None else Splice.of(body, pieces).encode()
        kept = len(stored) + 2 * len(free.request_json.encode()) + ROW_BYTES
        self._limit.take(free.principal, kept)
        return Reply(free.query_id, body)
