"""What is refused before it is a question costs those who ask nothing: C5.

On the numbers that decide when replies leave, which no busy machine moves.
"""

import asyncio
import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from server.api.routing.backlog import AT_ONCE
from server.api.routing.caller_checks import CHECKING_SECONDS, RESTING
from server.api.routing.slots import SlotClock
from server.children.parser_process import ParserPool
from server.use_cases.custody.people import PeopleService
from server.web import Server
from tests.support.installations.arms import ROWS, make_installation
from tests.support.installations.harness import ask, client, serve_in_thread, serving

pytestmark = pytest.mark.thorough

SLOT_MS = 1000
MANY = 40
JUNK = b"x" * 16_000  # reading it would count a third of a second
PATH = "/v1/datasets/clinic/queries"
HELD = "SELECT COUNT(*) FROM visits WHERE age > 41"


class Slots:
    """Remembers n of each reply, as it begins to wait for its slot."""

    def __init__(self, monkeypatch):
        self.found = []
        wait = SlotClock.wait

        async def waiting(clock, *, arrival, slots):
            self.found.append(slots)
            await wait(clock, arrival=arrival, slots=slots)

        monkeypatch.setattr(SlotClock, "wait", waiting)

    def wait_for(self, number):
        deadline = time.monotonic() + 60
        while len(self.found) < number:
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    """A server with one permit and slots, and two keys; nobody has a limit."""
    folder = tmp_path_factory.mktemp("narrow")
    installation = make_installation(folder, ROWS["with"])
    installation.slot_ms, installation.permits = SLOT_MS, 1
    keys = [installation.analyst(), installation.analyst("eve", "other")]
    with serve_in_thread(installation) as url:
        yield url, *keys


@pytest.fixture(scope="module")
def rated(tmp_path_factory):
    """A server with one permit that lets two requests a minute in."""
    installation = make_installation(tmp_path_factory.mktemp("rated"), ROWS["with"])
    installation.slot_ms, installation.permits = SLOT_MS, 1
    installation.rate_limit = 2
    keys = [installation.analyst(), installation.analyst("eve", "other")]
    with serve_in_thread(installation) as url:
        yield url, *keys


def flood(url, number, path=PATH, body=JUNK, **headers):
    """Send so many at once; return their codes."""

    async def sending():
        limits = httpx.Limits(max_connections=number)
        async with httpx.AsyncClient(
            base_url=url,
            timeout=60,
            limits=limits,
            verify=False,  # noqa: S501 - plain HTTP
        ) as http:
            sent = [
                http.post(path, content=body, headers=headers) for _ in range(number)
            ]
            return {reply.status_code for reply in await asyncio.gather(*sent)}

    return asyncio.run(sending())


def asked_behind(monkeypatch, url, key, number, *, is_known=True, **junk):
    """Ask behind a flood; return its codes, the question's code, and its n.

    By a key whose last request passed, or that has never asked.
    """
    with ThreadPoolExecutor(1) as pool, client(url, key) as http:
        if is_known:
            assert ask(http).status_code == 200
        slots = Slots(monkeypatch)
        flooding = pool.submit(flood, url, number, **junk)
        slots.wait_for(number)  # most of their replies wait for their slots
        reply = ask(http)
        return flooding.result(), reply.status_code, slots.found[number]


def test_requests_without_a_key_delay_no_question_and_take_no_permit(
    narrow, monkeypatch
):
    url, key, _ = narrow
    assert asked_behind(monkeypatch, url, key, MANY) == ({401}, 200, 1)


def test_requests_of_a_key_beyond_its_rate_delay_nobody_elses(rated, monkeypatch):
    url, key, eve = rated
    bearer = {"Authorization": f"Bearer {eve}"}
    for _ in range(2):
        assert httpx.get(f"{url}/v1/budget", headers=bearer).status_code == 200
    found = asked_behind(monkeypatch, url, key, MANY, **bearer)
    assert found == ({429}, 200, 1)


@pytest.mark.parametrize(
    ("code", "junk"),
    [
        (413, {"body": b"x" * 20_000}),
        (415, {"Content-Encoding": "gzip"}),
        (422, {"path": f"{PATH}?x=1"}),
        (422, {"Idempotency-Key": "off the grammar"}),
    ],
)
def test_what_headers_refuse_delays_no_question(narrow, monkeypatch, code, junk):
    url, key, eve = narrow
    junk = {"Authorization": f"Bearer {eve}", **junk}
    assert asked_behind(monkeypatch, url, key, MANY, **junk) == ({code}, 200, 1)


def test_a_key_that_has_never_asked_waits_behind_what_is_refused(narrow, monkeypatch):
    """Whoever is let in once is ahead of strangers from then on."""
    url, _, eve = narrow
    codes, code, slots = asked_behind(monkeypatch, url, eve, MANY, is_known=False)
    assert (codes, code) == ({401}, 200)
    assert slots <= 1 + MANY * (1 + RESTING) * CHECKING_SECONDS * 1000 / SLOT_MS


def test_beyond_the_checks_under_way_everybody_is_told_busy(narrow, monkeypatch):
    url, key, _ = narrow
    monkeypatch.setattr("server.api.routing.caller_checks.MOST_WAITING", 0)
    with client(url, key) as http:
        reply = ask(http)
    assert (reply.status_code, reply.json()["type"]) == (503, "busy")


def test_a_key_that_ends_while_its_question_waits_is_401(tmp_path, monkeypatch):
    installation = make_installation(tmp_path, ROWS["with"])
    names = [("eve", "other"), *((f"ada{n}", f"study{n}") for n in range(AT_ONCE))]
    keys = [installation.analyst(*each) for each in names]  # each has one turn
    parse, reading, go_on = ParserPool.parse, threading.Semaphore(0), threading.Event()

    def parsing(pool, sql, **more):
        if sql == HELD:
            reading.release()
            assert go_on.wait(60)
        return parse(pool, sql, **more)

    monkeypatch.setattr(ParserPool, "parse", parsing)
    server = Server(installation.settings)
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(serving(server))
        eve, *others = (stack.enter_context(client(url, key)) for key in keys)
        pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE + 1))
        held = [pool.submit(ask, other, HELD) for other in others]
        for _ in held:
            assert reading.acquire(timeout=60)
        waiting = pool.submit(ask, eve)  # her key is good; nobody is free to read
        deadline = time.monotonic() + 60
        while server._endpoint.in_flight() <= AT_ONCE:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        with installation.services() as services:
            PeopleService(services, "local:test").disable_principal("eve")
        go_on.set()
        assert [one.result().status_code for one in held] == [200] * AT_ONCE
        assert waiting.result().status_code == 401
