"""Whose turn it is: so many at a time, and of those who wait, who arrived first."""

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


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
