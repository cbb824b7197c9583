import asyncio
import contextlib

import pytest

from server.api.questions.routes import Visit
from server.api.routing.backlog import Promise
from server.api.routing.caller_checks import Checked
from server.api.routing.intake import Arrival
from server.api.routing.turns import (
    LONG_SECONDS,
    LONG_SHARE,
    SHORT_SECONDS,
    ReadingTurn,
    ReadingTurns,
    Turns,
)


def test_the_least_ticket_of_those_who_wait_comes_next():
    async def run():
        turns, seen, begun = Turns(1), [], asyncio.Event()

        async def work(ticket):
            async with turns.take(ticket):
                seen.append(ticket)
                await begun.wait()

        tasks = []
        for ticket in (7, 5, 9, 1):
            tasks.append(asyncio.create_task(work(ticket)))
            await asyncio.sleep(0)
        begun.set()
        await asyncio.gather(*tasks)
        return seen

    assert asyncio.run(run()) == [7, 1, 5, 9]


def test_no_more_than_the_width_have_a_turn_at_once():
    async def run():
        turns, now, most = Turns(3), 0, 0

        async def work(ticket):
            nonlocal now, most
            async with turns.take(ticket):
                now += 1
                most = max(most, now)
                await asyncio.sleep(0)
                now -= 1

        await asyncio.gather(*(work(ticket) for ticket in range(20)))
        return most

    assert asyncio.run(run()) == 3


def test_a_turn_that_nobody_waits_for_any_more_goes_to_the_next():
    async def run():
        turns, seen = Turns(1), []

        async def work(ticket):
            async with turns.take(ticket):
                seen.append(ticket)

        async with turns.take(0):
            waiting = [asyncio.create_task(work(ticket)) for ticket in (1, 2, 3)]
            await asyncio.sleep(0)
            waiting[0].cancel()
        waiting[1].cancel()  # its turn has come, and it does not know yet
        for task in waiting:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await work(4)
        return seen

    assert asyncio.run(run()) == [3, 4]


def read(seconds, at=0.0, storing=0.0):
    """Return the promise of a request that was read from ``at`` on, and stored long."""
    end = at + seconds
    return Promise(0.0, 1, end, seconds, end + storing, storing)


class Clock:
    """Waits for no moment, and keeps those that were waited for."""

    slot_seconds = 0.4

    def __init__(self):
        self.begun = []

    async def begin(self, moment):
        self.begun.append(moment)
        return moment


class Callers:
    """Requests that are read until ``go_on`` is set, and in which order they begin."""

    def __init__(self):
        self.clock = Clock()
        self.turns, self.begun = ReadingTurns(self.clock), []
        self.go_on = asyncio.Event()

    async def has_taken(self, principal, seconds):
        async with self.turns.take(principal, 0.1) as reading:
            reading.note(read(seconds))

    async def waits(self, principal):
        async with self.turns.take(principal, 0.1):
            self.begun.append(principal)
            await self.go_on.wait()

    async def begins(self, *principals):
        tasks = [asyncio.create_task(self.waits(each)) for each in principals]
        for _ in range(10):
            await asyncio.sleep(0)
        at_once = list(self.begun)
        self.go_on.set()
        await asyncio.gather(*tasks)
        return at_once, self.begun


def test_of_those_whose_readings_took_long_one_waits_whoever_they_are():
    async def run():
        callers = Callers()
        for name in ("eve1", "eve2", "eve3"):
            await callers.has_taken(name, 2 * LONG_SECONDS)
        await callers.has_taken("ada", 0.1)
        return await callers.begins("eve1", "eve2", "eve3", "ada", "new")

    at_once, all_of_them = asyncio.run(run())
    assert at_once == ["eve1", "ada", "new"]
    assert all_of_them == ["eve1", "ada", "new", "eve2", "eve3"]


def test_a_turn_of_the_long_ones_comes_when_the_last_of_them_is_read():
    async def run():
        callers = Callers()
        for name in ("eve1", "eve2"):
            await callers.has_taken(name, 2 * LONG_SECONDS)
        for name in ("eve1", "eve2"):
            async with callers.turns.take(name, 0.2) as reading:
                reading.note(read(1.0, at=10.0 if name == "eve1" else 20.0))
        return callers.clock.begun, reading.begun

    begun, last = asyncio.run(run())
    assert last == 21.0
    own = 2 * LONG_SECONDS + 0.1  # a quarter of a slot after the reading before
    assert begun == [own, own, 11.2]  # half a slot: the last one's own next is 11.1


def test_a_turn_that_was_free_at_a_requests_arrival_is_waited_for_by_nobody():
    async def run():
        callers = Callers()
        await callers.has_taken("ada", 0.5)
        async with callers.turns.take("ada", 0.6):
            return callers.clock.begun

    assert asyncio.run(run()) == []


@pytest.mark.parametrize("is_read", [True, False])
def test_up_to_its_public_moment_a_turn_begins_then_whether_it_was_free_or_not(is_read):
    """Within the slack, when the last reading really ended decided it."""

    async def run():
        callers = Callers()
        if is_read:
            await callers.has_taken("ada", 0.5)
        first = callers.turns.take("ada", 0.1)
        reading = None if is_read else await first.__aenter__()

        async def next_one():
            async with callers.turns.take("ada", 0.55):
                return callers.clock.begun[-1]

        behind = asyncio.create_task(next_one())
        await asyncio.sleep(0)
        if reading is not None:
            reading.note(read(0.5))
            await first.__aexit__(None, None, None)
        return await behind

    assert asyncio.run(run()) == pytest.approx(0.6)


def test_a_request_that_meets_a_late_reading_begins_at_a_public_moment():
    """It arrived when the last one was through by its cost, and was not really."""

    async def run():
        callers = Callers()
        await callers.has_taken("ada", 0.2)
        late = asyncio.create_task(callers.waits("ada"))
        await asyncio.sleep(0)

        async def next_one():
            async with callers.turns.take("ada", 0.5):
                return callers.clock.begun[-1]

        behind = asyncio.create_task(next_one())
        await asyncio.sleep(0)
        callers.go_on.set()
        await late
        return await behind

    assert asyncio.run(run()) == 0.5


def test_what_readings_took_is_made_up_for_in_time():
    turn, one = ReadingTurn(), SHORT_SECONDS + LONG_SECONDS
    turn.note(read(one, at=100.0))
    assert not turn.takes_long(101.0)
    turn.note(read(one, at=101.0))
    assert turn.takes_long(102.0)
    assert turn.takes_long(100.0 + 2 * one + (LONG_SHARE - 3) * LONG_SECONDS)
    assert not turn.takes_long(102.0 + LONG_SHARE * LONG_SECONDS)


def test_ordinary_requests_never_take_long_however_many_they_are():
    turn = ReadingTurn()
    for n in range(1_000):
        turn.note(read(SHORT_SECONDS, at=n * SHORT_SECONDS))
    assert not turn.takes_long(1_000 * SHORT_SECONDS)


def test_long_requests_at_a_pace_are_still_long():
    """An eighth of the time each: eight keys had all of the server."""
    turn = ReadingTurn()
    longs = []
    for n in range(20):
        longs.append(turn.takes_long(13.0 * n))
        turn.note(read(1.6, at=13.0 * n))
    assert sum(longs) == 19


def test_what_takes_long_to_store_is_waited_for_and_counts_as_what_is_long_to_read():
    ordinary, long = ReadingTurn(), ReadingTurn()
    for _ in range(20):
        ordinary.note(read(SHORT_SECONDS, at=5.0))
    assert ordinary.next == 5.0 + SHORT_SECONDS
    assert not ordinary.takes_long(5.0)
    long.note(read(0.0, at=5.0, storing=3.0))
    assert long.next == 8.0
    assert long.takes_long(5.0)


def test_a_request_may_be_read_when_it_is_whole_and_its_caller_checked():
    """Else the time of its own checks counts as that of a late reading before it."""

    async def run():
        callers = Callers()
        await callers.has_taken("ada", 0.2)
        checked = Checked(0.31, 1, is_crowded=False)
        visit = Visit(Arrival(0.19, b""), None, checked, None)
        async with callers.turns.take("ada", visit.ready):
            return callers.clock.begun

    assert asyncio.run(run()) == []


def test_a_request_that_joins_the_long_ones_keeps_its_callers_turn_and_joins_by_cost():
    """Else how long its first reading really took would say who is ahead of whom."""

    async def run():
        callers, order = Callers(), []

        async def next_one():
            async with callers.turns.take("ada", 0.1):
                order.append("next")

        async with callers.turns.take("ada", 0.1) as reading:
            behind = asyncio.create_task(next_one())
            await asyncio.sleep(0)
            reading.note(read(0.2))
            await reading.end()
            await reading.join_the_long()
            assert reading.is_long
            order.append("long")
            reading.note(read(0.3, at=reading.begun))
        await behind
        return callers.clock.begun, order

    begun, order = asyncio.run(run())
    assert order == ["long", "next"]
    assert [round(moment, 6) for moment in begun] == [0.3, 0.7]


def test_a_request_that_is_refused_among_the_long_ones_keeps_their_public_moment():
    """Else its caller's next one counted as late, from when this one really woke."""

    async def run():
        callers = Callers()
        async with callers.turns.take("bob", 0.1) as reading:
            await reading.join_the_long()
            reading.note(read(0.9))
        async with callers.turns.take("ada", 0.2) as refused:
            await refused.join_the_long()  # and no permit is free
        async with callers.turns.take("ada", 0.3) as following:
            return refused.begun, following.begun

    refused, following = asyncio.run(run())
    assert following >= refused > 0.9
