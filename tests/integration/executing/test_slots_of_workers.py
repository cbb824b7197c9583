"""Two processes on PostgreSQL: each keeps its own order, and late replies count."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from benchmarks.slots import late_replies
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    free_port,
    serve_in_process,
)

pytestmark = pytest.mark.long

CLIENTS, ROUNDS, WORKERS = 8, 3, 2
SLOT_SECONDS = 0.5
MOST_SLOTS = 4
"""Of eight small questions at once, all of them at one process; for this test's sizes
the clock says 2."""
SLACK_SECONDS = 5.0  # a client of this busy process may be slow to see its reply


def test_clients_of_two_processes_wait_no_longer_than_is_counted(tmp_path, cluster):
    installation = Installation(
        tmp_path,
        url=cluster.database(),
        workers=WORKERS,
        slot_ms=int(SLOT_SECONDS * 1000),
    ).create()
    installation.load()
    key, metrics = installation.analyst(), free_port()
    told = {"CURATOR_METRICS_PORT": str(metrics)}
    with serve_in_process(installation, environment=told) as url:
        with ExitStack() as stack:
            https = [stack.enter_context(client(url, key)) for _ in range(CLIENTS)]
            pool = stack.enter_context(ThreadPoolExecutor(CLIENTS))
            together = threading.Barrier(CLIENTS)

            def asked(http):
                together.wait(60)
                started = time.monotonic()
                reply = ask(http)
                return reply, time.monotonic() - started

            replies = [one for _ in range(ROUNDS) for one in pool.map(asked, https)]
        time.sleep(11)  # metrics are read every 10 s
        counted = sum(late_replies(metrics + place) for place in range(WORKERS))
    assert [reply.status_code for reply, _ in replies] == [200] * len(replies)
    assert len({reply.json()["query_id"] for reply, _ in replies}) == len(replies)
    seconds = [taken for _, taken in replies]
    assert min(seconds) >= SLOT_SECONDS  # the clock began before the arrival
    longest = MOST_SLOTS * SLOT_SECONDS + SLACK_SECONDS
    assert sum(taken > longest for taken in seconds) <= counted
