"""What takes the server long to take up waits among the long ones, whoever asks it."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest

from server.api.questions import routes
from server.api.questions.routes import QueryEndpoint
from server.api.routing.backlog import Backlog
from server.web import Server
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
    serving,
)

pytestmark = pytest.mark.thorough

TOTAL = "SELECT COUNT(*) AS n FROM visits"
COMPUTED = "SELECT age, SUM(age) + COUNT(*) AS s FROM visits GROUP BY age"
WRITTEN_ANEW = "SELECT age, SUM(age) + 2 * COUNT(*) AS s FROM visits GROUP BY age"


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    installation = Installation(tmp_path_factory.mktemp("long"), slot_ms=50).create()
    installation.load()
    return installation


class Taken(list):
    """Readings, and when the turn of each came."""

    def __init__(self):
        super().__init__()
        self.begun = []


@pytest.fixture
def taken(monkeypatch):
    """Whether each reading had a turn of the long ones; short is less here."""
    found, real = Taken(), QueryEndpoint._read

    async def noted(self, *given):
        reading = given[-1]
        found.append(reading.is_long)
        found.begun.append(reading.begun)
        return await real(self, *given)

    monkeypatch.setattr(QueryEndpoint, "_read", noted)
    monkeypatch.setattr(Backlog, "is_long", lambda _, work: work.storing > 0.013)
    return found


def wait_until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_what_is_long_to_take_up_is_charged_or_shown_in_a_turn_of_the_long_ones(
    installation, taken
):
    key = installation.analyst("ada", "long")
    turns = []
    with serve_in_thread(installation) as url, client(url, key) as http:
        for sql in (TOTAL, COMPUTED, COMPUTED, WRITTEN_ANEW):
            taken.clear()
            answer = ask(http, sql, epsilon="0.1", options={"reuse": "allow"})
            turns.append((answer.json()["charge"]["epsilon"], list(taken)))
    assert turns == [
        ("0.1", [False]),
        ("0.1", [False, True]),
        ("0", [False]),  # as it is stored
        ("0", [False, True]),
    ]


def test_a_question_that_waits_among_the_long_ones_holds_no_permit(
    installation, taken, monkeypatch
):
    """Else whoever sends many of them closes the server to everybody."""
    keys = [installation.analyst(name, f"of_{name}") for name in ("bea", "cleo", "dan")]
    work = routes.work_of

    def long_work(compiled):
        found = work(compiled)
        return replace(found, storing=3.0) if compiled.showing_steps else found

    monkeypatch.setattr(routes, "work_of", long_work)
    server = Server(replace(installation, permits=2).settings)
    with (
        serving(server) as url,
        client(url, keys[0]) as first,
        client(url, keys[1]) as second,
        client(url, keys[2]) as other,
        ThreadPoolExecutor(2) as threads,
    ):
        send = partial(ask, sql=COMPUTED, epsilon="0.1")
        replies = [threads.submit(send, first)]
        wait_until(lambda: len(taken) == 2)
        replies.append(threads.submit(send, second))
        wait_until(lambda: len(taken) == 3 and server._endpoint.in_flight() == 1)
        body = {"sql": TOTAL, "epsilon": "0.1"}
        plan = other.post("/v1/datasets/clinic/plan", json=body)
        assert plan.status_code == 200
        assert len(taken) == 4
        assert [each.result().status_code for each in replies] == [200] * 2
    assert taken == [False, True, False, False, True]


def test_a_reply_counts_its_slots_from_when_its_long_turn_came(
    installation, taken, monkeypatch
):
    key = installation.analyst("eli", "often")
    checked, arrive = [], Backlog.arrive

    def noted(self, arrival, size, checked_at, **more):
        checked.append(checked_at)
        return arrive(self, arrival, size, checked_at, **more)

    monkeypatch.setattr(Backlog, "arrive", noted)
    with (
        serve_in_thread(installation) as url,
        client(url, key) as http,
        ThreadPoolExecutor(3) as threads,
    ):
        texts = [f"{COMPUTED} HAVING SUM(age) > {n}" for n in range(3)]
        replies = list(threads.map(lambda sql: ask(http, sql, epsilon="0.1"), texts))
    assert [each.status_code for each in replies] == [200] * 3
    assert all(
        one >= reading for one, reading in zip(checked, taken.begun, strict=True)
    )
    assert len(set(taken.begun)) > 1
