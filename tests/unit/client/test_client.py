import json
import subprocess
import sys
from decimal import Decimal
from itertools import chain

import httpx
import pytest

import curator_client
import curator_client.connection.lines
from curator_client import (
    BudgetExceededError,
    Curator,
    CuratorRefusalError,
    CuratorUnreachableError,
    NotFoundError,
    QueryFailedError,
    SqlRefusedError,
    TooBusyError,
)
from tests.support.installations.clocks import set_clock

SQL = "SELECT COUNT(*) FROM visits"
ANSWER = {
    "query_id": "q_1",
    "snapshot": "s_1",
    "columns": [
        {"name": "count", "kind": "measure", "type": "integer", "unit": "rows"}
    ],
    "rows": [[12]],
    "noise": [{"column": "count", "half_width_95": "30"}],
    "charge": {"epsilon": "0.1", "delta": "0", "reused": False},
    "remaining": {"project": "0.9", "principal": None},
    "derivation": "one patient has at most 1 row",
    "warnings": [],
}


class Server:
    """Replies by a script, then for ever with its last reply; keeps the requests."""

    def __init__(self, *script, display=None):
        self.script = list(script)
        self.requests = []
        self.display = display

    def __call__(self, request):
        if request.url.path == "/v1/datasets/clinic":
            return httpx.Response(200, json={"name": "clinic", "display": self.display})
        self.requests.append(request)
        reply = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(reply, Exception):
            raise reply
        return reply

    def keys(self):
        return [request.headers.get("Idempotency-Key") for request in self.requests]

    def bodies(self):
        return [json.loads(request.content) for request in self.requests]


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    """Record pauses instead of sleeping."""
    seconds = []
    monkeypatch.setattr(curator_client.connection.lines.time, "sleep", seconds.append)
    return seconds


def connect(server, **more):
    return Curator(
        "http://curator.test",
        "cur_key",
        dataset="clinic",
        transport=httpx.MockTransport(server),
        **more,
    )


def ok(document=ANSWER):
    return httpx.Response(200, json=document)


def problem(status, code, **members):
    document = {"type": code, "title": "", "status": status, "detail": "no", **members}
    return httpx.Response(status, json=document)


def test_a_query_is_sent_in_the_shape_of_the_wire():
    server = Server(ok())
    with connect(server) as client:
        client.query(SQL, epsilon="0.1", project="study", options={"reuse": "never"})
    (request,) = server.requests
    assert request.method == "POST"
    assert request.url.path == "/v1/datasets/clinic/queries"
    assert request.headers["Authorization"] == "Bearer cur_key"
    assert server.bodies() == [
        {
            "sql": SQL,
            "epsilon": "0.1",
            "project": "study",
            "options": {"reuse": "never"},
        }
    ]


def test_what_is_not_asked_for_is_not_sent():
    server = Server(ok())
    connect(server).query(SQL, accuracy={"within": 20, "confidence": 0.95})
    assert server.bodies() == [
        {"sql": SQL, "accuracy": {"within": 20, "confidence": 0.95}}
    ]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("0.10", "0.10"),
        (0.1, "0.1"),
        (1e-3, "0.001"),
        (1e-7, "0.0000001"),
        (2, "2"),
        (Decimal("0.25"), "0.25"),
        ("nonsense", "nonsense"),  # the server says what is wrong with it
    ],
)
def test_a_loss_is_sent_as_plain_decimals(given, sent):
    server = Server(ok())
    connect(server).query(SQL, epsilon=given)
    assert server.bodies()[0]["epsilon"] == sent


def test_every_query_has_a_key_of_its_own():
    server = Server(ok())
    client = connect(server)
    client.query(SQL, epsilon="0.1")
    client.query(SQL, epsilon="0.1")
    first, second = server.keys()
    assert first
    assert second
    assert first != second


def test_retries_send_the_same_key_and_the_same_bytes(pauses):
    server = Server(
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        problem(409, "in_progress"),
        problem(503, "busy"),
        ok(),
    )
    answer = connect(server).query(SQL, epsilon="0.1")
    assert answer.rows == [[12]]
    assert len(server.requests) == 5
    assert len(set(server.keys())) == 1
    assert len({request.content for request in server.requests}) == 1
    assert pauses == sorted(pauses)


def test_the_server_says_how_long_to_wait(pauses):
    busy = problem(503, "busy")
    busy.headers["Retry-After"] = "2"
    connect(Server(busy, ok())).query(SQL, epsilon="0.1")
    assert pauses == [2.0]


def test_a_server_that_is_not_busy_says_what_is_wrong(pauses):
    said = []
    away = problem(503, "ledger_unavailable")
    away.headers["Retry-After"] = "1"
    connect(Server(away, ok()), say=said.append).query(SQL, epsilon="0.1")
    assert said[1:] == ["ledger_unavailable: no: trying again in 1 s"]


def test_what_waits_for_the_operator_is_not_asked_again(pauses):
    server = Server(problem(503, "anchor_mismatch"))
    with pytest.raises(CuratorRefusalError, match="anchor_mismatch: no"):
        connect(server).query(SQL, epsilon="0.1")
    assert (len(server.requests), pauses) == (1, [])


@pytest.mark.parametrize("asked", ["Wed, 21 Oct 2026 07:28:00 GMT", "²"])
def test_no_server_makes_the_client_wait_long(pauses, asked):
    busy = httpx.Response(
        503,
        json={"type": "busy"},
        headers=[(b"Retry-After", asked.encode("utf-8"))],
    )
    connect(Server(busy, ok())).query(SQL, epsilon="0.1")
    assert pauses[0] <= 5


def test_a_server_that_asks_for_an_hour_is_not_waited_for(pauses):
    busy = problem(429, "rate_limited")
    busy.headers["Retry-After"] = "3600"
    with pytest.raises(TooBusyError, match="try again in 3600 s") as refusal:
        connect(Server(busy, ok())).query(SQL, epsilon="0.1")
    assert refusal.value.retry_after_seconds == 3600
    assert pauses == []


def test_a_client_that_is_too_fast_waits_and_says_so(pauses):
    said = []
    fast = problem(429, "rate_limited")
    fast.headers["Retry-After"] = "30"
    server = Server(fast, fast, ok())
    assert connect(server, say=said.append).query(SQL, epsilon="0.1").rows == [[12]]
    assert pauses == [30.0, 30.0]
    assert said[1:] == ["too many requests: trying again in 30 s"]
    assert len(set(server.keys())) == 1


def test_a_wait_is_said_once_until_another_follows(pauses):
    said = []
    waits = {seconds: problem(429, "rate_limited") for seconds in (1, 40)}
    for seconds, reply in waits.items():
        reply.headers["Retry-After"] = str(seconds)
    script = [[waits[1], ok()] * 100, [waits[40], ok()], [waits[1], ok()]]
    client = connect(Server(*chain.from_iterable(script)), say=said.append)
    for _ in range(102):
        client.query(SQL, epsilon="0.1")
    told = [f"too many requests: trying again in {n} s" for n in (1, 40, 1)]
    assert said[1:] == told  # after the warning of plain http


def test_a_wait_is_said_again_after_a_minute_without_one(pauses, monkeypatch):
    now = [0.0]
    set_clock(monkeypatch, "monotonic", lambda: now[0])
    said = []
    fast = problem(429, "rate_limited")
    fast.headers["Retry-After"] = "1"
    client = connect(Server(*[fast, ok()] * 3), say=said.append)
    for at in (100.0, 130.0, 200.0):
        now[0] = at
        client.query(SQL, epsilon="0.1")
    assert len(said[1:]) == 2


def test_retries_end(pauses):
    server = Server(problem(503, "busy"))
    with pytest.raises(TooBusyError):
        connect(server).query(SQL, epsilon="0.1")
    assert len(server.requests) == 12
    assert len(pauses) == 11


def test_an_address_that_has_answered_is_tried_for_longer(pauses):
    away = [httpx.ConnectError("refused")] * 7
    stranger = Server(*away, ok())
    with pytest.raises(CuratorUnreachableError):
        connect(stranger).query(SQL, epsilon="0.1")
    assert len(stranger.requests) == 4

    restarting = Server(ok(), *away, ok())
    client = connect(restarting)
    client.query(SQL, epsilon="0.1")
    assert client.query(SQL, epsilon="0.1").rows == [[12]]
    assert len(set(restarting.keys())) == 2


def test_a_question_that_was_cut_off_can_be_asked_again_with_its_key():
    server = Server(*[httpx.ReadError("cut off")] * 12, ok())
    client = connect(server)
    with pytest.raises(CuratorUnreachableError) as cut_off:
        client.query(SQL, epsilon="0.1")
    client.query(SQL, epsilon="0.1", idempotency_key=cut_off.value.idempotency_key)
    assert len(set(server.keys())) == 1


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 422, 500, 504])
def test_what_a_retry_cannot_mend_is_not_retried(status):
    server = Server(problem(status, "whatever"))
    with pytest.raises(CuratorRefusalError) as refusal:
        connect(server).query(SQL, epsilon="0.1")
    assert refusal.value.status == status
    assert len(server.requests) == 1


def test_no_address_is_told_at_once():
    with pytest.raises(CuratorUnreachableError):
        Curator("curator.test", "k").budget()


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(200, text="<html>a proxy</html>"),
        httpx.Response(502, text="Bad Gateway"),
        httpx.Response(200, json=["a list"]),
    ],
)
def test_a_reply_that_no_curator_sends_is_named_as_such(reply):
    with pytest.raises(CuratorUnreachableError, match="no JSON"):
        connect(Server(reply)).query(SQL, epsilon="0.1")


def test_a_redirect_is_named_and_not_followed_with_the_key():
    moved = httpx.Response(301, headers={"Location": "https://new.test"})
    server = Server(moved)
    with pytest.raises(
        CuratorUnreachableError, match=r"redirects to https://new\.test"
    ):
        connect(server).budget()
    assert len(server.requests) == 1


def test_a_plan_has_no_key_and_is_read():
    document = {
        "epsilon": "0.1",
        "affordable": False,
        "remaining": {"project": "0.05", "principal": None},
        "noise": [{"column": "count", "half_width_95": "30"}],
        "derivation": "because",
        "free": [],
    }
    server = Server(ok(document))
    plan = connect(server).plan(SQL, epsilon="0.1")
    assert server.keys() == [None]
    assert server.requests[0].url.path == "/v1/datasets/clinic/plan"
    assert (plan.epsilon, plan.affordable, plan.derivation) == ("0.1", False, "because")
    assert "(over budget: project has 0.05 left)" in str(plan)
    assert "count: ± 30" in str(plan)


def test_a_plan_over_a_limit_that_is_not_shown_says_so():
    document = {
        "epsilon": "0.1",
        "affordable": False,
        "remaining": {"project": "3.5", "principal": "0.1"},
        "noise": [],
        "derivation": "because",
        "free": [],
    }
    plan = connect(Server(ok(document))).plan(SQL, epsilon="0.1")
    assert "over budget: a limit that is not shown to you has less left" in str(plan)


def test_a_plan_shows_that_an_answer_is_free():
    document = {
        "epsilon": "0.1",
        "affordable": True,
        "noise": [],
        "derivation": "<b>",
        "free": [{"kind": "answer", "id": "q_1", "epsilon": "0.1"}],
    }
    plan = connect(Server(ok(document))).plan(SQL, epsilon="0.1")
    assert "price: free" in str(plan)
    assert plan.free[0]["id"] == "q_1"
    assert "a fresh one" not in str(plan)
    assert "&lt;b&gt;" in plan._repr_html_()


def test_a_plan_says_whose_noise_it_shows_where_the_free_answer_has_another():
    document = {
        "epsilon": "0.1",
        "affordable": True,
        "noise": [{"column": "count", "half_width_95": "30"}],
        "derivation": "because",
        "free": [{"kind": "answer", "id": "q_1", "epsilon": "0.5"}],
    }
    plan = connect(Server(ok(document))).plan(SQL, epsilon="0.1")
    given = "the answer q_1 is given again, with the noise of epsilon 0.5"
    assert str(plan).splitlines()[:3] == [
        "price: free (affordable)",
        f"{given}; a fresh one, at epsilon 0.1, would have:",
        "  count: ± 30 (95 %)",
    ]


def test_the_only_dataset_need_not_be_named():
    def reply(request):
        if request.url.path == "/v1/datasets":
            return httpx.Response(200, json={"items": [{"name": "clinic"}]})
        assert "clinic" in request.url.path
        return ok()

    transport = httpx.MockTransport(reply)
    client = Curator("http://curator.test", "k", transport=transport)
    assert client.query(SQL, epsilon="0.1").query_id == "q_1"


def test_of_two_datasets_one_must_be_named():
    items = {"items": [{"name": "clinic"}, {"name": "ward"}], "next_cursor": None}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=items))
    client = Curator("http://curator.test", "k", transport=transport)
    with pytest.raises(ValueError, match="clinic, ward"):
        client.query(SQL, epsilon="0.1")


def test_reading_routes_are_read():
    listed = {"items": [{"name": "clinic"}], "projects": [], "next_cursor": None}
    server = Server(ok(listed))
    client = connect(server)
    assert [item["name"] for item in client.datasets()] == ["clinic"]
    assert len(list(client.history(limit=7))) == 1
    assert client.budget()["projects"] == []
    assert client.dataset("clinic")["name"] == "clinic"
    paths = [
        str(request.url).removeprefix("http://curator.test")
        for request in server.requests
    ]
    assert paths == ["/v1/datasets", "/v1/queries?limit=7", "/v1/budget"]


def test_a_past_answer_comes_back():
    stored = {"query_id": "q_1", "dataset": "clinic", "state": "answered"}
    client = connect(Server(ok({**stored, "answer": ANSWER})))
    assert client.answer("q_1").rows == [[12]]


def test_a_query_in_flight_has_no_answer_yet():
    client = connect(Server(ok({"query_id": "q_1", "state": "in_flight"})))
    with pytest.raises(LookupError, match="in_flight"):
        client.answer("q_1")


def test_an_odd_name_stays_inside_its_path():
    server = Server(problem(404, "not_found"))
    with pytest.raises(NotFoundError):
        connect(server).dataset("../budget")
    assert server.requests[0].url.raw_path == b"/v1/datasets/..%2Fbudget"


def test_url_and_key_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("CURATOR_URL", "http://elsewhere.test")
    monkeypatch.setenv("CURATOR_API_KEY", "cur_secret")
    server = Server(ok({"projects": []}))
    Curator(transport=httpx.MockTransport(server)).budget()
    assert server.requests[0].url.host == "elsewhere.test"
    assert server.requests[0].headers["Authorization"] == "Bearer cur_secret"


def test_without_url_or_key_there_is_no_client(monkeypatch):
    monkeypatch.delenv("CURATOR_URL", raising=False)
    monkeypatch.delenv("CURATOR_API_KEY", raising=False)
    with pytest.raises(ValueError, match="CURATOR_API_KEY"):
        Curator("http://curator.test")


def test_the_display_rule_is_asked_for_once_and_changes_no_row():
    server = Server(ok(), display={"hide_below": 100})
    client = connect(server)
    assert client.query(SQL, epsilon="0.1").rows == [[12]]
    assert client.query(SQL, epsilon="0.1").hide_below == 100


def test_an_answer_does_not_fail_for_want_of_a_display_rule():
    def reply(request):
        return ok() if request.method == "POST" else problem(404, "not_found")

    transport = httpx.MockTransport(reply)
    client = Curator("http://c.test", "k", dataset="clinic", transport=transport)
    assert client.query(SQL, epsilon="0.1").hide_below is None


def test_a_refusal_points_at_the_place():
    sql = "SELECT\n\tCOUNT(*),\tMIN(age)\r\nFROM visits"
    refused = problem(
        422, "sql_not_allowed", rule="min", line=2, column=12, hint="ask for a quantile"
    )
    with pytest.raises(SqlRefusedError) as refusal:
        connect(Server(refused)).query(sql, epsilon="0.1")
    assert str(refusal.value).split("\n") == [
        "sql_not_allowed: no",
        "  \tCOUNT(*),\tMIN(age)",
        "  \t         \t^",
        "hint: ask for a quantile",
    ]


@pytest.mark.parametrize(
    ("line", "column"), [(0, 1), (9, 1), (1, 0), ("1", 1), (None, None)]
)
def test_a_place_outside_the_text_points_nowhere(line, column):
    refused = problem(422, "sql_syntax", line=line, column=column)
    with pytest.raises(SqlRefusedError) as refusal:
        connect(Server(refused)).query(SQL, epsilon="0.1")
    assert "^" not in str(refusal.value)


def test_over_budget_says_what_is_left():
    refused = problem(
        402, "budget_exceeded", remaining={"project": "0.05", "principal": None}
    )
    with pytest.raises(BudgetExceededError, match=r"remaining: project 0\.05\n"):
        connect(Server(refused)).query(SQL, epsilon="0.1")


def test_a_failed_query_names_its_charge():
    with pytest.raises(QueryFailedError) as failure:
        connect(Server(problem(504, "query_failed", query_id="q_9"))).query(
            SQL, epsilon="1"
        )
    assert failure.value.query_id == "q_9"


def test_a_charge_whose_answer_is_late_can_be_asked_for_with_its_key():
    late = problem(503, "ledger_unavailable", query_id="q_9")
    late.headers["Retry-After"] = "1"
    server = Server(*[late] * 12, ok())
    client = connect(server)
    with pytest.raises(CuratorRefusalError) as refusal:
        client.query(SQL, epsilon="0.1")
    assert refusal.value.query_id == "q_9"
    client.query(SQL, epsilon="0.1", idempotency_key=refusal.value.idempotency_key)
    assert len(set(server.keys())) == 1


def test_an_unknown_code_is_a_plain_refusal():
    with pytest.raises(CuratorRefusalError) as refusal:
        connect(Server(problem(418, "teapot"))).budget()
    assert type(refusal.value) is CuratorRefusalError
    assert refusal.value.code == "teapot"
    assert refusal.value.query_id is None


def test_everything_public_is_listed():
    assert curator_client.__all__ == sorted(curator_client.__all__)


def test_the_fork_of_httpx_is_taken_where_only_that_is_installed():
    asking = (
        "import sys, httpx; sys.modules['httpx2'] = httpx; sys.modules['httpx'] = None;"
        "from curator_client import Curator;"
        "from curator_client.connection import lines;"
        "assert lines.httpx is sys.modules['httpx2'];"
        "print(Curator('http://127.0.0.1:1', 'k'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", asking], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "127.0.0.1" in done.stdout
