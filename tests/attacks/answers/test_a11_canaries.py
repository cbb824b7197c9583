"""A11: what patients, custodians and callers wrote never comes out elsewhere.

Fifty planted strings in a full run of the server and its commands. Those of the data
come out nowhere at all; a caller's own may come back to that caller alone, and to a
custodian in a report; none of them is in any log line or metric.
"""

import json
import subprocess
import sys

import httpx
import pytest

from server.use_cases.custody.people import PeopleService
from tests.support.installations.harness import (
    DEFAULT_ROWS,
    Installation,
    client,
    free_port,
    start_process,
    wait_until_ready,
)

pytestmark = pytest.mark.thorough

NOTES = [f"canarynote{n:02}q" for n in range(12)]
WARDS = [f"canaryward{n:02}q" for n in range(4)]
UNITS = [str(700_100_200 + n * 1_111) for n in range(6)]
DATA = [*NOTES, *WARDS, *UNITS]
CUSTODY = [
    "canarysource",
    "canaryfile",
    "canaryheader",
    "canaryreason",
    "canarypurpose",
]
CALLER = [
    "canaryliteral", "canaryalias", "canarycomment", "canarycolumn", "canarytable",
    "canaryfunction", "canarysyntax", "canarykey", "canaryagent", "canaryheadername",
    "canaryheadervalue", "canaryquery", "canarypath", "canarydataset", "canaryid",
    "canaryjson", "canarybad", "canaryproject", "canaryoption", "canaryepsilon",
    "canarytoken", "canarycookie", "canaryrequestid", "canaryforwarded", "canaryhost",
    "canarymethod", "canarytype", "canarycursor",
]  # fmt: skip
ENVIRONMENT = ["canaryvariable", "canaryapikey"]
COMMANDS = [
    ("ledger", "export"),
    ("ledger", "verify"),
    ("ledger", "report", "--population", "people"),
    ("ledger", "reconcile", "--reason", "canaryreason"),
    ("dataset", "snapshot", "list", "clinic"),
    ("doctor",),
]
EVERYTHING = [*DATA, *CUSTODY, *CALLER, *ENVIRONMENT]


class Run:
    """A server with planted strings, and all that it and its commands said."""

    def __init__(self, folder):
        self.installation = Installation(folder).create()
        self.replies = []  # (whose, text with headers)
        self.commands = []
        self.metrics = ""
        self.log = folder / "log"

    def load(self):
        rows = [
            f"{unit},F,40,{WARDS[i % 4]},2024-02-01,{NOTES[i]}"
            for i, unit in enumerate(UNITS)
        ]
        rows += [
            f"{unit},M,50,north,2024-03-01,{NOTES[6 + i]}"
            for i, unit in enumerate(UNITS)
        ]
        path = self.installation.write_manifest([*rows, *DEFAULT_ROWS])
        text = path.read_text().replace("test protocol", "canarysource")
        (table,) = self.installation.folder.glob("clinic-*.csv")
        other = table.with_name("canaryfile.csv")
        lines = table.read_text().splitlines()
        lines[0] += ",canaryheader"
        other.write_text("\n".join([lines[0], *(f"{x},z" for x in lines[1:])]) + "\n")
        path.write_text(text.replace(table.name, other.name))
        self.command("dataset", "load", path)

    def command(self, *arguments):
        done = self.installation.curator(*map(str, arguments))
        self.commands.append((arguments[0], done.stdout + done.stderr))
        return done

    def send(self, http, whose, method, path, **more):
        reply = http.request(method, path, **more)
        self.replies.append((whose, reply.text + json.dumps(dict(reply.headers))))
        return reply


def ask_everything(run, http):
    """Send each of the caller's strings by each way that a caller has."""
    queries = "/v1/datasets/clinic/queries"

    def body(sql, **more):
        return {"sql": sql, "epsilon": "0.01", **more}

    count = "SELECT COUNT(*) FROM visits"
    texts = [
        f"{count} WHERE note = 'canaryliteral'",
        "SELECT COUNT(*) AS canaryalias FROM visits -- canarycomment",
        "SELECT COUNT(canarycolumn) FROM visits",
        "SELECT COUNT(*) FROM canarytable",
        "SELECT canaryfunction(age), COUNT(*) FROM visits GROUP BY 1",
        "SELECT canarysyntax FROM FROM",
    ]
    statuses = set()
    for path in (queries, "/v1/datasets/clinic/plan"):
        for sql in texts:
            statuses.add(
                run.send(http, "ada", "POST", path, json=body(sql)).status_code
            )
    keyed = {
        "Idempotency-Key": "canarykey",
        "User-Agent": "canaryagent",
        "X-canaryheadername": "1",
        "X-Other": "canaryheadervalue",
        "Cookie": "a=canarycookie",
        "X-Request-Id": "canaryrequestid",
        "X-Forwarded-For": "canaryforwarded",
        "Host": "canaryhost",
        "Content-Type": "application/canarytype",
    }
    content = json.dumps(body(count))
    for content_of in (content, content, content.replace("0.01", "0.02")):
        reply = run.send(
            http, "ada", "POST", queries, content=content_of, headers=keyed
        )
        statuses.add(reply.status_code)
    wrong = [
        {"json": body(count, canaryjson=1)},
        {"json": body(count, project="canaryproject")},
        {"json": body(count, options={"canaryoption": 1})},
        {"json": {"sql": count, "epsilon": "canaryepsilon"}},
        {"content": b'{"canarybad": '},
        {"json": body(count), "params": {"a": "canaryquery"}},
        {"json": body(count), "headers": {"Authorization": "Bearer canarytoken"}},
        {"json": body(count), "headers": {"Content-Encoding": "canarytype"}},
    ]
    for more in wrong:
        statuses.add(run.send(http, "ada", "POST", queries, **more).status_code)
    for method, path in (
        ("GET", "/canarypath"),
        ("GET", "/v1/datasets/canarydataset"),
        ("GET", "/v1/queries/canaryid"),
        ("GET", "/v1/queries?cursor=canarycursor"),
        ("CANARYMETHOD", "/v1/budget"),
        ("GET", "/v1/datasets"),
        ("GET", "/v1/datasets/clinic"),
        ("GET", "/v1/queries"),
        ("GET", "/v1/budget"),
        ("GET", "/v1/admin/populations/people/statement"),
        ("GET", "/v1/admin/projects/study/report"),
        ("GET", "/v1/admin/datasets/clinic/snapshots"),
        ("DELETE", "/v1/admin/datasets/clinic/snapshots/canaryid"),
        ("GET", "/healthz"),
        ("GET", "/readyz"),
    ):
        statuses.add(run.send(http, "ada", method, path).status_code)
    assert statuses >= {200, 400, 401, 403, 404, 405, 415, 422}


def read_everything(run, http, whose):
    for path in ("/v1/datasets", "/v1/datasets/clinic", "/v1/queries", "/v1/budget"):
        run.send(http, whose, "GET", path)
    run.send(
        http,
        whose,
        "POST",
        "/v1/datasets/clinic/queries",
        json={"sql": "SELECT COUNT(*) AS canaryalias FROM visits", "epsilon": "0.01"},
    )


def read_statements(run, http):
    for path in ("populations/people/statement", "projects/study/report"):
        reply = run.send(http, "mary", "GET", f"/v1/admin/{path}")
        assert reply.status_code == 200


def auditor(installation):
    with installation.services() as services:
        service = PeopleService(services, "local:test")
        service.create_principal("mary", "auditor")
        return service.create_key("mary")["key"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    made = Run(tmp_path_factory.mktemp("canaries"))
    made.load()
    ada = made.installation.analyst()
    grace = made.installation.analyst("grace", "other")
    mary = auditor(made.installation)
    port, metrics = free_port(), free_port()
    environment = {
        "CURATOR_LOG_LEVEL": "info",
        "CURATOR_METRICS_PORT": str(metrics),
        "CURATOR_CANARY": "canaryvariable",
        "CURATOR_API_KEY": "canaryapikey",
    }
    with made.log.open("wb") as log:
        process = start_process(
            made.installation, port, environment=environment, stderr=log, stdout=log
        )
        try:
            wait_until_ready(port, process)
            url = f"http://127.0.0.1:{port}"
            with client(url, ada) as http:
                ask_everything(made, http)
            with client(url, grace) as http:
                read_everything(made, http, "grace")
            with client(url, mary) as http:
                read_statements(made, http)
            for command in COMMANDS:
                made.command(*command)
            made.metrics = httpx.get(f"http://127.0.0.1:{metrics}/metrics").text
        finally:
            process.terminate()
            process.wait(40)
    return made


def found(canaries, text):
    return [canary for canary in canaries if canary.lower() in text.lower()]


def test_there_are_enough_canaries():
    assert len(set(EVERYTHING)) >= 50


def test_no_canary_is_in_any_log_line(run):
    text = run.log.read_text(errors="replace")
    assert text.count('"event": "request"') >= 40
    # A variable's name is the operator's, and shown as unknown; its value never.
    assert found(EVERYTHING, text) == []


def test_no_canary_is_in_any_metric(run):
    assert "curator_requests_total" in run.metrics
    assert found(EVERYTHING, run.metrics) == []


def test_no_canary_of_the_data_comes_out_anywhere(run):
    said = [text for _, text in run.replies] + [text for _, text in run.commands]
    assert len(said) >= 50
    assert found(DATA, "\n".join(said)) == []


def test_what_custodians_wrote_reaches_no_analyst(run):
    said = "\n".join(text for whose, text in run.replies if whose != "mary")
    assert found([*CUSTODY, *ENVIRONMENT], said) == []


def test_what_a_caller_wrote_reaches_no_other_analyst(run):
    said = "\n".join(text for whose, text in run.replies if whose == "grace")
    assert "canaryalias" in said  # she chose the same word
    assert found(set(CALLER) - {"canaryalias"}, said) == []


def test_a_caller_never_gets_keys_headers_or_tokens_back(run):
    said = "\n".join(text for whose, text in run.replies if whose == "ada")
    hidden = [
        "canarykey", "canaryagent", "canaryheadername", "canaryheadervalue",
        "canarycookie", "canaryrequestid", "canaryforwarded", "canaryhost",
        "canarytoken", "canarybad", "canarypath", "canarydataset", "canaryid",
        "canarycursor", "canaryquery",
    ]  # fmt: skip
    assert found(hidden, said) == []


def test_a_statement_holds_what_was_asked_and_the_secrets_of_nobody(run):
    said = "\n".join(text for whose, text in run.replies if whose == "mary")
    assert "canaryliteral" in said  # who asked what: that is its purpose
    secret = (run.installation.data / "secret.key").read_text().strip()
    whole = said + run.metrics + run.log.read_text(errors="replace")
    assert secret not in whole + "".join(text for _, text in run.commands)
    assert found(["canarykey", "canarytoken", *ENVIRONMENT], whole) == []


def test_a_planted_leak_is_found(run, tmp_path):
    """The positive control: the same search sees a canary in a log that leaks."""
    program = "import logging; logging.basicConfig(); logging.error('%s', 'canarykey')"
    leak = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    text = run.log.read_text(errors="replace") + leak.stderr
    assert found(EVERYTHING, text) == ["canarykey"]
