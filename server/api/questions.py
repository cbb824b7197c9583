"""POST plan and queries: every reply leaves on its slot."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from privacy.errors import CuratorError, LedgerUnavailableError
from server.api.intake import Arrival, check_transport, read_key, receive
from server.api.problems import Problem, problem_of
from server.api.slots import Permits, SlotClock, executing_slots
from server.strict_json import MalformedJsonError, read_json
from server.use_cases.access import Caller
from server.use_cases.asking import Desk, Reply
from server.use_cases.errors import (
    OverBudgetError,
    QueryFailedError,
)
from server.use_cases.requests import QuestionRequest, read_request

_log = logging.getLogger("curator.api")
REPLAYED = "Idempotency-Replayed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A response, the slots it takes, and the answer that its leaving releases."""

    response: Response
    slots: int = 1
    query_id: str | None = None


class QuestionCounter:
    """Takes questions at arrival, answers them in threads, and sends on slots."""

    def __init__(
        self,
        desk: Desk,
        authenticate: Callable[[str | None], Caller],
        release: Callable[[str], Awaitable[None]],
        clock: SlotClock,
        settings: "CounterSettings",
    ) -> None:
        self._desk = desk
        self._authenticate = authenticate
        self._release = release
        self._clock = clock
        self._base_slots = settings.base_slots
        self._permits = Permits(settings.permits)
        self._threads = ThreadPoolExecutor(settings.permits, "question")

    async def plan(self, request: Request, dataset: str) -> Response:
        """Answer POST plan."""
        return await self._serve(request, partial(self._plan, dataset=dataset))

    async def query(self, request: Request, dataset: str) -> Response:
        """Answer POST queries."""
        return await self._serve(request, partial(self._query, dataset=dataset))

    async def _serve(
        self,
        request: Request,
        work: Callable[[Request, Arrival], Outcome],
    ) -> Response:
        if not self._permits.take():
            await self._clock.wait(arrival=time.monotonic(), slots=1)
            return Problem("busy", "too many requests are under way").response()
        try:
            arrival = await receive(request)
            loop = asyncio.get_running_loop()
            outcome = await loop.run_in_executor(
                self._threads, _guarded, work, request, arrival
            )
            await self._clock.wait(arrival=arrival.time, slots=outcome.slots)
            if outcome.query_id is not None:
                await self._release(outcome.query_id)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        finally:
            self._permits.give_back()
        return outcome.response

    def _plan(self, request: Request, arrival: Arrival, *, dataset: str) -> Outcome:
        caller = self._authenticate(request.headers.get("authorization"))
        check_transport(request, arrival)
        _refuse_query_string(request)
        asked = _read(arrival.body)
        self._desk.check_role(caller)
        return Outcome(_json(self._desk.plan(caller, dataset, asked)))

    def _query(self, request: Request, arrival: Arrival, *, dataset: str) -> Outcome:
        caller = self._authenticate(request.headers.get("authorization"))
        check_transport(request, arrival)
        key = read_key(request, arrival.body)
        if key is not None:
            found = self._desk.look_up(caller, key)
            if found is not None:
                return self._outcome(found)
        asked = _read(arrival.body)
        self._desk.check_role(caller)
        return self._outcome(self._desk.ask(caller, dataset, asked, key))

    def _outcome(self, reply: Reply) -> Outcome:
        slots = 1
        if reply.executed is not None:
            compiled = reply.executed.compiled
            slots = executing_slots(
                base=self._base_slots,
                cells=len(compiled.rendered.cells),
                vectors=sum(measure.size for measure in compiled.measures),
                scans=compiled.rendered.scans,
            )
        if reply.failure is not None:
            response = problem_for(reply.failure).response()
        else:
            response = _json(reply.body, replayed=reply.replayed)
        # An answer that could not be anchored stays hidden until recovery anchors it.
        unanchored = isinstance(reply.failure, LedgerUnavailableError)
        shown = unanchored or reply.replayed
        return Outcome(response, slots, None if shown else reply.query_id)


@dataclass(frozen=True, slots=True)
class CounterSettings:
    """Limits of the question counter."""

    permits: int
    base_slots: int


def problem_for(error: CuratorError) -> Problem:
    """Map an error of ours, with the members that its code adds."""
    problem = problem_of(error)
    if isinstance(error, OverBudgetError):
        problem.members["remaining"] = error.remaining
    if isinstance(error, QueryFailedError):
        problem.members["query_id"] = error.query_id
    return problem


def _guarded(
    work: Callable[[Request, Arrival], Outcome], request: Request, arrival: Arrival
) -> Outcome:
    """Run the work; what it raises was refused before any charge, in one slot."""
    try:
        return work(request, arrival)
    except Problem as problem:
        return Outcome(problem.response())
    except CuratorError as error:
        return Outcome(problem_for(error).response())
    except Exception as error:  # noqa: BLE001 - a bug must not show what it met
        _log.error("internal error before a charge: %s", type(error).__name__)
        return Outcome(Problem("internal_error", "the server failed").response())


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
