"""Row work has processors of its own: nothing else of a server runs there."""

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.slots import children
from server.use_cases.datasets.snapshots import SnapshotService
from server.use_cases.loading import activations
from server.use_cases.services.errors import CommandRefusedError
from tests.support.installations.harness import (
    DEFAULT_ROWS,
    Installation,
    ask,
    client,
    free_port,
    start_process,
    wait_until_ready,
)

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        len(os.sched_getaffinity(0)) < 2, reason="one processor cannot be divided"
    ),
]
OF_ROWS = ("engines.duckdb.executor_child", "server.main worker --child")


def family(pid):
    """Return a process and all that it started, with what each was started as."""
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    found = {pid: " ".join(word.decode(errors="replace") for word in words)}
    for child in children(pid):
        found |= family(child)
    return found


def kept_to(pids):
    """Return the processors that any thread of some processes may use."""
    return frozenset().union(
        *(
            os.sched_getaffinity(int(thread.name))
            for pid in pids
            for thread in Path(f"/proc/{pid}/task").iterdir()
        )
    )


def serve_and_look(installation):
    """Return the processors of a server's processes, those of row work, and both."""
    port = free_port()
    process = start_process(installation, port, worker=True)
    try:
        wait_until_ready(port, process)
        with client(f"http://127.0.0.1:{port}", installation.analyst()) as http:
            assert ask(http).status_code == 200
        deadline = time.monotonic() + 60
        expected = 1 + 2 * installation.workers  # one of jobs, two executors each
        while True:
            found = family(process.pid)
            rows = [p for p, told in found.items() if any(of in told for of in OF_ROWS)]
            if len(rows) == expected:
                break
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(0.5)  # threads of the last one start
        return kept_to(found.keys() - set(rows)), kept_to(rows), found
    finally:
        process.terminate()
        process.wait(60)


def assert_divided(servers, rows):
    usable = os.sched_getaffinity(0)
    assert servers.isdisjoint(rows)
    assert servers | rows == usable
    assert len(rows) == len(usable) // 2


def test_row_work_and_everything_else_share_no_processor(tmp_path):
    installation = Installation(tmp_path).create()
    installation.load()
    servers, rows, found = serve_and_look(installation)
    assert_divided(servers, rows)
    assert sum("server.children.parser_child" in told for told in found.values()) >= 1


@pytest.mark.long
def test_nor_do_they_where_several_processes_serve(tmp_path, cluster):
    installation = Installation(tmp_path, url=cluster.database(), workers=2).create()
    installation.load()
    servers, rows, found = serve_and_look(installation)
    assert_divided(servers, rows)
    assert sum("server.main serve" in told for told in found.values()) == 3


def test_an_activation_is_compared_on_the_processors_of_row_work(tmp_path, monkeypatch):
    seen = tmp_path / "seen"
    code = (
        "import os, pathlib, sys; kept = sorted(os.sched_getaffinity(0)); "
        f"pathlib.Path({str(seen)!r}).write_text(str(kept)); sys.exit(1)"
    )
    monkeypatch.setattr(
        activations, "child_command", lambda _: [sys.executable, "-I", "-c", code]
    )
    installation = Installation(tmp_path).create()
    older = installation.load()
    installation.load(DEFAULT_ROWS[:50])
    mine = os.sched_getaffinity(0)
    of_rows = frozenset({max(mine)})
    with installation.services() as services:
        kept = replace(services, row_processors=of_rows)
        service = SnapshotService(kept, "local:test")
        with pytest.raises(CommandRefusedError, match="could not be compared"):
            service.activate(older, reason="back")
    assert seen.read_text() == str(sorted(of_rows))
    assert os.sched_getaffinity(0) == mine
