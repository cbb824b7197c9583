"""POST plan and queries: every reply leaves on its slot."""

import asyncio
import contextvars
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from privacy.errors import CuratorError, LedgerUnavailableError, QueryError
from query_lang.plans.compiled import CompiledQuery
from server.api.forms.forms import Form, answer_in
from server.api.routing.accepting import SEVERAL_ARE_JSON, wanted_form
from server.api.routing.backlog import (
    AT_ONCE,
    NOTHING,
    Backlog,
    Cost,
    Machine,
    Ticket,
    Unexecuted,
    comparing,
    formed,
    forming_of,
    from_release,
    opening,
    read_again,
    sent,
    shown_again,
    slots_of,
    work_of,
)
from server.api.routing.caller_checks import CHECKING_SECONDS, CallerChecks, Checked
from server.api.routing.intake import Arrival, check_transport, read_key, receive
from server.api.routing.slots import Permit, Permits, SlotClock
from server.api.routing.turns import Reading, ReadingTurns, Turns
from server.api.schemas.problems import Problem, problem_of, problem_of_failure
from server.telemetry.logs import note
from server.use_cases.identity.access import Caller
from server.use_cases.identity.admission import Admission, CallerPermit
from server.use_cases.identity.shares import FreeWorkLimit
from server.use_cases.questions.asking.executing import Computed
from server.use_cases.questions.asking.service import QueryService
from server.use_cases.questions.asking.submissions import IdempotencyKey, Paid, Reply
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.requests import QuestionRequest, read_request
from server.use_cases.questions.studies.composed import StudyQuestion
from server.use_cases.questions.studies.requests import read_study
from server.use_cases.questions.studying import StudyService
from server.use_cases.services.errors import OverBudgetError, UnattainableError
from server.use_cases.services.strict_json import (
    JsonValue,
    MalformedJsonError,
    read_json,
)

_log = logging.getLogger("curator.api")
REPLAYED = "Idempotency-Replayed"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Headers:
    """What headers ask for."""

    key: IdempotencyKey | None = None  # under which it is to be charged once
    form: Form = Form.JSON  # of the answer


@dataclass(frozen=True, slots=True)
class Visit:
    """A request that has arrived, and whose caller and headers are good."""

    arrival: Arrival
    permit: CallerPermit
    checked: Checked
    headers: Headers
    looked_at: LookedAt = field(default_factory=LookedAt)

    @property
    def ready(self) -> float:
        """When it may be read, by public clocks: it is whole, and its caller checked.

        From then on its caller's turn may be late, and not before.
        """
        return max(self.arrival.time, self.checked.end)


Check = Callable[[Request, bytes], Headers]
Work = Callable[[Visit, Caller], "Begun"]


@dataclass(frozen=True, slots=True)
class PendingResponse:
    """A response, the answer that its leaving releases, and where it came from."""

    response: Response
    query_id: str | None = None
    is_from_release: bool = False
    shown_again: CompiledQuery | None = None  # a text that shows stored vectors
    readings: int = 0  # of further texts, for a refusal's fix
    formed_of: int = 0  # bytes of JSON that another form was made of
    free_seconds: float = 0.0  # that it took the server, and nobody paid for

    @property
    def work(self) -> Unexecuted:
        """What it costs the server, where nothing executed."""
        return self._sending.after(formed(self.formed_of))

    @property
    def _sending(self) -> Unexecuted:
        size = max(len(self.response.body), self.formed_of)
        if self.shown_again is not None:
            return shown_again(size, self.shown_again)
        if self.is_from_release:
            return from_release(size)
        return sent(size, self.readings)


@dataclass(frozen=True, slots=True)
class PaidVisit:
    """A charged question, and the form that its answer is wanted in."""

    paid: Paid
    form: Form


@dataclass(frozen=True, slots=True)
class Postponed:
    """A question that takes long to take up, and came in a turn that is not for that.

    Nothing was charged or shown: it is read again when a turn of the long ones comes.
    """


class PostponedError(Exception):
    """A question takes longer than its caller's turn is for."""


Begun = PendingResponse | PaidVisit | Postponed
"""What reading a question brought: its response, or a charge that pays for one."""


@dataclass(frozen=True, slots=True)
class Read:
    """A request that was read.

    Attributes:
        begun: What that brought.
        slots: n of its reply.
        number: Of its ticket.
        take_up: When a result of its is taken up, on the monotonic clock.
        free_seconds: That it took the server, if nobody pays for it.
    """

    begun: Begun
    slots: int
    number: int = 0
    take_up: float = 0.0
    free_seconds: float = 0.0


class QueryEndpoint:
    """Takes questions at arrival, answers them in threads, and sends on slots."""

    def __init__(
        self,
        asking: "Asking",
        admission: Admission,
        release: Callable[[str], Awaitable[None]],
        clock: SlotClock,
        settings: "EndpointSettings",
    ) -> None:
        self._queries, self._studies = asking.queries, asking.studies
        self._admission = admission
        self._release = release
        self._clock = clock
        self._backlog = Backlog(clock.slot_seconds, settings.machine)
        self._checks = CallerChecks(
            clock.slot_seconds, settings.machine, settings.checking_seconds
        )
        self._permits = Permits(settings.permits)
        self._reading_turns = ReadingTurns(clock)
        self._free_work = FreeWorkLimit(is_limited=settings.limits_rate)
        self._serving = Turns(AT_ONCE)
        self._executing = Turns(settings.machine.executors)
        threads = AT_ONCE + settings.machine.executors
        self._threads = ThreadPoolExecutor(threads + 1, "question")

    def close(self) -> None:
        """Wait for the questions under way: what they write needs the ledger's lock."""
        self._checks.close()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def in_flight(self) -> int:
        """Return how many replies are under way; none that waits for its caller."""
        return self._permits.in_use

    def check_free(self, principal: str) -> None:
        """Refuse whoever has taken too much of the server for nothing.

        Raises:
            RateLimitedError: Nothing was read.
        """
        self._free_work.check(principal, time.monotonic())

    def count_formed(self, principal: str, size: int) -> None:
        """Count the writing of ``size`` bytes of a stored answer in another form."""
        self._free_work.take(principal, time.monotonic(), formed(size))

    async def plan(self, request: Request, dataset: str) -> Response:
        """Answer POST plan."""
        work = partial(self._plan, dataset=dataset)
        return await self._serve(request, _refuse_query_string, work)

    async def plan_study(self, request: Request, dataset: str) -> Response:
        """Answer POST plans."""
        work = partial(self._plan_study, dataset=dataset)
        return await self._serve(request, _refuse_query_string, work)

    async def study(self, request: Request, dataset: str) -> Response:
        """Answer POST studies."""
        work = partial(self._study, dataset=dataset)
        return await self._serve(request, _read_headers_of_json, work)

    async def query(self, request: Request, dataset: str) -> Response:
        """Answer POST queries."""
        work = partial(self._query, dataset=dataset)
        return await self._serve(request, _read_headers, work)

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

    async def _serve(self, request: Request, check: Check, work: Work) -> Response:
        try:
            arrival = await receive(request)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        credential = request.headers.get("authorization")
        if self._checks.is_full(credential):
            return await self._busy(arrival, slots=1)
        permit = CallerPermit(self._admission)

        def admitted() -> Headers:
            permit.take(credential)
            check_transport(request, arrival)
            if permit.principal is not None:
                self._free_work.check(permit.principal, arrival.time)
            return check(request, arrival.body)

        def decide() -> tuple[Headers | PendingResponse, str | None]:
            """Return what headers ask, or what they and limits alone refuse."""
            found = _refusing(admitted)
            return found, None if isinstance(
                found, PendingResponse
            ) else permit.principal

        context = contextvars.copy_context()  # of the request's log lines
        deciding = partial(context.run, decide)
        try:
            found, checked = await self._checks.run(arrival.time, credential, deciding)
            if isinstance(found, PendingResponse):
                await self._clock.wait(arrival=arrival.time, slots=checked.slots)
                return found.response
            return await self._asked(Visit(arrival, permit, checked, found), work)
        finally:
            self._give_back(permit)

    async def _asked(self, visit: Visit, work: Work) -> Response:
        """Answer a question: others wait behind it."""
        with Permit(self._permits) as permit:
            pending, slots = await self._answered(visit, work, permit)
            await self._clock.wait(arrival=visit.arrival.time, slots=slots)
            self._count_free(visit, pending, slots)
            if pending.query_id is not None:
                await self._release(pending.query_id)
        return pending.response

    def _count_free(self, visit: Visit, pending: PendingResponse, slots: int) -> None:
        """Count what nobody pays for, as of the instant when the reply leaves."""
        principal = visit.permit.principal
        if principal is not None:
            left = visit.arrival.time + slots * self._clock.slot_seconds
            self._free_work.take(principal, left, pending.free_seconds)

    async def _busy(self, arrival: Arrival, *, slots: int) -> Response:
        await self._clock.wait(arrival=arrival.time, slots=slots)
        return _all_taken()

    async def _answered(
        self, visit: Visit, work: Work, permit: Permit
    ) -> tuple[PendingResponse, int]:
        """Return what a question's reply says, and n; never before its public time.

        Reading, executing and storing take turns in order of arrival; n is known, and
        what executes does so, once the costs of all those ahead of it are known. A
        permit is taken when its turn has come: what waits for its own caller, or for a
        body, holds none.
        """
        context = contextvars.copy_context()  # of the request's log lines
        caller, turns = visit.permit.principal, self._reading_turns
        async with turns.take(caller, visit.ready) as reading:
            read = await self._read(context, visit, work, permit, reading)
            if isinstance(read.begun, Postponed):
                await reading.end()
                permit.give_back()
                await reading.join_the_long()
                visit = replace(visit, looked_at=LookedAt())
                first = read.free_seconds
                read = await self._read(context, visit, work, permit, reading)
                read = replace(read, free_seconds=read.free_seconds + first)
        begun = read.begun
        if isinstance(begun, Postponed):  # pragma: no cover - its turn is a long one
            raise TypeError
        if isinstance(begun, PendingResponse):
            return replace(begun, free_seconds=read.free_seconds), read.slots
        async with self._executing.take(read.number):
            computed = await self._in_thread(
                context, partial(self._queries.executing.compute, begun.paid)
            )
        await self._clock.reach(read.take_up)
        async with self._serving.take(read.number):
            pending = await self._in_thread(
                context, partial(self._answer, begun, computed)
            )
        return pending, read.slots

    async def _read(
        self,
        context: contextvars.Context,
        visit: Visit,
        work: Work,
        permit: Permit,
        reading: Reading,
    ) -> "Read":
        """Read a request whose turn has come."""
        if not permit.take():
            waited = reading.begun - visit.arrival.time
            slots = slots_of(waited, self._clock.slot_seconds)
            return Read(PendingResponse(_all_taken()), max(visit.checked.slots, slots))
        visit.looked_at.require_turn = partial(self._require_turn, reading)
        ticket = self._arrived(visit, reading.begun)
        begun, cost = await self._read_in_turn(context, ticket, visit, work)
        promise = await ticket.promise
        reading.note(promise)
        free = max(0.0, _free(cost, ticket) - read_again(visit.looked_at))
        return Read(begun, promise.slots, ticket.number, promise.take_up, free)

    def _require_turn(self, reading: Reading, compiled: CompiledQuery) -> None:
        """Require a turn of the long ones for what takes the server long to take up.

        Raises:
            PostponedError: This one is none.
        """
        if not reading.is_long and self._backlog.is_long(work_of(compiled)):
            raise PostponedError

    def _arrived(self, visit: Visit, begun: float) -> Ticket:
        arrival, checked = visit.arrival, visit.checked
        return self._backlog.arrive(
            arrival.time,
            len(arrival.body),
            max(checked.end, begun),
            is_crowded=checked.is_crowded,
        )

    async def _read_in_turn(
        self,
        context: contextvars.Context,
        ticket: Ticket,
        visit: Visit,
        work: Work,
    ) -> tuple[Begun, Cost]:
        """Return what reading a question brought, and its public cost."""
        beginning = partial(self._begin, partial(work, visit), visit.permit)
        try:
            async with self._serving.take(ticket.number):
                refusing = partial(_refusing, partial(_or_postponed, beginning))
                begun = await self._in_thread(context, refusing)
            cost = _work_of(begun, visit.looked_at)
            self._backlog.decide(ticket, cost)
        finally:
            self._backlog.decide(ticket, NOTHING)
        return begun, cost

    def _answer(self, begun: PaidVisit, computed: Computed) -> PendingResponse:
        """Measure and store, then write it in its form: both wait for its public time.

        The form is made of bytes that are stored by then.
        """
        return self._pending(
            self._queries.executing.answer(begun.paid, computed), begun.form
        )

    async def _in_thread(
        self, context: contextvars.Context, work: Callable[[], _T]
    ) -> _T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, context.run, work)

    def _give_back(self, permit: CallerPermit) -> None:
        """Give back the permit; a reply never waits for a database."""
        if permit.blocks:
            self._threads.submit(permit.give_back)
        else:
            permit.give_back()

    def _begin(self, work: Callable[[Caller], Begun], permit: CallerPermit) -> Begun:
        """Run the work, for whom the key lets in still: it may have waited long."""
        self._admission.services.catalogue.see_one_state()
        return work(permit.holder())

    def _plan(self, visit: Visit, caller: Caller, *, dataset: str) -> PendingResponse:
        asked = _read(visit.arrival.body)
        self._queries.check_role(caller)
        planned = self._queries.plan(caller, dataset, asked, visit.looked_at)
        return PendingResponse(_json(planned))

    def _query(self, visit: Visit, caller: Caller, *, dataset: str) -> Begun:
        def begin(key: IdempotencyKey | None) -> Reply | Paid:
            asked = _read(visit.arrival.body)
            self._queries.check_role(caller)
            return self._queries.begin(caller, dataset, asked, key, visit.looked_at)

        return self._begun(visit, caller, begin)

    def _plan_study(
        self, visit: Visit, caller: Caller, *, dataset: str
    ) -> PendingResponse:
        asked = read_study(_json_of(visit.arrival.body))
        self._queries.check_role(caller)
        planned = self._studies.plan(caller, dataset, asked, visit.looked_at)
        return PendingResponse(_json(planned))

    def _study(self, visit: Visit, caller: Caller, *, dataset: str) -> Begun:
        def begin(key: IdempotencyKey | None) -> Reply | Paid:
            asked = read_study(_json_of(visit.arrival.body))
            self._queries.check_role(caller)
            return self._studies.begin(caller, dataset, asked, key, visit.looked_at)

        return self._begun(visit, caller, begin)

    def _begun(
        self,
        visit: Visit,
        caller: Caller,
        begin: Callable[[IdempotencyKey | None], Reply | Paid],
    ) -> Begun:
        """Return what a key brought before, else what begins now."""
        key, form = visit.headers.key, visit.headers.form
        if key is not None:
            found = self._queries.look_up(caller, key)
            if found is not None:
                return self._pending(found, form)
        begun = begin(key)
        if isinstance(begun, Paid):
            return PaidVisit(begun, form)
        return self._pending(begun, form)

    def _pending(self, reply: Reply, form: Form) -> PendingResponse:
        if reply.failure is not None:
            response = problem_for(reply.failure).response()
        else:
            headers = {REPLAYED: "true"} if reply.replayed else {}
            response = answer_in(form, reply.body, headers)
        # An answer that could not be anchored stays hidden until recovery anchors it.
        unanchored = isinstance(reply.failure, LedgerUnavailableError)
        shown = unanchored or reply.replayed
        note(outcome=_name_of(reply), query_id=reply.query_id)
        return PendingResponse(
            response,
            query_id=None if shown else reply.query_id,
            is_from_release=reply.is_free,
            shown_again=reply.shown_again,
            formed_of=0 if form is Form.JSON else len(reply.body),
        )


def _free(cost: Cost, ticket: Ticket) -> float:
    """Return what a request takes the server for nothing; 0 where it is charged."""
    if not isinstance(cost, Unexecuted):
        return 0.0
    return (1 + cost.readings) * ticket.reading + cost.serving


def _work_of(begun: Begun, looked_at: LookedAt) -> Cost:
    """Return the public cost of what reading a question brought."""
    more, alone = comparing(looked_at), opening(looked_at)
    if isinstance(begun, Postponed):
        return NOTHING.after(more)
    if isinstance(begun, PendingResponse):
        return begun.work.after(more, alone)
    more, paid = more + alone, begun.paid
    work = work_of(paid.question.compiled)
    if isinstance(paid.question, StudyQuestion):
        answers = comparing(LookedAt(cells=paid.question.answering_steps))
        return replace(work, reading=more, storing=work.storing + answers)
    if begun.form is not Form.JSON:
        more += forming_of(paid.question.compiled)
    return replace(work, storing=work.storing + more)


@dataclass(frozen=True, slots=True)
class Asking:
    """What answers questions, one by one and several at once."""

    queries: QueryService
    studies: StudyService


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """What limits how many questions the endpoint takes, and how fast."""

    permits: int
    machine: Machine
    checking_seconds: float = CHECKING_SECONDS
    limits_rate: bool = True


def _all_taken() -> Response:
    return Problem("busy", "too many requests are under way").response()


def _or_postponed(work: Callable[[], _T]) -> _T | Postponed:
    try:
        return work()
    except PostponedError:
        return Postponed()


def _refusing(work: Callable[[], _T]) -> _T | PendingResponse:
    """Return what the work brings; what it raises was refused before any charge."""
    try:
        return work()
    except Problem as problem:
        return PendingResponse(problem.response())
    except CuratorError as error:
        tried = error.tried if isinstance(error, QueryError) else 0
        return PendingResponse(problem_for(error).response(), readings=tried)
    except Exception as error:  # noqa: BLE001 - a bug must not show what it met
        facts = {"error": type(error).__name__}
        _log.error("internal error before a charge", extra=facts)
        return PendingResponse(problem_of_failure(error).response())


def problem_for(error: CuratorError) -> Problem:
    """Map an error of ours, with the members that its code adds."""
    problem = problem_of(error)
    if isinstance(error, OverBudgetError):
        problem.members["remaining"] = error.remaining
        problem.members["attainable"] = error.attainable
    if isinstance(error, UnattainableError) and error.ways:
        problem.members["ways"] = error.ways
    return problem


def _name_of(reply: Reply) -> str:
    """Name what became of a question, for the operator's counters."""
    if reply.failure is not None:
        return "failed" if reply.failure.code == "query_failed" else "unavailable"
    if reply.replayed:
        return "replayed"
    return "free" if reply.executed is None or reply.is_free else "answered"


def _read_headers(request: Request, body: bytes) -> Headers:
    form = wanted_form(request)  # 406 comes before what the key brings
    return Headers(read_key(request, body), form)


def _read_headers_of_json(request: Request, body: bytes) -> Headers:
    """Return what headers ask of a reply that has one form."""
    headers = _read_headers(request, body)
    if headers.form is not Form.JSON:
        raise Problem("not_acceptable", SEVERAL_ARE_JSON)
    return headers


def _refuse_query_string(request: Request, _: bytes) -> Headers:
    if request.url.query:
        raise Problem("invalid_request", "this route takes no query string")
    return Headers()


def _read(body: bytes) -> QuestionRequest:
    return read_request(_json_of(body))


def _json_of(body: bytes) -> JsonValue:
    try:
        return read_json(body)
    except MalformedJsonError as error:
        raise Problem("malformed_json", str(error)) from None


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")
