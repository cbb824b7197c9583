"""Replies to plan and queries leave on slots counted from their arrival.

PRIVACY 6: a reply leaves at its arrival (its body's last byte read, monotonic clock)
plus n times the slot. A reply that is not ready by then takes the next multiple, and is
counted as late: an incident, mended by a larger n.
"""

import asyncio
import math
import time
from dataclasses import dataclass

CELLS_PER_SLOT = 2_000
SCANS_PER_BASE = 5
"""A further scan costs about a fifth of what a whole small question costs."""
MILLISECONDS_PER_QUESTION = 25
"""What one small question keeps this process busy for, rounded up.

Measured with all permits taken by ``python -m benchmarks.slots``, on 2 busy cores.
"""


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


def base_slots(*, permits: int, slot_ms: int) -> int:
    """Return n of the smallest plan that executes: enough with all permits taken."""
    if slot_ms == 0:
        return 1
    return max(1, math.ceil(permits * MILLISECONDS_PER_QUESTION / slot_ms))


def executing_slots(*, base: int, cells: int, vectors: int, scans: int) -> int:
    """Return n for a plan that executes: a function of plan and declared sizes alone.

    Args:
        base: Slots of the smallest plan.
        cells: Cells of the answer.
        vectors: Noisy values of a cell: one a vector, in a histogram one a bin.
        scans: How often the plan reads a table.
    """
    further = math.ceil(base * (scans - 1) / SCANS_PER_BASE)
    return base + further + cells * vectors // CELLS_PER_SLOT


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
