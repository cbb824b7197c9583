"""E12: no command and no child runs what lies in the working directory."""

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from engines.processes.child_processes import (
    bare_environment,
    child_command,
    child_environment,
)
from server.children.parser_process import ParserPool, ParserUnavailableError
from server.processes.job_worker import ChildWorker
from server.web import Server
from tests.attacks.strangers import StrangersFolder
from tests.effort import gate_first
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    free_port,
    wait_until_ready,
)

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[3]
PACKAGES = (
    "privacy", "query_lang", "mechanisms", "budget", "engines", "release", "upstream",
    "server",
)  # fmt: skip
CURATOR = Path(sys.executable).with_name("curator")
QUESTION = json.dumps(["SELECT COUNT(*) FROM t", False]) + "\n"


@pytest.fixture
def stranger(tmp_path):
    return StrangersFolder(tmp_path)


@pytest.fixture
def installation(tmp_path):
    return Installation(tmp_path).create()


def run(command, stranger, environment, text=""):
    return subprocess.run(
        command,
        cwd=stranger.path,
        env=environment,
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_folder_is_hostile_to_whoever_searches_it(stranger):
    for command in ("import json", "import server.children.parser_child"):
        run([sys.executable, "-c", command], stranger, os.environ)
    assert stranger.what_ran() == ["json", "server"]


@pytest.mark.parametrize("strip", [bare_environment, child_environment, dict])
def test_a_parsing_child_runs_our_code(stranger, strip):
    environment = strip(stranger.environment())
    done = run(
        child_command("server.children.parser_child"), stranger, environment, QUESTION
    )
    assert '"node": "CountRows"' in done.stdout, done.stderr
    assert stranger.what_ran() == []


def test_the_servers_parser_runs_our_code(stranger, monkeypatch):
    monkeypatch.chdir(stranger.path)
    for name, value in stranger.environment().items():
        monkeypatch.setenv(name, value)
    with contextlib.closing(ParserPool()) as pool:
        pool.check()
    assert stranger.what_ran() == []


def test_a_working_child_runs_our_code(stranger, installation):
    environment = {**stranger.environment(), **installation.environment}
    environment |= {"PYTHONPATH": str(stranger.path)}
    done = run(child_command("server.main", "worker", "--child"), stranger, environment)
    assert done.returncode == 0, done.stderr
    assert stranger.what_ran() == []


def test_the_servers_own_worker_is_such_a_child(stranger, installation, monkeypatch):
    monkeypatch.chdir(stranger.path)
    told = {**installation.environment, "PYTHONPATH": str(stranger.path)}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    with ChildWorker() as worker:
        while worker._process is None:
            time.sleep(0.01)
        process = Path(f"/proc/{worker._process.pid}")
        command = (process / "cmdline").read_text().split("\0")[:-1]
        environment = (process / "environ").read_text().split("\0")
    assert command == child_command("server.main", "worker", "--child")
    assert not [line for line in environment if line.startswith("PYTHON")]
    assert stranger.what_ran() == []


@pytest.mark.parametrize(
    "words",
    gate_first(1, [["--version"], ["openapi"], ["doctor"], ["query", "--help"]]),
)
def test_a_command_runs_our_code(stranger, installation, words):
    environment = installation.environment
    environment.pop("PYTHONPATH", None)
    done = run([CURATOR, *words], stranger, environment)
    assert done.returncode in {0, 1, 2}, done.stderr
    assert "Traceback" not in done.stderr
    assert stranger.what_ran() == []


@pytest.mark.slow
def test_a_server_with_its_worker_runs_our_code(stranger, installation):
    installation.load()
    key = installation.analyst()
    environment = installation.environment
    environment.pop("PYTHONPATH", None)
    port = free_port()
    with subprocess.Popen(
        [CURATOR, "serve", "--port", str(port)], cwd=stranger.path, env=environment
    ) as process:
        try:
            wait_until_ready(port, process)
            with client(f"http://127.0.0.1:{port}", key) as http:
                assert ask(http).status_code == 200
        finally:
            process.terminate()
    assert stranger.what_ran() == []


@pytest.mark.long
@pytest.mark.thorough
def test_the_demo_runs_our_code(stranger):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CURATOR_")}
    kept.pop("PYTHONPATH", None)
    done = run([CURATOR, "demo"], stranger, kept)
    assert done.returncode == 0, done.stderr
    assert stranger.what_ran() == []


def test_every_child_is_started_in_one_place():
    named = {
        str(path.relative_to(ROOT)): len(re.findall(r"sys\.executable", text))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if "sys.executable" in (text := path.read_text("utf-8"))
    }
    assert named == {
        "engines/processes/child_processes.py": 1,
        "server/cli/demos/hospital.py": 1,  # prints where the command lies
    }


def test_a_child_that_reads_strangers_texts_is_told_no_password():
    given = {"PGPASSWORD": "a", "CURATOR_DATABASE_URL": "b", "PATH": "c", "LANG": "d"}
    assert bare_environment(given) == {"PATH": "c", "LANG": "d"}


def test_readiness_tells_that_no_child_can_parse(installation, monkeypatch):
    monkeypatch.setattr(
        "engines.processes.json_children.child_command",
        lambda *_: [sys.executable, "-I", "-c", "raise SystemExit(1)"],
    )
    monkeypatch.setattr("server.web.ParserPool", ParserPool)  # none that is handed on
    server = Server(installation.settings)
    server.start()
    try:
        with pytest.raises(ParserUnavailableError):
            server.services.parser("SELECT COUNT(*) FROM visits")
        server.readiness.look()
        assert server.readiness.state() == "parser_unavailable"
        monkeypatch.undo()
        for _ in range(9):  # the spares of before are no better
            server.readiness.look()
        assert server.readiness.state() == "ok"
    finally:
        server.stop()
        server.services.databases.close()


@pytest.mark.slow
def test_a_server_whose_children_do_not_start_says_so_over_http(installation):
    installation.load()
    key = installation.analyst()
    port = free_port()
    words = ["serve", "--no-worker", "--port", str(port)]
    code = (
        "import engines.processes.json_children as p; "
        "p.child_command = lambda *_: ['/bin/false']; "
        "from server.main import main; main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, *words], env=installation.environment
    ) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            while process.poll() is None:
                with contextlib.suppress(httpx.TransportError):
                    ready = httpx.get(f"{url}/readyz", verify=False)  # noqa: S501 - plain
                    break
                time.sleep(0.05)
            with client(url, key) as http:
                reply = ask(http)
        finally:
            process.terminate()
    assert (ready.status_code, ready.json()["type"]) == (503, "parser_unavailable")
    assert (reply.status_code, reply.json()["type"]) == (503, "parser_unavailable")
