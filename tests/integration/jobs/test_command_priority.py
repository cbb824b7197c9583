"""A load on the host leaves processors to a server, as a job does."""

import contextlib
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from budget.charging import server_processes
from budget.charging.server_processes import HostIdentity
from server.cli import wiring
from server.main import cli
from server.processes.command_priority import is_served
from tests.effort import gate_first
from tests.support.installations.harness import Installation

LOOKING = """\
import os, sys, threading, time
from pathlib import Path
import duckdb
from engines.processes.processors import Processors
from server.processes.command_priority import yielding_to_server

usable = frozenset(os.sched_getaffinity(0))
own = Processors.divided(usable).executors
answers = iter([answer == "yes" for answer in sys.argv[1:]])
started = threading.Thread(target=threading.Event().wait, daemon=True)
started.start()
before = os.getpriority(os.PRIO_PROCESS, 0)

def looked():
    connection = duckdb.connect(config={"threads": 2})
    connection.execute("SELECT sum(range) FROM range(1000000)").fetchall()
    threads = [int(one.name) for one in Path("/proc/self/task").iterdir()]
    places = {frozenset(os.sched_getaffinity(one)) for one in threads}
    levels = {os.getpriority(os.PRIO_PROCESS, one) for one in threads}
    return places, levels

with yielding_to_server(lambda: next(answers, False)):
    if len(sys.argv) > 2:
        deadline = time.monotonic() + 60
        while looked() != ({own}, {max(15, before)}):
            assert time.monotonic() < deadline
            time.sleep(0.1)
    places, levels = looked()
gives = places == {own} and levels == {max(15, before)}
keeps = places == {usable} and levels == {before}
print("gives way" if gives else "keeps" if keeps else f"{places} {levels}")
assert looked()[0] == {usable}
"""

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="one processor cannot be divided"
)


@pytest.mark.parametrize(
    ("answers", "does"),
    gate_first(
        1,
        [(["no", "yes"], "gives way"), (["yes"], "gives way"), (["no"], "keeps")],
    ),
)
def test_all_threads_of_a_load_give_way_from_when_a_server_is_up(answers, does):
    done = subprocess.run(
        [sys.executable, "-c", LOOKING, *answers],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == (does, "")


@pytest.fixture(params=["sqlite", "postgresql"])
def installation(request, tmp_path):
    shared = request.param == "postgresql"
    url = request.getfixturevalue("empty_database") if shared else ""
    return Installation(tmp_path, url=url).create()


def test_whether_a_server_is_up_is_read_off_the_ledger(installation):
    with installation.services() as services:
        databases = services.databases
        assert not is_served(databases)
        with databases.work.begin() as connection:
            server_processes.register(
                connection, "one", HostIdentity.of(installation.anchor)
            )
        assert is_served(databases)
        with databases.work.begin() as connection:
            server_processes.end(connection, "one")
        assert not is_served(databases)


def test_the_command_loads_while_it_gives_way(tmp_path, monkeypatch):
    installation = Installation(tmp_path).create()
    manifest, told = installation.write_manifest(), []

    @contextlib.contextmanager
    def yielding_to_server(served):
        told.append(served())
        yield
        told.append(len(list((installation.data / "snapshots").iterdir())))

    monkeypatch.setattr(wiring, "yielding_to_server", yielding_to_server)
    for how in ([], ["--json"]):
        done = CliRunner().invoke(
            cli, ["dataset", "load", str(manifest), *how], env=installation.environment
        )
        assert done.exit_code == 0, done.output
    assert told == [False, 1, False, 2]
