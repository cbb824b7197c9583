"""Checks of callers: in order of arrival, and on a clock of their own."""

import asyncio
import threading
import time
from types import SimpleNamespace

import pytest

from server.api.routing.backlog import Backlog, Machine, Work
from server.api.routing.caller_checks import (
    AHEAD_SECONDS,
    CHECKING_SECONDS,
    MOST_OF_ONE,
    MOST_WAITING,
    RESTING,
    CallerChecks,
)
from server.api.routing.known_callers import MOST_CREDENTIALS, KnownCallers
from server.use_cases.identity.admission import CallerPermit
from server.use_cases.identity.limits import Allowance, MemoryLimiter

ONE = Machine(executors=1, cores=2)
ADA = SimpleNamespace(name="ada")


def run(work, slot=0.1, machine=ONE):
    async def running():
        checks = CallerChecks(slot, machine)
        try:
            return await work(checks)
        finally:
            checks.close()

    return asyncio.run(running())


def passes():
    return None, "ada"


def is_refused():
    return None, None


def slots(arrivals, check=passes, **more):
    """Return n of requests of one caller that arrived then, in seconds."""

    async def work(checks):
        found = [await checks.run(100 + at, "ada", check) for at in arrivals]
        return [checked.slots for _, checked in found]

    return run(work, **more)


def test_whoever_is_refused_alone_leaves_on_the_first_slot():
    assert slots([0, 1, 2]) == [1, 1, 1]


def test_whoever_is_behind_many_waits_for_what_they_take():
    """Five milliseconds each: twenty in a slot."""
    assert slots([0] * 42)[18::23] == [1, 3]


def test_whoever_is_refused_behind_refusals_waits_for_their_rests_too():
    """Twenty milliseconds each: five in a slot."""
    assert slots([0] * 11, is_refused) == [1] * 5 + [2] * 5 + [3]


def test_processes_that_share_the_cores_are_slower():
    machine = Machine(executors=2, cores=2, workers=2)
    assert slots([0] * 12, machine=machine)[8::3] == [1, 2]


def test_without_slots_everything_takes_one():
    assert slots([0] * 200, slot=0) == [1] * 200


def test_what_passes_goes_on_in_order_of_arrival():
    gone_on = []

    async def work(checks):
        async def one(number):
            await checks.run(0, "ada", lambda: (time.sleep(0.1 * (number == 0)), "ada"))
            gone_on.append(number)

        await asyncio.gather(*map(one, range(20)))

    run(work)
    assert gone_on == list(range(20))


def test_a_check_that_fails_leaves_room_for_the_next():
    def failing():
        raise LookupError

    async def work(checks):
        for _ in range(MOST_WAITING + 1):
            with pytest.raises(LookupError):
                await checks.run(0, "ada", failing)
        return checks.is_full("ada")

    assert not run(work)


def test_no_more_wait_than_are_let():
    go_on = threading.Event()

    async def work(checks):
        waiting = [
            asyncio.ensure_future(checks.run(0, "ada", lambda: (go_on.wait(), "ada")))
            for _ in range(MOST_WAITING)
        ]
        await asyncio.sleep(0)
        before = checks.is_full("ada"), checks.is_full("bob")
        go_on.set()
        await asyncio.gather(*waiting)
        return before, (checks.is_full("ada"), checks.is_full("bob"))

    assert run(work) == ((True, True), (False, False))


async def flooded(checks, number=MOST_WAITING):
    """Have as many strangers wait as may; return what cancels them."""
    held = threading.Event()
    waiting = [
        asyncio.ensure_future(
            checks.run(time.monotonic(), f"x{n}", lambda: (held.wait(60), None))
        )
        for n in range(number)
    ]
    await asyncio.sleep(0)

    async def end():
        held.set()
        await asyncio.gather(*waiting)

    return end


def test_strangers_delay_nobody_whose_last_request_passed():
    async def work(checks):
        await checks.run(time.monotonic(), "ada", passes)
        end = await flooded(checks, 12)
        arrival = time.monotonic()
        try:
            async with asyncio.timeout(10):
                _, checked = await checks.run(arrival, "ada", passes)
        finally:
            await end()
        return checked.end - arrival, checked.slots, checked.is_crowded

    waited, n, is_crowded = run(work)
    assert waited == pytest.approx(CHECKING_SECONDS)
    assert (n, is_crowded) == (1, True)


def test_where_as_many_strangers_wait_as_may_the_others_are_let_in():
    async def work(checks):
        await checks.run(0, "ada", passes)
        end = await flooded(checks)
        full = checks.is_full("ada"), checks.is_full("eve"), checks.is_full(None)
        await end()
        return full

    assert run(work, slot=0) == (False, True, True)


def test_whoever_is_refused_is_a_stranger_until_a_request_passes():
    async def work(checks):
        found = []
        for check in (passes, is_refused, passes, passes):
            await checks.run(0, "ada", check)
            end = await flooded(checks)
            found.append(checks.is_full("ada"))
            await end()
        return found

    assert run(work, slot=0) == [False, True, False, False]


def test_one_principal_has_one_place_however_it_names_itself():
    callers = KnownCallers()
    spelled = [f"Bearer{' ' * blanks}key" for blanks in range(1, 40)]
    for credential in spelled:
        callers.let_in(credential, "ada")
    known = [credential for credential in spelled if callers.of(credential)]
    assert known == spelled[-MOST_CREDENTIALS:]
    callers.let_in("eve's", "eve")
    callers.refuse(known[0])
    assert not any(map(callers.of, spelled))
    assert callers.of("eve's") == "eve"
    callers.let_in(known[1], "ada")
    assert all(map(callers.of, known))


def test_one_principal_takes_few_places_among_the_known():
    async def work(checks):
        await checks.run(0, "ada", passes)
        await checks.run(0, "bob", lambda: (None, "bob"))
        go_on = threading.Event()
        waiting = [
            asyncio.ensure_future(checks.run(0, "ada", lambda: (go_on.wait(60), "ada")))
            for _ in range(MOST_OF_ONE + MOST_WAITING)
        ]
        await asyncio.sleep(0)
        full = [checks.is_full(name) for name in ("ada", "bob", "eve")]
        go_on.set()
        await asyncio.gather(*waiting)
        return full

    assert run(work, slot=0) == [True, False, True]


def test_whoever_is_refused_takes_along_what_waits_of_the_same():
    async def work(checks):
        await checks.run(0, "ada", passes)
        found = await asyncio.gather(
            *(checks.run(0, "ada", is_refused) for _ in range(8))
        )
        return [checked.end for _, checked in found]

    ends = run(work)
    rests = (1 + RESTING) * CHECKING_SECONDS
    assert ends[-1] - ends[1] == pytest.approx(6 * rests)


def test_the_clock_of_the_known_runs_little_ahead_of_time():
    async def work(checks):
        await checks.run(0, "ada", passes)
        most, arrival = 0.0, time.monotonic()
        for _ in range(80):
            _, checked = await checks.run(arrival, "ada", passes)
            most = max(most, checked.end - time.monotonic())
        return most

    assert run(work) <= AHEAD_SECONDS + CHECKING_SECONDS


def test_refusals_take_a_quarter_of_the_time_at_most():
    """However many are sent: each is looked at when those ahead have rested."""
    begun = []

    def looked_at():
        begun.append(time.monotonic())
        return is_refused()

    async def work(checks):
        arrival = time.monotonic()
        await asyncio.gather(*(checks.run(arrival, "x", looked_at) for _ in range(9)))
        return arrival

    arrival = run(work)
    step = (1 + RESTING) * CHECKING_SECONDS
    assert all(at >= arrival + step * n for n, at in enumerate(begun))


def test_a_server_that_refuses_others_meanwhile_takes_longer_for_a_question():
    async def work(_):
        backlog, found = Backlog(0.1, ONE), []
        for arrival, is_crowded in ((100, False), (200, True)):
            ticket = backlog.arrive(arrival, 0, is_crowded=is_crowded)
            backlog.decide(ticket, Work(executing=0.01, storing=0.3))
            found.append((await ticket.promise).slots)
        return found

    alone, crowded = run(work)
    assert crowded > alone


def test_a_question_is_read_when_all_checks_ahead_of_it_have_ended():
    """Else what strangers send just before it would make its execution end too late."""

    async def work(checks):
        backlog = Backlog(0.1, ONE)
        await checks.run(0, "ada", passes)
        for _ in range(250):
            _, passed = await checks.run(100, "ada", passes)
        ticket = backlog.arrive(100, 0, passed.end)
        backlog.decide(ticket, Work(executing=0.01, storing=0.01))
        return passed.end, await ticket.promise

    end, promise = run(work)
    assert end == pytest.approx(100 + 250 * CHECKING_SECONDS)
    assert promise.take_up > end
    assert promise.slots > 250 * CHECKING_SECONDS / 0.1


def test_a_place_that_is_taken_for_a_request_that_has_ended_is_given_back():
    limiter = MemoryLimiter(Allowance(requests_per_minute=0, requests_in_flight=1))
    admission = SimpleNamespace(limiter=limiter, admit=lambda _: ADA)
    late = CallerPermit(admission)
    late.give_back()
    late.take(None)
    following = CallerPermit(admission)
    following.take(None)
    assert following.principal == ADA.name
