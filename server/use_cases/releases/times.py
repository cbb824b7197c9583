"""When readers first see a release: a public time after its charge.

How long raw data was worked on is told to nobody but custodians (PRIVACY 2), so a
release appears a whole number of slots after its charge, as replies do (PRIVACY 6):
n follows from the declared number of cells alone, and what is not ready by then waits
for a later multiple.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, Connection, Row, or_, select

from privacy.times import shown_time
from server.persistence import tables
from server.use_cases.services.services import now_text

CELLS_PER_SLOT: Final = 1_000_000
MOST_FURTHER_SLOTS: Final = 10
"""Beyond ten million cells, work follows what is not empty, and is not declared."""

MOST_CELLS: Final = CELLS_PER_SLOT * MOST_FURTHER_SLOTS
"""From so many on, more are not waited for longer."""

LATE: Final = "late"
"""Member of a publishing job's result: whether the release missed its time."""

PublicationRow = Row[tuple[object, ...]]
"""A row of the table of publications."""

_COMMIT_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Appearance:
    """From when on readers see a release.

    Attributes:
        time: As ``now_text`` writes it: such texts are ordered as the times are.
        is_late: Whether it missed its public time: an incident, mended by longer slots.
    """

    time: str
    is_late: bool


def declared_slots(cells: int) -> int:
    """Return after how many slots a release of so many cells appears."""
    return 1 + min(cells // CELLS_PER_SLOT, MOST_FURTHER_SLOTS)


def appearance(charged: str, now: str, *, cells: int, slot_seconds: int) -> Appearance:
    """Return from when on readers see a release: whole slots after its charge's second.

    Args:
        charged: When its charge was made, ISO 8601.
        now: When it is whole; a second is added for the commit.
        cells: Declared.
        slot_seconds: Of one slot; 0: at once.
    """
    start = datetime.fromisoformat(shown_time(charged))
    worked = (datetime.fromisoformat(now) - start).total_seconds() + _COMMIT_SECONDS
    slots = declared_slots(cells)
    is_late = slot_seconds > 0 and worked > slots * slot_seconds
    if is_late:
        slots = math.ceil(worked / slot_seconds)
    shown = start + timedelta(seconds=slots * slot_seconds)
    return Appearance(shown.isoformat(timespec="microseconds"), is_late)


def worst_appearance(charged: str, now: str, *, slot_seconds: int) -> Appearance:
    """Return from when on others than custodians learn that a release failed.

    Whatever was declared: the latest time that any release appears at, at least.
    """
    return appearance(charged, now, cells=MOST_CELLS, slot_seconds=slot_seconds)


def is_past(visible: str | None) -> bool:
    """Return whether readers see a release by now; None: it is not published."""
    return visible is not None and visible <= now_text()


def has_appeared() -> ColumnElement[bool]:
    """Return the condition on releases that readers see by now."""
    return tables.publication.c.visible <= now_text()


def unseen_jobs(connection: Connection) -> frozenset[str]:
    """Return the jobs of releases whose ends only custodians may know of by now.

    Failures of earlier versions have no time of their own, and are long past.
    """
    release = tables.publication
    begun = release.c.state == "begun"
    unseen = or_(begun, release.c.visible > now_text())
    return frozenset(connection.execute(select(release.c.job).where(unseen)).scalars())
