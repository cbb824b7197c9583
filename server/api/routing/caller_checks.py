"""Whether a request becomes a question, decided before it costs anybody else anything.

Key, rate, permit and headers are checked here, in order of arrival, in two lanes with a
thread each: of principals whose last request passed, and of all others. What is refused
takes no permit, no question waits behind its reading, and after each refusal the lane
of the others rests, so that a flood takes a small share of the server. Each lane has a
virtual clock, which requests and slots alone determine: what is refused leaves by it,
and what passes is read when it has come so far, not before.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from server.api.routing.backlog import Machine, slots_of
from server.api.routing.known_callers import KnownCallers

CHECKING_SECONDS: Final = 0.005
"""Of the server, to look a key up, and count its request: an upper bound, with what the
threads of one interpreter take from each other. On SQLite an unknown key takes 0.7 ms
of a processor, one that is remembered 0.2 ms."""
SHARED_CHECKING_SECONDS: Final = 0.015
"""Likewise where that takes round trips to PostgreSQL: 2 to 5 ms on one machine."""
MOST_WAITING: Final = 128
"""Requests of a lane that wait for their check; each holds its body meanwhile."""
MOST_OF_ONE: Final = 16
"""Of them, those of one principal that wait among the known."""
RESTING: Final = 3
"""Checks that would fit into a lane's rest after a refusal: a quarter is used."""
AHEAD_SECONDS: Final = 0.25
"""How far the clock of the known lane runs ahead of time: its checks end sooner."""
_T = TypeVar("_T")
Check = Callable[[], tuple[_T, str | None]]
"""What a check brings, and whose request passes; None: it is refused."""


@dataclass(frozen=True, slots=True)
class Checked:
    """When a check ends.

    Attributes:
        end: When all checks up to this one end, on its lane's virtual clock.
        slots: n of the reply, where no question follows.
        is_crowded: Whether others' checks take turns of the interpreter meanwhile.
    """

    end: float
    slots: int
    is_crowded: bool = False


class CallerChecks:
    """Checks requests: those of a lane that pass go on in their order of arrival."""

    def __init__(
        self, slot_seconds: float, machine: Machine, seconds: float = CHECKING_SECONDS
    ) -> None:
        self._slot = slot_seconds
        self._seconds = seconds / float(machine.server_speed)
        self._known, self._others = _Lane("known", AHEAD_SECONDS), _Lane("caller", 0.0)
        self._callers = KnownCallers()

    def close(self) -> None:
        """Wait for the checks under way."""
        for lane in (self._known, self._others):
            lane.thread.shutdown(wait=True, cancel_futures=True)

    def is_full(self, credential: str | None) -> bool:
        """Whether so many wait that another one must be refused unchecked.

        Args:
            credential: What the request names its caller by.
        """
        lane, _ = self._lane_of(credential)
        return lane.waiting.total() >= MOST_WAITING

    async def run(
        self, arrival: float, credential: str | None, check: Check[_T]
    ) -> tuple[_T, Checked]:
        """Return what a check gives, and its public end.

        Args:
            arrival: The body's last byte, on the monotonic clock.
            credential: As of ``is_full``.
            check: It is run in a thread.
        """
        lane, principal = self._lane_of(credential)
        async with lane.turn_of(principal):
            if lane is self._others or self._callers.of(credential) is not None:
                return await self._run(lane, arrival, credential, check)
        async with self._others.turn_of(None):  # refused while this one waited
            return await self._run(self._others, arrival, credential, check)

    async def _run(
        self, lane: "_Lane", arrival: float, credential: str | None, check: Check[_T]
    ) -> tuple[_T, Checked]:
        is_crowded = self._others.clock > arrival
        start = max(arrival, lane.clock)
        end = lane.clock = start + self._seconds
        if self._slot:
            await asyncio.sleep(start - lane.ahead - time.monotonic())
        loop = asyncio.get_running_loop()
        value, passed = await loop.run_in_executor(lane.thread, check)
        if passed is None:
            self._callers.refuse(credential)
            rest = RESTING * self._seconds
            self._others.clock = max(arrival, self._others.clock) + rest
        else:
            self._callers.let_in(credential, passed)
        return value, Checked(end, slots_of(end - arrival, self._slot), is_crowded)

    def _lane_of(self, credential: str | None) -> tuple["_Lane", str | None]:
        """Return the lane of a request, and whose it is where it is the known."""
        principal = self._callers.of(credential)
        if principal is None or self._known.waiting[principal] >= MOST_OF_ONE:
            return self._others, None
        return self._known, principal


@dataclass(slots=True, eq=False)
class _Lane:
    """Requests that are checked one after the other, and their virtual clock."""

    name: str
    ahead: float  # seconds by which a check may begin before its virtual time
    waiting: Counter[str | None] = field(default_factory=Counter)
    clock: float = 0.0  # when all that arrived is checked
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    thread: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        """Have a thread."""
        self.thread = ThreadPoolExecutor(1, self.name)

    @asynccontextmanager
    async def turn_of(self, principal: str | None) -> AsyncIterator[None]:
        """Wait for the turn, counted among those who wait."""
        self.waiting[principal] += 1
        try:
            async with self.turn:
                yield
        finally:
            self.waiting[principal] -= 1
            if not self.waiting[principal]:
                del self.waiting[principal]
