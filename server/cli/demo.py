"""The demo: a synthetic hospital over real HTTP, six paid answers, two releases."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from engines.processes.child_processes import child_command, child_environment
from privacy.losses import Loss
from server.cli.commands import Wiring
from server.cli.terminal.output import INSTALL_CLIENT, say
from server.configuration.settings import read_settings
from server.demo import cube, sequences
from server.demo.hospital import write_hospital
from server.demo.questions import QUESTIONS
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.projects import NewProject, ProjectService
from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from server.use_cases.publishing.spec_files import read_spec_file
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.secret_files import write_durably
from server.use_cases.services.services import Services

if TYPE_CHECKING:
    from curator_client import Curator

FOLDER = Path(".demo")
PATIENTS = 20_000
START_SECONDS = 120.0
_PORTS = range(18_000, 18_100)
_HOW_TO_ASK = """\
Ask from another terminal (stop with Ctrl-C):
curl -s http://127.0.0.1:{port}/v1/datasets/hospital/queries \\
  -H 'Authorization: Bearer {key}' \\
  -d '{{"sql": "SELECT sex, COUNT(*) FROM patients GROUP BY sex", "epsilon": "0.1"}}'

Its cube and its tree, for nothing (docs/querying-releases.md):
curl -s http://127.0.0.1:{port}/v1/releases -H 'Authorization: Bearer {key}'

Be its custodian there (docs/custodians.md):
export CURATOR_DATA='{data}' \\
  CURATOR_ANCHOR='{anchor}'
{curator} project show demo
"""
_console = Console(soft_wrap=True, highlight=False)


def run_demo(wiring: Wiring) -> None:
    """Make the installation anew, serve it on a free port, and ask."""
    try:
        from curator_client import Curator  # noqa: PLC0415 - a package of its own
    except ImportError:
        message = f"the demo asks through the client: {INSTALL_CLIENT}"
        raise CommandRefusedError(message) from None
    environment = _environment()
    key = _build(wiring, environment)
    with _server(environment) as url, Curator(url, key) as client:
        _ask_for_a_price(client)
        _ask_for_nothing(client)
    _console.print(
        "\nThe true counts never left the server, and the budget is really spent."
        "\nTry next:"
        "\n  make serve                      the same hospital, until you stop it"
        "\n  docs/quickstart.md              your own tables, your own key"
        "\n  docs/query-language.md          what can be asked"
        "\n  docs/releases.md                cubes and sequences, once paid, then free",
        markup=False,
    )


def _ask_for_a_price(client: "Curator") -> None:
    for question in QUESTIONS:
        _print_question(question.text, question.sql)
        answer = client.query(
            question.sql,
            dataset="hospital",
            epsilon=question.epsilon,
            accuracy=question.accuracy,
        )
        _console.print(str(answer), markup=False)


def _ask_for_nothing(client: "Curator") -> None:
    _console.print("\nFrom here on nothing is paid:", markup=False)
    for published in (cube, sequences):
        release = client.release(published.NAME)
        _console.print(f"\n{release}", markup=False)
        for text, sql in published.QUESTIONS:
            _print_question(text, sql)
            _console.print(str(release.query(sql)), markup=False)


def _print_question(text: str, sql: str) -> None:
    _console.print(f"\n[bold]{text}[/]")
    _console.print(f"  {sql}", style="dim", markup=False)


def serve_demo(wiring: Wiring) -> None:
    """Serve what the last demo made, and print how to ask."""
    environment = _environment()
    key_file = FOLDER / "key.json"
    if not key_file.exists():
        _build(wiring, environment)
    key = json.loads(key_file.read_text("utf-8"))["key"]
    data, anchor = environment["CURATOR_DATA"], environment["CURATOR_ANCHOR"]
    told = _HOW_TO_ASK.format(
        key=key,
        port=read_settings(data=data, anchor=anchor).port,
        data=data,
        anchor=anchor,
        curator=Path(sys.executable).with_name("curator"),
    )
    _console.print(told, markup=False)
    sys.stdout.flush()
    command = child_command("server.main", "serve")
    os.execve(command[0], command, environment)  # noqa: S606 - it gets our signals


def _environment() -> dict[str, str]:
    return {
        **child_environment(),
        "CURATOR_DATA": str(FOLDER.absolute() / "data"),
        "CURATOR_ANCHOR": str(FOLDER.absolute() / "anchor" / "curator.anchor"),
        "CURATOR_LOG_LEVEL": "warning",
        "CURATOR_PERMITS": "8",  # one analyst: fewer permits, earlier slots
    }


def _build(wiring: Wiring, environment: Mapping[str, str]) -> str:
    """Make the demo's installation from nothing, and return the analyst's key."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    started = time.monotonic()
    say(f"Making a synthetic hospital of {PATIENTS:,} patients ...")
    manifest = write_hospital(FOLDER / "hospital", PATIENTS)
    settings = read_settings(
        data=environment["CURATOR_DATA"],
        anchor=environment["CURATOR_ANCHOR"],
        release_slot_s=0,  # its patients are made up: nothing to hide
    )
    wiring.initialise(settings, single_custodian=True)
    services = wiring.make_services(settings)
    say("Loading it ...")
    LoadService(services, wiring.actor()).load(manifest, LoadChoices(), None)
    for what, published in (("cube of its stays", cube), ("tree of ways", sequences)):
        say(f"Publishing a {what} ...")
        _publish(wiring, services, published.NAME, published.SPEC)
    people = PeopleService(services, wiring.actor())
    people.create_principal("ada", "analyst")
    ProjectService(services, wiring.actor()).create_project(
        NewProject("demo", ("hospital",), ("ada",), allotment=Loss.parse("5"))
    )
    issued = people.create_key("ada")
    services.databases.close()
    write_durably(FOLDER / "key.json", json.dumps(issued).encode())
    say(f"Ready after {time.monotonic() - started:.1f} s.")
    return str(issued["key"])


def _publish(wiring: Wiring, services: Services, name: str, content: str) -> None:
    """Publish a release as ``curator release publish .demo/NAME.yaml`` would."""
    written = FOLDER / f"{name}.yaml"
    written.write_text(content, "utf-8")
    spec, _ = read_spec_file(written)
    told = {"release": spec.model_dump(mode="json", by_alias=True, exclude_none=True)}
    jobs, operator = wiring.make_jobs(services), wiring.operator()
    job = str(jobs.submit(operator, "release.publish", told)["id"])
    wiring.make_runner(services, threading.Event()).run_one(job)
    ended = jobs.show(operator, job)
    if ended["state"] != "done":
        message = f"{name} was not published: {ended['error']}"
        raise CommandRefusedError(message)


@contextmanager
def _server(environment: Mapping[str, str]) -> Iterator[str]:
    """Serve on a free port of the loopback until the block ends."""
    port = _free_port()
    command = child_command("server.main", "serve", "--port", str(port))
    with subprocess.Popen(command, env=dict(environment)) as process:  # noqa: S603 - ours
        try:
            _wait_until_ready(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGTERM)


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
