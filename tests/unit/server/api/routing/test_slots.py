import asyncio
import time

import pytest

from server.api.routing.slots import (
    Lateness,
    Permits,
    SlotClock,
)


def leave_after(elapsed, slots):
    clock = SlotClock(0.05, Lateness())
    arrival = time.monotonic() - elapsed
    asyncio.run(clock.wait(arrival=arrival, slots=slots))
    return time.monotonic() - arrival, clock.lateness.late


def test_a_reply_leaves_on_its_own_slot():
    waited, late = leave_after(0.01, slots=2)
    assert waited >= 0.1
    assert late == 0


def test_a_late_reply_takes_the_next_multiple_and_is_counted():
    waited, late = leave_after(0.16, slots=2)
    assert waited >= 0.2
    assert late == 1


def test_no_slot_sends_at_once():
    clock = SlotClock(0, Lateness())
    started = time.monotonic()
    asyncio.run(clock.wait(arrival=started, slots=1000))
    assert time.monotonic() - started < 1


def test_permits_run_out_and_come_back():
    permits = Permits(1)
    assert permits.in_use == 0
    assert permits.take()
    assert not permits.take()
    assert permits.in_use == 1
    permits.give_back()
    assert permits.in_use == 0
    assert permits.take()


def test_what_was_late_elsewhere_is_counted_with_late_replies():
    lateness = Lateness()
    lateness.count()
    asyncio.run(SlotClock(0.01, lateness).wait(arrival=time.monotonic() - 1, slots=1))
    assert lateness.late == 2


@pytest.mark.parametrize(("ahead", "late"), [(0.1, 0), (-0.12, 1), (-0.01, 1)])
def test_work_begins_at_its_public_moment_or_whole_slots_later(ahead, late):
    """So how long what came before took shows in its lateness alone."""
    clock = SlotClock(0.05, Lateness())
    moment = time.monotonic() + ahead
    begun = asyncio.run(clock.begin(moment))
    slots = round((begun - moment) / 0.05)
    assert begun == pytest.approx(moment + slots * 0.05)
    assert time.monotonic() >= begun
    assert begun >= moment - min(ahead, 0)
    assert (slots > 0, clock.lateness.late) == (bool(late), late)
