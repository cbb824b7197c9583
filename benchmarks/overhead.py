"""What a question costs beside its engine time, and how many fit in a second.

Run: ``python -m benchmarks.overhead [--rows 100000] [--seconds 8] [--postgres]``.
Real installations, served over loopback by a process of their own; every answer is
charged, durable and anchored; slots, limits and reuse are off. Prints

- for one client, medians of: the server's time from request to last byte, engine time,
  time in commits and anchor syncs, and the overhead, which is the rest; with a
  remembered plan and with a new text each time; and the commits and syncs an answer;
- for 1, 8 and 64 clients: answers a second, median and 99th percentile.
"""

import argparse
import http.client
import itertools
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from benchmarks.peers.postgres import throwaway
from benchmarks.peers.serving import Installation
from benchmarks.peers.tables import write_tables

_REMEMBERED = "SELECT COUNT(*) FROM patients WHERE age >= 50 AND sex = 'F'"
_NEW = _REMEMBERED + " AND cost > -{n}"
_NUMBERS = itertools.count(1)
CLIENTS = (1, 8, 64)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--postgres", action="store_true", help="the ledger there")
    parser.add_argument("--workers", type=int, default=1)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="curator-overhead-") as place:
        tables = Path(place) / "tables"
        write_tables(tables, told.rows)
        folder = Path(place) / "postgres"
        with throwaway(folder) if told.postgres else nullcontext("") as server:
            installation = Installation(Path(place), tables, _url(server))
            installation.make()
            with probed(installation, Path(place) / "probe") as (port, probe):
                show_overhead(installation.key, port, probe, told.seconds)
            more = ("--workers", str(told.workers)) if told.workers > 1 else ()
            with installation.served(*more) as client:
                port = client.base_url.port or 0
                show_throughput(installation.key, port, told.seconds)


def _url(server: str) -> str:
    if not server:
        return ""
    port = server.split("port=")[1].split(maxsplit=1)[0]
    return f"postgresql+psycopg://bench@127.0.0.1:{port}/curator"


@contextmanager
def probed(installation: Installation, probe: Path) -> Iterator[tuple[int, Path]]:
    """Serve with the probe that writes a line for each answer."""
    installation.environment["CURATOR_BENCH_PROBE"] = str(probe)
    command = [sys.executable, "-m", "benchmarks.probe"]
    with installation.served(command=command) as client:
        yield client.base_url.port or 0, probe


def show_overhead(key: str, port: int, probe: Path, seconds: float) -> None:
    """Print the medians of one client at a time."""
    print("| text | server, ms | engine | commits and syncs | overhead | an answer |")
    print("|---|---:|---:|---:|---:|---|", flush=True)
    for name, sql in (("remembered plan", _REMEMBERED), ("new text", _NEW)):
        line = Line(port, key)
        for _ in range(20):
            line.ask(sql)
        probe.write_text("")
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            line.ask(sql)
        time.sleep(0.2)
        rows = [json.loads(row) for row in probe.read_text().splitlines()]
        print(_overhead(name, rows), flush=True)


def _overhead(name: str, rows: list[dict[str, float]]) -> str:
    median = {
        part: statistics.median(row[part] for row in rows)
        for part in ("server", "engine", "sync", "commits", "syncs")
    }
    rest = statistics.median(
        row["server"] - row["engine"] - row["sync"] for row in rows
    )
    cells = [f"{median[part] * 1e3:.2f}" for part in ("server", "engine", "sync")]
    each = f"{median['commits']:.0f} commits, {median['syncs']:.0f} anchor syncs"
    return f"| {name} | {' | '.join(cells)} | **{rest * 1e3:.2f}** | {each} |"


def show_throughput(key: str, port: int, seconds: float) -> None:
    """Print answers a second and their times for growing numbers of clients."""
    print("\n| clients | answers a second | p50, ms | p99, ms |")
    print("|---:|---:|---:|---:|", flush=True)
    for clients in CLIENTS:
        taken: list[float] = []
        end = time.perf_counter() + seconds
        threads = [
            threading.Thread(target=_hammer, args=(Line(port, key), taken, end))
            for _ in range(clients)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        marks = statistics.quantiles(taken, n=100)
        print(
            f"| {clients} | {len(taken) / seconds:.0f} | {marks[49] * 1e3:.1f} |"
            f" {marks[98] * 1e3:.1f} |",
            flush=True,
        )


def _hammer(line: "Line", taken: list[float], end: float) -> None:
    while (start := time.perf_counter()) < end:
        line.ask(_REMEMBERED)
        taken.append(time.perf_counter() - start)


class Line:
    """One connection of one client, as light as can be."""

    def __init__(self, port: int, key: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
        }

    def ask(self, sql: str) -> None:
        """Ask, fresh and charged; wait for the whole answer."""
        body = {
            "sql": sql.format(n=next(_NUMBERS)),
            "epsilon": "0.01",
            "options": {"reuse": "never"},
        }
        self._connection.request(
            "POST", "/v1/datasets/clinic/queries", json.dumps(body), self._headers
        )
        reply = self._connection.getresponse()
        content = reply.read()
        if reply.status != http.client.OK:
            raise RuntimeError(content)


if __name__ == "__main__":
    main()
    os._exit(0)
