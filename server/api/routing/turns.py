"""Whose turn it is: so many at a time, and of those who wait, who arrived first."""

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from server.api.routing.backlog import SHORT_SECONDS, Promise
from server.api.routing.slots import SlotClock


class Turns:
    """Lets ``width`` work at a time; the least ticket of those who wait comes next.

    For one event loop. Work that has begun is never interrupted.
    """

    def __init__(self, width: int) -> None:
        self._free = width
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._count = itertools.count()

    @asynccontextmanager
    async def take(self, ticket: int) -> AsyncIterator[None]:
        """Wait for a turn, and have it within the block."""
        await self._wait(ticket)
        try:
            yield
        finally:
            self._give_back()

    async def _wait(self, ticket: int) -> None:
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (ticket, next(self._count), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back()  # it came while this one was being cancelled
            raise

    def _give_back(self) -> None:
        while self._waiting:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


LONG_SECONDS: Final = 0.5
"""Seconds beyond it that one caller's requests may take at once, ..."""
LONG_SHARE: Final = 64
"""... and one in so many seconds from then on: who takes more takes long."""
SLACK: Final = 0.25
"""Of a slot, between a reading's public end and the caller's next one's beginning: a
little more than it should take delays none. Of those who take long the next one begins
as much later again, so that no two begin at one moment."""


@dataclass(slots=True, eq=False)
class ReadingTurn:
    """A turn to have a request read.

    Attributes:
        next: When the server has read the last one by its public cost, and where
            taking its result up takes long, has done that; on the monotonic clock: the
            next one is read then.
        full_at: When what they took the server, beyond what ordinary ones take, is
            made up for, at one part in ``LONG_SHARE``, likewise.
    """

    next: float = 0.0
    full_at: float = 0.0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def takes_long(self, arrival: float) -> bool:
        """Whether the requests before one that arrived then took long."""
        now = max(arrival, self.next)  # public moments, both
        return self.full_at - now > LONG_SHARE * LONG_SECONDS

    def note(self, promise: Promise) -> None:
        """Note when the server is through with a request, and what that takes it."""
        self.next = promise.stored if promise.storing else promise.read
        taken = promise.reading + promise.storing
        more = LONG_SHARE * (taken - SHORT_SECONDS)
        if more > 0:
            self.full_at = max(self.full_at, self.next) + more


@dataclass(slots=True)
class Reading:
    """A request whose turn to be read has come.

    Attributes:
        turns: Those that it has: its caller's, and perhaps that of the long ones.
    """

    turns: list[ReadingTurn]
    _clock: SlotClock
    _join: Callable[[], Awaitable[ReadingTurn]]

    @property
    def is_long(self) -> bool:
        """Whether what takes long may be done in it."""
        return len(self.turns) > 1

    @property
    def begun(self) -> float:
        """When its turn came, or before it arrived; public, on the monotonic clock."""
        return max(turn.next for turn in self.turns)

    def note(self, promise: Promise) -> None:
        """Note when the server is through with reading it."""
        for turn in self.turns:
            turn.note(promise)

    async def end(self) -> None:
        """Wait until it was read by its public cost: not when it really was."""
        own = self.turns[0]
        due = own.next + SLACK * self._clock.slot_seconds
        own.next = await self._clock.begin(due)

    async def join_the_long(self) -> None:
        """Wait among the long ones as well; the caller's turn is kept."""
        self.turns.append(await self._join())


class ReadingTurns:
    """Lets one request of each caller wait among those that are to be read.

    However many of them a caller sends at once, others wait for one, and theirs for
    each other. What is long to take up, because much is computed of noisy numbers, is
    waited for as what is long to read, whether it was charged or not. Of all callers
    whose requests have taken long, one at a time waits: however many keys somebody has,
    others wait for one. Requests and public costs alone determine when, and who comes
    first (PRIVACY 6).

    Args:
        clock: Of the replies' slots.
    """

    def __init__(self, clock: SlotClock) -> None:
        self._clock = clock
        self._turns: dict[str | None, ReadingTurn] = {}
        self._long = ReadingTurn()

    @asynccontextmanager
    async def take(
        self, principal: str | None, arrival: float
    ) -> AsyncIterator[Reading]:
        """Wait for the caller's turn, in order of arrival; have it within the block.

        Args:
            principal: The caller.
            arrival: Of the request's last byte, or when its caller was checked by the
                public clock, on the monotonic clock.
        """
        turn = self._turns.setdefault(principal, ReadingTurn())
        async with AsyncExitStack() as held:

            async def join() -> ReadingTurn:
                since = max(arrival, turn.next)
                await self._have(self._long, since, 2 * SLACK, held)
                turn.next = max(turn.next, self._long.next)  # if nothing is noted
                return self._long

            await self._have(turn, arrival, SLACK, held)
            reading = Reading([turn], self._clock, join)
            if turn.takes_long(arrival):
                await reading.join_the_long()
            yield reading

    async def _have(
        self, turn: ReadingTurn, since: float, slack: float, held: AsyncExitStack
    ) -> None:
        """Wait for a turn, and for its public moment where it was not free by then.

        Without that, how long the last reading really took would decide who is ahead.
        Up to that moment it makes no difference whether it was free.
        """
        was_free = not turn.lock.locked()
        await held.enter_async_context(turn.lock)
        due = turn.next + slack * self._clock.slot_seconds
        if due > since or not was_free:
            turn.next = await self._clock.begin(max(due, since))
