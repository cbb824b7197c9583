"""E4: a form is of the stored answer: the same noise, charged once, on its slot."""

import csv
import io
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count

import pyarrow as pa
import pytest

from server.api.forms.forms import Form, answer_in
from server.api.routing.backlog import Backlog
from tests.support.data.wards import publish
from tests.support.installations.arms import FailingSampler, make_installation
from tests.support.installations.harness import ask, client, serve_in_thread
from tests.support.noise.samplers import ZeroVectorSampler

_fresh = count()
KEY = "Idempotency-Key"
GROUPED = "SELECT ward, COUNT(*) AS n, AVG(age) AS mean FROM visits GROUP BY ward"
FORMS = ("text/csv", "application/vnd.apache.arrow.stream")


def wanting(form, key=None):
    return {"Accept": form} | ({KEY: key} if key else {})


def rows_of(reply):
    """Return what both forms hold, each value as a text."""
    if reply.headers["content-type"].startswith("text/csv"):
        return list(csv.reader(io.StringIO(reply.text, newline="")))
    table = pa.ipc.open_stream(reply.content).read_all()
    rows = [
        ["" if v is None else str(v) for v in r.values()] for r in table.to_pylist()
    ]
    return [table.column_names, *rows]


@pytest.fixture
def key():
    return f"form-{next(_fresh)}"


def spent(http):
    return [p["spent"] for p in http.get("/v1/budget").json()["projects"]]


@pytest.mark.parametrize("first", [*FORMS, "application/json"])
def test_one_key_brings_one_answer_in_each_form_for_one_charge(house, key, first):
    asked = ask(house.http, GROUPED, headers=wanting(first, key))
    before, kept = spent(house.http), house.dump()
    assert asked.status_code == 200
    assert asked.headers["content-type"].startswith(first)
    whole = ask(house.http, GROUPED, headers={KEY: key})
    assert whole.headers["idempotency-replayed"] == "true"
    for form in FORMS:
        again = ask(house.http, GROUPED, headers=wanting(form, key))
        assert again.headers["idempotency-replayed"] == "true"
        assert again.content == answer_in(Form(form), whole.content).body
        assert again.headers["curator-query-id"] == whole.json()["query_id"]
        if form == first:
            assert again.content == asked.content
    assert (spent(house.http), house.dump()) == (before, kept)


def test_an_answer_is_read_back_in_each_form(house):
    whole = ask(house.http, GROUPED)
    path = f"/v1/queries/{whole.json()['query_id']}"
    read = [house.http.get(path, headers={"Accept": form}) for form in FORMS]
    assert [reply.status_code for reply in read] == [200, 200]
    for form, reply in zip(FORMS, read, strict=True):
        assert reply.content == answer_in(Form(form), whole.content).body
    names = ["ward", "n", "n_low", "n_high", "mean", "mean_low", "mean_high"]
    assert [rows_of(reply)[0] for reply in read] == [names, names]
    assert rows_of(read[0]) == rows_of(read[1])
    assert house.http.get(path).headers["vary"] == "Accept"


def test_a_free_answer_and_one_of_a_release_have_forms_too(tmp_path):
    made = make_installation(tmp_path, ["1,F,30,north,2024-01-01,n"])
    token = made.analyst()
    release = publish(made, ZeroVectorSampler, readers="public")["release"]
    with ExitStack() as stack:
        url = stack.enter_context(serve_in_thread(made))
        http = stack.enter_context(client(url, token))
        ask(http, GROUPED)
        free = ask(http, GROUPED, options={}, headers=wanting("text/csv"))
        assert free.headers["curator-epsilon"] == "0"
        path = f"/v1/releases/{release}/queries"
        sql = {"sql": "SELECT ward, COUNT(*) AS n FROM wards GROUP BY ward"}
        whole = http.post(path, json=sql)
        assert whole.status_code == 200, whole.text
        for form in FORMS:
            reply = http.post(path, json=sql, headers=wanting(form))
            assert reply.content == answer_in(Form(form), whole.content).body
            assert reply.headers["curator-release"] == release


@pytest.mark.parametrize("accept", ["text/html", "text/csv;q=0", "image/png"])
def test_a_form_that_is_not_there_is_refused_before_anything_is_spent(
    house, key, accept
):
    before = house.dump()
    reply = ask(house.http, headers=wanting(accept, key))
    assert (reply.status_code, reply.json()["type"]) == (406, "not_acceptable")
    assert reply.headers["content-type"] == "application/problem+json"
    assert house.dump() == before
    assert ask(house.http, headers={KEY: key}).status_code == 200  # it bound nothing
    stored = house.http.get("/v1/queries?limit=1").json()["items"][0]["query_id"]
    read = house.http.get(f"/v1/queries/{stored}", headers={"Accept": accept})
    assert read.status_code == 406


@pytest.mark.parametrize("form", FORMS)
def test_refusals_stay_problems_whatever_is_accepted(house, form):
    for reply in (
        ask(house.http, "SELECT MAX(age) FROM visits", headers=wanting(form)),
        ask(house.http, epsilon="9999", headers=wanting(form)),
        house.http.get("/v1/queries/q_nobodys", headers={"Accept": form}),
    ):
        assert reply.headers["content-type"] == "application/problem+json"
        assert reply.json()["type"]


@pytest.mark.parametrize("form", FORMS)
def test_what_failed_or_is_in_flight_is_a_problem_in_every_form(tmp_path, form):
    made = make_installation(tmp_path, ["1,F,30,north,2024-01-01,n"])
    token = made.analyst()
    with ExitStack() as stack:
        url = stack.enter_context(serve_in_thread(made, FailingSampler))
        http = stack.enter_context(client(url, token))
        failed = ask(http, headers=wanting(form))
        assert (failed.status_code, failed.json()["type"]) == (504, "query_failed")
        path = f"/v1/queries/{failed.json()['query_id']}"
        read = http.get(path, headers={"Accept": form})
        assert (read.status_code, read.json()) == (504, failed.json())


def test_an_answer_in_flight_is_in_flight_in_every_form(house):
    with ThreadPoolExecutor(1) as pool, house.sampler.held():
        asking = pool.submit(ask, house.http, GROUPED)
        house.sampler.wait_for(1)
        listed = house.http.get("/v1/queries?limit=1").json()["items"][0]
        assert listed["state"] == "in_flight"
        path = f"/v1/queries/{listed['query_id']}"
        for form in FORMS:
            read = house.http.get(path, headers={"Accept": form})
            assert (read.status_code, read.json()["type"]) == (409, "in_progress")
        house.sampler.open()
    assert asking.result().status_code == 200


def test_a_form_is_counted_before_its_answer_is_known(house, monkeypatch):
    """The cost of a paid answer's form is told with its plan's, to all behind it."""
    costs = []
    decide = Backlog.decide

    def noted(backlog, ticket, cost):
        costs.append(getattr(cost, "storing", None))
        return decide(backlog, ticket, cost)

    monkeypatch.setattr(Backlog, "decide", noted)
    told = {}
    for form in (*FORMS, "application/json"):
        costs.clear()
        assert ask(house.http, GROUPED, headers=wanting(form)).status_code == 200
        told[form] = next(cost for cost in costs if cost is not None)
    assert told[FORMS[0]] == told[FORMS[1]] > told["application/json"]


def test_the_bytes_that_are_stored_are_json_whatever_was_accepted(house, key):
    sent = ask(house.http, GROUPED, headers=wanting(FORMS[1], key))
    path = f"/v1/queries/{sent.headers['curator-query-id']}"
    assert json.dumps(house.http.get(path).json()["answer"])
    assert sent.headers["link"].startswith(f"<{path}>")
