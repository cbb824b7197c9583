"""Charged questions that a crash or a full disk left without an answer.

What is taken up shows a public number of slots later, never when its execution ended
(PRIVACY 6): the number is that of a question that is asked, counted from the run that
took it up, behind those taken up before it.
"""

import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass

from budget.ledger import Orphan, QueryRecord
from privacy.errors import CuratorError, LedgerUnavailableError
from privacy.losses import Loss
from server.use_cases.access import Caller, Grant, snapshot_grant
from server.use_cases.asking import Desk, Reply, scopes_of, visible_remaining
from server.use_cases.questions import (
    Compiler,
    LossRange,
    Question,
    prepare,
    request_of,
)
from server.use_cases.services import Services

_log = logging.getLogger("curator.recovery")


@dataclass(frozen=True, slots=True)
class Pace:
    """When what recovery takes up is shown.

    Attributes:
        slots: The number of slots of a question, as for one that is asked.
        slot_seconds: Of one; 0 shows what is ready at the next run.
        count_late: Called for each that was not ready in time: an incident.
        clock: Monotonic, in seconds.
    """

    slots: Callable[[Question], int]
    slot_seconds: float
    count_late: Callable[[], None]
    clock: Callable[[], float] = time.monotonic

    def seconds(self, question: Question | None) -> float:
        """Return how long a question takes; one that nobody can prepare, a slot."""
        slots = 1 if question is None else self.slots(question)
        return slots * self.slot_seconds


@dataclass(slots=True)
class _Taken:
    """A question that was taken up, until it shows.

    Attributes:
        due: When it shows, by the pace's clock.
        seconds: How long it takes; one that is late shows after so many more.
        is_ready: Whether it has ended; ``gives_up`` whether without being stored.
    """

    due: float
    seconds: float
    is_ready: bool = True
    gives_up: bool = False
    is_late: bool = False


class Recovery:
    """Executes orphaned charges again, at most twice, for no new charge.

    Args:
        services: The parts.
        compiler: Compiles their texts.
        desk: Executes them.
        pace: When they show.
        executor: Runs executions in the order given, beside ``run_once``.
    """

    def __init__(
        self,
        services: Services,
        compiler: Compiler,
        desk: Desk,
        pace: Pace,
        executor: Executor,
    ) -> None:
        self._services = services
        self._compiler = compiler
        self._desk = desk
        self._pace = pace
        self._executor = executor
        self._taken: dict[str, _Taken] = {}
        self._given_up: set[str] = set()
        self._busy_until = 0.0

    def run_once(self) -> int:
        """Show what is due, then take up what was left without an answer.

        To be called on a fixed grid, however long executions take.

        Returns:
            How many orphans were taken up. Never raises a refusal: what cannot be
            written now is tried again at the next call.
        """
        self._show_due()
        try:
            self._give_up_all()
            self._services.ledger.release_forgotten()
            orphans, stranded = self._services.ledger.take_up()
            kept = self._kept({orphan.charge.query_id for orphan in orphans})
        except CuratorError as error:
            _log.warning("recovery waits", extra={"code": error.code})
            return 0
        self._take(orphans, [*stranded, *kept])
        return len(orphans)

    # -- what was taken up --------------------------------------------------------

    def _show_due(self) -> None:
        now, leaving = self._pace.clock(), []
        for query_id, taken in list(self._taken.items()):
            if now < taken.due:
                continue
            if not taken.is_ready:
                taken.is_late = True
                while taken.due <= now and taken.seconds > 0:
                    taken.due += taken.seconds
                continue
            del self._taken[query_id]
            if taken.is_late:
                self._pace.count_late()
            if taken.gives_up:
                self._services.given_up.add(query_id)
            else:
                leaving.append(query_id)
        self._services.release(leaving)

    def _take(self, orphans: Iterable[Orphan], ended: Iterable[QueryRecord]) -> None:
        """Settle when each shows, in the order of charges, and execute the orphans.

        Whether an answer was stored already changes nothing of when it shows.
        """
        left: list[Orphan | QueryRecord] = [*orphans, *ended]
        for one in sorted(left, key=lambda one: one.time):
            self._services.unreleased.hold(one.query_id)
            grant, question = self._prepared(one)
            taken = self._taken[one.query_id] = self._scheduled(question)
            if isinstance(one, Orphan):
                if grant is None or question is None:
                    taken.gives_up = True
                    continue
                taken.is_ready = False
                self._executor.submit(self._answer, one, grant, question, taken)

    def _scheduled(self, question: Question | None) -> _Taken:
        seconds = self._pace.seconds(question)
        self._busy_until = max(self._busy_until, self._pace.clock()) + seconds
        return _Taken(self._busy_until, seconds)

    def _prepared(
        self, one: Orphan | QueryRecord
    ) -> tuple[Grant | None, Question | None]:
        """Return a charged question as it was asked; None where it cannot be, now."""
        if one.loss == Loss(0):
            return None, None  # a free answer: nothing was executed for it
        try:
            with self._services.databases.reader.connect() as connection:
                grant = snapshot_grant(
                    connection, project=one.project, snapshot=one.snapshot
                )
            losses = LossRange(one.loss, one.loss)
            request = request_of(one.request_json)
            return grant, prepare(self._compiler, grant, losses, request)
        except Exception as error:  # noqa: BLE001 - given up, tried again, then failed
            facts = {"error": type(error).__name__}
            _log.warning("recovery gives up a question", extra=facts)
            return None, None

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

    def _kept(self, claimed: set[str]) -> list[QueryRecord]:
        """Return what was given up and has ended; forget what was never charged."""
        found = {
            query_id: self._services.ledger.query(query_id)
            for query_id in self._given_up - claimed
        }
        self._given_up = set()
        self._services.release([name for name, record in found.items() if not record])
        return [record for record in found.values() if record is not None]

    # -- execution ----------------------------------------------------------------

    def _answer(
        self, orphan: Orphan, grant: Grant, question: Question, taken: _Taken
    ) -> None:
        try:
            reply = self._execute(orphan, grant, question)
            taken.gives_up = isinstance(reply.failure, LedgerUnavailableError)
        except Exception as error:  # noqa: BLE001 - given up, tried again, then failed
            facts = {"error": type(error).__name__}
            _log.warning("recovery gives up a question", extra=facts)
            taken.gives_up = True
        taken.is_ready = True

    def _execute(self, orphan: Orphan, grant: Grant, question: Question) -> Reply:
        caller = Caller(orphan.principal, "analyst")
        left = self._services.ledger.remaining(scopes_of(grant, caller))
        return self._desk.execute(
            orphan.charge, question, visible_remaining(left, grant, caller)
        )
