"""Telling everybody that replies leave: many at once share one small commit."""

import asyncio
from collections.abc import Callable, Sequence

Release = Callable[[Sequence[str]], None]


class Releaser:
    """Releases answers at their slots.

    Args:
        release: Shows answers to everybody; must not raise.
        writes: Whether that writes to a database, so that it needs a thread.
    """

    def __init__(self, release: Release, *, writes: bool) -> None:
        self._release = release
        self._writes = writes
        self._waiting: list[str] = []
        self._turn = asyncio.Lock()

    async def release(self, query_id: str) -> None:
        """Return when the answer is shown: whoever has the reply may ask for it."""
        if not self._writes:
            self._release([query_id])
            return
        self._waiting.append(query_id)
        async with self._turn:
            leaving, self._waiting = self._waiting, []
            if leaving:  # else another's turn took this one along
                await asyncio.to_thread(self._release, leaving)
