"""How long a question to a published cube of a million cells takes.

Run: ``python -m benchmarks.releases.asking [--questions 300]``.
A real installation publishes a cube of 2 x 121 x 36 x 120 cells and serves it over
loopback from a process of its own; one client asks. Prints median and 95th percentile
in milliseconds of: the smallest request that the server answers at all (/healthz), a
question that is repeated, and five kinds of questions that are new each time; and the
processor time of server and parser, which another load of the machine changes less.
"""

import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import httpx

from benchmarks.peers.serving import SERVE

_MANIFEST: Final = """\
version: 1
population: {id: people, unit: patient, unit_type: integer, epsilon_cap: "100",
  source: benchmark}
dataset: clinic
snapshot_date: 2024-12-31
tables:
- name: visits
  files: [visits.csv]
  unit_column: patient_id
  max_rows_per_unit: 4
  source: benchmark
  columns:
  - {name: patient_id, type: integer, nullable: false}
  - {name: sex, type: text, nullable: false, domain: {values: [F, M]}, source: form}
  - {name: age, type: integer, nullable: false, domain: {min: 0, max: 120},
     source: form}
  - {name: day, type: date, nullable: false,
     domain: {min: 2021-01-01, max: 2023-12-31}, source: period}
  - {name: hospital, type: integer, nullable: false, domain: {min: 1, max: 120},
     source: list}
"""
_SPEC: Final = {
    "release": {
        "name": "cube",
        "dataset": "clinic",
        "kind": "cube",
        "strategy": "cells",
        "dimensions": [
            {"column": "sex"},
            {"column": "age"},
            {"column": "day", "name": "month", "level": "month"},
            {"column": "hospital"},
        ],
        "from": "visits",
        "count": "rows",
        "epsilon": "1",
        "readers": [{"principal": "ada"}],
    }
}
_ROWS: Final = 50_000


def _age(dice: random.Random) -> str:
    low = dice.randrange(100)
    return f"age BETWEEN {low} AND {low + dice.randrange(1, 20)}"


KINDS: Final[dict[str, Callable[[random.Random], str]]] = {
    "range and set, one key": lambda dice: (
        f"SELECT sex, COUNT(*) AS n FROM cube WHERE {_age(dice)} "
        f"AND hospital IN ({dice.randrange(1, 60)}, {dice.randrange(60, 121)}) "
        "GROUP BY sex"
    ),
    "all cells, two keys": lambda dice: (
        f"SELECT sex, month, COUNT(*) AS n{dice.randrange(10**6)} FROM cube "
        "GROUP BY sex, month"
    ),
    "bands and years": lambda dice: (
        f"SELECT age_band(age, {dice.randrange(2, 40)}) AS b, EXTRACT(YEAR FROM month) "
        f"AS y, COUNT(*) AS n{dice.randrange(10**6)} FROM cube GROUP BY b, y"
    ),
    "OR over two dimensions": lambda dice: (
        f"SELECT sex, COUNT(*) AS n FROM cube WHERE {_age(dice)} "
        f"OR hospital = {dice.randrange(1, 121)} GROUP BY sex"
    ),
    "a share": lambda dice: (
        f"SELECT sex, AVG(CASE WHEN {_age(dice)} THEN 1 ELSE 0 END) AS p FROM cube "
        f"WHERE hospital < {dice.randrange(2, 121)} GROUP BY sex"
    ),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=300)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="curator-asking-") as place:
        environment = _environment(Path(place))
        key, release = _made(Path(place), environment)
        for line in _measured(environment, (key, release), told.questions):
            sys.stdout.write(f"{line}\n")


def _environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "CURATOR_DATA": str(folder / "data"),
        "CURATOR_ANCHOR": str(folder / "anchor" / "anchor"),
        "CURATOR_IMPORT": str(folder),
        "CURATOR_RATE_LIMIT": "0",
        "CURATOR_MAX_IN_FLIGHT": "0",
        "CURATOR_RELEASE_SLOT_S": "0",
        "CURATOR_LOG_LEVEL": "warning",
    }


def _made(folder: Path, environment: dict[str, str]) -> tuple[str, str]:
    """Publish the cube; return a reader's key and the release's id."""
    dice = random.Random(1)
    rows = [
        f"{n},{dice.choice('FM')},{dice.randrange(121)},{dice.randrange(2021, 2024)}-"
        f"{dice.randrange(1, 13):02d}-15,{dice.randrange(1, 121)}"
        for n in range(_ROWS)
    ]
    header = "patient_id,sex,age,day,hospital"
    (folder / "visits.csv").write_text("\n".join([header, *rows]) + "\n")
    (folder / "clinic.yaml").write_text(_MANIFEST)
    (folder / "cube.json").write_text(json.dumps(_SPEC))

    def run(*words: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "server.main", *words],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    run("init", "--single-custodian")
    run("dataset", "load", str(folder / "clinic.yaml"), "--json")
    run("principal", "create", "ada", "--role", "analyst")
    run(
        *("project", "create", "study", "--dataset", "clinic"),
        *("--principal", "ada", "--allotment", "1"),
    )
    key = json.loads(run("key", "create", "ada", "--json"))["key"]
    published = run("release", "publish", str(folder / "cube.json"), "--json")
    return key, json.loads(published)["release"]


def _measured(
    environment: dict[str, str], asker: tuple[str, str], questions: int
) -> Iterator[str]:
    key, release = asker
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [*SERVE, "--no-worker", "--port", str(port)], env=environment
    )
    try:
        _wait_until_ready(port)
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60
        ) as http:
            path = f"/v1/releases/{release}/queries"
            yield from _lines(http, path, (process.pid, questions))
    finally:
        process.terminate()
        process.wait(60)


def _lines(http: httpx.Client, path: str, told: tuple[int, int]) -> Iterator[str]:
    dice = random.Random(2)

    def ask(sql: str) -> None:
        http.post(path, json={"sql": sql}).raise_for_status()

    ask("SELECT COUNT(*) FROM cube")  # opens it
    yield _line("nothing (/healthz)", lambda: http.get("/healthz"), told)
    yield _line("a repeated question", lambda: ask("SELECT COUNT(*) FROM cube"), told)
    for name, write in KINDS.items():
        ask(write(dice))
        yield _line(name, lambda write=write: ask(write(dice)), told)


def _wait_until_ready(port: int) -> None:
    for _ in range(600):
        try:
            if httpx.get(f"http://127.0.0.1:{port}/readyz").is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    message = "the server did not become ready"
    raise RuntimeError(message)


def _processor_ms(server: int) -> float:
    """Return the time that a process and its children have been at work."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if server in {int(stat.parent.name), int(fields[1])}:
            ticks += int(fields[11]) + int(fields[12])
    return ticks * 1000 / os.sysconf("SC_CLK_TCK")


def _line(name: str, work: Callable[[], object], told: tuple[int, int]) -> str:
    server, times = told
    taken, before = [], _processor_ms(server)
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append((time.perf_counter() - start) * 1000)
    late = statistics.quantiles(taken, n=20)[-1]
    busy = (_processor_ms(server) - before) / times
    return (
        f"{name:24} p50 {statistics.median(taken):6.2f} ms   p95 {late:6.2f} ms   "
        f"processor {busy:5.2f} ms"
    )


if __name__ == "__main__":
    main()
