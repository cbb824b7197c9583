"""When the end of work on rows is seen by others than custodians: at a slot's end.

How long raw data was worked on is told to custodians alone (PRIVACY 2). A load is seen
as soon as it is recorded, in the snapshot that answers name and in the ledger's lines,
and the next one of its population may begin then; so it is recorded at a multiple of
the slot, by the clock, whenever it began.
"""

import math
import time
from collections.abc import Callable
from typing import Final

SLOTS_OF_WORK: Final = 8
"""A slot is no shorter than this part of a load's work, give or take a factor of two:
what one person's rows add to the work of a long load is rarely seen, too."""

_POLL_SECONDS = 0.2


def end_of_slot(now: float, worked_seconds: float, slot_seconds: int) -> float:
    """Return when what is ready now is recorded, in seconds since 1970.

    Args:
        now: The time, in the same seconds.
        worked_seconds: How long it was worked on.
        slot_seconds: Of a slot of short loads; 0: at once.

    >>> end_of_slot(1_003.0, 2.0, 10), end_of_slot(1_003.0, 200.0, 10)
    (1010.0, 1040.0)
    """
    if slot_seconds == 0:
        return now
    doublings = math.log2(max(1.0, worked_seconds / (SLOTS_OF_WORK * slot_seconds)))
    width = slot_seconds * 2 ** math.ceil(doublings)
    return float(math.ceil(now / width) * width)


def wait_for_slot(
    worked_seconds: float, slot_seconds: int, waiting: Callable[[int, int], None]
) -> None:
    """Wait until the end of a slot.

    Args:
        worked_seconds: How long the load was worked on.
        slot_seconds: Of a slot of short loads; 0: do not wait.
        waiting: Told now and then how many seconds passed, and of how many; may raise.
    """
    wait_until(end_of_slot(time.time(), worked_seconds, slot_seconds), waiting)


def wait_until(end: float, waiting: Callable[[int, int], None]) -> None:
    """Wait until a time, in seconds since 1970; not at all where it has passed.

    Args:
        end: The time.
        waiting: As of ``wait_for_slot``.
    """
    total = math.ceil(end - time.time())
    while (left := end - time.time()) > 0:
        waiting(min(total, max(0, total - math.ceil(left))), total)
        time.sleep(min(_POLL_SECONDS, left))
