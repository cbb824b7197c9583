"""Executors take questions in order of arrival; results wait for a public time."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from engines.duckdb.executors import ExecutorEngine
from mechanisms.samplers.laplace import OpenDPSampler
from server.api.routing.backlog import Backlog, sent
from server.children.parser_process import ParserPool
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)

pytestmark = pytest.mark.long

FIRST = "SELECT COUNT(*) FROM visits WHERE age > 41"
SECOND = "SELECT COUNT(*) FROM visits"


@pytest.fixture
def installation(tmp_path):
    made = Installation(tmp_path, more_settings={"executors": 1}).create()
    made.load()
    return made


def wait_for_a_charge(http):
    deadline = time.monotonic() + 30
    while not http.get("/v1/queries").json()["items"]:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_question_that_is_read_slowly_is_not_overtaken(installation, monkeypatch):
    executed, reading, go_on = [], threading.Event(), threading.Event()
    parse, reply_to = ParserPool.parse, ExecutorEngine.reply_to

    def parsing(pool, sql, **more):
        if sql == FIRST:
            reading.set()
            assert go_on.wait(30)
        return parse(pool, sql, **more)

    def replying(engine, request):
        (statement,) = json.loads(request)["statements"]
        executed.append(tuple(statement["parameters"]))
        return reply_to(engine, request)

    monkeypatch.setattr(ParserPool, "parse", parsing)
    monkeypatch.setattr(ExecutorEngine, "reply_to", replying)
    key = installation.analyst()
    with (
        serve_in_thread(installation) as url,
        client(url, key) as http,
        ThreadPoolExecutor(2) as pool,
    ):
        first = pool.submit(ask, http, FIRST)
        assert reading.wait(30)
        second = pool.submit(ask, http, SECOND)
        wait_for_a_charge(http)  # the second's: it could be executed now
        time.sleep(0.2)
        assert executed == []
        go_on.set()
        assert first.result().status_code == second.result().status_code == 200
    assert executed == [(42,), ()]  # age >= 42, then all


class Clocked(OpenDPSampler):
    """Remembers when it drew."""

    def __init__(self):
        super().__init__()
        self.drawn = []

    def discrete_laplace(self, values, scale):
        self.drawn.append(time.monotonic())
        return super().discrete_laplace(values, scale)


def test_noise_is_drawn_at_a_public_time_not_when_execution_ended(tmp_path):
    installation = Installation(tmp_path, slot_ms=2_000).create()
    installation.load()
    sampler, key = Clocked(), installation.analyst()
    with (
        serve_in_thread(installation, lambda: sampler) as url,
        client(url, key) as http,
    ):
        started = time.monotonic()
        assert ask(http).status_code == 200
    (drawn,) = sampler.drawn
    assert drawn - started >= 0.5  # a quarter of a slot of margin


def test_nothing_executes_in_the_servers_own_process(installation, monkeypatch):
    def failing(*_, **__):
        raise AssertionError

    monkeypatch.setattr("engines.duckdb.engine.filled_vectors", failing)
    monkeypatch.setattr("engines.duckdb.snapshots.Snapshots.cursor", failing)
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        assert ask(http).status_code == 200


def test_a_large_free_answer_takes_more_slots_than_a_small_one(tmp_path, monkeypatch):
    decided, decide = [], Backlog.decide

    def deciding(backlog, ticket, cost):
        decide(backlog, ticket, cost)
        decided.append(ticket.cost)

    monkeypatch.setattr(Backlog, "decide", deciding)
    installation = Installation(tmp_path).create()
    installation.load()
    keys = "sex, age, ward"
    wide = f"SELECT {keys}, COUNT(*) FROM visits GROUP BY {keys}"
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        for sql in (wide, SECOND):
            ask(http, sql, options={}).raise_for_status()
        decided.clear()
        large, small = (ask(http, sql, options={}) for sql in (wide, SECOND))
    assert len(large.content) > 4 * len(small.content)
    assert decided[::2] == [sent(len(large.content)), sent(len(small.content))]
