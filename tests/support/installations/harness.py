"""Real installations and real servers for tests: on disk, on loopback, in processes."""

import asyncio
import contextlib
import os
import random
import socket
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import duckdb
import httpx
import uvicorn

from privacy.losses import Loss
from server.bootstrap import make_runner, make_services
from server.configuration.settings import read_settings
from server.installing import initialise
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.projects import NewProject, ProjectService
from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from server.web import Server
from tests.support.installations.remembered import remembered
from tests.support.installations.warm import forked_curator, run_curator

MANIFEST = """\
version: 1
population:
  id: {population}
  unit: patient
  unit_type: integer
  epsilon_cap: "{cap}"
  epsilon_per_query: {{min: "0.001", max: "5"}}
  max_units: 50000
  source: test protocol
dataset: {dataset}
snapshot_date: 2024-12-31
tables:
- name: visits
  files: ["{file}"]
  unit_column: patient_id
  max_rows_per_unit: {max_rows}
  max_rows: 200000
  source: test protocol
  columns:
  - {{name: patient_id, type: integer, nullable: false}}
  - name: sex
    type: text
    nullable: false
    constant_in_unit: true
    domain: {{values: [F, M]}}
    source: form
  - name: age
    type: integer
    nullable: false
    domain: {{min: 0, max: 120}}
    source: life span
  - name: ward
    type: text
    domain: {{values: [north, south], other: true}}
    source: list of wards
  - name: day
    type: date
    domain: {{min: 2024-01-01, max: 2024-12-31}}
    source: study period
  - {{name: note, type: text}}
"""
HEADER = "patient_id,sex,age,ward,day,note"
DEFAULT_ROWS = [
    f"{unit},{'FM'[unit % 2]},{20 + unit % 70},{('north', 'south', 'attic')[unit % 3]},"
    f"2024-0{1 + unit % 9}-1{visit},n{unit}"
    for unit in range(1, 101)
    for visit in range(1 + unit % 3)
]
STRANGERS = [f"{unit},F,30,north,2024-03-03,n" for unit in range(900, 960)]
"""Patients of another population, enough to be compared with the first one's."""


@dataclass
class Installation:
    """A data directory with its anchor; ``cap`` is generous unless told."""

    folder: Path
    slot_ms: int = 0
    release_slot_s: int = 0
    url: str = ""  # of a PostgreSQL database; SQLite where there is none
    workers: int = 1
    rate_limit: int = 0  # tests hammer
    max_in_flight: int = 0
    more_settings: dict[str, object] = field(default_factory=dict)
    permits: int = 256
    _read: dict[str, object] = field(default_factory=dict)

    @property
    def data(self):
        return self.folder / "data"

    @property
    def anchor(self):
        return self.folder / "anchor" / "curator.anchor"

    @property
    def environment(self):
        return {
            **os.environ,
            "CURATOR_DATA": str(self.data),
            "CURATOR_ANCHOR": str(self.anchor),
            "CURATOR_SLOT_MS": str(self.slot_ms),
            "CURATOR_RELEASE_SLOT_S": str(self.release_slot_s),
            "CURATOR_RATE_LIMIT": str(self.rate_limit),
            "CURATOR_MAX_IN_FLIGHT": str(self.max_in_flight),
            "CURATOR_PERMITS": str(self.permits),
            "CURATOR_LOG_LEVEL": "warning",
            "CURATOR_DATABASE_URL": self.url,
            "CURATOR_WORKERS": str(self.workers),
        }

    @property
    def settings(self):
        """Read as commands read them, once for each that differ: it takes 10 ms."""
        given = {
            "data": self.data,
            "anchor": self.anchor,
            "slot_ms": self.slot_ms,
            "release_slot_s": self.release_slot_s,
            "rate_limit": self.rate_limit,
            "max_in_flight": self.max_in_flight,
            "permits": self.permits,
            "database_url": self.url,
            "workers": self.workers,
            **self.more_settings,
        }
        environment = [one for one in os.environ.items() if one[0][:8] == "CURATOR_"]
        key = repr((sorted(given.items()), sorted(environment)))
        if key not in self._read:
            self._read[key] = read_settings(**given)
        return self._read[key]

    def create(self, secret=None):
        """Initialise; a secret of one's own is put there first."""
        if secret is not None:
            self.data.mkdir(mode=0o700)
            (self.data / "secret.key").write_text(secret.hex())
            (self.data / "secret.key").chmod(0o600)
        remembered(self, ("create",), self.initialise)
        return self

    def initialise(self):
        """Initialise for real, with a secret that no other installation has."""
        initialise(self.settings, single_custodian=True)

    @contextlib.contextmanager
    def services(self):
        services = make_services(self.settings)
        try:
            yield services
        finally:
            services.engine.close()
            services.databases.close()

    def write_manifest(
        self, rows=DEFAULT_ROWS, *, dataset="clinic", population="people", **more
    ):
        """Write a visits table and its manifest."""
        name = f"{dataset}-{time.monotonic_ns()}"
        (self.folder / f"{name}.csv").write_text("\n".join([HEADER, *rows]) + "\n")
        path = self.folder / f"{name}.yaml"
        fields = {"cap": "100000", "max_rows": 10, **more}
        path.write_text(
            MANIFEST.format(
                dataset=dataset, population=population, file=f"{name}.csv", **fields
            )
        )
        return path

    def load(self, rows=DEFAULT_ROWS, **more):
        """Load a visits table; return the snapshot's id."""
        path = self.write_manifest(rows, **more)
        act = ("load", tuple(rows), sorted(more.items()))
        return remembered(self, act, lambda: self.load_manifest(path))

    def load_manifest(self, path):
        """Load what a manifest declares; return the snapshot's id."""
        with self.services() as services:
            service = LoadService(services, "local:test")
            return service.load(path, LoadChoices(), None)["snapshot"]

    def analyst(
        self, name="ada", project="study", dataset="clinic", allotment="100000", **more
    ):
        """Make a principal, a project and a key; return the key."""
        wanted = NewProject(project, (dataset,), (name,), Loss.parse(allotment), **more)
        act = ("analyst", name, wanted)
        return remembered(self, act, lambda: self._make_analyst(name, wanted))

    def _make_analyst(self, name, wanted):
        with self.services() as services:
            people = PeopleService(services, "local:test")
            people.create_principal(name, "analyst")
            ProjectService(services, "local:test").create_project(wanted)
            return people.create_key(name)["key"]

    def curator(self, *arguments, environment=None):
        """Run a command in a process of its own, forked from a warm one."""
        return run_curator(arguments, {**self.environment, **(environment or {})})


class ImportingInstallation(Installation):
    """An installation whose jobs may read what lies in its folder."""

    @property
    def environment(self):
        return {**super().environment, "CURATOR_IMPORT": str(self.folder)}

    @property
    def settings(self):
        return super().settings.model_copy(update={"import_": self.folder})

    def run_jobs(self):
        """Run the queued jobs, here, until there are none."""
        with self.services() as services:
            runner = make_runner(services, threading.Event(), beat_seconds=0.05)
            while runner.run_one():
                pass


def empty_snapshot(installation, snapshot):
    """Let a snapshot's file open well and hold no table, so that executions fail."""
    path = installation.data / "snapshots" / f"{snapshot}.duckdb"
    path.unlink()
    duckdb.connect(str(path)).close()


def free_port():
    """Return a free port below those that the kernel gives to clients."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def client(url, key, **more):
    limits = httpx.Limits(max_connections=256, max_keepalive_connections=256)
    plain = {} if url.startswith("https") else {"verify": False}  # no CA list is read
    return httpx.Client(
        base_url=url,
        headers={"Authorization": f"Bearer {key}"},
        timeout=60,
        limits=limits,
        **{**plain, **more},
    )


def ask(http, sql="SELECT COUNT(*) FROM visits", epsilon="1", **more):
    """POST a question with ``reuse: never`` unless told."""
    headers = more.pop("headers", {})
    dataset = more.pop("dataset", "clinic")
    body = {"sql": sql, "epsilon": epsilon, "options": {"reuse": "never"}, **more}
    return http.post(f"/v1/datasets/{dataset}/queries", json=body, headers=headers)


@contextlib.contextmanager
def serve_in_thread(installation, sampler_factory=None):
    """Serve in this process, so that tests may inject a sampler; yield the URL."""
    more = {} if sampler_factory is None else {"sampler_factory": sampler_factory}
    with serving(Server(installation.settings, **more)) as url:
        yield url


@contextlib.contextmanager
def serving(server):
    """Serve what a test has made, in this process; yield the URL."""
    port = free_port()
    runner = uvicorn.Server(
        uvicorn.Config(
            server.app(),
            host="127.0.0.1",
            port=port,
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=5,  # as served: nobody's open request holds it up
        )
    )
    thread = threading.Thread(target=runner.run, daemon=True)
    thread.start()
    try:
        wait_until_ready(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        runner.should_exit = True
        thread.join(60)
        where = f"{_where_tasks_are(runner)}\n{_where_threads_are()}"
        assert not thread.is_alive(), f"the server did not stop\n{where}"
        server.services.databases.close()


def _where_tasks_are(runner):
    """Return what a server's coroutines wait for, and which connections are open."""
    state = runner.server_state
    told = [f"{len(state.connections)} connections, {len(state.tasks)} requests"]
    with contextlib.suppress(RuntimeError, IndexError):  # it has stopped
        for task in asyncio.all_tasks(runner.servers[0].get_loop()):
            told += [repr(task), *map(str, task.get_stack())]
    return "\n".join(told)


def _where_threads_are():
    """Return the stack of each thread of this process: what a server waits for."""
    frames = sys._current_frames()
    return "\n".join(
        f"{thread.name}:\n" + "".join(traceback.format_stack(frames[thread.ident]))
        for thread in threading.enumerate()
        if thread.ident in frames
    )


def wait_until_ready(port, process=None, seconds=120):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process is not None and process.poll() is not None:
            message = f"the server ended with {process.returncode}"
            raise RuntimeError(message)
        if _is_ready(port):
            return
        time.sleep(0.03)
    message = "the server did not become ready"
    raise RuntimeError(message)


def _is_ready(port):
    """Ask by the plainest client: a better one takes 10 ms of a processor to make."""
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    with (
        contextlib.closing(connection),
        contextlib.suppress(OSError, HTTPException),
    ):
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    return False


def start_process(
    installation, port, prefix=(), environment=None, *, worker=False, **more
):
    """Start ``curator serve`` in a process group of its own."""
    serve = ["serve", "--worker" if worker else "--no-worker", "--port", str(port)]
    return subprocess.Popen(
        [*prefix, sys.executable, "-m", "server.main", *serve],
        env={**installation.environment, **(environment or {})},
        start_new_session=True,
        **more,
    )


@contextlib.contextmanager
def serve_in_process(installation, environment=None):
    """Serve from a process of its own, forked from a warm one; yield the URL."""
    port = free_port()
    arguments = ["serve", "--no-worker", "--port", str(port)]
    told = {**installation.environment, **(environment or {})}
    with forked_curator(arguments, told, installation.folder / "server.log") as process:
        wait_until_ready(port, process)
        yield f"http://127.0.0.1:{port}"
