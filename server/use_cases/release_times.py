"""When readers first see a release: a public time after its charge.

How long raw data was worked on is told to nobody but custodians (PRIVACY 2), so a
release appears a whole number of slots after its charge, as replies do (PRIVACY 6):
n follows from the declared number of cells alone, and what is not ready by then waits
for a later multiple.
"""

import math
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement

from server.persistence import tables
from server.use_cases.services import now_text

CELLS_PER_SLOT: Final = 1_000_000
MOST_FURTHER_SLOTS: Final = 10
"""Beyond ten million cells, work follows what is not empty, and is not declared."""

MOST_CELLS: Final = CELLS_PER_SLOT * MOST_FURTHER_SLOTS
"""From so many on, more are not waited for longer."""

_COMMIT_SECONDS: Final = 1.0


def declared_slots(cells: int) -> int:
    """Return after how many slots a release of so many cells appears."""
    return 1 + min(cells // CELLS_PER_SLOT, MOST_FURTHER_SLOTS)


def appearance(charged: str, now: str, *, cells: int, slot_seconds: int) -> str:
    """Return from when on readers see a release.

    Args:
        charged: When its charge was made, ISO 8601.
        now: When it is whole; a second is added for the commit.
        cells: Declared.
        slot_seconds: Of one slot; 0: at once.

    Returns:
        A time as ``now_text`` writes it: such texts are ordered as the times are.
    """
    start = datetime.fromisoformat(charged)
    worked = (datetime.fromisoformat(now) - start).total_seconds() + _COMMIT_SECONDS
    slots = declared_slots(cells)
    if slot_seconds and worked > slots * slot_seconds:
        slots = math.ceil(worked / slot_seconds)
    shown = start + timedelta(seconds=slots * slot_seconds)
    return shown.isoformat(timespec="microseconds")


def has_appeared() -> ColumnElement[bool]:
    """Return the condition on releases that readers see by now."""
    return tables.publication.c.visible <= now_text()
