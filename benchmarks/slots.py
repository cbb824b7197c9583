"""When replies leave with default settings, and what a question costs the processors.

Run: ``python -m benchmarks.slots [--slot-ms 100] [--at-once 1 8 24 64] [--workers 1]``.
A server in processes of its own, on a fresh ledger (several workers: in a PostgreSQL of
the benchmark's own); clients that send at once, each the next
question when all have their answers. Prints the median and the ninetieth percentile of
the time to a reply, how many replies were late, and processor milliseconds a question
of the server and of its executors: what the constants of ``server.api.routing.backlog``
rest on, since they hardly depend on what else the machine does.
"""

import argparse
import contextlib
import re
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.installations.clusters import Cluster
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    free_port,
    start_process,
    wait_until_ready,
)

QUESTIONS = 192
SQL = (
    "SELECT sex, ward, COUNT(DISTINCT patient_id), COUNT(*) AS visits"
    " FROM visits GROUP BY sex, ward"
)
_TICK_MS = 10.0


@dataclass
class MeasuredServer:
    """A server that is being measured."""

    url: str
    key: str
    metrics: int  # the first worker's port
    workers: int
    pid: int

    def late(self) -> int:
        """Return how many replies missed their slot so far."""
        return sum(late_replies(self.metrics + place) for place in range(self.workers))

    def busy_ms(self) -> tuple[float, float]:
        """Return processor milliseconds of the servers, and of their executors."""
        servers = [self.pid, *(children(self.pid) if self.workers > 1 else ())]
        executors = sum(
            _busy_ms(pid)
            for server in servers
            for pid in children(server)
            if b"executor_child" in Path(f"/proc/{pid}/cmdline").read_bytes()
        )
        return sum(map(_busy_ms, servers)), executors


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slot-ms", type=int, default=100)
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 8, 24, 64])
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        url = ""
        if options.workers > 1:
            cluster = Cluster().create()
            stack.callback(cluster.close)
            url = cluster.database()
        installation = Installation(
            Path(stack.enter_context(tempfile.TemporaryDirectory())),
            slot_ms=options.slot_ms,
            url=url,
            workers=options.workers,
        ).create()
        report(stack.enter_context(served(installation)), options.at_once)


@contextlib.contextmanager
def served(installation: Installation) -> Iterator[MeasuredServer]:
    """Load a hundred patients, and serve."""
    manifest = installation.write_manifest()
    text = manifest.read_text().replace("max_units: 50000", "max_units: 2000")
    manifest.write_text(text)
    installation.load_manifest(manifest)
    key = installation.analyst()
    port, metrics = free_port(), free_port()
    process = start_process(
        installation, port, environment={"CURATOR_METRICS_PORT": str(metrics)}
    )
    try:
        wait_until_ready(port, process)
        url = f"http://127.0.0.1:{port}"
        yield MeasuredServer(url, key, metrics, installation.workers, process.pid)
    finally:
        process.terminate()
        process.wait(40)


def report(server: MeasuredServer, widths: Sequence[int]) -> None:
    """Print a row for each number of clients."""
    ask_many(server, 8, 24)  # caches fill
    print("| at once | p50, s | p90, s | late | server, ms | executors, ms |")
    print("|---:|---:|---:|---:|---:|---:|")
    for at_once in widths:
        time.sleep(11)  # the counters are read every 10 s
        late, before = server.late(), server.busy_ms()
        seconds = ask_many(server, at_once, QUESTIONS)
        after = server.busy_ms()
        time.sleep(11)
        used = [(b - a) / len(seconds) for a, b in zip(before, after, strict=True)]
        print(
            f"| {at_once} | {statistics.median(seconds):.2f} "
            f"| {statistics.quantiles(seconds, n=10)[8]:.2f} "
            f"| {server.late() - late} of {len(seconds)} "
            f"| {used[0]:.1f} | {used[1]:.1f} |",
            flush=True,
        )


def ask_many(server: MeasuredServer, at_once: int, questions: int) -> list[float]:
    """Return the seconds that each question took."""
    seconds: list[float] = []
    barrier = threading.Barrier(at_once)

    def work() -> None:
        with client(server.url, server.key) as http:
            http.get("/healthz")
            for _ in range(max(1, questions // at_once)):
                barrier.wait()
                started = time.monotonic()
                ask(http, SQL).raise_for_status()
                seconds.append(time.monotonic() - started)

    threads = [threading.Thread(target=work) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seconds


def late_replies(port: int) -> int:
    """Return how many replies were late, as a metrics listener says."""
    text = httpx.get(f"http://127.0.0.1:{port}/metrics").text
    found = re.search(r"^curator_late_replies ([\d.]+)", text, re.MULTILINE)
    return int(float(found[1])) if found else 0


def children(pid: int) -> list[int]:
    """Return the processes that a process started."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int(_fields(int(path.name))[1])
        except OSError:
            continue
        if parent == pid:
            found.append(int(path.name))
    return found


def _busy_ms(pid: int) -> float:
    fields = _fields(pid)
    return (int(fields[11]) + int(fields[12])) * _TICK_MS


def _fields(pid: int) -> list[str]:
    """Return what stands after the name in proc(5)'s stat."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


if __name__ == "__main__":
    main()
