"""The numbers of a board's decision about epsilon: docs/epsilon-decision.md.

Run: ``python -m benchmarks.decision [--patients 20000]``.
The demo's made-up hospital is loaded and served by a process of its own. Prints, as
Markdown: what each cap lets anybody conclude about one patient; the half-width that
each of five questions would have under each cap, split evenly (plans, which are free);
and what came out when the questions were asked under the cap that the board chose,
beside the truth, which only whoever made the hospital up can look at.
"""

import argparse
import json
import math
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import duckdb
import httpx

from benchmarks.peers.serving import SERVE
from curator_client import Curator
from server.demo.hospital import write_hospital

CAPS: Final = ("0.5", "1", "2", "5", "10")
CHOSEN: Final = "1"
PRIORS: Final = (0.5, 0.1, 0.01)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the study.

    Attributes:
        words: As the protocol has it.
        sql: As it is asked.
        needed: The half-width that the study can live with.
        share: Of the chosen cap.
        options: Of the request.
    """

    words: str
    sql: str
    needed: int
    share: str = "0.175"
    options: dict[str, Any] = field(default_factory=dict)


QUESTIONS: Final = (
    Asked(
        "patients of 60 and over with a stay for a circulatory disease, by sex",
        "SELECT p.sex, COUNT(DISTINCT e.patient_id) AS n FROM encounters AS e "
        "JOIN patients AS p ON p.patient_id = e.patient_id "
        "WHERE e.age >= 60 AND e.diagnosis_group = 'circulatory' GROUP BY p.sex",
        needed=50,
    ),
    Asked(
        "patients of 60 and over with a stay, by diagnosis group",
        "SELECT diagnosis_group, COUNT(DISTINCT patient_id) AS n FROM encounters "
        "WHERE age >= 60 GROUP BY diagnosis_group",
        needed=100,
        share="0.3",
    ),
    Asked(
        "patients who died in hospital, by year",
        "SELECT year, COUNT(DISTINCT patient_id) AS n FROM encounters "
        "WHERE discharged_to = 'died' GROUP BY year",
        needed=25,
        options={"bounds": {"max_groups_per_unit": 1}},
    ),
    Asked(
        "patients with a type 2 diabetes code",
        "SELECT COUNT(DISTINCT patient_id) AS n FROM diagnoses "
        "WHERE code IN ('E11.9', 'E11.2')",
        needed=50,
    ),
    Asked(
        "patients given metformin, insulin or neither since July 2025",
        "SELECT kind, COUNT(*) AS n FROM (SELECT patient_id, "
        "CASE WHEN BOOL_OR(drug = 'insulin') THEN 'insulin' "
        "WHEN BOOL_OR(drug = 'metformin') THEN 'metformin' ELSE 'neither' END AS kind "
        "FROM prescriptions WHERE started >= DATE '2025-07-01' GROUP BY patient_id) "
        "AS given GROUP BY kind",
        needed=50,
    ),
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--patients", type=int, default=20_000)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="curator-decision-") as place:
        for line in decided(Path(place), told.patients):
            sys.stdout.write(f"{line}\n")


def decided(folder: Path, patients: int) -> Iterator[str]:
    """Yield the page's tables, line by line."""
    environment = _environment(folder)
    key = _made(folder, environment, patients)
    yield from odds_lines()
    with _served(environment) as url, Curator(url, key, "hospital") as curator:
        yield from _plan_lines(curator)
        yield from _answer_lines(curator, folder)


def posterior(prior: float, epsilon: float) -> float:
    """Return the most that a belief of this strength can rise to.

    >>> round(posterior(0.5, 1), 3)
    0.731
    """
    raised = prior * math.exp(epsilon)
    return raised / (raised + 1 - prior)


def odds_lines() -> Iterator[str]:
    """Yield the table of what caps let anybody conclude."""
    heads = [f"believed at {prior:.0%}" for prior in PRIORS]
    yield f"| cap | odds change at most by | {' | '.join(heads)} |"
    yield f"|---|---|{'---|' * len(PRIORS)}"
    for cap in CAPS:
        epsilon = float(cap)
        cells = [f"{posterior(prior, epsilon):.1%}" for prior in PRIORS]
        yield f"| {cap} | {math.exp(epsilon):,.2f} | {' | '.join(cells)} |"
    yield ""


def _plan_lines(curator: Curator) -> Iterator[str]:
    yield f"| question | needed | {' | '.join(f'cap {cap}' for cap in CAPS)} |"
    yield f"|---|---|{'---|' * len(CAPS)}"
    for asked in QUESTIONS:
        widths = [_width(curator, asked, share_of(cap)) for cap in CAPS]
        shown = [f"**±{w}**" if w <= asked.needed else f"±{w}" for w in widths]
        yield f"| {asked.words} | ±{asked.needed} | {' | '.join(shown)} |"
    yield ""


def share_of(cap: str) -> str:
    """Return what each question may spend, split evenly."""
    return f"{float(cap) / len(QUESTIONS):g}"


def _width(curator: Curator, asked: Asked, epsilon: str) -> int:
    plan = curator.plan(asked.sql, epsilon=epsilon, options=asked.options)
    return max(int(noise["half_width_95"]) for noise in plan.noise)


def _answer_lines(curator: Curator, folder: Path) -> Iterator[str]:
    yield "| question | half-width | answers, with the truth in brackets | missed |"
    yield "|---|---|---|---|"
    for asked in QUESTIONS:
        answer = curator.query(asked.sql, epsilon=asked.share, options=asked.options)
        truth = _truth(folder, asked.sql)
        width = int(answer.half_widths["n"])
        rows = [
            (row[:-1], row[-1], truth.get(tuple(row[:-1]), 0)) for row in answer.rows
        ]
        shown = [f"{_named(key)}{noisy:,} ({true:,})" for key, noisy, true in rows]
        missed = sum(abs(noisy - true) > width for _, noisy, true in rows)
        of_all = f"{missed} of {len(rows)}"
        yield f"| {asked.words} | ±{width} | {', '.join(shown)} | {of_all} |"
    (project,) = curator.budget()["projects"]
    yield ""
    yield f"Spent: {project['spent']} of {project['allotment']}."
    yield ""
    yield from _bias_lines(folder)


def _bias_lines(folder: Path) -> Iterator[str]:
    """Yield what a bound of three groups would leave of the dear question's counts."""
    (snapshot,) = (folder / "data/snapshots").glob("*.duckdb")
    groups = (
        "SELECT DISTINCT unit_key, diagnosis_group AS key, "
        "dense_rank() OVER (PARTITION BY unit_key ORDER BY "
        "hash(unit_key, diagnosis_group)) AS place FROM encounters WHERE age >= 60"
    )
    counted = (
        "SELECT key, count(*), count(*) FILTER (WHERE place <= 3) "
        f"FROM ({groups}) GROUP BY key ORDER BY key"
    )
    with duckdb.connect(str(snapshot), read_only=True) as connection:
        found = connection.sql(counted).fetchall()
    shown = [f"{key} {kept:,} of {all_of:,}" for key, all_of, kept in found]
    yield f"Kept by a bound of 3 groups (chosen at random here): {', '.join(shown)}."


def _named(key: list[Any]) -> str:
    return "".join(f"{'NULL' if value is None else value} " for value in key)


def _truth(folder: Path, sql: str) -> dict[tuple[Any, ...], int]:
    """Count the loaded rows themselves; nobody who asks can."""
    (snapshot,) = (folder / "data/snapshots").glob("*.duckdb")
    with duckdb.connect(str(snapshot), read_only=True) as connection:
        found = connection.sql(sql.replace("patient_id", "unit_key")).fetchall()
    return {tuple(row[:-1]): row[-1] for row in found}


def _environment(folder: Path) -> dict[str, str]:
    kept = {n: v for n, v in os.environ.items() if not n.startswith("CURATOR_")}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return {
        **kept,
        "CURATOR_DATA": str(folder / "data"),
        "CURATOR_ANCHOR": str(folder / "anchor" / "anchor"),
        "CURATOR_PORT": str(port),
        "CURATOR_LOG_LEVEL": "warning",
    }


def _made(folder: Path, environment: dict[str, str], patients: int) -> str:
    """Load the hospital; return an analyst's key."""

    def run(*words: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "server.main", *words],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    run("init", "--single-custodian")
    run("dataset", "load", str(write_hospital(folder / "files", patients)), "--json")
    run("principal", "create", "ada", "--role", "analyst")
    run(
        *("project", "create", "study", "--dataset", "hospital"),
        *("--principal", "ada", "--allotment", CHOSEN),
    )
    return str(json.loads(run("key", "create", "ada", "--json"))["key"])


@contextmanager
def _served(environment: dict[str, str]) -> Iterator[str]:
    """Serve in a process of its own; yield its address."""
    port = environment["CURATOR_PORT"]
    command = [*SERVE, "--no-worker", "--port", port]
    with subprocess.Popen(command, env=environment) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_ready(url)
            yield url
        finally:
            process.terminate()


def _wait_until_ready(url: str) -> None:
    for _ in range(600):
        with suppress(httpx.HTTPError):
            if httpx.get(f"{url}/readyz").is_success:
                return
        time.sleep(0.2)
    message = "the server does not become ready"
    raise RuntimeError(message)


if __name__ == "__main__":
    main()
