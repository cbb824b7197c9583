"""Charged questions that a crash or a full disk left without an answer.

What is taken up shows a public number of slots later, never when its execution ended
(PRIVACY 6): the number is that of a question that is asked, counted from the run that
took it up, behind those taken up before it. It executes in the order of arrival of live
questions, whose own numbers of slots count it. What was drawn already is stored as it
is, at the same time, and not executed.
"""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from budget.ledger import Orphan, QueryRecord
from privacy.errors import CuratorError, LedgerUnavailableError, StoppingError
from privacy.losses import Loss
from query_lang.plans.compiled import CompiledQuery
from server.use_cases.identity.access import Caller, Grant, snapshot_grant
from server.use_cases.questions.asking.executing import Computed
from server.use_cases.questions.asking.limits import scopes_of, visible_remaining
from server.use_cases.questions.asking.service import QueryService
from server.use_cases.questions.asking.submissions import Before, Paid
from server.use_cases.questions.questions import (
    Compiler,
    Question,
    question_of_charge,
)
from server.use_cases.questions.replies import (
    Remaining,
)
from server.use_cases.questions.studies.composed import is_study, study_of_charge
from server.use_cases.services.services import Services

_log = logging.getLogger("curator.recovery")
_Asked = tuple[Question, Remaining, Before | None]
"""A question as it was asked, what its asker may see left of each limit, and the paid
answers that it adds to or goes on from."""

Queue = Callable[[CompiledQuery, Callable[[], None] | None], None]
"""Puts a plan behind the questions that have arrived, and its execution, to be run in
turn; None for one that has ended: its cost counts all the same."""


@dataclass(frozen=True, slots=True)
class Pace:
    """When what recovery takes up is shown, in seconds.

    Attributes:
        seconds: How long a plan takes, whatever its rows; 0: until the next run.
        starting_seconds: Before the first of those taken up together.
        count_late: Called for each that was not ready in time: an incident.
        clock: Monotonic.
    """

    seconds: Callable[[CompiledQuery], float]
    starting_seconds: float
    count_late: Callable[[], None]
    clock: Callable[[], float] = time.monotonic


class _UnchargedError(Exception):
    """A text would now read units of a block that its charge did not debit."""


@dataclass(slots=True)
class _Taken:
    """A question that was taken up, until it shows.

    Attributes:
        due: When it shows, by the pace's clock.
        seconds: How long it takes; one that is late shows after so many more.
        paid: What is to be executed; None for what had ended before.
        computed: What its execution made, once it has.
        gives_up: Whether it cannot be executed now.
    """

    due: float
    seconds: float
    paid: Paid | None = None
    computed: Computed | None = None
    gives_up: bool = False
    is_late: bool = False

    @property
    def is_ready(self) -> bool:
        """Whether it may show once it is due."""
        return self.paid is None or self.computed is not None

    def postpone(self, now: float) -> None:
        """Let it show at the next multiple of its time after ``now``."""
        if self.seconds:
            self.is_late = True
            self.due += self.seconds * (1 + (now - self.due) // self.seconds)


class Recovery:
    """Executes orphaned charges again, at most twice, for no new charge.

    Args:
        services: The parts.
        compiler: Compiles their texts.
        queries: Executes them.
        pace: When they show.
        queue: Runs executions in order of arrival, beside ``run_once``.
    """

    def __init__(
        self,
        services: Services,
        compiler: Compiler,
        queries: QueryService,
        pace: Pace,
        queue: Queue,
    ) -> None:
        self._services = services
        self._compiler = compiler
        self._pricing, self._executing = queries.pricing, queries.executing
        self._pace = pace
        self._queue = queue
        self._taken: dict[str, _Taken] = {}
        self._given_up: set[str] = set()
        self._busy_until = 0.0

    def run_once(self) -> int:
        """Show what is due, then take up what was left without an answer.

        To be called on a fixed grid, however long executions take.

        Returns:
            How many were taken up without an end. Never raises a refusal: what cannot
            be written now is tried again at the next call.
        """
        self._show_due()
        try:
            self._give_up_all()
            self._services.ledger.release_forgotten()
            self._services.ledger.forget_drawn()
            drawn = self._drawn()
            orphans, stranded = self._services.ledger.take_up(
                self._services.unreadable.all(), self._services.kept.all()
            )
            ended = self._ended({orphan.charge.query_id for orphan in orphans})
        except CuratorError as error:
            _log.warning("recovery waits", extra={"code": error.code})
            return 0
        self._take(orphans, [*stranded, *ended, *drawn])
        return len(orphans) + len(drawn)

    def store_kept(self) -> bool:
        """Store what waits for room, as it was drawn; whether nothing waits any more.

        For a process that ends: whatever it keeps then fails (ADR 45). Where it is
        stored, the next process shows it.
        """
        for query_id in sorted(self._services.kept.all()):
            self._executing.store_kept(query_id)  # one may fit where another does not
        return not self._services.kept.all()

    # -- what was taken up --------------------------------------------------------

    def _show_due(self) -> None:
        """Store, and show, what is due: not before, since storing can be felt."""
        now, leaving = self._pace.clock(), []
        for query_id, taken in list(self._taken.items()):
            if now < taken.due:
                continue
            if not taken.is_ready:
                taken.postpone(now)
                continue
            del self._taken[query_id]
            if taken.is_late:
                self._pace.count_late()
            if self._is_stored(query_id, taken):
                leaving.append(query_id)
        self._services.release(leaving)

    def _is_stored(self, query_id: str, taken: _Taken) -> bool:
        """Store what was computed; whether that is done, now or before."""
        if self._services.kept.find(query_id) is not None:
            return self._executing.store_kept(query_id)
        if taken.gives_up:
            self._services.given_up.add(query_id)
            return False
        if taken.paid is None or taken.computed is None:
            return True
        reply = self._executing.answer(taken.paid, taken.computed)
        return not isinstance(reply.failure, LedgerUnavailableError)

    def _take(self, orphans: Iterable[Orphan], ended: Iterable[QueryRecord]) -> None:
        """Settle when each shows, in the order of charges, and execute the orphans.

        Whether an answer was stored already changes nothing of when it shows, nor of
        what live questions wait for.
        """
        left: list[Orphan | QueryRecord] = [*orphans, *ended]
        for one in sorted(left, key=lambda one: one.time):
            self._services.unreleased.hold(one.query_id)
            asked = self._asked(one)
            taken = self._taken[one.query_id] = self._scheduled(asked)
            if asked is None:
                taken.gives_up = isinstance(one, Orphan)
                continue
            compute = None
            if isinstance(one, Orphan):
                execution = self._executing.execution(asked[0])
                question, remaining, before = asked
                taken.paid = Paid(
                    one.charge, question, remaining, execution, before=before
                )
                compute = partial(self._compute, taken.paid, taken)
            self._queue(asked[0].compiled, compute)

    def _compute(self, paid: Paid, taken: _Taken) -> None:
        computed = self._executing.compute(paid)
        if not isinstance(
            computed, StoppingError
        ):  # nothing failed: a later server process does it
            taken.computed = computed

    def _scheduled(self, asked: _Asked | None) -> _Taken:
        pace = self._pace
        seconds = 0.0 if asked is None else pace.seconds(asked[0].compiled)
        begins = max(self._busy_until, pace.clock() + pace.starting_seconds)
        self._busy_until = begins + seconds
        return _Taken(self._busy_until, seconds)

    def _asked(self, one: Orphan | QueryRecord) -> _Asked | None:
        """Return a charged question as it was asked; None where it cannot be, now."""
        if one.loss == Loss(0):
            return None  # a free answer: nothing was executed for it
        try:
            with self._services.databases.reader.connect() as connection:
                grant = snapshot_grant(
                    connection, project=one.project, snapshot=one.snapshot
                )
            question = self._charged(grant, one)
            caller = Caller(one.principal, "analyst")
            scopes = scopes_of(grant, caller, question.compiled.blocks)
            left = self._services.ledger.remaining(scopes)
            question, before = self._pricing.as_charged(
                grant, question, one.request_json, one.loss
            )
        except Exception as error:  # noqa: BLE001 - given up, tried again, then failed
            facts = {"error": type(error).__name__}
            _log.warning("recovery gives up a question", extra=facts)
            return None
        return question, visible_remaining(left, grant, caller), before

    def _charged(self, grant: Grant, one: Orphan | QueryRecord) -> Question:
        """Return what was charged: a question, or a study of several.

        Raises:
            CuratorError: It would be refused now.
            _UnchargedError: It is no longer what was charged.
        """
        read = study_of_charge if is_study(one.request_json) else question_of_charge
        question = read(self._compiler, grant, one.request_json)
        charged = self._services.ledger.charged_blocks(one.query_id)
        if not charged.issuperset(question.compiled.blocks):
            raise _UnchargedError
        return question

    # -- what was given up --------------------------------------------------------

    def _give_up_all(self) -> None:
        """Give up leases; each success also anchors what was written before it."""
        waiting = self._services.given_up.take_all()
        try:
            while waiting:
                query_id = next(iter(waiting))
                self._services.ledger.give_up(query_id)
                waiting.remove(query_id)
                self._given_up.add(query_id)
        finally:
            for query_id in waiting:
                self._services.given_up.add(query_id)

    def _drawn(self) -> list[QueryRecord]:
        """Return what was drawn here, waits to be stored, and is not taken up yet."""
        waiting = sorted(self._services.kept.all() - self._taken.keys())
        found = [self._services.ledger.query(query_id) for query_id in waiting]
        return [record for record in found if record is not None]

    def _ended(self, claimed: set[str]) -> list[QueryRecord]:
        """Return what was given up and has ended; forget what was never charged."""
        found = {
            query_id: self._services.ledger.query(query_id)
            for query_id in self._given_up - claimed
        }
        self._given_up = set()
        self._services.release([name for name, record in found.items() if not record])
        return [record for record in found.values() if record is not None]
