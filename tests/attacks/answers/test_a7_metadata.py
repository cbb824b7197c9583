"""A7: headers, bodies, problems and logs tell no more than the answer itself.

The two arms are real server processes with their logs on, asked the same things in the
same order; a reply may differ in noise, random ids and times alone.
"""

import contextlib
import json
import logging
import re
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from server.api.app import openapi_document
from server.use_cases.custody.people import PeopleService
from server.use_cases.datasets.reading import AnalystReader
from tests.support.installations.arms import (
    CANARIES,
    ROWS,
    Arm,
    FailingSampler,
    make_installation,
    shape,
)
from tests.support.installations.harness import (
    ask,
    client,
    serve_in_process,
    serve_in_thread,
)

pytestmark = pytest.mark.thorough

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE")
ALLOWED_HEADERS = {
    "allow",
    "cache-control",
    "content-length",
    "content-security-policy",
    "content-type",
    "date",
    "idempotency-replayed",
    "referrer-policy",
    "retry-after",
    "vary",
    "www-authenticate",
    "x-content-type-options",
    "x-request-id",
}
ELSEWHERE = (
    "/", "/v1", "/v1/", "/v1/datasets/", "/v1/datasets/clinic/", "/docs", "/redoc",
    "/openapi.json", "/metrics", "/debug", "/v1/datasets/nowhere",
    "/v1/datasets/clinic/rows", "/v1/datasets/%00",
    "/v1/datasets/..%2fclinic", "/v1/queries/q_nothing", "/v1/queries/%27%20OR%201",
    "/v1/queries?limit=0", "/v1/queries?limit=x", "/v1/queries?cursor=nothing",
    "/v1/queries?cursor=" + "9" * 65, "/static/../secret.key", "//v1/budget",
)  # fmt: skip
MADE_OF_THE_SCHEMA = tuple(
    f"/v1/datasets/clinic/{name}"
    for name in (
        *("sample", "sample.csv", "metadata?format=csvw"),
        "metadata?format=croissant",
    )
)
NEVER = {"reuse": "never"}
QUESTIONS = (
    {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "1"},
    {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.5"},  # free
    {"sql": "SELECT sex, ward, COUNT(*) FROM visits GROUP BY 1, 2", "epsilon": "1"},
    {"sql": "SELECT COUNT(*) FROM visits WHERE age = 111", "epsilon": 0.25},
    {"sql": "SELECT COUNT(*) FROM visits WHERE ward = 'attic'", "epsilon": "1"},
    {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "5", "options": NEVER},
    {"sql": "SELECT CAST(note AS INTEGER) FROM visits", "epsilon": "1"},
    {"sql": "SELECT note, COUNT(*) FROM visits GROUP BY note", "epsilon": "1"},
    {"sql": "SELECT nothing, COUNT(*) FROM visits GROUP BY nothing", "epsilon": "1"},
    {"sql": "EXPLAIN ANALYZE SELECT * FROM visits", "epsilon": "1"},
    {"sql": "SUMMARIZE visits", "epsilon": "1"},
    {"sql": "SELECT COUNT(*) FROM duckdb_tables", "epsilon": "1"},
    {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "6"},
    {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "1", "explain": True},
    {"epsilon": "1"},
    [],
)  # fmt: skip


@dataclass
class LoggedArm(Arm):
    """An arm whose server writes its output and log to a file."""

    log: Path
    auditor: str

    def __post_init__(self):
        self.replies = []

    def send(self, method, path, **more):
        reply = self.http.request(method, path, **more)
        self.replies.append(reply)
        return reply


def _serve(stack, folder, rows):
    installation = make_installation(folder, rows)
    key = installation.analyst()
    with installation.services() as services:
        service = PeopleService(services, "local:test")
        service.create_principal("olga", "auditor")
        auditor = service.create_key("olga")["key"]
    log = folder / "server.log"
    url = stack.enter_context(
        serve_in_process(
            installation,
            environment={  # debug is for developers: refused otherwise
                "CURATOR_LOG_LEVEL": "debug",
                "CURATOR_INSECURE_DEMO": "true",
            },
        )
    )
    http = stack.enter_context(client(url, key))
    return LoggedArm(installation, url, http, log, auditor)


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """D and D', each served by a process of its own."""
    with contextlib.ExitStack() as stack:
        yield [
            _serve(stack, tmp_path_factory.mktemp(f"logged-{name}"), ROWS[name])
            for name in ("with", "without")
        ]


def _same(logged, method, path, **more):
    """Send to both arms; return the reply after comparing all that it shows."""
    replies = [arm.send(method, path, **more) for arm in logged]
    assert shape(replies[0]) == shape(replies[1]), (method, path, more)
    for reply in replies:
        assert set(reply.headers) <= ALLOWED_HEADERS
        assert reply.headers.get("vary", "Accept") == "Accept"
        assert len(reply.headers.get_list("server")) <= 1
    return replies[0]


def _routes():
    names = {
        "{dataset}": "clinic",
        "{query_id}": "q_" + "0" * 24,
        "{snapshot}": "s_" + "0" * 24,
        "{population}": "people",
        "{project}": "study",
    }
    for path in openapi_document()["paths"]:
        yield re.sub(r"{\w+}", lambda match: names.get(match[0], "nowhere"), path)


def test_every_route_answers_every_method_alike_on_both_arms(logged):
    seen = set()
    for path in (*_routes(), *ELSEWHERE):
        admin = path.startswith("/v1/admin/")  # test_e6_matrix.py walks them whole
        for method in ("GET", "POST") if admin else METHODS:
            reply = _same(logged, method, path)
            seen.add(reply.status_code)
            if reply.status_code >= 400 and method != "HEAD":
                assert reply.headers["content-type"] == "application/problem+json"
                assert set(reply.json()) >= {"type", "title", "status", "detail"}
    assert seen == {200, 400, 403, 404, 405, 422}


def test_a_method_that_a_route_has_not_is_405_in_the_one_shape(logged):
    asked = [
        (method, path)
        for method in ("PUT", "OPTIONS", "DELETE", "HEAD")
        for path in ("/v1/budget", "/v1/datasets/clinic/queries")
    ]
    asked.remove(("HEAD", "/v1/budget"))  # as GET
    for method, path in asked:
        reply = _same(logged, method, path)
        assert reply.status_code == 405
        assert reply.headers["allow"] in {"GET", "POST"}


def test_questions_are_answered_and_refused_alike_on_both_arms(logged):
    seen = set()
    for body in QUESTIONS:
        for path in ("plan", "queries"):
            url = f"/v1/datasets/clinic/{path}"
            seen.add(_same(logged, "POST", url, json=body).status_code)
    for content in (b"{", b"\xff", b" " * 20_000):
        for headers in ({}, {"Content-Encoding": "gzip"}, {"Authorization": "x"}):
            url = "/v1/datasets/clinic/queries"
            reply = _same(logged, "POST", url, content=content, headers=headers)
            seen.add(reply.status_code)
    key = {"Idempotency-Key": "metadata"}
    for body in (*QUESTIONS[2:4], QUESTIONS[2]):
        reply = _same(
            logged, "POST", "/v1/datasets/clinic/queries", json=body, headers=key
        )
        seen.add(reply.status_code)
    assert seen == {200, 400, 401, 413, 415, 422}


def test_another_role_is_refused_alike_on_both_arms(logged):
    for path in _routes():
        if path.startswith("/v1/admin/"):
            continue  # test_e6_matrix.py walks them
        studies = path.endswith(("/plans", "/studies"))
        asks = path.endswith(("/plan", "/queries")) and path != "/v1/queries"
        question = QUESTIONS[0] if "clinic" in path else {"sql": QUESTIONS[0]["sql"]}
        if studies:
            asks, question = True, {"questions": [question]}
        replies = [
            arm.send(
                "POST" if asks else "GET",
                path,
                headers={"Authorization": f"Bearer {arm.auditor}"},
                json=question if asks else None,
            )
            for arm in logged
        ]
        assert shape(replies[0]) == shape(replies[1]), path
        expected = 200 if path in {"/healthz", "/readyz"} else 403
        assert replies[0].status_code == expected


def test_pages_of_datasets_history_and_budget_are_alike_on_both_arms(logged):
    pages = ("/v1/datasets", "/v1/datasets/clinic", "/v1/queries", "/v1/budget")
    for path in (*pages, *MADE_OF_THE_SCHEMA):
        assert _same(logged, "GET", path).status_code == 200
    histories = [arm.send("GET", "/v1/queries").json()["items"] for arm in logged]
    assert len(histories[0]) >= 5
    for items in zip(*histories, strict=True):
        replies = [
            arm.send("GET", f"/v1/queries/{item['query_id']}")
            for arm, item in zip(logged, items, strict=True)
        ]
        assert shape(replies[0]) == shape(replies[1])


def test_no_reply_is_cached_or_answered_by_a_validator(logged):
    for path in ("/v1/datasets/clinic", "/v1/budget"):
        headers = {"If-None-Match": "*", "If-Modified-Since": "x", "Range": "bytes=0-1"}
        reply = _same(logged, "GET", path, headers=headers)
        assert reply.status_code == 200


def test_no_canary_is_ever_shown_or_logged(logged):
    """Nearly last of the module: reads all that was said in the others."""
    for arm in logged:
        whole = [arm.log.read_text(errors="replace")]
        for reply in arm.replies:
            whole += [reply.text, json.dumps(dict(reply.headers))]
        said = "\n".join(whole)
        assert [canary for canary in CANARIES if canary in said] == []
        assert arm.log.stat().st_size > 0
    assert len(logged[0].replies) > 200
    assert len(CANARIES) >= 50


def test_logs_of_the_two_runs_have_the_same_lines(logged):
    """Without times, ports and ids, one patient changes nothing in the log."""
    logs = [_without_varying(arm.log.read_text(errors="replace")) for arm in logged]
    assert logs[0] == logs[1]


def _without_varying(text):
    text = re.sub(r"127\.0\.0\.1:\d+", "ADDRESS", text)
    text = re.sub(r"\b[a-z]{1,2}_[0-9a-f]{24}\b", "ID", text)
    text = re.sub(r"\blogged-with(out)?\d+\b", "FOLDER", text)
    text = re.sub(r"PORT = \d+|\"port\": \d+", "PORT", text)
    text = re.sub(r"\[\d+\]", "[PROCESS]", text)
    return sorted(re.sub(r"[\d:T.+-]{8,}", "TIME", text).splitlines())


def _poison_snapshots(installation):
    """Make the engine raise with a value of the table in its message."""
    for path in (installation.data / "snapshots").iterdir():
        path.chmod(0o600)
        with duckdb.connect(path) as database:
            database.execute("ALTER TABLE visits RENAME TO raw")
            database.execute(
                "CREATE VIEW visits AS SELECT * REPLACE "
                "(CAST(error('canaryengine' || note) AS INTEGER) AS age) FROM raw"
            )
            with pytest.raises(duckdb.InvalidInputException, match="canaryengine"):
                database.execute("SELECT COUNT(*) FROM visits WHERE age > 5")


def test_failures_after_the_charge_look_alike_whatever_failed(tmp_path, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    replies = []
    for name in ("with", "without"):
        installation = make_installation(tmp_path / name, ROWS[name])
        key = installation.analyst()
        with (
            serve_in_thread(installation, FailingSampler) as url,
            client(url, key) as http,
        ):
            replies.append(ask(http, QUESTIONS[3]["sql"]))
        _poison_snapshots(installation)
        with serve_in_thread(installation) as url, client(url, key) as http:
            replies.append(ask(http, QUESTIONS[3]["sql"]))
            (query,) = http.get("/v1/queries?limit=1").json()["items"]
            assert query["state"] == "failed"
            assert query["charge"]["epsilon"] == "1"
    assert replies[0].status_code == 504
    assert len({str(shape(reply)) for reply in replies}) == 1
    written = "".join(capfd.readouterr()) + caplog.text
    said = written + "".join(reply.text for reply in replies)
    assert "canary" not in said
    assert not [canary for canary in CANARIES if canary in said]


def test_a_bug_before_the_charge_shows_nothing_of_what_it_met(
    tmp_path, caplog, capfd, monkeypatch
):
    installation = make_installation(tmp_path, ROWS["without"])
    key = installation.analyst()

    def fail(*_):
        message = f"canary {ROWS['without'][0]}"
        raise RuntimeError(message)

    monkeypatch.setattr("server.use_cases.questions.questions.compile_bound", fail)
    with serve_in_thread(installation) as url, client(url, key) as http:
        reply = ask(http)
        spent = http.get("/v1/budget").json()["projects"][0]["spent"]
        monkeypatch.setattr(AnalystReader, "budget", fail)
        page = http.get("/v1/budget")
    for failed in (reply, page):
        assert failed.status_code == 500
        assert failed.json()["type"] == "internal_error"
        assert set(failed.json()) == {"type", "title", "status", "detail"}
        assert set(failed.headers) <= ALLOWED_HEADERS
    assert spent == "0"
    written = "".join(capfd.readouterr()) + caplog.text
    assert "canary" not in written + reply.text + page.text
    learned = {getattr(line, "error", None) for line in caplog.records}
    assert "RuntimeError" in learned  # the operator knows that there was a bug
