"""POST plan and queries: every reply leaves on its slot."""

import asyncio
import contextvars
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from privacy.errors import CuratorError, LedgerUnavailableError
from query_lang.compiled import CompiledQuery
from server.api.backlog import AT_ONCE, FROM_RELEASE, Backlog, Machine, Ticket, work_of
from server.api.intake import Arrival, check_transport, read_key, receive
from server.api.problems import Problem, problem_of
from server.api.slots import Permits, SlotClock
from server.api.turns import Turns
from server.logs import note
from server.strict_json import MalformedJsonError, read_json
from server.use_cases.asking import Desk, Paid, Reply
from server.use_cases.door import Door, Place
from server.use_cases.errors import (
    OverBudgetError,
    QueryFailedError,
)
from server.use_cases.requests import QuestionRequest, read_request

_log = logging.getLogger("curator.api")
REPLAYED = "Idempotency-Replayed"
Work = Callable[["Visit"], "Begun"]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Visit:
    """A request that has arrived, and its place among its principal's requests."""

    request: Request
    arrival: Arrival
    place: Place


@dataclass(frozen=True, slots=True)
class Outcome:
    """A response, the answer that its leaving releases, and whether it took reading."""

    response: Response
    query_id: str | None = None
    is_from_release: bool = False


Begun = Outcome | Paid
"""What reading a question brought: its response, or a charge that pays for one."""


class QuestionCounter:
    """Takes questions at arrival, answers them in threads, and sends on slots."""

    def __init__(
        self,
        desk: Desk,
        door: Door,
        release: Callable[[str], Awaitable[None]],
        clock: SlotClock,
        settings: "CounterSettings",
    ) -> None:
        self._desk = desk
        self._door = door
        self._release = release
        self._clock = clock
        self._backlog = Backlog(clock.slot_seconds, settings.machine)
        self._permits = Permits(settings.permits)
        self._serving = Turns(AT_ONCE)
        self._executing = Turns(settings.machine.executors)
        threads = AT_ONCE + settings.machine.executors
        self._threads = ThreadPoolExecutor(threads + 1, "question")

    def close(self) -> None:
        """Wait for the questions under way: what they write needs the ledger's lock."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def in_flight(self) -> int:
        """Return how many replies are under way."""
        return self._permits.in_use

    async def plan(self, request: Request, dataset: str) -> Response:
        """Answer POST plan."""
        return await self._serve(request, partial(self._plan, dataset=dataset))

    async def query(self, request: Request, dataset: str) -> Response:
        """Answer POST queries."""
        return await self._serve(request, partial(self._query, dataset=dataset))

    async def take_in(
        self, compiled: CompiledQuery, execution: Callable[[], None] | None
    ) -> None:
        """Run what recovery took up, in order of arrival; None: its cost counts alone.

        Questions that arrive later count its public cost among those ahead of them, so
        that how long it takes delays none of their replies.
        """
        ticket = self._backlog.arrive(time.monotonic(), 0)
        self._backlog.decide(ticket, work_of(compiled))
        if execution is None:
            return
        await ticket.promise
        async with self._executing.take(ticket.number):
            await self._in_thread(contextvars.copy_context(), execution)

    async def _serve(self, request: Request, work: Work) -> Response:
        try:
            arrival = await receive(request)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        if not self._permits.take():  # none is held for a body that does not come
            await self._clock.wait(arrival=arrival.time, slots=1)
            return Problem("busy", "too many requests are under way").response()
        place = Place(self._door)
        try:
            ticket = self._backlog.arrive(arrival.time, len(arrival.body))
            visit = Visit(request, arrival, place)
            outcome, slots = await self._answered(ticket, partial(work, visit))
            await self._clock.wait(arrival=arrival.time, slots=slots)
            if outcome.query_id is not None:
                await self._release(outcome.query_id)
        finally:
            self._give_back(place)
        return outcome.response

    async def _answered(
        self, ticket: Ticket, work: Callable[[], Begun]
    ) -> tuple[Outcome, int]:
        """Return what a question's reply says, and n; never before its public time.

        Reading, executing and storing take turns in order of arrival, and what executes
        does so after all those ahead of it are known to execute too, or not to.
        """
        context = contextvars.copy_context()  # of the request's log lines
        try:
            async with self._serving.take(ticket.number):
                begun = await self._in_thread(context, partial(self._guarded, work))
            if isinstance(begun, Paid):
                self._backlog.decide(ticket, work_of(begun.question.compiled))
        finally:
            self._backlog.decide(ticket, None)
        if isinstance(begun, Outcome):
            return begun, self._slots_unexecuted(ticket, begun)
        promise = await ticket.promise
        async with self._executing.take(ticket.number):
            computed = await self._in_thread(
                context, partial(self._desk.compute, begun)
            )
        await self._clock.reach(promise.take_up)
        async with self._serving.take(ticket.number):
            reply = await self._in_thread(
                context, partial(self._desk.answer, begun, computed)
            )
        return self._outcome(reply), promise.slots

    def _slots_unexecuted(self, ticket: Ticket, outcome: Outcome) -> int:
        if outcome.is_from_release:
            return self._backlog.slots_alone(ticket, FROM_RELEASE)
        return self._backlog.slots_unexecuted(ticket)

    async def _in_thread(
        self, context: contextvars.Context, work: Callable[[], _T]
    ) -> _T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, context.run, work)

    def _give_back(self, place: Place) -> None:
        """Give back the permit and the place; a reply never waits for a database."""
        self._permits.give_back()
        if place.blocks:
            self._threads.submit(place.give_back)
        else:
            place.give_back()

    def _guarded(self, work: Callable[[], Begun]) -> Begun:
        """Run the work; what it raises was refused before any charge."""
        try:
            self._door.services.catalogue.see_one_state()
            return work()
        except Problem as problem:
            return Outcome(problem.response())
        except CuratorError as error:
            return Outcome(problem_for(error).response())
        except Exception as error:  # noqa: BLE001 - a bug must not show what it met
            facts = {"error": type(error).__name__}
            _log.error("internal error before a charge", extra=facts)
            return Outcome(Problem("internal_error", "the server failed").response())

    def _plan(self, visit: Visit, *, dataset: str) -> Outcome:
        caller = visit.place.take(visit.request.headers.get("authorization"))
        check_transport(visit.request, visit.arrival)
        _refuse_query_string(visit.request)
        asked = _read(visit.arrival.body)
        self._desk.check_role(caller)
        return Outcome(_json(self._desk.plan(caller, dataset, asked)))

    def _query(self, visit: Visit, *, dataset: str) -> Begun:
        caller = visit.place.take(visit.request.headers.get("authorization"))
        check_transport(visit.request, visit.arrival)
        key = read_key(visit.request, visit.arrival.body)
        if key is not None:
            found = self._desk.look_up(caller, key)
            if found is not None:
                return self._outcome(found)
        asked = _read(visit.arrival.body)
        self._desk.check_role(caller)
        begun = self._desk.begin(caller, dataset, asked, key)
        return begun if isinstance(begun, Paid) else self._outcome(begun)

    def _outcome(self, reply: Reply) -> Outcome:
        if reply.failure is not None:
            response = problem_for(reply.failure).response()
        else:
            response = _json(reply.body, replayed=reply.replayed)
        # An answer that could not be anchored stays hidden until recovery anchors it.
        unanchored = isinstance(reply.failure, LedgerUnavailableError)
        shown = unanchored or reply.replayed
        note(outcome=_name_of(reply), query_id=reply.query_id)
        return Outcome(
            response,
            query_id=None if shown else reply.query_id,
            is_from_release=reply.is_free,
        )


@dataclass(frozen=True, slots=True)
class CounterSettings:
    """Limits of the question counter."""

    permits: int
    machine: Machine


def problem_for(error: CuratorError) -> Problem:
    """Map an error of ours, with the members that its code adds."""
    problem = problem_of(error)
    if isinstance(error, OverBudgetError):
        problem.members["remaining"] = error.remaining
        problem.members["attainable"] = error.attainable
    if isinstance(error, QueryFailedError):
        problem.members["query_id"] = error.query_id
    return problem


def _name_of(reply: Reply) -> str:
    """Name what became of a question, for the operator's counters."""
    if reply.failure is not None:
        return "failed" if reply.failure.code == "query_failed" else "unavailable"
    if reply.replayed:
        return "replayed"
    return "free" if reply.executed is None or reply.is_free else "answered"


def _refuse_query_string(request: Request) -> None:
    if request.url.query:
        raise Problem("invalid_request", "this route takes no query string")


def _read(body: bytes) -> QuestionRequest:
    try:
        value = read_json(body)
    except MalformedJsonError as error:
        raise Problem("malformed_json", str(error)) from None
    return read_request(value)


def _json(body: bytes, *, replayed: bool = False) -> Response:
    headers = {REPLAYED: "true"} if replayed else {}
    return Response(body, media_type="application/json", headers=headers)
