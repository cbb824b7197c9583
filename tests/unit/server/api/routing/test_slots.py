import asyncio
import time

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
