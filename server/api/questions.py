"""POST plan and queries: every reply leaves on its slot."""

import asyncio
import contextvars
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from privacy.errors import CuratorError
from server.api.intake import Arrival, check_transport, read_key, receive
from server.api.problems import Problem, problem_of
from server.api.slots import Permits, SlotClock, executing_slots
from server.logs import note
from server.strict_json import MalformedJsonError, read_json
from server.use_cases.asking import Desk, Reply
from server.use_cases.door import Door, Place
from server.use_cases.errors import (
    OverBudgetError,
    QueryFailedError,
)
from server.use_cases.questions import Question
from server.use_cases.requests import QuestionRequest, read_request

_log = logging.getLogger("curator.api")
REPLAYED = "Idempotency-Replayed"
Work = Callable[["Visit"], "Outcome"]


@dataclass(frozen=True, slots=True)
class Visit:
    """A request that has arrived, and its place among its principal's requests."""

    request: Request
    arrival: Arrival
    place: Place


@dataclass(frozen=True, slots=True)
class Outcome:
    """A response, the slots it takes, and the answer that its leaving releases."""

    response: Response
    slots: int = 1
    query_id: str | None = None
    given_up: str | None = None  # to recovery, once the response has left


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
        self._base_slots = settings.base_slots
        self._permits = Permits(settings.permits)
        self._threads = ThreadPoolExecutor(settings.permits, "question")

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

    async def _serve(self, request: Request, work: Work) -> Response:
        if not self._permits.take():
            await self._clock.wait(arrival=time.monotonic(), slots=1)
            return Problem("busy", "too many requests are under way").response()
        place = Place(self._door)
        try:
            arrival = await receive(request)
            visit = Visit(request, arrival, place)
            loop = asyncio.get_running_loop()
            within = contextvars.copy_context()  # of the request's log lines
            outcome = await loop.run_in_executor(
                self._threads, within.run, self._guarded, work, visit
            )
            await self._clock.wait(arrival=arrival.time, slots=outcome.slots)
            if outcome.query_id is not None:
                await self._release(outcome.query_id)
            if outcome.given_up is not None:
                self._door.services.given_up.add(outcome.given_up)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        finally:
            self._give_back(place)
        return outcome.response

    def _give_back(self, place: Place) -> None:
        """Give back the permit and the place; a reply never waits for a database."""
        self._permits.give_back()
        if place.blocks:
            self._threads.submit(place.give_back)
        else:
            place.give_back()

    def _guarded(self, work: Work, visit: Visit) -> Outcome:
        """Run the work; what it raises was refused before any charge, in one slot."""
        try:
            self._door.services.catalogue.see_one_state()
            return work(visit)
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

    def _query(self, visit: Visit, *, dataset: str) -> Outcome:
        caller = visit.place.take(visit.request.headers.get("authorization"))
        check_transport(visit.request, visit.arrival)
        key = read_key(visit.request, visit.arrival.body)
        if key is not None:
            found = self._desk.look_up(caller, key)
            if found is not None:
                return self._outcome(found)
        asked = _read(visit.arrival.body)
        self._desk.check_role(caller)
        return self._outcome(self._desk.ask(caller, dataset, asked, key))

    def _outcome(self, reply: Reply) -> Outcome:
        slots = 1
        if reply.executed is not None:
            slots = slots_of(reply.executed, base=self._base_slots)
        if reply.failure is not None:
            response = problem_for(reply.failure).response()
        else:
            response = _json(reply.body, replayed=reply.replayed)
        note(outcome=_name_of(reply), query_id=reply.query_id)
        if reply.is_given_up:  # hidden until recovery has anchored its answer
            return Outcome(response, slots, given_up=reply.query_id)
        return Outcome(response, slots, None if reply.replayed else reply.query_id)


@dataclass(frozen=True, slots=True)
class CounterSettings:
    """Limits of the question counter."""

    permits: int
    base_slots: int


def slots_of(question: Question, *, base: int) -> int:
    """Return n of a question that executes: of its plan and declared sizes alone."""
    compiled = question.compiled
    return executing_slots(
        base=base,
        cells=len(compiled.rendered.cells),
        vectors=sum(measure.size for measure in compiled.measures),
        scans=compiled.rendered.scans,
    )


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
