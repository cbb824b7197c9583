import asyncio
import contextlib

from server.api.routing.turns import Turns


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
