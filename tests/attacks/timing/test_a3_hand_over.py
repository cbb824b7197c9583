"""A3: what a server does as an executor becomes free, or a result comes, is small.

An execution ends at a time of the rows'. Writing a plan of many cells down, or reading
that many noisy values to be, holds the interpreter for tens of milliseconds: whoever
asks ``/healthz`` then would see when. So both are done at public times.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from engines.duckdb import executors
from engines.duckdb.executors import ExecutorEngine
from server.api.routing.backlog import Backlog
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)

FIRST = "SELECT COUNT(*) FROM visits WHERE age >= 1"
SECOND = "SELECT COUNT(*) FROM visits WHERE age >= 2"


@pytest.fixture
def watched(monkeypatch):
    return Watched(monkeypatch)


class Watched:
    """Notes when plans are written, run and read; holds the first until it is told."""

    def __init__(self, monkeypatch):
        self.written, self.read, self.ended, self.promises = [], [], [], []
        self.is_running, self.may_run = threading.Event(), threading.Event()
        self._note_calls(monkeypatch, "write_plan", self.written)
        self._note_calls(monkeypatch, "read_vectors", self.read)
        run, promise = ExecutorEngine.reply_to, Backlog._promise

        def held(engine, request):
            self.is_running.set()
            assert self.may_run.wait(60)
            reply = run(engine, request)
            self.ended.append(time.monotonic())
            return reply

        def noted(backlog, ticket, cost):
            self.promises.append(promise(backlog, ticket, cost))
            return self.promises[-1]

        monkeypatch.setattr(ExecutorEngine, "reply_to", held)
        monkeypatch.setattr(Backlog, "_promise", noted)

    def _note_calls(self, monkeypatch, name, seen):
        real = getattr(executors, name)

        def noted(*words):
            seen.append(time.monotonic())
            return real(*words)

        monkeypatch.setattr(executors, name, noted)


@pytest.mark.long
def test_no_plan_is_written_nor_result_read_because_an_execution_ended(
    tmp_path, watched
):
    one = {"executors": 1}
    installation = Installation(tmp_path, slot_ms=500, more_settings=one).create()
    installation.load()
    key = installation.analyst()
    with (
        serve_in_thread(installation) as url,
        client(url, key) as http,
        ThreadPoolExecutor(2) as pool,
    ):
        first = pool.submit(ask, http, FIRST)
        assert watched.is_running.wait(60)
        second = pool.submit(ask, http, SECOND)
        wait_for(lambda: len(watched.written) == 2)  # though no executor is free
        watched.may_run.set()
        assert [one.result(60).status_code for one in (first, second)] == [200, 200]
    assert len(watched.written) == 2
    for promise, ended, read in zip(
        watched.promises, watched.ended, watched.read, strict=True
    ):
        assert read >= promise.take_up
        assert read >= ended


def wait_for(happened, seconds=60):
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)
