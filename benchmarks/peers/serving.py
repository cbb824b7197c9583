"""A real Curator installation of the made-up rows, served by its own process."""

import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from benchmarks.peers.facts import CODES, KEPT_ROWS, SEXES, YEARS

_SEXES, _CODES = list(SEXES), list(CODES)
_FIRST, _LAST = YEARS[0], YEARS[-1]
_MANIFEST = f"""\
version: 1
population:
  id: people
  unit: patient
  unit_type: integer
  epsilon_cap: "900000"
  source: benchmark
dataset: clinic
snapshot_date: 2024-12-31
tables:
- name: patients
  files: [patients.parquet]
  unit_column: patient_id
  key: [patient_id]
  max_rows_per_unit: 1
  source: benchmark
  columns:
  - {{name: patient_id, type: integer, nullable: false}}
  - name: age
    type: integer
    nullable: false
    domain: {{min: 0, max: 100}}
    source: benchmark
  - name: sex
    type: text
    nullable: false
    domain: {{values: {_SEXES}}}
    source: benchmark
  - {{name: cost, type: integer, nullable: false}}
- name: diagnoses
  files: [diagnoses.parquet]
  unit_column: patient_id
  max_rows_per_unit: {KEPT_ROWS}
  source: benchmark
  columns:
  - {{name: patient_id, type: integer, nullable: false}}
  - name: icd
    type: text
    nullable: false
    domain: {{values: {_CODES}}}
    source: benchmark
  - name: year
    type: integer
    nullable: false
    domain: {{min: {_FIRST}, max: {_LAST}}}
    source: benchmark
  - {{name: cost, type: integer, nullable: false}}
"""


SERVE = (sys.executable, "-m", "server.main", "serve")


class Installation:
    """Folders, environment and key of one installation; made by the commands."""

    def __init__(self, folder: Path, tables: Path, url: str = "") -> None:
        self._manifest = tables / "clinic.yaml"
        self._manifest.write_text(_MANIFEST, "utf-8")
        self.environment = {
            **os.environ,
            "CURATOR_DATA": str(folder / "data"),
            "CURATOR_ANCHOR": str(folder / "anchor" / "anchor"),
            "CURATOR_IMPORT": str(tables),
            "CURATOR_DATABASE_URL": url,
            "CURATOR_SLOT_MS": "0",
            "CURATOR_RATE_LIMIT": "0",
            "CURATOR_MAX_IN_FLIGHT": "0",
            "CURATOR_PERMITS": "128",
        }
        self.key = ""

    def make(self) -> None:
        """Initialise, load, and admit an analyst."""
        self._run("init", "--single-custodian")
        self._run("dataset", "load", str(self._manifest), "--json")
        self._run("principal", "create", "ada", "--role", "analyst")
        self._run(
            *("project", "create", "study", "--dataset", "clinic"),
            *("--principal", "ada", "--allotment", "900000"),
        )
        made = self._run("key", "create", "ada", "--json")
        self.key = httpx.Response(200, text=made).json()["key"]

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "server.main", *words],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    @contextmanager
    def served(
        self, *more: str, command: Sequence[str] = SERVE
    ) -> Iterator[httpx.Client]:
        """Serve until the block ends; yield a client of the analyst."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen(
            [*command, "--port", str(port), *more],
            env=self.environment,
            stderr=subprocess.DEVNULL,
        )
        headers = {"Authorization": f"Bearer {self.key}"}
        try:
            with httpx.Client(
                base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=120
            ) as client:
                _wait(client, server)
                yield client
        finally:
            server.terminate()
            server.wait(60)


def _wait(client: httpx.Client, server: "subprocess.Popen[bytes]") -> None:
    for _ in range(600):
        if server.poll() is not None:
            break
        try:
            if client.get("/readyz").status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    message = "the server did not come up"
    raise RuntimeError(message)


def ask(client: httpx.Client, sql: str) -> httpx.Response:
    """Ask one question, fresh and charged."""
    body = {"sql": sql, "epsilon": "1", "options": {"reuse": "never"}}
    headers = {"Idempotency-Key": secrets.token_hex(16)}
    reply = client.post("/v1/datasets/clinic/queries", json=body, headers=headers)
    if reply.status_code != httpx.codes.OK:
        raise RuntimeError(reply.text)
    return reply
