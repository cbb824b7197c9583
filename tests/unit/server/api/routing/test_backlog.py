import asyncio
import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from query_lang.plans.costs import SLOT_SHARE, EngineSize, PlanCost, cost_limits
from server.api.routing.backlog import (
    MARGIN_SLOTS,
    NOTHING,
    RELEASE_SECONDS,
    STORING_SECONDS_PER_SHOWN,
    Backlog,
    Machine,
    Work,
    comparing,
    formed,
    forming_of,
    from_release,
    opening,
    recovered_seconds,
    sent,
    shown_again,
    work_of,
)
from server.use_cases.questions.looked_at import LookedAt

SMALL = Work(executing=0.006, storing=0.011)
HEAVY = Work(executing=0.5, storing=0.011)
ONE = Machine(executors=1, cores=2)


def promised(*questions, machine=ONE, slot=0.1, order=None):
    """Return take-up times, counted from 100 s, and n, of (arrival, cost) in order.

    Of what executes alone; None executes nothing and sends nothing.
    """

    async def run():
        backlog = Backlog(slot, machine)
        tickets = [backlog.arrive(100 + arrival, 0) for arrival, _ in questions]
        for place in order or range(len(questions)):
            backlog.decide(tickets[place], questions[place][1] or NOTHING)
        return [
            (round(promise.take_up - 100, 6), promise.slots)
            for ticket in tickets
            if isinstance(ticket.cost, Work)
            for promise in [ticket.promise.result()]
        ]

    return asyncio.run(run())


def unexecuted(ahead, size=0, machine=ONE, cost=NOTHING, of_each=SMALL):
    """Return n of a refusal with so many questions ahead of it, small ones unless told.

    Or of what costs the server more than that.
    """

    async def run():
        backlog = Backlog(0.1, machine)
        for _ in range(ahead):
            backlog.decide(backlog.arrive(100, 0), of_each)
        ticket = backlog.arrive(100, size)
        backlog.decide(ticket, cost)
        return ticket.promise.result().slots

    return asyncio.run(run())


def costing(
    steps, unit_steps, startup_steps=0, columns=1, key_bytes=0, *, showing_steps=0
):
    """Return a plan of one scan and measure that costs so many steps."""
    return SimpleNamespace(
        rendered=SimpleNamespace(cells=["all"], scans=1),
        measures=[SimpleNamespace(size=1)],
        row_count=1,
        columns=range(columns),
        key_bytes=key_bytes,
        showing_steps=showing_steps,
        cost=PlanCost(steps, 0, unit_steps, 0, startup_steps),
    )


def test_a_question_alone_leaves_on_its_first_slot():
    """Read and storing 24 ms, 6 ms in an executor, 25 ms of margin, 11 to store.

    Two others, begun though behind, may take 13 ms each: 92 ms.
    """
    assert promised((0, SMALL)) == [(0.055, 1)]


def test_each_question_waits_for_those_ahead_of_it():
    """The second is read at 48 ms, executed at 54, taken up at 79, stored at 90."""
    assert promised((0, SMALL), (0, SMALL)) == [(0.055, 1), (0.079, 2)]


def test_a_costly_question_ahead_is_counted_in_full():
    """It is executed at 524 ms; the one behind at 530, and taken up at 555."""
    assert promised((0, HEAVY), (0, SMALL)) == [(0.549, 6), (0.555, 6)]


def test_finding_what_to_measure_for_several_questions_delays_those_behind():
    planned = replace(SMALL, reading=2.0)
    (_, alone), (_, behind) = promised((0, planned), (0, SMALL))
    assert alone > 20
    assert unexecuted(1, of_each=planned) >= 20
    assert unexecuted(1) == 1
    assert behind >= alone


def test_one_behind_never_delays_one_ahead():
    assert promised((0, SMALL), (0, HEAVY))[0] == promised((0, SMALL))[0]


def test_what_ended_long_ago_delays_nobody():
    assert promised((0, HEAVY), (10, SMALL)) == [(0.549, 6), (10.055, 1)]


def test_sixty_four_at_once_leave_one_after_the_other():
    """The last is read at 64 times 24 ms, and taken up 31 ms later."""
    found = promised(*[(0, SMALL)] * 64)
    assert found[-1] == (1.567, 17)
    assert [n for _, n in found] == sorted(n for _, n in found)


def test_what_does_not_execute_takes_no_executor():
    asked = [(0, HEAVY), (0, None), (0, SMALL)]
    assert promised(*asked)[1] == (0.555, 6)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_only_the_order_of_arrival_counts_not_that_of_decisions(order):
    asked = [(0, HEAVY), (0.01, SMALL), (0.02, SMALL)]
    assert promised(*asked, order=order) == promised(*asked)


def test_no_promise_comes_before_those_ahead_are_decided():
    async def run():
        backlog = Backlog(0.1, ONE)
        first, second = backlog.arrive(0, 0), backlog.arrive(0, 0)
        backlog.decide(second, SMALL)
        assert not second.promise.done()
        backlog.decide(first, NOTHING)
        assert first.promise.done()
        assert second.promise.done()
        backlog.decide(second, HEAVY)  # too late to change it
        return second.promise.result().slots

    assert asyncio.run(run()) == 2


def test_processes_that_share_the_cores_are_slower():
    """Half the speed: 48, 60, 85 and 107 ms, and 52 for two others."""
    machine = Machine(executors=2, cores=2, workers=2)
    assert promised((0, SMALL), machine=machine) == [(0.085, 2)]


def test_more_executors_are_faster_as_far_as_there_are_cores():
    many = Machine(executors=4, cores=16)
    assert promised((0, HEAVY), machine=many) == [(0.174, 3)]
    assert promised((0, HEAVY), machine=Machine(4, 2)) == [(0.549, 6)]


def test_what_is_refused_leaves_on_its_first_slot_when_nobody_is_ahead():
    assert [unexecuted(ahead) for ahead in (0, 2, 3, 10)] == [1, 1, 2, 3]


def test_long_texts_take_longer_to_read():
    assert unexecuted(0, size=16 * 1024) == 4


def test_a_refusal_counts_the_texts_that_were_read_to_find_its_fix():
    told = [unexecuted(0, size=4_096, cost=sent(300, tried)) for tried in range(5)]
    assert told == sorted(told)
    assert told[4] > 2 * told[0]


def test_what_is_computed_of_an_answer_counts_among_what_stores_it():
    plain, computed = (work_of(costing(0, 0, showing_steps=n)) for n in (0, 2 * 10**9))
    assert computed.storing == pytest.approx(plain.storing + 2)
    assert computed.executing == plain.executing


def test_results_pile_up_where_taking_them_up_takes_longer_than_executing():
    """Else executors bring them one by one, and those that wait execute meanwhile."""

    async def run(work):
        backlog = Backlog(0.1, Machine(2, 4))
        ticket = backlog.arrive(100, 0)
        backlog.decide(ticket, work)
        return backlog.is_long(work), ticket.promise.result().storing

    told = [
        asyncio.run(run(Work(executing, storing)))
        for executing, storing in ((0.002, 0.01), (0.002, 1.5), (5.0, 1.5))
    ]
    assert told == [(False, 0.0), (True, 1.5), (False, 0.0)]


LARGE = sent(3_200_000)


def test_a_large_free_answer_costs_its_bytes():
    assert unexecuted(0, cost=sent(300)) == 1
    assert unexecuted(0, cost=LARGE) == 2  # 64 ms for its bytes, 24 and 26 as all


def test_large_free_answers_ahead_are_counted_in_full():
    behind = [unexecuted(ahead, of_each=LARGE) for ahead in range(7)]
    assert behind == [1, 2, 3, 4, 5, 5, 6]  # 88 ms each
    small = [unexecuted(ahead, of_each=sent(300)) for ahead in range(7)]
    assert small == [1, 1, 1, 2, 2, 2, 2]
    (alone,) = promised((0, SMALL))
    (after_six,) = promised(*[(0, LARGE)] * 6, (0, SMALL))
    assert after_six[0] - alone[0] == pytest.approx(6 * 0.088)
    assert (alone[1], after_six[1]) == (1, 7)


def test_an_answer_from_a_release_delays_others_by_what_it_writes_alone():
    answer = from_release(100_000)
    assert unexecuted(0, cost=answer) == 6  # 0.5 s to read it, 30 ms for its bytes
    assert unexecuted(1, of_each=answer) == 2
    assert answer.alone == RELEASE_SECONDS
    assert answer.serving > sent(100_000).serving


def test_what_leaves_without_executing_waits_until_those_ahead_are_known():
    async def run():
        backlog = Backlog(0.1, ONE)
        first, second = backlog.arrive(0, 0), backlog.arrive(0, 0)
        backlog.decide(second, NOTHING)
        assert not second.promise.done()
        backlog.decide(first, LARGE)
        return second.promise.result().slots

    assert asyncio.run(run()) == 2


def test_columns_that_repeat_what_was_measured_cost_what_is_written_of_them():
    one, many = (work_of(costing(0, 0, columns=count)) for count in (1, 301))
    assert many.storing - one.storing == pytest.approx(300 * STORING_SECONDS_PER_SHOWN)


def test_what_recovery_takes_up_takes_whole_slots_of_its_public_cost_alone():
    plan = SimpleNamespace(
        rendered=SimpleNamespace(cells=["all"], scans=1),
        measures=[SimpleNamespace(size=1)],
        row_count=1,
        columns=["visits"],
        key_bytes=0,
        showing_steps=0,
        cost=SimpleNamespace(steps=3_000_000, unit_steps=5_000, startup_steps=0),
    )
    wide = SimpleNamespace(
        rendered=SimpleNamespace(cells=range(10_000), scans=1),
        measures=[SimpleNamespace(size=1)],
        row_count=10_000,
        columns=["visits"],
        key_bytes=0,
        showing_steps=0,
        cost=SimpleNamespace(steps=3_000_000, unit_steps=5_000, startup_steps=0),
    )
    small, large = (
        recovered_seconds(one, slot=0.1, machine=ONE) for one in (plan, wide)
    )
    assert (small, round(large, 9)) == (0.1, 0.3)
    assert recovered_seconds(wide, slot=0, machine=ONE) == 0


def test_without_slots_everything_takes_one():
    assert promised((0, HEAVY), slot=0)[0][1] == 1


@pytest.mark.parametrize("permits", [1, 2, 24, 64, 65])
@pytest.mark.parametrize("executors", [1, 2, 3, 8])
def test_slots_carry_what_the_limits_let_one_unit_add(permits, executors):
    """All permits hold questions at the limit; an executor takes its share in turn."""
    size = EngineSize(permits, executors, 100, 2**30, 60.0)
    most = cost_limits(size).unit_steps
    machine = Machine(executors, cores=2)
    without, carried = (
        promised(*[(0, work_of(costing(10**9, unit)))] * permits, machine=machine)
        for unit in (0, most)
    )
    added = most / 1e9 * math.ceil(permits / executors)
    assert added <= size.slot_ms / 1e3 / SLOT_SHARE
    margin = float(MARGIN_SLOTS) * size.slot_ms / 1e3
    kept = carried[-1][0] - without[-1][0]
    assert kept + margin >= added
    assert kept >= most / 1e9 * permits / executors - 1e-5  # all but a rounding


def test_a_plan_counts_all_its_steps_and_what_may_hang_on_one_unit_again():
    free = work_of(costing(0, 0))
    plan = work_of(costing(10**8, 10**6, startup_steps=2 * 10**7))
    assert plan.executing - free.executing == pytest.approx(0.121)
    assert plan.storing == free.storing


def test_vectors_that_are_shown_again_cost_what_a_release_and_an_answer_do():
    many = costing(0, 0, columns=301)
    again, released = shown_again(10_000, many), from_release(10_000)
    assert again.alone == released.alone
    assert again.serving == released.serving + work_of(many).storing


def test_another_form_costs_by_its_bytes_and_what_may_be_shown():
    assert formed(0) == 0
    assert formed(2_000_000) == pytest.approx(1)
    small, wide = costing(1, 1), costing(1, 1, columns=1_000)
    assert 0 < forming_of(small) < 0.001
    assert forming_of(wide) == pytest.approx(1_000 * forming_of(small))
    assert forming_of(costing(1, 1, key_bytes=10**7)) > 0.5


def test_what_comes_before_a_reply_leaves_its_readings_to_count():
    reply = sent(100, readings=3).after(0.5, alone=0.25)
    assert reply.readings == 3
    assert reply.serving == pytest.approx(sent(100).serving + 0.5)
    assert reply.alone == 0.25


def test_a_release_that_many_questions_look_at_is_opened_once():
    looked_at = LookedAt()
    for _ in range(24):
        looked_at.add_release("r_1", cells=10)
    assert opening(looked_at) == RELEASE_SECONDS
    assert 0 < comparing(looked_at) < RELEASE_SECONDS
    looked_at.add_release("r_2", cells=10)
    assert opening(looked_at) == 2 * RELEASE_SECONDS
