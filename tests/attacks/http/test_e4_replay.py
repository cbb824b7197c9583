"""E4: a key brings its answer once and for all, to its owner, for one request."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count

import pytest

from tests.support.installations.arms import (
    FailingSampler,
    make_installation,
    repeatable,
)
from tests.support.installations.harness import ask, client, serve_in_thread

_fresh = count()
KEY = "Idempotency-Key"
REPLAYED = "idempotency-replayed"


@pytest.fixture
def key():
    """A key that nobody used before."""
    return {KEY: f"key-{next(_fresh)}"}


@pytest.fixture
def question():
    """A question that nobody asked before."""
    return f"SELECT COUNT(*) FROM visits WHERE note = 'replay {next(_fresh)}'"


def _spent(http):
    return [p["spent"] for p in http.get("/v1/budget").json()["projects"]]


def _code(reply):
    return reply.status_code, reply.json()["type"]


def test_a_key_replays_its_answer_byte_for_byte_and_says_so(house, key):
    first = ask(house.http, headers=key)
    spent = _spent(house.http)
    for _ in range(5):
        again = ask(house.http, headers=key)
        assert (again.status_code, again.content) == (200, first.content)
        assert again.headers[REPLAYED] == "true"
    assert REPLAYED not in first.headers
    assert _spent(house.http) == spent


def test_a_key_with_another_request_is_a_mismatch(house, key):
    ask(house.http, epsilon="0.01", headers=key)
    before = house.dump()
    mismatch = (422, "idempotency_mismatch")
    assert _code(ask(house.http, epsilon="0.02", headers=key)) == mismatch
    body = json.dumps({"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.01"})
    spaced = house.http.post(
        "/v1/datasets/clinic/queries", content=body + " ", headers=key
    )
    assert _code(spaced) == mismatch
    elsewhere = ask(house.http, epsilon="0.01", headers=key, dataset="elsewhere")
    assert _code(elsewhere) == mismatch  # the path is part of the request
    assert _code(house.http.post(spaced.request.url, content=b"{", headers=key)) == (
        mismatch
    )
    assert house.dump() == before


def test_a_key_in_flight_is_in_progress_and_a_mismatch_comes_first(house, key):
    with ThreadPoolExecutor(1) as pool, house.sampler.held():
        first = pool.submit(ask, house.http, headers=key)
        house.sampler.wait_for(1)
        spent = _spent(house.http)
        assert _code(ask(house.http, headers=key)) == (409, "in_progress")
        other = ask(house.http, epsilon="0.5", headers=key)
        assert _code(other) == (422, "idempotency_mismatch")
        house.sampler.open()
        answered = first.result()
    again = ask(house.http, headers=key)
    assert again.content == answered.content
    assert _spent(house.http) == spent


def test_thirty_two_at_once_with_one_key_are_one_charge_and_one_answer(house, key):
    before = len(house.export())
    with ThreadPoolExecutor(32) as pool:
        replies = list(pool.map(lambda _: ask(house.http, headers=key), range(32)))
    answered = {reply.content for reply in replies if reply.status_code == 200}
    assert len(answered) == 1
    assert {reply.status_code for reply in replies} <= {200, 409}
    assert ask(house.http, headers=key).content in answered
    kinds = [entry["kind"] for entry in house.export()[before:]]
    assert sorted(kinds) == ["answered", "charge"]


def test_a_key_of_another_principal_is_independent(house, key):
    name = f"keyholder{next(_fresh)}"
    with house.analyst(name, name) as other:
        mine, theirs = ask(house.http, headers=key), ask(other, headers=key)
        assert theirs.status_code == 200
        assert REPLAYED not in theirs.headers
        assert mine.json()["query_id"] != theirs.json()["query_id"]
        different = ask(other, epsilon="0.5", headers={KEY: key[KEY] + "x"})
        assert different.status_code == 200


def test_a_free_answer_binds_its_key(house, key, question):
    repeatable(house.http, question, "0.01")
    free = repeatable(house.http, question, "0.01", headers=key)
    assert free.json()["charge"]["reused"]
    ask(house.http, question, "0.5")  # a better answer exists now
    again = repeatable(house.http, question, "0.01", headers=key)
    assert again.content == free.content
    assert again.headers[REPLAYED] == "true"
    other = repeatable(house.http, question, "0.02", headers=key)
    assert _code(other) == (422, "idempotency_mismatch")


def test_a_refusal_before_the_charge_binds_nothing(house, key):
    assert ask(house.http, "SELECT nothing", headers=key).status_code == 422
    assert ask(house.http, epsilon="9", headers=key).status_code == 422
    assert ask(house.http, dataset="elsewhere", headers=key).status_code == 404
    name = f"broke{next(_fresh)}"
    with house.analyst(name, name, allotment="0.5") as broke:
        assert ask(broke, epsilon="1", headers=key).status_code == 402
        assert ask(broke, epsilon="0.5", headers=key).status_code == 200
    assert ask(house.http, headers=key).status_code == 200


@pytest.mark.parametrize("value", ["a", "!", "~", "k" * 255, '"quoted"', "a,b", "%00"])
def test_visible_ascii_keys_are_taken(house, value):
    fresh = f"{next(_fresh)}{value}"[-255:]
    assert ask(house.http, headers={KEY: fresh}).status_code == 200


@pytest.mark.parametrize(
    "values",
    [[b""], [b"k" * 256], [b"a b"], [b"a\tb"], [b"\xc3\xa9"], [b"\x7f"], [b"a", b"a"]],
)
def test_keys_off_the_grammar_or_repeated_are_refused(house, values):
    before = house.dump()
    headers = [(KEY.encode(), value) for value in values]
    assert _code(ask(house.http, headers=headers)) == (422, "invalid_request")
    assert house.dump() == before


def test_the_key_is_ignored_where_nothing_is_asked(house, key):
    ask(house.http, epsilon="0.01", headers=key)
    body = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "1"}
    plan = house.http.post("/v1/datasets/clinic/plan", json=body, headers=key)
    assert plan.status_code == 200
    assert house.http.get("/v1/budget", headers={KEY: "a b"}).status_code == 200


def test_a_failure_after_the_charge_is_replayed_and_keeps_its_charge(tmp_path):
    made = make_installation(tmp_path, ["1,F,30,north,2024-01-01,n"])
    token = made.analyst()
    with ExitStack() as stack:
        url = stack.enter_context(serve_in_thread(made, FailingSampler))
        http = stack.enter_context(client(url, token))
        first = ask(http, headers={KEY: "k"})
        assert _code(first) == (504, "query_failed")
        assert _spent(http) == ["1"]
        again = ask(http, headers={KEY: "k"})
        assert (again.status_code, again.content) == (504, first.content)
        assert _spent(http) == ["1"]
        listed = http.get(f"/v1/queries/{first.json()['query_id']}").json()
        assert listed["state"] == "failed"
        assert "answer" not in listed


def test_a_key_outlives_its_server(tmp_path):
    made = make_installation(tmp_path, ["1,F,30,north,2024-01-01,n"])
    token = made.analyst()
    bodies = []
    for _ in range(2):
        with serve_in_thread(made) as url, client(url, token) as http:
            bodies.append(ask(http, headers={KEY: "k"}).content)
            assert _spent(http) == ["1"]
    assert bodies[0] == bodies[1]
