"""When a question's reply leaves: from its cost and what is ahead of it, both public.

A virtual clock runs the questions in order of arrival, each for its calibrated cost.
Requests and slots alone determine it: no measured time enters (PRIVACY 6). Three
stages follow each other, and each takes one question after the other:

1. the server reads, compiles and charges: ``reading``;
2. an executor runs the plan: ``executing``;
3. the server takes the result up, adds noise, stores: ``storing``.

What needs no executor, refusals and free answers, leaves after the first stage, which
takes longer by the bytes that it sends.

A result waits for its public time between the second stage and the third. So what the
server does with it, which other routes could feel, begins at no time of the rows'.
"""

import asyncio
import math
from collections import deque
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from query_lang.plans.compiled import CompiledQuery
from query_lang.plans.costs import SLOT_SHARE
from server.use_cases.questions.looked_at import LookedAt

READING_SECONDS: Final = 0.013
"""Of the server, to read, compile, charge and anchor a short question."""
READING_SECONDS_PER_BYTE: Final = 0.000_02
"""More of it for each byte of a long body: it takes long to parse and compile."""
SHORT_BYTES: Final = 512
"""Of a body that is not long."""
STORING_SECONDS: Final = 0.011
"""Of the server, to measure, write down, store and anchor a small answer."""
STORING_SECONDS_PER_VALUE: Final = 0.000_02
"""More of it for each noisy value: its draw, and its place in the answer."""
STORING_SECONDS_PER_VECTOR: Final = 0.001
"""More of it for each measured column: its scale is compared with its price, and
tables of its noise may have to be made."""
STORING_SECONDS_PER_SHOWN: Final = 0.000_01
"""More of it for each number or key that the answer shows beyond its noisy values:
columns may repeat these. It is written, hashed, stored and sent."""
STORING_SECONDS_PER_KEY_BYTE: Final = 0.000_000_1
"""More of it for each byte of the keys that it may show: texts are long."""
SENDING_SECONDS_PER_BYTE: Final = 0.000_000_02
"""Of the server, to read an answer that is stored, compare its digest and send it."""
RELEASED_SECONDS_PER_BYTE: Final = 0.000_000_3
"""Likewise of an answer from a release, which it writes down first."""
FORMING_SECONDS_PER_BYTE: Final = 0.000_000_5
"""Of the server, to write an answer as CSV or Arrow: for each byte of its JSON, which
is read again."""
FORMING_SECONDS_PER_SHOWN: Final = 0.000_015
"""Likewise for each number or key of an answer that is not written yet, its ends and
what its JSON says of them counted."""
FORMING_SECONDS_PER_KEY_BYTE: Final = 0.000_000_1
"""Likewise for each byte of its keys."""
EXECUTING_SECONDS: Final = 0.002
"""Of an executor, beside the bound of the plan itself: a request and its reply."""
RELEASE_SECONDS: Final = 0.5
"""To answer from a release, beside writing it down: its own reply alone waits."""
COMPARING_SECONDS_PER_TEXT: Final = 0.02
"""Of the server, to read a short paid question again and see what its vectors count."""
COMPARING_SECONDS_PER_CELL: Final = 0.00006
"""Likewise, to find of which cells of one paid vector one that is asked for is made."""
SHORT_SECONDS: Final = 0.1
"""Of the server, to read a request that is ordinary, and to take its result up: so much
is not counted where callers take turns."""
STARTING_SECONDS: Final = 2.0
"""Until what recovery takes up may show, after a start: for executors that start too,
and for what is asked meanwhile, which goes first."""
AT_ONCE: Final = 3
"""Questions that the server reads or stores at once; they share one interpreter."""
CROWDED: Final = Fraction(4, 3)
"""How much longer the server takes where refused requests take turns with it: their
checks rest three quarters of the time, see ``server.api.routing.caller_checks``."""
MARGIN_SLOTS: Final = Fraction(1, SLOT_SHARE)
"""Of each reply: for a machine slower than the figures here, where answers wait.

What one unit's rows may add to all executions ahead (PRIVACY 6) is carried beside it:
``work_of`` counts it for every question. All figures: ``python -m benchmarks.slots``
on 2 cores; of bytes: ``python -m benchmarks.large_answers``.
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """What the questions of one server process share.

    Attributes:
        executors: Of this process.
        cores: Of the machine: half for the servers, half for executors; the odd one
            is the servers', and a single one is shared.
        workers: Server processes on the machine.
    """

    executors: int
    cores: int
    workers: int = 1

    @property
    def server_speed(self) -> Fraction:
        """Seconds of work that this process does a second, with all processes busy."""
        own = self.cores - self._executors_cores
        return min(Fraction(1), own / self.workers)

    @property
    def executor_speed(self) -> Fraction:
        """Seconds of work that its executors do a second together, likewise."""
        return min(Fraction(self.executors), self._executors_cores / self.workers)

    @property
    def _executors_cores(self) -> Fraction:
        return Fraction(self.cores // 2) if self.cores > 1 else Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Work:
    """What a question costs beside the reading of its text, in seconds of one core.

    Attributes:
        executing: Of an executor.
        storing: Of the server, once it has executed.
        reading: Of the server before: to find what to measure for several questions.
    """

    executing: float
    storing: float
    reading: float = 0.0


@dataclass(frozen=True, slots=True)
class Unexecuted:
    """What a reply costs the server where nothing executes, beside its reading.

    Attributes:
        serving: Seconds that those behind it wait for too.
        alone: Seconds that it waits for alone.
        readings: How often texts like its own are read again, to find what its hint
            offers; those behind it wait for that, too.
    """

    serving: float = 0.0
    alone: float = 0.0
    readings: int = 0

    def after(self, seconds: float, alone: float = 0.0) -> "Unexecuted":
        """Return the same reply after so much other work of the server.

        Args:
            seconds: That those behind it wait for too.
            alone: That it waits for alone.
        """
        serving, waits = self.serving + seconds, self.alone + alone
        return replace(self, serving=serving, alone=waits)


Cost = Work | Unexecuted
NOTHING: Final = Unexecuted()


def slots_of(seconds: float, slot: float) -> int:
    """Return the n of a reply that is ready so long after its arrival; one at least.

    Args:
        seconds: From the arrival, on a public clock.
        slot: Its length, in seconds; 0: replies have none.
    """
    return max(1, math.ceil(seconds / slot)) if slot else 1


def sent(size: int, readings: int = 0) -> Unexecuted:
    """Return the cost of a reply of ``size`` bytes that nothing executed for.

    They are public: those of a refusal, or of an answer that has left before. So is how
    many texts were compiled to find a refused one's fix: it follows from the text.
    """
    return Unexecuted(SENDING_SECONDS_PER_BYTE * size, readings=readings)


def from_release(size: int) -> Unexecuted:
    """Return the cost of an answer of ``size`` bytes that a release gave."""
    return Unexecuted(RELEASED_SECONDS_PER_BYTE * size, RELEASE_SECONDS)


def shown_again(size: int, compiled: CompiledQuery) -> Unexecuted:
    """Return the cost of stored vectors that another text shows, in ``size`` bytes.

    Its numbers are read, laid over its cells and written as those of an answer are.
    """
    written = RELEASED_SECONDS_PER_BYTE * size
    return Unexecuted(written + work_of(compiled).storing, RELEASE_SECONDS)


def formed(size: int) -> float:
    """Return the seconds of writing ``size`` bytes of JSON in another form."""
    return FORMING_SECONDS_PER_BYTE * size


def forming_of(compiled: CompiledQuery) -> float:
    """Return the seconds of writing the answer in another form than JSON, beforehand.

    A function of the plan, as ``work_of`` is: an answer has a value a row and column.
    """
    shown = compiled.row_count * len(compiled.columns)
    return (
        FORMING_SECONDS_PER_SHOWN * shown
        + FORMING_SECONDS_PER_KEY_BYTE * compiled.key_bytes
    )


def opening(looked_at: LookedAt) -> float:
    """Return the seconds that opening releases takes, which that reply alone waits for.

    They stay open: those behind it find them so.
    """
    return RELEASE_SECONDS * len(looked_at.releases)


def comparing(looked_at: LookedAt) -> float:
    """Return the seconds that comparing a question with paid ones takes."""
    others = looked_at.cells - looked_at.anew
    return read_again(looked_at) + COMPARING_SECONDS_PER_CELL * others


def read_again(looked_at: LookedAt) -> float:
    """Return the seconds of that in which paid questions were read again.

    They were paid for, and are read once in a while: nobody gets these for nothing.
    """
    return (
        COMPARING_SECONDS_PER_TEXT * looked_at.texts
        + COMPARING_SECONDS_PER_CELL * looked_at.anew
    )


def work_of(compiled: CompiledQuery) -> Work:
    """Return the public cost of a plan that executes, one unit's rows twice in it.

    The whole holds them, within the declared sizes; what they can add, and begin by
    being the first, is kept free beside it, at every question: so no reply is late by
    one unit's rows alone.
    """
    rendered, cost = compiled.rendered, compiled.cost
    steps = cost.steps + cost.unit_steps + cost.startup_steps  # each an upper bound
    cells = len(rendered.cells)
    values = cells * sum(measure.size for measure in compiled.measures)
    repeated = max(0, compiled.row_count * len(compiled.columns) - values)
    return Work(
        executing=EXECUTING_SECONDS + steps / 1e9,
        storing=STORING_SECONDS
        + STORING_SECONDS_PER_VALUE * values
        + STORING_SECONDS_PER_VECTOR * (len(compiled.measures) - 1)
        + STORING_SECONDS_PER_SHOWN * repeated
        + STORING_SECONDS_PER_KEY_BYTE * compiled.key_bytes
        + compiled.showing_steps / 1e9,
    )


def recovered_seconds(
    compiled: CompiledQuery, *, slot: float, machine: Machine
) -> float:
    """Return how long a question that recovery takes up is in flight: whole slots.

    As for one that is asked alone; one after the other, whatever else is asked.
    """
    if slot == 0:
        return 0.0
    work = work_of(compiled)
    executing = work.executing / float(machine.executor_speed)
    serving = (READING_SECONDS + work.storing) / float(machine.server_speed)
    return slot * math.ceil((executing + serving) / slot + MARGIN_SLOTS)


@dataclass(frozen=True, slots=True)
class Promise:
    """What is fixed once the costs of a question and of those ahead are known.

    Attributes:
        take_up: When its result is taken up, on the monotonic clock.
        slots: n of its reply.
        read: When the server is through with reading it, likewise: what is behind it
            is read then.
        reading: Seconds that it takes the server until then, with what it works for.
        stored: When the server is through with it altogether, likewise.
        storing: Seconds that it takes the server to take a result up, where that is
            long; else 0.
    """

    take_up: float
    slots: int
    read: float
    reading: float
    stored: float
    storing: float


@dataclass(slots=True, eq=False)
class Ticket:
    """A question's place in the order of arrival.

    Attributes:
        number: Counted up from 0.
        arrival: Its body's last byte, on the monotonic clock.
        checked: When its caller and headers are checked, likewise: it is read then.
        reading: Seconds of the server to read it.
        slowness: How much longer the server takes than alone.
        cost: Of what follows; None while unknown.
    """

    number: int
    arrival: float
    checked: float
    reading: float
    promise: "asyncio.Future[Promise]"
    slowness: float = 1.0
    cost: Cost | None = None


class Backlog:
    """The questions ahead of each question, and the virtual clock that runs them."""

    def __init__(self, slot_seconds: float, machine: Machine) -> None:
        self._slot = slot_seconds
        self._machine = machine
        self._undecided: deque[Ticket] = deque()
        self._arrived = 0
        self._read = 0.0  # when the server has read all that arrived
        self._executed = 0.0
        self._stored = 0.0

    def arrive(
        self,
        arrival: float,
        size: int,
        checked: float | None = None,
        *,
        is_crowded: bool = False,
    ) -> Ticket:
        """Return the ticket of a request whose body of ``size`` bytes has arrived.

        Args:
            arrival: Its last byte, on the monotonic clock.
            size: Of the body.
            checked: When the caller's check ended by its virtual clock; None: none was.
            is_crowded: Whether refused requests take turns with the server's work.
        """
        reading = READING_SECONDS + READING_SECONDS_PER_BYTE * max(
            0, size - SHORT_BYTES
        )
        promise = asyncio.get_running_loop().create_future()
        checked = arrival if checked is None else checked
        ticket = Ticket(
            self._arrived,
            arrival,
            checked,
            reading + STORING_SECONDS,
            promise,
            float(CROWDED) if is_crowded else 1.0,
        )
        self._arrived += 1
        self._undecided.append(ticket)
        return ticket

    def decide(self, ticket: Ticket, cost: Cost) -> None:
        """Note what a question costs; once.

        Its promise comes when all those ahead of it are decided too.
        """
        if ticket.cost is not None:
            return
        ticket.cost = cost
        while self._undecided:
            first = self._undecided[0]
            if first.cost is None:
                return
            self._undecided.popleft()
            promise = self._promise(first, first.cost)
            if not first.promise.done():
                first.promise.set_result(promise)

    def _promise(self, ticket: Ticket, cost: Cost) -> Promise:
        """Run the clock on over one more; n where nothing executes is small, often 1.

        What is sent without executing is read and sent in one turn, so those behind are
        read after it.
        """
        reading = ticket.reading + (
            cost.reading
            if isinstance(cost, Work)
            else cost.readings * ticket.reading + cost.serving
        )
        reading = self._served(ticket, reading)
        self._read = max(ticket.checked, self._read) + reading
        if isinstance(cost, Work):
            return self._executing(ticket, cost, reading)
        end = self._read + self._served(ticket, cost.alone)
        slots = self._slots(ticket, end)
        return Promise(end, slots, self._read, reading, self._read, 0.0)

    def _executing(self, ticket: Ticket, work: Work, reading: float) -> Promise:
        executing = self._executing_seconds(work)
        self._executed = max(self._read, self._executed) + executing
        take_up = self._executed + float(MARGIN_SLOTS) * self._slot
        storing = self._served(ticket, work.storing)
        self._stored = max(take_up, self._stored) + storing
        slots = self._slots(ticket, self._stored)
        counted = storing if self.is_long(work) else 0.0
        return Promise(take_up, slots, self._read, reading, self._stored, counted)

    def is_long(self, work: Work) -> bool:
        """Whether results like this one pile up where they are taken up.

        What executes for longer comes one by one from the executors, and waits there.
        """
        executing = self._executing_seconds(work)
        return work.storing > max(SHORT_SECONDS, executing)

    def _executing_seconds(self, work: Work) -> float:
        return work.executing / float(self._machine.executor_speed)

    def _slots(self, ticket: Ticket, end: float) -> int:
        begun = AT_ONCE - 1  # though behind
        others = begun * self._served(ticket, READING_SECONDS)
        return slots_of(end + others - ticket.arrival, self._slot)

    def _served(self, ticket: Ticket, seconds: float) -> float:
        return ticket.slowness * seconds / float(self._machine.server_speed)
