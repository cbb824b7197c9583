"""What each demo makes in a folder of its own: an installation, a server, a key."""

import json
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from engines.processes.child_processes import child_command, child_environment
from privacy.losses import Loss
from server.cli.data.jobs import run_job
from server.cli.terminal.output import install_client
from server.cli.wiring import Wiring
from server.configuration.settings import Settings, read_settings
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.projects import NewProject, ProjectService
from server.use_cases.custody.replies import IssuedKeyShape
from server.use_cases.jobs.running import JobRunner
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.secret_files import write_durably
from server.use_cases.services.services import Services

if TYPE_CHECKING:
    from curator_client import Curator

START_SECONDS = 120.0
_PORTS = range(18_000, 18_100)
CONSOLE = Console(soft_wrap=True, highlight=False)


@dataclass(frozen=True, slots=True)
class DemoInstallation:
    """An installation in a folder that holds nothing else.

    Attributes:
        folder: Emptied when the demo begins.
        wiring: The parts that commands are given.
    """

    folder: Path
    wiring: Wiring

    @property
    def environment(self) -> dict[str, str]:
        """The settings of every process of it."""
        return {
            **child_environment(),
            "CURATOR_DATA": str(self.folder.absolute() / "data"),
            "CURATOR_ANCHOR": str(self.folder.absolute() / "anchor" / "curator.anchor"),
            "CURATOR_LOG_LEVEL": "warning",
            "CURATOR_PERMITS": "8",  # one analyst: fewer permits, earlier slots
        }

    @property
    def settings(self) -> Settings:
        """The same, for this process."""
        return read_settings(
            data=self.environment["CURATOR_DATA"],
            anchor=self.environment["CURATOR_ANCHOR"],
            CURATOR_IMPORT=self.folder.absolute() / "import",
            release_slot_s=0,  # its patients are made up: nothing to hide
        )

    def empty(self) -> None:
        """Make the folder anew."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "import").mkdir(parents=True)

    def begin(self) -> Services:
        """Initialise the installation and open it."""
        self.wiring.initialise(self.settings, single_custodian=True)
        return self.wiring.make_services(self.settings)

    def run(
        self, services: Services, kind: str, told: Document, *, quiet: bool = True
    ) -> Document:
        """Return the result of a job that is run here.

        Raises:
            CommandRefusedError: It was not done.
        """
        jobs, operator = self.wiring.make_jobs(services), self.wiring.operator()
        job = str(jobs.submit(operator, kind, told)["id"])

        def runner(stop: threading.Event) -> JobRunner:
            return self.wiring.make_runner(services, stop)

        ended = run_job(jobs, operator, runner, job, quiet=quiet)
        if ended["state"] != "done":
            message = f"the demo's job {kind} was not done: {ended['error']}"
            raise CommandRefusedError(message)
        return ended["result"] or {}

    def issue_key(self, services: Services, allotments: Mapping[str, str]) -> str:
        """Return the key of an analyst, ada, who may spend so much on each dataset.

        It is kept for whoever serves the demo.
        """
        issued = self.issue_other_key(services, "ada", allotments)
        write_durably(self.key_file, json.dumps(issued).encode())
        return str(issued["key"])

    def issue_other_key(
        self, services: Services, analyst: str, allotments: Mapping[str, str]
    ) -> IssuedKeyShape:
        """Return the key of an analyst who may spend so much on each dataset."""
        actor = self.wiring.actor()
        people = PeopleService(services, actor)
        people.create_principal(analyst, "analyst")
        for dataset, allotment in allotments.items():
            is_first = analyst == "ada" and dataset == next(iter(allotments))
            name = "demo" if is_first else f"demo_{dataset}"
            spent = Loss.parse(allotment)
            project = NewProject(name, (dataset,), (analyst,), spent)
            ProjectService(services, actor).create_project(project)
        return people.create_key(analyst)

    @property
    def key_file(self) -> Path:
        """Where the analyst's key is kept, for whoever serves the demo."""
        return self.folder / "key.json"

    @contextmanager
    def client(self, key: str) -> Iterator["Curator"]:
        """Serve on a free port of the loopback until the block ends.

        Raises:
            CommandRefusedError: As ``clients``.
        """
        with self.clients(key) as (client,):
            yield client

    @contextmanager
    def clients(self, *keys: str) -> Iterator[list["Curator"]]:
        """Serve likewise, for the holder of each key.

        Raises:
            CommandRefusedError: The client is not installed, or no server starts.
        """
        require_client()
        from curator_client import Curator  # noqa: PLC0415 - a package of its own

        port = _free_port()
        command = child_command("server.main", "serve", "--port", str(port))
        with subprocess.Popen(command, env=self.environment) as process:  # noqa: S603 - ours
            try:
                _wait_until_ready(port, process)
                with ExitStack() as stack:
                    url = f"http://127.0.0.1:{port}"
                    yield [stack.enter_context(Curator(url, key)) for key in keys]
            finally:
                process.send_signal(signal.SIGTERM)


def require_client() -> None:
    """Refuse where the client, which demos ask through, is not installed.

    Raises:
        CommandRefusedError: It is not.
    """
    try:
        import curator_client  # noqa: F401, PLC0415 - a package of its own
    except ImportError:
        message = f"the demo asks through the client: {install_client()}"
        raise CommandRefusedError(message) from None


def print_question(text: str, sql: str) -> None:
    """Print a question in words and in SQL."""
    CONSOLE.print(f"\n[bold]{text}[/]")
    CONSOLE.print(f"  {sql}", style="dim", markup=False)


def _free_port() -> int:
    """Return a free port of the loopback, below those that clients are given."""
    for port in _PORTS:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    message = f"no port of {_PORTS.start} to {_PORTS.stop - 1} is free"
    raise CommandRefusedError(message)


def _wait_until_ready(port: int, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    message = "the demo's server did not start"
    raise CommandRefusedError(message)
