"""Whose turn it is: so many at a time, and of those who wait, who arrived first."""

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


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


@dataclass(slots=True, eq=False)
class ReadingTurn:
    """One caller's turn to have a request read.

    Attributes:
        next: When the server has read their last one by its public cost, on the
            monotonic clock: the next one is read then.
    """

    next: float = 0.0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class ReadingTurns:
    """Lets one request of each caller wait among those that are to be read.

    However many of them a caller sends at once, others wait for one, and theirs for
    each other. Requests and public costs alone determine when (PRIVACY 6).
    """

    def __init__(self) -> None:
        self._turns: dict[str | None, ReadingTurn] = {}

    @asynccontextmanager
    async def take(self, principal: str | None) -> AsyncIterator[ReadingTurn]:
        """Wait for the caller's turn, in order of arrival; have it within the block."""
        turn = self._turns.setdefault(principal, ReadingTurn())
        async with turn.lock:
            yield turn
