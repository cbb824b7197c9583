"""The demo: a synthetic hospital over real HTTP, six paid answers, two releases."""

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from engines.processes.child_processes import child_command
from server.cli.demos.installing import (
    CONSOLE,
    DemoInstallation,
    print_question,
    require_client,
)
from server.cli.terminal.output import say
from server.cli.wiring import Wiring
from server.demo import cube, sequences
from server.demo.hospital import write_hospital
from server.demo.questions import QUESTIONS
from server.processes.ports import require_free
from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from server.use_cases.publishing.spec_files import read_spec_file
from server.use_cases.services.services import Services

if TYPE_CHECKING:
    from curator_client import Curator

FOLDER = Path(".demo")
PATIENTS = 20_000
_HOW_TO_ASK = """\
Ask from another terminal (stop with Ctrl-C; another port: CURATOR_PORT=8001):
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


def run_demo(wiring: Wiring) -> None:
    """Make the installation anew, serve it on a free port, and ask."""
    require_client()
    made = DemoInstallation(FOLDER, wiring)
    with made.client(_build(made)) as client:
        _ask_for_a_price(client)
        _ask_for_nothing(client)
    CONSOLE.print(
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
        print_question(question.text, question.sql)
        answer = client.query(
            question.sql,
            dataset="hospital",
            epsilon=question.epsilon,
            accuracy=question.accuracy,
        )
        CONSOLE.print(str(answer), markup=False)


def _ask_for_nothing(client: "Curator") -> None:
    CONSOLE.print("\nFrom here on nothing is paid:", markup=False)
    for published in (cube, sequences):
        release = client.release(published.NAME)
        CONSOLE.print(f"\n{release}", markup=False)
        for text, sql in published.QUESTIONS:
            print_question(text, sql)
            CONSOLE.print(str(release.query(sql)), markup=False)


def serve_demo(wiring: Wiring) -> None:
    """Serve what the last demo made, and print how to ask."""
    made = DemoInstallation(FOLDER, wiring)
    require_free(made.settings.host, made.settings.port)
    if not made.key_file.exists():
        _build(made)
    environment = made.environment
    told = _HOW_TO_ASK.format(
        key=json.loads(made.key_file.read_text("utf-8"))["key"],
        port=made.settings.port,
        data=environment["CURATOR_DATA"],
        anchor=environment["CURATOR_ANCHOR"],
        curator=Path(sys.executable).with_name("curator"),
    )
    CONSOLE.print(told, markup=False)
    sys.stdout.flush()
    command = child_command("server.main", "serve")
    os.execve(command[0], command, environment)  # noqa: S606 - it gets our signals


def _build(made: DemoInstallation) -> str:
    """Make the demo's installation from nothing, and return the analyst's key."""
    made.empty()
    started = time.monotonic()
    say(f"Making a synthetic hospital of {PATIENTS:,} patients ...")
    manifest = write_hospital(FOLDER / "import", PATIENTS)
    services = made.begin()
    say("Loading it ...")
    LoadService(services, made.wiring.actor()).load(manifest, LoadChoices(), None)
    for what, published in (("cube of its stays", cube), ("tree of ways", sequences)):
        say(f"Publishing a {what} ...")
        _publish(made, services, published.NAME, published.SPEC)
    key = made.issue_key(services, ("hospital",), "5")
    services.databases.close()
    say(f"Ready after {time.monotonic() - started:.1f} s.")
    return key


def _publish(
    made: DemoInstallation, services: Services, name: str, content: str
) -> None:
    """Publish a release as ``curator release publish .demo/NAME.yaml`` would."""
    written = FOLDER / f"{name}.yaml"
    written.write_text(content, "utf-8")
    spec, _ = read_spec_file(written)
    told = spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    made.run(services, "release.publish", {"release": told})
