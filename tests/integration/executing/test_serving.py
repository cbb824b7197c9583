"""``curator serve`` as a process: TLS by files, draining, metrics, its log."""

import json
import re
import signal
import socket
import ssl
import threading
import time

import httpx
import pytest

from tests.support.certificates import certificate
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    free_port,
    start_process,
    wait_until_ready,
)

pytestmark = pytest.mark.long

SLOW_MS = 5000  # nothing leaves earlier, however slow the machine
LINE_KEYS = {
    "time", "level", "event", "place", "request_id", "method", "route", "status",
    "principal", "code", "outcome", "query_id", "error", "port",
}  # fmt: skip


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    made = Installation(tmp_path_factory.mktemp("served"), slot_ms=0).create()
    made.load()
    return made


@pytest.fixture(scope="module")
def key(installation):
    return installation.analyst()


def wait_for_port(process, url, verify):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        assert process.poll() is None
        try:
            assert httpx.get(f"{url}/readyz", verify=verify).status_code == 200
        except httpx.ConnectError:
            time.sleep(0.05)
        else:
            return
    pytest.fail("the server did not become ready")


def test_tls_files_serve_https_and_nothing_older_than_1_2(installation, key, tmp_path):
    cert, private = certificate(tmp_path)
    port = free_port()
    process = start_process(
        installation,
        port,
        environment={"CURATOR_TLS_CERT": str(cert), "CURATOR_TLS_KEY": str(private)},
    )
    trusted = ssl.create_default_context(cafile=cert)
    url = f"https://127.0.0.1:{port}"
    try:
        wait_for_port(process, url, trusted)
        with client(url, key, verify=trusted) as http:
            assert ask(http).status_code == 200
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/healthz")  # nobody vouches for it
        with pytest.raises(httpx.TransportError):
            httpx.get(f"http://127.0.0.1:{port}/healthz")
    finally:
        process.terminate()
        assert process.wait(40) == 0


def wait_for_in_flight(metrics, count):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        text = httpx.get(f"http://127.0.0.1:{metrics}/metrics").text
        if f"curator_in_flight {count}.0" in text:
            return
        time.sleep(0.02)
    pytest.fail("the questions never were in flight together")


def wait_until_closed(port):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return
        time.sleep(0.02)
    pytest.fail("it still takes connections")


def test_sigterm_answers_what_is_in_flight_and_ends_with_0(installation, key, tmp_path):
    slow = Installation(installation.folder, slot_ms=SLOW_MS)
    port, metrics = free_port(), free_port()
    process = start_process(
        slow,
        port,
        environment={"CURATOR_PERMITS": "8", "CURATOR_METRICS_PORT": str(metrics)},
    )
    replies = []
    try:
        wait_until_ready(port, process)
        url = f"http://127.0.0.1:{port}"

        def go():
            with client(url, key) as http:
                replies.append(ask(http, epsilon="0.01"))

        threads = [threading.Thread(target=go) for _ in range(3)]
        for thread in threads:
            thread.start()
        wait_for_in_flight(metrics, 3)
        assert replies == []
        process.send_signal(signal.SIGTERM)
        wait_until_closed(port)
        for thread in threads:
            thread.join(30)
    finally:
        process.terminate()
        code = process.wait(40)
    assert [reply.status_code for reply in replies] == [200] * 3
    assert code == 0


def test_metrics_count_what_left_and_tell_nothing_of_the_process(installation, key):
    port, metrics = free_port(), free_port()
    process = start_process(
        installation, port, environment={"CURATOR_METRICS_PORT": str(metrics)}
    )
    try:
        wait_until_ready(port, process)
        with client(f"http://127.0.0.1:{port}", key) as http:
            older = "SELECT COUNT(*) FROM visits WHERE age > 77"
            assert ask(http, older, options={}).status_code == 200
            assert ask(http, older, options={}).json()["charge"]["reused"]
            assert http.get("/v1/datasets/secret_name").status_code == 404
            assert http.get("/nowhere/secret_name").status_code == 404
        text = httpx.get(f"http://127.0.0.1:{metrics}/metrics").text
        assert httpx.get(f"http://127.0.0.1:{port}/metrics").status_code == 404
    finally:
        process.terminate()
        process.wait(40)
    series = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    assert series['curator_questions_total{outcome="answered"}'] == "1.0"
    assert series['curator_questions_total{outcome="free"}'] == "1.0"
    assert series['curator_questions_total{outcome="failed"}'] == "0.0"
    assert series['curator_refusals_total{code="not_found"}'] == "2.0"
    assert (
        series[
            'curator_requests_total{method="GET",route="/v1/datasets/{dataset}",'
            'status="404"}'
        ]
        == "1.0"
    )
    assert series["curator_ledger_readable"] == "1.0"
    assert {
        series["curator_anchor_lag"],
        series["curator_in_flight"],
        series['curator_unready{code="ledger_unavailable"}'],
        series['curator_jobs{state="failed"}'],
    } == {"0.0"}
    assert float(series["curator_ledger_entries"]) > 5
    assert series['curator_population_cap_epsilon{population="people"}'] == "100000.0"
    assert float(series['curator_population_spent_epsilon{population="people"}']) > 0
    assert "secret_name" not in text
    assert re.findall(r"process_|python_|seconds|_created|bytes", text) == []


def test_a_metrics_port_that_is_taken_is_refused_in_a_sentence(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as busy:
        taken = str(busy.getsockname()[1])
        done = (
            Installation(tmp_path)
            .create()
            .curator(
                "serve",
                "--port",
                str(free_port()),
                environment={"CURATOR_METRICS_PORT": taken},
            )
        )
    assert done.returncode == 1
    assert "set another CURATOR_METRICS_PORT" in done.stderr


def test_the_log_is_json_lines_of_known_keys_one_a_request(installation, key, tmp_path):
    port = free_port()
    log = tmp_path / "log"
    with log.open("wb") as file:
        process = start_process(
            installation,
            port,
            environment={"CURATOR_LOG_LEVEL": "info"},
            stderr=file,
        )
        try:
            wait_until_ready(port, process)
            with client(f"http://127.0.0.1:{port}", key) as http:
                answered = ask(http, headers={"X-Request-Id": "theirs"})
                http.get("/v1/queries/q_someone")
                http.request("BREW", "/v1/budget")
        finally:
            process.terminate()
            assert process.wait(40) == 0
    text = log.read_text()
    assert "theirs" not in text + str(answered.headers)
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert {key for line in lines for key in line} <= LINE_KEYS
    requests = [one for one in lines if one["event"] == "request"]
    (asked,) = [one for one in requests if one.get("outcome") == "answered"]
    assert asked["route"] == "/v1/datasets/{dataset}/queries"
    assert asked["request_id"] == answered.headers["x-request-id"]
    assert asked["query_id"] == answered.json()["query_id"]
    assert (asked["principal"], asked["status"]) == ("ada", 200)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", asked["time"])
    assert [one["method"] for one in requests][-1] == "OTHER"
    assert requests[-2]["route"] == "/v1/queries/{query_id}"
    assert requests[-2]["code"] == "not_found"
    assert {"serving", "stopped"} <= {one["event"] for one in lines}
    assert "CURATOR_SLOT_MS = 0 (environment)" in text
