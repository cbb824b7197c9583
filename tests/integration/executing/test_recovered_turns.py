"""What recovery executes takes its turn among live questions, and they count it."""

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from budget.ledger import Ledger
from engines.duckdb.executors import ExecutorEngine
from privacy.errors import LedgerUnavailableError
from query_lang.plans.costs import PlanCost
from server.api.questions.routes import Asking, EndpointSettings, QueryEndpoint
from server.api.routing.backlog import Machine, work_of
from server.api.routing.slots import Lateness, SlotClock
from server.children.parser_process import ParserPool
from server.use_cases.questions.asking.executing import Executing
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)

SLOT_SECONDS = 0.1
LEFT = "SELECT COUNT(*) FROM visits WHERE age > 41"
LIVE = "SELECT COUNT(*) FROM visits"
STEPS = 10**9
COSTLY = SimpleNamespace(
    rendered=SimpleNamespace(cells=["all"], scans=1),
    row_count=1,
    measures=[SimpleNamespace(size=1)],
    columns=["visits"],
    key_bytes=0,
    showing_steps=0,
    cost=PlanCost(STEPS, 0, 0, 0),
)
CHEAP = SimpleNamespace(
    rendered=SimpleNamespace(cells=["all"], scans=1),
    row_count=1,
    measures=[SimpleNamespace(size=1)],
    columns=["visits"],
    key_bytes=0,
    showing_steps=0,
    cost=PlanCost(0, 0, 0, 0),
)


def endpoint_of(machine):
    clock = SlotClock(SLOT_SECONDS, Lateness())
    return QueryEndpoint(
        Asking(None, None), None, None, clock, EndpointSettings(4, machine)
    )


@pytest.mark.parametrize("has_ended", [False, True])
def test_a_live_question_counts_what_recovery_took_up_ahead_of_it(has_ended):
    """Whether it must still be executed is no part of that: a crash would show it."""
    executed = []

    async def run():
        endpoint = endpoint_of(Machine(executors=1, cores=2))
        await endpoint.take_in(
            COSTLY, None if has_ended else lambda: executed.append(1)
        )
        ticket = endpoint._backlog.arrive(asyncio.get_running_loop().time(), 0)
        endpoint._backlog.decide(ticket, work_of(CHEAP))
        slots = ticket.promise.result().slots
        await asyncio.to_thread(endpoint.close)
        return slots

    assert asyncio.run(run()) >= STEPS / 1e9 / SLOT_SECONDS * 0.9
    assert executed == [] if has_ended else [1]


class Held:
    """Lets recovery take up nothing until it is told; and a text be read, likewise."""

    def __init__(self, monkeypatch):
        self.may_take_up, self.taken = threading.Event(), threading.Event()
        self.reading, self.may_read = threading.Event(), threading.Event()
        self.executed, self._lost = [], []
        for owner, name in (
            (Ledger, "take_up"),
            (Executing, "compute"),
            (ParserPool, "parse"),
            (ExecutorEngine, "reply_to"),
        ):
            self._wrap(monkeypatch, owner, name)

    def _wrap(self, monkeypatch, owner, name):
        real, mine = getattr(owner, name), getattr(self, name)
        monkeypatch.setattr(
            owner, name, lambda one, *args, **more: mine(real, one, *args, **more)
        )

    def take_up(self, real, ledger, unreadable, kept):
        if not self.may_take_up.is_set():
            return [], []
        found = real(ledger, unreadable, kept)
        if found[0]:
            self.taken.set()
        return found

    def compute(self, real, queries, paid):
        """Lose the first execution, as a server does that stops: nothing was drawn."""
        computed = real(queries, paid)
        if self._lost:
            return computed
        self._lost.append(paid)
        return LedgerUnavailableError("the executors stop")

    def parse(self, real, pool, sql, **more):
        if sql == LIVE:
            self.reading.set()
            assert self.may_read.wait(60)
        return real(pool, sql, **more)

    def reply_to(self, real, engine, request):
        (statement,) = json.loads(request)["statements"]
        self.executed.append(tuple(statement["parameters"]))
        return real(engine, request)


def test_recovery_overtakes_no_question_that_arrived_before(tmp_path, monkeypatch):
    installation = Installation(tmp_path).create()
    installation.load()
    key, held = installation.analyst(), Held(monkeypatch)
    with (
        serve_in_thread(installation) as url,
        client(url, key) as http,
        ThreadPoolExecutor(1) as pool,
    ):
        assert ask(http, LEFT).status_code == 503
        live = pool.submit(ask, http, LIVE)
        assert held.reading.wait(60)
        held.may_take_up.set()
        assert held.taken.wait(60)
        time.sleep(0.5)
        assert held.executed == [(42,)]  # age >= 42: when it was asked
        held.may_read.set()
        assert live.result().status_code == 200
        deadline = time.monotonic() + 60
        while len(held.executed) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert sorted(held.executed[1:]) == [(), (42,)]
