"""What an asker submits, and what becomes of it."""

from dataclasses import dataclass

from budget.ledger import (
    ChargeRequest,
    FailedReplay,
    InFlight,
    Mismatch,
    Replay,
    Scope,
)
from engines.contract import Execution
from privacy.charges import Charge
from privacy.errors import CuratorError, LedgerUnavailableError
from privacy.losses import Loss
from query_lang.plans.compiled import CompiledQuery
from server.use_cases.identity.access import Caller, Grant
from server.use_cases.questions.asking.limits import scopes_of
from server.use_cases.questions.looked_at import RequiredTurn, in_any_turn
from server.use_cases.questions.paid.finer_draws import Finer
from server.use_cases.questions.paid.refining import Earlier
from server.use_cases.questions.questions import Question
from server.use_cases.questions.replies import Remaining
from server.use_cases.services.errors import (
    IdempotencyMismatchError,
    InProgressError,
    QueryFailedError,
)
from server.use_cases.services.services import random_id

Before = Earlier | Finer
"""Paid answers to the same question: those that a charge adds to, or the one whose
noise it goes on from."""


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A caller's key with the fingerprint of its request."""

    key: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Submission:
    """A priced question, with whoever submits it.

    Attributes:
        caller: Who asks.
        grant: Under which project, of which snapshot.
        question: As it is priced.
        key: Under which it was sent.
        require_turn: Called before it is charged, or its numbers are shown anew.
    """

    caller: Caller
    grant: Grant
    question: Question
    key: IdempotencyKey | None
    require_turn: RequiredTurn = in_any_turn

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Every limit that its charge debits."""
        return scopes_of(self.grant, self.caller, self.question.compiled.blocks)

    def request(self, loss: Loss) -> ChargeRequest:
        """Return what the ledger is asked to charge, under an id of its own."""
        grant, question, key = self.grant, self.question, self.key
        return ChargeRequest(
            query_id=random_id("q"),
            principal=self.caller.name,
            project=grant.project.name,
            population=grant.population,
            dataset=grant.dataset,
            snapshot=grant.snapshot,
            scopes=self.scopes,
            loss=loss,
            question=question.identity,
            private_history=grant.project.private_history,
            idempotency_key=None if key is None else key.key,
            fingerprint=None if key is None else key.fingerprint,
            request_json=question.text,
        )


@dataclass(frozen=True, slots=True)
class Paid:
    """A charged question that waits for its execution."""

    charge: Charge
    question: Question
    remaining: Remaining
    execution: Execution
    before: Before | None = None


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


def settled(found: Replay | InFlight | Mismatch | FailedReplay) -> Reply:
    """Return what a key already brought.

    Raises:
        CuratorError: It came with another body, is in flight, or failed.
    """
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


def unavailable(
    charge: Charge, question: Question | None, error: CuratorError
) -> Reply:
    """Say that a charge waits for its end, which recovery brings."""
    failure = LedgerUnavailableError(str(error), query_id=charge.query_id)
    return Reply(charge.query_id, executed=question, failure=failure)
