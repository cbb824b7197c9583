"""Limits of each principal: 429 tells of requests alone, and costs nothing."""

import contextlib
import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import httpx
import pytest

from tests.support.installations.arms import ROWS, HeldSampler, make_installation, plan
from tests.support.installations.harness import ask, client, serve_in_thread

READINGS = ("/v1/datasets", "/v1/datasets/clinic", "/v1/queries", "/v1/budget")
SLOT_MS = 100
PLACES = 2
"""Fewer than are served at once, so that those held here leave room to refuse."""
QUESTION = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "1"}


@dataclass
class Limited:
    """A server with limits."""

    installation: object
    url: str
    sampler: HeldSampler

    @contextlib.contextmanager
    def analyst(self, name):
        with client(self.url, self.installation.analyst(name, f"of_{name}")) as http:
            yield http


@contextlib.contextmanager
def serve(folder, **limits):
    installation = make_installation(folder, ROWS["with"])
    for name, value in limits.items():
        setattr(installation, name, value)
    sampler = HeldSampler()
    with serve_in_thread(installation, lambda: sampler) as url:
        yield Limited(installation, url, sampler)


@pytest.fixture(scope="module")
def rated(tmp_path_factory):
    """A server that lets five requests a minute in."""
    with serve(tmp_path_factory.mktemp("rated"), rate_limit=5) as server:
        yield server


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A server with two places for each."""
    with serve(tmp_path_factory.mktemp("crowded"), max_in_flight=PLACES) as server:
        yield server


def _refused(reply):
    assert reply.status_code == 429, reply.text
    assert reply.json()["type"] == "rate_limited"
    assert set(reply.json()) == {"type", "title", "status", "detail"}
    assert reply.headers["content-type"] == "application/problem+json"
    return int(reply.headers["retry-after"])


def test_every_authenticated_route_counts_and_every_one_refuses(rated):
    with rated.analyst("ada") as http:
        assert ask(http).status_code == 200
        assert plan(http).status_code == 200
        for path in READINGS[:3]:
            assert http.get(path).status_code == 200
        for reply in (ask(http), plan(http), *map(http.get, READINGS)):
            assert 1 <= _refused(reply) <= 12
        assert http.get("/healthz").status_code == 200


def test_nobody_else_pays_for_it(rated):
    with rated.analyst("bob") as bob, rated.analyst("eve") as eve:
        while bob.get("/v1/budget").status_code == 200:
            pass
        assert eve.get("/v1/budget").status_code == 200


def test_too_many_comes_after_401_and_before_everything_else(rated):
    with rated.analyst("cleo") as http:
        while http.get("/v1/budget").status_code == 200:
            pass
        path = "/v1/datasets/nowhere/queries"
        assert _refused(http.post(path, content=b"{" * 20_000))
        assert _refused(http.post(path, headers={"Content-Encoding": "gzip"}))
        assert _refused(ask(http, headers={"Idempotency-Key": "a b"}))
        http.headers["authorization"] += "x"
        assert ask(http).status_code == 401


def test_strangers_are_never_too_many(rated):
    codes = {httpx.get(f"{rated.url}/v1/budget").status_code for _ in range(12)}
    assert codes == {401}


def test_a_refusal_is_the_same_for_every_dataset_and_costs_nothing(rated):
    with rated.analyst("dora") as http:
        while http.get("/v1/budget").status_code == 200:
            pass
        replies = [
            _alike(ask(http, dataset=name)) for name in ("clinic", "nowhere", "x%00")
        ]
        assert replies[0] == replies[1]
    with rated.installation.services() as services:
        kinds = [entry["kind"] for entry in services.ledger.export()]
    assert "refused" not in kinds


def _alike(reply):
    return reply.status_code, reply.content, sorted(reply.headers)


def test_of_64_questions_at_once_exactly_two_are_let_in(crowded):
    with (
        crowded.analyst("ada") as http,
        ThreadPoolExecutor(64) as pool,
        crowded.sampler.held(),
    ):
        asked = [pool.submit(ask, http) for _ in range(64)]
        crowded.sampler.wait_for(1)
        deadline = time.monotonic() + 30
        while (
            sum(one.done() for one in asked) < 64 - PLACES
            and time.monotonic() < deadline
        ):
            time.sleep(0.02)
        refused = [one.result() for one in asked if one.done()]
        assert len(refused) == 64 - PLACES
        assert {_refused(reply) for reply in refused} == {1}
        assert _refused(plan(http)) == 1
        assert http.get("/v1/budget").status_code == 200  # reading takes no place
        crowded.sampler.open()
        codes = sorted(one.result().status_code for one in asked)
        assert codes == [200] * PLACES + [429] * (64 - PLACES)
        assert ask(http).status_code == 200  # the places are free again


def test_every_end_of_a_question_frees_its_place(crowded):
    with crowded.analyst("bob") as http:
        for _ in range(3):
            for body in (b"{", b"{}", json.dumps({"sql": "x"}).encode()):
                reply = http.post("/v1/datasets/clinic/queries", content=body)
                assert reply.status_code in {400, 422}
            assert ask(http, dataset="nowhere").status_code == 404
            assert ask(http, "SELECT nothing").status_code == 422
            assert ask(http, epsilon="9").status_code == 422
        assert ask(http).status_code == 200


def test_a_caller_who_hangs_up_keeps_the_place_until_the_reply_would_leave(crowded):
    with (
        crowded.analyst("cleo") as http,
        ThreadPoolExecutor(PLACES) as pool,
        crowded.sampler.held(),
    ):
        asked = [pool.submit(_hang_up, crowded.url, http) for _ in range(PLACES)]
        crowded.sampler.wait_for(1)
        assert all(one.result() for one in asked)
        assert _refused(ask(http)) == 1
        crowded.sampler.open()
        deadline = time.monotonic() + 30
        while ask(http).status_code == 429 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert ask(http).status_code == 200


def _hang_up(url, http):
    with contextlib.suppress(httpx.ReadTimeout):
        httpx.post(
            f"{url}/v1/datasets/clinic/queries",
            json={**QUESTION, "options": {"reuse": "never"}},
            headers={"Authorization": http.headers["authorization"]},
            timeout=1,
        )
        return False
    return True


def test_a_refused_question_leaves_on_its_slot(tmp_path):
    with (
        serve(tmp_path, slot_ms=SLOT_MS, rate_limit=1) as server,
        server.analyst("ada") as http,
    ):
        assert http.get("/v1/budget").status_code == 200
        for send in (ask, plan):
            started = time.monotonic()
            _refused(send(http))
            assert time.monotonic() - started >= SLOT_MS / 1000
