"""Replies to plan and queries leave on slots counted from their arrival.

PRIVACY 6: a reply leaves at its arrival (its body's last byte read, monotonic clock)
plus n times the slot. A reply that is not ready by then takes the next multiple, and is
counted as late: an incident, mended by a larger n. ``backlog`` says what n is.
"""

import asyncio
import math
import time
from dataclasses import dataclass
from typing import Self


@dataclass(slots=True)
class Lateness:
    """Counts replies that missed their slot; shown on the operator's listener only."""

    late: int = 0

    def count(self) -> None:
        """Count one more."""
        self.late += 1


class Permits:
    """A global limit of replies under way; each is held until its reply leaves."""

    def __init__(self, permits: int) -> None:
        self._free = permits
        self._all = permits

    @property
    def in_use(self) -> int:
        """How many replies are under way."""
        return self._all - self._free

    def take(self) -> bool:
        """Take a permit if one is free."""
        if self._free == 0:
            return False
        self._free -= 1
        return True

    def give_back(self) -> None:
        """Return a permit once the reply has left."""
        self._free += 1


class Permit:
    """What one request may take of the permits, and gives back when the block ends."""

    def __init__(self, permits: Permits) -> None:
        self._permits = permits
        self._taken = False

    def take(self) -> bool:
        """Take a permit if one is free."""
        self._taken = self._permits.take()
        return self._taken

    def give_back(self) -> None:
        """Return the permit: its request waits for another turn."""
        if self._taken:
            self._permits.give_back()
        self._taken = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()


@dataclass(frozen=True, slots=True)
class SlotClock:
    """Sleeps until a reply's slot. ``slot_seconds`` 0 sends at once."""

    slot_seconds: float
    lateness: Lateness

    async def wait(self, *, arrival: float, slots: int) -> None:
        """Sleep until ``arrival`` (``time.monotonic()``) plus ``slots`` slots."""
        if self.slot_seconds == 0:
            return
        elapsed = (time.monotonic() - arrival) / self.slot_seconds
        late = elapsed > slots
        if late:
            slots = math.ceil(elapsed)
        await asyncio.sleep(arrival + slots * self.slot_seconds - time.monotonic())
        self.lateness.late += late  # not before it leaves

    async def begin(self, moment: float) -> float:
        """Sleep until a public moment at which work was to begin, and return it.

        If it has passed already, what came before took longer than it should: the work
        begins whole slots later, and is counted as late, so that how long that took
        decides nothing (PRIVACY 6).
        """
        if self.slot_seconds == 0:
            return moment
        late = time.monotonic() - moment
        if late > 0:
            moment += math.ceil(late / self.slot_seconds) * self.slot_seconds
            self.lateness.count()
        await self.reach(moment)
        return moment

    async def reach(self, moment: float) -> None:
        """Sleep until a public moment of the monotonic clock, if replies have slots."""
        if self.slot_seconds:
            await asyncio.sleep(moment - time.monotonic())
